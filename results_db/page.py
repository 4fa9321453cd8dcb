"""The page about the schema, made from the schema's own comments: docs/ledger.md and a resource.

python -m results_db.page > docs/ledger.md
"""

from __future__ import annotations

import sys

import duckdb

from results_db import schema

_INTRO = """\
# The ledger

Every MCP call, submission, build, run, verdict and profile is a row of a DuckDB database in the
server's home (`$SZ_MCP_HOME`, else the platform's data folder). Read it with
`sz-mcp sql "SELECT …"`, with the tool `query_results`, or with DuckDB itself:

```python
import duckdb

duckdb.connect("ledger-read.duckdb", read_only=True).sql("SELECT * FROM leaderboard")
```

Open `ledger-read.duckdb`: it is a copy that is replaced whole after every drain, so reading it
holds up nobody, and what you opened stays as it was. While `ledger.duckdb` is open elsewhere,
servers keep journalling and put nothing into it. Backups, pruning, upgrades: operations.md.

| file or folder | what it is |
|---|---|
| `journal/` | one append-only file per server process; rows are acknowledged once on disk here |
| `archive/` | drained files of ended processes, kept until the database was checkpointed |
| `ledger.duckdb` | the database that drains write, rows and progress in one transaction |
| `ledger-read.duckdb` | the copy to read |
| `blobs/` | sources of submissions by hash, and which kernel has which |
| `pictures/` | pictures of profiles, by run |
| `artifacts/` | what compilers wrote of kernels, by kernel; may be deleted |
| `emulated/` | kernels compiled for emulation, by what they are of; may be deleted |
| `attempts/` | how many attempts each named session has made |
| `cancel/` | runs that somebody asked to cancel and whose server has not looked yet |
| `ledger.duckdb.vN.bak` | the database as it was before an upgrade from schema N |

`flock` must work on the home: use a local disk. Times are UTC. GB/s are 10⁹ bytes of original data
per second. A query gives NaN and infinities as null; plain DuckDB shows them.

**Who is ranked.** `scored_runs` says of every measured run why it is not ranked, or nothing. Ranked
is a run that was timed, on this machine's hardware, of a kernel that holds on the suite at the same
mode and bound and never broke it there; in a fixed format within the size rule; neither compared
with another kernel nor reproducing a run. Executions, hosts, threads, fields, modes and bounds are
never ranked together. A **suspect** result, and all others that the same program of the same agent
has at that field, mode and bound, wait in the view `review` until an operator clears it: `sz-mcp
marks`, in operations.md. **Marks** hide a run, kernel, session, agent or program from every
ranking, at once and for what is already there; no row goes.

**One program** is what has one `likeness`: Python is compared by its syntax tree, so that names,
comments, docstrings, spellings of constants, annotations, imports, the order of functions and the
files they stand in don't count; other languages, files over 64 KB and what does not parse by their
tokens. An agent's copies of a program are one in `best_runs`, and break a bound together. The same
program of several agents has one rank; `kernel_twins` says who was first.

**The harness** is a digest of our Python source and of the versions of Python, NumPy, numba and
llvmlite, in each row of `builds`, `runs`, `verdicts` and `profiles`. Rows of two harnesses may
differ for that reason alone: group by it, or filter the leaderboard by the one in force, `SELECT
arg_max(harness, recorded_at) FROM hosts`.
"""


def render() -> str:
    """The page, in Markdown."""
    with duckdb.connect(":memory:") as connection:
        schema.upgrade(connection, schema.packaged())
        views = connection.execute(
            "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
        ).fetchall()
        tables = connection.execute(
            "SELECT table_name, comment FROM duckdb_tables() ORDER BY table_oid"
        ).fetchall()
        sections = [_INTRO, f"Schema version {schema.VERSION}.\n", "## Views\n"]
        sections += [_section(connection, name, comment) for name, comment in views]
        sections.append("## Tables\n")
        sections += [_section(connection, name, comment) for name, comment in tables]
    return "\n".join(sections)


def _section(connection: duckdb.DuckDBPyConnection, name: str, comment: str) -> str:
    columns = connection.execute(
        "SELECT column_name, data_type, comment FROM duckdb_columns()"
        " WHERE table_name = ? ORDER BY column_index",
        [name],
    ).fetchall()
    lines = [f"### {name}\n", f"{comment}.\n", "| column | type | |", "|---|---|---|"]
    lines += [f"| `{column}` | {kind} | {text} |" for column, kind, text in columns]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
