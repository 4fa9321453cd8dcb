"""The suite holds every kind of case that it promises, stays small, and never changes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from kernels.bounds import derive
from kernels.suite import SuiteCase, core_suite

CASES = {case.name: case for case in core_suite()}


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
    assert sum(case.data.size for case in CASES.values()) < 400_000
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


def test_declared_fill_values_occur_in_their_data() -> None:
    filled = [case for case in CASES.values() if case.fill_value is not None]

    assert len(filled) >= 3
    for case in filled:
        assert (case.data == case.data.dtype.type(case.fill_value)).any()
