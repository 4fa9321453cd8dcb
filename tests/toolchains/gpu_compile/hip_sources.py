"""HIP and CUDA that tests compile, and the compiler to do it with."""

from __future__ import annotations

import pytest

from kernels.records import Diagnostic
from simulators.simt.records import Source
from simulators.simt.tool import plain_run
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_build import HipBuild
from toolchains.gpu_compile.hip_compilers import find_compiler

needs_compiler = pytest.mark.skipif(
    find_compiler() is None, reason="no compiler for AMDGPU: neither ziglang, clang nor ROCm"
)

LORENZO = """
extern "C" __global__ void lorenzo(const int* x, int* d, int n) {
  __shared__ int tile[257];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x + 1] = x[i];
  if (threadIdx.x == 0) tile[0] = i ? x[i - 1] : 0;
  __syncthreads();
  if (i < n) d[i] = tile[threadIdx.x + 1] - tile[threadIdx.x];
}
"""
SPILLS = """
extern "C" __global__ void __launch_bounds__(1024) greedy(const float* x, float* y, int n) {
  float v[140];
  #pragma unroll
  for (int i = 0; i < 140; ++i) v[i] = x[i + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 140; ++i) y[i + threadIdx.x] *= v[i];
}
"""


def build(code: str, *archs: str, **more: object) -> HipBuild:
    """Compile for `archs`, gfx942 if none is named; `more` is of `Source`."""
    given = {"file": "kernel.hip", "dialect": "hip", **more}
    return compile_hip(Source(code, **given), archs or ("gfx942",), plain_run)  # type: ignore[arg-type]


def errors(code: str, *archs: str, **more: object) -> list[Diagnostic]:
    """What is wrong with it."""
    return [d for d in build(code, *archs, **more).diagnostics if d.severity == "error"]
