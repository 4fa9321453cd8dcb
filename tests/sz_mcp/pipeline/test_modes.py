"""Every bound mode for real: worked submissions verified, timed, compared and profiled in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernels import baselines
from kernels.bounds import BoundError
from kernels.fields import Catalogue
from kernels.modes.pointwise import transform
from kernels.records import FailureKind, Kernel, Status, Submission
from results_db.summary import summarise
from sz_mcp.pipeline import SUITE, Pipeline, Request, Watch
from toolchains.base import Cancellation

FIELD = "na_temperature"
ASKED = [("pw_rel", 1e-3), ("pw_rel", 1e-6), ("psnr", 60.0), ("l2norm", 30.0), ("ratio", 6.0)]
LATER = [("psnr", 60.0), ("l2norm", 1e3), ("ratio", 4.0)]
UNDECIDED = (Status.TIMED, Status.INCONCLUSIVE)
WRONG = """\
import numpy as np

def compress(data, abs_bound):
    moved = data + data.dtype.type(1.002 * abs_bound)
    return np.frombuffer(moved.tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
"""It breaks every absolute bound, but the margin of pw_rel would hide that at 1e-3."""


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2)
    yield pipeline
    pipeline.close()


def shipped(task: str, style: str) -> Kernel:
    return Kernel(f"k_{task}_{style}", baselines.read(task, style))


def written(source: str) -> Kernel:
    return Kernel("k_written", Submission("sz-open", "numba", {"kernel.py": source}))


@pytest.mark.parametrize(("mode", "value"), ASKED)
def test_a_field_is_verified_in_every_mode(pipeline: Pipeline, mode: str, value: float) -> None:
    assert_reached(pipeline, shipped("szp", "naive"), mode, value)


@pytest.mark.parametrize(("mode", "value"), ASKED)
@pytest.mark.slow
def test_a_field_is_verified_in_every_mode_by_the_best_codec(
    pipeline: Pipeline, mode: str, value: float
) -> None:
    assert_reached(pipeline, shipped("sz-open", "tuned"), mode, value)


def assert_reached(pipeline: Pipeline, kernel: Kernel, mode: str, value: float) -> None:
    verdict = pipeline.verify(kernel, Request(FIELD, mode, value), Watch())

    assert verdict.holds, verdict.failure
    assert verdict.outcome is not None
    assert verdict.outcome.reached is True


