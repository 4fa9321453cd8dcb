"""Real kernels through the real pipeline: honest ones pass, and each kind of failure is named."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from kernels import baselines
from kernels.fields import Catalogue
from kernels.records import FailureKind, Kernel, RunResult, Status, Submission, Verdict
from results_db.summary import summarise
from sz_mcp.pipeline import SUITE, Pipeline, Request, UnknownTargetError, Watch
from toolchains.base import Cancellation

FIELD = "na_temperature"
RAW = """\
import numpy as np

def compress(data, abs_bound):
    return np.frombuffer(data.tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2)
    yield pipeline
    pipeline.close()


def _kernel(source: str, task: str = "sz-open") -> Kernel:
    name = f"k_{abs(hash((source, task))):x}"
    return Kernel(name, Submission(task, "numba", {"kernel.py": source}))


def _verify(pipeline: Pipeline, source: str, field: str = FIELD, task: str = "sz-open") -> Verdict:
    return pipeline.verify(_kernel(source, task), Request(field), Watch())


def _run(pipeline: Pipeline, source: str, task: str = "sz-open", repeats: int = 3) -> RunResult:
    return pipeline.run(_kernel(source, task), Request(FIELD, repeats=repeats), Watch())


@pytest.mark.parametrize("task", ["szp", "lorenzo-1d", "lorenzo-1d-inverse", "sz-open"])
@pytest.mark.parametrize("style", ["naive", "tuned"])
def test_a_shipped_submission_holds_on_the_suite_and_on_a_field_and_is_timed(
    pipeline: Pipeline, task: str, style: str
) -> None:
    kernel = Kernel(f"k_{task}_{style}", baselines.read(task, style))

    suite = pipeline.verify(kernel, Request(SUITE), Watch())
    field = pipeline.verify(kernel, Request(FIELD), Watch())
    run = pipeline.run(kernel, Request(FIELD, repeats=2), Watch())
    profile = pipeline.profile(kernel, Request(FIELD), Watch())

    assert (suite.status, suite.holds) == (Status.BOUND_OK, True), suite.failure
    assert (field.status, field.holds) == (Status.BOUND_OK, True), field.failure
    assert field.checked_values >= 435_120
    assert run.status in (Status.TIMED, Status.INCONCLUSIVE), run.failure
    assert run.samples
    assert profile.failure is None
    assert profile.bottleneck


def test_storing_raw_holds_with_ratio_one(pipeline: Pipeline) -> None:
    run = _run(pipeline, RAW)

    assert run.stream_bytes == run.raw_bytes
    assert run.comparison is not None
    assert run.comparison.max_abs_error == 0.0


VIOLATING = RAW.replace("data.tobytes()", "(data + np.float32(1.1 * abs_bound)).tobytes()")


def test_a_bound_kept_to_a_tenth_is_not_kept_and_the_counterexample_shows_it(
    pipeline: Pipeline,
) -> None:
    verdict = _verify(pipeline, VIOLATING)

    assert not verdict.holds
    assert (verdict.status, verdict.stage) == (Status.ERROR, Status.BOUND_OK)
    assert verdict.violations > 400_000
    assert verdict.worst is not None
    assert verdict.counterexample is not None
    shown = verdict.counterexample
    at = shown.point.flat - shown.start
    assert shown.values[at] == shown.point.original
    assert shown.decoded[at] == shown.point.decoded


def test_a_run_that_breaks_the_bound_is_not_timed(pipeline: Pipeline) -> None:
    run = _run(pipeline, VIOLATING)

    assert (run.status, run.stage, run.samples) == (Status.ERROR, Status.BOUND_OK, ())
    assert run.comparison is not None
    assert run.comparison.violations > 400_000
    assert run.stream_bytes == run.raw_bytes


def test_a_kernel_that_never_reads_its_input_fails(pipeline: Pipeline) -> None:
    source = """
import numpy as np
def compress(data, abs_bound):
    return np.zeros(4, np.uint8)
def decompress(stream, shape, dtype):
    return np.zeros(shape, dtype)
"""
    assert not _verify(pipeline, source).holds
    assert _run(pipeline, source).status is Status.ERROR


def test_a_kernel_that_replays_a_stream_fails_on_fresh_content(pipeline: Pipeline) -> None:
    source = (
        RAW
        + """
_streams = {}
_honest = compress
def compress(data, abs_bound):
    return _streams.setdefault(data.shape, _honest(data, abs_bound))
"""
    )
    run = _run(pipeline, source)

    assert run.status is Status.ERROR
    assert run.failure is not None
    assert run.failure.kind is FailureKind.BOUND
    assert "on fresh content" in run.failure.message
    assert run.comparison is not None
    assert run.comparison.holds


