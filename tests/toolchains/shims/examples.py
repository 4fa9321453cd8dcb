"""What programs may expect of cupy, real or emulated: each example asserts with the module given.

Kernels and calls are of the kind that CuPy's user guide shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

SAXPY = r"""
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int at = blockDim.x * blockIdx.x + threadIdx.x;
    if (at < n)
        y[at] = a * x[at] + y[at];
}
template <class T> __global__ void fill(T *x, T value, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = value;
}
__device__ unsigned tally;
extern "C" __global__ void __launch_bounds__(256) count(const int *x, int n) {
    __shared__ unsigned own;
    if (threadIdx.x == 0)
        own = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] > 0)
            atomicAdd(&own, 1u);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&tally, own);
}
"""


def raw_kernels(xp: Any) -> None:
    kernel = xp.RawKernel(SAXPY, "saxpy")
    x, y = xp.arange(100, dtype=xp.float32), xp.ones(100, xp.float32)
    kernel((4,), (32,), (x, y, np.float32(2), 100))
    np.testing.assert_array_equal(y.get(), 2 * np.arange(100, dtype=np.float32) + 1)
    assert kernel.max_threads_per_block == 1024
    assert kernel.shared_size_bytes == 0


def templates(xp: Any) -> None:
    module = xp.RawModule(code=SAXPY, name_expressions=["fill<double>", "fill<short>"])
    for dtype, name in (("float64", "fill<double>"), ("int16", "fill<short>")):
        x = xp.zeros(50, dtype)
        module.get_function(name)((2,), (16,), (x, np.dtype(dtype).type(7), np.uint32(50)))
        assert x.tolist() == [7] * 50


def variables(xp: Any) -> None:
    module = xp.RawModule(code=SAXPY)
    tally = xp.ndarray((1,), xp.uint32, module.get_global("tally"))
    tally[...] = 0
    x = xp.arange(-50, 50, dtype=xp.int32)
    module.get_function("count")((3,), (32,), (x, 100))
    assert tally.tolist() == [49]


def too_many_threads(xp: Any) -> None:
    kernel = xp.RawModule(code=SAXPY).get_function("count")
    with pytest.raises(xp.cuda.driver.CUDADriverError, match="CUDA_ERROR_"):
        kernel((1,), (512,), (xp.ones(1, xp.int32), 1))


def missing_kernels(xp: Any) -> None:
    with pytest.raises(xp.cuda.driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND"):
        xp.RawModule(code=SAXPY).get_function("nothing")


def compile_errors(xp: Any) -> None:
    kernel = xp.RawKernel('extern "C" __global__ void k(int *x) { x[0] = nowhere; }', "k")
    with pytest.raises(xp.cuda.compiler.CompileException, match="nowhere"):
        kernel.compile()


def host_arrays_as_arguments(xp: Any) -> None:
    kernel = xp.RawKernel(SAXPY, "saxpy")
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        kernel((1,), (1,), (np.ones(3, np.float32), xp.ones(3), np.float32(1), 3))


def elementwise_kernels(xp: Any) -> None:
    kernel = xp.ElementwiseKernel(
        "T x, raw T table, int32 shift",
        "T y",
        "y = x + table[(i + shift) % table.size()]",
        "looked",
    )
    x, table = xp.arange(12, dtype=xp.int32).reshape(3, 4), xp.array([10, 20, 30], xp.int32)
    expected = np.arange(12) + np.array([20, 30, 10])[np.arange(12) % 3]
    np.testing.assert_array_equal(kernel(x, table, 1).get(), expected.reshape(3, 4))
    np.testing.assert_array_equal(kernel(x.T, table, 1).shape, (4, 3))


def elementwise_errors(xp: Any) -> None:
    kernel = xp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "plus")
    with pytest.raises(TypeError, match="Type is mismatched"):
        kernel(xp.ones(2), xp.ones(2, xp.float32))
    with pytest.raises(TypeError, match="Unsupported type"):
        kernel(xp.ones(2), np.ones(2))
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        kernel(xp.ones(2))
    with pytest.raises(ValueError, match="Loop size is undecided"):
        kernel(1, 2)


def reduction_kernels(xp: Any) -> None:
    kernel = xp.ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a / 2", "0", "weighed")
    x = xp.arange(24, dtype=xp.float64).reshape(2, 3, 4)
    w = xp.array([1.0, 0, 1, 0])
    expected = (np.arange(24).reshape(2, 3, 4) * [1, 0, 1, 0]).sum(axis=(0, 2)) / 2
    np.testing.assert_allclose(kernel(x, w, axis=(0, 2)).get(), expected)
    assert kernel(x, w, axis=0, keepdims=True).shape == (1, 3, 4)
    assert kernel(x, w).shape == ()


def fused_functions(xp: Any) -> None:
    @xp.fuse(kernel_name="distance")
    def distance(x, y):  # type: ignore[no-untyped-def]
        return (x - y) * (x - y)

    assert distance(xp.arange(4.0), xp.ones(4)).tolist() == [1, 0, 1, 4]


def arrays_stay_apart(xp: Any) -> None:
    x, host = xp.ones(3), np.ones(3)
    for wrong in (lambda: x + host, lambda: host + x, lambda: np.asarray(x), lambda: x * [1, 2, 3]):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="cannot be used for fill"):
        x[:] = host
    assert type(np.sin(x)) is type(x)
    assert type(np.float64(2) * x) is type(x)


def scalars_are_arrays(xp: Any) -> None:
    x = xp.arange(6, dtype=xp.int32)
    for made in (x[2], x.sum(), xp.max(x), xp.count_nonzero(x), xp.allclose(x, x)):
        assert type(made) is xp.ndarray
        assert made.shape == ()
    assert x.sum().dtype == np.int64
    assert (x[2] + 0.5).item() == 2.5


def promotion(xp: Any) -> None:
    x = xp.ones(2, xp.float32)
    assert [(x * s).dtype.char for s in (2, 2.5, 2j, np.float64(2), xp.ones(2, xp.int32))] == [
        "f", "f", "F", "d", "d",
    ]  # fmt: skip
    assert (xp.ones(1, xp.int8) / 2).dtype == np.float64
    assert xp.sqrt(xp.ones(1, xp.int8)).dtype == np.float16
    assert (xp.array([True]) - xp.array([True])).dtype == np.bool_


def indices_wrap(xp: Any) -> None:
    x = xp.array([0, 1, 2])
    x[[1, 3]] = 10
    assert x.tolist() == [10, 10, 2]
    with pytest.raises(IndexError):
        x[3]


def views_and_pointers(xp: Any) -> None:
    x = xp.zeros((4, 6), xp.float32)
    assert x.data.ptr % 256 == 0
    assert x[1:, 2:].data.ptr == x.data.ptr + 32
    x[1:, 2:][...] = 1
    assert x.sum() == 12
    assert (x[::-1].strides, x.T.flags.f_contiguous, x.nbytes) == ((-24, 4), True, 96)


def conversions_saturate(xp: Any) -> None:
    x = xp.array([-1.0, np.inf], xp.float32)
    assert x.astype(xp.uint32).tolist() == [0, 2**32 - 1]
    assert x.astype(xp.int32).tolist() == [-1, 2**31 - 1]


def streams_and_events(xp: Any) -> None:
    stream = xp.cuda.Stream(non_blocking=True)
    with stream:
        assert xp.cuda.get_current_stream() == stream
        x = xp.arange(3) + 1
        event = stream.record()
    event.synchronize()
    assert event.done
    assert x.get(stream=stream).tolist() == [1, 2, 3]
    assert xp.cuda.get_current_stream() == xp.cuda.Stream.null


def memory(xp: Any) -> None:
    pool = xp.get_default_memory_pool()
    before = pool.used_bytes()
    x = xp.zeros(512, xp.uint8)
    assert pool.used_bytes() == before + 512
    pointer = xp.cuda.alloc(512)
    pointer.copy_from_device(x.data, 512)
    pinned = xp.cuda.alloc_pinned_memory(512)
    host = np.frombuffer(pinned, np.uint8, 512)
    x.fill(3)
    x.get(out=host)
    assert host.tolist() == [3] * 512
    assert xp.ndarray((512,), xp.uint8, pointer).sum() == 0


def devices(xp: Any) -> None:
    properties = xp.cuda.runtime.getDeviceProperties(0)
    wanted = {
        "name", "totalGlobalMem", "sharedMemPerBlock", "warpSize", "maxThreadsPerBlock", "major",
        "maxThreadsDim", "maxGridSize", "multiProcessorCount", "l2CacheSize", "regsPerBlock",
    }  # fmt: skip
    assert wanted <= set(properties)
    assert xp.cuda.Device(0).compute_capability == f"{properties['major']}{properties['minor']}"
    assert xp.cuda.runtime.getDeviceCount() >= 1


EXAMPLES: tuple[Callable[[Any], None], ...] = (
    raw_kernels, templates, variables, too_many_threads, missing_kernels, compile_errors,
    host_arrays_as_arguments, elementwise_kernels, elementwise_errors, reduction_kernels,
    fused_functions, arrays_stay_apart, scalars_are_arrays, promotion, indices_wrap,
    views_and_pointers, conversions_saturate, streams_and_events, memory, devices,
)  # fmt: skip
