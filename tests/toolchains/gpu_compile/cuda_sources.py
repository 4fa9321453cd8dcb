"""Sources for the tests of NVRTC: how they begin, and one that has something of everything."""

from __future__ import annotations

import pytest

from kernels.records import Diagnostic
from simulators.simt.records import Source
from simulators.simt.tool import RunTool, plain_run
from toolchains.gpu_compile.cuda_build import CudaBuild, CudaKernel
from toolchains.gpu_compile.cuda_wheels import find_nvrtc
from toolchains.gpu_compile.nvrtc import compile_cuda

needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="nvidia-cuda-nvrtc is not installed")

KERNEL = 'extern "C" __global__ void k(float *a, int n) {\n'

STARVED = """
extern "C" __global__ void __launch_bounds__(1024, 2) starved(float *a) {
    float r[64];
#pragma unroll
    for (int j = 0; j < 64; j++) r[j] = a[j * 1024 + threadIdx.x];
    for (int k = 0; k < 10; k++) {
#pragma unroll
        for (int j = 0; j < 64; j++) r[j] = r[j] * r[(j + 1) & 63] + r[(j + 7) & 63];
    }
#pragma unroll
    for (int j = 0; j < 64; j++) a[j * 1024 + threadIdx.x] = r[j];
}
"""
"""Needs 64 registers and more, and may have 32."""

MANY = """
__constant__ float table[64];
extern "C" __global__ void shared(float *a, unsigned n) {
    __shared__ float s[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = a[i];
    __syncthreads();
    a[i] = s[255 - threadIdx.x] * table[i & 63];
}
template <typename T, int N> __global__ void scaled(T *a) { a[threadIdx.x] *= N; }
extern "C" __global__ void local(float *a, int n) {
    float t[64];
    for (int j = 0; j < 64; j++) t[(j * n) & 63] = a[j];
    a[n] = t[n & 63];
}
"""


def compiled(
    code: str,
    arch: str = "sm_80",
    *,
    options: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    headers: dict[str, str] | None = None,
    run: RunTool = plain_run,
) -> CudaBuild:
    source = Source(code, "kernel.cu", options=options, names=names, headers=headers or {})
    return compile_cuda(source, [arch], run)


def kernel(build: CudaBuild, name: str) -> CudaKernel:
    return next(k for k in build.modules[0].kernels if k.resources.name == name)


def first(build: CudaBuild) -> Diagnostic:
    return build.diagnostics[0]
