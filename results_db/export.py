"""The ledger in a folder of files that other tools read: Parquet, CSV, or a Hugging Face dataset.

Written from the published copy, so that no server waits. A folder appears whole or not at all. What
submissions are made of leaves only if that is asked for; benches' specifications, arguments of
calls and printed output never do: they may hold what was meant for nobody else.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from results_db import drain, schema
from results_db.backup import WAIT_S, WHY_NOT
from results_db.blobs import BlobStore
from results_db.drain import Outcome
from results_db.errors import BlobError, UpkeepError
from results_db.files import LedgerFiles
from results_db.transactions import remedy

Form = Literal["parquet", "csv", "hf"]

TABLES: Mapping[str, str] = {
    "leaderboard": "FROM leaderboard",
    "best_runs": "FROM best_runs",
    "scored_runs": "FROM scored_runs",
    "ladder": "FROM ladder",
    "session_progress": "FROM session_progress",
    "rungs_at_k": "FROM rungs_at_k",
    "hack_rate": "FROM hack_rate",
    "failure_rules": "FROM failure_rules",
    "rate_distortion": "FROM rate_distortion",
    "kernels": "SELECT * EXCLUDE (segment, writer, extra) FROM kernels",
    "builds": "SELECT * EXCLUDE (segment, writer, extra, output) FROM builds",
    "runs": "SELECT * EXCLUDE (writer, samples, output) FROM runs",
    "samples": "FROM samples",
    "verdicts": "SELECT * EXCLUDE (segment, writer, extra, cases) FROM verdicts",
    "metrics": "SELECT * EXCLUDE (segment, writer, extra) FROM metrics",
    "comparisons": "SELECT * EXCLUDE (segment, writer, extra) FROM comparisons",
    "marks": "SELECT * EXCLUDE (segment, writer, extra) FROM marks",
    "sessions": "SELECT * EXCLUDE (segment, writer, extra) FROM sessions",
    "usage": "SELECT * EXCLUDE (segment, writer, extra) FROM usage",
    "bench_cells": "SELECT * EXCLUDE (segment, writer, extra) FROM bench_cells",
    "hosts": "SELECT * EXCLUDE (segment, writer, extra) FROM hosts",
}
"""Table of the export → what it is of the ledger; empty ones are left out."""
SOURCES = "sources"


@dataclass(frozen=True)
class ExportReport:
    """What was written."""

    folder: Path
    rows: Mapping[str, int]
    """Table → rows."""


def export(
    home: Path, folder: Path, form: Form, *, sources: bool = False, wait_s: float = WAIT_S
) -> ExportReport:
    """Write a new folder. Raises: UpkeepError, DatabaseError; the folder is then not there."""
    if folder.exists():
        raise UpkeepError(f"{folder} exists: choose another name, or move it away")
    report = drain.drain(home, wait_s=wait_s)
    if report.outcome is not Outcome.DRAINED:
        raise UpkeepError(WHY_NOT[report.outcome])
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}")
    try:
        temporary.mkdir(parents=True)
        counts = _write(home, temporary, form, sources)
        temporary.replace(folder)
    except (OSError, duckdb.Error, BlobError) as error:
        raise UpkeepError(f"can't write {folder}: {error}{remedy(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ExportReport(folder, counts)


def _write(home: Path, folder: Path, form: Form, sources: bool) -> dict[str, int]:
    counts: dict[str, int] = {}
    with duckdb.connect(":memory:") as connection:
        path = str(LedgerFiles(home).snapshot).replace("'", "''")
        connection.execute(f"ATTACH '{path}' AS ledger (READ_ONLY)")
        connection.execute("USE ledger")
        for name, query in TABLES.items():
            counts[name] = _table(connection, query, _place(folder, name, form), form)
        if sources:
            _gather(connection, home)
            place = _place(folder, SOURCES, form)
            counts[SOURCES] = _table(connection, "FROM temp.sources", place, form)
        counts = {name: count for name, count in counts.items() if count}
        card = _card(connection, counts, form)
    name = "README.md" if form == "hf" else "ABOUT.md"
    (folder / name).write_text(card, encoding="utf-8")
    return counts


def _place(folder: Path, name: str, form: Form) -> Path:
    if form == "hf":
        return folder / "data" / name / "train-00000-of-00001.parquet"
    return folder / f"{name}.{form}"


def _table(connection: duckdb.DuckDBPyConnection, query: str, path: Path, form: Form) -> int:
    """Write a table unless it is empty; how many rows it has."""
    quoted = str(path).replace("'", "''")
    found = connection.execute(f"SELECT count(*) FROM ({query})").fetchone()
    count = int(found[0]) if found else 0
    if count:
        path.parent.mkdir(parents=True, exist_ok=True)
        how = "FORMAT csv, HEADER" if form == "csv" else "FORMAT parquet, COMPRESSION zstd"
        connection.execute(f"COPY ({query}) TO '{quoted}' ({how})")
    return count


def _gather(connection: duckdb.DuckDBPyConnection, home: Path) -> None:
    """A temporary table of the files of every kernel whose sources are still kept."""
    store = BlobStore(home)
    connection.execute("CREATE TEMP TABLE sources (blob VARCHAR, file VARCHAR, content VARCHAR)")
    blobs = connection.execute(
        "SELECT DISTINCT blob FROM kernels WHERE blob IS NOT NULL ORDER BY blob"
    ).fetchall()
    for (blob,) in blobs:
        try:
            files = store.get_source(blob)
        except BlobError:
            # Pruned, or of a home that was merged without it.
            continue
        connection.executemany(
            "INSERT INTO temp.sources VALUES (?, ?, ?)",
            [[blob, name, content] for name, content in sorted(files.items())],
        )


def _card(connection: duckdb.DuckDBPyConnection, counts: Mapping[str, int], form: Form) -> str:
    lines = []
    if form == "hf":
        lines += ["---", "pretty_name: sz-mcp ledger", "tags:", "- compression", "- benchmark"]
        lines.append("configs:")
        for name in counts:
            lines += [f"- config_name: {name}", "  data_files:", "  - split: train"]
            lines.append(f"    path: data/{name}/*.parquet")
        lines.append("---")
    lines += [
        "# Results of an sz-mcp ledger",
        "",
        f"Schema version {schema.VERSION}. Times are UTC, GB/s are 10⁹ bytes of original data per "
        "second. Hardware, emulated and simulated results must not be compared with each other, "
        "nor hardware of different hosts. Marks of operators are in `marks`; what they hide is in "
        "no ranking.",
        "",
    ]
    for name, count in counts.items():
        lines += [f"## {name}", "", f"{_about(connection, name)}. {count} rows.", ""]
        lines += ["| column | |", "|---|---|"]
        lines += [f"| `{column}` | {text or ''} |" for column, text in _columns(connection, name)]
        lines.append("")
    return "\n".join(lines)


def _about(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    if name == SOURCES:
        return "Files of submissions; `kernels.blob` says whose"
    found = connection.execute(
        "SELECT comment FROM duckdb_tables() WHERE table_name = $name AND database_name = 'ledger'"
        " UNION ALL SELECT comment FROM duckdb_views()"
        " WHERE view_name = $name AND database_name = 'ledger'",
        {"name": name},
    ).fetchone()
    return str(found[0]) if found else ""


def _columns(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[str, str | None]]:
    if name == SOURCES:
        return [("blob", "Hash of all files"), ("file", "Name"), ("content", "Text")]
    described = connection.execute(f"DESCRIBE {TABLES[name]}").fetchall()
    comments = dict(
        connection.execute(
            "SELECT column_name, comment FROM duckdb_columns()"
            " WHERE table_name = ? AND database_name = 'ledger'",
            [name],
        ).fetchall()
    )
    return [(str(row[0]), comments.get(row[0])) for row in described]
