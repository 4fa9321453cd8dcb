"""Every performance rule, set off by a kernel in a child that has what it speaks of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kernels.fields import Catalogue
from kernels.records import Kernel, Loop, Profile, Submission
from sz_mcp.pipeline import Pipeline, Request, Watch
from tests.toolchains.test_vectorisation import LOOPS, SUBMISSION
from toolchains.base import Call, Cancellation
from toolchains.children.pool import Pool
from toolchains.feedback.performance_rules import RULES, SHOWN, Facts, performance_guidance
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import Peaks
from toolchains.vectorisation import loops

SMALL = "ocean_temperature"
VIEW = """\
import numpy as np

def compress(data, abs_bound):
    return data.reshape(-1).view(np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
COPY = VIEW.replace("view(np.uint8)", "view(np.uint8).copy()")
NUMPY = VIEW.replace("return data", "return (np.sin(data) * 0 + data).astype(data.dtype)")
CHECKED = """\
import numpy as np
import szstream

def compress(data, abs_bound):
    body = data.reshape(-1).view(np.uint8)
    for _ in range(3):
        szstream.check_sum(body)
    return body

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
HOARD = "import mmap\n" + VIEW.replace(
    "    return data",
    "    area = mmap.mmap(-1, 4 * data.nbytes)\n"
    "    for at in range(0, len(area), 4096):\n"
    "        area[at] = 1\n"
    "    return data",
)
WASTE = VIEW.replace(
    "    return data",
    "    copies = [data.astype(np.float64) + k for k in range(9)]\n"
    "    assert len(copies) == 9\n"
    "    return data",
)
HEAVY = """\
import numba
import numpy as np

@numba.njit
def work(x, out):
    for i in range(x.size):
        v = x[i]
        for _ in range(60):
            v = np.sqrt(v * v)
        out[i] = v

@numba.njit
def again(x, out):
    for i in range(x.size):
        v = x[i]
        for _ in range(60):
            v = np.sqrt(v * v)
        out[i] = v + np.float32(0)

@numba.njit
def once_more(x, out):
    for i in range(x.size):
        v = x[i]
        for _ in range(60):
            v = np.sqrt(v * v)
        out[i] = v - np.float32(0)

def compress(data, abs_bound):
    out = np.empty(data.size, np.float32)
    CALLS
    return data.reshape(-1).view(np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
ONE = HEAVY.replace("CALLS", "work(data.reshape(-1), out)")
THREE = HEAVY.replace(
    "CALLS", "; ".join(f"{f}(data.reshape(-1), out)" for f in ("work", "again", "once_more"))
)
PARALLEL = ONE.replace("@numba.njit\n", "@numba.njit(parallel=True)\n", 1).replace(
    "in range(x.size)", "in numba.prange(x.size)", 1
)


@dataclass(frozen=True)
class Trigger:
    """A kernel that has what a rule speaks of."""

    source: str
    field: str = SMALL
    threads: int = 1


TRIGGERS = {
    "stream-check": Trigger(CHECKED, "na_temperature"),
    "overhead": Trigger(VIEW),
    "python-phase": Trigger(NUMPY),
    "one-function": Trigger(ONE),
    "many-passes": Trigger(THREE),
    "peak-memory": Trigger(WASTE),
    "new-memory": Trigger(HOARD),
    "parallel-one-thread": Trigger(PARALLEL),
    "idle-threads": Trigger(ONE, threads=2),
    "near-memory": Trigger(COPY, "synthetic-256"),
}
RECORDED = {
    # Other work can't be had on demand.
    "disturbed": Facts(of_copy_peak=0.3, disturbed=0.75),
}
SCALAR = (
    "calls", "early-exit", "float-order", "dependence", "carried", "scattered",
    "not-worth", "chain", "last-value", "extreme",
)  # fmt: skip
REMARKED = {
    # LLVM said this of a loop over tuples of vectors; no plain loop is known that has it alone.
    "branches": "loop not vectorized: loop control flow is not understood by vectorizer",
}


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2)
    yield pipeline
    pipeline.close()


@pytest.fixture(scope="module")
def scalar(pool: Pool) -> dict[str, Loop]:
    """Loops that were not vectorised, by function."""
    x, q = np.linspace(1, 2, 3000, dtype=np.float32), np.arange(3000, dtype=np.int32)
    toolchain = NumbaToolchain(pool, Peaks(), 4 << 30)
    explained = toolchain.explain(SUBMISSION, [Call("run", (x, q), x.nbytes)], 1, Cancellation())
    return {loop.function: loop for loop in explained.loops}


def profile_of(pipeline: Pipeline, trigger: Trigger) -> Profile:
    submission = Submission("sz-open", "numba", {"kernel.py": trigger.source})
    request = Request(trigger.field, threads=trigger.threads)
    return pipeline.profile(Kernel("k", submission), request, Watch())


def hot(loop: Loop, share: float | None = 0.9) -> Facts:
    """Of a kernel of which nothing else is to be said."""
    return Facts(of_copy_peak=0.3, loops=(replace(loop, share=share),))


def names(facts: Facts) -> list[str]:
    return [guidance.rule for guidance in performance_guidance(facts)]


def test_every_rule_has_its_trigger() -> None:
    triggers = [
        *TRIGGERS,
        "loop-steps",
        "kept-call",
        "reference-counts",
        *RECORDED,
        *(f"loop-{name}" for name in (*SCALAR, *REMARKED)),
    ]

    assert sorted(triggers) == sorted(rule.name for rule in RULES)


@pytest.mark.slow
@pytest.mark.parametrize("rule", TRIGGERS)
def test_a_rule_speaks_of_a_kernel_that_has_it(pipeline: Pipeline, rule: str) -> None:
    if TRIGGERS[rule].threads > len(os.sched_getaffinity(0)):
        pytest.skip("as many cores as threads are needed")
    profile = profile_of(pipeline, TRIGGERS[rule])

    assert profile.failure is None
    said = [guidance.rule for guidance in profile.guidance]
    assert rule in said, (said, profile.bottleneck)


@pytest.mark.parametrize("rule", RECORDED)
def test_a_rule_speaks_of_recorded_facts(rule: str) -> None:
    assert names(RECORDED[rule]) == [rule]
    assert names(Facts(of_copy_peak=0.3)) == []


@pytest.mark.parametrize("name", SCALAR)
def test_a_loop_rule_speaks_of_a_loop_that_has_its_reason(
    scalar: dict[str, Loop], name: str
) -> None:
    assert names(hot(scalar[name.replace("-", "_")])) == [f"loop-{name}"]


def test_a_loop_that_only_counts_is_told_to_use_range(scalar: dict[str, Loop]) -> None:
    assert names(hot(scalar["by_step"])) == ["loop-steps"]


def test_a_call_that_was_not_inlined_is_told_of_where_it_takes_time(
    scalar: dict[str, Loop],
) -> None:
    loop = scalar["kept_call"]
    (call,) = loop.calls
    rare = replace(loop, calls=(replace(call, share=0.01),))

    (guidance,) = performance_guidance(hot(loop))

    assert guidance.rule == "kept-call"
    assert f"`large` (kernel.py:{call.line}; 4 arguments, 1 of them arrays)" in guidance.explanation
    assert f"kernel.py:{loop.line}" in guidance.explanation
    assert names(hot(rare)) == []


def test_counted_references_are_told_of(scalar: dict[str, Loop]) -> None:
    assert "reference-counts" in names(hot(scalar["counted"]))


def test_advice_on_a_carried_value_names_the_variables(scalar: dict[str, Loop]) -> None:
    (guidance,) = performance_guidance(hot(scalar["chain"]))

    assert "(`at`" in guidance.explanation
    assert "independent chunks" in (guidance.suggestion or "")


@pytest.mark.parametrize("name", REMARKED)
def test_a_loop_rule_speaks_of_a_recorded_remark(name: str) -> None:
    printed = f"remark: kernel.py:7:1: {REMARKED[name]}\nremark: kernel.py:7:1: loop not vectorized"

    (loop,) = loops(SUBMISSION, printed)

    assert loop.source == LOOPS.splitlines()[6].strip()
    assert names(hot(loop)) == [f"loop-{name}"]


def test_a_loop_that_hardly_matters_is_passed_over(scalar: dict[str, Loop]) -> None:
    assert names(hot(scalar["carried"], 0.05)) == []
    assert names(hot(scalar["carried"], None)) == []
    assert names(hot(scalar["fine"])) == []


def test_where_memory_decides_loops_are_no_matter(scalar: dict[str, Loop]) -> None:
    facts = Facts(of_copy_peak=0.9, loops=hot(scalar["carried"]).loops)

    assert names(facts) == ["near-memory"]


def test_no_more_is_said_than_can_be_taken_in() -> None:
    facts = Facts(
        interpreted=1, overhead=1, disturbed=1, new_memory=9, peak_memory=9, parallel=True
    )

    assert len(names(facts)) == SHOWN
