"""The verdict on a function, from its numbers alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.records import Loop
from sz_mcp.pipeline.roofline import Limit, Measured, metrics, percent, sentence
from toolchains.base import Phase, Usage
from toolchains.vectorisation import REASONS

PACK = Phase("pack", "kernel.py", 12, 3, 0.9e-3, compiled=True)
GLUE = Phase("compress", "kernel.py", 40, 1, 0.1e-3, compiled=False)
USAGE = Usage(1, 0, {"page_faults": 3.0})
# Copying 1 MB takes 0.1 ms at 10 GB/s, and moves 2 MB.
SLOW = Measured(
    function="compress",
    seconds=1e-3,
    elements=250_000,
    original_bytes=1_000_000,
    moved_bytes=2_000_000,
    copy_gbps=10.0,
    empty_seconds=1e-5,
    threads=1,
    phases=(PACK, GLUE),
    usage=USAGE,
    memory=Usage(1, 3_000_000, {}),
)


def test_a_copy_reaches_the_copy_peak() -> None:
    copying = replace(SLOW, seconds=1e-4)

    assert copying.of_copy_peak == pytest.approx(1.0)
    assert SLOW.of_copy_peak == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({}, Limit.COMPUTE),
        ({"seconds": 1.9e-4}, Limit.MEMORY),
        ({"empty_seconds": 3e-4}, Limit.OVERHEAD),
        ({"usage": replace(USAGE, counters={"page_faults": 1e3})}, Limit.PAGES),
        ({"phases": (replace(PACK, compiled=False),)}, Limit.INTERPRETED),
        ({"phases": ()}, Limit.COMPUTE),
    ],
)
def test_what_takes_the_time_decides(change: dict[str, object], limit: Limit) -> None:
    one = replace(SLOW, **change)  # type: ignore[arg-type]

    assert one.limit() is limit
    assert f"is {limit}: " in sentence(one, ())


def test_the_sentence_has_the_numbers_behind_it() -> None:
    fast = Loop("pack", "kernel.py", 13, "for", 16, share=0.5)
    scalar = replace(fast, line=20, width=1, reason="(as LLVM says) no", share=0.3)
    cold = replace(scalar, line=30, share=0.01)

    told = sentence(SLOW, (scalar, fast, cold))

    assert told == (
        "compress takes 1 ms and is compute-bound: 4 ns per element of the field, 10% of the speed "
        "of a copy; 90% is in `pack` (kernel.py:12, machine code); of the 2 loops that take its "
        "time, 1 left scalar"
    )


def chain() -> Loop:
    (reason,) = [reason for reason in REASONS if reason.name == "chain"]
    return Loop("pack", "kernel.py", 13, "while", 1, reason.meaning, 0.8, carried=("at", "word"))


def test_a_slow_loop_whose_steps_wait_for_each_other_is_the_verdict() -> None:
    slow = replace(SLOW, seconds=4e-3)

    assert slow.limit((chain(),)) is Limit.LATENCY
    assert slow.limit((replace(chain(), share=0.05),)) is Limit.COMPUTE
    assert SLOW.limit((chain(),)) is Limit.COMPUTE
    assert sentence(slow, (chain(),)).startswith(
        "compress takes 4 ms and is a latency-bound chain: 16 ns per element of the field; in the "
        "loop kernel.py:13 each step waits for the one before (at, word); 90%"
    )


def test_instructions_per_cycle_are_told_where_they_are_counted() -> None:
    counted = Usage(1, 0, {"instructions": 3e6, "cycles": 2e6, "cache_misses": 5.0})
    one = replace(SLOW, usage=counted)

    assert "1.5 instructions per cycle" in sentence(one, ())
    assert {m.name: m.value for m in metrics(one)}["compress.instructions_per_cycle"] == 1.5
    assert "instructions per cycle" not in sentence(SLOW, ())


def test_a_function_without_phases_says_so() -> None:
    assert "none of it was seen" in sentence(replace(SLOW, phases=()), ())


def test_metrics_name_function_unit_and_provenance() -> None:
    found = {m.name: m for m in metrics(SLOW)}

    assert found["compress.bandwidth"].value == pytest.approx(1.0)
    assert found["compress.moved_bandwidth"].value == pytest.approx(2.0)
    assert found["compress.peak_memory"].value == pytest.approx(3.0)
    assert found["compress.overhead_share"].value == pytest.approx(0.01)
    assert found["compress.page_faults"].provenance == "measured"
    assert found["phase.compress.pack"].provenance == "reported"


def test_phases_of_one_name_are_told_apart() -> None:
    other = replace(PACK, line=70)
    names = [m.name for m in metrics(replace(SLOW, phases=(PACK, other)))]

    assert names[-2:] == ["phase.compress.pack@kernel.py:12", "phase.compress.pack@kernel.py:70"]


@pytest.mark.parametrize(
    ("share", "text"), [(0.00123, "0.12%"), (0.052, "5.2%"), (0.104, "10%"), (0.97, "97%")]
)
def test_small_shares_keep_their_digits(share: float, text: str) -> None:
    assert percent(share) == text
