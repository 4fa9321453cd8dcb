from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from simulators.simt.fibers import compile_kernel
from simulators.simt.records import Bundle, Source, Unsupported, Variant
from simulators.simt.tool import plain_run
from tests.simulators.simt.launching import fronted, launch, looped, needs_clang, symbol
from tests.simulators.simt.warp_kernels import CODE, NAMES, expected
from toolchains.child.shims.simt.errors import SimtError, StoppedError, SyncError, TrapError

pytestmark = needs_clang
BLOCK, BLOCKS = 128, 5


@cache
def fibred(
    code: str,
    name: str,
    block: tuple[int, int, int],
    descending: bool = False,
    dialect: str = "cuda",
    warp: int = 32,
) -> Bundle:
    """A kernel as fibers; a failure if they refuse."""
    made = fronted(code, warp, dialect)
    source = Source(code, "kernel.cu", dialect, warp)
    variant = Variant(symbol(made, name), block, descending)
    done = compile_kernel(source, made.info, variant, plain_run)
    assert isinstance(done, Bundle), done
    return done


def result_of(code: str, name: str, size: int, block: tuple[int, int, int] = (32, 1, 1)) -> Any:
    """What one block writes to an array of ints that starts as 0, 1, 2, …"""
    out = np.arange(size, dtype=np.int32)
    launch(fibred(code, name, block), (1, 1, 1), (out,))
    return out


@pytest.mark.parametrize("name", NAMES[::8])
def test_a_kernel_gives_what_numpy_says_in_either_order_and_with_two_workers(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for n, name in enumerate(NAMES) if n % 8])
def test_other_kernels_give_what_numpy_says(name: str) -> None:
    check(name)


def check(name: str) -> None:
    x = np.random.default_rng(1).integers(0, 40, BLOCK * BLOCKS).astype(np.int32)
    wanted = expected(name, x, BLOCK)
    for descending in (False, True):
        bundle = fibred(CODE, name, (BLOCK, 1, 1), descending)
        for workers in (1, 2):
            out = np.zeros_like(x)
            arguments = (x, out, np.int32(x.size))
            launch(bundle, (BLOCKS, 1, 1), arguments, workers=workers, shared=4 * BLOCK)
            np.testing.assert_array_equal(out, wanted)


MORE = r"""
#define KERNEL(name) extern "C" __global__ void name(int *p)
struct Three { float x, y, z; }; struct Six { double d[6]; };
__device__ int total; __constant__ int table[3] = {7, 8, 9};
extern "C" __global__ void structs(int *p, Three a, Six b, bool c, short d, Three e) {
    b.d[0] += threadIdx.x;
    p[threadIdx.x] = (int)(a.x + 10 * a.y + 100 * a.z + b.d[0] + b.d[5] + c * 1000 + d + e.z);
}
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL(recursion) { p[threadIdx.x] = fibonacci(threadIdx.x & 15); }
KERNEL(large_frames) {
    int own[6000]; int t = threadIdx.x;
    for (int k = 0; k < 6000; k++) own[(k * 7) % 6000] = k + t;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 6000; k += 100) sum += own[k];
    p[t] = sum;
}
__device__ __noinline__ void helper(int *s) {
    __syncthreads(); s[threadIdx.x] += s[threadIdx.x ^ 1]; __syncthreads();
}
KERNEL(barrier_in_helper) {
    __shared__ int s[64]; int t = threadIdx.x;
    s[t] = p[t]; __syncthreads();
    int v = s[t ^ 1]; helper(s);
    p[t] = v;
}
KERNEL(spin_within_block) {
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 40) flag = 5;
    if (t == 1) while (flag == 0) { }
    __syncthreads();
    p[t] = flag;
}
KERNEL(lock) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            *(volatile int *)&sum = *(volatile int *)&sum + 1;
            __threadfence(); atomicExch(&lock, 0); done = true;
        }
    }
    __syncthreads();
    p[threadIdx.x] = sum;
}
KERNEL(globals) {
    atomicAdd(&total, table[threadIdx.x % 3]); __syncthreads(); p[threadIdx.x] = total;
}
KERNEL(shape) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    p[x + 3 * (y + 5 * z)] = x + 10 * y + 100 * z;
}
KERNEL(exited_lanes) {
    int t = threadIdx.x;
    if (t >= 20) return;
    p[t] = __shfl_sync(~0u, p[t], 19) + __popc(__ballot_sync(~0u, 1));
}
"""


def test_structs_are_given_by_value_and_may_be_changed() -> None:
    out = np.zeros(32, np.int32)
    three = np.array([1, 2, 3], np.float32)
    six = np.array([1, 2, 3, 4, 5, 6], np.float64)
    given = (three, six, np.bool_(True), np.int16(-4), three)
    values = [out, *(np.void(one.tobytes()) for one in given)]
    launch(fibred(MORE, "structs", (32, 1, 1)), (1, 1, 1), values)
    np.testing.assert_array_equal(out, 321 + 1 + np.arange(32) + 6 + 1000 - 4 + 3)


def test_functions_may_call_themselves() -> None:
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]
    np.testing.assert_array_equal(result_of(MORE, "recursion", 32), fibonacci * 2)


