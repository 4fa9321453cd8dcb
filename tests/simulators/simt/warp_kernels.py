"""Kernels with everything that threads can wait for, and what NumPy says they give.

All have the same parameters, `(const int *in, int *out, int n)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]

CODE = r"""
#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, int n)
#define HERE int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; (void)t; (void)i
#define FULL 0xffffffffu

__device__ int counter_global = 5;
__constant__ int table[4] = {1, 10, 100, 1000};

KERNEL(shuffle_index) { HERE; out[i] = __shfl_sync(FULL, in[i], (t * 7) & 31); }
KERNEL(shuffle_width) {
    HERE; out[i] = __shfl_up_sync(FULL, in[i], 3, 8) + __shfl_down_sync(FULL, in[i], 5, 16);
}
KERNEL(shuffle_xor) {
    HERE; int v = in[i];
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(FULL, v, d);
    out[i] = v;
}
KERNEL(shuffle_variable) { HERE; out[i] = __shfl_down_sync(FULL, in[i], in[i] & 3); }
KERNEL(shuffle_long) {
    HERE; long long v = (long long)in[i] << 33 | t;
    v = __shfl_xor_sync(FULL, v, 1); out[i] = (int)(v >> 33) + (int)(v & 31);
}
KERNEL(shuffle_double) {
    HERE; double v = in[i] * 0.5; out[i] = (int)(2 * __shfl_up_sync(FULL, v, 1));
}
KERNEL(ballot) { HERE; out[i] = (int)__ballot_sync(FULL, in[i] & 1); }
KERNEL(votes) {
    HERE; int v = in[i];
    out[i] = __any_sync(FULL, v == 3) | __all_sync(FULL, v >= 0) << 1
           | __any_sync(FULL, v > 1000000) << 2;
}
KERNEL(match) { HERE; out[i] = (int)__match_any_sync(FULL, in[i] & 3); }
KERNEL(reduce) {
    HERE; out[i] = __reduce_add_sync(FULL, in[i]) - __reduce_min_sync(FULL, in[i] - 5);
}
KERNEL(partial_mask) {
    HERE; int v = 0;
    if ((t & 31) < 16) v = __shfl_xor_sync(0xffffu, in[i], 1);
    else v = -__shfl_xor_sync(0xffff0000u, in[i], 2);
    __syncwarp();
    out[i] = v + __shfl_sync(FULL, v, 0);
}
KERNEL(mixed_widths) {
    HERE; int v;
    if ((t & 31) < 16) {
        long long wide = (long long)in[i] << 33 | t;
        v = (int)(__shfl_xor_sync(0xffffu, wide, 1) >> 33);
    } else
        v = __shfl_xor_sync(0xffff0000u, in[i], 2);
    out[i] = v;
}
KERNEL(mask_of_ballot) {
    HERE; int v = in[i];
    unsigned mask = __ballot_sync(FULL, v & 1);
    if (v & 1) { for (int d = 1; d < 32; d *= 2) v += __shfl_xor_sync(mask, v, 0); out[i] = v; }
    else out[i] = 0;
}
KERNEL(active) { HERE; int a = 0; if (in[i] & 1) a = (int)__activemask(); out[i] = a; }
KERNEL(sync_count) {
    HERE; int v = in[i];
    out[i] = __syncthreads_count(v & 1) * 4 + (__syncthreads_or(v == 1) ? 1 : 0)
           + (__syncthreads_and(v >= 0) ? 2 : 0);
}
KERNEL(early_exit) {
    __shared__ int s[1024]; HERE; s[t] = 0;
    __syncthreads();
    if (i >= n - 70) return;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t ^ 1];
}
KERNEL(early_exit_first) {
    HERE; if (i >= n - 70) return;
    __syncthreads();
    out[i] = in[i] + __shfl_xor_sync(FULL, in[i], 0);
}
KERNEL(barrier_loop) {
    __shared__ int s[1024]; HERE;
    s[t] = in[i];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    out[i] = s[t];
}
__device__ __noinline__ int block_sum(int v, int *s) {
    int t = threadIdx.x;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(FULL, v, d);
    if ((t & 31) == 0) s[t / 32] = v;
    __syncthreads();
    int total = 0;
    for (int w = 0; w < (blockDim.x + 31) / 32; w++) total += s[w];
    __syncthreads();
    return total;
}
KERNEL(in_function) { __shared__ int s[32]; HERE; out[i] = block_sum(in[i], s) + block_sum(1, s); }
KERNEL(local_array) {
    HERE; int a[8];
    for (int k = 0; k < 8; k++) a[k] = in[i] + k;
    __syncthreads();
    for (int k = 0; k < 8; k++) a[(k + in[i]) & 7] ^= k;
    __syncwarp();
    int v = 0;
    for (int k = 0; k < 8; k++) v = v * 3 + a[(k * 5 + t) & 7];
    out[i] = v;
}
KERNEL(local_array_private) {
    HERE; int a[8];
    for (int k = 0; k < 8; k++) a[k] = in[i] * k;
    out[i] = a[in[i] & 7] + a[t & 7];
}
KERNEL(dynamic) {
    extern __shared__ int d[]; __shared__ int s[3]; HERE;
    if (t < 3) s[t] = t + 1;
    d[t] = in[i];
    __syncthreads();
    out[i] = d[blockDim.x - 1 - t] * s[t % 3];
}
KERNEL(atomics) {
    __shared__ int s[4]; HERE;
    if (t < 4) s[t] = 0;
    __syncthreads();
    atomicAdd(&s[in[i] & 3], 1);
    __syncthreads();
    out[i] = s[in[i] & 3];
}
KERNEL(globals) { HERE; out[i] = table[in[i] & 3] + counter_global; }
KERNEL(warp_branch) {
    HERE; int v = in[i];
    if ((t / 32) & 1) v = __shfl_up_sync(FULL, v, 1);
    else v = __shfl_down_sync(FULL, v, 1);
    __syncthreads();
    out[i] = v;
}
KERNEL(spin_in_block) {
    __shared__ volatile int flag; HERE;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 0) { while (flag == 0) {} out[i] = flag; }
    else { if (t == blockDim.x - 1) flag = 42; out[i] = 1; }
}
KERNEL(spin_atomic) {
    __shared__ int flag; HERE;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == blockDim.x - 1) { while (atomicAdd(&flag, 0) < 3) {} out[i] = 7; }
    else { if (t < 3) atomicAdd(&flag, 1); out[i] = 1; }
}
KERNEL(lock) {
    __shared__ int held, count; HERE;
    if (t == 0) held = count = 0;
    __syncthreads();
    if ((t & 31) == 0) {
        while (atomicCAS(&held, 0, 1) != 0) {}
        count = count + 1;
        __threadfence_block();
        atomicExch(&held, 0);
    }
    __syncthreads();
    out[i] = count;
}
KERNEL(retry) {
    __shared__ unsigned s; HERE;
    if (t == 0) s = 0;
    __syncthreads();
    unsigned seen = s, before;
    do { before = seen; seen = atomicCAS(&s, before, before * 3 + 1); } while (seen != before);
    __syncthreads();
    out[i] = (int)s;
}
KERNEL(vote_loop) {
    HERE; int v = in[i] & 7, turns = 0;
    while (__any_sync(FULL, v > 0)) { if (v > 0) v--; turns++; }
    out[i] = turns;
}
KERNEL(uneven) {
    HERE; int turns = 0;
    for (int k = 0; k < (in[i] & 3); k++) { turns += k + 1; __syncwarp(1u << (t & 31)); }
    __syncthreads();
    out[i] = turns;
}
KERNEL(predicates) {
    HERE; bool odd = in[i] & 1; bool big = in[i] > 5;
    __syncthreads();
    unsigned b = __ballot_sync(FULL, odd && big);
    out[i] = (odd ? 1 : 0) + (big ? 2 : 0) + __popc(b) * 4;
}
KERNEL(vectors) {
    HERE; int4 v = make_int4(in[i], t, in[i] + t, 1);
    __syncthreads();
    ((int *)out)[i] = v.x + v.y * 2 + v.z * 3 + __shfl_xor_sync(FULL, v.w, 1);
}
"""


def expected(name: str, x: Ints, block: int) -> Ints:
    """What a kernel gives for blocks of that many threads, a multiple of 32; x: 0 or larger."""
    result = _EXPECTED[name](x, block)
    return np.asarray(result).astype(np.int32).reshape(-1)


def _warps(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(x).reshape(-1, 32)


def _taken(x: Ints, lanes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.take_along_axis(_warps(x), np.broadcast_to(lanes, _warps(x).shape), axis=1)


_LANE = np.arange(32)


def _bits(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Each warp's lanes as bits, for all lanes."""
    bits = (_warps(chosen.astype(np.int64)) << _LANE).sum(axis=1, keepdims=True)
    return np.repeat(bits, 32, axis=1).astype(np.uint32).view(np.int32)


