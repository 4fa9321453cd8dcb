"""What a kernel goes through between the repetitions that count, and what is read of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from kernels.fields import Catalogue
from kernels.records import Arg, Array, Bound, Failure, FailureKind, Field, Status
from kernels.tasks import TASKS
from sz_mcp.pipeline import Request, Watch
from sz_mcp.pipeline.content import HARD, Content
from sz_mcp.pipeline.golden import format_failure
from sz_mcp.pipeline.live import LiveKernel
from sz_mcp.pipeline.rounds import BUDGET_S, Bench, Rounds, hard_round, outside_the_clock
from toolchains.base import Fill, Reply
from toolchains.children.cores import Workers
from toolchains.peaks import Peaks

from .quantisers import Quantise, Quantiser, honest

BOUND = 0.01


class Filled(Quantiser):
    """Writes the content that it is given, as the server does."""

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        *,
        fill: Fill | None = None,
        **others: Any,
    ) -> Reply | Failure:
        if fill is None:
            return super().call(function, items, **others)
        arrays = [np.empty_like(cast(Array, item[0])) for item in items]
        fill(arrays)
        filled = [(array, *item[1:]) for array, item in zip(arrays, items, strict=True)]
        reply = super().call(function, filled, **others)
        return reply if isinstance(reply, Failure) else replace(reply, inputs=tuple(arrays))


def unchecked(data: Array, abs_bound: float) -> Array:
    """Right wherever a code fits into an integer."""
    with np.errstate(all="ignore"):
        codes = np.rint(data / (1.9 * abs_bound)).astype(np.int32)
    return (codes * (1.9 * abs_bound)).astype(data.dtype)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    workers = Workers("rounds")
    yield workers
    workers.close()


def field_of(data: Array) -> Field:
    return Field(Catalogue().info("na_temperature"), data)


def bench_of(quantise: Quantise, workers: Workers, dtype: str = "f4") -> Bench:
    field = field_of(np.linspace(1, 9, 4096).astype(dtype))
    return Bench(
        task=TASKS["sz-open"],
        live=LiveKernel(Filled(quantise)),
        field=field,
        content=Content(field, BOUND, workers),
        bound=Bound("abs", BOUND, BOUND),
        request=Request(field.info.name),
        watch=Watch(),
        peaks=Peaks(),
        alone=nullcontext,
    )


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_of_every_repetition_one_stream_is_read(repeats: int, workers: Workers) -> None:
    read: list[Array] = []

    def audit(_variant: Array, stream: Array) -> Failure | None:
        read.append(stream)
        return None

    assert Rounds(bench_of(honest, workers), repeats, audit).run(1) is None
    assert len(read) == repeats


def test_a_stream_of_another_format_ends_a_run_in_whichever_repetition(workers: Workers) -> None:
    wrong = format_failure("another format")
    for bad in range(4):
        outcomes = [None] * bad + [wrong]
        rounds = Rounds(bench_of(honest, workers), 4, lambda *_, left=outcomes: left.pop(0))

        assert rounds.run(1) is wrong


def test_a_kernel_that_is_careless_with_a_field_is_found_while_it_is_timed(
    workers: Workers,
) -> None:
    failure = Rounds(bench_of(unchecked, workers), 3).run(1)

    assert failure is not None
    assert failure.kind is FailureKind.BOUND
    assert failure.message.startswith("with single values like nan, inf, ")


def test_hard_values_are_not_asked_for_where_they_may_be_refused(workers: Workers) -> None:
    assert hard_round(bench_of(unchecked, workers, "f8"), 2) is None
    assert hard_round(bench_of(unchecked, workers), 2) is not None


@pytest.mark.parametrize("size", [0, 1, 3, 4096])
def test_hard_content_holds_as_many_hard_values_as_there_is_place_for(
    size: int, workers: Workers
) -> None:
    field, array = field_of(np.full(size, 5, np.float32)), np.zeros(size, np.float32)

    Content(field, BOUND, workers).fill_hard([array])

    hard = sum(not 4 < value < 6 and not -6 < value < -4 for value in array.tolist())
    assert min(size, 1) <= hard <= len(HARD)


def test_waiting_for_a_turn_takes_none_of_the_time_of_a_kernel(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds(bench_of(honest, workers), 3)
    now = time.monotonic() + 10 * BUDGET_S
    monkeypatch.setattr(time, "monotonic", lambda: now)

    assert rounds.run(1) is None
    assert len(rounds.samples) == 2 * 3


@pytest.mark.parametrize(
    ("threads", "cpu_seconds", "within"),
    [(1, 1.0, True), (1, 1.1, False), (2, 1.9, True), (2, 2.1, False)],
)
def test_processor_time_of_more_threads_than_asked_for_makes_a_run_suspect(
    workers: Workers, threads: int, cpu_seconds: float, within: bool
) -> None:
    bench = bench_of(honest, workers)
    bench = replace(bench, request=replace(bench.request, threads=threads))
    quiet = Reply((), (), 1.0, 1.0, 0.0, disturbed=False, intact=True, cpu_seconds=1.0)

    failure = outside_the_clock(bench, [quiet, replace(quiet, cpu_seconds=cpu_seconds)])

    assert (failure is None) == within
    if failure is not None:
        assert failure.status is Status.SUSPECT
        assert f"more threads than the {threads} that" in failure.message
