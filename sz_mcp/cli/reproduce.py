"""`sz-mcp runs reproduce`: an old run again, and whether the same comes out.

The stored source of the run's kernel runs once more with the run's field, bound, repetitions and
threads. What is exact (sizes, errors, verdicts) must be equal; speeds must agree within what two
runs of one kernel differ by.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from rich import box
from rich.table import Table

from kernels.fields import Catalogue, FieldDataError, UnknownFieldError
from results_db import runs
from results_db.encoding import Json
from results_db.errors import LedgerError
from results_db.queries import query
from results_db.rows import RunStartedRow, SessionRow
from results_db.statistics import unpaired_ratio
from sz_mcp.app import App
from sz_mcp.asked import Asked
from sz_mcp.cli.screen import screen
from sz_mcp.engine import Outcome
from sz_mcp.errors import ArgumentProblems, StepFailed
from sz_mcp.jobs import Job
from sz_mcp.scripted import watched
from sz_mcp.serving import log_to_stderr
from sz_mcp.settings import Settings

TOLERANCE = 1.05
"""Speeds of two runs agree if the 95% interval of their ratio comes this near to 1: the processes,
where their memory lies and what the processor's clock does differ from run to run."""
REPEATS = 7
"""Of runs recorded before repetitions were."""
UNDECIDED = ("busy", "cancelled")
"""Failures that say nothing of the kernel."""
EXACT = ("stream_bytes", "side_bytes", "achieved", "max_abs_error", "violations", "checked_values")


@dataclass(frozen=True)
class Line:
    """One figure of both runs."""

    what: str
    old: Json
    new: Json
    agrees: bool | None
    """None: not to be compared."""
    note: str = ""


