"""Agents beside a named author, and under other conditions: what `measures` says of the ledger.

All within one scope of `standings`: executions and machines never mix. Conditions are a task, a
target, threads, a field, a mode and a bound; those that an agent did not solve stay in what is
divided by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import duckdb

from results_db.measures.budgets import Step, area_under
from results_db.measures.fronts import Trade, hypervolume
from results_db.measures.speeds import fast_p, paired_ratio, sol_score, win_at_p
from results_db.measures.uncertainty import interval, paired_gain
from results_db.standings import IN_SCOPE, Scope, given_for, text_of, worths

TIERS = ("user", "knowledgeable", "expert")
LEVELS = ("none", "raw", "explain", "suggest")
FACTORS: Mapping[str, tuple[str, ...]] = {"prompt_tier": TIERS, "feedback_level": LEVELS}
"""Column of sessions → its values from the least help to the most."""
SLOWEST = 1000.0
"""A link of memcpy / 1000 is the slowest that the score of `sz-open` asks for (contract, 7)."""

Key = tuple[object, ...]
Rise = tuple[float, tuple[float, ...]]
"""Worth that was reached, and what of each kind had been spent then."""


@dataclass(frozen=True)
class Gain:
    """What a step of help gained an agent, in worth, paired by conditions."""

    agent: str
    factor: str
    before: str
    after: str
    conditions: int
    """Tried under both."""
    sessions: int
    """Of the condition that has fewest, under either: below LEAST_SESSIONS nothing is claimed."""
    gain: float
    low: float
    high: float
    """95% interval; where it holds 0, nothing is claimed."""


def gains(connection: duckdb.DuckDBPyConnection, scope: Scope) -> tuple[Gain, ...]:
    """Every step between neighbouring tiers and levels that an agent has sessions under."""
    found: list[Gain] = []
    helped = {
        (agent, session): dict(zip(FACTORS, values, strict=True))
        for agent, session, *values in connection.execute(
            f"SELECT DISTINCT agent, session, {', '.join(FACTORS)} FROM session_progress"
        ).fetchall()
    }
    outcomes: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in worths(connection, scope):
        for factor, value in helped[one.agent, one.session].items():
            outcomes[one.agent, factor, value][one.conditions].append(one.value)
    for agent in sorted({agent for agent, _, _ in outcomes}):
        for factor, values in FACTORS.items():
            for before, after in pairwise(values):
                less = outcomes.get((agent, factor, before), {})
                more = outcomes.get((agent, factor, after), {})
                if common := less.keys() & more.keys():
                    fewest = min(len(one[where]) for one in (less, more) for where in common)
                    told = paired_gain(less, more)
                    found.append(Gain(agent, factor, before, after, len(common), fewest, *told))
    return tuple(found)


@dataclass(frozen=True)
class Beside:
    """An agent's best speeds beside an author's, over all conditions of the scope."""

    agent: str
    conditions: int
    """That anybody tried in the scope."""
    solved: int
    fast: Mapping[float, float]
    """p → share of the author's conditions that are more than p times as fast as the author."""
    wins: float
    """Share of all: faster than the author, or solved where the author has nothing."""
    ratio: float | None
    """Geometric mean of speed over the author's where both have one."""
    limit: float | None
    """Mean share of memcpy's speed, 0 where not solved; None where no memcpy was measured."""
    sol: float | None
    """Mean SOL score over the author's conditions below the limit; None if there is none."""


def beside(
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    author: str,
    ps: Sequence[float] = (0.0, 0.5, 1.0, 2.0),
) -> tuple[Beside, ...]:
    """All agents of the scope beside one of them; none on emulated machines, which have no speed.

    Raises: ValueError if the author has no speed here.
    """
    speeds: dict[str, dict[Key, float]] = defaultdict(dict)
    peaks: dict[Key, float] = {}
    for *key, agent, speed, peak in connection.execute(_SPEEDS, given_for(scope)).fetchall():
        own = speeds[agent]
        if speed is not None:
            own[tuple(key)] = speed
        peaks[tuple(key)] = max(peaks.get(tuple(key), 0.0), peak or 0.0)
    if not speeds.get(author):
        raise ValueError(f"{author!r} has no speed to compare with here")
    keys = sorted(peaks, key=str)
    return tuple(
        _beside(agent, own, speeds[author], keys, (peaks, ps))
        for agent, own in sorted(speeds.items())
    )


