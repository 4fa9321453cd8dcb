"""What a kernel's parameters accept, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
from toolchains.child.shims.cupy._engine import Asking

CODE = r"""
struct Pair { int first; float second; };

extern "C" __global__ void all(
    signed char a, unsigned short b, int c, long long d, float e, double f, bool g, float2 h,
    Pair pair, double *out)
{
    double found[] = {(double)a, (double)b, (double)c, (double)d, e, f, (double)g, h.x, h.y,
                      (double)pair.first, pair.second};
    for (int i = 0; i < 11; i++)
        out[i] = found[i];
}

extern "C" __global__ void one_int(int n, int *out) { *out = n; }
extern "C" __global__ void one_float(float x, float *out) { *out = x; }
extern "C" __global__ void one_double(double x, double *out) { *out = x; }
extern "C" __global__ void one_long(unsigned long long n, unsigned long long *out) { *out = n; }
"""
PAIR = np.dtype([("first", np.int32), ("second", np.float32)])


def called(name: str, value: Any, dtype: str) -> Any:
    out = cp.zeros(1, dtype)
    cp.RawModule(code=CODE).get_function(name)((1,), (1,), (value, out))
    return out.item()


def test_scalars_have_their_own_size(compiler: Asking) -> None:
    out = cp.zeros(11)
    pair = np.array([(3, 0.5)], PAIR)
    args = (
        np.int8(-1), np.uint16(65535), np.int32(-5), 2**40, np.float32(1.5), 2.5, True,
        np.complex64(1 + 2j), pair, out,
    )  # fmt: skip
    cp.RawModule(code=CODE).get_function("all")((1,), (1,), args)
    assert out.tolist() == [-1, 65535, -5, 2**40, 1.5, 2.5, 1, 1, 2, 3, 0.5]


@pytest.mark.parametrize(
    ("name", "value", "dtype", "expected"),
    [
        ("one_int", 7, "int32", 7),
        ("one_int", -7, "int32", -7),
        ("one_int", np.int64(7), "int32", 7),
        ("one_int", np.array([7], np.int32), "int32", 7),
        ("one_double", 0.5, "float64", 0.5),
        ("one_double", np.float64(0.5), "float64", 0.5),
        ("one_float", np.float32(0.5), "float32", 0.5),
        ("one_long", 2**63, "uint64", 2**63),
        ("one_long", None, "uint64", 0),
    ],
)
def test_values_that_fit_arrive(
    compiler: Asking, name: str, value: Any, dtype: str, expected: Any
) -> None:
    assert called(name, value, dtype) == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("one_int", 2**40, r"argument 1 \(n\) is the int 1099511627776, which does not fit into 4"),
        ("one_int", 0.5, r"is the float 0.5, but the parameter is an integer of 4 bytes; pass "
         r"numpy.int32\(n\) or numpy.uint32"),
        ("one_int", True, r"is the bool True, but .* pass numpy.int32\(n\)"),
        ("one_float", 2, r"is the int 2, but the parameter is a float of 4 bytes; pass "
         r"numpy.float32\(x\)"),
        ("one_float", 2.5, r"pass numpy.float32\(x\)"),
        ("one_float", np.int32(2), r"is the int32 2, but .* pass numpy.float32\(x\)"),
        ("one_double", np.float32(2), r"pass numpy.float64\(x\)"),
        ("one_double", 1, r"is the int 1, but the parameter is a float of 8 bytes"),
        ("one_long", np.uint32(1), r"pass numpy.int64\(n\) or numpy.uint64"),
        ("one_long", np.ones(3), r"numpy.ndarray of shape \(3,\) as a kernel parameter"),
        ("one_long", [1], r"Unsupported type <class 'list'>"),
    ],
)  # fmt: skip
def test_values_that_would_be_read_as_garbage_are_refused(
    compiler: Asking, name: str, value: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        called(name, value, "float64")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "is the float 0.5, but the parameter is a pointer"),
        (np.int32(0), "is the int32 0, but the parameter is a pointer"),
        (4096, "is the int 4096, which is no address of device memory"),
    ],
)
def test_pointers_are_addresses_of_device_memory(
    compiler: Asking, value: Any, message: str
) -> None:
    kernel = cp.RawModule(code=CODE).get_function("one_int")
    with pytest.raises(TypeError, match=message):
        kernel((1,), (1,), (1, value))


def test_addresses_and_pointers_of_arrays_are_accepted(compiler: Asking) -> None:
    kernel = cp.RawModule(code=CODE).get_function("one_int")
    x = cp.zeros(4, cp.int32)
    for number, pointer in enumerate((x.data.ptr, x[1:].data, x.data + 8, x[3:])):
        kernel((1,), (1,), (number + 1, pointer))
    assert x.tolist() == [1, 2, 3, 4]


def test_an_array_is_no_number(compiler: Asking) -> None:
    kernel = cp.RawModule(code=CODE).get_function("one_int")
    x = cp.zeros(1, cp.int32)
    with pytest.raises(TypeError, match=r"a cupy\.ndarray of int32, but .* integer of 4 bytes, no"):
        kernel((1,), (1,), (x, x))


def test_the_number_of_arguments_is_the_kernels(compiler: Asking) -> None:
    kernel = cp.RawModule(code=CODE).get_function("one_int")
    with pytest.raises(TypeError, match=r"one_int has 2 parameters \(n, out\), 1 arguments"):
        kernel((1,), (1,), (1,))
