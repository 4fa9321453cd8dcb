"""The suite holds every kind of case that it promises, stays small, and never changes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from kernels.bounds import derive
from kernels.suite import SuiteCase, bound_suite, core_suite

CASES = {case.name: case for case in core_suite()}
OWN = {case.name: case for case in bound_suite()}


def core() -> list[SuiteCase]:
    return [case for case in CASES.values() if case.core]


def test_names_are_distinct_and_core_cases_come_first() -> None:
    flags = [case.core for case in core_suite()]

    assert len(CASES) == len(core_suite())
    assert flags == sorted(flags, reverse=True)


def test_core_is_float32_of_one_to_three_dimensions() -> None:
    for case in CASES.values():
        assert case.core == (case.data.dtype == np.float32 and 1 <= case.data.ndim <= 3)


def test_the_suite_is_small_and_read_only() -> None:
    assert sum(case.data.size for case in (*CASES.values(), *OWN.values())) < 700_000
    assert not any(case.data.flags.writeable for case in CASES.values())
    assert all(case.data.flags.c_contiguous for case in CASES.values())


def test_the_suite_is_the_same_every_time() -> None:
    def digest(cases: tuple[SuiteCase, ...]) -> str:
        return hashlib.sha256(b"".join(case.data.tobytes() for case in cases)).hexdigest()

    assert digest(core_suite()) == digest(core_suite.__wrapped__())


@pytest.mark.parametrize(("mode", "value"), [("rel", 1e-3), ("rel", 0.5), ("abs", 1e-3)])
def test_every_case_has_a_bound(mode: str, value: float) -> None:
    for case in CASES.values():
        assert derive(case.data, case.fill_value, mode, value).absolute >= 0.0


def test_every_size_around_block_and_chunk_occurs() -> None:
    sizes = {case.data.size for case in core()}

    assert {0, 1, 2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097} <= sizes


def test_every_kind_of_value_occurs_in_core() -> None:
    values = np.concatenate([case.data.reshape(-1) for case in core()])
    finite = values[np.isfinite(values)]
    tiny = np.finfo(np.float32).tiny

    assert np.isnan(values).any()
    assert {np.inf, -np.inf} <= set(values[np.isinf(values)].tolist())
    assert ((finite != 0) & (np.abs(finite) < tiny)).any()
    assert (np.signbit(values) & (values == 0)).any()
    assert np.abs(finite).max() == np.finfo(np.float32).max
    assert {np.float32(1e20), np.float32(1e30), np.float32(1e35)} <= set(finite.tolist())


def test_non_finite_values_occur_at_every_kind_of_place() -> None:
    places: set[int] = set()
    for case in core():
        flat = case.data.reshape(-1)
        if flat.size > 8192:
            places |= set(np.flatnonzero(~np.isfinite(flat)).tolist()) | (
                {-1} if not np.isfinite(flat[-1]) else set()
            )

    assert {-1, 0, 31, 32, 127, 128, 4095, 4096, 8191} <= places


def test_float64_scalars_and_four_dimensions_are_there_beside_core() -> None:
    rest = [case for case in CASES.values() if not case.core]

    assert {case.data.ndim for case in rest} >= {0, 1, 2, 4}
    assert {case.data.dtype.name for case in rest} == {"float32", "float64"}
    assert any(not np.isfinite(case.data).all() for case in rest if case.data.dtype == np.float64)


def test_other_shapes_than_square_ones_occur() -> None:
    shapes = {case.data.shape for case in core()}

    assert any(len(shape) == 2 and shape[0] == 1 for shape in shapes)
    assert any(len(shape) == 2 and shape[1] == 1 for shape in shapes)
    for ndim in (1, 2, 3):
        odd = [s for s in shapes if len(s) == ndim and all(n % 2 and n > 5 for n in s)]
        assert len(odd) >= 2, ndim


def test_all_exponents_and_neighbours_of_a_power_of_two_occur() -> None:
    exponents = CASES["all_exponents"].data.view(np.uint32) >> 23 & 0xFF
    ladder = CASES["float_ladder"].data

    assert set(exponents.tolist()) == set(range(255))
    assert {np.nextafter(np.float32(1), np.float32(0)), np.float32(1)} <= set(ladder.tolist())


def test_a_frame_of_nan_is_on_every_face() -> None:
    data = CASES["nan_frame_3d"].data

    faces = [face for axis in range(3) for face in (data.take(0, axis), data.take(-1, axis))]
    assert all(np.isnan(face).all() for face in faces)
    assert np.isfinite(data[1:-1, 1:-1, 1:-1]).all()


def test_bounds_of_their_own_are_in_names_and_outside_the_core() -> None:
    assert not set(OWN) & set(CASES)
    for case in OWN.values():
        assert case.name.endswith(f"@{case.abs_bound!r}")
        assert not case.core


def test_bounds_of_their_own_go_from_zero_to_above_every_range() -> None:
    def bounds(kind: str) -> list[float]:
        return [c.abs_bound for c in OWN.values() if c.abs_bound is not None and kind in c.name]

    smallest_single = 2.0**-149
    assert sum(bound == 0.0 for bound in bounds("")) >= 8
    assert {5e-324, smallest_single} <= set(bounds(""))
    assert {1e30, 3e38, 1e300} <= set(bounds(""))
    ulp = float(np.spacing(np.float32(290)))
    assert {ulp, ulp / 2} <= set(bounds("offset_285"))
    assert min(bounds("offset_285")) < ulp / 2
    assert max(bounds("smooth_3d")) > np.ptp(CASES["smooth_3d"].data)


def test_half_bins_are_half_a_bin_from_what_they_decode_to() -> None:
    case = OWN["half_bins@1.0"]

    bins = case.data.astype(np.float64) / 2.0
    assert (np.abs(bins - np.floor(bins) - 0.5) == 0).sum() == case.data.size // 2


def test_a_range_that_overflows_is_checked_with_a_bound_of_its_own() -> None:
    data = OWN["range_overflow_f64@1e+300"].data

    with np.errstate(over="ignore"):
        assert np.isinf(data.max() - data.min())


def test_declared_fill_values_occur_in_their_data() -> None:
    filled = [case for case in CASES.values() if case.fill_value is not None]

    assert len(filled) >= 3
    for case in filled:
        assert (case.data == case.data.dtype.type(case.fill_value)).any()
