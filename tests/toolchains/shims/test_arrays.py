"""Arrays of the emulated cupy, as CuPy documents them."""

from __future__ import annotations

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
from toolchains.child.shims.cupy._errors import CUDARuntimeError, NotEmulatedError

DTYPES = "?bhilBHILefdFD"


def test_memory_is_aligned_and_views_share_it() -> None:
    x = cp.arange(12, dtype=cp.int32).reshape(3, 4)
    part = x[1:, ::2]
    part[...] = 7
    assert x.data.ptr % 512 == 0
    assert part.data.ptr == x.data.ptr + 16
    assert part.base is not None
    assert x.get().tolist() == [[0, 1, 2, 3], [7, 5, 7, 7], [7, 9, 7, 11]]


def test_views_that_run_backwards_point_at_their_first_element() -> None:
    x = cp.arange(5, dtype=cp.int32)
    assert x[::-1].data.ptr == x.data.ptr + 16
    assert x[::-1].strides == (-4,)


def test_attributes_are_those_of_the_array() -> None:
    x = cp.zeros((2, 3), cp.float32, order="F")
    assert (x.shape, x.dtype, x.size, x.ndim) == ((2, 3), np.float32, 6, 2)
    assert (x.nbytes, x.itemsize, x.strides) == (24, 4, (4, 8))
    assert x.flags.f_contiguous
    assert not x.flags["C_CONTIGUOUS"]
    assert x.device == cp.cuda.Device(0)
    assert x.T.flags.c_contiguous


def test_fresh_memory_is_not_zero() -> None:
    assert int((cp.empty(64, cp.uint8) == 0).sum()) == 0


@pytest.mark.parametrize("function", ["sum", "max", "argmin", "mean", "count_nonzero", "prod"])
def test_reductions_return_arrays_without_axes(function: str) -> None:
    made = getattr(cp, function)(cp.arange(1, 5))
    assert type(made) is cp.ndarray
    assert made.shape == ()
    assert made.item() == getattr(np, function)(np.arange(1, 5))


def test_one_element_is_an_array_that_converts_to_numbers() -> None:
    x = cp.arange(3.0)[1]
    assert type(x) is cp.ndarray
    assert (int(x), float(x), complex(x), bool(x)) == (1, 1.0, 1 + 0j, True)
    with pytest.raises(TypeError):
        range(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", ["add", "multiply", "true_divide", "power", "sqrt", "equal"])
def test_types_of_results_are_those_of_numpy_2(operation: str, dtype: str) -> None:
    host = np.ones(3, dtype)
    args = (host,) if operation == "sqrt" else (host, host)
    assert (
        getattr(cp, operation)(*map(cp.asarray, args)).dtype == getattr(np, operation)(*args).dtype
    )


@pytest.mark.parametrize(
    ("scalar", "dtype"),
    [(2, "float32"), (2.5, "float32"), (2j, "complex64"), (np.float64(2), "float64")],
)
def test_numbers_of_python_are_weak_and_scalars_of_numpy_are_not(
    scalar: object, dtype: str
) -> None:
    assert (cp.ones(2, cp.float32) * scalar).dtype == dtype


def test_booleans_have_the_loops_that_numpy_lacks() -> None:
    x, y = cp.array([True, True]), cp.array([True, False])
    assert (x - y).tolist() == [False, True]
    assert (-y).tolist() == [False, True]


def test_indices_beyond_the_end_wrap_around() -> None:
    x = cp.array([0, 1, 2])
    x[[1, 3]] = 10
    assert x.tolist() == [10, 10, 2]
    assert x[cp.array([-4, 4])].tolist() == [2, 10]
    assert x.take(cp.array([5])).tolist() == [2]
    with pytest.raises(IndexError):
        x[5]


def test_masks_and_arrays_of_indices_make_copies() -> None:
    x = cp.arange(6)
    x[x % 2 == 0] = 0
    chosen = x[cp.array([1, 3])]
    chosen[...] = 9
    assert x.tolist() == [0, 1, 0, 3, 0, 5]
    assert x[np.array([True] * 3 + [False] * 3)].tolist() == [0, 1, 0]


def test_floats_beyond_an_integer_become_its_ends() -> None:
    x = cp.array([-1.0, np.inf, np.nan, 3.7], cp.float32)
    assert x.astype(cp.uint32).tolist() == [0, 2**32 - 1, 0, 3]
    assert x.astype(cp.int32).tolist() == [-1, 2**31 - 1, 0, 3]


def test_reshaping_and_viewing_share_memory_where_possible() -> None:
    x = cp.arange(6, dtype=cp.float32)
    assert cp.shares_memory(x, x.reshape(2, 3).T)
    assert x.view(cp.uint32)[1] == 0x3F800000
    assert not cp.shares_memory(x, x.reshape(2, 3).T.reshape(-1))


def test_an_array_can_lie_at_a_pointer() -> None:
    memory = cp.cuda.alloc(64)
    x = cp.ndarray((4,), cp.int32, memory + 16)
    x.fill(3)
    assert cp.asnumpy(cp.ndarray((8,), cp.int32, memory)[4:]).tolist() == [3] * 4
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidValue"):
        cp.ndarray((17,), cp.int32, memory)


def test_elementwise_results_are_in_c_order() -> None:
    x = cp.asfortranarray(cp.ones((2, 3)))
    assert (x + x).flags.c_contiguous
    assert not (x + x).flags.f_contiguous


def test_types_that_devices_do_not_have_are_refused() -> None:
    for values in (["a"], np.array([None]), np.array([1.0], ">f4")):
        with pytest.raises(ValueError, match="Unsupported dtype"):
            cp.array(values)


def test_what_arrays_of_cupy_have_and_these_have_not_is_said_by_name() -> None:
    with pytest.raises(NotEmulatedError, match=r"not emulated: cupy\.ndarray\.flat \(reshape"):
        _ = cp.ones(2).flat
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cp.ones(2).nonsense


def test_comparison_with_nothing_is_false_everywhere() -> None:
    assert (cp.ones(2) == None).tolist() == [False, False]  # noqa: E711
    assert (cp.ones(2) != None).tolist() == [True, True]  # noqa: E711
