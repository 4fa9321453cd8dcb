from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tests.simulators.simt.launching import fronted, loaded, looped, needs_clang, raw
from tests.simulators.simt.warp_kernels import CODE, expected
from toolchains.child.shims.simt.abi import Status
from toolchains.child.shims.simt.errors import AccessError
from toolchains.child.shims.simt.runtime import Launcher

pytestmark = needs_clang

WRONG = r"""
struct Pair { int first; float4 rest[2]; };
extern "C" __global__ void structs(const int *in, int *out, int n, Pair pair) {
    __shared__ int turns[3];
    int t = threadIdx.x;
    if (t < 3) turns[t] = t;
    __syncthreads();
    pair.rest[in[t] & 1].x += t;
    out[t] = pair.first + (int)pair.rest[t & 1].x + turns[t % 3];
}
extern "C" __global__ void reading(const int *in, int *out, int n) {
    int t = threadIdx.x;
    int v = t == 77 ?
        in[n + 5] : in[t];
    __syncthreads();
    out[t] = v;
}
extern "C" __global__ void writing(const int *in, int *out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[s[t] == 99 ? n : t] = 1;
}
extern "C" __global__ void shared(const int *in, int *out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t == 5 ? in[t] * 1000 : t] = 1;
    __syncthreads();
    out[t] = s[t ^ 1];
}
extern "C" __global__ void misaligned(const int *in, int *out, int n) {
    int t = threadIdx.x;
    ((int2 *)(out + (in[t] == 31)))[0].x = 3;
}
"""


def _launched(code: str, name: str, x: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> None:
    kernel, module = loaded(looped(fronted(code), name, (128, 1, 1), hooks="checked"))
    launcher = Launcher(2)
    for array in (x, out):
        launcher.registry.register(array.ctypes.data, array.nbytes)
    arguments = [raw(a) for a in (x, out, np.int32(x.size))]
    launcher.launch(kernel, module, (x.size // 128, 1, 1), arguments, 4 * 128)


def _line(name: str, text: str) -> int:
    start = WRONG.index(f"void {name}(")
    return WRONG[: WRONG.index(text, start)].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "text", "thread", "code"),
    [
        ("reading", "in[n + 5]", 77, Status.OUT_OF_BOUNDS),
        ("writing", "out[s[t]", 99, Status.OUT_OF_BOUNDS),
        ("shared", "s[t == 5", 5, Status.OUT_OF_BOUNDS),
        ("misaligned", "((int2 *)", 31, Status.MISALIGNED),
    ],
)
def test_a_wrong_access_is_an_error_with_line_and_thread(
    name: str, text: str, thread: int, code: Status
) -> None:
    memory = np.zeros(4096, np.int32)
    x, out = memory[:128], memory[2048 : 2048 + 128]
    x[:] = np.arange(128)
    with pytest.raises(AccessError) as caught:
        _launched(WRONG, name, x, out)
    assert caught.value.code == code
    assert caught.value.place.line == _line(name, text)
    assert caught.value.place.thread == (thread, 0, 0)


@pytest.mark.parametrize(
    "name",
    ["local_array", "local_array_private", "dynamic", "globals", "in_function", "spin_atomic"],
)
def test_a_right_kernel_gives_the_same_when_it_is_checked(name: str) -> None:
    x = np.random.default_rng(4).integers(0, 40, 256).astype(np.int32)
    out = np.zeros_like(x)
    _launched(CODE, name, x, out)
    np.testing.assert_array_equal(out, expected(name, x, 128))


def test_a_struct_that_is_passed_by_value_may_be_read_and_changed() -> None:
    x, out = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel, module = loaded(looped(fronted(WRONG), "structs", (128, 1, 1), hooks="checked"))
    launcher = Launcher()
    for array in (x, out):
        launcher.registry.register(array.ctypes.data, array.nbytes)
    pair = b"".join(
        (np.int32(5).tobytes(), bytes(12), np.array([1, 0, 0, 0, 2, 0, 0, 0], np.float32).tobytes())
    )
    arguments = [*(raw(a) for a in (x, out, np.int32(128))), pair]
    launcher.launch(kernel, module, (1, 1, 1), arguments)
    np.testing.assert_array_equal(out, 5 + 1 + (x & 1) + x + x % 3)