def _beside(
    agent: str,
    ours: Mapping[Key, float],
    theirs: Mapping[Key, float],
    keys: Sequence[Key],
    rest: tuple[Mapping[Key, float], Sequence[float]],
) -> Beside:
    peaks, ps = rest
    speedups = [ours[key] / theirs[key] if key in ours else None for key in theirs]
    both = [key for key in theirs if key in ours]
    limits = [ours.get(key, 0.0) / peaks[key] for key in keys if peaks[key] > 0]
    sols = [
        sol_score(1 / ours[key], 1 / peaks[key], 1 / theirs[key]) if key in ours else 0.0
        for key in theirs
        if peaks[key] > theirs[key]
    ]
    return Beside(
        agent=agent,
        conditions=len(keys),
        solved=len(ours),
        fast={p: fast_p(speedups, p) for p in ps},
        wins=win_at_p([ours.get(key) for key in keys], [theirs.get(key) for key in keys]),
        ratio=paired_ratio([ours[key] for key in both], [theirs[key] for key in both])
        if both
        else None,
        limit=sum(limits) / len(limits) if limits else None,
        sol=sum(sols) / len(sols) if sols else None,
    )


@dataclass(frozen=True)
class Front:
    """How much of ratio × speed an agent's kernels cover."""

    agent: str
    conditions: str
    kernels: int
    """On its own front."""
    volume: float
    """log2 ratio × log2 speed, above ratio 1 and a thousandth of memcpy's speed."""


def fronts(connection: duckdb.DuckDBPyConnection, scope: Scope) -> tuple[Front, ...]:
    """Of every agent under every set of conditions where ratio and speed on hardware are known."""
    trades: dict[tuple[str, str], list[Trade]] = defaultdict(list)
    for *key, agent, ratio, speed, peak in connection.execute(_TRADES, given_for(scope)).fetchall():
        where = " ".join(str(one) for one in key)
        trades[agent, where].append(Trade(ratio, speed * SLOWEST / peak))
    return tuple(
        Front(agent, where, len(own), hypervolume(own))
        for (agent, where), own in sorted(trades.items())
    )


@dataclass(frozen=True)
class Economy:
    """Area under the curve of the best so far, in worth, against one kind of spending."""

    agent: str
    spent: str
    budget: float
    """Most that a session of the scope had spent at an attempt; the same for all agents."""
    area: float
    low: float
    high: float
    """95% interval."""


SPENT = ("calls", "minutes", "tokens", "dollars")


def economies(connection: duckdb.DuckDBPyConnection, scope: Scope) -> tuple[Economy, ...]:
    """Of every agent against calls and minutes; against tokens and dollars of those that report.

    What a session reports only later counts as not spent yet. Runs without an attempt are left out.
    """
    rises: dict[tuple[str, str, str], list[Rise]] = defaultdict(list)
    for agent, session, *key, worth, calls, minutes, tokens, dollars in connection.execute(
        _RISES, given_for(scope)
    ).fetchall():
        spent = (calls, minutes or 0.0, tokens or 0.0, dollars or 0.0)
        rises[agent, session, text_of(key)].append((worth, spent))
    tried = [(one.agent, one.session, one.conditions) for one in worths(connection, scope)]
    most = _most(connection, {(agent, session) for agent, session, _ in tried})
    found: list[Economy] = []
    for at, name in enumerate(SPENT):
        budget = max((amounts[at] for amounts in most.values()), default=0.0)
        reporting = {agent for agent, amounts in most.items() if amounts[at] > 0}
        areas: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for agent, session, where in tried:
            if budget and (agent in reporting or name in SPENT[:2]):
                steps = (Step(s[at], worth) for worth, s in rises.get((agent, session, where), ()))
                areas[agent][where].append(area_under(steps, budget))
        found += [_economy(agent, name, budget, own) for agent, own in sorted(areas.items())]
    return tuple(found)


