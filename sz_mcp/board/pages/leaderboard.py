"""The leaderboard: one table per set of conditions, intervals and ties shown as what they are.

Two tables never mix: hardware by the fingerprint of the machine, emulated runs without any speed,
simulated ones in cycles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sz_mcp.board.charts.bars import Span, spans
from sz_mcp.board.charts.plane import Axis
from sz_mcp.board.figures import NONE, finite, percent, shown
from sz_mcp.board.html import Child, Markup, address, element
from sz_mcp.board.layout import figure, note, section
from sz_mcp.board.pages.agent import agent_link, attempt_link, tag
from sz_mcp.board.tables import Cell, Column, narrow, number, table, words

FILTERS = ("task", "target", "execution", "host", "field", "bound")
MOST_BOARDS = 4
"""Tables that one page shows; the rest are in the list of conditions."""
MOST_LISTED = 100
MOST_SPANS = 20
TOO_FEW = "too few to rank"


@dataclass(frozen=True)
class Conditions:
    """What the rows of one table have in common."""

    task: str
    target: str
    execution: str
    host: str
    threads: int
    field: str
    mode: str
    bound: float

    @property
    def level(self) -> str:
        """Mode and bound, as a reader chooses them."""
        return f"{self.mode} {self.bound:g}"

    @property
    def chosen(self) -> dict[str, str]:
        """The filters that show this table alone."""
        given = (
            self.task, self.target, self.execution, self.host, self.field, self.level,
        )  # fmt: skip
        return dict(zip(FILTERS, given, strict=True))

    @property
    def words(self) -> str:
        """In a phrase."""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.task} on {self.target}, {self.field}, {self.level}{threads}"


@dataclass(frozen=True)
class Row:
    """One agent under one set of conditions; None where there is no number, or it is not shown."""

    agent: str | None
    """None: the reader may not see who it is."""
    model: str = ""
    sessions: int = 0
    ranked: bool = False
    """Whether it has enough sessions to be ranked."""
    rank: tuple[int, int] | None = None
    """First and last rank that the sessions allow."""
    tied: bool = False
    """Whether its ranks overlap with another's."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    more: Mapping[str, float | None] = field(default_factory=dict)
    """Measure → value, of those that the table has a column for."""
    kernel_id: str | None = None


@dataclass(frozen=True)
class Measure:
    """A column beside the ranking."""

    key: str
    name: str
    meaning: str
    share: bool = False
    count: bool = False
    executions: tuple[str, ...] = ("hardware", "simulated", "emulated")


_SPEED = ("hardware",)
MEASURES = (
    Measure("passed", "Verified", "Sessions with a kernel that holds on the suite", share=True),
    Measure("hacks", "Hack rate", "Kernels refused for integrity, suspect, or hidden", share=True),
    Measure("best", "Best", "Best of all its sessions"),
    Measure("ratio", "Ratio", "Of the kernel of its best result"),
    Measure("compress_gbps", "Compress GB/s", "Of that kernel", executions=_SPEED),
    Measure("decompress_gbps", "Decompress GB/s", "Of that kernel", executions=_SPEED),
    Measure("first", "First run", "Median attempt of the first that ran to its end", count=True),
    Measure("attempts", "Attempts", "Kernels sent, mean over sessions", count=True),
    Measure("tokens", "Tokens", "Mean over sessions, as reported", count=True),
    Measure("dollars", "Dollars", "Mean over sessions, likewise"),
)


@dataclass(frozen=True)
class BoardTable:
    """One table."""

    conditions: Conditions
    unit: str
    higher: bool
    """Whether more is better: scores and ratios, not cycles."""
    rows: tuple[Row, ...]
    title: str = ""
    """Of a table over many conditions."""

    @property
    def words(self) -> str:
        """What it is about."""
        return self.title or self.conditions.words


@dataclass(frozen=True)
class Choice:
    """What may be chosen in the filters, and what was."""

    options: Mapping[str, tuple[str, ...]]
    chosen: Mapping[str, str]


def leaderboard_page(
    boards: Sequence[BoardTable], every: Sequence[tuple[Conditions, int]], choice: Choice
) -> list[Child]:
    """boards: those that are shown; every: all that the filters let through, with their rows."""
    if not every:
        told = (
            "Nothing was measured yet that may be ranked."
            if not any(choice.chosen.values())
            else "Nothing was measured under these conditions."
        )
        return [_filters(choice), note(told)]
    parts: list[Child] = [
        element(
            "p",
            "Agents are ranked among runs under the same conditions only. A rank is an interval: "
            "agents whose intervals overlap are tied. ",
            element("a", "How to read this", href="reading"),
            ".",
            class_="lead",
        ),
        _filters(choice),
    ]
    parts += [_board(place, one) for place, one in enumerate(boards)]
    if len(every) > len(boards):
        parts.append(_list(every, len(boards)))
    return parts


