"""What the page of one agent shows, read from the ledger; and the list of agents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sz_mcp.board.attempts import RUNGS
from sz_mcp.board.copy import Copy
from sz_mcp.board.pages.agent import SPENT, AgentEntry, Charts, Curve, Rungs, Trade

MOST_CONDITIONS = 6
"""Sets of conditions that have charts: those with most sessions, then most runs."""
MOST_SESSIONS = 8
"""Sessions that one chart shows."""
MOST_POINTS = 15
"""Runs of a bound that one chart shows beside its front: those of the highest score."""
# Attempts before a session's first report are left out: their tokens are not known.
_REPORTED = {"minutes": "minutes", "tokens": "nullif(tokens, 0)", "dollars": "dollars"}


def sessions(copy: Copy, agent: str) -> tuple[str, ...]:
    """Names of its sessions."""
    rows = copy.rows("SELECT DISTINCT session FROM kernels WHERE agent = ? ORDER BY 1", [agent])
    return tuple(str(name) for (name,) in rows)


def charts_of(copy: Copy, agent: str, spent: str) -> Charts:
    """Everything that is drawn of an agent; its budget curves against what SPENT names."""
    found = curves(copy, agent, spent)
    return Charts(found, spent, trades(copy, agent), ladders(copy, agent))


def agents(copy: Copy) -> tuple[AgentEntry, ...]:
    """All that sent a kernel, those with most first."""
    rows = copy.rows(
        """
        SELECT k.agent, coalesce(any_value(s.models), []), count(DISTINCT k.session), count(*),
          count(DISTINCT k.task), count(DISTINCT k.target), min(k.recorded_at), max(k.recorded_at)
        FROM kernels k LEFT JOIN (
          SELECT agent, list_sort(list_distinct(list(model) FILTER (model <> ''))) AS models
          FROM sessions GROUP BY agent) s USING (agent)
        GROUP BY k.agent ORDER BY count(*) DESC, k.agent
        """
    )
    return tuple(AgentEntry(row[0], tuple(row[1]), *row[2:]) for row in rows)


def curves(copy: Copy, agent: str, spent: str) -> tuple[Curve, ...]:
    """Budget curves against a kind of spending, where there is a score and that was reported."""
    # What was spent by an attempt is summed up over all calls and reports: not for nothing.
    joined = ""
    if spent != SPENT[0]:
        joined = (
            f"JOIN (SELECT session, attempt, any_value({_REPORTED[spent]}) AS reported"
            " FROM spending WHERE agent = ? GROUP BY ALL) USING (session, attempt)"
        )
    rows = copy.rows(
        f"""
        WITH
          mine AS (
            SELECT task, target, coalesce(host, '') AS host, coalesce(threads, 1) AS threads, field,
              mode, bound, score_unit, session, attempt, best_score
            FROM budget_curve WHERE agent = ? AND best_score IS NOT NULL),
          most AS (
            SELECT task, target, host, threads, field, mode, bound FROM mine GROUP BY ALL
            ORDER BY count(DISTINCT session) DESC, 1, 2, 3, 4, 5, 6, 7 LIMIT {MOST_CONDITIONS}),
          few AS (
            FROM mine SEMI JOIN most USING (task, target, host, threads, field, mode, bound)
            QUALIFY dense_rank() OVER (
              PARTITION BY task, target, host, threads, field, mode, bound ORDER BY session)
              <= {MOST_SESSIONS})
        SELECT task, target, host, threads, field, mode, bound, any_value(score_unit), session,
          {"reported" if joined else "attempt"}::DOUBLE AS spent, max(best_score)
        FROM few {joined}
        WHERE spent IS NOT NULL
        GROUP BY task, target, host, threads, field, mode, bound, session, spent
        ORDER BY ALL
        """,
        [agent] * (2 if joined else 1),
    )
    groups: dict[tuple[object, ...], dict[str, list[tuple[float, float]]]] = defaultdict(dict)
    units: dict[tuple[object, ...], str] = {}
    for row in rows:
        groups[row[:7]].setdefault(row[8], []).append((float(row[9]), float(row[10])))
        units[row[:7]] = row[7]
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Curve(
            _where(conditions),
            units[conditions],
            tuple(
                (session, tuple(_rises(points)))
                for session, points in list(sessions.items())[:MOST_SESSIONS]
            ),
        )
        for conditions, sessions in ordered[:MOST_CONDITIONS]
    )


def _rises(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points at which the best changed, and the last one."""
    kept = [points[0]]
    for point in points[1:]:
        if point[1] > kept[-1][1]:
            kept.append(point)
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def trades(copy: Copy, agent: str) -> tuple[Trade, ...]:
    """Ratio against throughput of runs on hardware, bound by bound."""
    rows = copy.rows(
        f"""
        WITH
          mine AS (
            SELECT task, target, coalesce(host, '') AS host, coalesce(threads, 1) AS threads, field,
              mode, bound, score, 2 / (1 / compress_gbps + 1 / decompress_gbps) AS gbps, ratio,
              kernel_id
            FROM scored_runs
            WHERE agent = ? AND ineligible_because IS NULL AND execution = 'hardware'
              AND ratio > 0 AND compress_gbps > 0 AND decompress_gbps > 0),
          most AS (
            SELECT task, target, host, threads, field, mode FROM mine GROUP BY ALL
            ORDER BY count(*) DESC, 1, 2, 3, 4, 5, 6 LIMIT {MOST_CONDITIONS})
        SELECT task, target, host, threads, field, mode, bound, gbps, ratio, kernel_id
        FROM mine SEMI JOIN most USING (task, target, host, threads, field, mode)
        QUALIFY row_number() OVER (
          PARTITION BY task, target, host, threads, field, mode, bound ORDER BY score DESC)
          <= {MOST_POINTS}
          OR gbps > coalesce(max(gbps) OVER (
            PARTITION BY task, target, host, threads, field, mode, bound
            ORDER BY ratio DESC, gbps DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
        ORDER BY ALL
        """,
        [agent],
    )
    groups: dict[tuple[object, ...], dict[float, list[tuple[float, float, str]]]]
    groups = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[row[:6]][row[6]].append((row[7], row[8], row[9]))
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Trade(
            _where((*conditions, None)),
            str(conditions[5]),
            tuple((bound, tuple(points)) for bound, points in bounds.items()),
        )
        for conditions, bounds in ordered[:MOST_CONDITIONS]
    )


def ladders(copy: Copy, agent: str) -> tuple[Rungs, ...]:
    """How far its kernels got, per target."""
    rows = copy.rows(
        "SELECT target, rung_number, count(*) FROM ladder WHERE agent = ? GROUP BY ALL", [agent]
    )
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for target, rung, count in rows:
        counts[target][rung] = count
    return tuple(
        Rungs(
            target,
            tuple(
                sum(count for rung, count in found.items() if rung >= place)
                for place in range(1, len(RUNGS) + 1)
            ),
        )
        for target, found in sorted(counts.items())
    )


def _where(conditions: tuple[Any, ...]) -> str:
    task, target, host, threads, field, mode, bound = conditions
    more = f", {threads} threads" if threads not in (None, 1) else ""
    machine = f" (host {str(host)[:12]})" if host else ""
    level = "" if bound is None else f" {bound:g}"
    return f"{task} on {target}{machine}{more}, {field}, {mode}{level}"
