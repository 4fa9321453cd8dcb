"""The fabric equals the dense oracle in every delivery, every place freed, and where it ends."""

from __future__ import annotations

import pytest

from simulators.wafer.fabric_layout import H_COUNT, H_LIST

from .fabric_workloads import FastFabric, Workload, chaos, run, run_dense, run_fast, trees


def check(work: Workload) -> int:
    """Compare both fabrics on a workload; returns how many words were delivered."""
    fast, dense = run_fast(work), run_dense(work)
    assert fast.pops == dense.pops
    assert fast == dense
    return len(fast.pops)


def test_sensible_routes_on_shared_links_equal_the_oracle() -> None:
    assert sum(check(trees(seed)) for seed in range(12)) > 1000


def test_any_routes_switches_and_filters_equal_the_oracle() -> None:
    assert sum(check(chaos(seed)) for seed in range(40)) > 1000


class Reversed(FastFabric):
    """A fabric that steps its routers in the opposite order."""

    def step(self, t: int) -> None:
        """Turn the cycle's list around, then step."""
        begin = self.flat[H_LIST + t % 4]
        listed = self.flat[begin : begin + self.flat[H_COUNT + t % 4]]
        listed[:] = listed[::-1].copy()
        super().step(t)


def test_the_order_in_which_routers_are_stepped_changes_nothing() -> None:
    for seed in range(50, 58):
        for work in (chaos(seed), trees(seed)):
            assert run_fast(work) == run(work, Reversed(work.program, work.profile))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_many_sensible_routes_equal_the_oracle(seed: int) -> None:
    check(trees(seed, cycles=800))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_many_random_routes_equal_the_oracle(seed: int) -> None:
    check(chaos(seed, cycles=200))
