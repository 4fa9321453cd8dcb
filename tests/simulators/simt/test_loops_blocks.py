from __future__ import annotations

import numpy as np
import pytest

from simulators.simt.records import Front, KernelInfo, ModuleInfo, Param
from tests.simulators.simt.launching import (
    fronted,
    launch,
    loaded,
    looped,
    needs_clang,
    raw,
    symbol,
)  # fmt: skip
from toolchains.child.shims.simt.runtime import Launcher, LaunchError

pytestmark = needs_clang

CODE = r"""
struct Box { float scale; int add[3]; double last; };
struct Small { short a; char b; };
__device__ int total;
__device__ unsigned long long order[64];
__constant__ float weights[3];
extern "C" __global__ void reversed(const int *in, int *out) {
    extern __shared__ int s[];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int count = blockDim.x * blockDim.y * blockDim.z;
    int t = (z * blockDim.y + y) * blockDim.x + x;
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    s[t] = in[b * count + t];
    __syncthreads();
    out[b * count + t] = s[count - 1 - t] + 1000 * x + 100000 * y + 10000000 * z;
}
extern "C" __global__ void sums(const int *in, int *out) {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int v = in[t];
    for (int d = warpSize / 2; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    v = __shfl_sync(0xffffffffu, v, 0);
    out[t] = v + (__popc(__ballot_sync(0xffffffffu, in[t] > 0)) << 16);
}
extern "C" __global__ void structs(float *out, Box box, Small small, bool yes, double half) {
    int t = threadIdx.x;
    box.add[t % 3] += small.a;
    __syncthreads();
    out[t] = box.scale * t + box.add[t % 3] + box.last + small.b + yes + half + weights[t % 3];
}
extern "C" __global__ void counting(int n) { if (threadIdx.x < n) atomicAdd(&total, 1); }
extern "C" __global__ void ordered(int *next) {
    if (threadIdx.x == 0) order[blockIdx.x] = atomicAdd(next, 1);
}
"""
SHAPES = [
    ((1, 1, 1), (3, 1, 1)), ((7, 1, 1), (2, 2, 1)), ((33, 1, 1), (1, 2, 2)),
    ((100, 1, 1), (5, 1, 1)),
    ((5, 3, 2), (2, 1, 1)), ((16, 16, 1), (2, 1, 1)), ((3, 40, 1), (1, 1, 1)),
    ((8, 4, 8), (1, 2, 3)),
    ((1024, 1, 1), (2, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("block", "grid"), SHAPES)
def test_any_shape_of_block_and_grid_has_its_coordinates(
    block: tuple[int, int, int], grid: tuple[int, int, int]
) -> None:
    count, blocks = int(np.prod(block)), int(np.prod(grid))
    x = np.random.default_rng(2).integers(0, 1000, count * blocks).astype(np.int32)
    z, y, i = np.indices((block[2], block[1], block[0])).astype(np.int32)
    places = (1000 * i + 100000 * y + 10000000 * z).reshape(-1)
    wanted = (x.reshape(blocks, count)[:, ::-1] + places).reshape(-1)
    for descending in (False, True):
        out = np.zeros_like(x)
        bundle = looped(fronted(CODE), "reversed", block, descending=descending)
        launch(bundle, grid, (x, out), workers=2, shared=4 * count)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("block", [(20, 1, 1), (50, 1, 1), (5, 3, 7)])
def test_lanes_that_do_not_exist_are_not_waited_for(block: tuple[int, int, int]) -> None:
    count = int(np.prod(block))
    x = np.arange(1, count + 1, dtype=np.int32)
    padded = np.zeros(-(-count // 32) * 32, np.int64)
    padded[:count] = x
    wanted = np.empty(count, np.int64)
    for start in range(0, count, 32):
        lanes = range(min(32, count - start))
        values = [int(x[start + lane]) for lane in lanes]
        for d in (16, 8, 4, 2, 1):
            # A lane that reads from one that is not there keeps its own value.
            values = [v + values[k + d if k + d < len(values) else k] for k, v in enumerate(values)]
        wanted[start : start + 32] = values[0] + (len(values) << 16)
    out = np.zeros_like(x)
    launch(looped(fronted(CODE), "sums", block), (1, 1, 1), (x, out))
    np.testing.assert_array_equal(out, wanted)


def test_structs_are_passed_by_value_and_constants_come_from_the_host() -> None:
    kind = np.dtype([("scale", "f4"), ("add", "i4", 3), ("last", "f8")], align=True)
    box = np.zeros(1, kind)
    box["scale"], box["add"], box["last"] = 2.0, [10, 20, 30], 0.25
    small = np.zeros(1, np.dtype([("a", "i2"), ("b", "i1")], align=True))
    small["a"], small["b"] = 7, -3
    out = np.zeros(40, np.float32)
    kernel, module = loaded(looped(fronted(CODE), "structs", (40, 1, 1)))
    weights = np.array([0.5, 1.5, 2.5], np.float32)
    module.write("weights", weights.tobytes())
    arguments = (out, box[0], small[0], np.bool_(True), np.float64(0.125))
    Launcher().launch(kernel, module, (1, 1, 1), [raw(a) for a in arguments])
    t = np.arange(40)
    wanted = 2.0 * t + np.array([10, 20, 30])[t % 3] + 7 + 0.25 - 3 + 1 + 0.125 + weights[t % 3]
    np.testing.assert_array_equal(out, wanted.astype(np.float32))


def test_variables_of_a_module_are_shared_by_its_kernels_of_all_block_shapes() -> None:
    first, module = loaded(looped(fronted(CODE), "counting", (64, 1, 1)))
    second, _ = loaded(looped(fronted(CODE), "counting", (32, 1, 1)))
    for kernel in (first, second):
        Launcher(2).launch(kernel, module, (10, 1, 1), [raw(np.int32(50))])
    assert int.from_bytes(module.read("total"), "little") == 10 * 50 + 10 * 32


def test_one_worker_runs_blocks_in_ascending_order() -> None:
    kernel, module = loaded(looped(fronted(CODE), "ordered", (32, 1, 1)))
    next_ = np.zeros(1, np.int32)
    Launcher().launch(kernel, module, (64, 1, 1), [raw(next_)])
    order = np.frombuffer(module.read("order"), np.uint64)
    np.testing.assert_array_equal(order, np.arange(64))


@pytest.mark.parametrize(
    ("arguments", "grid", "text"),
    [
        ([b"\0" * 4, b"\0" * 8], (1, 1, 1), "1 parameters, not 2"),
        ([b"\0" * 8], (1, 1, 1), "argument n has 8 bytes, not 4"),
        ([b"\0" * 4], (0, 1, 1), "a grid of 0 x 1 x 1"),
    ],
)
def test_a_launch_that_makes_no_sense_is_refused(
    arguments: list[bytes], grid: tuple[int, int, int], text: str
) -> None:
    kernel, module = loaded(looped(fronted(CODE), "counting", (64, 1, 1)))
    with pytest.raises(LaunchError, match=text):
        Launcher().launch(kernel, module, grid, arguments)


WAVE = r"""
#include <hip/hip_runtime.h>
extern "C" __global__ void wave(const int *in, int *out, unsigned long long *votes) {
    int t = threadIdx.x, v = in[t];
    for (int d = 1; d < 64; d *= 2) {
        int other = __shfl_up(v, d);
        if (__lane_id() >= d) v += other;
    }
    out[t] = v;
    votes[t] = __ballot(in[t] & 1);
}
"""


def test_a_wavefront_has_64_lanes() -> None:
    made = fronted(WAVE, 64, "hip")
    x = np.random.default_rng(3).integers(0, 100, 192).astype(np.int32)
    out, votes = np.zeros_like(x), np.zeros(192, np.uint64)
    launch(looped(made, symbol(made, ""), (192, 1, 1)), (1, 1, 1), (x, out, votes))
    np.testing.assert_array_equal(out, np.cumsum(x.reshape(3, 64), axis=1).reshape(-1))
    bits = ((x.reshape(3, 64) & 1).astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=1)
    np.testing.assert_array_equal(votes, np.repeat(bits, 64))


# LLVM gives a local struct such a type when it takes one of more fields apart.
PAIRS = """
declare i32 @__simt_tid(i32) memory(none)
declare void @__simt_sync_block(i32) convergent
define void @pairs(ptr %out) {
entry:
  %pair = alloca { i32, i32 }, align 8
  %t = call i32 @__simt_tid(i32 0)
  %odd = and i32 %t, 1
  %place = getelementptr i32, ptr %pair, i32 %odd
  store i64 -1, ptr %pair, align 8
  store i32 %t, ptr %place, align 4
  call void @__simt_sync_block(i32 1)
  %both = load i64, ptr %pair, align 8
  %to = getelementptr i64, ptr %out, i32 %t
  store i64 %both, ptr %to, align 8
  ret void
}
"""


def test_a_local_struct_without_a_name_is_kept_across_a_barrier() -> None:
    param = Param("out", 8, 8, pointer=True)
    made = Front(ModuleInfo((KernelInfo("pairs", "pairs", (param,)),)), PAIRS)
    for descending in (False, True):
        out = np.zeros((16, 2), np.int32)
        launch(looped(made, "pairs", (16, 1, 1), descending=descending), (1, 1, 1), (out,))
        wanted = np.full_like(out, -1)
        wanted[np.arange(16), np.arange(16) % 2] = np.arange(16)
        np.testing.assert_array_equal(out, wanted)
