from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kernels.records import Sample
from kernels.verify import compare
from results_db.summary import over_bound, speed, summarise, transfer_bits, within_size_rule
from tests.results_db.records import comparison, run_result, samples


def sample(seconds: float, *, disturbed: bool = False, nbytes: int = 1_000_000) -> Sample:
    return Sample("compress", 0, seconds, seconds, 1, nbytes, 0.0, disturbed)


def test_speed_is_the_median_over_undisturbed_repetitions() -> None:
    found = speed(
        [sample(1e-3), sample(2e-3), sample(4e-3), sample(1e-6, disturbed=True)], "compress"
    )

    assert found is not None
    assert found.median == pytest.approx(0.5)
    assert (found.best, found.low, found.high) == pytest.approx((1.0, 0.375, 0.75))
    assert (found.repetitions, found.disturbed) == (4, 1)


def test_speed_counts_disturbed_repetitions_where_there_are_no_others() -> None:
    found = speed([sample(1e-3, disturbed=True)], "compress")

    assert found is not None
    assert found.median == pytest.approx(1.0)
    assert found.disturbed == 1


def test_there_is_no_speed_without_a_usable_repetition() -> None:
    assert speed([], "compress") is None
    assert speed([sample(0.0), sample(1e-3, nbytes=0)], "compress") is None
    assert speed([sample(1e-3)], "decompress") is None


def test_a_run_in_numbers() -> None:
    found = summarise(
        run_result(samples=samples(("compress",), 2.0) + samples(("decompress",), 6.0))
    )

    assert (found.ratio, found.bit_rate, found.within_size_rule) == (4.0, 8.0, True)
    assert found.both_ways_gbps == pytest.approx(3.0)
    assert found.worst_over_bound == 0.5
    assert found.psnr == pytest.approx(20 * math.log10(100.0) - 10 * math.log10(10.0 / 1000))
    assert found.run is None


def test_a_stage_has_a_speed_and_no_ratio() -> None:
    found = summarise(run_result(samples=samples(("run",), 2.0), stream_bytes=0, golden_bytes=None))

    assert found.run is not None
    assert found.run.median == pytest.approx(2.0)
    assert (found.ratio, found.bit_rate, found.both_ways_gbps, found.transfer_bits) == (None,) * 4


def test_a_failed_run_has_no_numbers() -> None:
    found = summarise(
        run_result(samples=(), comparison=None, stream_bytes=0, golden_bytes=None, metrics=())
    )

    assert set(vars(found).values()) == {None}


@pytest.mark.parametrize("squared", [0.0, math.inf, math.nan])
def test_a_lossless_or_unbounded_error_has_no_psnr(squared: float) -> None:
    found = summarise(run_result(comparison=comparison(sum_squared_error=squared)))

    assert found.psnr is None


@pytest.mark.parametrize("difference", [{"value_range": 0.0}, {"value_range": math.inf}])
def test_a_constant_or_unbounded_field_has_no_psnr(difference: dict[str, float]) -> None:
    assert summarise(run_result(comparison=comparison(**difference))).psnr is None


def test_an_empty_field_has_no_psnr() -> None:
    assert summarise(run_result(comparison=comparison(checked=0))).psnr is None


def test_the_psnr_of_compared_arrays_is_the_formula() -> None:
    rng = np.random.default_rng(3)
    original = rng.standard_normal(10000).astype(np.float32)
    decoded = original + rng.normal(0, 1e-3, 10000).astype(np.float32)
    x, y = original.astype(float), decoded.astype(float)

    found = summarise(run_result(comparison=compare(original, decoded, 1.0)))

    expected = 20 * math.log10(np.ptp(x)) - 10 * math.log10(np.mean((x - y) ** 2))
    assert found.psnr == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("stream", "golden", "within"),
    [(1084, 1000, True), (1085, 1000, False), (64, 0, True), (65, 0, False), (9, None, None)],
)
def test_the_size_rule_allows_two_per_cent_and_64_bytes(
    stream: int, golden: int | None, within: bool | None
) -> None:
    assert within_size_rule(stream, golden) is within


def test_the_error_over_a_bound_of_zero_is_nothing_or_everything() -> None:
    assert over_bound(0.25, 0.5) == 0.5
    assert over_bound(0.0, 0.0) == 0.0
    assert over_bound(1e-300, 0.0) == math.inf


def test_storing_raw_at_memcpy_speed_gains_nothing() -> None:
    assert transfer_bits(10.0, 10.0, 1.0, 10.0) == 0.0


def test_a_codec_that_costs_nothing_gains_its_ratio_on_every_link() -> None:
    assert transfer_bits(1e12, 1e12, 8.0, 10.0) == pytest.approx(3.0, abs=1e-6)


def test_a_codec_gains_on_slow_links_only() -> None:
    """By hand: with C = D = 1, ratio 4 and memcpy 10, a link B gains 1 / (2B + 1/4), down to 1."""
    links = [10 * 10 ** (-3 * step / 60) for step in range(61)]
    expected = sum(math.log2(max(1.0, 1 / (2 * link + 0.25))) for link in links) / 61

    assert transfer_bits(1.0, 1.0, 4.0, 10.0) == pytest.approx(expected)
    assert 0 < expected < 2


@pytest.mark.parametrize("numbers", [(0.0, 1.0, 4.0, 10.0), (1.0, 1.0, 0.0, 10.0)])
def test_a_speed_or_ratio_of_zero_scores_zero(numbers: tuple[float, float, float, float]) -> None:
    assert transfer_bits(*numbers) == 0.0


def test_the_score_is_the_one_of_the_kind_of_task() -> None:
    codec = summarise(run_result())
    stage = summarise(run_result(samples=(replace(sample(1e-3), direction="run"),)))

    assert stage.run is not None
    assert stage.score == stage.run.median
    assert codec.transfer_bits is not None
    open_format = replace(codec, within_size_rule=None)
    fixed = replace(codec, within_size_rule=True)
    assert open_format.score == codec.transfer_bits
    assert fixed.score == codec.both_ways_gbps
