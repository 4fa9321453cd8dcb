"""Searches: how each strategy chooses, and what a search does with a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sz_mcp.bench.agents import search
from sz_mcp.bench.agents.search import STRATEGIES, Strategy, _new_point
from sz_mcp.bench.agents.trial import Trial
from sz_mcp.bench.errors import CellFailed, CellStopped
from sz_mcp.bench.spaces import Parameter, Point, Space
from sz_mcp.bench.spec import Budget, Method, SearchAgent
from tests.sz_mcp.bench.desks import calls, cell, desk

SPACE = Space(
    (
        Parameter("A", tuple(range(12)), 0, ("kernel.py",)),
        Parameter("B", ("x", "y", "z"), "x", ("kernel.py",)),
    ),
    {"kernel.py": "A = 0\nB = 'x'\n"},
)


def height(point: Point) -> float | None:
    """One peak, at (9, z); what has A = 5 fails."""
    if point["A"] == 5:
        return None
    return 100 - (int(point["A"]) - 9) ** 2 + 10 * "xyz".index(str(point["B"]))


def climbed(method: Method, tries: int, seed: int) -> list[tuple[Point, float | None]]:
    """What a strategy tries on that hill."""
    if method == "tpe":
        pytest.importorskip("optuna")
    rng = np.random.default_rng(seed)
    strategy: Strategy = STRATEGIES[method](SPACE, rng)
    tried: dict[str, Trial] = {}
    found: list[tuple[Point, float | None]] = []
    for _ in range(tries):
        point = _new_point(strategy, SPACE, tried, rng)
        assert point is not None
        score = height(point)
        tried[SPACE.key(point)] = Trial("timed", score)
        strategy.tell(point, score)
        found.append((point, score))
    return found


@pytest.mark.parametrize("method", ["random", "hill", "tpe"])
def test_no_point_is_tried_twice_until_all_were(method: Method) -> None:
    found = climbed(method, SPACE.size, seed=3)
    assert len({SPACE.key(point) for point, _ in found}) == SPACE.size


@pytest.mark.parametrize("method", ["random", "hill", "tpe"])
def test_the_same_seed_tries_the_same_points(method: Method) -> None:
    assert climbed(method, 12, seed=5) == climbed(method, 12, seed=5)
    assert climbed(method, 12, seed=5) != climbed(method, 12, seed=6)


@pytest.mark.parametrize("method", ["hill", "tpe"])
def test_a_search_begins_at_the_defaults(method: Method) -> None:
    assert climbed(method, 1, seed=0)[0][0] == SPACE.defaults


def test_a_hill_is_climbed_step_by_step() -> None:
    found = climbed("hill", 6, seed=1)
    best = [point for point, _ in found[:1]]
    for point, score in found[1:]:
        steps = [
            abs(int(point["A"]) - int(before["A"]))
            + abs("xyz".index(str(point["B"])) - "xyz".index(str(before["B"])))
            for before in best
        ]
        assert min(steps) == 1
        if score is not None and score > max(height(one) or 0 for one in best):
            best.append(point)


def test_a_hill_is_climbed_to_its_top() -> None:
    space = Space((Parameter("A", tuple(range(50)), 20, ("kernel.py",)),), {"kernel.py": "A = 0\n"})
    rng = np.random.default_rng(0)
    strategy, tried = STRATEGIES["hill"](space, rng), dict[str, Trial]()
    best = None
    # At worst each step tries the neighbour that is lower first; the one it came from is known.
    for _ in range(1 + 1 + 15):
        point = _new_point(strategy, space, tried, rng)
        assert point is not None
        score = 100.0 - abs(int(point["A"]) - 35)
        tried[space.key(point)] = Trial("timed", score)
        strategy.tell(point, score)
        best = max(best or 0.0, score)
    assert best == 100.0


@pytest.mark.anyio
async def test_a_search_compiles_runs_and_verifies_what_leads(tmp_path: Path) -> None:
    agent = SearchAgent(kind="search", method="random")
    async with desk(tmp_path, cell("search"), Budget(calls=7)) as at:
        with pytest.raises(BaseExceptionGroup) as raised:
            await search.work(agent, at)
    assert raised.group_contains(CellStopped, match="budget: 7 calls on kernels")
    # All of the fake's runs score the same: the first alone leads.
    assert calls(tmp_path) == [
        ["compile_kernel", "compiled"],
        ["run_compress", "timed"],
        ["verify_bounds", "bound_ok"],
        ["compile_kernel", "compiled"],
        ["run_compress", "timed"],
        ["compile_kernel", "compiled"],
        ["run_compress", "timed"],
    ]


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_search_ends_when_all_points_were_tried(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("STEP = 1\n")
    (tmp_path / "space.yaml").write_text("parameters: {STEP: {choices: [1, 2]}}")
    agent = SearchAgent(kind="search", method="hill", space=tmp_path)
    async with desk(tmp_path / "home", cell("search"), Budget()) as at:
        assert await search.work(agent, at) == "all 2 points of the space were tried"


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("source", "status"), [("BROKEN", "error"), ("WRONG", "error"), ("CRASH", None)]
)
async def test_a_point_that_fails_scores_nothing(
    tmp_path: Path, source: str, status: str | None
) -> None:
    (tmp_path / "kernel.py").write_text(f"STEP = 1  # {source}\n")
    (tmp_path / "space.yaml").write_text("parameters: {STEP: {choices: [1, 2]}}")
    agent = SearchAgent(kind="search", method="hill", space=tmp_path)
    async with desk(tmp_path / "home", cell("search"), Budget()) as at:
        assert await search.work(agent, at) == "all 2 points of the space were tried"
    assert status in {said for _, said in calls(tmp_path / "home")}


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_task_without_a_space_fails(tmp_path: Path) -> None:
    agent = SearchAgent(kind="search", method="random")
    async with desk(tmp_path, cell("search", task="szx"), Budget()) as at:
        with pytest.raises(CellFailed, match="no parameter space for szx"):
            await search.work(agent, at)


def test_without_optuna_tpe_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    make: Callable[..., Strategy] = STRATEGIES["tpe"]
    with pytest.raises(CellFailed, match=r"pip install 'sz-mcp\[agents\]'"):
        make(SPACE, np.random.default_rng(0))
