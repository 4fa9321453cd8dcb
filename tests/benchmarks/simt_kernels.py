"""Kernels of our own that stand for what SZ compressors do on GPUs, and their results in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

PLAIN = """
__global__ void lorenzo1(const float *x, int *q, int n, float inverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int here = (int)rintf(x[i] * inverse);
        int before = i ? (int)rintf(x[i - 1] * inverse) : 0;
        q[i] = here - before;
    }
}
"""
BARRIER = """
__global__ void lorenzo1_shared(const float *x, int *q, int n, float inverse) {
    __shared__ int tile[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int here = i < n ? (int)rintf(x[i] * inverse) : 0;
    tile[t + 1] = here;
    if (t == 0) tile[0] = i ? (int)rintf(x[i - 1] * inverse) : 0;
    __syncthreads();
    if (i < n) q[i] = here - tile[t];
}
"""
TILE = """
__global__ void lorenzo3(const float *x, int *q, int nx, int ny, int nz, float inverse) {
    __shared__ int tile[9][9][9];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int ix = blockIdx.x * 8 + tx, iy = blockIdx.y * 8 + ty, iz = blockIdx.z * 8 + tz;
    bool x0 = tx == 0, y0 = ty == 0, z0 = tz == 0;
    if (x0) tile[tz + 1][ty + 1][0] = 0;
    if (y0) tile[tz + 1][0][tx + 1] = 0;
    if (z0) tile[0][ty + 1][tx + 1] = 0;
    if (x0 && y0) tile[tz + 1][0][0] = 0;
    if (x0 && z0) tile[0][ty + 1][0] = 0;
    if (y0 && z0) tile[0][0][tx + 1] = 0;
    if (x0 && y0 && z0) tile[0][0][0] = 0;
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    tile[tz + 1][ty + 1][tx + 1] = (int)rintf(x[i] * inverse);
    __syncthreads();
#define AT(c, b, a) tile[tz + c][ty + b][tx + a]
    q[i] = AT(1, 1, 1) - AT(1, 1, 0) - AT(1, 0, 1) - AT(0, 1, 1) + AT(1, 0, 0) + AT(0, 1, 0)
         + AT(0, 0, 1) - AT(0, 0, 0);
}
"""
WARP = """
__global__ void warp_scan(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int sum = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += other;
    }
    if (i < n) out[i] = sum;
}
"""
LOOKBACK = """
// Tiles of 4 x 256 values; a tile's state is a flag (1: its sum, 2: the sum of all up to it) above
// 32 bits of value.
__global__ void scan(const int *x, int *out, int n, volatile unsigned long long *state) {
    __shared__ int sums[8];
    __shared__ int before;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, b = blockIdx.x;
    int first = (b * 256 + t) * 4, own[4], sum = 0;
    for (int k = 0; k < 4; k++) {
        own[k] = first + k < n ? x[first + k] : 0;
        sum += own[k];
    }
    int inclusive = sum;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, inclusive, d);
        if (lane >= d) inclusive += other;
    }
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        int mine = lane < 8 ? sums[lane] : 0;
        for (int d = 1; d < 8; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, mine, d);
            if (lane >= d) mine += other;
        }
        if (lane < 8) sums[lane] = mine;
    }
    __syncthreads();
    if (t == 0) {
        int total = sums[7], sofar = 0;
        if (b == 0) state[0] = 2ull << 32 | (unsigned)total;
        else {
            state[b] = 1ull << 32 | (unsigned)total;
            for (int p = b - 1; p >= 0; p--) {
                unsigned long long seen;
                do seen = state[p]; while (seen >> 32 == 0);
                sofar += (int)(unsigned)seen;
                if (seen >> 32 == 2) break;
            }
            state[b] = 2ull << 32 | (unsigned)(sofar + total);
        }
        before = sofar;
    }
    __syncthreads();
    int base = before + (warp ? sums[warp - 1] : 0) + inclusive - sum;
    for (int k = 0; k < 4; k++) {
        base += own[k];
        if (first + k < n) out[first + k] = base;
    }
}
"""


def quantised(x: Floats, inverse: float) -> Ints:
    """As the kernels do it, in float32."""
    return np.asarray(np.rint(x * np.float32(inverse)), np.int32)


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and what it must give."""

    name: str
    code: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    arguments: tuple[Any, ...]
    """Arrays are passed as pointers; NumPy scalars by value."""
    output: Ints
    """One of the arguments."""
    cleared: tuple[npt.NDArray[Any], ...]
    """Arguments that are zeros before a launch."""
    expected: Ints


def cases(side: int, seed: int = 0) -> list[Case]:
    """All of them on side³ values; side: a multiple of 8, side³ one of 1024."""
    made: tuple[Callable[[Floats], Case], ...] = (_plain, _barrier, _tile, _warp, _lookback)
    walk = np.cumsum(np.random.default_rng(seed).normal(size=side**3)).astype(np.float32)
    return [make(walk) for make in made]


def _plain(x: Floats) -> Case:
    return _lorenzo(x, "1-D", PLAIN)


def _barrier(x: Floats) -> Case:
    return _lorenzo(x, "1-D, shared memory and barrier", BARRIER)


def _lorenzo(x: Floats, name: str, code: str) -> Case:
    q = np.zeros(x.size, np.int32)
    expected = np.diff(quantised(x, 10), prepend=np.int32(0))
    arguments = (x, q, np.int32(x.size), np.float32(10))
    return Case(name, code, (256, 1, 1), (x.size // 256, 1, 1), arguments, q, (q,), expected)


def _tile(x: Floats) -> Case:
    side = round(x.size ** (1 / 3))
    q = np.zeros(x.size, np.int32)
    tiles = side // 8
    expected = quantised(x, 10).reshape((tiles, 8) * 3)
    for axis in (1, 3, 5):
        expected = np.diff(expected, axis=axis, prepend=np.int32(0))
    count = np.int32(side)
    arguments = (x, q, count, count, count, np.float32(10))
    grid = (tiles, tiles, tiles)
    return Case("3-D tile", TILE, (8, 8, 8), grid, arguments, q, (q,), expected.reshape(-1))


def _warp(x: Floats) -> Case:
    values = quantised(x, 1)
    out = np.zeros(x.size, np.int32)
    expected = np.cumsum(values.reshape(-1, 32), axis=1, dtype=np.int32).reshape(-1)
    arguments = (values, out, np.int32(x.size))
    grid = (x.size // 256, 1, 1)
    return Case("warp scan", WARP, (256, 1, 1), grid, arguments, out, (out,), expected)


def _lookback(x: Floats) -> Case:
    values = quantised(x, 1)
    out = np.zeros(x.size, np.int32)
    state = np.zeros(x.size // 1024, np.uint64)
    expected = np.cumsum(values, dtype=np.int32)
    arguments = (values, out, np.int32(x.size), state)
    grid = (x.size // 1024, 1, 1)
    name = "block scan with look-back"
    return Case(name, LOOKBACK, (256, 1, 1), grid, arguments, out, (out, state), expected)
