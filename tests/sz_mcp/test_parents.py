"""A run beside its parent's: a difference is told where it is one, and to whom it belongs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from mcp import Client

from kernels.records import Kernel, Metric, RunResult, Sample, Status, Submission
from results_db.summary import BASELINE
from sz_mcp.asked import Asked
from sz_mcp.parents import RULE, Parents, beside
from sz_mcp.pipeline import Request, Watch
from sz_mcp.server import create_server
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import GOOD, FakePipeline, make_app

ASKED = Asked("run_compress", "r_1", "k_new", "uk_theta", "rel", 1e-3)
STEADY = (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0)


def kernel(name: str, parent: str | None = None, agent: str = "a") -> Kernel:
    return Kernel(name, Submission("szp", "numba", GOOD, parent), agent)


def timed(seconds: Sequence[float], copy_gbps: float | None = 10.0) -> RunResult:
    run = FakePipeline().run(kernel("k"), Request("uk_theta"), Watch())
    samples = tuple(
        Sample("compress", i, one, one, 1, 1_000_000, 0.0, False) for i, one in enumerate(seconds)
    )
    metrics = () if copy_gbps is None else (Metric(BASELINE, copy_gbps, "GB/s", "measured"),)
    return replace(run, samples=samples, metrics=metrics)


def told(parents: Parents, child: Kernel, run: RunResult, asked: Asked = ASKED) -> str:
    return " ".join(note.explanation for note in parents.note(child, asked, run))


def test_a_speed_that_is_another_one_is_told_with_its_interval() -> None:
    parents = Parents()
    assert told(parents, kernel("k_old"), timed(STEADY)) == ""

    text = told(parents, kernel("k_new", "k_old"), timed([x / 2 for x in STEADY]))

    assert "last run of its parent k_old" in text
    assert "compress 2 (95% interval" in text
    assert "faster" in text


def test_a_difference_within_the_noise_is_inconclusive() -> None:
    parents = Parents()
    told(parents, kernel("k_old"), timed(STEADY))

    assert "inconclusive" in told(parents, kernel("k_new", "k_old"), timed(STEADY[::-1]))


@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_what_a_machine_did_in_between_is_no_difference(slower: float) -> None:
    # The copies changed as much as the kernel did.
    before, now = timed(STEADY), timed([slower * x for x in STEADY], 10.0 / slower)

    found = beside(now, before, "compress")

    assert found is not None
    assert found.verdict == "inconclusive"


def test_what_only_the_copies_saw_is_no_difference_either() -> None:
    found = beside(timed(STEADY, 5.0), timed(STEADY, 10.0), "compress")

    assert found is not None
    assert found.verdict == "inconclusive"
    assert found.ratio == pytest.approx(1.0, abs=0.02)


def test_without_a_baseline_or_repetitions_nothing_is_said() -> None:
    assert beside(timed(STEADY, None), timed(STEADY), "compress") is None
    assert beside(timed(STEADY), timed(STEADY), "decompress") is None
    assert beside(timed([]), timed(STEADY), "compress") is None


def test_two_repetitions_can_not_tell() -> None:
    found = beside(timed([1.0]), timed([9.0, 9.0]), "compress")

    assert found is not None
    assert (found.low, found.high) == (0.0, math.inf)
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(
    "asked",
    [
        replace(ASKED, field="na_temperature"),
        replace(ASKED, bound=1e-2),
        replace(ASKED, mode="abs"),
        replace(ASKED, threads=2),
    ],
)
def test_only_runs_of_the_same_thing_are_set_beside_each_other(asked: Asked) -> None:
    parents = Parents()
    told(parents, kernel("k_old"), timed(STEADY), asked)

    assert told(parents, kernel("k_new", "k_old"), timed(STEADY)) == ""


def test_another_agents_runs_stay_its_own() -> None:
    parents = Parents()
    told(parents, kernel("k_old", agent="b"), timed(STEADY))

    assert told(parents, kernel("k_new", "k_old", agent="a"), timed(STEADY)) == ""


def test_a_run_that_was_not_timed_says_nothing_and_is_not_remembered() -> None:
    parents = Parents()
    told(parents, kernel("k_old"), replace(timed(STEADY), status=Status.SUSPECT))

    assert told(parents, kernel("k_new", "k_old"), timed(STEADY)) == ""


class WithBaseline(FakePipeline):
    """Runs that carry the copy that was made beside them."""

    def run(self, kernel: Kernel, request: Request, watch: Watch) -> RunResult:
        run = super().run(kernel, request, watch)
        return replace(run, metrics=(Metric(BASELINE, 10.0, "GB/s", "measured"),))


@pytest.mark.anyio
async def test_an_agent_is_told_of_the_parent_and_how_to_know_exactly(tmp_path: Path) -> None:
    app = make_app(tmp_path, WithBaseline())
    try:
        async with Client(create_server(app)) as client:
            first = await compiled(client)
            await call(client, "run_compress", kernel_id=first, field="uk_theta")
            second = await call(
                client, "compile_kernel", task="szp", target="numba", files=GOOD, parent=first
            )
            run = await call(
                client, "run_compress", kernel_id=second.data["kernel_id"], field="uk_theta"
            )
    finally:
        app.close()

    (note,) = [one for one in run.data["guidance"] if one["rule"] == RULE]
    assert f"parent {first}" in note["explanation"]
    assert "inconclusive" in note["explanation"]
    assert f'against="{first}"' in note["suggestion"]
