"""Agents over all that they tried, as `results_db.standings` compares them."""

from __future__ import annotations

from dataclasses import replace

from results_db.comparing import Beside, beside
from results_db.measures.uncertainty import LEAST_SESSIONS
from results_db.standings import AgentRow, Scope, agents, scopes
from sz_mcp.board.copy import Copy
from sz_mcp.board.pages.beside import BesideRow, BesideTable
from sz_mcp.board.pages.leaderboard import BoardTable, Conditions, Row
from sz_mcp.board.sight import Sight

MOST_KERNELS = 20_000
"""Of a ledger whose agents are compared while somebody waits: the bootstrap takes seconds."""
_TITLE = "All tasks, targets, fields and bounds"


def overall_rankings(copy: Copy, sight: Sight, bench: str) -> tuple[tuple[BoardTable, ...], str]:
    """A table per execution and machine, and why there is none."""
    ((kernels,),) = copy.rows(
        "SELECT count(*) FROM kernels WHERE ? = '' OR starts_with(session, ? || '/')",
        [bench, bench],
    )
    if kernels > MOST_KERNELS:
        return (), (
            f"{kernels:,} kernels are too many to compare while you wait: name a bench above, or "
            "run `sz-mcp standings`."
        )
    return tuple(_table(scope, rows, sight) for scope, rows in compared(copy, bench)), ""


def beside_author(copy: Copy, sight: Sight, bench: str, author: str) -> tuple[BesideTable, ...]:
    """Everybody beside an author, where it has a speed; nothing if its name may not be seen."""
    found = []
    for scope in scopes(copy.connection) if sight.names(author) else ():
        try:
            rows = beside(copy.connection, replace(scope, bench_id=bench), author)
        except ValueError:
            # Nothing to compare with here: emulated, or another machine.
            continue
        ordered = sorted(rows, key=lambda one: (-one.wins, one.agent))
        where = f"{scope.execution} {scope.host[:16]}".strip()
        ps = tuple(rows[0].fast)
        found.append(
            BesideTable(where, author, ps, tuple(_beside_row(one, sight) for one in ordered))
        )
    return tuple(found)


def _beside_row(one: Beside, sight: Sight) -> BesideRow:
    agent = one.agent if sight.names(one.agent) else None
    return BesideRow(
        agent, one.solved, one.conditions, tuple(one.fast.values()), one.wins, one.ratio,
        one.limit, one.sol,
    )  # fmt: skip


def compared(copy: Copy, bench: str) -> tuple[tuple[Scope, tuple[AgentRow, ...]], ...]:
    """Agents of each execution and machine; bench: its sessions only, unless empty."""
    found = []
    for scope in scopes(copy.connection):
        rows = agents(copy.connection, replace(scope, bench_id=bench))
        if rows:
            found.append((scope, rows))
    return tuple(found)


def _table(scope: Scope, rows: tuple[AgentRow, ...], sight: Sight) -> BoardTable:
    where = Conditions("", "", scope.execution, scope.host, 1, "", "", 0.0)
    return BoardTable(where, "worth", True, tuple(_row(row, sight) for row in rows), _TITLE)


def _row(row: AgentRow, sight: Sight) -> Row:
    one = row.standing
    named = sight.names(one.agent)
    # What stands beside it tells of all its sessions together.
    whole = named and (sight.caller is None or sight.caller.sees != "session")
    ranked = one.sessions >= LEAST_SESSIONS
    count = max(row.passed.of, 1)
    more = {
        "passed": row.passed.share,
        "hacks": row.hacks.share,
        "first": row.first_runnable,
        "attempts": row.kernels / count,
        "tokens": row.tokens / count if row.tokens else None,
        "dollars": None if row.dollars is None else row.dollars / count,
    }
    return Row(
        agent=one.agent if named else None,
        model=row.model if named else "",
        sessions=one.sessions,
        ranked=ranked,
        rank=(one.best_rank, one.worst_rank) if ranked else None,
        tied=bool(one.tied_with),
        value=one.mean,
        low=one.low,
        high=one.high,
        more=more if whole else {},
    )
