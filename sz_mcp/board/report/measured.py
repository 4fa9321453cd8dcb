"""What a report is about: the best eligible run of every agent under each set of conditions.

On hardware the best is the run of the highest score, of simulated ones that of fewest cycles, and
of emulated ones, which have no speed, that of the largest ratio. Runs of different executions,
hosts or threads never stand for one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.copy import Copy, Row
from sz_mcp.projection import CYCLES


@dataclass(frozen=True)
class Scope:
    """What a report covers; empty: everything."""

    bench: str = ""
    task: str = ""
    target: str = ""

    @property
    def words(self) -> str:
        """In a phrase."""
        parts = [
            f"bench {self.bench}" if self.bench else "",
            f"task {self.task}" if self.task else "",
            f"target {self.target}" if self.target else "",
        ]
        return ", ".join(filter(None, parts)) or "the whole ledger"


@dataclass(frozen=True)
class Speed:
    """Median GB/s of one direction with its quartiles."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Width of the quartiles over the median."""
        return (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Board:
    """Conditions that what is compared has in common, but for field and bound."""

    task: str
    target: str
    execution: str
    host: str
    threads: int

    @property
    def words(self) -> str:
        """In a phrase."""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        where = f" (host {self.host[:12]})" if self.execution == "hardware" and self.host else ""
        return f"{self.task} on {self.target}, {self.execution}{threads}{where}"


@dataclass(frozen=True)
class Measured:
    """One run."""

    board: Board
    agent: str
    session: str
    field: str
    mode: str
    bound: float
    kernel_id: str
    run_id: str
    attempt: int | None
    score: float | None
    unit: str
    ratio: float | None
    bit_rate: float | None
    psnr: float | None
    worst_over_bound: float | None
    compress: Speed | None
    decompress: Speed | None
    run: Speed | None
    copy_peak_gbps: float | None
    repetitions: int | None
    disturbed: int | None
    harness: str | None
    cycles: float | None
    """Of a simulated device, all directions together."""

    @property
    def speeds(self) -> dict[str, Speed]:
        """Direction → speed, where there is one."""
        found = {"compress": self.compress, "decompress": self.decompress, "run": self.run}
        return {name: speed for name, speed in found.items() if speed is not None}

    @property
    def throughput(self) -> float | None:
        """GB/s that charts show: both directions together, or that of a stage."""
        if self.compress is not None and self.decompress is not None:
            return 2 / (1 / self.compress.median + 1 / self.decompress.median)
        return None if self.run is None else self.run.median

    @property
    def where(self) -> str:
        """Its conditions in a phrase."""
        return f"{self.board.words}, {self.field}, {self.mode} {self.bound:g}"


@dataclass(frozen=True)
class Step:
    """A score of a session that leaves the best one before it behind."""

    board: Board
    agent: str
    session: str
    field: str
    mode: str
    bound: float
    kernel_id: str
    run_id: str
    attempt: int
    score: float
    before: float


def measured(copy: Copy, scope: Scope) -> tuple[Measured, ...]:
    """Best eligible runs, in the order of their conditions. Raises duckdb.Error."""
    where, given = _conditions(scope)
    rows = copy.rows(
        f"""
        WITH
          counted AS (
            SELECT run_id, sum(value) AS cycles FROM metrics
            WHERE ends_with(name, '{CYCLES}') GROUP BY run_id),
          best AS (
            SELECT * FROM scored_runs LEFT JOIN counted USING (run_id)
            WHERE ineligible_because IS NULL {where}
            QUALIFY row_number() OVER (
              PARTITION BY task, target, execution, host, threads, field, mode, bound, agent
              ORDER BY score DESC NULLS LAST, cycles NULLS LAST, ratio DESC NULLS LAST,
                measured_at, run_id) = 1)
        SELECT
          b.task, b.target, b.execution, coalesce(b.host, ''), coalesce(b.threads, 1), b.agent,
          b.session, b.field, b.mode, b.bound, b.kernel_id, b.run_id, b.attempt, b.score,
          b.score_unit, b.ratio, f.bit_rate, f.psnr, b.worst_over_bound,
          f.compress_gbps, f.compress_gbps_low, f.compress_gbps_high,
          f.decompress_gbps, f.decompress_gbps_low, f.decompress_gbps_high,
          f.run_gbps, f.run_gbps_low, f.run_gbps_high,
          f.copy_peak_gbps, f.repetitions, f.disturbed_samples, b.harness, b.cycles
        FROM best b JOIN runs_finished f USING (run_id)
        ORDER BY ALL
        """,
        given,
    )
    return tuple(_measured(row) for row in rows)


def steps(copy: Copy, scope: Scope, factor: float) -> tuple[Step, ...]:
    """Attempts whose score is more than `factor` times the best before it in their session."""
    where, given = _conditions(scope)
    rows = copy.rows(
        f"""
        WITH ordered AS (
          SELECT *, max(score) OVER (
            PARTITION BY agent, session, task, target, execution, host, threads, field, mode, bound
            ORDER BY attempt, measured_at, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM scored_runs
          WHERE ineligible_because IS NULL AND score > 0 AND score_unit = 'GB/s'
            AND attempt IS NOT NULL {where}
        )
        SELECT task, target, execution, coalesce(host, ''), coalesce(threads, 1), agent, session,
          field, mode, bound, kernel_id, run_id, attempt, score, before
        FROM ordered WHERE score > ? * before ORDER BY score / before DESC, run_id LIMIT 100
        """,
        [*given, factor],
    )
    return tuple(Step(Board(*row[:5]), *row[5:]) for row in rows)


def _conditions(scope: Scope) -> tuple[str, list[str]]:
    parts, given = [], []
    for column, value in (("task", scope.task), ("target", scope.target)):
        if value:
            parts.append(f"AND {column} = ?")
            given.append(value)
    if scope.bench:
        parts.append("AND starts_with(session, ?)")
        given.append(f"{scope.bench}/")
    return " ".join(parts), given


_PLAIN = (
    "agent", "session", "field", "mode", "bound", "kernel_id", "run_id", "attempt", "score",
    "unit", "ratio", "bit_rate", "psnr", "worst_over_bound",
)  # fmt: skip
_LAST = ("copy_peak_gbps", "repetitions", "disturbed", "harness", "cycles")


def _measured(row: Row) -> Measured:
    given = dict(zip(_PLAIN, row[5:19], strict=True)) | dict(zip(_LAST, row[28:], strict=True))
    return Measured(
        board=Board(row[0], row[1], row[2], row[3], row[4]),
        compress=_speed(row[19:22]),
        decompress=_speed(row[22:25]),
        run=_speed(row[25:28]),
        **given,
    )


def _speed(quartiles: Sequence[float | None]) -> Speed | None:
    median, low, high = quartiles
    if median is None:
        return None
    return Speed(median, median if low is None else low, median if high is None else high)
