"""One attempt: what it measured, and what it changed against the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sz_mcp.board.attempts import RUNGS, Attempt, Message, Metric, Run
from sz_mcp.board.differences import Edit, FileChange, changes
from sz_mcp.board.figures import NONE, shown, spread
from sz_mcp.board.html import Child, Markup, address, element
from sz_mcp.board.layout import note, section
from sz_mcp.board.tables import Cell, Column, facts, number, table, words

MOST_METRICS = 60
UNFOLDED = 120
"""Lines of a file up to which they are shown at once."""
SIGNS = {"same": " ", "added": "+", "removed": "-"}


@dataclass(frozen=True)
class Work:
    """What only those may see who may see a kernel's work."""

    files: Mapping[str, str]
    """Empty if they are gone: pruned, or damaged."""
    metrics: tuple[Metric, ...] = ()
    bottleneck: str = ""
    messages: tuple[Message, ...] = ()
    guidance: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Shown:
    """An attempt as one reader may see it."""

    attempt: Attempt
    work: Work | None
    """None: the reader may not see it."""


@dataclass(frozen=True)
class Places:
    """Where a reader can go from here; kernel_ids, None where it can't."""

    agent: str | None
    before: str | None
    after: str | None
    parent: str | None


def attempt_page(one: Shown, before: Shown | None, places: Places) -> list[Markup]:
    """The content of the page."""
    attempt = one.attempt
    parts = [_facts(attempt, places), _ways(places)]
    if before is not None:
        parts.append(_changed(before.attempt, attempt))
        if before.work is not None and one.work is not None:
            parts.append(_profile_changed(before.work, one.work))
            parts.append(_difference(before.work, one.work))
    parts.append(_runs(attempt))
    if one.work is None:
        parts.append(note("Source and messages are not shown: their owner does not share them."))
    else:
        parts += [_failures(attempt, one.work), _source(one.work)]
    return [part for part in parts if part]


def rung_name(attempt: Attempt) -> str:
    """The highest rung, in words."""
    return RUNGS[attempt.rung - 1].replace("_", " ")


def outcome(attempt: Attempt) -> Markup:
    """Rung, and how the last step ended where that is no rung."""
    last = attempt.outcome
    told = None if last in RUNGS else element("span", last, class_="tag bad")
    return element("span", rung_name(attempt), " ", told)


