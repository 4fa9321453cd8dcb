"""From the ledger to the tables of the leaderboard.

Of every session the best eligible result counts; a session that got nothing anywhere in its task
and target counts zero, and what another session did under other conditions says nothing here.
Means, intervals and ranks are those of `results_db.measures.uncertainty`. Cycles are averaged by
their inverse, as speeds are, so that a session that got nothing counts there too.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results_db.measures.uncertainty import LEAST_SESSIONS, Standing, standings
from sz_mcp.board.copy import Copy
from sz_mcp.board.pages.leaderboard import (
    FILTERS,
    MOST_BOARDS,
    BoardTable,
    Choice,
    Conditions,
    Row,
)
from sz_mcp.board.sight import Sight
from sz_mcp.projection import CYCLES

DRAWS = 500
_EXECUTIONS = ("hardware", "simulated", "emulated")


@dataclass(frozen=True)
class Best:
    """The best of one session under one set of conditions."""

    session: str
    value: float
    """Score, ratio or cycles."""
    run_id: str


@dataclass(frozen=True)
class Detail:
    """What stands beside a best result."""

    kernel_id: str
    ratio: float | None
    compress: float | None
    decompress: float | None


@dataclass(frozen=True)
class Tried:
    """What one session did for one task on one target."""

    session: str
    host: str
    kernels: int
    passed: bool
    """Whether one of its kernels holds on the whole suite."""
    first: int | None
    """Attempt of the first kernel that ran to its end."""
    tokens: float | None
    dollars: float | None
    empty: bool
    """Whether nothing of it may be ranked anywhere."""


Subject = tuple[str, str, str]
"""Agent, task, target."""


@dataclass(frozen=True)
class Efforts:
    """What everybody did for the tasks and targets that are shown."""

    sessions: Mapping[Subject, Sequence[Tried]]
    hacks: Mapping[Subject, float]
    models: Mapping[str, str]
    details: Mapping[str, Detail]
    sized: frozenset[str]
    """Tasks whose results have a ratio."""

    def of(self, agent: str, where: Conditions) -> list[Tried]:
        """Sessions of an agent that count under these conditions."""
        tried = self.sessions.get((agent, where.task, where.target), ())
        return [one for one in tried if where.execution != "hardware" or one.host == where.host]

    def agents(self, where: Conditions) -> set[str]:
        """Who tried, and got at least one session's worth."""
        names = {
            agent
            for agent, task, target in self.sessions
            if (task, target) == (where.task, where.target)
        }
        return {agent for agent in names if self.of(agent, where)}


Bests = Mapping[str, Sequence[Best]]
"""Agent → the best of each of its sessions."""
Found = tuple[tuple[BoardTable, ...], tuple[tuple[Conditions, int], ...], Choice]


def rankings(copy: Copy, sight: Sight, chosen: Mapping[str, str]) -> Found:
    """The tables that are shown, all conditions that the filters let through, and the filters."""
    counted = _conditions(copy)
    kept = [
        (one, agents)
        for one, agents in counted
        if all(one.chosen[name] == chosen[name] for name in FILTERS if chosen.get(name))
    ]
    every = tuple(
        sorted(
            kept,
            key=lambda item: (
                _EXECUTIONS.index(item[0].execution), -item[1], item[0].words, item[0].host,
            ),
        )
    )  # fmt: skip
    options = {
        name: tuple(sorted({one.chosen[name] for one, _ in counted} - {""})) for name in FILTERS
    }
    choice = Choice(options, {name: chosen.get(name, "") for name in FILTERS})
    shown = [one for one, _ in every[:MOST_BOARDS]]
    if not shown:
        return (), every, choice
    bests = _bests(copy, shown)
    efforts = _efforts(copy, _details(copy, bests))
    tables = tuple(_table(one, bests[one], efforts, sight) for one in shown)
    return tables, every, choice


def _conditions(copy: Copy) -> list[tuple[Conditions, int]]:
    """All conditions with how many agents have a result under them."""
    rows = copy.rows(
        """
        SELECT task, target, execution, CASE execution WHEN 'hardware' THEN host ELSE '' END,
          coalesce(threads, 1), field, mode, bound, count(DISTINCT agent)
        FROM scored_runs
        WHERE ineligible_because IS NULL AND (execution <> 'hardware' OR score IS NOT NULL)
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        """
    )
    return [(_made(row[:8]), int(row[8])) for row in rows if row[2] in _EXECUTIONS]


def _made(row: Sequence[object]) -> Conditions:
    task, target, execution, host, threads, name, mode, bound = row
    return Conditions(
        str(task), str(target), str(execution), str(host or ""), int(str(threads)), str(name),
        str(mode), float(str(bound)),
    )  # fmt: skip


