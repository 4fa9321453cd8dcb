"""Faults of other compressors and checkers that were reported: those that a verifier must see.

Numbers and issues are those of a survey of the SZ family's trackers; numbers that are missing here
test compressors (`test_published_cases`), or are kept apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from kernels.bounds import BoundError, derive
from kernels.fields import Catalogue, FieldFileError
from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry
from kernels.records import Array
from kernels.verify import compare
from sz_mcp.arguments import Known, VerifyArguments, parse
from sz_mcp.errors import ArgumentProblems
from sz_mcp.settings import Limits

N = 1_000_000
REQUESTED = 1e-3
ROUNDED = float(np.float32(REQUESTED))
"""0.0010000000475: the bound after it went through a float32."""


def normal(rng: np.random.Generator) -> Array:
    return rng.standard_normal(N)


def violations(original: Array, decoded: Array, bound: float) -> int:
    return compare(original, decoded, bound).violations


def test_case_1_an_excess_of_3e_minus_15_is_a_violation() -> None:
    """SZ2#102: 116.322559 came back as 116.322549 at 1e-5."""
    original, decoded = np.array([116.322559]), np.array([116.322549])

    found = compare(original, decoded, 1e-5)

    assert found.violations == 1
    assert found.worst is not None
    assert 3.1e-15 < float(found.worst.error) - 1e-5 < 3.3e-15


def test_case_19_an_error_of_7_6e_minus_14_breaks_a_bound_of_2_to_minus_44() -> None:
    """SPERR#181, NYX dark matter."""
    original = np.array([0.25, 7.6e-14])

    assert violations(original, np.array([0.25, 0.0]), 2.0**-44) == 1
    assert violations(original, np.array([0.25, 7.6e-14 - 2.0**-44]), 2.0**-44) == 0


def test_case_28_the_requested_double_is_what_holds_not_the_float32_nearest_to_it() -> None:
    """libpressio#27: 1e-3 arrived as 0.0010000000475."""
    error = np.array([0.00100000002])

    assert REQUESTED < error[0] < ROUNDED
    assert violations(np.zeros(1), error, derive(np.ones(1), None, "abs", REQUESTED).absolute) == 1
    assert violations(np.zeros(1), error, ROUNDED) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("came_back", [np.nan, np.inf, -np.inf])
def test_case_34_an_error_that_is_nan_does_not_pass(
    dtype: type[np.floating[npt.NBitBase]], came_back: float
) -> None:
    """MIOpen#1400, #1408: `error > tolerance` is false of NaN."""
    original = np.arange(5, dtype=dtype)
    decoded = original.copy()
    decoded[3] = came_back

    found = compare(original, decoded, 1e30)

    assert found.violations == 1
    assert found.first is not None
    assert found.first.index == (3,)
    assert violations(decoded, original, 1e30) == 1


def test_a_tolerance_of_1_1_bounds_does_not_pass() -> None:
    """cuSZp's own "Pass error check" accepts 1.1 times the bound (examples/cuSZp.cpp:288)."""
    original = np.zeros(100)

    assert violations(original, np.full(100, 1.1 * REQUESTED), REQUESTED) == 100
    assert violations(original, np.full(100, np.nextafter(REQUESTED, 1)), REQUESTED) == 100
    assert violations(original, np.full(100, REQUESTED), REQUESTED) == 0


def test_the_sign_of_zero_is_free_and_counted() -> None:
    found = compare(np.array([-0.0, 0.0, -0.0]), np.array([0.0, 0.0, -0.0]), 0.0)

    assert (found.violations, found.zero_signs_changed) == (0, 1)


def test_a_range_that_overflows_float32_has_a_bound() -> None:
    data = np.array([-3e38, 3e38], np.float32)

    assert derive(data, None, "rel", 1e-3).absolute == 1e-3 * (2 * float(np.float32(3e38)))


def test_a_range_that_overflows_float64_is_refused() -> None:
    with pytest.raises(BoundError, match="overflow"):
        derive(np.array([-1.7e308, 1.7e308]), None, "rel", 1e-3)


def test_a_constant_under_a_relative_bound_asks_for_lossless() -> None:
    assert derive(np.full(9, 7.5), None, "rel", 1e-3).absolute == 0.0


