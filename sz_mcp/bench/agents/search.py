"""Searches over a declared parameter space: random, hill climbing, and Optuna's TPE.

A `Strategy` says which point to try next and is told what it scored; `work` judges the points. A
failed point scores nothing and is not tried again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from sz_mcp.bench.agents.desk import Desk, calling
from sz_mcp.bench.agents.trial import Trial, judge
from sz_mcp.bench.errors import CellFailed
from sz_mcp.bench.spaces import Point, Space, SpaceError, space_for
from sz_mcp.bench.spec import Method, SearchAgent

_AGAIN = 20
"""Points in a row that were tried already, before one that was not is chosen at random."""


class Strategy(Protocol):
    """Chooses points."""

    def ask(self) -> Point:
        """The next point, which may be one that was tried."""
        ...

    def tell(self, point: Point, score: float | None) -> None:
        """What a point scored; None: it failed."""
        ...


class Random:
    """Uniformly chosen points."""

    def __init__(self, space: Space, rng: np.random.Generator) -> None:
        self._space, self._rng = space, rng

    def ask(self) -> Point:
        """Any point."""
        return self._space.random(self._rng)

    def tell(self, point: Point, score: float | None) -> None:
        """Nothing is learned."""


class Hill:
    """From the declared defaults to the first better neighbour, again and again.

    Where no neighbour is better it goes on from a point chosen at random.
    """

    def __init__(self, space: Space, rng: np.random.Generator) -> None:
        self._space, self._rng = space, rng
        self._at = space.defaults
        self._height: float | None = None
        self._next: list[Point] = [space.defaults]

    def ask(self) -> Point:
        """A neighbour of where it stands."""
        if not self._next:
            self._at, self._height = self._space.random(self._rng), None
            self._next = [self._at]
        return self._next[-1]

    def tell(self, point: Point, score: float | None) -> None:
        """Step there if it is better."""
        if point in self._next[-1:]:
            self._next.pop()
        first = self._height is None and point == self._at
        better = score is not None and (self._height is None or score > self._height)
        if better:
            self._at, self._height = point, score
        if better or first:
            near = self._space.neighbours(self._at)
            self._next = [near[i] for i in self._rng.permutation(len(near))]


class Tpe:
    """Optuna's tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011)."""

    def __init__(self, space: Space, rng: np.random.Generator) -> None:
        self._space = space
        self._optuna: Any = _optuna()
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        sampler = self._optuna.samplers.TPESampler(seed=int(rng.integers(1 << 31)))
        self._study = self._optuna.create_study(direction="maximize", sampler=sampler)
        self._study.enqueue_trial(dict(space.defaults))
        self._trial: Any = None

    def ask(self) -> Point:
        """What the estimator expects most of; first the defaults."""
        self._trial = self._study.ask()
        return {
            one.name: self._trial.suggest_categorical(one.name, list(one.choices))
            for one in self._space.parameters
        }

    def tell(self, point: Point, score: float | None) -> None:
        """Learn from it."""
        if self._trial is None:
            self._study.enqueue_trial(dict(point))
            self.ask()
        if score is None:
            self._study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(self._trial, score)
        self._trial = None


STRATEGIES: dict[Method, Callable[[Space, np.random.Generator], Strategy]] = {
    "random": Random,
    "hill": Hill,
    "tpe": Tpe,
}


async def work(agent: SearchAgent, desk: Desk) -> str:
    """Search until the budget is spent; returns how it ended, if before that.

    Raises:
        CellFailed: there is nothing to search.
        CellStopped: the budget is spent.
    """
    cell = desk.cell
    try:
        space = space_for(cell.task, cell.target, agent.space)
    except SpaceError as error:
        raise CellFailed(str(error)) from error
    rng = np.random.default_rng([agent.seed, cell.repeat])
    strategy = STRATEGIES[agent.method](space, rng)
    tried: dict[str, Trial] = {}
    best: Trial | None = None
    async with calling(desk) as caller:
        while (point := _new_point(strategy, space, tried, rng)) is not None:
            trial = await judge(caller, desk, space.files(point), best)
            tried[space.key(point)] = trial
            strategy.tell(point, trial.score)
            if trial.score is not None and (best is None or trial.score > (best.score or 0.0)):
                best = trial
    return f"all {len(tried)} points of the space were tried"


def _new_point(
    strategy: Strategy, space: Space, tried: dict[str, Trial], rng: np.random.Generator
) -> Point | None:
    """One that was not tried; None if there is none left."""
    if len(tried) >= space.size:
        return None
    for _ in range(_AGAIN):
        point = strategy.ask()
        known = tried.get(space.key(point))
        if known is None:
            return point
        strategy.tell(point, known.score)
    while space.key(point := space.random(rng)) in tried:
        pass
    return point


def _optuna() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        raise CellFailed("tpe needs Optuna: pip install 'sz-mcp[agents]'") from error
