from __future__ import annotations

import re

import numpy as np
import pytest

from tests.simulators.simt.launching import fronted, launch, looped, needs_clang, refusal
from toolchains.child.shims.simt.errors import SimtError, StoppedError, SyncError, TrapError

pytestmark = needs_clang

CODE = r"""
#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, int n)
KERNEL(divergent_barriers) {
    int t = threadIdx.x;
    if (t < 20) { out[t] = 1;
        __syncthreads(); }
    else {
        __syncthreads(); out[t] = 2; }
}
KERNEL(lone_shuffle) {
    int t = threadIdx.x, v = in[t];
    if (t < 20)
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    else { __syncthreads(); v++; }
    __syncthreads(); out[t] = v;
}
KERNEL(foreign_mask) {
    int t = threadIdx.x;
    out[t] = __shfl_xor_sync(0xfffffffeu, in[t], 1);
}
KERNEL(different_masks) {
    int t = threadIdx.x;
    unsigned mask = t < 16 ? 0xffffffffu : 0xffff0000u;
    out[t] = __shfl_xor_sync(mask, in[t], 1);
}
KERNEL(trapping) {
    int t = threadIdx.x;
    if (in[t] == 37)
        __trap();
    __syncthreads(); out[t] = 1;
}
KERNEL(endless_spin) {
    volatile int *flag = out;
    while (flag[0] == 0) { }
    out[1] = 1;
}
KERNEL(endless_barrier) {
    for (;;) { __syncthreads(); if (*(volatile int *)out) break; }
}
KERNEL(endless_spin_before_barrier) {
    volatile int *flag = out;
    if (threadIdx.x == 3) while (flag[0] == 0) { }
    __syncthreads();
    out[1] = 1;
}
"""


def _fails(name: str, threads: int = 64, deadline_s: float = 20.0) -> SimtError:
    x, out = np.arange(threads, dtype=np.int32), np.zeros(threads, np.int32)
    bundle = looped(fronted(CODE), name, (threads, 1, 1))
    with pytest.raises(SimtError) as caught:
        launch(bundle, (2, 1, 1), (x, out, np.int32(threads)), deadline_s=deadline_s)
    return caught.value


def _line_in(name: str, text: str) -> int:
    """Of the first such text in a kernel."""
    start = CODE.index(f"KERNEL({name})")
    return CODE[: CODE.index(text, start)].count("\n") + 1


def test_barriers_of_different_lines_are_an_error_that_names_both() -> None:
    error = _fails("divergent_barriers")
    first = _line_in("divergent_barriers", "__syncthreads(); }\n    else")
    assert isinstance(error, SyncError)
    assert error.place.line == first
    assert f"at line {first + 2}" in error.text
    assert error.place.thread == (0, 0, 0)


def test_a_shuffle_that_waits_for_lanes_at_a_barrier_is_an_error_with_both_lines() -> None:
    error = _fails("lone_shuffle")
    assert isinstance(error, SyncError)
    assert error.place.line == _line_in("lone_shuffle", "__shfl_xor_sync")
    assert re.search(r"thread \(20, 0, 0\), which waits at line \d+", error.text)


def test_a_mask_without_the_caller_is_an_error() -> None:
    error = _fails("foreign_mask")
    assert isinstance(error, SyncError)
    assert error.place.line == _line_in("foreign_mask", "__shfl_xor_sync")


def test_masks_that_disagree_are_an_error() -> None:
    error = _fails("different_masks")
    assert isinstance(error, SyncError)
    assert error.place.line == _line_in("different_masks", "__shfl_xor_sync")


def test_a_trap_is_an_error_with_block_and_thread() -> None:
    error = _fails("trapping")
    assert isinstance(error, TrapError)
    assert error.place.line == _line_in("trapping", "__trap()")
    assert error.place.thread == (37, 0, 0)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("endless_spin", "while"),
        ("endless_barrier", "__syncthreads"),
        ("endless_spin_before_barrier", "while"),
    ],
)
def test_what_waits_for_ever_is_stopped_and_says_where(name: str, line: str) -> None:
    error = _fails(name, deadline_s=0.2)
    assert isinstance(error, StoppedError)
    assert error.place.line == _line_in(name, line)


REFUSED = r"""
#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, int n)
typedef int (*function)(int);
__device__ __noinline__ int fibonacci(int v) {
    return v < 2 ? v : fibonacci(v - 1) + fibonacci(v - 2);
}
extern "C" __device__ int unknown(int v);
KERNEL(pointer) { out[threadIdx.x] = ((function)(size_t)in[0])(in[1]); }
KERNEL(recursive) { out[threadIdx.x] = fibonacci(in[threadIdx.x]); }
KERNEL(missing) { out[threadIdx.x] = unknown(in[threadIdx.x]); }
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pointer", "function pointer"),
        ("recursive", "recursion"),
        ("missing", "unknown"),
    ],
)
def test_what_the_pass_does_not_do_is_refused_with_reason_and_line(name: str, reason: str) -> None:
    refused = refusal(fronted(REFUSED), name)
    assert reason in refused.reason
    assert refused.line > 0
