"""Agents over all that they tried: one number each, how sure it is, and what stands beside it.

A session is worth, per set of conditions (task, target, execution, host, threads, field, mode and
bound), its best rankable score over the best of anybody there, from 0 to 1; 0 if it has none. On
simulated machines that is the fewest cycles of anybody over its own; emulated runs have no speed,
so that a session is worth 1 if it has a rankable run there, else 0. Sessions that sent a
kernel for the task and target count in all its conditions: leaving one out gains nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from results_db.measures.integrity import Rate, rate
from results_db.measures.uncertainty import Standing, standings

EXECUTIONS = ("hardware", "simulated", "emulated")


@dataclass(frozen=True)
class Scope:
    """What is compared: one execution, on hardware one machine."""

    execution: str
    host: str = ""
    """Fingerprint; of hardware only."""
    bench_id: str = ""
    """Sessions of one bench; empty: all."""


@dataclass(frozen=True)
class AgentRow:
    """One agent in a scope."""

    standing: Standing
    model: str
    kernels: int
    hacks: Rate
    passed: Rate
    """Sessions in which a kernel holds on the suite."""
    first_runnable: float | None
    """Median attempt of the sessions that got there."""
    tokens: int
    dollars: float | None


def scopes(connection: duckdb.DuckDBPyConnection) -> tuple[Scope, ...]:
    """Every execution that has results, hardware per machine; those with most sessions first."""
    found = connection.execute(
        "SELECT execution, CASE execution WHEN 'hardware' THEN coalesce(host, '') ELSE '' END,"
        " count(DISTINCT session) AS sessions FROM scored_runs WHERE execution IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY sessions DESC, 1, 2"
    ).fetchall()
    ordered = sorted(found, key=lambda row: EXECUTIONS.index(row[0]))
    return tuple(Scope(execution, host) for execution, host, _ in ordered)


def agents(connection: duckdb.DuckDBPyConnection, scope: Scope) -> tuple[AgentRow, ...]:
    """All agents with a session in a scope, best first; empty if there is nothing to compare."""
    outcomes = _outcomes(connection, scope)
    if not outcomes:
        return ()
    beside = {row[0]: row[1:] for row in connection.execute(_BESIDE, given_for(scope)).fetchall()}
    rows = []
    for one in standings(outcomes):
        model, kernels, hacks, sessions, passed, first, tokens, dollars = beside[one.agent]
        rows.append(
            AgentRow(
                standing=one,
                model=model or "",
                kernels=kernels,
                hacks=rate(hacks, kernels),
                passed=rate(passed, sessions),
                first_runnable=first,
                tokens=tokens or 0,
                dollars=dollars,
            )
        )
    return tuple(rows)


def given_for(scope: Scope) -> dict[str, str]:
    """Parameters of `IN_SCOPE`."""
    return {"execution": scope.execution, "host": scope.host, "bench": scope.bench_id}


Conditions = tuple[object, ...]


@dataclass(frozen=True)
class Worth:
    """What a session came to under one set of conditions."""

    agent: str
    session: str
    conditions: str
    value: float
    """0 to 1: see the module."""


def worths(connection: duckdb.DuckDBPyConnection, scope: Scope) -> tuple[Worth, ...]:
    """Of every session in a scope, under all conditions of the tasks and targets it tried."""
    given = given_for(scope)
    measured = connection.execute(_VALUES, given).fetchall()
    sent = connection.execute(_SESSIONS, given).fetchall()
    best: dict[Conditions, float] = {}
    own: dict[tuple[Conditions, str, str], float] = {}
    of_task: dict[tuple[str, str], dict[Conditions, str]] = defaultdict(dict)
    for *conditions, agent, session, value in measured:
        key = tuple(conditions)
        of_task[conditions[0], conditions[1]][key] = text_of(key)
        if value is not None:
            own[key, agent, session] = value
            best[key] = max(best.get(key, 0.0), value)
    found = []
    for agent, session, task, target in sent:
        for key, text in of_task[task, target].items():
            top = best.get(key, 0.0)
            value = own.get((key, agent, session), 0.0) / top if top else 0.0
            found.append(Worth(agent, session, text, value))
    return tuple(found)


def _outcomes(
    connection: duckdb.DuckDBPyConnection, scope: Scope
) -> dict[str, dict[str, list[float]]]:
    """Agent → conditions as text → worth of each of its sessions."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in worths(connection, scope):
        found[one.agent][one.conditions].append(one.value)
    return {agent: dict(tasks) for agent, tasks in found.items()}


def text_of(conditions: Iterable[object]) -> str:
    """Task, target, execution, machine, threads, field, mode, bound as one name."""
    return " ".join(str(one) for one in conditions)


# A cell of a bench that was begun anew counts once, by its last session.
_COUNTS = """
  session NOT IN (
    SELECT session FROM bench_cells WHERE event = 'started' QUALIFY row_number() OVER (
      PARTITION BY bench_id, cell_id ORDER BY recorded_at DESC, session DESC) > 1)
  AND ($bench = '' OR session IN (SELECT session FROM bench_cells WHERE bench_id = $bench))
"""
IN_SCOPE = f"execution = $execution AND ($host = '' OR host = $host) AND {_COUNTS}"

# Cycles are of compression and decompression together: all that a run counted.
_VALUES = f"""
WITH
  cycles AS (
    SELECT run_id, sum(value) AS cycles FROM metrics
    WHERE ends_with(name, '_device_cycles') GROUP BY run_id
  )
SELECT
  task, target, execution, CASE execution WHEN 'hardware' THEN host END AS machine, threads, field,
  mode, bound, agent, session,
  max(CASE execution WHEN 'hardware' THEN score WHEN 'simulated' THEN 1 / nullif(cycles, 0)
    ELSE 1.0 END) FILTER (ineligible_because IS NULL) AS value
FROM scored_runs LEFT JOIN cycles USING (run_id)
WHERE {IN_SCOPE} AND field IS NOT NULL
GROUP BY ALL
"""
_SESSIONS = f"""
SELECT agent, session, task, target FROM session_progress
WHERE {_COUNTS}
  AND (task, target) IN (SELECT (task, target) FROM scored_runs WHERE execution = $execution)
  AND $host IS NOT NULL
ORDER BY ALL
"""
_BESIDE = f"""
WITH
  here AS (
    SELECT * FROM session_progress
    WHERE {_COUNTS}
      AND (task, target) IN (SELECT (task, target) FROM scored_runs WHERE execution = $execution)
      AND $host IS NOT NULL
  ),
  sent AS (
    SELECT agent, session, count(*) AS sessions FROM here GROUP BY ALL
  ),
  used AS (
    SELECT agent, sum(input_tokens + output_tokens)::BIGINT AS tokens, sum(dollars) AS dollars
    FROM usage SEMI JOIN sent USING (agent, session)
    GROUP BY agent
  ),
  hacked AS (SELECT agent, task, target, hacks FROM hack_rate),
  tried AS (
    SELECT agent, sum(hacks)::BIGINT AS hacks, sum(kernels)::BIGINT AS kernels
    FROM hack_rate SEMI JOIN here USING (agent, task, target)
    GROUP BY agent
  )
SELECT
  agent, string_agg(DISTINCT nullif(model, ''), ', ') AS model, any_value(t.kernels),
  any_value(t.hacks), count(*), count(*) FILTER (passed), median(first_runnable),
  any_value(used.tokens), any_value(used.dollars)
FROM here JOIN tried t USING (agent) LEFT JOIN used USING (agent)
GROUP BY agent
"""