def _width(x: Ints, _: int) -> npt.NDArray[Any]:
    up = np.where(_LANE % 8 >= 3, _LANE - 3, _LANE)
    down = np.where(_LANE % 16 + 5 < 16, _LANE + 5, _LANE)
    return np.asarray(_taken(x, up) + _taken(x, down))


def _variable(x: Ints, _: int) -> npt.NDArray[Any]:
    from_ = _LANE + (_warps(x) & 3)
    return _taken(x, np.where(from_ < 32, from_, _LANE))


def _votes(x: Ints, _: int) -> npt.NDArray[Any]:
    return np.repeat((_warps(x) == 3).any(axis=1, keepdims=True) + 2, 32, axis=1)


def _match(x: Ints, _: int) -> npt.NDArray[Any]:
    same = (_warps(x)[:, :, None] & 3) == (_warps(x)[:, None, :] & 3)
    return np.asarray((same.astype(np.int64) << _LANE).sum(axis=2).astype(np.uint32).view(np.int32))


def _reduce(x: Ints, _: int) -> npt.NDArray[Any]:
    sums, least = _warps(x).sum(axis=1), _warps(x).min(axis=1) - 5
    return np.repeat(sums - least, 32)


def _partial(x: Ints, _: int) -> npt.NDArray[Any]:
    v = np.where(_LANE < 16, _taken(x, _LANE ^ 1), -_taken(x, _LANE ^ 2))
    return v + v[:, :1]


