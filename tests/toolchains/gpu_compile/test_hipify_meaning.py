"""A translation computes on wavefronts of 64, and of 32, what the CUDA text does on warps of 32."""

from __future__ import annotations

import numpy as np
import pytest

from simulators.simt.build import answer
from simulators.simt.exchange import Request
from simulators.simt.records import Bundle, Source, Variant
from simulators.simt.tool import plain_run
from tests.simulators.simt.launching import launch, needs_clang
from toolchains.gpu_compile.hipify import hipify

pytestmark = needs_clang

KERNELS = {
    "scan": """
extern "C" __global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
  for (int d = 1; d < 32; d <<= 1) {
    int u = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += u;
  }
  __shared__ int sums[32];
  if (lane == 31) sums[threadIdx.x >> 5] = v;
  __syncthreads();
  for (int w = 0; w < threadIdx.x >> 5; ++w) v += sums[w];
  y[i] = v;
}""",
    "reduce": """
#define FULL_MASK 0xffffffff
extern "C" __global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL_MASK, v, d);
  y[i] = __shfl_sync(FULL_MASK, v, 0) * 100 + __shfl_xor_sync(FULL_MASK, v, 5) % 100;
}""",
    "votes": """
extern "C" __global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  unsigned odd = __ballot_sync(0xffffffff, x[i] & 1), all = __activemask();
  int before = __popc(odd & ((1u << lane) - 1));
  y[i] = before + 100 * __any_sync(0xffffffff, x[i] > 38) + 200 * __all_sync(~0u, x[i] > 1)
       + 1000 * __popc(all) + __popc(__match_any_sync(0xffffffff, x[i] / 9)) * 10000;
}""",
    "one warp of two": """
extern "C" __global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  if (threadIdx.x / 32 % 2 == 1) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    v += __popc(__ballot_sync(0xffffffff, v > 3));
  }
  y[i] = v;
}""",
    "partial masks": """
extern "C" __global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
  unsigned mask = lane < 8 ? 0xffu : 0xffffff00u;
  if (lane < 8) v = __shfl_sync(mask, v, 3) + __popc(__ballot_sync(mask, v & 1));
  else v = __shfl_sync(mask, v, 9);
  __syncwarp();
  y[i] = v;
}""",
}


def result(code: str, dialect: str, warp: int, block: int) -> np.ndarray:
    """Of three blocks on the emulator, by whichever engine takes it."""
    x = np.random.default_rng(7).integers(0, 40, 3 * block).astype(np.int32)
    y = np.zeros_like(x)
    source = Source(code, "k.cu", dialect, warp)
    made = answer(Request(source, Variant("k", (block, 1, 1)), "auto"), plain_run)
    assert isinstance(made, Bundle), made
    launch(made, (3, 1, 1), (x, y))
    return y


@pytest.mark.parametrize("name", KERNELS)
def test_wavefronts_give_what_warps_give(name: str) -> None:
    # The last block's last wavefront is half empty.
    check(name, 64, 96)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("wavefront", "block"), [(64, 256), (32, 96)])
def test_other_sizes_give_it_too(name: str, wavefront: int, block: int) -> None:
    check(name, wavefront, block)


def check(name: str, wavefront: int, block: int) -> None:
    wanted = result(KERNELS[name], "cuda", 32, block)
    assert len(set(wanted.tolist())) > 1

    found = result(hipify(KERNELS[name], wavefront).text, "hip", wavefront, block)

    np.testing.assert_array_equal(found, wanted)
