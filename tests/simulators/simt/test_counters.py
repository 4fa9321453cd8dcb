"""Counters of emulated kernels: clean kernels and ones that waste, in what they are to waste."""

import pytest

from tests.simulators.simt.counted_kernels import count
from tests.simulators.simt.launching import needs_clang
from toolchains.child.shims.simt.counting import Sampling

pytestmark = needs_clang
HERE = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def _global(body: str) -> str:
    return f"__global__ void k(float *x) {{ {HERE} {body} }}"


def test_neighbours_take_four_sectors_and_a_stride_of_32_takes_32() -> None:
    clean = count(_global("x[i] += 1;"))
    strided = count(_global("x[32 * i] += 1;"))
    for kind in ("load", "store"):
        assert clean.mean("sectors", "requests", kind, shared=False) == 4
        assert clean.mean("least_sectors", "requests", kind, shared=False) == 4
        assert strided.mean("sectors", "requests", kind, shared=False) == 32
    assert clean.told["requested"] == 2 * 4 * 256
    assert strided.told["distinct"] == 32 * 256


def test_a_broadcast_is_one_sector_and_a_vector_load_sixteen() -> None:
    one = count(_global("x[4096 + i] = x[blockIdx.x];"))
    assert one.mean("sectors", "requests", "load", shared=False) == 1
    vector = count(
        f"__global__ void k(float4 *x) {{ {HERE} float4 v = x[i]; v.x += 1; x[1024 + i] = v; }}"
    )
    for kind in ("load", "store"):
        assert vector.mean("sectors", "requests", kind, shared=False) == 16
        assert vector.total("least_sectors", kind, shared=False) == 16 * 8
    assert vector.told["distinct"] == 2 * 16 * 256


def _shared(index: str) -> str:
    return (
        "__global__ void k(float *x) { __shared__ float s[4096]; int t = threadIdx.x;"
        f"{HERE} s[{index}] = x[i]; __syncthreads(); x[i] = s[{index}] * 2; }}"
    )


def test_words_of_one_bank_take_32_passes_and_neighbours_one() -> None:
    clean, padded = count(_shared("t")), count(_shared("33 * (t % 32) + t / 32"))
    conflicting = count(_shared("32 * t"))
    for kind in ("load", "store"):
        assert clean.mean("passes", "least_passes", kind, shared=True) == 1
        assert padded.mean("passes", "least_passes", kind, shared=True) == 1
        assert conflicting.mean("passes", "least_passes", kind, shared=True) == 32
    assert clean.told["barriers"] == clean.told["blocks"] == 2


@pytest.mark.slow
def test_wide_words_go_by_half_warps() -> None:
    code = (
        "__global__ void k(double *x) { __shared__ double s[128]; int t = threadIdx.x;"
        "s[t] = x[t]; __syncthreads(); x[t] = s[127 - t]; }"
    )
    counted = count(code)
    assert counted.mean("passes", "least_passes", "load", shared=True) == 1
    assert counted.mean("least_passes", "requests", "load", shared=True) == 2


def test_lanes_that_go_both_ways_are_told_and_whole_warps_are_not() -> None:
    body = "if (CASE) x[i] = sqrtf(x[i]); else x[i + 4096] = x[i] * x[i + 1];"
    split = count(_global(body.replace("CASE", "threadIdx.x & 1")))
    whole = count(_global(body.replace("CASE", "threadIdx.x & 32")))
    assert split.mean("divergent", "requests", "branch", shared=False) == 1
    assert whole.total("divergent", "branch", shared=False) == 0
    assert split.mean("lanes", "full", "store", shared=False) == 0.5
    assert whole.mean("lanes", "full", "store", shared=False) == 1


@pytest.mark.parametrize(("address", "lanes"), [("x", 32), ("x + (i & 7)", 4), ("x + i", 1)])
def test_lanes_with_atomics_on_one_address_are_counted(address: str, lanes: int) -> None:
    counted = count(_global(f"atomicAdd({address}, 1.0f);"))
    assert counted.mean("contended", "requests", "atomic", shared=False) == lanes
    assert counted.told["hottest"] == (2 if lanes > 1 else 1)


def test_a_wavefront_of_64_is_one_request() -> None:
    counted = count(_global("x[i] += 1;"), warp=64, dialect="hip")
    assert counted.mean("sectors", "requests", "load", shared=False) == 8
    assert counted.told["warp"] == 64


def test_sampled_blocks_are_spread_and_what_is_told_is_of_all() -> None:
    sampling = Sampling(one_in=64, least=4, most=8)
    counted = count(_global("x[i] += 1;"), grid=512, sampling=sampling)
    assert counted.told["blocks"] == 512
    assert 7 <= counted.told["sampled"] <= 9
    assert counted.told["requested"] == 2 * 4 * 128 * 512


@pytest.mark.slow
def test_what_has_no_room_is_left_out_and_told() -> None:
    counted = count(_global("x[i] += 1;"), grid=64, sampling=Sampling(one_in=1, records=2048))
    assert counted.told["lost"] > 0
    assert 1 <= counted.told["sampled"] < 64
    assert counted.mean("sectors", "requests", "load", shared=False) == 4


def test_arrays_of_a_thread_are_no_memory_traffic() -> None:
    body = "float own[8]; for (int k = 0; k < 8; k++) own[(i + k) & 7] = k; x[i] = own[i & 7];"
    counted = count(_global(body))
    assert counted.total("requests", "store", shared=False) == 8
    assert counted.total("requests", "load", shared=False) == 0
