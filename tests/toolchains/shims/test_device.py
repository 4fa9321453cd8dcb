"""Devices, streams, events and memory, as CuPy documents them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import toolchains.child.shims.cupy as cp
import toolchains.child.shims.cupyx as cupyx
from toolchains.child.shims.cupy._engine import PROCESS, Asking
from toolchains.child.shims.cupy._errors import (
    CUDARuntimeError,
    NotEmulatedError,
    OutOfMemoryError,
    TimelessError,
)


def test_streams_are_current_inside_their_block() -> None:
    stream = cp.cuda.Stream(non_blocking=True)
    with stream, cp.cuda.Stream() as inner:
        assert cp.cuda.get_current_stream() == inner
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    stream.use()
    assert cp.cuda.get_current_stream() == stream


def test_events_order_work_and_have_no_time() -> None:
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    end.record(cp.cuda.Stream.null)
    end.synchronize()
    cp.cuda.Stream.null.wait_event(start)
    assert end.done
    with pytest.raises(TimelessError, match="emulated: no time is measured here"):
        cp.cuda.get_elapsed_time(start, end)
    with pytest.raises(TimelessError):
        cp.cuda.runtime.eventElapsedTime(start.ptr, end.ptr)


def test_functions_of_the_host_are_called_in_order() -> None:
    seen: list[object] = []
    stream = cp.cuda.Stream()
    stream.launch_host_func(seen.append, 1)
    stream.add_callback(lambda _stream, error, value: seen.append((error, value)), 2)
    stream.synchronize()
    assert seen == [1, (0, 2)]


def test_graphs_are_not_captured() -> None:
    with pytest.raises(NotEmulatedError, match=r"cupy\.cuda\.Stream\.begin_capture"):
        cp.cuda.Stream().begin_capture()


def test_a_device_has_the_properties_of_its_family(compiler: Asking) -> None:
    properties = cp.cuda.runtime.getDeviceProperties(0)
    assert properties["warpSize"] == 32
    assert properties["name"] == b"emulated CUDA device"
    assert cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] == 232448
    assert cp.cuda.runtime.cudaDevAttrWarpSize == 10
    assert cp.cuda.runtime.deviceGetAttribute(10, 0) == 32
    assert cp.cuda.runtime.getDeviceCount() == 1
    assert not cp.cuda.runtime.is_hip
    assert cp.cuda.is_available()
    assert cp.is_available()


@pytest.mark.parametrize(("warp", "capability"), [(64, "94"), (32, "110")])
def test_rocm_has_wavefronts_of_its_own_size(warp: int, capability: str) -> None:
    PROCESS.dialect, PROCESS.warp = "hip", warp
    assert cp.cuda.runtime.is_hip
    assert cp.cuda.runtime.getDeviceProperties(0)["warpSize"] == warp
    assert cp.cuda.Device().compute_capability == capability


@pytest.mark.parametrize("warp", [32, 64])
def test_kernels_of_rocm_run(compiler: Asking, warp: int) -> None:
    PROCESS.dialect, PROCESS.warp = "hip", warp
    code = r"""
    #include <hip/hip_runtime.h>
    extern "C" __global__ void lanes(int *x, int n) {
        if (threadIdx.x < n)
            x[threadIdx.x] = __shfl(threadIdx.x, 0);
    }
    """
    x = cp.zeros(128, cp.int32)
    cp.RawKernel(code, "lanes")((1,), (128,), (x, 128))
    assert x.tolist() == [i // warp * warp for i in range(128)]
    made = cp.ElementwiseKernel("T x", "T y", "y = x + 1", "more")(x)
    assert made[0] == 1


def test_other_devices_are_not_there() -> None:
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice"), cp.cuda.Device(1):
        pass
    with cp.cuda.Device(0):
        cp.cuda.Device().synchronize()


def test_memory_is_copied_by_pointer() -> None:
    host = np.arange(4, dtype=np.int32)
    memory = cp.cuda.alloc(16)
    memory.copy_from_host(host.ctypes.data, 16)
    (memory + 4).copy_from_device(memory, 8)
    out = np.zeros(4, np.int32)
    memory.copy_to_host(ctypes.c_void_p(out.ctypes.data), 16)
    assert out.tolist() == [0, 0, 1, 3]
    memory.memset(255, 4)
    assert cp.ndarray((1,), cp.int32, memory).get().tolist() == [-1]
    with pytest.raises(CUDARuntimeError):
        (memory + 8).memset(0, 16)


def test_the_runtime_copies_between_host_and_device() -> None:
    runtime = cp.cuda.runtime
    host, x = np.arange(3, dtype=np.float32), cp.zeros(3, cp.float32)
    runtime.memcpy(x.data.ptr, host.ctypes.data, 12, runtime.memcpyHostToDevice)
    assert x.tolist() == [0, 1, 2]
    address = runtime.malloc(64)
    runtime.memset(address, 1, 64)
    memory = cp.cuda.UnownedMemory(address, 64, None)
    assert cp.ndarray((64,), cp.uint8, cp.cuda.MemoryPointer(memory, 0)).sum() == 64
    runtime.free(address)
    with pytest.raises(CUDARuntimeError, match="no device memory"):
        runtime.memcpy(host.ctypes.data, x.data.ptr, 12, runtime.memcpyHostToDevice)
    runtime.deviceSynchronize()


def test_memory_of_something_else_is_used_in_place() -> None:
    host = np.zeros(4, np.float32)
    memory = cp.cuda.UnownedMemory(host.ctypes.data, 16, host)
    cp.ndarray((4,), cp.float32, cp.cuda.MemoryPointer(memory, 0))[...] = 2
    assert host.tolist() == [2, 2, 2, 2]


def test_pools_count_what_is_in_use_and_have_limits() -> None:
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    x = cp.zeros(1000, cp.uint8)
    assert pool.used_bytes() == before + 1000
    del x
    assert pool.used_bytes() == before
    assert pool.total_bytes() == before
    pool.free_all_blocks()
    pool.set_limit(size=before + 100)
    with pytest.raises(OutOfMemoryError, match="limit set to"):
        cp.zeros(1000)
    assert issubclass(OutOfMemoryError, MemoryError)


def test_more_than_the_device_has_is_not_allocated() -> None:
    with pytest.raises(OutOfMemoryError, match="Out of memory allocating"):
        cp.empty(10**11, cp.uint8)


def test_allocators_are_replaced_inside_a_block() -> None:
    sizes: list[int] = []

    def counting(size: int) -> cp.cuda.MemoryPointer:
        sizes.append(size)
        return cp.cuda.malloc_managed(size)

    with cp.cuda.using_allocator(counting):
        cp.zeros(3, cp.int32)
    cp.zeros(5, cp.int32)
    assert sizes == [12]


def test_pinned_memory_is_memory_of_the_host() -> None:
    memory = cp.cuda.alloc_pinned_memory(16)
    host = np.frombuffer(memory, np.float32, 4)
    assert host.ctypes.data == memory.ptr
    assert cp.get_default_pinned_memory_pool().n_free_blocks() == 0
    pinned = cupyx.zeros_pinned((2, 2), np.float32)
    assert type(pinned) is np.ndarray
    assert pinned.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("name", ["texture", "nvrtc", "Graph", "runtime.ipcOpenMemHandle"])
def test_what_is_missing_of_cuda_is_refused_by_name(name: str) -> None:
    *folders, last = name.split(".")
    module = getattr(cp.cuda, folders[0]) if folders else cp.cuda
    with pytest.raises(NotEmulatedError, match=f"not emulated: cupy.cuda.{name}"):
        getattr(module, last)


def test_the_configuration_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    cp.show_config()
    assert "emulated" in capsys.readouterr().out