def _filters(choice: Choice) -> Markup:
    boxes = []
    for name in FILTERS:
        options = choice.options.get(name, ())
        chosen = choice.chosen.get(name, "")
        if chosen and chosen not in options:
            options = (chosen, *options)
        listed = [
            element("option", f"all {_plural(name)}", value=""),
            *(
                element("option", option, value=option, selected=option == chosen)
                for option in options
            ),
        ]
        boxes.append(
            element(
                "label",
                name.capitalize(),
                element("select", listed, name=name, id=f"filter-{name}"),
            )
        )
    return element(
        "form",
        boxes,
        element("button", "Apply", type="submit", class_="apply"),
        element("a", "Clear", href="./") if any(choice.chosen.values()) else None,
        class_="filters",
        method="get",
        action="./",
        aria_label="Filters",
    )


def _plural(name: str) -> str:
    return f"{name}s"


def overall_page(boards: Sequence[BoardTable], refused: str, asked: tuple[str, str]) -> list[Child]:
    """Agents over all conditions, a table per execution and machine.

    refused: why there is none. asked: a bench, and the author beside whom agents are shown.
    """
    bench, author = (
        element("input", type="search", name=name, value=value, id=f"filter-{name}")
        for name, value in zip(("bench", "beside"), asked, strict=True)
    )
    form = element(
        "form",
        element("label", "Bench (empty: all)", bench),
        element("label", "Beside the agent (empty: none)", author),
        element("button", "Apply", type="submit", class_="apply"),
        class_="filters",
        method="get",
        action="overall",
        aria_label="Filters",
    )
    told = element(
        "p",
        "Under each set of conditions a session is worth its best result over the best of anybody "
        "there, from 0 to 1. An agent's worth is the mean over conditions, then sessions.",
        class_="lead",
    )
    parts: list[Child] = [told, form]
    if refused:
        return [*parts, note(refused)]
    if not boards:
        return [*parts, note("Nothing was measured yet that can be compared.")]
    return [*parts, *(_board(place, one) for place, one in enumerate(boards))]


def _caption(board: BoardTable) -> list[Child]:
    conditions = board.conditions
    machine = f" host {conditions.host[:16]}" if conditions.execution == "hardware" else None
    explained = "" if board.title else EXECUTIONS.get(conditions.execution, "")
    return [
        element("strong", board.words),
        " ",
        tag(conditions.execution),
        f" {explained}",
        element("span", machine, class_="faint", title=conditions.host) if machine else None,
    ]


def _board(place: int, board: BoardTable) -> Markup:
    name = f"board-{place}"
    measures = _measures(board)
    columns = [
        Column("Rank", number=True, meaning="First and last rank that the sessions allow"),
        Column("Agent", heads=True),
        Column(
            _value_name(board), True, "Mean over sessions of each one's best, and its 95% interval",
            best="descending" if board.higher else "ascending",
        ),
        Column("Sessions", True, "Independent repeats"),
        *(Column(one.name, True, one.meaning) for one in measures),
        *([] if board.title else [Column("Best kernel")]),
        Column("Model"),
    ]  # fmt: skip
    ends = finite([end for row in board.rows for end in (row.low, row.high)])
    across = (min(ends), max(ends)) if ends else (0.0, 0.0)
    rows = [_row(row, measures, across, whole=not board.title) for row in board.rows]
    parts: list[Child] = [narrow(name) if len(rows) > 8 else None]
    parts.append(table(name, _caption(board), columns, rows))
    drawn = [
        Span(row.agent or "another agent", row.value, row.low, row.high, _said(row, board.unit))
        for row in board.rows
        if row.value is not None and row.low is not None and row.high is not None
    ]
    if len(drawn) > 1:
        axis, title = Axis(_value_name(board)), f"Intervals: {board.words}"
        told = f"The value of each agent with its 95% interval; the first {MOST_SPANS} rows."
        inside = figure(spans(title, axis, drawn[:MOST_SPANS]), told)
        parts.append(element("details", element("summary", "Intervals as a chart"), inside))
    told = f"{board.words}, {board.conditions.execution} {board.conditions.host}"
    return element("section", parts, aria_label=told.strip())


