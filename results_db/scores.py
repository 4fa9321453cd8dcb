"""Keeping `scored_runs`, `best_runs` and `ladder` equal to their views `…_afresh` as rows come.

Whether a run may be ranked follows from all runs, verdicts and violations of its agent's program
and from the marks of operators. So new rows about a kernel concern that program alone: its
rows are computed anew from a few temporary tables, which stand before those of the ledger where the
views look names up. Marks may concern anything, as merging and pruning do: then all is made anew.
Measured with a million attempts: 0.2 s for a few kernels, some seconds for all.
"""

from __future__ import annotations

from collections.abc import Collection

import duckdb

TABLES = ("scored_runs", "best_runs", "ladder")
_READ = ("builds", "runs_started", "runs_finished", "verdicts", "violations")
"""Tables by kernel_id that decide."""
DECIDING = ("kernels", *_READ)
"""Tables whose new rows change what is ranked."""
_WHOLE = ("marks", "journal_segments")
_VIEWS = (
    "runs", "current_marks", "decisions", "scored_runs_afresh", "best_runs_afresh", "ladder_afresh"
)  # fmt: skip
"""In the order in which they build on each other."""
_UNREAD = {
    "builds": ("guidance", "output"),
    "runs_finished": ("samples", "guidance", "output"),
    "verdicts": ("cases",),
}
"""Large columns that nothing here reads."""

_TOUCHED = """
CREATE TEMP TABLE kernels AS
WITH
  programs AS (
    SELECT *, coalesce(likeness, content_hash, kernel_id) AS program FROM ledger.kernels
  ),
  families AS (
    SELECT DISTINCT agent, task, target, program FROM programs
    WHERE kernel_id IN (SELECT unnest(?::VARCHAR[]))
  )
SELECT programs.* EXCLUDE (program) FROM programs JOIN families
  ON programs.agent IS NOT DISTINCT FROM families.agent
  AND programs.task IS NOT DISTINCT FROM families.task
  AND programs.target IS NOT DISTINCT FROM families.target
  AND programs.program IS NOT DISTINCT FROM families.program
"""


def rebuild(connection: duckdb.DuckDBPyConnection) -> None:
    """Make all of it anew. Within the caller's transaction, in the ledger's catalog."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")
        connection.execute(f"INSERT INTO {table} SELECT * FROM {table}_afresh")


def refresh(connection: duckdb.DuckDBPyConnection, kernel_ids: Collection[str]) -> None:
    """Make anew what follows from rows about these kernels. Within the caller's transaction."""
    if not kernel_ids:
        return
    made: list[tuple[str, str]] = []
    try:
        connection.execute(_TOUCHED, [sorted(kernel_ids)])
        made.append(("TABLE", "kernels"))
        for table in _READ:
            gone = ", ".join(f"NULL AS {column}" for column in _UNREAD.get(table, ()))
            chosen = f"* REPLACE ({gone})" if gone else "*"
            connection.execute(
                f"CREATE TEMP TABLE {table} AS SELECT {chosen} FROM ledger.{table}"
                " WHERE kernel_id IN (SELECT kernel_id FROM temp.kernels)"
            )
            made.append(("TABLE", table))
        for table in _WHOLE:
            connection.execute(f"CREATE TEMP TABLE {table} AS FROM ledger.{table}")
            made.append(("TABLE", table))
        for view in _VIEWS:
            connection.execute(_definition(connection, view))
            made.append(("VIEW", view))
        for table in TABLES:
            connection.execute(
                f"DELETE FROM ledger.{table}"
                " WHERE kernel_id IN (SELECT kernel_id FROM temp.kernels)"
            )
            connection.execute(f"INSERT INTO ledger.{table} SELECT * FROM temp.{table}_afresh")
    finally:
        for kind, name in reversed(made):
            connection.execute(f"DROP {kind} temp.{name}")


def _definition(connection: duckdb.DuckDBPyConnection, view: str) -> str:
    found = connection.execute(
        "SELECT sql FROM duckdb_views() WHERE view_name = ? AND database_name = 'ledger'", [view]
    ).fetchone()
    assert found is not None
    return str(found[0]).replace("CREATE VIEW", "CREATE TEMP VIEW", 1)
