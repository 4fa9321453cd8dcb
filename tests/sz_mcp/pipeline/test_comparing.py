"""Two kernels side by side, for real: which is faster, and what a failure of one does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kernels.fields import Catalogue
from kernels.records import FailureKind, Kernel, Status, Submission
from results_db.statistics import FEWEST_PAIRS, Compared
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.pipeline.comparing import progress_of
from toolchains.base import Cancellation

FIELD = "na_temperature"
REPEATS = 8
RAW = """\
import numpy as np

def compress(data, abs_bound):
    return np.frombuffer(data.tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
TEN_TIMES = RAW.replace(
    "    return np.from", "    for _ in range(10): data.tobytes()\n    return np.from"
)
BROKEN = RAW.replace("data.tobytes()", "(data + np.float32(2 * abs_bound)).tobytes()")
NO_LOADING = "raise ValueError('not today')\n" + RAW


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2)
    yield pipeline
    pipeline.close()


def kernel(name: str, source: str) -> Kernel:
    return Kernel(name, Submission("sz-open", "numba", {"kernel.py": source}))


def compare(pipeline: Pipeline, one: str, other: str, watch: Watch | None = None) -> Compared:
    request = Request(FIELD, repeats=REPEATS)
    return pipeline.compare(
        kernel("k_one", one), kernel("k_other", other), request, watch or Watch()
    )


def test_a_kernel_that_does_the_work_once_is_faster_than_one_that_does_it_ten_times(
    pipeline: Pipeline,
) -> None:
    found = compare(pipeline, RAW, TEN_TIMES)

    if found.failure is not None:
        # Only a machine that is busy all the time may keep us from an answer.
        assert found.failure.kind is FailureKind.BUSY
        return
    verdicts = {one.direction: one.speedup.verdict for one in found.contrasts}
    assert verdicts["compress"] == "faster"
    assert set(verdicts) == {"compress", "decompress"}
    pairs = len(found.contrasts[0].seconds)
    assert FEWEST_PAIRS <= pairs <= REPEATS
    assert found.result.status is Status.TIMED
    assert {sample.direction for sample in found.result.samples} == set(verdicts)


def test_a_kernel_can_be_compared_with_itself(pipeline: Pipeline) -> None:
    found = compare(pipeline, RAW, RAW)

    assert found.failure is None or found.failure.kind is FailureKind.BUSY
    assert found.against == "k_other"
    assert found.result.samples


@pytest.mark.parametrize("broken", [BROKEN, NO_LOADING])
def test_the_failure_of_the_other_kernel_is_not_held_against_this_one(
    pipeline: Pipeline, broken: str
) -> None:
    found = compare(pipeline, RAW, broken)

    assert found.contrasts == ()
    assert found.failure is not None
    assert (found.failure.kind, found.result.status) == (FailureKind.PEER, Status.INCONCLUSIVE)
    assert "no comparison: k_other failed" in found.failure.message


@pytest.mark.parametrize("broken", [BROKEN, NO_LOADING])
def test_the_failure_of_the_kernel_itself_is_its_own(pipeline: Pipeline, broken: str) -> None:
    found = compare(pipeline, broken, RAW)

    assert found.contrasts == ()
    assert found.failure is not None
    assert found.failure.kind in (FailureKind.BOUND, FailureKind.EXCEPTION)
    assert found.result.status is Status.ERROR


def test_a_cancelled_comparison_says_so(pipeline: Pipeline) -> None:
    cancellation = Cancellation()
    begun = threading.Event()

    def on_progress(_fraction: float, message: str) -> None:
        if "timing pair" in message or "size and error" in message:
            begun.set()

    with ThreadPoolExecutor(1) as executor:
        watch = Watch(cancellation, on_progress)
        slow = RAW.replace(
            "    return np.from", "    while data.size > 20000: pass\n    return np.from"
        )
        future = executor.submit(compare, pipeline, slow, RAW, watch)
        assert begun.wait(60)
        cancellation.cancel()
        found = future.result(60)

    assert found.failure is not None
    assert found.failure.kind is FailureKind.CANCELLED


def test_two_comparisons_of_the_same_two_kernels_do_not_wait_for_each_other_forever(
    pipeline: Pipeline,
) -> None:
    with ThreadPoolExecutor(2) as executor:
        one = executor.submit(compare, pipeline, RAW, BROKEN)
        other = executor.submit(compare, pipeline, BROKEN, RAW)

        kinds = [future.result(120).failure for future in (one, other)]

    assert [failure.kind for failure in kinds if failure] == [FailureKind.PEER, FailureKind.BOUND]


def test_every_pair_brings_a_comparison_further_disturbed_or_not() -> None:
    busy = [progress_of(made, 0, 7)[0] for made in range(28)]
    calm = [progress_of(made, made, 7)[0] for made in range(7)]

    assert busy == sorted(set(busy))
    assert calm == sorted(set(calm))
    assert busy[0] == calm[0] == 0.2
    assert max(*busy, *calm) < 1
    assert progress_of(11, 2, 7)[1] == "timing pair 12; 2 of 7 were undisturbed so far"


def test_the_progress_of_a_comparison_never_goes_back(pipeline: Pipeline) -> None:
    told: list[float] = []

    compare(pipeline, RAW, TEN_TIMES, Watch(progress=lambda fraction, _: told.append(fraction)))

    assert told == sorted(told)
    assert len(set(told)) >= 3