def _most(
    connection: duckdb.DuckDBPyConnection, sessions: Set[tuple[str, str]]
) -> dict[str, tuple[float, ...]]:
    """Agent → the most that a session of it had spent at an attempt, per kind."""
    found: dict[str, tuple[float, ...]] = {}
    for agent, session, *amounts in connection.execute(_TOTALS).fetchall():
        if (agent, session) in sessions:
            before = found.get(agent, (0.0,) * len(SPENT))
            found[agent] = tuple(max(a, b or 0.0) for a, b in zip(before, amounts, strict=True))
    return found


def _economy(
    agent: str, name: str, budget: float, outcomes: Mapping[str, Sequence[float]]
) -> Economy:
    means = [sum(values) / len(values) for values in outcomes.values()]
    return Economy(agent, name, budget, sum(means) / len(means), *interval(outcomes))


_CONDITIONS = "task, target, threads, field, mode, bound"
# As in the worth of `standings`; GB/s of the data, which memcpy's speed limits, or 1 / cycles.
_MEASURED = f"""
  cycles AS (
    SELECT run_id, sum(value) AS cycles FROM metrics
    WHERE ends_with(name, '_device_cycles') GROUP BY run_id
  ),
  measured AS (
    SELECT
      s.*, f.copy_peak_gbps AS peak,
      CASE execution WHEN 'hardware' THEN coalesce(f.both_ways_gbps, s.run_gbps)
        WHEN 'simulated' THEN 1 / nullif(cycles, 0) END AS speed,
      CASE execution WHEN 'hardware' THEN s.score WHEN 'simulated' THEN 1 / nullif(cycles, 0)
        ELSE 1.0 END AS worth
    FROM (FROM scored_runs WHERE {IN_SCOPE} AND field IS NOT NULL) s
    LEFT JOIN (SELECT run_id, both_ways_gbps, copy_peak_gbps FROM runs_finished) f USING (run_id)
    LEFT JOIN cycles USING (run_id)
  )
"""
_SPEEDS = f"""
WITH {_MEASURED}
SELECT
  {_CONDITIONS}, agent, max(speed) FILTER (ineligible_because IS NULL),
  CASE any_value(execution) WHEN 'hardware' THEN max(peak) END
FROM measured
GROUP BY ALL
"""
_TRADES = f"""
WITH {_MEASURED}
SELECT {_CONDITIONS}, agent, ratio, speed, max(peak) OVER (PARTITION BY {_CONDITIONS})
FROM measured
WHERE ineligible_because IS NULL AND execution = 'hardware' AND ratio > 0 AND speed > 0 AND peak > 0
QUALIFY speed > coalesce(max(speed) OVER (
  PARTITION BY {_CONDITIONS}, agent ORDER BY ratio DESC, speed DESC, run_id
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -1)
"""
_RISES = f"""
WITH {_MEASURED},
  rising AS (
    SELECT
      *, worth / max(worth) OVER (PARTITION BY {_CONDITIONS}) AS share,
      CASE execution WHEN 'hardware' THEN host END AS machine
    FROM measured
    WHERE ineligible_because IS NULL AND worth > 0 AND attempt IS NOT NULL
    QUALIFY worth > coalesce(max(worth) OVER (
      PARTITION BY session, agent, {_CONDITIONS} ORDER BY attempt, measured_at, run_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
  )
SELECT
  agent, session, task, target, execution, machine, threads, field, mode, bound, share,
  attempt::DOUBLE, any_value(minutes), any_value(tokens)::DOUBLE, any_value(dollars)
FROM rising LEFT JOIN spending USING (agent, session, attempt)
GROUP BY ALL
"""
_TOTALS = """
SELECT
  agent, session, max(attempt)::DOUBLE, max(minutes), max(tokens)::DOUBLE, max(dollars)
FROM spending
GROUP BY ALL
"""
