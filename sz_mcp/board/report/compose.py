"""From a ledger to a report: what is read, judged and drawn, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from results_db.errors import QueryError
from results_db.standings import AgentRow
from results_db.standings import Scope as Within
from sz_mcp import __version__
from sz_mcp.board.copy import Copy, opened
from sz_mcp.board.figures import percent
from sz_mcp.board.overall import compared
from sz_mcp.board.report.anomalies import JUMP, Anomaly, anomalies
from sz_mcp.board.report.document import (
    Bullets,
    Document,
    Figure,
    Heading,
    Listing,
    Numbers,
    Paragraph,
    Part,
)
from sz_mcp.board.report.drawn import figures
from sz_mcp.board.report.log import (
    CellEntry,
    HostEntry,
    KernelEntry,
    Log,
    SessionEntry,
    cells,
    indented,
    log,
)
from sz_mcp.board.report.measured import Measured, Scope, measured, steps
from sz_mcp.board.report.summary import sentences
from sz_mcp.board.tables import Cell, Column, number, words


def report(home: Path, scope: Scope) -> Document:
    """The report of a scope.

    Raises: QueryError if there is nothing to report on, with what to do; duckdb.Error.
    """
    with opened(home) as copy:
        best = measured(copy, scope)
        if not best:
            raise QueryError(_nothing(copy, scope))
        found = anomalies(best, steps(copy, scope, JUMP), cells(copy, scope))
        return _document(copy, scope, best, found)


def _document(
    copy: Copy, scope: Scope, best: Sequence[Measured], found: Sequence[Anomaly]
) -> Document:
    drawn = figures(best)
    count = sum(isinstance(part, Figure) for part in drawn)
    parts: list[Part] = [
        Heading("Summary", "summary"),
        Bullets(sentences(best)),
        *_standings(compared(copy, scope.bench) if not (scope.task or scope.target) else ()),
        Heading("Anomalies", "anomalies"),
        *_anomalies(found),
        Heading("Figures", "figures"),
        *(drawn or [Paragraph("There is too little data for any figure.")]),
        Heading("Results", "results"),
        _results(best),
        Heading("Experiment log", "log"),
        *_log(log(copy, scope, best)),
    ]
    return Document(f"sz-mcp report: {scope.words}", _lead(copy, best, count), tuple(parts))


def _lead(copy: Copy, best: Sequence[Measured], count: int) -> str:
    as_of = "" if copy.as_of is None else f" as of {copy.as_of:%Y-%m-%d %H:%M:%S} UTC"
    return (
        f"From the ledger{as_of}, by sz-mcp {__version__}: {len(best)} results, {count} figures. "
        "A result is the best eligible run of an agent under the same conditions. "
        "Emulated runs have no speed and simulated ones have cycles, so neither is compared with "
        "hardware."
    )


def _standings(found: Sequence[tuple[Within, Sequence[AgentRow]]]) -> Iterable[Part]:
    """Agents over all conditions, a table per execution and machine."""
    if not found:
        return
    yield Heading("Agents overall", "standings")
    yield Paragraph(
        "Under each set of conditions a session is worth its best result over the best of anybody "
        "there, from 0 to 1; an agent's worth is the mean over conditions, then sessions, with the "
        "95% interval of a bootstrap over both. Agents whose intervals of ranks overlap are tied."
    )
    columns = (
        Column("Agent"), Column("Rank"), Column("Worth", True), Column("From", True),
        Column("To", True), Column("Sessions", True), Column("Verified", True),
        Column("Hack rate", True), Column("First run", True), Column("Kernels", True),
        Column("Tokens", True), Column("Dollars", True), Column("Model"),
    )  # fmt: skip
    for place, (within, rows) in enumerate(found):
        where = f"hardware, host {within.host}" if within.host else within.execution
        yield Numbers(f"standings-{place}", where, columns, tuple(_standing(row) for row in rows))


def _standing(row: AgentRow) -> tuple[Cell, ...]:
    one = row.standing
    return (
        words(one.agent), words(one.verdict), number(one.mean), number(one.low), number(one.high),
        number(one.sessions), Cell(percent(row.passed.share), row.passed.share),
        Cell(percent(row.hacks.share), row.hacks.share), number(row.first_runnable),
        number(row.kernels), number(row.tokens or None), number(row.dollars), words(row.model),
    )  # fmt: skip


def _anomalies(found: Sequence[Anomaly]) -> Iterable[Part]:
    if not found:
        yield Paragraph("None of the rules found anything that asks for a second look.")
        return
    yield Paragraph(
        "What asks for a second look, and the measurement that would decide. An anomaly is no "
        "verdict."
    )
    columns = (
        Column("What", wrap=True), Column("Evidence", wrap=True), Column("Measure next", wrap=True),
    )  # fmt: skip
    rows = tuple((words(one.kind), words(one.evidence), words(one.next)) for one in found)
    yield Numbers(
        "anomalies-table", f"{len(found)} finding{'' if len(found) == 1 else 's'}", columns, rows
    )


def _results(best: Sequence[Measured]) -> Numbers:
    columns = (
        Column("Agent"), Column("Task"), Column("Target"), Column("Execution"), Column("Field"),
        Column("Bound"), Column("Score", True), Column("Unit"), Column("Ratio", True),
        Column("Compress GB/s", True), Column("Decompress GB/s", True), Column("Stage GB/s", True),
        Column("Cycles", True), Column("PSNR dB", True), Column("Error / bound", True),
        Column("Run"),
    )  # fmt: skip
    rows = tuple(_result(one) for one in best)
    caption = f"The best eligible run of every agent under each set of conditions: {len(rows)}"
    return Numbers("results-table", caption, columns, rows)


def _result(one: Measured) -> tuple[Cell, ...]:
    speeds = [one.speeds.get(name) for name in ("compress", "decompress", "run")]
    return (
        words(one.agent), words(one.board.task), words(one.board.target),
        words(one.board.execution), words(one.field), words(f"{one.mode} {one.bound:g}"),
        number(one.score), words(one.unit if one.score is not None else None), number(one.ratio),
        *(number(None if speed is None else speed.median) for speed in speeds),
        number(one.cycles, 6), number(one.psnr), number(one.worst_over_bound, 5),
        words(one.run_id),
    )  # fmt: skip


def _log(found: Log) -> Iterable[Part]:
    for bench in found.benches:
        yield Paragraph(
            f"Bench {bench.bench_id}: {bench.cells} cells, started {bench.starts} times, "
            f"specification SHA-256 {bench.spec_hash}, versions {bench.versions}. To repeat it, "
            "save the specification below and run sz-mcp bench on it."
        )
        yield Listing(indented(bench.spec))
    if found.cells:
        yield _cells(found.cells)
    yield _sessions(found.sessions)
    yield _hosts(found.hosts)
    yield _kernels(found.kernels)


def _cells(entries: Sequence[CellEntry]) -> Numbers:
    columns = (
        Column("Agent"), Column("Bench"), Column("Ended"), Column("Cells", True),
        Column("Reasons", wrap=True),
    )  # fmt: skip
    rows = tuple(
        (
            words(one.agent), words(one.bench_id), words(one.event), number(one.cells),
            words("; ".join(one.reasons)),
        )
        for one in entries
    )  # fmt: skip
    return Numbers("cells-table", "How the cells of benches ended", columns, rows)


def _sessions(entries: Sequence[SessionEntry]) -> Numbers:
    columns = (
        Column("Agent"), Column("Model"), Column("Client"), Column("Prompt"), Column("Feedback"),
        Column("Sessions", True), Column("Calls", True), Column("First"), Column("Last"),
    )  # fmt: skip
    rows = tuple(
        (
            words(one.agent), words(one.model), words(one.client), words(one.prompt_tier),
            words(one.feedback), number(one.sessions), number(one.calls),
            words(_moment(one.first)), words(_moment(one.last)),
        )
        for one in entries
    )  # fmt: skip
    return Numbers("sessions-table", "Who worked, and under which conditions", columns, rows)


def _hosts(entries: Sequence[HostEntry]) -> Numbers:
    columns = (
        Column("Host"), Column("Processor"), Column("Cores", True), Column("GPU"), Column("System"),
        Column("Python"), Column("Versions", wrap=True), Column("Commit"), Column("Harness"),
    )  # fmt: skip
    rows = tuple(
        (
            words(one.fingerprint), words(one.cpu), number(one.cores), words(one.gpu),
            words(one.os), words(one.python), words(one.versions), words(one.commit),
            words(one.harness),
        )
        for one in entries
    )  # fmt: skip
    return Numbers("hosts-table", "On which machines and software", columns, rows)


def _kernels(entries: Sequence[KernelEntry]) -> Numbers:
    columns = (Column("Run"), Column("Kernel"), Column("Content hash"), Column("Files' SHA-256"))
    rows = tuple(
        (words(one.run_id), words(one.kernel_id), words(one.content_hash), words(one.blob))
        for one in entries
    )
    told = "Which sources; sz-mcp runs reproduce RUN repeats one under the same conditions"
    return Numbers("kernels-table", told, columns, rows)


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _nothing(copy: Copy, scope: Scope) -> str:
    """Why there is nothing to report on, and what to do."""
    ((kernels, runs),) = copy.rows(
        "SELECT (SELECT count(*) FROM kernels), (SELECT count(*) FROM runs_finished)"
    )
    if kernels == 0:
        return (
            "the ledger is empty: let an agent work (`sz-mcp serve`), or run `sz-mcp bench SPEC` "
            "or `sz-mcp eval DIR --task szp`, then ask again"
        )
    reasons = copy.rows(
        "SELECT ineligible_because, count(*) FROM scored_runs WHERE ineligible_because IS NOT NULL"
        " GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
    )
    told = "; ".join(f"{count} × {reason}" for reason, count in reasons)
    return (
        f"no run that may be ranked in {scope.words}: the ledger has {kernels} kernels and {runs} "
        f"runs{f' ({told})' if told else ''}. --bench, --task and --target take what `sz-mcp sql "
        '"SELECT DISTINCT task, target, session FROM kernels"` lists'
    )
