"""Metrics against their formulas, written plainly over whole arrays."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import metrics
from kernels.metrics import Metrics, measure
from kernels.parts import PART
from kernels.records import Array
from kernels.ssim import ssim


def noisy(shape: tuple[int, ...], seed: int = 0, dtype: str = "float32") -> tuple[Array, Array]:
    """A smooth field and the same with errors that are alike in neighbours."""
    rng = np.random.default_rng(seed)
    original = np.cumsum(rng.standard_normal(shape), axis=-1).astype(dtype)
    error = np.convolve(rng.uniform(-1e-2, 1e-2, original.size), [0.6, 0.4], "same")
    return original, (original + error.reshape(shape)).astype(dtype)


def plainly(x: Array, y: Array) -> dict[str, float]:
    """The formulas of the docstrings."""
    a, b = x.astype(np.float64).reshape(-1), y.astype(np.float64).reshape(-1)
    e, span = a - b, float(a.max() - a.min())
    rmse = float(np.sqrt(np.mean(e**2)))
    d = e - e.mean()
    return {
        "value_range": span,
        "max_error": float(np.abs(e).max()),
        "max_rel_error": float(np.abs(e).max()) / span,
        "max_pw_rel_error": float((np.abs(e[a != 0]) / np.abs(a[a != 0])).max()),
        "rmse": rmse,
        "nrmse": rmse / span,
        "l2_error": float(np.linalg.norm(e)),
        "psnr": 20 * math.log10(span / rmse),
        "pearson_r": float(np.corrcoef(a, b)[0, 1]),
        "error_autocorrelation": float((d[:-1] * d[1:]).mean() / (d**2).mean()),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(40,), (30, 31), (9, 200, 301)])
def test_errors_and_correlations_follow_their_formulas(shape: tuple[int, ...], dtype: str) -> None:
    original, decoded = noisy(shape, dtype=dtype)

    found = measure(original, decoded, threads=2)

    assert found.counted == original.size
    for name, value in plainly(original, decoded).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9), name


def test_correlations_survive_a_huge_offset() -> None:
    original, decoded = noisy((3, 400, 300), dtype="float64")
    shifted, back = original + 1e9, decoded + 1e9

    found = measure(shifted, back - 5.0)

    expected = plainly(original, decoded)
    error = (shifted - back).reshape(-1)
    d = error - error.mean()
    autocorrelation = float((d[:-1] * d[1:]).mean() / (d**2).mean())
    assert found.pearson_r == pytest.approx(expected["pearson_r"], rel=1e-9)
    assert found.error_autocorrelation == pytest.approx(autocorrelation, rel=1e-4)


def test_a_known_example() -> None:
    found = measure(np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.5, 2.0, 3.5]), 0.5, None, 16)

    assert (found.max_error, found.value_range, found.max_pw_rel_error) == (0.5, 4.0, 0.5)
    assert found.rmse == math.sqrt(0.125)
    assert found.psnr == pytest.approx(20 * math.log10(4 / math.sqrt(0.125)))
    assert (found.entropy_input, found.entropy_decompressed) == (2.0, 2.0)
    assert (found.bit_rate, found.compression_ratio) == (32.0, 2.0)
    assert found.histogram is not None
    assert found.histogram.counts == (1, 0, 0, 0, 0, 2, 0, 0, 0, 1)


def test_the_histogram_counts_every_error_once() -> None:
    rng = np.random.default_rng(2)
    original = np.zeros(10_000)
    decoded = rng.uniform(-1.25, 1.25, original.size)

    found = measure(original, decoded, 1.0).histogram

    error = original - decoded
    assert found is not None
    assert found.outside == int((np.abs(error) > 1).sum())
    assert found.counts == tuple(np.histogram(error, 10, (-1.0, 1.0))[0].tolist())
    assert sum(found.counts) + found.outside == original.size


def test_what_is_not_finite_or_is_fill_is_left_out() -> None:
    original, decoded = noisy((50, 60))
    good = np.ones(original.shape, np.bool_)
    for i, (x, y) in enumerate(
        [(np.nan, np.nan), (np.inf, np.inf), (1e20, 1e20), (1e20, 3.0), (5.0, np.nan), (np.nan, 1)]
    ):
        original[i, 7 * i], decoded[i, 7 * i] = x, y
        good[i, 7 * i] = False

    found = measure(original, decoded, 1e-2, fill_value=1e20)

    kept = original[good].astype(np.float64)
    error = kept - decoded[good].astype(np.float64)
    assert found.counted == good.sum() == original.size - 6
    assert found.max_error == np.abs(error).max()
    assert found.rmse == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-12)
    assert found.value_range == kept.max() - kept.min()
    assert found.pearson_r == pytest.approx(np.corrcoef(kept, decoded[good])[0, 1], rel=1e-9)
    zeroed = [np.where(good, array, 0).astype(np.float64) for array in (original, decoded)]
    d = zeroed[0] - zeroed[1] - error.mean()
    flat, counts = d.reshape(-1), good.reshape(-1)
    both = counts[:-1] & counts[1:]
    autocorrelation = (flat[:-1] * flat[1:])[both].mean() / (flat[counts] ** 2).mean()
    assert found.error_autocorrelation == pytest.approx(autocorrelation, rel=1e-9)
    assert found.entropy_input == pytest.approx(entropy(original[good]))
    assert all(math.isfinite(metric.value) for metric in found.listed())


def entropy(values: Array) -> float:
    counts = Counter(values.reshape(-1).tolist()).values()
    return -sum(c / values.size * math.log2(c / values.size) for c in counts)


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, -3.0]), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_entropy_is_that_of_distinct_values(values: list[float]) -> None:
    data = np.array(values)

    found = measure(data, data)

    assert found.entropy_input == found.entropy_decompressed
    assert found.entropy_input == pytest.approx(entropy(data), abs=1e-12)


def test_entropy_of_a_large_array_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "ENTROPY_BYTES", 799)

    found = measure(np.arange(100.0), np.arange(100.0))

    assert (found.entropy_input, found.entropy_decompressed) == (None, None)


@pytest.mark.parametrize(
    ("original", "undefined"),
    [
        (np.full(5000, 3.5), {"psnr", "nrmse", "max_rel_error", "pearson_r"}),
        (np.full(5000, 0.0), {"psnr", "nrmse", "max_rel_error", "pearson_r", "max_pw_rel_error"}),
        (np.arange(5000.0), {"psnr", "error_autocorrelation"}),
    ],
    ids=["constant", "zero", "lossless"],
)
def test_what_is_not_defined_is_none(original: Array, undefined: set[str]) -> None:
    decoded = original.copy()
    if original[0] == original[-1]:
        decoded += np.random.default_rng(1).uniform(-1, 1, original.size)
    if original[0] == 0:
        undefined -= {"max_pw_rel_error"}

    found = measure(original, decoded, 1.0, stream_bytes=100)

    missing = {name for name, value in asdict(found).items() if value is None}
    assert missing == undefined
    assert {metric.name for metric in found.listed()} & undefined == set()


@pytest.mark.parametrize(
    "data", [np.zeros(0), np.full(9, np.nan), np.array(math.inf), np.full((3, 3), 1e20)]
)
def test_data_of_which_nothing_counts_has_no_metrics_but_counts(data: Array) -> None:
    found = measure(data, data, 1.0, 1e20)

    named = {metric.name for metric in found.listed()}
    assert found.counted == 0
    assert {name for name in named if not name.startswith("errors[")} == {"counted_values"}


def test_huge_values_give_no_infinite_metric() -> None:
    original = np.array([1.7e308, -1.7e308, 1e308, 0.0])

    found = measure(original, original * 0.5, 1e300)

    assert found.value_range is None
    assert all(math.isfinite(metric.value) for metric in found.listed())


def test_a_constant_error_has_no_autocorrelation() -> None:
    original = np.random.default_rng(3).integers(0, 1000, 300_000).astype(np.float64)

    found = measure(original, original + 0.25)

    assert (found.error_autocorrelation, found.max_error, found.rmse) == (None, 0.25, 0.25)


def test_the_result_does_not_depend_on_threads_or_layout() -> None:
    original, decoded = noisy((5, 300, 311))
    assert original.size > PART
    plain = measure(original, decoded, 1e-2)

    turned = measure(np.asfortranarray(original), decoded.astype(">f4"), 1e-2)

    assert measure(original, decoded, 1e-2, threads=3) == plain
    for name, value in asdict(plain).items():
        number = isinstance(value, float)
        assert asdict(turned)[name] == (pytest.approx(value, rel=1e-9) if number else value), name


def test_integers_are_measured_as_real_numbers() -> None:
    original = np.random.default_rng(4).integers(-500, 500, (40, 50), np.int16)
    decoded = original + np.random.default_rng(5).integers(-2, 3, original.shape, np.int16)

    found = measure(original, decoded, 2.0, fill_value=1)

    kept = original != 1
    expected = plainly(original[kept], decoded[kept])
    assert found.counted == kept.sum()
    assert found.rmse == pytest.approx(expected["rmse"])
    assert found.histogram is not None
    assert found.histogram.outside == 0


def similarity(a: Array, b: Array) -> float:
    """One window, by the formula of QCAT's qcat_ssim.c."""
    span = a.max() - a.min() or 1.0
    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    both = ((a - a.mean()) * (b - b.mean())).mean()
    luminance = (2 * a.mean() * b.mean() + c1) / (a.mean() ** 2 + b.mean() ** 2 + c1)
    contrast = (2 * a.std() * b.std() + c2) / (a.var() + b.var() + c2)
    return float(luminance * contrast * (both + c2 / 2) / (a.std() * b.std() + c2 / 2))


