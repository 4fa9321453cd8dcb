"""Every public name of CuPy works or is refused by name; none of NumPy's comes on top."""

from __future__ import annotations

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
import toolchains.child.shims.cupyx as cupyx
from tests.toolchains.shims.names import EMULATED, REFUSED
from toolchains.child.shims.cupy._errors import NotEmulatedError


def test_every_name_of_cupy_is_there_or_is_refused() -> None:
    for name in EMULATED:
        getattr(cp, name)
    for name in REFUSED:
        with pytest.raises(NotEmulatedError, match=f"not emulated: cupy.{name}$"):
            getattr(cp, name)
    assert set(dir(cp)) >= {*EMULATED, *REFUSED}


def test_names_of_numpy_that_cupy_lacks_are_no_attributes() -> None:
    there = {*EMULATED, *REFUSED}
    others = [name for name in dir(np) if not name.startswith("_") and name not in there]
    leaked = [name for name in others if hasattr(cp, name)]
    assert len(others) > 50
    assert leaked == []


def test_parameters_that_cupy_lacks_are_refused() -> None:
    with pytest.raises(TypeError, match=r"sum.. got an unexpected keyword argument 'where'"):
        cp.sum(cp.ones(3), where=cp.ones(3, bool))
    with pytest.raises(TypeError, match="at most 5 arguments"):
        cp.sum(cp.ones(3), 0, None, None, False, 1)


def test_parameters_by_the_names_that_cupy_has_reach_numpy() -> None:
    x = cp.arange(6)
    assert cp.reshape(x, newshape=(2, 3)).shape == (2, 3)
    assert cp.flip(a=x).tolist() == [5, 4, 3, 2, 1, 0]
    assert cp.histogram(x=x, bins=2)[0].tolist() == [3, 3]
    assert cp.concatenate(tup=[x, x]).size == 12


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: cp.where(cp.arange(4) > 1, 1.0, 0.0), [0, 0, 1, 1]),
        (lambda: cp.searchsorted(cp.arange(4), cp.array([2])), [2]),
        (lambda: cp.unique(cp.array([3, 1, 3])), [1, 3]),
        (lambda: cp.cumsum(cp.arange(4)), [0, 1, 3, 6]),
        (lambda: cp.packbits(cp.array([1, 0, 1], cp.uint8)), [160]),
        (lambda: cp.bincount(cp.array([0, 2])), [1, 0, 1]),
        (lambda: cp.divmod(cp.array([7]), 4)[1], [3]),
        (lambda: cp.stack([cp.arange(2)] * 2), [[0, 1], [0, 1]]),
        (lambda: cp.linspace(0, 1, 3), [0, 0.5, 1]),
        (lambda: cp.mgrid[0:2], [0, 1]),
        (lambda: cp.r_[cp.arange(2), 7], [0, 1, 7]),
        (lambda: cp.argsort(cp.array([2, 1, 1])), [1, 2, 0]),
        (lambda: cp.linalg.inv(cp.array([[2.0]])), [[0.5]]),
        (lambda: cp.fft.fft(cp.ones(2)), [2, 0]),
        (lambda: cp.einsum("ij->j", cp.ones((2, 2))), [2, 2]),
        (lambda: cp.lib.stride_tricks.as_strided(cp.arange(4), (2,), (16,)), [0, 2]),
    ],
)
def test_functions_compute_what_numpy_computes(made, expected) -> None:  # type: ignore[no-untyped-def]
    result = made()
    assert type(result) is cp.ndarray
    assert result.tolist() == expected


def test_answers_about_arrays_are_pythons_own() -> None:
    x = cp.ones((2, 3))
    assert (cp.ndim(x), cp.size(x), cp.shape(x)) == (2, 6, (2, 3))
    assert cp.iscomplexobj(x) is False
    assert type(cp.allclose(x, x)) is cp.ndarray


def test_random_numbers_follow_a_seed_and_have_a_type() -> None:
    cp.random.seed(3)
    first = cp.random.rand(4, dtype=cp.float32)
    cp.random.seed(3)
    assert first.dtype == np.float32
    assert (cp.random.rand(4).astype(cp.float32) == first).all()
    assert cp.random.default_rng(1).standard_normal(3).shape == (3,)


@pytest.mark.parametrize("name", ["jit", "profiler", "scipy"])
def test_parts_of_cupyx_that_are_missing_are_refused(name: str) -> None:
    with pytest.raises(NotEmulatedError, match=f"not emulated: cupyx.{name}"):
        getattr(cupyx, name)


def test_old_names_that_cupy_kept_are_kept() -> None:
    assert cp.float_ is np.float64
    assert cp.alltrue(cp.ones(2)).item() is True
