"""Kernels that are wrong in one way each: the suite catches them, says why and shows it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kernels.fields import Catalogue
from kernels.records import Kernel, Submission, Verdict
from sz_mcp.answers import View, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.pipeline import SUITE, Pipeline, Request, Watch
from sz_mcp.texts import text_of
from tests.toolchains.crowd import Crowd
from tests.wrong_kernels.faults import CLASSES, FAULTS, HALO, KERNELS, Fault, right
from toolchains.children.pool import Pool
from toolchains.feedback import guidance_for

MOST = 4
"""Runs of equal values that a counterexample may have."""
TOLD = {f"{name}: {next(iter(each))}": next(iter(each.values())) for name, each in CLASSES.items()}
"""One of each class."""
PLACES = ("plain", "blocks", "tiles", "ranges")
"""Kernels that nothing has to be compiled for."""


@pytest.fixture(scope="module")
def crowd() -> Iterator[Crowd]:
    pool = Pool(1, 4 << 30)
    sources = {name: fault.source for name, fault in FAULTS.items()}
    with Crowd(pool, sources | {kernel: right(kernel) for kernel in KERNELS}) as crowd:
        yield crowd
    pool.close()


def assert_caught(verdict: Verdict, fault: Fault) -> None:
    """It is a violation, the rule is right, and what is shown is short, whole and consistent."""
    (guidance,) = guidance_for(verdict.failure, "numba")
    assert guidance.rule in fault.rules, verdict.failure
    shown = verdict.counterexample
    assert shown is not None
    assert 1 <= len(shown.runs) <= MOST, shown.runs
    assert sum(run.count for run in shown.runs) == np.prod(shown.shape)
    flat = [run for run in shown.runs for _ in range(run.count)]
    worst, point = flat[shown.point.flat], shown.point
    assert (worst.original, worst.decoded, worst.error) == (
        point.original,
        point.decoded,
        point.error,
    )
    assert not float(worst.error) <= shown.abs_bound
    assert np.unravel_index(point.flat, shown.shape) == point.index
    assert shown.shrunk_from


@pytest.mark.parametrize("name", TOLD)
def test_a_kernel_of_every_class_is_caught_with_the_right_rule_and_few_values(
    crowd: Crowd, name: str
) -> None:
    assert_caught(crowd.verify_suite(name, "sz-open"), TOLD[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in TOLD])
def test_so_are_variants_of_the_class(crowd: Crowd, name: str) -> None:
    assert_caught(crowd.verify_suite(name, "sz-open"), FAULTS[name])


@pytest.mark.parametrize(
    "kernel",
    [k if k in PLACES else pytest.param(k, marks=pytest.mark.slow) for k in KERNELS],
)
def test_the_same_kernel_without_the_mistake_holds(crowd: Crowd, kernel: str) -> None:
    verdict = crowd.verify_suite(kernel, "sz-open")

    assert (verdict.holds, verdict.failure) == (True, None)


def test_what_breaks_at_the_border_of_a_block_is_told_in_runs() -> None:
    fault = HALO["differences over the border"]
    kernel = Kernel("k_1", Submission("sz-open", "numba", {"kernel.py": fault.source}))
    pipeline = Pipeline(Catalogue(), warm_children=2)
    try:
        verdict = pipeline.verify(kernel, Request(SUITE), Watch())
    finally:
        pipeline.close()

    asked = Asked("verify_bounds", "r_1", "k_1", SUITE, "rel", 1e-3)
    guidance = guidance_for(verdict.failure, "numba")
    told = text_of(verify_reply(asked, verdict, guidance, View())).split("\n")
    start = next((i for i, line in enumerate(told) if line.startswith("smallest array")), -1)
    assert start >= 0, told
    assert told[start].startswith(
        "smallest array that breaks it (rule block-border), from case walk: float32[9], abs_bound "
    )
    assert told[start + 1] == "original: 0.0 ×7, 1.0, 0.0"
    assert told[start + 2].startswith("decoded: 0.0 ×7, 1.03")
    assert told[start + 3].endswith("; the worst at [8] (flat 8)")
    assert any(line.startswith("why: ") and "begins" in line for line in told)