def windows(x: Array, y: Array) -> list[float]:
    starts = [range(0, n - min(7, n) + 1, 2) for n in x.shape]
    parts = [tuple(slice(i, i + 7) for i in corner) for corner in itertools.product(*starts)]
    pairs = [(x[p].astype(np.float64), y[p].astype(np.float64)) for p in parts]
    return [similarity(a, b) for a, b in pairs if np.isfinite(a).all() and (a < 1e19).all()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(7,), (5,), (60,), (20, 33), (4, 40), (9, 12, 17), (3, 9, 8)])
def test_structural_similarity_is_the_mean_over_windows(shape: tuple[int, ...], dtype: str) -> None:
    original, decoded = noisy(shape, dtype=dtype)
    decoded += np.array(0.3, dtype) * np.random.default_rng(8).standard_normal(shape).astype(dtype)

    assert ssim(original, decoded) == pytest.approx(np.mean(windows(original, decoded)), rel=1e-9)


def test_structural_similarity_leaves_windows_with_holes_out() -> None:
    original, decoded = noisy((30, 40))
    original[3, 4], original[20, 30], decoded[20, 30] = np.nan, 1e20, 1e20

    found = ssim(original, decoded, 1e20)

    assert found == pytest.approx(np.mean(windows(original, decoded)), rel=1e-9)
    assert ssim(np.full((9, 9), np.nan), np.zeros((9, 9))) is None


