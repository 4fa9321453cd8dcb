"""ElementwiseKernel, as CuPy's user guide shows it."""

from __future__ import annotations

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
from toolchains.child.shims.cupy._engine import Asking
from toolchains.child.shims.cupy._errors import CompileException

DISTANCE = ("T x, T y", "T z", "z = (x - y) * (x - y)", "distance")


def test_arrays_and_scalars_are_broadcast(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x - 2 * y", "twice")
    x = cp.arange(10, dtype=cp.float32).reshape(2, 5)
    y = cp.arange(5, dtype=cp.float32)
    np.testing.assert_array_equal(kernel(x, y).get(), x.get() - 2 * y.get())
    np.testing.assert_array_equal(kernel(x, 5).get(), x.get() - 10)
    np.testing.assert_array_equal(kernel(x.T, y[:2]).get(), x.get().T - 2 * y.get()[:2])


@pytest.mark.parametrize("dtype", ["int32", "float16", "complex64"])
def test_placeholders_take_the_types_of_arguments(compiler: Asking, dtype: str) -> None:
    x = cp.arange(6).astype(dtype)
    made = cp.ElementwiseKernel(*DISTANCE)(x, 3)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.get(), (x.get() - x.get()[3]) ** 2)


def test_outputs_may_be_given(compiler: Asking) -> None:
    x, z = cp.arange(3.0), cp.zeros(3)
    assert cp.ElementwiseKernel(*DISTANCE)(x, 1, z) is z
    assert z.tolist() == [1, 0, 1]
    kernel = cp.ElementwiseKernel("X x, Y y", "Z z", "z = x * y", "product")
    out = cp.zeros(3, cp.int32)
    kernel(x, cp.arange(3, dtype=cp.int8), out)
    assert out.tolist() == [0, 1, 4]
    with pytest.raises(TypeError, match="the type Z of z is unknown"):
        kernel(x, x)


def test_raw_arguments_are_indexed_by_hand(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel(
        "T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse"
    )
    x = cp.arange(5, dtype=cp.float32)
    assert kernel(x, 2 * x).tolist() == [8, 7, 6, 5, 4]
    # A view that is not contiguous has indices of its own.
    assert kernel(x, cp.arange(10, dtype=cp.float32)[::2]).tolist() == [8, 7, 6, 5, 4]


def test_all_raw_arguments_need_a_size(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel("raw T x", "raw T y", "y[i] = x[i] + x.size()", "sized")
    x, y = cp.zeros(4, cp.int32), cp.zeros(4, cp.int32)
    kernel(x, y, size=3)
    assert y.tolist() == [4, 4, 4, 0]
    with pytest.raises(ValueError, match="Loop size is undecided"):
        kernel(x, y)
    with pytest.raises(ValueError, match="Specified 'size' can be used only if"):
        cp.ElementwiseKernel(*DISTANCE)(x, y, size=3)


def test_shapes_are_kept_when_dimensions_are_not_reduced(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel(
        "raw T x", "T y", "y = _ind.get()[0] * 10 + x.shape()[1] + x[_ind.get()]", "indexed",
        reduce_dims=False,
    )  # fmt: skip
    x = cp.arange(6, dtype=cp.int32).reshape(2, 3)
    y = cp.zeros((2, 3), cp.int32)
    assert kernel(x, y).tolist() == [[3, 4, 5], [16, 17, 18]]


def test_preamble_and_code_around_the_loop_are_used(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel(
        "T x", "T y", "y = twice(x) + more; seen++", "around",
        preamble="__device__ int twice(int x) { return 2 * x; }",
        loop_prep="int more = 1, seen = 0;", after_loop="if (seen > 1) __trap();",
        options=("-DUNUSED",), return_tuple=True,
    )  # fmt: skip
    (made,) = kernel(cp.arange(300, dtype=cp.int32))
    np.testing.assert_array_equal(made.get(), 2 * np.arange(300) + 1)


def test_several_outputs_are_a_tuple_and_none_are_returned_when_not_wanted(
    compiler: Asking,
) -> None:
    both = cp.ElementwiseKernel("T x", "T y, bool odd", "y = -x; odd = x % 2", "both")
    y, odd = both(cp.arange(3))
    assert (y.tolist(), odd.tolist()) == ([0, -1, -2], [False, True, False])
    silent = cp.ElementwiseKernel("T x", "T y", "y = x", "silent", no_return=True)
    assert silent(cp.arange(3)) is None


def test_nothing_is_launched_for_nothing() -> None:
    assert cp.ElementwiseKernel(*DISTANCE)(cp.zeros((0, 3)), 1).shape == (0, 3)


def test_wrong_calls_are_refused_as_in_cupy() -> None:
    kernel = cp.ElementwiseKernel(*DISTANCE)
    x = cp.ones(3)
    for args, error, message in (
        ((x,), TypeError, "must be either 2 or 3"),
        ((x, np.ones(3)), TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        ((x, cp.ones(3, cp.float32)), TypeError, "Type is mismatched"),
        ((x, x, cp.ones(1)), ValueError, "Out shape is mismatched"),
        ((x, x, 1.0), TypeError, "Output arguments type must be cupy.ndarray"),
    ):
        with pytest.raises(error, match=message):
            kernel(*args)
    with pytest.raises(ValueError, match="Can not use 'i'"):
        cp.ElementwiseKernel("T i", "T y", "y = i", "wrong")
    with pytest.raises(ValueError, match="Invalid kernel name"):
        cp.ElementwiseKernel("T x", "T y", "y = x", "no name")


def test_errors_in_the_body_have_their_place_in_this_file(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel(
        "T x",
        "T y",
        """
        y = x + a_name_of_nothing_at_all;
        """,
        "wrong",
    )
    with pytest.raises(CompileException, match=r"test_elementwise\.py\(\d+\): error: .*nothing_at"):
        kernel(cp.ones(3))


def test_generated_code_can_be_read(compiler: Asking) -> None:
    kernel = cp.ElementwiseKernel(*DISTANCE)
    kernel(cp.ones(3), 1)
    assert "z = (x - y) * (x - y)" in kernel.cached_code
    assert len(kernel.cached_codes) == 1


def test_fused_functions_compute_the_same() -> None:
    @cp.fuse(kernel_name="distance")
    def distance(x, y):  # type: ignore[no-untyped-def]
        return (x - y) * (x - y)

    assert distance(cp.arange(3), cp.ones(3, cp.int64)).tolist() == [1, 0, 1]
    assert distance(np.arange(3), 1).tolist() == [1, 0, 1]
