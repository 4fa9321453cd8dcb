"""Arrays of the host and of the device do not mix but by name, as in CuPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
import toolchains.child.shims.cupyx as cupyx


@pytest.mark.parametrize("operation", [operator.add, operator.mul, operator.lt, operator.matmul])
def test_operators_refuse_arrays_of_numpy_on_either_side(
    operation: Callable[[Any, Any], Any],
) -> None:
    host = np.ones(3, np.float32)
    for pair in ((cp.asarray(host), host), (host, cp.asarray(host))):
        with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy\.ndarray'>"):
            operation(*pair)


def test_implicit_conversion_to_numpy_is_refused() -> None:
    converts: tuple[Callable[[Any], Any], ...] = (np.asarray, np.array, lambda x: np.asarray([x]))
    for convert in converts:
        with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
            convert(cp.ones(3))


def test_in_place_operations_refuse_the_other_kind() -> None:
    host, device = np.ones(3), cp.ones(3)
    with pytest.raises(TypeError, match=r"Output arguments type must be cupy\.ndarray"):
        host += device
    with pytest.raises(TypeError, match="Unsupported type"):
        device += host


def test_assignment_takes_no_array_of_numpy() -> None:
    x = cp.zeros(3)
    with pytest.raises(ValueError, match=r"non-scalar numpy\.ndarray cannot be used for fill"):
        x[:] = np.ones(3)
    x[:] = np.float32(2)
    assert x.tolist() == [2, 2, 2]


def test_arrays_cross_by_name() -> None:
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    device = cp.asarray(host)
    host[0, 0] = 9
    assert device.get()[0, 0] == 0
    assert type(device.get()) is np.ndarray
    np.testing.assert_array_equal(cp.asnumpy(device.T), device.get().T)
    out = np.empty((2, 3), np.float32)
    assert device.get(out=out) is out
    device.set(host)
    assert device[0, 0] == 9


def test_set_and_get_want_the_same_shape_and_type() -> None:
    x = cp.zeros((2, 3), cp.float32)
    with pytest.raises(TypeError, match="float64 array cannot be set to float32 array"):
        x.set(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Shape mismatch"):
        x.set(np.zeros(6, np.float32))
    with pytest.raises(TypeError, match=r"Only numpy\.ndarray can be set"):
        x.set([1])


def test_universal_functions_take_no_lists() -> None:
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        cp.power([cp.arange(5)], 2)
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        cp.sum([1, 2])


def test_functions_of_numpy_hand_device_arrays_on() -> None:
    x = cp.arange(4.0)
    for made in (np.sin(x), np.sum(x), np.concatenate([x, x]), np.linalg.norm(x), np.zeros_like(x)):
        assert type(made) is cp.ndarray
    assert type(np.float32(2) * x) is cp.ndarray


def test_the_module_of_an_array_is_told() -> None:
    assert cp.get_array_module(np.ones(2)) is np
    assert cp.get_array_module(1, cp.ones(2)) is cp


def test_lists_of_device_arrays_become_one() -> None:
    x = cp.array([cp.arange(2), cp.arange(2)])
    assert x.tolist() == [[0, 1], [0, 1]]


def test_scattering_counts_every_index() -> None:
    x = cp.zeros(3, cp.int32)
    cupyx.scatter_add(x, cp.array([1, 1, 2]), 1)
    assert x.tolist() == [0, 2, 1]