EXECUTIONS: Mapping[str, str] = {
    "hardware": "measured on one machine:",
    "emulated": "run by an emulator: no speed, so ranked by ratio",
    "simulated": "counted by a simulator: cycles of the device, no wall time",
}


def _value_name(board: BoardTable) -> str:
    match board.unit:
        case "ratio":
            return "Ratio"
        case "cycles":
            return "Cycles"
        case "verified":
            return "Verified sessions"
        case "worth":
            return "Worth"
        case unit:
            return f"Score in {unit}"


def _measures(board: BoardTable) -> list[Measure]:
    """Those that fit the execution and that some row has."""
    return [
        one
        for one in MEASURES
        if board.conditions.execution in one.executions
        and not (one.key == "ratio" and board.unit == "ratio")
        and not (one.key in ("passed", "best") and board.unit == "verified")
        and any(row.more.get(one.key) is not None for row in board.rows)
    ]


def _row(
    row: Row, measures: Sequence[Measure], across: tuple[float, float], *, whole: bool
) -> list[Cell]:
    """whole: with its best kernel."""
    agent: Child = (
        agent_link(row.agent)
        if row.agent is not None
        else element("span", "another agent", class_="faint")
    )
    return [
        _rank(row),
        Cell(agent, (row.agent or "~").casefold()),
        _value(row, across),
        number(row.sessions),
        *(_more(row, one) for one in measures),
        *([] if not whole else [_kernel(row.kernel_id)]),
        words(row.model),
    ]


def _kernel(kernel_id: str | None) -> Cell:
    return Cell(NONE) if kernel_id is None else attempt_link(kernel_id)


def _rank(row: Row) -> Cell:
    if not row.ranked or row.rank is None:
        return Cell(element("span", TOO_FEW, class_="tie"))
    first, last = row.rank
    told = str(first) if first == last else f"{first}–{last}"
    tie = element("span", " tie", class_="tie") if row.tied else None
    return Cell(element("span", told, tie, class_="rank"), float(first) + last / 1e4)


def _value(row: Row, across: tuple[float, float]) -> Cell:
    if row.value is None:
        return Cell(NONE)
    parts: list[Child] = [shown(row.value)]
    if row.low is not None and row.high is not None:
        told = f" {shown(row.low)}–{shown(row.high)}"
        parts += [element("span", told, class_="interval"), _whisker(row, across)]
    return Cell(element("span", parts), row.value)


_WHISKER = 90.0


def _whisker(row: Row, across: tuple[float, float]) -> Markup | None:
    """The interval as a line beside those of the rows around it; the text says the same."""
    low, high = across
    ends = finite([row.low, row.value, row.high])
    if len(ends) < 3 or high <= low:
        return None
    start, middle, end = (4 + (_WHISKER - 8) * (one - low) / (high - low) for one in ends)
    return element(
        "svg",
        element("line", class_="span", x1=round(start, 1), x2=round(end, 1), y1=6, y2=6),
        element("circle", class_="mark s0", cx=round(middle, 1), cy=6, r=3),
        class_="chart whisker",
        viewBox=f"0 0 {_WHISKER:g} 12",
        aria_hidden="true",
        focusable="false",
    )


def _more(row: Row, measure: Measure) -> Cell:
    value = row.more.get(measure.key)
    if measure.share:
        return Cell(percent(value), value)
    # A count that is whole is told whole, though its mean over sessions is a float.
    if measure.count and value is not None and value == int(value):
        return number(int(value))
    return number(value)


def _said(row: Row, unit: str) -> str:
    return (
        f"{row.agent or 'another agent'}: {shown(row.value)} {unit}, "
        f"{shown(row.low)} to {shown(row.high)}, {row.sessions} sessions"
    )


def _list(every: Sequence[tuple[Conditions, int]], shown_boards: int) -> Markup:
    columns = (
        Column("Conditions"), Column("Execution"), Column("Host"), Column("Threads", True),
        Column("Agents", True),
    )  # fmt: skip
    rows = [
        [
            words(one.words, element("a", one.words, href=address("./", **one.chosen))),
            words(one.execution, tag(one.execution)), words(one.host[:16]), number(one.threads),
            number(count),
        ]
        for one, count in every[:MOST_LISTED]
    ]  # fmt: skip
    told = f"{len(every)} sets of conditions were measured; {shown_boards} are shown above."
    if len(every) > MOST_LISTED:
        told += f" The list has the first {MOST_LISTED}: choose above to see others."
    caption = "Sets of conditions, those with most agents first"
    return section(
        "All conditions",
        element("p", told),
        narrow("conditions"),
        table("conditions", caption, columns, rows),
        name="all",
    )