@pytest.mark.parametrize("bound", [-1e-3, 0.0, float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("mode", ["abs", "rel"])
def test_a_bound_that_is_none_is_refused_by_name(mode: str, bound: float) -> None:
    """Case 10, SZ2#28, #118, MGARD#32: bound 0; others take negative, NaN and infinite silently."""
    with pytest.raises(BoundError, match="above 0 and finite"):
        derive(np.ones(3), None, mode, bound)


@pytest.mark.parametrize("bound", [-1e-3, 0, float("nan"), float("inf"), "1e-3x"])
def test_a_call_with_such_a_bound_is_refused_by_name(bound: object) -> None:
    known = Known((), (), (), lambda _: None, lambda _: True, lambda _: True, (), Limits(), 1)

    with pytest.raises(ArgumentProblems, match="bound"):
        parse(VerifyArguments, {"kernel_id": f"k_{0:032x}", "bound": bound}, known)


BASE = np.random.default_rng(1).standard_normal((6, 7, 8)).astype(np.float32)
LAYOUTS: dict[str, Array] = {
    "reversed strides": BASE[::-1, :, ::-1],
    "every other": BASE[::2, 1::2],
    "Fortran order": np.asfortranarray(BASE),
    "transposed": BASE.transpose(2, 0, 1),
    "big-endian": BASE.astype(">f4"),
    "5-D": BASE.reshape(1, 6, 7, 2, 4),
    "0-D": np.array(1.5, np.float32),
    "empty": np.zeros((3, 0, 2), np.float32),
    "float64": BASE.astype(np.float64),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_of_any_kind_is_compared_as_the_values_are(name: str) -> None:
    data = LAYOUTS[name]
    moved = data + data.dtype.type(0.25)

    assert compare(data, data.copy(), 0.0).violations == 0
    assert compare(data, moved, 0.2).violations == data.size
    assert compare(data, np.ascontiguousarray(moved).reshape(data.shape), 0.3).violations == 0


@pytest.mark.parametrize("dtype", [np.float16, np.complex64, "datetime64[s]"])
def test_a_type_that_has_no_bound_is_refused_by_name(dtype: npt.DTypeLike) -> None:
    data = np.zeros(3, dtype)

    with pytest.raises(ValueError, match=data.dtype.name.replace("[", r"\[")):
        compare(data, data, 0.5)


@pytest.mark.parametrize(
    ("name", "told"), [("Fortran order", "Fortran order"), ("big-endian", "big-endian")]
)
def test_a_file_of_another_layout_becomes_a_field_and_says_so(
    tmp_path: Path, name: str, told: str
) -> None:
    np.save(tmp_path / "x.npy", LAYOUTS[name])

    added = add(Registry(tmp_path / "home"), tmp_path / "x.npy", Wish())

    assert any(told in note for note in added.notes)
    field = Catalogue(tmp_path / "home").load("x")
    assert np.array_equal(field.data, BASE)
    assert field.data.flags.c_contiguous
    assert field.data.dtype == np.float32


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (BASE.astype(np.float16), "float16"),
        (np.zeros((2, 3, 2, 3, 2), np.float32), "5 axes"),
        (np.zeros((3, 0), np.float32), "no element"),
    ],
    ids=["float16", "5-D", "empty"],
)
def test_a_file_that_can_be_no_field_is_refused_by_name(
    tmp_path: Path, data: Array, told: str
) -> None:
    np.save(tmp_path / "x.npy", data)

    with pytest.raises(FieldFileError, match=told):
        add(Registry(tmp_path / "home"), tmp_path / "x.npy", Wish())


@dataclass(frozen=True)
class Naive:
    """What was measured of a million values."""

    draw: Callable[[np.random.Generator], Array]
    bound: float
    violations: int
    over: float
    """Largest error over the bound."""


NAIVE = {
    "U[0,1) at 1e-6": Naive(lambda rng: rng.random(N), 1e-6, 14_067, 1.013),
    "U[0,1) at 1e-7": Naive(lambda rng: rng.random(N), 1e-7, 132_649, 1.79),
    "U[285,300) at 1e-3": Naive(lambda rng: rng.uniform(285, 300, N), 1e-3, 11_815, 1.007),
    "U[285,300) at 1e-4": Naive(lambda rng: rng.uniform(285, 300, N), 1e-4, 32_613, 1.22),
    "1e5 + 100 N at 1e-2": Naive(lambda rng: 1e5 + 100 * normal(rng), 1e-2, 156_540, 1.56),
    "1e6 + N at 1e-3": Naive(lambda rng: 1e6 + normal(rng), 1e-3, 215_173, 62.5),
    "N(0, 1) at 1e-10": Naive(normal, 1e-10, 716_746, 4.5e10),
}


def naive(x: Array, bound: float) -> Array:
    """q = rint(x * (0.5/eb)) in int32, x' = q * 2eb, all in float32, as cuSZp has it."""
    eb = np.float32(bound)
    scaled = np.rint(x * (np.float32(0.5) / eb)).astype(np.float64)
    q = np.clip(scaled, -(2**31), 2**31 - 1).astype(np.int32)
    return q.astype(np.float32) * (np.float32(2) * eb)


@pytest.mark.parametrize("name", NAIVE)
def test_naive_quantisation_in_float32_breaks_the_bound_as_often_as_was_measured(
    name: str,
) -> None:
    case = NAIVE[name]
    x = case.draw(np.random.default_rng(0)).astype(np.float32)

    found = compare(x, naive(x, case.bound), case.bound)

    assert found.violations == pytest.approx(case.violations, rel=0.2)
    assert found.max_abs_error / case.bound == pytest.approx(case.over, rel=0.1)


def test_naive_quantisation_breaks_a_bound_of_1e_minus_3_on_very_few_values() -> None:
    """6 of a million uniform values, by up to 1.00005 bounds: a sample would miss them."""
    x = np.random.default_rng(0).random(N).astype(np.float32)

    found = compare(x, naive(x, 1e-3), 1e-3)

    assert 1 <= found.violations <= 60
    assert found.max_abs_error / 1e-3 == pytest.approx(1.00005, abs=5e-5)