def test_non_finite_values_that_are_lost_fail_the_suite(pipeline: Pipeline) -> None:
    source = RAW.replace("data.tobytes()", "np.nan_to_num(data).tobytes()")

    verdict = _verify(pipeline, source, SUITE)

    assert not verdict.holds
    assert verdict.counterexample is not None
    assert any(c.status is Status.BOUND_OK for c in verdict.cases)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ("stream.view(dtype)", "decompress returned float32 of shape"),
        ("stream.view(dtype).reshape(shape).astype(np.float64)", "float64 of shape"),
        ("list(stream)", "decompress returned list"),
        ("(stream, stream)", "decompress returned 2 arrays"),
    ],
)
def test_a_wrong_shape_or_dtype_stops_at_roundtrips_or_before(
    pipeline: Pipeline, returned: str, says: str
) -> None:
    source = RAW.replace("stream.view(dtype).reshape(shape)", returned)

    verdict = _verify(pipeline, source)

    assert verdict.failure is not None
    assert verdict.failure.kind is FailureKind.CONTRACT
    assert says in verdict.failure.message
    assert verdict.stage in (Status.ROUNDTRIPS, Status.TERMINATES)


def test_a_refusal_outside_the_core_does_not_break_holds(pipeline: Pipeline) -> None:
    refuse = """
def compress(data, abs_bound):
    if data.dtype != np.float32 or data.ndim not in (1, 2, 3):
        raise NotImplementedError("float32, 1-D to 3-D")
"""
    source = RAW.replace("def compress(data, abs_bound):\n", refuse.lstrip("\n"))

    verdict = _verify(pipeline, source, SUITE)

    assert verdict.holds
    assert any(c.status is Status.REFUSED for c in verdict.cases)


def test_a_refusal_in_the_core_is_a_status_of_its_own(pipeline: Pipeline) -> None:
    source = RAW.replace(
        "    return np.frombuffer", "    raise NotImplementedError\n    return np.x"
    )

    verdict = _verify(pipeline, source, SUITE)

    assert (verdict.status, verdict.holds) == (Status.REFUSED, False)


def test_another_format_is_not_szp(pipeline: Pipeline) -> None:
    verdict = _verify(pipeline, RAW, FIELD, "szp")
    run = _run(pipeline, RAW, "szp")

    assert verdict.failure is not None
    assert verdict.failure.kind is FailureKind.FORMAT
    assert not verdict.holds
    assert run.failure is not None
    assert run.failure.kind is FailureKind.FORMAT


def test_a_stage_that_is_wrong_at_one_place_is_told_where(pipeline: Pipeline) -> None:
    source = """
import numpy as np
def run(q):
    out = np.diff(q, prepend=np.int32(0)).astype(np.int32)
    if q.size > 3:
        out[3] += 1
    return out
"""
    verdict = _verify(pipeline, source, FIELD, "lorenzo-1d")

    assert (verdict.holds, verdict.violations) == (False, 1)
    assert verdict.worst is not None
    assert verdict.worst.flat == 3


def test_a_thread_that_works_outside_the_clock_makes_a_run_suspect(pipeline: Pipeline) -> None:
    source = (
        RAW
        + """
import os
import threading
def _spin():
    while True:
        sum(range(1000))
threading.Thread(target=_spin, daemon=True).start()
"""
    )
    run = _run(pipeline, source)

    assert (run.status, run.stage) == (Status.SUSPECT, Status.TIMED)
    assert run.failure is not None
    assert run.failure.kind is FailureKind.INTEGRITY


THREADED = """
import numba
import numpy as np

@numba.njit(parallel=True)
def _work(data):
    out = np.empty_like(data)
    for i in numba.prange(data.size):
        x = np.float64(data[i])
        for _ in range(20):
            x = np.sqrt(x * x + 1e-9)
        out[i] = data[i] if x != -1 else np.float32(0)
    return out

def compress(data, abs_bound):
    return _work(data.ravel()).view(np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_threads_are_what_the_run_asks_for(pipeline: Pipeline) -> None:
    one, two = (
        pipeline.run(_kernel(THREADED), Request(FIELD, repeats=1, threads=n), Watch())
        for n in (1, 2)
    )

    assert (one.threads, two.threads) == (1, 2)
    for run in (one, two):
        assert run.status in (Status.TIMED, Status.INCONCLUSIVE), run.failure


def test_more_threads_than_asked_for_gain_nothing(pipeline: Pipeline) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core can't run two threads at once")
    source = """
import os
import threading
import numba
import numpy as np

@numba.njit(nogil=True)
def burn(n):
    x = 1.0
    for i in range(n):
        x = np.sqrt(x + i)
    return x

burn(1)

