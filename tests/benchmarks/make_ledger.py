"""A ledger of any size from a seed: python -m tests.benchmarks.make_ledger HOME [ATTEMPTS].

A million attempts have twenty million repetitions and take some minutes. Everything follows from
hashes of row numbers and the seed, in SQL: the same seed gives the same rows. Agents differ in
skill, tasks in difficulty, kernels improve within a session; some break bounds, are refused, are
suspect, are hidden, are the same program. Nothing of it was measured.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb

from results_db import database, drain, schema, scores, snapshot
from results_db.files import LedgerFiles

ATTEMPTS = 1_000_000


@dataclass(frozen=True)
class Size:
    """How much is made."""

    attempts: int = ATTEMPTS
    """Calls that touched a kernel: of ten, one sends it, one verifies it, eight run it."""
    repetitions: int = 50
    """Of a timed run, both directions together."""
    seed: int = 0


_AGENTS = (
    "opus", "sonnet", "codex", "gemini", "qwen", "llama", "random-search", "hill-climbing", "tpe",
    "replay", "deepseek", "mistral",
)  # fmt: skip
_TASKS = ("szp", "szx", "sz-open", "lorenzo-1d", "lorenzo-2d", "bitpack", "quantize", "histogram")
_TARGETS = (*["numba"] * 9, "cuda:sm_90", "rocm:gfx942", "wafer:wse2")
_EXECUTIONS = (*["hardware"] * 9, "emulated", "emulated", "simulated")
_FIELDS = ("uk_theta", "na_temperature", "hidden-1")
_BOUNDS = (1e-2, 1e-3, 1e-4)
_TIERS = ("user", "knowledgeable", "expert")
_LEVELS = ("none", "raw", "explain", "suggest")
_RULES = ("bound.halo", "numba.typing", "csl.no-unblock", "task.signature", "order.race")
_CALLS_PER_SESSION = 50
_KERNEL_EVERY = 10


def make(home: Path, size: Size) -> None:
    """Make HOME/ledger.duckdb and the published copy. Raises: FileExistsError."""
    files = LedgerFiles(home)
    home.mkdir(parents=True, exist_ok=True)
    if files.database.exists():
        raise FileExistsError(f"{files.database} exists: give another folder")
    connection = duckdb.connect(":memory:", config={"threads": 2, "memory_limit": "8GB"})
    database.attach(connection, str(files.database), "ledger")
    connection.execute("USE ledger")
    schema.upgrade(connection, schema.packaged())
    for name, statement in _statements(size):
        connection.execute(statement)
        sys.stderr.write(f"made {name}\n")
    scores.rebuild(connection)
    connection.execute("CHECKPOINT ledger")
    connection.close()
    with files.database.open("rb") as made:
        snapshot.publish(files, made)


def _pick(values: tuple[object, ...], number: str) -> str:
    listed = ", ".join(repr(value) for value in values)
    return f"list_value({listed})[1 + ({number})::BIGINT % {len(values)}]"


def _statements(size: Size) -> list[tuple[str, str]]:
    sessions = max(1, size.attempts // _CALLS_PER_SESSION)
    stamp = "uuid() AS id, moment AS recorded_at, 'h1' AS host, 'made' AS writer, 'made' AS segment"

    def chance(*parts: str) -> str:
        return f"(hash({size.seed}, {', '.join(parts)}) % 1000003 / 1000003.0)"

    plan = f"""
        CREATE TEMP TABLE plan AS
        SELECT s, 's' || s AS session, {_pick(_AGENTS, "s")} AS agent, s % {len(_AGENTS)} AS a,
          {_pick(_TASKS, f"hash({size.seed}, s, 1) % 97")} AS task,
          {_pick(_TARGETS, f"hash({size.seed}, s, 2) % 89")} AS target,
          {_pick(_EXECUTIONS, f"hash({size.seed}, s, 2) % 89")} AS execution,
          {_pick(_TIERS, f"hash({size.seed}, s, 3) % 83")} AS tier,
          {_pick(_LEVELS, f"hash({size.seed}, s, 4) % 79")} AS level,
          0.15 + 0.7 * ({chance("'skill'", f"s % {len(_AGENTS)}")}) AS skill,
          TIMESTAMP '2026-01-01' + to_seconds(40 * s) AS begun
        FROM range({sessions}) t(s)"""
    attempts = f"""
        CREATE TEMP TABLE attempts AS
        SELECT *, begun + to_seconds(20 * n) AS moment, s * {_CALLS_PER_SESSION} + n AS i,
          n // {_KERNEL_EVERY} AS version, n % {_KERNEL_EVERY} = 0 AS sends
        FROM plan, range({min(_CALLS_PER_SESSION, size.attempts)}) t(n)"""
    # What a kernel is follows from its session and version alone.
    kernels = f"""
        CREATE TEMP TABLE made_kernels AS
        SELECT *, 'k' || s || '_' || version AS kernel_id,
          {chance("s", "version", "'luck'")} AS luck,
          least(0.98, skill + 0.02 * version) AS chance_now
        FROM attempts WHERE sends"""
    runs = f"""
        CREATE TEMP TABLE made_runs AS
        SELECT *, 'r' || i AS run_id,
          n % {_KERNEL_EVERY} = 1 AS verifies,
          CASE WHEN n % {_KERNEL_EVERY} = 1 THEN 'suite'
            ELSE {_pick(_FIELDS, f"hash({size.seed}, s, n, 5) % 73")} END AS field,
          {_pick(_BOUNDS, f"hash({size.seed}, s, version, 6) % 71")} AS bound,
          CASE WHEN luck > chance_now THEN
              CASE WHEN luck > 0.97 THEN 'rejected' WHEN luck > 0.9 THEN 'error'
                ELSE 'roundtrips' END
            WHEN luck < 0.004 THEN 'suspect'
            WHEN n % {_KERNEL_EVERY} = 1 OR execution <> 'hardware' THEN 'bound_ok'
            ELSE 'timed' END AS status,
          (1 + 9 * skill) * (1 + 0.05 * version) * (0.5 + luck) AS gbps
        FROM attempts a JOIN (
          SELECT s, version, kernel_id, luck, chance_now FROM made_kernels) k USING (s, version)
        WHERE NOT sends"""
    return [
        ("plan", plan),
        ("attempts", attempts),
        ("made_kernels", kernels),
        ("made_runs", runs),
        *_inserts(stamp, size),
    ]


def _inserts(stamp: str, size: Size) -> list[tuple[str, str]]:
    return [*_asked(stamp, size), *_found(stamp, size), *_said(stamp)]


def _asked(stamp: str, size: Size) -> list[tuple[str, str]]:
    """Who asked for what, and the kernels that came of it."""
    return [
        (
            "hosts",
            "INSERT INTO hosts BY NAME SELECT 'h1' AS fingerprint, 'made up' AS cpu, 8 AS cores,"
            " 'made' AS harness, uuid() AS id, TIMESTAMP '2026-01-01' AS recorded_at,"
            " 'h1' AS host, 'made' AS writer, 'made' AS segment",
        ),
        (
            "segments",
            "INSERT INTO journal_segments BY NAME SELECT 'made' AS segment,"
            " 0 AS drained_bytes, true AS closed",
        ),
        (
            "sessions",
            "INSERT INTO sessions BY NAME SELECT session, agent, agent || '-1' AS model,"
            " tier AS prompt_tier, level AS feedback_level, 'http' AS transport,"
            f" {stamp.replace('moment AS', 'begun AS')} FROM plan",
        ),
        (
            "calls",
            "INSERT INTO calls BY NAME SELECT 'c' || i AS call_id, moment AS started_at,"
            " CASE WHEN sends THEN 'compile_kernel' ELSE 'run_compress' END AS tool, agent,"
            " session, n + 1 AS attempt, 900.0 AS duration_ms, 'ok' AS outcome,"
            f" {stamp} FROM attempts",
        ),
        (
            "kernels",
            "INSERT INTO kernels BY NAME SELECT kernel_id, 'c' || i AS call_id, n + 1 AS attempt,"
            f" task, target, agent, session, 'l' || (hash(s, version) % {size.attempts // 5 + 1})"
            " AS likeness,"
            f" kernel_id AS content_hash, 800 AS source_bytes, {stamp} FROM made_kernels",
        ),
        (
            "builds",
            "INSERT INTO builds BY NAME SELECT 'c' || i AS call_id, kernel_id,"
            " CASE WHEN luck > 0.93 THEN 'parsed' WHEN luck > 0.92 THEN 'rejected'"
            " ELSE 'compiled' END AS status,"
            " CASE WHEN luck > 0.92 THEN 'compiled' END AS stage, 0.7 AS seconds,"
            " CASE WHEN luck > 0.93 THEN 'compile' WHEN luck > 0.92 THEN 'integrity' END"
            f" AS failure_kind, CASE WHEN luck > 0.92 THEN json_array(json_object('rule',"
            f" {_pick(_RULES, 'hash(s, version, 7) % 67')})) END AS guidance,"
            f" {stamp} FROM made_kernels",
        ),
    ]


def _found(stamp: str, size: Size) -> list[tuple[str, str]]:
    """What ran, and how it ended."""
    failed = "status IN ('roundtrips', 'error', 'rejected')"
    sample = (
        "{'direction': CASE j % 2 WHEN 0 THEN 'compress' ELSE 'decompress' END,"
        " 'repetition': j // 2, 'seconds': 0.02 / gbps, 'child_seconds': 0.02 / gbps, 'batch': 1,"
        " 'nbytes': 20000000, 'wait_seconds': 0.0, 'disturbed': j % 17 = 0}"
    )
    return [
        (
            "runs_started",
            "INSERT INTO runs_started BY NAME SELECT run_id, 'c' || i AS call_id, n + 1 AS attempt,"
            " kernel_id, CASE WHEN verifies THEN 'verify_bounds' ELSE 'run_compress' END AS tool,"
            f" field, 'rel' AS mode, bound, 10 AS repeats, 1 AS threads, session, agent, {stamp}"
            " FROM made_runs",
        ),
        (
            "runs_finished",
            "INSERT INTO runs_finished BY NAME SELECT run_id, kernel_id,"
            " CASE WHEN verifies THEN 'verify_bounds' ELSE 'run_compress' END AS tool, status,"
            " CASE status WHEN 'roundtrips' THEN 'bound_ok' WHEN 'error' THEN 'terminates' END"
            " AS stage, CASE status WHEN 'roundtrips' THEN 'bound' WHEN 'error' THEN 'exception'"
            " WHEN 'rejected' THEN 'integrity' WHEN 'suspect' THEN 'integrity' END AS failure_kind,"
            " execution, 1 AS threads, 4 + 12 * luck AS ratio, 32 / (4 + 12 * luck) AS bit_rate,"
            f" CASE WHEN {failed} THEN 7 ELSE 0 END AS violations, bound AS abs_bound,"
            " bound * luck AS max_abs_error, luck AS worst_over_bound,"
            " 60 + 20 * luck AS psnr, true AS within_size_rule, 10 AS repetitions,"
            f" CASE WHEN status = 'timed' THEN gbps END AS compress_gbps,"
            " CASE WHEN status = 'timed' THEN gbps * 1.5 END AS decompress_gbps,"
            " CASE WHEN status = 'timed' THEN 1.2 * gbps END AS both_ways_gbps,"
            " CASE WHEN status = 'timed' THEN 40.0 END AS copy_peak_gbps,"
            " CASE WHEN status = 'timed' THEN log2(1 + gbps) END AS transfer_bits,"
            f" CASE WHEN status = 'timed' THEN list_transform(range({size.repetitions}),"
            f" lambda j: {sample}) END AS samples, {stamp} FROM made_runs",
        ),
        (
            "verdicts",
            "INSERT INTO verdicts BY NAME SELECT run_id, kernel_id, status,"
            f" NOT ({failed}) AS holds, 600000 AS checked_values, {stamp} FROM made_runs"
            " WHERE verifies",
        ),
    ]


def _said(stamp: str) -> list[tuple[str, str]]:
    """What was measured beside, used up and judged later."""
    return [
        (
            "metrics",
            "INSERT INTO metrics BY NAME SELECT kernel_id, run_id, 'run' AS origin,"
            " 'compress_device_cycles' AS name, 1e6 / gbps AS value, 'cycles' AS unit,"
            f" 'measured' AS provenance, {stamp} FROM made_runs"
            " WHERE execution = 'simulated' AND status = 'bound_ok' AND NOT verifies",
        ),
        (
            "usage",
            "INSERT INTO usage BY NAME SELECT session, agent, n + 1 AS turn,"
            " 4000 + hash(i, 8) % 2000 AS input_tokens, 300 + hash(i, 9) % 500 AS output_tokens,"
            f" 0.01 AS dollars, 'endpoint' AS source, {stamp} FROM attempts",
        ),
        (
            "marks",
            "INSERT INTO marks BY NAME SELECT 'kernel' AS about, kernel_id AS subject,"
            f" 'hidden' AS verdict, 'made up' AS reason, 'operator' AS marked_by, kernel_id,"
            f" agent, session, {stamp} FROM made_kernels WHERE hash(s, version, 10) % 5000 = 0",
        ),
    ]


def main() -> None:
    """Make one where the command line says."""
    home = Path(sys.argv[1])
    make(home, Size(int(sys.argv[2]) if len(sys.argv) > 2 else ATTEMPTS))
    sys.stderr.write(f"{drain.drain(home)}\n")


if __name__ == "__main__":
    main()
