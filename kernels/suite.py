"""The hard cases every codec is verified on: small, deterministic, each there for a reason.

The core part (float32, 1-D to 3-D) decides whether a bound holds; the rest may be refused. Most are
checked at the bound that was asked for; `bound_suite` has those that come with one of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from kernels.records import Array

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LAND = 1e20
"""A fill value as climate models write it."""


@dataclass(frozen=True)
class SuiteCase:
    """One array to compress; read-only."""

    name: str
    data: Array
    core: bool
    """Whether `holds` depends on it."""
    fill_value: float | None = None
    abs_bound: float | None = None
    """Its own absolute bound, which the name ends in; None for the one that is asked for."""


@cache
def core_suite() -> tuple[SuiteCase, ...]:
    """Every case at the bound that is asked for, core ones first."""
    groups = (_ordinary(), _sizes(), _non_finite(), _extreme_values(), _sentinels(), _not_core())
    cases = [_case(name, data) for group in groups for name, data in group.items()]
    return tuple(sorted(cases, key=lambda case: not case.core))


@cache
def bound_suite() -> tuple[SuiteCase, ...]:
    """Cases with a bound of their own: from 0 and below an ulp to above the range.

    Nobody asked for that bound, so none is core: it may be refused, but not broken.
    """
    arrays = {case.name: case for case in core_suite()} | {
        # In mode rel its range overflows, so that it is asked for with an absolute bound only.
        "range_overflow_f64": _case(
            "range_overflow_f64", np.tile([1.7e308, -1.7e308, 0.0, 1e300], 40)
        )
    }
    return tuple(
        replace(arrays[name], name=f"{name}@{bound!r}", core=False, abs_bound=bound)
        for bound, names in _BOUNDS
        for name in names
    )


_ULP_AT_285 = 2.0**-15
_BOUNDS: tuple[tuple[float, tuple[str, ...]], ...] = (
    # Lossless, of values of every kind.
    (
        0.0,
        (
            "smooth_2d", "size_33", "all_kinds_3d", "subnormal", "both_zeros", "nan_payloads",
            "wild_range_3d", "raw_bits", "random_16x17_f64", "non_finite_f64",
        ),
    ),
    # Subnormal bounds: the smallest double, the smallest single, and one of a few of those.
    (5e-324, ("size_129", "subnormal_f64")),
    (2.0**-149, ("subnormal", "normal_noise_2d")),
    (1e-40, ("subnormal_beside_normal", "tiny_scale", "smooth_1d")),
    # Below half an ulp, half an ulp, one ulp.
    (1e-6, ("offset_285", "land_scattered")),
    (_ULP_AT_285 / 2, ("offset_285",)),
    (_ULP_AT_285, ("offset_285",)),
    (2.0**-23, ("one_ulp_apart", "float_ladder")),
    (1.0, ("offset_1e9_flat", "offset_1e7_steps", "half_bins", "ramp")),
    (1e-14, ("offset_f64", "float_ladder_f64")),
    # Values half a bin from what they decode to, where the bins are 2 bounds wide.
    (0.5, ("half_bins", "offset_1e6")),
    (2.0**-8, ("half_bins_fraction",)),
    # Not a single-precision number, either way.
    (0.1, ("noisy_waves_3d", "wild_range", "all_exponents", "sentinel_1e30")),
    (0.0010000000474974513, ("smooth_3d", "random_17x17_f64")),
    # Above the range, above what other values of the array are, above what a single can hold.
    (1e3, ("smooth_3d", "all_kinds", "sentinel_1e35")),
    (1e30, ("uniform_noise_3d", "wild_range", "sentinel_1e30", "nan_at_borders")),
    (3e38, ("near_overflow", "largest_float", "walk")),
    (1e300, ("smooth_2d", "all_exponents", "near_overflow_f64", "range_overflow_f64")),
)  # fmt: skip
"""Absolute bound, and the arrays that are checked at it."""


def _case(name: str, data: Array) -> SuiteCase:
    data.flags.writeable = False
    core = data.dtype == np.float32 and 1 <= data.ndim <= 3
    return SuiteCase(name, data, core, LAND if name.startswith("land") else None)


def _smooth(*shape: int) -> Doubles:
    """Waves along every axis, between about −2 and 2."""
    axes = np.meshgrid(*(np.arange(n) / 16 for n in shape), indexing="ij", sparse=True)
    waves = [np.sin(axis * (k + 1) + k) for k, axis in enumerate(axes)]
    return np.asarray(sum(waves[1:], waves[0]))


def _singles(values: npt.ArrayLike) -> Singles:
    return np.array(values, np.float32)


def _impulse(*shape: int) -> Singles:
    data = np.zeros(shape, np.float32)
    data[tuple(n // 2 for n in shape)] = 1000
    return data


def _bits(patterns: npt.NDArray[np.int64]) -> Singles:
    """Singles of these bit patterns."""
    return patterns.astype(np.uint32).view(np.float32)


def _ordinary() -> Mapping[str, Array]:
    rng = np.random.default_rng(1)
    return {
        "constant": np.full(1000, 3.25, np.float32),
        "constant_3d": np.full((5, 7, 11), -1e-3, np.float32),
        "zeros": np.zeros(300, np.float32),
        "uniform_noise_3d": rng.random((40, 25, 25), np.float32),
        "normal_noise_2d": rng.standard_normal((100, 101), np.float32),
        "walk": _singles(rng.standard_normal(9000).cumsum()),
        "smooth_1d": _singles(_smooth(10000)),
        "smooth_2d": _singles(_smooth(97, 101)),
        "smooth_3d": _singles(_smooth(23, 29, 31)),
        "noisy_waves_3d": _singles(_smooth(24, 24, 24) + 0.01 * rng.standard_normal((24, 24, 24))),
        "ramp": np.arange(1, 10001, dtype=np.float32),
        "eighths": _singles(np.round(_smooth(80, 90) * 80) / 8 + 280),
        "sparse_spikes": np.where(rng.random(6000) < 0.01, rng.normal(0, 50, 6000), 0).astype("f4"),
        "alternating_ends": np.tile(_singles([-1, 1]), 2500),
        "steps": _singles(np.repeat(rng.integers(-9, 9, 200), 23)),
        "checkerboard_2d": _singles(np.indices((45, 47)).sum(axis=0) % 2),
        "plane_3d": _singles(np.indices((17, 19, 23)).sum(axis=0)),
        "impulse_3d": _impulse(15, 17, 19),
    }


def _sizes() -> Mapping[str, Array]:
    """Around the block (32), the szx block (128) and the chunk (4096) of the specified streams."""
    rng = np.random.default_rng(2)
    cases: dict[str, Array] = {
        "empty": np.zeros(0, np.float32),
        "empty_2d": np.zeros((0, 5), np.float32),
        "empty_3d": np.zeros((3, 0, 2), np.float32),
        "one": _singles([-2.5]),
        "one_3d": np.full((1, 1, 1), 7e-3, np.float32),
        "two": _singles([1, 2]),
        "thin_3d": _singles(_smooth(1, 211, 1)),
        "one_2d": _singles([[-0.0]]),
        "prime_1d": _singles(_smooth(4099)),
        "prime_2d": _singles(_smooth(53, 61)),
        "prime_3d": _singles(_smooth(7, 11, 13)),
        "odd_2d": _singles(_smooth(33, 65)),
        "row": _singles(_smooth(1, 257)),
        "column": _singles(_smooth(257, 1)),
        "flat_3d": _singles(_smooth(2, 1, 129)),
    }
    for size in (31, 32, 33, 127, 128, 129, 4095, 4096, 4097):
        cases[f"size_{size}"] = _singles(_smooth(size) + 0.1 * rng.standard_normal(size))
    return cases


def _non_finite() -> Mapping[str, Array]:
    """Alone, in runs, at borders of blocks and chunks, and of every kind."""
    base = _singles(_smooth(8300) * 10)
    rng = np.random.default_rng(3)
    nan, inf = np.float32(np.nan), np.float32(np.inf)

    def put(places: slice | list[int], value: np.float32) -> Singles:
        changed = base.copy()
        changed[places] = value
        return changed

    kinds = put(slice(5, None, 61), nan)
    kinds[40::83] = inf
    kinds[7::91] = -inf
    before = put(slice(100, None, 128), nan)[:3000]
    before[101::128] = inf
    payloads = base[:500].copy()
    payloads.view(np.uint32)[::50] = 0x7FC00001 + 977 * np.arange(10, dtype=np.uint32)
    payloads.view(np.uint32)[1::50] = 0xFFC00000
    return {
        "nan_every_97": put(slice(0, None, 97), nan),
        "inf_every_89": put(slice(3, None, 89), inf),
        "minus_inf_every_89": put(slice(3, None, 89), -inf),
        "nan_at_ends": put([0, -1], nan),
        "inf_at_ends": put([0, -1], inf),
        "nan_at_borders": put([31, 32, 127, 128, 4095, 4096, 8191, 8192], nan),
        "nan_runs": put(list(range(20, 110)) + list(range(4090, 4300)), nan),
        "inf_chunk": put(slice(4096, 8192), inf),
        "all_nan": np.full(200, nan),
        "all_inf": np.full((3, 50), -inf),
        "one_nan": _singles([nan]),
        "nan_every_other": put(slice(1, None, 2), nan)[:2000],
        "one_finite": np.where(np.arange(300) == 137, np.float32(2), nan),
        "all_kinds": kinds,
        "all_kinds_3d": kinds[:8000].reshape(20, 20, 20).copy(),
        "nan_payloads": payloads,
        "nan_in_tail": put([-1, -3], nan)[: 4096 + 43],
        "nan_before_inf": before,
        "nan_frame_2d": _framed(_singles(_smooth(41, 43)), nan),
        "nan_frame_3d": _framed(_singles(_smooth(11, 12, 13)), nan),
        "inf_plane_3d": np.where(
            np.arange(10)[:, None, None] == 4, inf, base[:1320].reshape(10, 11, 12)
        ),
        "nan_2d_noise": np.where(
            rng.random((60, 70)) < 0.05, nan, rng.random((60, 70), np.float32)
        ),
    }


def _framed(data: Singles, value: np.float32) -> Singles:
    """On every face, edge and corner."""
    inside = np.zeros(data.shape, bool)
    inside[(slice(1, -1),) * data.ndim] = True
    return np.where(inside, data, value)


def _extreme_values() -> Mapping[str, Array]:
    rng = np.random.default_rng(4)
    tiny = np.float32(1e-45)
    largest = np.finfo(np.float32).max
    signs = rng.choice([-1.0, 1.0], 3000)
    return {
        "subnormal": _singles(rng.integers(-9000, 9000, 3000) * float(tiny)),
        "subnormal_beside_normal": _singles(np.where(np.arange(900) % 3, 1.5, float(tiny))),
        "negative_zeros": np.full(100, -0.0, np.float32),
        "both_zeros": np.tile(_singles([0.0, -0.0, 1.0]), 100),
        "half_bins": np.arange(1001, dtype=np.float32),
        "half_bins_fraction": _singles(rng.integers(0, 2001, (40, 50)) / 256),
        "offset_1e5": _singles(1e5 + 100 * rng.standard_normal(5000)),
        "offset_1e6": _singles(1e6 + rng.standard_normal((30, 40))),
        "offset_285": _singles(rng.uniform(285, 300, 5000)),
        "offset_1e9_flat": _singles(1e9 + 64 * rng.integers(0, 3, 500)),
        "tiny_scale": _singles(1e-30 * _smooth(2000)),
        "huge_scale": _singles(1e37 * _smooth(2000)),
        "near_overflow": _singles(rng.choice([-3e38, 3e38, 0.0, 1.0], 1000)),
        # The sum of two neighbours overflows, and so does the middle of a flat block.
        "overflow_plateaus": np.repeat(_singles([3e38, -3e38, 2.5e38, 0.0]), 150),
        "largest_float": np.tile(np.array([largest, -largest, largest, 0], np.float32), 100),
        "wild_range": _singles(signs * 10 ** rng.uniform(-38, 38, 3000)),
        "wild_range_3d": _singles(signs * 2 ** rng.uniform(-10, 30, 3000)).reshape(10, 15, 20),
        "offset_1e7_steps": _singles(1e7 + rng.integers(-3, 4, (31, 37))),
        "offset_1e30": _singles(1e30 * (1 + 1e-6 * rng.standard_normal(700))),
        "smallest_normals": _singles(np.finfo(np.float32).tiny * rng.uniform(0.5, 2, 800)),
        "float_ladder": _bits(np.arange(0x3F7FFF00, 0x3F800200)),
        "all_exponents": _bits((np.arange(510) % 255 << 23) | (np.arange(510) // 255 << 31)),
        "raw_bits": _bits(rng.integers(0, 1 << 32, 3000)),
        "raw_bits_3d": _bits(rng.integers(0, 1 << 32, 1001)).reshape(7, 11, 13),
        "one_ulp_apart": 1 + np.finfo(np.float32).eps * rng.integers(0, 2, 1000).astype(np.float32),
    }


def _sentinels() -> Mapping[str, Array]:
    """Values that stand for nothing, declared (`land`) or not."""
    rng = np.random.default_rng(5)
    field = _singles(285 + 10 * _smooth(60, 110))
    row, column = np.ogrid[:60, :110]
    coast = np.sin(row / 7) + np.cos(column / 11) > 0.7
    scattered = rng.random((60, 110)) < 0.03
    return {
        "land_2d": np.where(coast, np.float32(LAND), field),
        "land_scattered": np.where(scattered, np.float32(LAND), field),
        "land_only": np.full(130, LAND, np.float32),
        "sentinel_1e30": np.where(scattered, np.float32(1e30), field),
        "sentinel_1e35": np.where(coast, np.float32(1e35), field),
        "sentinel_minus_99999": np.where(coast, np.float32(-99999), field),
        "sentinel_1e30_3d": np.where(
            rng.random((12, 13, 14)) < 0.02, np.float32(1e30), _singles(_smooth(12, 13, 14))
        ),
        "sentinel_first": np.where(np.arange(900) < 2, np.float32(1e35), _singles(_smooth(900))),
        "two_sentinels": np.where(coast, np.float32(1e20), np.where(scattered, np.nan, field)),
    }


def _not_core() -> Mapping[str, Array]:
    """float64, 0-D and 4-D: a kernel may refuse these, but if it takes them the bound holds."""
    rng = np.random.default_rng(6)
    four = [-364.52299570321952, 335.00858999457955, 468.86777112423135, -278.96595701729507]
    holes = _smooth(1500)
    holes[::97], holes[1::101] = np.nan, np.inf
    return {
        "scalar": np.array(0.25, np.float32),
        "scalar_nan": np.array(np.nan, np.float32),
        "scalar_inf": np.array(-np.inf, np.float32),
        "scalar_f64": np.array(-1e5),
        "empty_4d": np.zeros((2, 3, 0, 4), np.float32),
        "thin_4d": _singles(_smooth(1, 1, 67, 1)),
        "smooth_3d_f64": _smooth(11, 13, 17),
        "raw_bits_f64": rng.integers(0, 1 << 64, 700, np.uint64).view(np.float64),
        "float_ladder_f64": np.arange(0x3FEFFFFFFFFFFF00, 0x3FF0000000000200).view(np.float64),
        "smooth_4d": _singles(35 * _smooth(7, 8, 9, 10)),
        "smooth_4d_f64": _smooth(5, 6, 7, 8),
        "four_f64": np.array(four),
        "random_16x16_f64": rng.random((16, 16)),
        "random_16x17_f64": rng.random((16, 17)),
        "random_17x17_f64": rng.random((17, 17)),
        "linear_f64": np.linspace(0, 1, 10000).reshape(100, 100),
        "ones_f64": np.ones((99, 10)),
        "offset_f64": 116.322559 + 1e-4 * rng.standard_normal(2000),
        "non_finite_f64": holes,
        "land_f64": np.where(rng.random(700) < 0.3, LAND, rng.random(700)),
        "subnormal_f64": 5e-324 * rng.integers(-900, 900, 500),
        "wild_range_f64": rng.choice([-1.0, 1.0], 900) * 10 ** rng.uniform(-300, 300, 900),
        "near_overflow_f64": rng.choice([-8e307, 8e307, 1.0], 300),
        "empty_f64": np.zeros((0, 3)),
        "tail_f64": rng.random(33),
    }