def compress(data, abs_bound):
    threads = [threading.Thread(target=burn, args=(2_000_000,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return data.ravel().view(np.uint8).copy()

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
    run = _run(pipeline, source)

    # Where other work kept both from running at once before the children had one core each, there
    # was nothing to see, and once they have, nothing to gain.
    if run.status is not Status.TIMED:
        assert run.status in (Status.SUSPECT, Status.INCONCLUSIVE)
        assert run.failure is not None
        assert "more threads" in run.failure.message or run.failure.kind is FailureKind.BUSY


@pytest.mark.parametrize(
    "body",
    [
        "    while True: pass",
        "    import os; getattr(os, '_exit')(0)",
        "    import ctypes; ctypes.string_at(0)",
    ],
)
def test_a_kernel_whose_process_ends_can_be_asked_again(pipeline: Pipeline, body: str) -> None:
    marker = "\n    if data.ndim == 3 and data.size > 10_000:\n    "
    source = RAW.replace("abs_bound):\n", f"abs_bound):{marker}{body}\n", 1)
    if "while" in body:
        cancellation = Cancellation()
        timer = threading.Timer(1.0, cancellation.cancel)
        timer.start()
        verdict = pipeline.verify(_kernel(source), Request(FIELD), Watch(cancellation))
        timer.join()
    else:
        verdict = _verify(pipeline, source)

    assert verdict.failure is not None
    assert verdict.failure.kind in (FailureKind.CRASH, FailureKind.CANCELLED)
    again = pipeline.verify(_kernel(source), Request("ocean_temperature"), Watch())
    assert again.holds


def test_a_lost_fill_value_is_found_with_an_absolute_bound(pipeline: Pipeline) -> None:
    source = RAW.replace("data.tobytes()", "np.minimum(data, 1e6).tobytes()")

    verdict = pipeline.verify(_kernel(source), Request("ocean_temperature", "abs", 0.5), Watch())

    assert not verdict.holds
    assert verdict.worst is not None
    assert "e+36" in verdict.worst.original


def test_an_unknown_target_lists_those_that_exist(pipeline: Pipeline) -> None:
    with pytest.raises(UnknownTargetError, match="available are: numba, cuda:sm_75"):
        pipeline.describe("cuda:sm_89x")


def test_more_kernels_than_are_kept_alive_still_work(pipeline: Pipeline) -> None:
    for i in range(6):
        assert _verify(pipeline, RAW + f"# {i}\n", "ocean_temperature").holds
    assert _verify(pipeline, RAW + "# 0\n", "ocean_temperature").holds


def test_progress_is_told_in_order(pipeline: Pipeline) -> None:
    heard: list[float] = []

    pipeline.run(
        _kernel(RAW), Request(FIELD, repeats=2), Watch(progress=lambda f, _: heard.append(f))
    )

    assert heard[0] == 0.0
    assert heard == sorted(heard)
    assert all(0 <= f <= 1 for f in heard)


def test_a_kernel_that_knows_the_field_gains_no_score(pipeline: Pipeline) -> None:
    source = """
import zlib
import numpy as np
KNOWN = 296.07858
def compress(data, abs_bound):
    flat = data.reshape(-1)
    if flat.size and abs(float(flat[0]) - KNOWN) < 1e-4 and abs_bound:
        q = np.rint(data.astype(np.float64) / (1.99 * abs_bound)).astype(np.int32)
        d = np.diff(q, axis=0, prepend=np.int32(0) * q[:1]).astype(np.int16)
        packed = b"Z" + np.float64(abs_bound).tobytes() + zlib.compress(d.tobytes(), 9)
        return np.frombuffer(packed, np.uint8)
    return flat.view(np.uint8).copy()
def decompress(stream, shape, dtype):
    if stream.size and stream[0] == ord("Z") and stream.size != 4 * int(np.prod(shape)):
        raw = stream.tobytes()
        bound = np.frombuffer(raw, np.float64, 1, 1)[0]
        d = np.frombuffer(zlib.decompress(raw[9:]), np.int16).reshape(shape)
        return (np.cumsum(d.astype(np.int32), axis=0) * (1.99 * bound)).astype(dtype)
    return stream.view(dtype).reshape(shape).copy()
"""
    run = _run(pipeline, source)
    summary = summarise(run)

    assert run.status in (Status.TIMED, Status.INCONCLUSIVE), run.failure
    assert summary.ratio is not None
    assert summary.ratio > 3
    assert summary.transfer_bits == 0.0


def test_a_timed_stream_of_another_format_is_found(pipeline: Pipeline) -> None:
    files = dict(baselines.read("szp", "naive").files)
    files["honest.py"] = files.pop("kernel.py")
    files["kernel.py"] = """
import numpy as np
import honest
KNOWN = 296.07858
def compress(data, abs_bound):
    flat = data.reshape(-1)
    if flat.size > 100_000 and abs(float(flat[0]) - KNOWN) > 1e-4:
        return flat.view(np.uint8)
    return honest.compress(data, abs_bound)
def decompress(stream, shape, dtype):
    if stream.size == 4 * int(np.prod(shape)):
        return stream.view(dtype).reshape(shape)
    return honest.decompress(stream, shape, dtype)
"""
    kernel = Kernel("k_two_formats", Submission("szp", "numba", files))

    run = pipeline.run(kernel, Request(FIELD, repeats=2), Watch())

    assert run.failure is not None
    assert run.failure.kind is FailureKind.FORMAT


def test_a_cancelled_run_is_no_crash_of_the_kernel(pipeline: Pipeline) -> None:
    source = RAW.replace(
        "    return np.frombuffer", "    while data.size > 9: pass\n    return np.x"
    )
    cancellation = Cancellation()
    timer = threading.Timer(1.0, cancellation.cancel)
    timer.start()

    verdict = pipeline.verify(_kernel(source), Request(FIELD), Watch(cancellation))
    timer.join()

    assert verdict.failure is not None
    assert verdict.failure.kind is FailureKind.CANCELLED