def run(settings: Settings, run_id: str, wish: Mapping[str, Any], *, as_json: bool) -> None:
    """Repeat a run and print both; `wish` has another field or number of repetitions, or None.

    Raises:
        StepFailed: it can't be repeated, or came out differently.
    """
    log_to_stderr()
    old = _one(settings.home, run_id)
    asked = _again(old, wish)
    app = App(settings, "cli")
    app.start()
    try:
        repeat(app, asked)
    finally:
        app.close()
    new = _one(settings.home, asked.run_id)
    lines = compared(old, new, _seconds(settings.home, old), _seconds(settings.home, new))
    verdicts = {line.agrees for line in lines}
    agree = False if False in verdicts else True if True in verdicts else None
    if as_json:
        told = {"old": old["run_id"], "new": new["run_id"], "agree": agree}
        json.dump(told | {"lines": [asdict(line) for line in lines]}, sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        _print(old, new, lines)
    if new["failure_kind"] in UNDECIDED:
        raise StepFailed(f"{new['run_id']} came to no result: {_message(new)}")
    if agree is False:
        raise StepFailed(f"{new['run_id']} does not agree with {old['run_id']}")


def compared(
    old: Mapping[str, Json],
    new: Mapping[str, Json],
    old_seconds: Mapping[str, Sequence[float]],
    new_seconds: Mapping[str, Sequence[float]],
) -> list[Line]:
    """Both runs line by line; seconds: direction → time per input of undisturbed requests."""
    same_field = old["field"] == new["field"]
    status = old["status"] == new["status"] if same_field else None
    if new["failure_kind"] in UNDECIDED:
        status = None
    lines = [Line("status", old["status"], new["status"], status, _message(new))]
    for name in EXACT:
        # A stage has no stream.
        if (
            new[name] is not None
            and old[name] is not None
            and (old[name] or new[name] or name != "stream_bytes")
        ):
            agrees = old[name] == new[name] if same_field else None
            lines.append(Line(name, old[name], new[name], agrees))
    same_machine = old["host"] == new["host"]
    for direction in old_seconds.keys() & new_seconds.keys():
        ratio = unpaired_ratio(old_seconds[direction], new_seconds[direction])
        near = ratio.low <= TOLERANCE and ratio.high >= 1 / TOLERANCE
        judged = same_field and same_machine and ratio.low > 0
        note = f"{ratio.ratio:.4g} times as fast, 95% interval {ratio.low:.4g} to {ratio.high:.4g}"
        if not same_machine:
            note += "; on another machine"
        name = f"{direction}_gbps"
        agrees = near if judged else None
        lines.append(Line(name, old[name], new[name], agrees, note))
    return lines


def _again(old: Mapping[str, Json], wish: Mapping[str, Any]) -> Asked:
    """The run as it is to be repeated."""
    tool, known = str(old["tool"]), ("verify_bounds", "run_compress", "profile")
    if tool not in known or old["field"] is None or not isinstance(old["bound"], int | float):
        raise StepFailed(f"{old['run_id']} can't be repeated: the ledger has no whole beginning")
    if old["against"] is not None:
        raise StepFailed(
            f"{old['run_id']} compared two kernels: sz-mcp runs compare {old['kernel_id']} "
            f"{old['against']} --field {old['field']}"
        )
    repeats = wish["repeats"] or old["repeats"] or old["repetitions"] or REPEATS
    return Asked(
        tool=tool,
        run_id=f"r_{uuid.uuid4().hex}",
        kernel_id=str(old["kernel_id"]),
        field=wish["field"] or str(old["field"]),
        mode=str(old["mode"]),
        bound=float(old["bound"]),
        repeats=cast("int", repeats),
        threads=cast("int", old["threads"] or 1),
        reproduces=str(old["run_id"]),
    )


def repeat(app: App, asked: Asked) -> None:
    """Run it again, recorded. Raises StepFailed."""
    kernel = app.kernel(asked.kernel_id)
    if kernel is None:
        raise StepFailed(f"the source of {asked.kernel_id} is not in {app.settings.home}")
    engine, agent = app.engine(), app.settings.agent
    asked = _recorded(asked, engine.catalogue)
    session = f"reproduce-{uuid.uuid4().hex}"
    started = RunStartedRow(
        run_id=asked.run_id,
        call_id=session,
        kernel_id=asked.kernel_id,
        tool=asked.tool,
        field=asked.field,
        mode=asked.mode,
        bound=asked.bound,
        session=session,
        agent=agent,
        repeats=asked.repeats,
        threads=asked.threads,
        reproduces=asked.reproduces,
    )
    job: Job[Outcome] = Job(asked.run_id, asked.tool, asked.kernel_id, session)
    try:
        app.ledger.session(SessionRow(session, agent, "sz-mcp runs reproduce", "cli"))
        app.ledger.run_started(started)
        app.upkeep.note()
        with watched() as tell:
            job.listen(lambda: tell(job.progress.message, job.progress.fraction))
            engine.measure(asked, kernel, job)
    except ArgumentProblems as error:
        raise StepFailed(str(error)) from error


def _recorded(asked: Asked, catalogue: Catalogue) -> Asked:
    """With the field's name as the ledger may have it: agents read that."""
    if asked.field == "suite" and asked.tool == "verify_bounds":
        return asked
    try:
        return replace(asked, field=catalogue.info(asked.field).name)
    except (UnknownFieldError, FieldDataError) as error:
        raise StepFailed(str(error)) from error


def _seconds(home: Path, run: Mapping[str, Json]) -> dict[str, list[float]]:
    found = query(
        home,
        "SELECT direction, list(seconds / batch ORDER BY repetition) FROM samples"
        f" WHERE run_id = {runs.literal(str(run['run_id']))} AND NOT disturbed AND seconds > 0"
        " GROUP BY direction ORDER BY direction",
        drain_first=False,
    )
    return {str(direction): cast("list[float]", seconds) for direction, seconds in found.rows}


def _one(home: Path, run_id: str) -> dict[str, Json]:
    try:
        return runs.one_run(home, run_id)
    except LedgerError as error:
        raise StepFailed(str(error)) from error


def _message(run: Mapping[str, Json]) -> str:
    return str(run["failure_message"] or "")


def _print(old: Mapping[str, Json], new: Mapping[str, Json], lines: Sequence[Line]) -> None:
    console = screen()
    where = f"{old['tool']} of {old['kernel_id']} on {new['field']}"
    if old["field"] != new["field"]:
        where += f" (then on {old['field']}: nothing to compare)"
    console.print(f"{where}, {new['mode']} {new['bound']:g}, {new['threads'] or 1} threads")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("", str(old["run_id"])[:12], str(new["run_id"])[:12], "agree", ""):
        table.add_column(column, overflow="fold")
    for line in lines:
        agree = {True: "yes", False: "NO", None: ""}[line.agrees]
        table.add_row(line.what, _figure(line.old), _figure(line.new), agree, line.note)
    console.print(table)


def _figure(value: Json) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
