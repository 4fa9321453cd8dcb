"""Attempts as the ledger has them: how far each came, what it measured, what a profile said."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kernels.records import Execution, Status
from sz_mcp.board.copy import Copy, Row
from sz_mcp.projection import CYCLES

PAGE = 200
"""Attempts that one page lists."""
RUNGS = ("received", "parsed", "compiled", "loads", "terminates", "roundtrips", "bound_ok", "timed")
"""Of the ladder, from the bottom."""
SIMULATED = str(Execution.SIMULATED)
OFF_LADDER = tuple(str(one) for one in Status if str(one) not in RUNGS)


@dataclass(frozen=True)
class Run:
    """One finished run of a kernel."""

    run_id: str
    tool: str
    field: str
    mode: str
    bound: float
    threads: int | None
    status: str
    stage: str | None
    failure_kind: str | None
    failure_message: str | None
    execution: str | None
    host: str
    ratio: float | None
    psnr: float | None
    worst_over_bound: float | None
    speeds: Mapping[str, tuple[float, float | None, float | None]]
    """Direction → median GB/s with its quartiles."""
    cycles: Mapping[str, float]
    """Direction → cycles of a simulated device."""

    @property
    def conditions(self) -> tuple[str, str, float, str, str, int]:
        """Two runs may be compared only if these are equal."""
        return (
            self.field, self.mode, self.bound, self.execution or "", self.host, self.threads or 1,
        )  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """One named number of a build, a run or a profile."""

    name: str
    value: float
    unit: str
    provenance: str


@dataclass(frozen=True)
class Message:
    """What a compiler, a run or a check said."""

    severity: str
    message: str
    file: str
    line: int | None


@dataclass(frozen=True)
class Attempt:
    """One submission and what became of it."""

    kernel_id: str
    agent: str
    session: str
    task: str
    target: str
    number: int | None
    """Its number in the session."""
    received_at: datetime
    parent: str | None
    build_status: str | None
    build_failure: str | None
    """What stopped the build, in words."""
    build_kind: str | None
    runs: tuple[Run, ...]

    @property
    def rung(self) -> int:
        """Highest rung of the ladder that was reached, from 1."""
        stages: list[tuple[str | None, str | None]] = [("received", None)]
        stages.append((self.build_status, None))
        stages += [(run.status, run.stage) for run in self.runs]
        return max(_rung(status, stage) for status, stage in stages)

    @property
    def timed(self) -> tuple[Run, ...]:
        """Runs that measured something."""
        return tuple(run for run in self.runs if run.ratio is not None)

    @property
    def outcome(self) -> str:
        """How its last step ended."""
        return self.runs[-1].status if self.runs else self.build_status or "received"

    @property
    def failures(self) -> tuple[tuple[str, str, str], ...]:
        """(step, kind, message) of each step that failed."""
        told = [("compile_kernel", self.build_kind, self.build_failure)]
        told += [(run.tool, run.failure_kind, run.failure_message) for run in self.runs]
        return tuple((step, kind, message or "") for step, kind, message in told if kind)


def attempts_of(
    copy: Copy, agent: str, sessions: Sequence[str] | None = None, start: int = 0
) -> tuple[Attempt, ...]:
    """Attempts of an agent, or of some of its sessions, the latest first; PAGE at most."""
    where, given = "agent = ?", list[object]([agent])
    if sessions is not None:
        where = f"{where} AND session IN (SELECT unnest(?::VARCHAR[]))"
        given.append(list(sessions))
    rows = copy.rows(
        f"SELECT {_KERNEL} FROM kernels WHERE {where}"
        " ORDER BY recorded_at DESC, kernel_id LIMIT ? OFFSET ?",
        [*given, PAGE, start],
    )
    return _filled(copy, rows)


def attempts_named(copy: Copy, kernel_ids: Sequence[str]) -> dict[str, Attempt]:
    """Attempts by kernel_id; those that there are."""
    rows = copy.rows(
        f"SELECT {_KERNEL} FROM kernels WHERE kernel_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(kernel_ids)],
    )
    return {one.kernel_id: one for one in _filled(copy, rows)}


@dataclass(frozen=True)
class Owner:
    """Who sent a kernel, and where it stands in its session."""

    agent: str
    session: str
    parent: str | None
    before: str | None
    """The kernel before it in its session, of its task and target."""
    after: str | None


def owner(copy: Copy, kernel_id: str) -> Owner | None:
    """Of a kernel; None if there is none of that name."""
    rows = copy.rows(
        "SELECT agent, session, parent, task, target FROM kernels WHERE kernel_id = ?", [kernel_id]
    )
    if not rows:
        return None
    agent, session, parent, task, target = rows[0]
    before, after = _neighbours(copy, kernel_id, [agent, session, task, target])
    return Owner(agent, session, parent, before, after)


def _neighbours(copy: Copy, kernel_id: str, place: Sequence[str]) -> tuple[str | None, str | None]:
    rows = copy.rows(
        "SELECT kernel_id FROM kernels WHERE agent = ? AND session = ? AND task = ? AND target = ?"
        " ORDER BY recorded_at, kernel_id",
        place,
    )
    names = [str(name) for (name,) in rows]
    at = names.index(kernel_id)
    return (
        names[at - 1] if at else None,
        names[at + 1] if at + 1 < len(names) else None,
    )


def metrics_of(copy: Copy, kernel_id: str) -> tuple[Metric, ...]:
    """Numbers of its builds and profiles; of several the latest, by name."""
    rows = copy.rows(
        "SELECT name, arg_max(value, recorded_at), arg_max(unit, recorded_at),"
        " arg_max(provenance, recorded_at) FROM metrics WHERE kernel_id = ? AND origin <> 'run'"
        " GROUP BY name ORDER BY name",
        [kernel_id],
    )
    return tuple(Metric(*row) for row in rows)


def bottleneck_of(copy: Copy, kernel_id: str) -> str:
    """What limits it, as its latest profile says; empty without one."""
    rows = copy.rows(
        "SELECT bottleneck FROM profiles WHERE kernel_id = ? AND bottleneck IS NOT NULL"
        " ORDER BY recorded_at DESC LIMIT 1",
        [kernel_id],
    )
    return str(rows[0][0]) if rows else ""


def messages_of(copy: Copy, kernel_id: str, most: int = 100) -> tuple[Message, ...]:
    """Diagnostics in its files, in order."""
    rows = copy.rows(
        "SELECT severity, message, coalesce(file, ''), line_number FROM diagnostics"
        " WHERE kernel_id = ? ORDER BY recorded_at, position LIMIT ?",
        [kernel_id, most],
    )
    return tuple(Message(*row) for row in rows)


def guidance_of(copy: Copy, kernel_id: str) -> tuple[tuple[str, str, str], ...]:
    """(rule, explanation, suggestion) that the agent was given, each once."""
    rows = copy.rows(
        "SELECT guidance FROM builds WHERE kernel_id = ? AND guidance IS NOT NULL UNION ALL"
        " SELECT guidance FROM runs_finished WHERE kernel_id = ? AND guidance IS NOT NULL",
        [kernel_id, kernel_id],
    )
    told = [one for (text,) in rows for one in json.loads(text)]
    named = [
        (str(one.get("rule", "")), str(one.get("explanation", "")), str(one.get("suggestion", "")))
        for one in told
    ]
    return tuple(dict.fromkeys(named))


_KERNEL = "kernel_id, agent, session, task, target, attempt, recorded_at, parent"


def _filled(copy: Copy, kernels: Sequence[Row]) -> tuple[Attempt, ...]:
    names = [row[0] for row in kernels]
    builds = {
        row[0]: row[1:]
        for row in copy.rows(
            "SELECT kernel_id, arg_max(status, recorded_at),"
            " arg_max(coalesce(failure_message, ''), recorded_at),"
            " arg_max(coalesce(failure_kind, ''), recorded_at)"
            " FROM builds WHERE kernel_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY kernel_id",
            [names],
        )
    }
    runs: dict[str, list[Run]] = defaultdict(list)
    found_runs = copy.rows(_RUNS, [names])
    cycles = _cycles(copy, [row[1] for row in found_runs if row[11] == SIMULATED])
    for row in found_runs:
        runs[row[0]].append(_run(row[1:], cycles.get(row[1], {})))
    found = []
    for kernel_id, agent, session, task, target, number, received_at, parent in kernels:
        status, message, kind = builds.get(kernel_id, (None, None, None))
        found.append(
            Attempt(
                kernel_id,
                agent,
                session,
                task,
                target,
                number,
                received_at,
                parent,
                status,
                message or None,
                kind or None,
                tuple(runs[kernel_id]),
            )
        )
    return tuple(found)


_RUNS = """
SELECT
  f.kernel_id, f.run_id, f.tool, coalesce(s.field, ''), coalesce(s.mode, ''), s.bound,
  coalesce(f.threads, s.threads), f.status, f.stage, f.failure_kind, f.failure_message,
  f.execution, coalesce(f.host, ''), f.ratio, f.psnr, f.worst_over_bound,
  f.compress_gbps, f.compress_gbps_low, f.compress_gbps_high,
  f.decompress_gbps, f.decompress_gbps_low, f.decompress_gbps_high,
  f.run_gbps, f.run_gbps_low, f.run_gbps_high