def _facts(attempt: Attempt, places: Places) -> Markup:
    agent: Child = "not shown"
    if places.agent is not None:
        link = address("agent", name=places.agent)
        agent = element("a", element("bdi", places.agent), href=link)
    parent: Child = None
    if places.parent is not None:
        link = address("attempt", kernel=places.parent)
        parent = element("a", element("code", places.parent), href=link)
    pairs: list[tuple[str, Child]] = [
        ("Agent", agent),
        ("Task", attempt.task),
        ("Target", attempt.target),
        ("Session", element("bdi", attempt.session) if places.agent is not None else None),
        ("Attempt", "" if attempt.number is None else str(attempt.number)),
        ("Received", f"{attempt.received_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("Reached", outcome(attempt)),
        ("Derived from", parent),
    ]
    return facts([(name, value) for name, value in pairs if value])


def _ways(places: Places) -> Markup | None:
    links = [
        element("li", element("a", name, href=address("attempt", kernel=to), rel=rel))
        for name, to, rel in (
            ("← The attempt before", places.before, "prev"),
            ("The attempt after →", places.after, "next"),
        )
        if to is not None
    ]
    if not links:
        return None
    return element("nav", element("ul", links), aria_label="Attempts of this session")


def _changed(before: Attempt, after: Attempt) -> Markup:
    """What is different in rung, ratio and speed, of runs under the same conditions."""
    columns = (
        Column("Measure"), Column("Conditions"), Column("Before", True), Column("After", True),
        Column("Change", True, "After over before"),
    )  # fmt: skip
    told = element(
        "p",
        f"It reached “{rung_name(after)}”; the attempt before, “{rung_name(before)}”.",
    )
    # Of several runs under the same conditions the last one.
    earlier, later = ({run.conditions: run for run in one.timed} for one in (before, after))
    rows = [
        row
        for run in later.values()
        if (old := earlier.get(run.conditions)) is not None
        for row in _pairs(old, run)
    ]
    if not rows:
        nothing = "No run of both was under the same conditions, so speeds can't be compared."
        return section("What it changed", told, element("p", nothing), name="changed")
    caption = "Runs of both attempts under the same conditions"
    return section(
        "What it changed", told, table("changes", caption, columns, rows), name="changed"
    )


def _pairs(old: Run, new: Run) -> list[list[Cell]]:
    where = conditions(new)
    rows = []
    if old.ratio is not None and new.ratio is not None:
        rows.append(
            _pair("Ratio", where, (old.ratio, shown(old.ratio)), (new.ratio, shown(new.ratio)))
        )
    for direction, (speed, low, high) in new.speeds.items():
        if direction in old.speeds:
            was, was_low, was_high = old.speeds[direction]
            rows.append(
                _pair(
                    f"{direction} GB/s",
                    where,
                    (was, spread(was, was_low, was_high)),
                    (speed, spread(speed, low, high)),
                )
            )
    for name, cycles in new.cycles.items():
        if name in old.cycles:
            was = old.cycles[name]
            rows.append(
                _pair(f"{name} cycles", where, (was, shown(was, 6)), (cycles, shown(cycles, 6)))
            )
    return rows


def _pair(name: str, where: str, before: tuple[float, str], after: tuple[float, str]) -> list[Cell]:
    factor = after[0] / before[0] if before[0] else None
    return [
        words(name), words(where), Cell(before[1], before[0]), Cell(after[1], after[0]),
        change(factor),
    ]  # fmt: skip


def change(factor: float | None) -> Cell:
    """A factor, marked by its direction in words as well as by colour."""
    if factor is None:
        return Cell(NONE)
    class_ = "good" if factor > 1.005 else "bad" if factor < 0.995 else "faint"
    return Cell(element("span", f"× {shown(factor)}", class_=class_), factor)


def conditions(run: Run) -> str:
    """Field, bound and execution of a run."""
    threads = f", {run.threads} threads" if (run.threads or 1) > 1 else ""
    return f"{run.field}, {run.mode} {run.bound:g}{threads} ({run.execution or run.tool})"


def _profile_changed(before: Work, after: Work) -> Markup | None:
    known = {one.name: one for one in before.metrics}
    pairs = [
        (known[one.name], one)
        for one in after.metrics
        if one.name in known and known[one.name].value != one.value
    ]
    if not pairs and before.bottleneck == after.bottleneck:
        return None
    told = [
        element("li", element("strong", name), " ", element("bdi", one.bottleneck or "no profile"))
        for name, one in (("Before:", before), ("After:", after))
    ]
    columns = (
        Column("Number"), Column("Unit"), Column("Before", True), Column("After", True),
        Column("Factor", True),
    )  # fmt: skip
    pairs.sort(key=lambda pair: _distance(*pair), reverse=True)
    rows = [
        [
            words(new.name), words(new.unit), number(old.value), number(new.value),
            number(new.value / old.value if old.value else None),
        ]
        for old, new in pairs[:MOST_METRICS]
    ]  # fmt: skip
    caption = "Numbers of build and profile that changed, the largest change first"
    return section(
        "What the profile says",
        element("ul", told),
        table("profile", caption, columns, rows) if rows else None,
    )


def _distance(old: Metric, new: Metric) -> float:
    scale = max(abs(old.value), abs(new.value))
    return abs(new.value - old.value) / scale if scale else 0.0


def _difference(before: Work, after: Work) -> Markup:
    if not before.files or not after.files:
        return section("Difference", note("A source of the two was pruned, or can't be read."))
    found = changes(before.files, after.files)
    if not found:
        return section("Difference", element("p", "The files are the same."), name="difference")
    return section("Difference", [_file_change(one) for one in found], name="difference")


def _file_change(one: FileChange) -> Markup:
    lines = [line for hunk in one.hunks for line in (_hunk_head(hunk), *map(_edit, hunk))]
    counts = f"{one.added} lines added, {one.removed} taken out"
    return _listing(one.name, counts, lines, f"Changes in {one.name}")


def _listing(name: str, told: str, lines: Sequence[Markup], label: str) -> Markup:
    """Lines of a file, folded if they are many."""
    head = element("summary", element("code", name), element("span", f" {told}", class_="faint"))
    body = element("pre", lines, tabindex="0", role="region", aria_label=label)
    return element("details", head, body, open=len(lines) <= UNFOLDED)


def _hunk_head(hunk: Sequence[Edit]) -> Markup:
    removed = sum(one.kind != "added" for one in hunk)
    added = sum(one.kind != "removed" for one in hunk)
    first = hunk[0]
    return element("span", f"@@ -{first.before},{removed} +{first.after},{added} @@", class_="hunk")


def _edit(one: Edit) -> Markup:
    class_ = None if one.kind == "same" else one.kind
    return element("span", f"{SIGNS[one.kind]}{one.line}", class_=class_)


def _runs(attempt: Attempt) -> Markup:
    columns = (
        Column("Step"), Column("Conditions"), Column("Status"), Column("Ratio", True),
        Column("Compress GB/s", True), Column("Decompress GB/s", True), Column("Stage GB/s", True),
        Column("PSNR dB", True), Column("Error / bound", True),
    )  # fmt: skip
    rows = [
        [
            words(run.tool), words(conditions(run)), words(run.status), number(run.ratio),
            *(_speed(run, direction) for direction in ("compress", "decompress", "run")),
            number(run.psnr), number(run.worst_over_bound),
        ]
        for run in attempt.runs
    ]  # fmt: skip
    if not rows:
        return section("Runs", element("p", "It was not run."), name="runs")
    return section("Runs", table("runs-table", "Everything that was run of it", columns, rows))


def _speed(run: Run, direction: str) -> Cell:
    if direction not in run.speeds:
        return Cell(NONE)
    median, low, high = run.speeds[direction]
    return Cell(spread(median, low, high), median)


def _failures(attempt: Attempt, work: Work) -> Markup | None:
    failures = [
        element("li", element("strong", f"{step}, {kind}: "), element("bdi", told))
        for step, kind, told in attempt.failures
    ]
    messages = [
        [words(one.severity), words(one.file), number(one.line), words(one.message)]
        for one in work.messages
    ]
    advice = [
        element("li", element("strong", f"{rule}: "), element("bdi", f"{why} {what}"))
        for rule, why, what in work.guidance
    ]
    if not (failures or messages or advice):
        return None
    columns = (
        Column("Severity"),
        Column("File"),
        Column("Line", True),
        Column("Message", wrap=True),
    )
    return section(
        "What it was told",
        element("ul", failures) if failures else None,
        table("messages", "Diagnostics", columns, messages) if messages else None,
        [element("h3", "Advice"), element("ul", advice)] if advice else None,
    )


def _source(work: Work) -> Markup:
    if not work.files:
        return section("Source", note("The source was pruned, or can't be read."))
    shown_files = [
        _listing(
            name,
            f"{len(lines)} lines",
            [element("span", line) for line in lines],
            f"Source of {name}",
        )
        for name, lines in ((name, text.splitlines()) for name, text in sorted(work.files.items()))
    ]
    return section("Source", shown_files, name="source")
