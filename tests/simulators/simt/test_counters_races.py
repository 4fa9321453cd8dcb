"""Races: what orders accesses and what doesn't."""

import pytest

from tests.simulators.simt.counted_kernels import Counted, count
from tests.simulators.simt.launching import needs_clang

pytestmark = needs_clang


def _kernel(body: str, **more: object) -> Counted:
    lines = ["__global__ void k(int *x) { __shared__ int s[256]; int t = threadIdx.x;"]
    return count("\n".join([*lines, *body.split("\n"), "}"]), **more)  # type: ignore[arg-type]


def test_a_barrier_orders_and_without_it_both_lines_are_told() -> None:
    assert _kernel("s[t] = x[t];\n__syncthreads();\nx[t] = s[127 - t];").races == set()
    assert _kernel("s[t] = x[t];\n\nx[t] = s[127 - t];").races == {(2, 4)}


@pytest.mark.slow
def test_a_second_write_after_a_read_needs_a_barrier_too() -> None:
    body = "s[t] = x[t];\n__syncthreads();\nx[t] = s[127 - t];\nBARRIER\ns[t] = 3 + t;"
    assert _kernel(body.replace("BARRIER", "")).races == {(4, 6)}
    assert _kernel(body.replace("BARRIER", "__syncthreads();")).races == set()


@pytest.mark.parametrize(
    ("between", "races"),
    [
        ("__syncwarp();", set()),
        ("__shfl_sync(~0u, t, 0);", {(2, 4)}),
        pytest.param("__ballot_sync(~0u, t);", {(2, 4)}, marks=pytest.mark.slow),
        pytest.param("__threadfence_block();", {(2, 4)}, marks=pytest.mark.slow),
        ("", {(2, 4)}),
    ],
)
def test_lanes_of_a_warp_are_ordered_by_syncwarp_alone(
    between: str, races: set[tuple[int, int]]
) -> None:
    assert _kernel(f"s[t] = x[t];\n{between}\nx[t] = s[t ^ 1];").races == races


def test_syncwarp_does_not_order_other_warps() -> None:
    assert _kernel("s[t] = x[t];\n__syncwarp();\nx[t] = s[t ^ 32];").races == {(2, 4)}


def test_a_partial_mask_orders_its_lanes_only() -> None:
    half = "__syncwarp(t & 16 ? 0xffff0000u : 0x0000ffffu);"
    assert _kernel(f"s[t] = x[t];\n{half}\nx[t] = s[t ^ 1];").races == set()
    assert _kernel(f"s[t] = x[t];\n{half}\nx[t] = s[t ^ 16];").races == {(2, 4)}


@pytest.mark.slow
def test_order_is_handed_on_from_lane_to_lane() -> None:
    body = (
        "if ((t & 31) < 3) {\nif ((t & 31) == 0) s[t / 32] = t;\n"
        "if ((t & 31) < 2) __syncwarp(3u);\nif ((t & 31) > 0) __syncwarp(6u);\n"
        "if ((t & 31) == 2) x[t] = s[t / 32];\n}"
    )
    assert _kernel(body).races == set()
    assert _kernel(body.replace("__syncwarp(6u)", "__syncwarp(1u << (t & 31))")).races == {(3, 6)}


def test_atomics_race_with_plain_accesses_and_not_with_each_other() -> None:
    assert _kernel("atomicAdd(&s[t & 7], 1);").races == set()
    assert _kernel("atomicAdd(&s[t & 7], 1);\n\nx[t] = s[t & 7];").races == {(2, 4)}


@pytest.mark.slow
def test_several_writers_race_unless_they_write_the_same() -> None:
    assert _kernel("s[0] = 7;\n__syncthreads();\nx[t] = s[0];").races == set()
    assert _kernel("s[0] = t;\n__syncthreads();\nx[t] = s[0];").races == {(2, 2)}


@pytest.mark.slow
def test_bytes_beside_each_other_are_no_race() -> None:
    body = "unsigned char *b = (unsigned char *)s;\nb[t] = t;\n__syncthreads();\nx[t] = b[127 - t];"
    assert _kernel(body).races == set()


@pytest.mark.slow
def test_global_memory_races_within_a_block_too() -> None:
    assert _kernel("x[t] = t;\n\nx[t + 512] = x[127 - t];", grid=1).races == {(2, 4)}
    assert _kernel("x[t] = t;\n__syncthreads();\nx[t + 512] = x[127 - t];", grid=1).races == set()


def test_lanes_of_a_wavefront_run_in_lockstep() -> None:
    body = "s[t] = x[t];\n\nx[t] = s[t ^ 1];"
    assert _kernel(body, warp=64, dialect="hip").races == set()
    other = "s[t] = x[t];\n\nx[t] = s[t ^ 64];"
    assert _kernel(other, warp=64, dialect="hip").races == {(2, 4)}
