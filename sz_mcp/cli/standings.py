"""`sz-mcp standings`: agents over all that they tried, one table per execution and machine."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from rich.table import Table

from results_db.errors import LedgerError
from results_db.standings import AgentRow, Scope, agents, scopes
from sz_mcp.board.copy import opened, refresh
from sz_mcp.cli.comparing import detail, tables
from sz_mcp.cli.screen import screen
from sz_mcp.errors import StepFailed


def run(home: Path, bench_id: str, against: str, *, whole: bool, as_json: bool) -> None:
    """Print them. Raises StepFailed: no ledger, or nothing in it to compare."""
    try:
        warning = refresh(home)
        with opened(home) as copy:
            wanted = [replace(scope, bench_id=bench_id) for scope in scopes(copy.connection)]
            found = [
                (
                    scope,
                    agents(copy.connection, scope),
                    detail(copy.connection, scope, against, whole=whole),
                )
                for scope in wanted
            ]
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    told = [one for one in found if one[1]]
    if not told:
        of = f" of {bench_id!r}: `sz-mcp sql 'FROM benches'` lists them" if bench_id else ""
        raise StepFailed(f"there is no result to compare{of}")
    if against and not any(more.beside for _, _, more in told):
        raise StepFailed(f"{against!r} has no speed to compare with: the tables name all agents")
    if as_json:
        plain = [
            {**asdict(scope), "agents": [*map(asdict, rows)], **more.plain()}
            for scope, rows, more in told
        ]
        json.dump(plain, sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write("\n")
        return
    if warning:
        sys.stderr.write(f"sz-mcp: warning: {warning}\n")
    console = screen()
    for scope, rows, more in told:
        console.print(_table(scope, rows))
        for table in tables(more):
            console.print(table)


_COLUMNS = (
    "rank", "agent", "model", "worth", "95%", "passed", "first runs", "kernels", "hacks", "tokens",
    "dollars",
)  # fmt: skip


def _table(scope: Scope, rows: tuple[AgentRow, ...]) -> Table:
    where = f"hardware {scope.host}" if scope.execution == "hardware" else scope.execution
    table = Table(title=where, title_justify="left", box=None)
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name in ("rank", "agent", "model") else "right")
    for row in rows:
        one = row.standing
        table.add_row(
            one.verdict,
            one.agent,
            row.model,
            f"{one.mean:.3f}",
            f"{one.low:.3f} to {one.high:.3f}",
            f"{row.passed.count}/{row.passed.of}",
            "" if row.first_runnable is None else f"{row.first_runnable:.0f}",
            f"{row.kernels}",
            f"{row.hacks.count}",
            f"{row.tokens}" if row.tokens else "",
            "" if row.dollars is None else f"{row.dollars:.2f}",
        )
    return table