def _bests(copy: Copy, shown: Sequence[Conditions]) -> dict[Conditions, dict[str, list[Best]]]:
    copy.connection.execute(
        "CREATE OR REPLACE TEMP TABLE chosen (place BIGINT, task VARCHAR, target VARCHAR,"
        " execution VARCHAR, host VARCHAR, threads BIGINT, field VARCHAR, mode VARCHAR,"
        " bound DOUBLE)"
    )
    copy.connection.executemany(
        "INSERT INTO temp.chosen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            [place, one.task, one.target, one.execution, one.host, one.threads, one.field,
             one.mode, one.bound]
            for place, one in enumerate(shown)
        ],
    )  # fmt: skip
    rows = copy.rows(_BESTS)
    if any(one.execution == "simulated" for one in shown):
        rows += copy.rows(_CYCLES, [CYCLES])
    found: dict[Conditions, dict[str, list[Best]]] = defaultdict(lambda: defaultdict(list))
    for place, agent, session, value, run_id in sorted(rows):
        found[shown[place]][agent].append(Best(session, value, run_id))
    return found


# A cell of a bench that was begun anew counts once, by its last session.
_GIVEN_UP = """
  begun AS (
    SELECT session, row_number() OVER (
      PARTITION BY bench_id, cell_id ORDER BY recorded_at DESC, session DESC) AS place
    FROM bench_cells WHERE event = 'started'),
  given_up AS (SELECT session FROM begun WHERE place > 1)
"""
_HERE = """
  FROM scored_runs s JOIN temp.chosen c ON s.task = c.task AND s.target = c.target
    AND s.execution = c.execution AND s.field = c.field AND s.mode = c.mode AND s.bound = c.bound
    AND c.host = CASE s.execution WHEN 'hardware' THEN s.host ELSE '' END
    AND c.threads = coalesce(s.threads, 1)
"""
_BESTS = f"""
WITH {_GIVEN_UP}
SELECT place, agent, session, max(value), arg_max(run_id, value)
FROM (
  SELECT c.place, s.agent, s.session, s.run_id,
    CASE s.execution WHEN 'hardware' THEN s.score ELSE coalesce(s.ratio, 1) END AS value
  {_HERE} ANTI JOIN given_up g ON g.session = s.session
  WHERE s.ineligible_because IS NULL AND s.execution <> 'simulated')
WHERE value IS NOT NULL GROUP BY place, agent, session
"""
_CYCLES = f"""
WITH {_GIVEN_UP}, counted AS (
  SELECT run_id, sum(value) AS cycles FROM metrics WHERE ends_with(name, ?) GROUP BY run_id)
SELECT c.place, s.agent, s.session, min(n.cycles), arg_min(s.run_id, n.cycles)
{_HERE} JOIN counted n USING (run_id) ANTI JOIN given_up g ON g.session = s.session
WHERE s.ineligible_because IS NULL AND s.execution = 'simulated' AND n.cycles > 0
GROUP BY c.place, s.agent, s.session
"""


def _details(copy: Copy, tables: Mapping[Conditions, Bests]) -> dict[str, Detail]:
    """Of the best run of each agent of each table, by run_id."""
    wanted = [
        _top(own, where.execution != "simulated").run_id
        for where, bests in tables.items()
        for own in bests.values()
    ]
    rows = copy.rows(
        "SELECT run_id, kernel_id, ratio, compress_gbps, decompress_gbps FROM scored_runs"
        " WHERE run_id IN (SELECT unnest(?::VARCHAR[]))",
        [wanted],
    )
    return {row[0]: Detail(*row[1:]) for row in rows}


def _top(bests: Sequence[Best], higher: bool) -> Best:
    return max(bests, key=lambda one: one.value if higher else -one.value)


def _efforts(copy: Copy, details: Mapping[str, Detail]) -> Efforts:
    sessions: dict[Subject, list[Tried]] = defaultdict(list)
    for agent, task, target, *rest in copy.rows(_TRIED):
        sessions[agent, task, target].append(Tried(*rest))
    hacks = copy.rows(
        "SELECT agent, task, target, rate FROM hack_rate SEMI JOIN temp.chosen USING (task, target)"
    )
    models = copy.rows(
        "SELECT agent, string_agg(DISTINCT model, ', ' ORDER BY model) FROM sessions"
        " WHERE model <> '' GROUP BY agent"
    )
    return Efforts(
        sessions=sessions,
        hacks={(row[0], row[1], row[2]): float(row[3]) for row in hacks},
        models=dict(models),
        details=details,
        sized=frozenset(
            str(task)
            for (task,) in copy.rows(
                "SELECT DISTINCT task FROM scored_runs WHERE ratio IS NOT NULL"
            )
        ),
    )


