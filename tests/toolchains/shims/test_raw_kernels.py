"""RawKernel and RawModule, as CuPy's user guide shows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
from toolchains.child.shims.cupy._engine import PROCESS, Asking
from toolchains.child.shims.cupy._errors import (
    CompileException,
    CUDADriverError,
    NotEmulatedError,
)

SUM = r"""
extern "C" __global__
void total(const float *a, const float *b, float *c) {
    int at = blockDim.x * blockIdx.x + threadIdx.x;
    c[at] = a[at] + b[at];
}
"""
SEVERAL = r"""
__constant__ float factors[2];
__device__ int calls = 5;
__device__ unsigned long long many[3];

template <class T> __global__ void triple(T *x, int n) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n)
        x[at] = x[at] * 3;
}

extern "C" __global__ void scaled(const float *x, float *y, unsigned n) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n)
        y[at] = x[at] * factors[at % 2];
    if (at == 0)
        calls = calls + 1;
}

extern "C" __global__ void __launch_bounds__(64) bounded(int *x) {
    __shared__ int held[64];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = held[63 - threadIdx.x];
}

extern "C" __global__ void dynamic(int *x, int n) {
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        room[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        x[0] = room[n - 1];
}
"""
COMPLEX = r"""
#include <cupy/complex.cuh>
extern "C" __global__
void axpy(const complex<float> *x, const complex<float> *y, complex<float> *z, float a) {
    int at = blockDim.x * blockIdx.x + threadIdx.x;
    z[at] = x[at] + a * y[at];
}
"""


def module(**kwargs: object) -> cp.RawModule:
    return cp.RawModule(code=SEVERAL, **kwargs)  # type: ignore[arg-type]


def test_a_kernel_adds_arrays(compiler: Asking) -> None:
    kernel = cp.RawKernel(SUM, "total")
    x = cp.arange(25, dtype=cp.float32).reshape(5, 5)
    y = cp.zeros((5, 5), cp.float32)
    kernel((5,), (5,), (x, x, y))
    np.testing.assert_array_equal(y.get(), 2 * x.get())


def test_a_kernel_ignores_the_strides_of_a_view(compiler: Asking) -> None:
    kernel = cp.RawKernel(SUM, "total")
    x = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    y = cp.zeros(6, cp.float32)
    kernel((1,), (6,), (x.T, x, y))
    assert y.tolist() == [0, 2, 4, 6, 8, 10]


def test_complex_numbers_have_the_documented_header(compiler: Asking) -> None:
    kernel = cp.RawKernel(COMPLEX, "axpy")
    x = cp.arange(6, dtype=cp.complex64)
    z = cp.zeros(6, cp.complex64)
    kernel((2,), (3,), (x, 1j * x, z, cp.float32(2)))
    np.testing.assert_array_equal(z.get(), x.get() * (1 + 2j))


def test_a_module_has_several_kernels_and_templates(compiler: Asking) -> None:
    names = ["triple<float>", "triple<double>"]
    made = module(options=("-std=c++14",), name_expressions=names)
    for name, dtype in zip(names, (cp.float32, cp.float64), strict=True):
        x = cp.arange(10, dtype=dtype)
        made.get_function(name)((1,), (10,), (x, 10))
        assert x.tolist() == [3 * i for i in range(10)]


def test_variables_of_a_module_are_read_and_written(compiler: Asking) -> None:
    made = module()
    factors = cp.ndarray((2,), cp.float32, made.get_global("factors"))
    factors[...] = cp.array([2, 3], cp.float32)
    y = cp.zeros(4, cp.float32)
    for _ in range(2):
        made.get_function("scaled")((1,), (4,), (cp.ones(4, cp.float32), y, 4))
    assert y.tolist() == [2, 3, 2, 3]
    assert cp.ndarray((), cp.int32, made.get_global("calls")) == 7
    assert cp.ndarray((3,), cp.uint64, made.get_global("many")).tolist() == [0, 0, 0]


def test_a_kernel_that_is_not_there_is_named_with_those_that_are(compiler: Asking) -> None:
    with pytest.raises(CUDADriverError, match=r"CUDA_ERROR_NOT_FOUND.*no kernel scald; .*scaled"):
        module().get_function("scald")
    with pytest.raises(CUDADriverError, match="no variable factor; there is factors, calls, many"):
        module().get_global("factor")


def test_a_mangled_kernel_is_told_what_to_do(compiler: Asking) -> None:
    kernel = cp.RawKernel("__global__ void plain(int *x) { x[0] = 1; }", "plain")
    with pytest.raises(CUDADriverError, match=r'_Z5plainPi; declare it extern "C"'):
        kernel((1,), (1,), (cp.zeros(1, cp.int32),))


def test_errors_of_the_compiler_have_the_place_in_this_file(compiler: Asking) -> None:
    kernel = cp.RawKernel(
        r"""
extern "C" __global__ void wrong(int *x) {
    x[0] = a_name_that_is_nowhere_else;
}
""",
        "wrong",
    )
    with pytest.raises(CompileException) as caught:
        kernel.compile()
    (found,) = [d for d in caught.value.diagnostics if d.severity == "error"]
    text = Path(__file__).read_text().split("\n")
    assert found.file == "test_raw_kernels.py"
    assert found.line == text.index("    x[0] = a_name_that_is_nowhere_else;") + 1
    assert str(found) in str(caught.value)


def test_attributes_of_a_kernel_are_those_of_its_source(compiler: Asking) -> None:
    kernel = module().get_function("bounded")
    assert kernel.max_threads_per_block == 64
    assert kernel.shared_size_bytes == 256
    assert kernel.const_size_bytes == 8
    assert kernel.max_dynamic_shared_size_bytes == 48 * 1024 - 256
    assert kernel.attributes["num_regs"] == -1
    with pytest.raises(NotEmulatedError, match=r"cupy\.RawKernel\.num_regs"):
        _ = kernel.num_regs


def test_dynamic_shared_memory_has_a_limit_that_can_be_raised(compiler: Asking) -> None:
    kernel = module().get_function("dynamic")
    x = cp.zeros(1, cp.int32)
    kernel((1,), (32,), (x, 1000), shared_mem=4000)
    assert x[0] == 999
    with pytest.raises(CUDADriverError, match="may have 49152 dynamic ones"):
        kernel((1,), (32,), (x, 15000), shared_mem=60000)
    kernel.max_dynamic_shared_size_bytes = 60000
    kernel((1,), (32,), (x, 15000), shared_mem=60000)
    assert x[0] == 14999
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        kernel.max_dynamic_shared_size_bytes = 300_000


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (((1,), (2048,)), "2048 threads"),
        (((1,), (1, 1, 65)), "64 along z"),
        (((1,), (128,)), "__launch_bounds__ promise at most 64"),
        (((1, 70000), (64,)), "a grid of"),
    ],
)
def test_impossible_launches_are_refused(
    compiler: Asking, shape: tuple[tuple[int, ...], tuple[int, ...]], message: str
) -> None:
    kernel = module().get_function("bounded")
    with pytest.raises(CUDADriverError, match=f"CUDA_ERROR_INVALID_VALUE.*{message}"):
        kernel(*shape, (cp.zeros(64, cp.int32),))


def test_sizes_of_a_launch_are_tuples_and_at_least_one(compiler: Asking) -> None:
    kernel = cp.RawKernel(SUM, "total")
    x, y = cp.ones(1, cp.float32), cp.zeros(1, cp.float32)
    kernel((0,), (0,), (x, x, y))
    assert y[0] == 2
    with pytest.raises(TypeError, match=r"'grid' has incorrect type \(expected tuple, got int\)"):
        kernel(1, (1,), (x, x, y))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="grid = "):
        kernel((1.5,), (1,), (x, x, y))  # type: ignore[arg-type]


def test_threads_run_in_descending_order_when_asked(compiler: Asking) -> None:
    code = """extern "C" __global__ void last(int *x) { x[0] = threadIdx.x; }"""
    kernel, x = cp.RawKernel(code, "last"), cp.zeros(1, cp.int32)
    kernel((1,), (64,), (x,))
    assert x[0] == 63
    PROCESS.descending = True
    kernel((1,), (64,), (x,))
    assert x[0] == 0
    assert int((cp.empty(9, cp.uint8) == 0x5A).sum()) == 9


def test_arguments_of_constructors_are_checked_as_in_cupy() -> None:
    with pytest.raises(TypeError, match="'options' has incorrect type"):
        cp.RawKernel(SUM, "total", ["-DX"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Exactly one of `code` and `path`"):
        cp.RawModule()
    with pytest.raises(ValueError, match="Invalid backend"):
        cp.RawKernel(SUM, "total", backend="other")
    with pytest.raises(NotEmulatedError, match=r"RawModule\(path=...\)"):
        cp.RawModule(path="kernel.ptx")
    with pytest.raises(TypeError, match="unexpected keyword argument 'fast'"):
        cp.RawModule(code=SUM, fast=True)


def test_without_a_compiler_nothing_runs() -> None:
    assert not cp.cuda.is_available()
    with pytest.raises(NotEmulatedError, match="started without a compiler"):
        cp.RawKernel(SUM, "total").compile()


def test_modules_are_declared_with_their_options_and_names(compiler: Asking) -> None:
    module(options=("-DX=1",), name_expressions=["triple<int>"])
    (source,) = compiler.declared
    assert source.options == ("-DX=1", "--std=c++17")
    assert source.names == ("triple<int>",)
    assert source.file == "test_raw_kernels.py"
    assert not compiler._known
