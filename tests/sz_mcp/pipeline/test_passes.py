"""What the server wraps around a kernel in every mode, with quantisers in place of kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.bounds import BoundError
from kernels.modes.pointwise import log_bound, transform
from kernels.modes.search import noise_bound, norm_bound
from kernels.records import Array, Failure, FailureKind, ModeOutcome, Status
from kernels.suite import core_suite
from kernels.verify import compare, compare_pointwise
from sz_mcp.pipeline.passes import Pass, Stopped, Wanted, codec_pass
from tests.sz_mcp.pipeline.quantisers import Quantise, Quantiser, furthest, honest


def waves(dtype: type[np.float32] | type[np.float64] = np.float32) -> Array:
    x = np.arange(6000)
    data = np.sin(x / 40) * np.exp(np.cos(x / 700) * 5)
    data[::500] = 0
    return np.asarray(data, dtype)


def passed(data: Array, wanted: Wanted, quantise: Quantise = honest) -> Pass:
    done = codec_pass(Quantiser(quantise), data, wanted)
    assert isinstance(done, Pass)
    return done


def outcome_of(done: Pass) -> ModeOutcome:
    assert done.outcome is not None
    return done.outcome


@pytest.mark.parametrize("mode", ["abs", "rel"])
def test_abs_and_rel_have_nothing_around_them(mode: str) -> None:
    data = waves()

    done = passed(data, Wanted(mode, 1e-3))

    assert done.comparison.holds
    assert done.outcome is None
    assert done.given is done.original is data
    assert (done.size, done.side_bytes) == (done.stream.nbytes, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("quantise", [honest, furthest])
def test_pw_rel_keeps_the_bound_of_every_value(
    dtype: type[np.float32], eps: float, quantise: Quantise
) -> None:
    data = waves(dtype)

    done = passed(data, Wanted("pw_rel", eps), quantise)

    assert compare_pointwise(data, done.decoded, eps).holds
    assert done.comparison.holds
    assert done.bound.absolute == log_bound(data.dtype, eps)
    outcome = outcome_of(done)
    assert outcome.reached is True
    assert outcome.achieved is not None
    assert 0 <= outcome.achieved <= eps
    assert (outcome.achieved > eps / 2) == (eps > 1e-6 or dtype is np.float64)


def test_pw_rel_gives_the_kernel_logarithms_and_counts_the_side_data() -> None:
    data = waves()
    session = Quantiser(honest)

    done = codec_pass(session, data, Wanted("pw_rel", 1e-3))

    assert isinstance(done, Pass)
    made = transform(data, 1e-3)
    assert np.array_equal(done.given, made.values)
    assert session.bounds == [made.abs_bound]
    assert done.side_bytes == made.side.nbytes > 0
    assert done.size == done.stream.nbytes + made.side.nbytes
    assert done.transform_seconds > 0
    assert done.detransform_seconds > 0


def test_a_kernel_that_breaks_the_bound_of_the_logarithms_breaks_pw_rel() -> None:
    """By so little that the margin hides it: no value of the data is beyond its bound."""
    data = waves()

    def slightly(values: Array, bound: float) -> Array:
        return furthest(values, bound * 1.0015)

    done = passed(data, Wanted("pw_rel", 1e-3), slightly)

    assert not done.comparison.holds
    assert done.original is done.given
    assert done.comparison == compare(done.original, done.decoded, done.bound.absolute)
    assert outcome_of(done).reached is None


def test_psnr_is_reached_at_once_by_errors_that_are_spread_evenly() -> None:
    data = np.random.default_rng(1).uniform(-1, 1, 50_000).astype(np.float32)

    done = passed(data, Wanted("psnr", 60.0))

    outcome = outcome_of(done)
    assert outcome.tries <= 2
    assert outcome.achieved is not None
    assert 60.0 <= outcome.achieved < 60.1
    error = data.astype(np.float64) - done.decoded
    psnr = 20 * math.log10(np.ptp(data.astype(np.float64))) - 10 * math.log10(np.mean(error**2))
    assert outcome.achieved == pytest.approx(psnr, abs=1e-9)


@pytest.mark.parametrize(("mode", "value"), [("psnr", 60.0), ("l2norm", 3.0)])
def test_the_worst_errors_allowed_end_at_the_guarantee_and_reach_it(
    mode: str, value: float
) -> None:
    data = waves()

    done = passed(data, Wanted(mode, value), furthest)

    guarantee = (
        noise_bound(value, float(np.ptp(data.astype(np.float64))))
        if mode == "psnr"
        else norm_bound(value, data.size)
    )
    outcome = outcome_of(done)
    assert outcome.reached is True
    assert outcome.tries > 1
    assert guarantee <= done.bound.absolute < 1.01 * guarantee


def test_an_l2norm_that_was_asked_for_is_kept() -> None:
    data = waves()

    done = passed(data, Wanted("l2norm", 2.5))

    norm = float(np.linalg.norm(data.astype(np.float64) - done.decoded))
    assert outcome_of(done).achieved == pytest.approx(norm)
    assert norm <= 2.5


def test_a_ratio_that_can_be_reached_is_reached_by_a_small_bound() -> None:
    data = waves()

    done = passed(data, Wanted("ratio", 6.0))

    outcome = outcome_of(done)
    assert outcome.reached is True
    assert outcome.tries <= 24
    assert outcome.achieved == data.nbytes / done.size
    assert outcome.achieved >= 6.0
    assert done.comparison.holds
    tighter = passed(data, Wanted("abs", done.bound.absolute / 2))
    assert data.nbytes / tighter.size < 6.0


def test_a_ratio_out_of_reach_is_said_not_to_be_reached() -> None:
    data = waves()

    done = passed(data, Wanted("ratio", 1e6))

    outcome = outcome_of(done)
    assert outcome.reached is False
    assert outcome.tries <= 24
    assert outcome.achieved == data.nbytes / done.size
    assert done.comparison.holds


@pytest.mark.parametrize(("mode", "value"), [("psnr", 60.0), ("l2norm", 3.0), ("ratio", 5.0)])
def test_a_violation_at_a_bound_that_is_tried_is_a_violation(mode: str, value: float) -> None:
    data = waves()

    def wrong(values: Array, bound: float) -> Array:
        decoded = honest(values, bound)
        decoded[77] += decoded.dtype.type(3 * bound + 1)
        return decoded

    done = passed(data, Wanted(mode, value), wrong)

    assert done.comparison.violations == 1
    assert done.comparison.first is not None
    assert done.comparison.first.flat == 77
    assert outcome_of(done).reached is None


@pytest.mark.parametrize(("mode", "value"), [("psnr", 60.0), ("l2norm", 3.0), ("ratio", 5.0)])
def test_data_without_a_range_are_compressed_losslessly(mode: str, value: float) -> None:
    session = Quantiser(honest)

    done = codec_pass(session, np.full(4000, 3.25, np.float32), Wanted(mode, value))

    assert isinstance(done, Pass)
    assert set(session.bounds) == {0.0}
    assert done.comparison.max_abs_error == 0.0
    assert outcome_of(done).reached is True


@pytest.mark.parametrize("mode", ["pw_rel", "psnr", "l2norm", "ratio"])
def test_a_kernel_that_fails_stops_the_mode(mode: str) -> None:
    failure = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, "ValueError: no")

    done = codec_pass(Quantiser(honest, failure=failure), waves(), Wanted(mode, 5.0))

    assert done == Stopped(failure, "compress")


def test_progress_tells_of_every_bound_that_is_tried() -> None:
    told: list[str] = []

    codec_pass(Quantiser(furthest), waves(), Wanted("psnr", 60.0), told.append)

    assert len(told) > 1
    assert all(text.startswith("psnr 60: trying bound ") for text in told)


def test_a_bound_that_can_not_be_derived_is_refused_before_the_kernel_is_called() -> None:
    session = Quantiser(honest)

    with pytest.raises(BoundError, match="at least 1e-11"):
        codec_pass(session, waves(), Wanted("pw_rel", 1e-12))

    assert session.calls == []


@pytest.mark.parametrize("mode", ["pw_rel", "psnr", "l2norm", "ratio"])
@pytest.mark.parametrize("quantise", [honest, furthest])
def test_every_mode_holds_on_every_case_of_the_suite(mode: str, quantise: Quantise) -> None:
    value = {"pw_rel": 1e-3, "psnr": 60.0, "l2norm": 0.5, "ratio": 4.0}[mode]
    for case in core_suite():
        wanted = Wanted(mode, value, case.fill_value)
        try:
            wanted.bound(case.data)
        except BoundError:
            continue

        done = passed(case.data, wanted, quantise)

        assert done.comparison.holds, case.name
        assert mode == "ratio" or outcome_of(done).reached, case.name


@pytest.mark.parametrize("hole", [1e20, -999.0, math.nan])
def test_holes_do_not_count_towards_a_psnr(hole: float) -> None:
    """Nine of ten values are holes, which come back exactly; counted, they would hide 10 dB."""
    data = waves()
    data[np.arange(data.size) % 10 > 0] = hole
    there = data[::10].astype(np.float64)

    def furthest_but_holes(values: Array, bound: float) -> Array:
        moved = furthest(values, bound)
        moved[np.arange(values.size) % 10 > 0] = values[1]
        return moved

    done = passed(data, Wanted("psnr", 60.0, None if hole != hole else hole), furthest_but_holes)

    mean = np.mean((there - done.decoded[::10]) ** 2)
    psnr = 20 * math.log10(np.ptp(there)) - 10 * math.log10(mean)
    outcome = outcome_of(done)
    assert psnr >= 60.0
    assert outcome.reached is True
    assert outcome.achieved == pytest.approx(psnr, abs=1e-9)


def test_a_psnr_is_known_where_squares_of_errors_underflow() -> None:
    data = waves(np.float64) * 1e-200

    done = passed(data, Wanted("psnr", 60.0), furthest)

    errors = (data - done.decoded) * 1e200
    psnr = 20 * math.log10(np.ptp(data * 1e200)) - 10 * math.log10(np.mean(errors**2))
    assert outcome_of(done).achieved == pytest.approx(psnr, abs=1e-6)
    assert psnr >= 60.0