def test_structural_similarity_of_four_axes_is_the_mean_over_the_first() -> None:
    original, decoded = noisy((3, 8, 9, 10))

    each = [ssim(a, b) for a, b in zip(original, decoded, strict=True)]

    assert ssim(original, decoded) == pytest.approx(np.mean([one for one in each if one]))


def test_structural_similarity_ends_at_one_and_keeps_digits_on_a_huge_offset() -> None:
    original = 1e7 + np.random.default_rng(9).standard_normal((20, 30))
    decoded = original + 1e-3

    assert ssim(original, original) == 1.0
    assert ssim(original, decoded) == pytest.approx(np.mean(windows(original, decoded)), rel=1e-9)


def test_structural_similarity_does_not_depend_on_threads_or_slabs() -> None:
    original, decoded = noisy((60, 90, 100))

    assert ssim(original, decoded) == ssim(original, decoded, threads=3)
    assert ssim(original[:9], decoded[:9]) == pytest.approx(
        np.mean(windows(original[:9], decoded[:9])), rel=1e-9
    )


def test_arrays_of_different_shapes_are_an_error() -> None:
    with pytest.raises(ValueError, match="the original float64"):
        measure(np.zeros(3), np.zeros(4))


def test_metrics_are_listed_in_order_with_their_units() -> None:
    found = Metrics(counted=4, psnr=60.0, bit_rate=2.0, max_error=0.5)

    assert [(m.name, m.value, m.unit) for m in found.listed()] == [
        ("counted_values", 4.0, ""),
        ("max_error", 0.5, ""),
        ("psnr", 60.0, "dB"),
        ("bit_rate", 2.0, "bits/value"),
    ]