FROM (
  SELECT * FROM runs_finished WHERE kernel_id IN (SELECT unnest($1::VARCHAR[]))
) f LEFT JOIN (
  SELECT run_id, field, mode, bound, threads FROM runs_started
  WHERE kernel_id IN (SELECT unnest($1::VARCHAR[]))
) s USING (run_id)
ORDER BY f.recorded_at, f.run_id
"""


def _run(row: Row, cycles: Mapping[str, float]) -> Run:
    quartiles = (row[15:18], row[18:21], row[21:24])
    directions = ("compress", "decompress", "run")
    speeds = {
        name: (speed[0], speed[1], speed[2])
        for name, speed in zip(directions, quartiles, strict=True)
        if speed[0] is not None
    }
    given = dict(zip(_RUN_COLUMNS, row, strict=False))
    bound = float("nan") if row[4] is None else float(row[4])
    return Run(**{**given, "bound": bound}, speeds=speeds, cycles=cycles)


_RUN_COLUMNS = (
    "run_id", "tool", "field", "mode", "bound", "threads", "status", "stage", "failure_kind",
    "failure_message", "execution", "host", "ratio", "psnr", "worst_over_bound",
)  # fmt: skip


def _cycles(copy: Copy, run_ids: Sequence[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    if not run_ids:
        return found
    for run_id, name, value in copy.rows(
        "SELECT run_id, name, value FROM metrics"
        " WHERE run_id IN (SELECT unnest(?::VARCHAR[])) AND ends_with(name, ?)",
        [run_ids, CYCLES],
    ):
        found[run_id][name.removesuffix(CYCLES).rstrip("_")] = value
    return found


def _rung(status: str | None, stage: str | None) -> int:
    if status in RUNGS:
        return RUNGS.index(status) + 1
    # `stage` is the first rung that was not reached.
    return RUNGS.index(stage) if stage in RUNGS else 1
