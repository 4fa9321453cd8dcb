"""ReductionKernel, as CuPy's user guide shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
from toolchains.child.shims.cupy._engine import Asking

NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
TOTAL = ("T x", "T y", "x", "a + b", "y = a", "0", "total")


def test_a_norm_along_an_axis(compiler: Asking) -> None:
    x = cp.arange(10, dtype=cp.float32).reshape(2, 5)
    kernel = cp.ReductionKernel(*NORM)
    np.testing.assert_allclose(kernel(x, axis=1).get(), np.linalg.norm(x.get(), axis=1), rtol=1e-6)


@pytest.mark.parametrize("axis", [None, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_are_numpys(compiler: Asking, axis: Any, keepdims: bool) -> None:
    x = np.arange(60, dtype=np.int64).reshape(3, 4, 5)
    made = cp.ReductionKernel(*TOTAL)(cp.asarray(x), axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(made.get(), x.sum(axis=axis, keepdims=keepdims))


def test_views_and_long_axes_are_reduced(compiler: Asking) -> None:
    x = np.arange(5000, dtype=np.int32).reshape(50, 100)
    kernel = cp.ReductionKernel(*TOTAL)
    device = cp.asarray(x)
    assert kernel(device.reshape(-1)).item() == x.sum()
    np.testing.assert_array_equal(kernel(device[::3, ::-1].T, axis=1).get(), x[::3, ::-1].sum(0))


def test_arrays_are_broadcast_and_reduced_in_another_type(compiler: Asking) -> None:
    kernel = cp.ReductionKernel(
        "T x, T y", "float64 z", "x * y", "max(a, b)", "z = a / 2", "-1e30", "most",
        reduce_type="double",
    )  # fmt: skip
    x = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    assert kernel(x, cp.array([1, -1, 2], cp.float32), axis=1).tolist() == [2, 5]


def test_the_output_may_be_given(compiler: Asking) -> None:
    out = cp.zeros(2, cp.int32)
    kernel = cp.ReductionKernel(*TOTAL)
    x = cp.ones((2, 3), cp.int32)
    assert kernel(x, axis=1, out=out) is out
    assert out.tolist() == [3, 3]
    kernel(2 * x, out, axis=1)
    assert out.tolist() == [6, 6]
    with pytest.raises(ValueError, match="cannot specify 'out' as both"):
        kernel(x, out, axis=1, out=out)


def test_complex_sums_and_booleans(compiler: Asking) -> None:
    x = cp.arange(5) * (1 + 1j)
    assert cp.ReductionKernel(*TOTAL)(x).item() == 10 + 10j
    some = cp.ReductionKernel("T x", "bool y", "x > 3", "a || b", "y = a", "false", "some")
    assert some(cp.arange(5)).item() is True


def test_nothing_reduces_to_the_identity_if_there_is_one(compiler: Asking) -> None:
    x = cp.zeros((0, 2), cp.int32)
    assert cp.ReductionKernel(*TOTAL)(x, axis=0).tolist() == [0, 0]
    assert cp.ReductionKernel(*TOTAL)(x, axis=1).shape == (0,)
    without = cp.ReductionKernel("T x", "T y", "x", "min(a, b)", "y = a", None, "least")
    with pytest.raises(ValueError, match="zero-size array to reduction operation least"):
        without(x)


def test_wrong_calls_are_refused_as_in_cupy() -> None:
    kernel = cp.ReductionKernel(*TOTAL)
    with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy\.ndarray'>"):
        kernel(np.ones(3))
    with pytest.raises(np.exceptions.AxisError):
        kernel(cp.ones(3), axis=1)
    raw = cp.ReductionKernel("T x, raw T w", "T y", "x", "a + b", "y = a", "0", "raw")
    with pytest.raises(NotImplementedError, match="Illegal conditions"):
        raw(cp.ones((2, 2)), cp.ones(2), axis=1)