def test_stacks_are_as_large_as_the_frames() -> None:
    t, k = np.arange(64), np.arange(6000)
    own = np.empty(6000, int)
    own[k * 7 % 6000] = k
    out = result_of(MORE, "large_frames", 64, (64, 1, 1))
    np.testing.assert_array_equal(out, own[::100].sum() + 60 * t)


def test_a_function_that_is_not_inlined_may_wait() -> None:
    out = result_of(MORE, "barrier_in_helper", 64, (64, 1, 1))
    np.testing.assert_array_equal(out, np.arange(64) ^ 1)


def test_a_thread_may_spin_on_what_another_of_its_block_writes() -> None:
    np.testing.assert_array_equal(result_of(MORE, "spin_within_block", 64, (64, 1, 1)), [5] * 64)


def test_a_lock_of_a_warp_is_taken_in_turns() -> None:
    np.testing.assert_array_equal(result_of(MORE, "lock", 96, (96, 1, 1)), [96] * 96)


def test_globals_and_constants_are_the_modules() -> None:
    np.testing.assert_array_equal(result_of(MORE, "globals", 96, (96, 1, 1)), [32 * 24] * 96)


def test_blocks_may_have_any_shape() -> None:
    out = result_of(MORE, "shape", 105, (3, 5, 7))
    z, y, x = np.indices((7, 5, 3))
    np.testing.assert_array_equal(out, (x + 10 * y + 100 * z).ravel())


def test_lanes_that_exited_are_not_waited_for() -> None:
    np.testing.assert_array_equal(result_of(MORE, "exited_lanes", 32)[:20], [19 + 20] * 20)


FAILING = r"""
#define KERNEL(name) extern "C" __global__ void name(int *p)
KERNEL(divergent) {
    if (threadIdx.x < 20)
        __syncthreads();
    else
        __syncthreads();
}
KERNEL(lone) {
    if (threadIdx.x < 20)
        p[0] = __shfl_xor_sync(0xffffffffu, p[1], 1);
    __syncthreads();
}
KERNEL(foreign) {
    p[threadIdx.x] = __shfl_xor_sync(0xfffffffeu, p[0], 1);
}
KERNEL(masks) {
    p[threadIdx.x] = __shfl_xor_sync(threadIdx.x < 16 ? ~0u : 0xffff0000u, p[0], 1);
}
KERNEL(trapping) {
    if (threadIdx.x == 7)
        __trap();
}
KERNEL(claimed) {
    assert(threadIdx.x < 9);
}
KERNEL(endless) {
    while (*(volatile int *)p == 0) { }
}
"""


def line_in(name: str, text: str) -> int:
    """Of the first such text in a kernel."""
    start = FAILING.index(f"KERNEL({name})")
    return FAILING[: FAILING.index(text, start)].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("divergent", SyncError, "__syncthreads"),
        ("lone", SyncError, "__shfl_xor_sync"),
        ("foreign", SyncError, "__shfl_xor_sync"),
        ("masks", SyncError, "__shfl_xor_sync"),
        ("trapping", TrapError, "__trap"),
        ("claimed", TrapError, "assert"),
    ],
)
def test_what_goes_wrong_is_an_error_with_its_line(
    name: str, error: type[SimtError], text: str
) -> None:
    with pytest.raises(error) as caught:
        result_of(FAILING, name, 32)
    assert caught.value.place.line == line_in(name, text)


def test_an_endless_spin_ends_at_the_deadline() -> None:
    out = np.zeros(32, np.int32)
    with pytest.raises(StoppedError) as caught:
        launch(fibred(FAILING, "endless", (32, 1, 1)), (1, 1, 1), (out,), deadline_s=0.2)
    assert caught.value.place.line == line_in("endless", "while")


def test_fibers_refuse_to_look_at_accesses() -> None:
    made = fronted(FAILING)
    variant = Variant("endless", (32, 1, 1), hooks="checked")
    source = Source(FAILING, "kernel.cu")
    assert isinstance(compile_kernel(source, made.info, variant, plain_run), Unsupported)


WAVE = r"""
#include <hip/hip_runtime.h>
extern "C" __global__ void wave(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    for (int d = 1; d < warpSize; d *= 2) {
        int o = __shfl_up(v, d);
        if ((threadIdx.x & (warpSize - 1)) >= d) v += o;
    }
    out[i] = v + (int)(__ballot(v & 1) >> 33);
}
"""


@pytest.mark.parametrize("warp", [32, 64])
def test_wavefronts_of_either_size_give_the_same_in_both_engines(warp: int) -> None:
    x = np.random.default_rng(2).integers(0, 9, 256).astype(np.int32)
    scans = np.cumsum(x.reshape(-1, warp), 1)
    odd = ((scans & 1) << np.arange(warp)[None, :].astype(np.int64)).sum(1, dtype=np.int64)
    high = odd.view(np.uint64) >> np.uint64(33)
    wanted = (scans + high[:, None].astype(np.int64)).astype(np.int32).ravel()
    made = fronted(WAVE, warp, "hip")
    both = (
        fibred(WAVE, "wave", (128, 1, 1), dialect="hip", warp=warp),
        looped(made, "wave", (128, 1, 1)),
    )
    for bundle in both:
        out = np.zeros_like(x)
        launch(bundle, (2, 1, 1), (x, out, np.int32(256)))
        np.testing.assert_array_equal(out, wanted)