def _odd_times(x: Ints, _: int) -> npt.NDArray[Any]:
    return np.where(x & 1, x * 32, 0)


def _count(x: Ints, block: int) -> npt.NDArray[Any]:
    blocks = x.reshape(-1, block)
    counts = (blocks & 1).sum(axis=1) * 4 + (blocks == 1).any(axis=1) + 2
    return np.repeat(counts, block)


def _early(x: Ints, block: int) -> npt.NDArray[Any]:
    there = np.arange(x.size) < x.size - 70
    other = np.where(there, x, 0)[np.arange(x.size) ^ 1]
    return np.where(there, other, 0)


def _sums(x: Ints, block: int) -> npt.NDArray[Any]:
    return np.repeat(x.reshape(-1, block).sum(axis=1), block) + block


def _array(x: Ints, block: int) -> npt.NDArray[Any]:
    a = x[:, None] + np.arange(8)
    rows = np.arange(x.size)
    for k in range(8):
        a[rows, (k + x) & 7] ^= k
    v = np.zeros_like(x)
    t = np.tile(np.arange(block), x.size // block)
    for k in range(8):
        v = v * 3 + a[rows, (k * 5 + t) & 7]
    return v


def _private(x: Ints, block: int) -> npt.NDArray[Any]:
    t = np.tile(np.arange(block), x.size // block)
    return x * (x & 7) + x * (t & 7)


def _dynamic(x: Ints, block: int) -> npt.NDArray[Any]:
    return x.reshape(-1, block)[:, ::-1] * (np.arange(block) % 3 + 1)


def _histogram(x: Ints, block: int) -> npt.NDArray[Any]:
    blocks = x.reshape(-1, block) & 3
    return np.stack([np.bincount(row, minlength=4)[row] for row in blocks])


def _branch(x: Ints, block: int) -> npt.NDArray[Any]:
    up, down = np.maximum(_LANE - 1, 0), np.minimum(_LANE + 1, 31)
    odd = np.arange(x.size // 32)[:, None] % (block // 32) % 2 == 1
    return np.where(odd, _taken(x, up), _taken(x, down))


def _spin(x: Ints, block: int) -> npt.NDArray[Any]:
    return np.where(np.arange(x.size) % block == 0, 42, 1)


def _spin_atomic(x: Ints, block: int) -> npt.NDArray[Any]:
    return np.where(np.arange(x.size) % block == block - 1, 7, 1)


def _retried(x: Ints, block: int) -> npt.NDArray[Any]:
    value = 0
    for _ in range(block):
        value = (value * 3 + 1) % 2**32
    return np.full(x.size, value, np.int64).astype(np.uint32).view(np.int32)


def _predicates(x: Ints, _: int) -> npt.NDArray[Any]:
    both = _warps((x & 1).astype(bool) & (x > 5)).sum(axis=1, keepdims=True)
    return np.asarray(_warps((x & 1) + 2 * (x > 5)) + 4 * both)


def _vectors(x: Ints, block: int) -> npt.NDArray[Any]:
    t = np.tile(np.arange(block), x.size // block)
    return x + 2 * t + 3 * (x + t) + 1


_EXPECTED: dict[str, Callable[[Ints, int], npt.NDArray[Any]]] = {
    "shuffle_index": lambda x, _: _taken(x, _LANE * 7 & 31),
    "shuffle_width": _width,
    "shuffle_xor": lambda x, _: np.repeat(_warps(x).sum(axis=1), 32),
    "shuffle_variable": _variable,
    "shuffle_long": lambda x, _: _taken(x, _LANE ^ 1) + (_LANE ^ 1),
    "shuffle_double": lambda x, _: _taken(x, np.maximum(_LANE - 1, 0)),
    "ballot": lambda x, _: _bits((x & 1).astype(bool)),
    "votes": _votes,
    "match": _match,
    "reduce": _reduce,
    "partial_mask": _partial,
    "mixed_widths": lambda x, _: np.where(_LANE < 16, _taken(x, _LANE ^ 1), _taken(x, _LANE ^ 2)),
    "mask_of_ballot": _odd_times,
    "active": lambda x, _: np.where(_warps(x) & 1, _bits((x & 1).astype(bool)), 0),
    "sync_count": _count,
    "early_exit": _early,
    "early_exit_first": lambda x, _: np.where(np.arange(x.size) < x.size - 70, 2 * x, 0),
    "barrier_loop": lambda x, block: np.cumsum(x.reshape(-1, block), axis=1),
    "in_function": _sums,
    "local_array": _array,
    "local_array_private": _private,
    "dynamic": _dynamic,
    "atomics": _histogram,
    "globals": lambda x, _: np.array([1, 10, 100, 1000])[x & 3] + 5,
    "warp_branch": _branch,
    "spin_in_block": _spin,
    "spin_atomic": _spin_atomic,
    "lock": lambda x, block: np.full(x.size, block // 32),
    "retry": _retried,
    "vote_loop": lambda x, _: np.repeat((_warps(x) & 7).max(axis=1), 32),
    "uneven": lambda x, _: (x & 3) * ((x & 3) + 1) // 2,
    "predicates": _predicates,
    "vectors": _vectors,
}
NAMES = tuple(_EXPECTED)