@pytest.mark.parametrize(("mode", "value"), ASKED)
def test_a_field_is_timed_in_every_mode(pipeline: Pipeline, mode: str, value: float) -> None:
    run = pipeline.run(shipped("szp", "naive"), Request(FIELD, mode, value, repeats=1), Watch())

    assert run.status in UNDECIDED, run.failure
    assert run.samples
    assert (run.field, run.bound.mode, run.bound.value) == (FIELD, mode, value)
    assert {s.nbytes // s.batch for s in run.samples} == {run.raw_bytes}
    assert run.golden_bytes == run.stream_bytes
    assert run.outcome is not None
    assert run.outcome.reached is True


def test_the_time_of_the_transform_is_apart_and_its_side_data_count(pipeline: Pipeline) -> None:
    data = Catalogue().load("synthetic:noise:200x300").data

    run = pipeline.run(
        shipped("szp", "naive"), Request("synthetic:noise:200x300", "pw_rel", 1e-2, 2), Watch()
    )

    told = {m.name: m for m in run.metrics}
    for name in ("transform_seconds", "detransform_seconds"):
        assert told[name].value > 0
        assert (told[name].unit, told[name].provenance) == ("s", "measured")
    assert run.outcome is not None
    assert run.outcome.side_bytes == transform(data, 1e-2).side.nbytes > 100
    assert summarise(run).ratio == data.nbytes / (run.stream_bytes + run.outcome.side_bytes)


def test_the_kernel_is_timed_at_the_bound_that_was_found(pipeline: Pipeline) -> None:
    told: list[str] = []
    watch = Watch(Cancellation(), lambda _fraction, text: told.append(text))

    run = pipeline.run(shipped("szp", "naive"), Request(FIELD, "ratio", 6.0, 1), watch)

    assert run.outcome is not None
    assert run.comparison is not None
    tried = {text for text in told if text.startswith("ratio 6: trying bound ")}
    assert len(tried) == run.outcome.tries
    assert run.bound.absolute == run.comparison.abs_bound > 0
    assert summarise(run).ratio == run.outcome.achieved


def test_a_ratio_out_of_reach_is_timed_and_said_not_to_be_reached(pipeline: Pipeline) -> None:
    run = pipeline.run(shipped("szp", "naive"), Request(FIELD, "ratio", 1e6, 1), Watch())

    assert run.status in UNDECIDED
    assert run.outcome is not None
    assert run.outcome.reached is False


@pytest.mark.parametrize(
    ("mode", "value"),
    [("pw_rel", 1e-3), *(pytest.param(*one, marks=pytest.mark.slow) for one in LATER)],
)
def test_the_suite_holds_in_every_mode(pipeline: Pipeline, mode: str, value: float) -> None:
    verdict = pipeline.verify(shipped("sz-open", "tuned"), Request(SUITE, mode, value), Watch())

    assert verdict.holds, verdict.failure
    own = [case for case in verdict.cases if case.outcome is not None]
    assert len(own) > 90
    assert mode == "ratio" or all(case.outcome and case.outcome.reached for case in own)


@pytest.mark.parametrize(("mode", "value"), [one for one in ASKED if one[0] != "ratio"])
def test_a_kernel_that_breaks_its_absolute_bound_fails_whatever_it_was_derived_from(
    pipeline: Pipeline, mode: str, value: float
) -> None:
    request = Request(FIELD, mode, value, repeats=2)

    verdict = pipeline.verify(written(WRONG), request, Watch())
    run = pipeline.run(written(WRONG), request, Watch())
    profile = pipeline.profile(written(WRONG), request, Watch())

    for failure in (verdict.failure, run.failure, profile.failure):
        assert failure is not None
        assert failure.kind is FailureKind.BOUND
        assert ("log2 |x|" in failure.message) == (mode == "pw_rel")
    assert not run.samples
    shown = verdict.counterexample
    assert shown is not None
    assert shown.abs_bound == verdict.abs_bound == run.bound.absolute
    assert abs(float(shown.point.original) - float(shown.point.decoded)) > shown.abs_bound


def test_a_comparison_in_a_mode_times_both_kernels_at_their_own_bounds(
    pipeline: Pipeline,
) -> None:
    found = pipeline.compare(
        shipped("szp", "naive"),
        shipped("szp", "tuned"),
        Request(FIELD, "psnr", 60.0, repeats=6),
        Watch(),
    )

    assert found.result.status in UNDECIDED, found.failure
    assert found.result.outcome is not None
    assert found.result.outcome.reached is True
    assert found.failure is not None or {one.direction for one in found.contrasts} == {
        "compress",
        "decompress",
    }


@pytest.mark.parametrize(
    ("mode", "value"), [("psnr", 50.0), pytest.param("pw_rel", 1e-2, marks=pytest.mark.slow)]
)
def test_a_profile_is_of_the_field_at_the_derived_bound(
    pipeline: Pipeline, mode: str, value: float
) -> None:
    kernel, request = shipped("szp", "naive"), Request(FIELD, mode, value)

    profile = pipeline.profile(kernel, request, Watch())
    verdict = pipeline.verify(kernel, request, Watch())

    assert profile.failure is None, profile.failure
    assert profile.field == FIELD
    assert (profile.bound.mode, profile.bound.value) == (mode, value)
    assert mode == "pw_rel" or profile.bound.absolute == verdict.abs_bound
    assert any(m.name == "compress.seconds" for m in profile.metrics)


@pytest.mark.parametrize("mode", ["pw_rel", "psnr", "l2norm", "ratio"])
def test_a_stage_takes_abs_and_rel_only(pipeline: Pipeline, mode: str) -> None:
    stage, request = shipped("lorenzo-1d", "naive"), Request(FIELD, mode, 10.0)

    for call in (pipeline.verify, pipeline.run, pipeline.profile):
        with pytest.raises(BoundError, match=f"mode {mode} is for codecs.*choose one of abs, rel"):
            call(stage, request, Watch())