_SIZED = "SELECT DISTINCT task FROM scored_runs WHERE ratio IS NOT NULL"
_TRIED = f"""
WITH
  wanted AS (SELECT DISTINCT task, target FROM temp.chosen),
  {_GIVEN_UP},
  hosted AS (
    SELECT agent, session, any_value(host) AS host FROM kernels GROUP BY agent, session),
  used AS (
    SELECT agent, session, sum(input_tokens + output_tokens)::DOUBLE AS tokens,
      sum(dollars) AS dollars
    FROM usage GROUP BY agent, session),
  ranked AS (
    SELECT DISTINCT agent, session, task, target FROM scored_runs
    WHERE ineligible_because IS NULL)
SELECT p.agent, p.task, p.target, p.session, coalesce(h.host, ''), p.kernels, p.passed,
  p.first_runnable, u.tokens, u.dollars, r.session IS NULL
FROM session_progress p SEMI JOIN wanted USING (task, target)
ANTI JOIN given_up USING (session)
LEFT JOIN hosted h USING (agent, session)
LEFT JOIN used u USING (agent, session)
LEFT JOIN ranked r USING (agent, session, task, target)
"""


def _unit(where: Conditions, efforts: Efforts) -> tuple[str, bool]:
    """What is compared, and whether more is better."""
    match where.execution:
        case "simulated":
            return "cycles", False
        case "emulated":
            # A stage has no stream: it is right, or it is not.
            return ("ratio" if where.task in efforts.sized else "verified"), True
    return ("bits" if where.task == "sz-open" else "GB/s"), True


def _table(where: Conditions, bests: Bests, efforts: Efforts, sight: Sight) -> BoardTable:
    unit, higher = _unit(where, efforts)
    outcomes: dict[str, dict[str, list[float]]] = {}
    for agent in efforts.agents(where):
        tried = efforts.of(agent, where)
        own = bests.get(agent, ())
        values = [one.value if higher else 1 / one.value for one in own]
        # Whoever never got anything is here too, and last; but not whoever was measured elsewhere.
        values += [0.0 for one in tried if one.empty]
        if values:
            outcomes[agent] = {"": values}
    rows = [
        _row(standing, (where, higher), bests.get(standing.agent, ()), efforts, sight)
        for standing in standings(outcomes, draws=DRAWS)
    ]
    return BoardTable(where, unit, higher, tuple(rows))


def _row(
    standing: Standing,
    board: tuple[Conditions, bool],
    bests: Sequence[Best],
    efforts: Efforts,
    sight: Sight,
) -> Row:
    where, higher = board
    agent = standing.agent
    best = _top(bests, higher) if bests else None
    detail = None if best is None else efforts.details[best.run_id]
    tried = efforts.of(agent, where)
    named = sight.names(agent)
    visible = all(sight.results(agent, one.session) for one in tried)
    low, high = (_shown(end, higher) for end in (standing.low, standing.high))
    ranked = standing.sessions >= LEAST_SESSIONS
    kernel_id = None if detail is None else detail.kernel_id
    hacks = efforts.hacks.get((agent, where.task, where.target))
    return Row(
        agent=agent if named else None,
        model=efforts.models.get(agent, "") if named else "",
        sessions=standing.sessions,
        ranked=ranked,
        rank=(standing.best_rank, standing.worst_rank) if ranked else None,
        tied=bool(standing.tied_with),
        value=_shown(standing.mean, higher),
        low=min(low, high),
        high=max(low, high),
        more={**_of_best(best, detail), **_of_sessions(tried), "hacks": hacks} if visible else {},
        kernel_id=kernel_id if visible or kernel_id in sight.shared else None,
    )


def _of_best(best: Best | None, detail: Detail | None) -> dict[str, float | None]:
    if best is None or detail is None:
        return {}
    return {
        "best": best.value,
        "ratio": detail.ratio,
        "compress_gbps": detail.compress,
        "decompress_gbps": detail.decompress,
    }


def _of_sessions(tried: Sequence[Tried]) -> dict[str, float | None]:
    return {
        "passed": _mean([float(one.passed) for one in tried]),
        "first": _median([one.first for one in tried if one.first is not None]),
        "attempts": _mean([one.kernels for one in tried]),
        "tokens": _mean([one.tokens for one in tried if one.tokens is not None]),
        "dollars": _mean([one.dollars for one in tried if one.dollars is not None]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _shown(value: float, higher: bool) -> float:
    """A mean as it is read; cycles were averaged by their inverse."""
    if higher:
        return value
    return 1 / value if value > 0 else math.inf
