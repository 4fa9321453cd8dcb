"""One agent: its budget curves, ladder, Pareto front, and its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sz_mcp.board.attempts import PAGE, RUNGS, Attempt
from sz_mcp.board.charts.bars import Group, bars
from sz_mcp.board.charts.curves import Line, curves
from sz_mcp.board.charts.plane import Axis
from sz_mcp.board.charts.points import Cloud, Point, front, scatter
from sz_mcp.board.figures import NONE, shown
from sz_mcp.board.html import Child, Markup, address, element
from sz_mcp.board.layout import figure, note, section
from sz_mcp.board.pages.attempt import outcome
from sz_mcp.board.sight import Level
from sz_mcp.board.tables import Cell, Column, narrow, number, table, words

SPENT = ("attempts", "minutes", "tokens", "dollars")
"""What budget curves may be drawn against."""


@dataclass(frozen=True)
class Curve:
    """Best eligible score so far, session by session, under one set of conditions."""

    where: str
    unit: str
    sessions: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    """(session, ((spent, best score), …))"""


@dataclass(frozen=True)
class Trade:
    """Ratio against throughput of an agent's eligible runs, under one set of conditions."""

    where: str
    mode: str
    bounds: tuple[tuple[float, tuple[tuple[float, float, str], ...]], ...]
    """(bound, ((GB/s, ratio, kernel_id), …))"""


@dataclass(frozen=True)
class Rungs:
    """How many kernels got at least how far, on one target."""

    target: str
    reached: tuple[int, ...]
    """Per rung, from the bottom; never rising."""


@dataclass(frozen=True)
class AgentEntry:
    """One agent of the list."""

    name: str
    models: tuple[str, ...]
    sessions: int
    kernels: int
    tasks: int
    targets: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Charts:
    """What is drawn of an agent."""

    curves: tuple[Curve, ...]
    spent: str
    """What of SPENT they are drawn against."""
    trades: tuple[Trade, ...]
    ladders: tuple[Rungs, ...]


def agents_page(entries: Sequence[AgentEntry], level: Level) -> Markup:
    """All agents."""
    if not entries:
        return note("Nobody has sent a kernel yet, or nobody whose name you may see.")
    columns = (
        Column("Agent"), Column("Models"), Column("Sessions", True), Column("Kernels", True),
        Column("Tasks", True), Column("Targets", True), Column("First"), Column("Last"),
    )  # fmt: skip
    rows = [
        [
            words(one.name, agent_link(one.name)), words(", ".join(one.models)),
            number(one.sessions), number(one.kernels), number(one.tasks),
            number(one.targets), _day(one.first), _day(one.last),
        ]
        for one in entries
    ]  # fmt: skip
    caption = "Everybody who sent a kernel" if level is not Level.OWN else "What you sent"
    return table("agents", caption, columns, rows)


def _day(moment: datetime) -> Cell:
    return Cell(f"{moment:%Y-%m-%d %H:%M}", moment.isoformat())


def charts(found: Charts, agent: str) -> list[Markup]:
    """Ladder, budget curves, Pareto fronts."""
    parts = []
    if found.ladders:
        drawn = [ladder_figure("ladder", found.ladders)]
        parts.append(section("Ladder", element("div", drawn, class_="charts"), name="ladder-part"))
    parts.append(_budgets(found, agent))
    if found.trades:
        drawn = [trade_figure(f"pareto-{n}", one) for n, one in enumerate(found.trades)]
        told = element("p", "On hardware. The dashed lines are the Pareto fronts of each bound.")
        parts.append(
            section("Ratio against throughput", told, element("div", drawn, class_="charts"))
        )
    return parts


def _budgets(found: Charts, agent: str) -> Markup:
    ways = [
        element(
            "a",
            one,
            href=address("agent", name=agent, against=one if one != SPENT[0] else "") + "#budget",
            aria_current="true" if one == found.spent else None,
        )
        for one in SPENT
    ]
    drawn: Child = note(f"No attempt has both a score and {found.spent} that are known.")
    if found.curves:
        figures = [
            budget_figure(f"budget-{n}", one, found.spent) for n, one in enumerate(found.curves)
        ]
        drawn = element("div", figures, class_="charts")
    listed = element("ul", [element("li", one) for one in ways])
    choice = element("nav", "Against", listed, aria_label="What budget curves are drawn against")
    return section("Budget curves", choice, drawn, name="budget")


def budget_figure(name: str, curve: Curve, spent: str) -> Markup:
    """A step line per session."""
    names = tails([session for session, _ in curve.sessions])
    lines = [
        Line(tail, points, steps=True)
        for tail, (_, points) in zip(names, curve.sessions, strict=True)
    ]
    axes = (Axis(spent.capitalize()), Axis(f"Best score so far in {curve.unit}", low=0.0))
    title = f"Best so far against {spent}: {curve.where}"
    columns = (
        Column("Session"), Column(f"{spent.capitalize()} to the first", True), Column("Best", True),
        Column(f"{spent.capitalize()} to the best", True),
    )  # fmt: skip
    rows = [
        [
            words(session), number(points[0][0]), number(points[-1][1]),
            number(next(x for x, y in points if y == points[-1][1])),
        ]
        for session, points in curve.sessions
    ]  # fmt: skip
    behind = table(name, title, columns, rows)
    return figure(curves(title, axes, lines), title, behind)


def tails(names: Sequence[str]) -> list[str]:
    """Names without the folders that all of them share."""
    parts = [name.split("/") for name in names]
    shared = 0
    while all(len(one) > shared + 1 for one in parts) and len({one[shared] for one in parts}) == 1:
        shared += 1
    return ["/".join(one[shared:]) for one in parts]


def trade_figure(name: str, trade: Trade) -> Markup:
    """A mark per run, with the Pareto front."""
    title = f"Ratio against throughput: {trade.where}"
    axes = (Axis("GB/s, both directions", log=True), Axis("Ratio", log=True))
    clouds = [
        Cloud(
            f"{trade.mode} {bound:g}",
            tuple(
                Point(x, y, f"{kernel}: {shown(x)} GB/s, ratio {shown(y)}") for x, y, kernel in runs
            ),
        )
        for bound, runs in trade.bounds
    ]
    fronts = [front([run[:2] for run in runs]) for _, runs in trade.bounds]
    drawn = scatter(title, axes, clouds, fronts)
    columns = (
        Column("Kernel"), Column("Bound", True), Column("GB/s", True), Column("Ratio", True),
        Column("On the front"),
    )  # fmt: skip
    rows = [
        [
            attempt_link(kernel), number(bound), number(x), number(y),
            words("yes" if (x, y) in best else "no"),
        ]
        for (bound, runs), best in zip(trade.bounds, fronts, strict=True)
        for x, y, kernel in runs
    ]  # fmt: skip
    return figure(drawn, title, table(name, title, columns, rows))


def ladder_figure(name: str, ladders: Sequence[Rungs]) -> Markup:
    """Bars per rung, one colour per target."""
    targets = [one.target for one in ladders]
    rungs = [rung.replace("_", " ") for rung in RUNGS]
    groups = [
        Group(rung, tuple(one.reached[place] for one in ladders))
        for place, rung in enumerate(rungs)
    ]
    title = "How far its kernels got"
    columns = (Column("Rung"), *(Column(target, True) for target in targets))
    rows = [[words(group.name), *(number(value) for value in group.values)] for group in groups]
    drawn = bars(title, Axis("Kernels that reached the rung"), targets, groups)
    return figure(drawn, title, table(name, title, columns, rows))


def attempts_section(
    listed: Sequence[Attempt], agent: str, start: int, session: str = ""
) -> Markup:
    """The attempts of one page of the list, the latest first."""
    columns = (
        Column("Attempt"), Column("Session"), Column("No.", True), Column("Task"),
        Column("Target"), Column("Received"), Column("Reached"), Column("Ratio", True),
        Column("Speed GB/s", True), Column("Cycles", True),
    )  # fmt: skip
    rows = [_attempt(one) for one in listed]
    if not rows:
        return section("Attempts", note("There are none."))
    caption = f"Attempts {start + 1} to {start + len(rows)}, the latest first"
    more = [
        element("li", element("a", name, href=address("agent", **asked)))
        for name, asked in _others(listed, agent, start, session)
    ]
    ways = element("nav", element("ul", more), aria_label="More attempts") if more else None
    found = table("attempts", caption, columns, rows)
    return section("Attempts", narrow("attempts"), found, ways)


def _others(
    listed: Sequence[Attempt], agent: str, start: int, session: str
) -> list[tuple[str, dict[str, str]]]:
    ways = []
    if start:
        before = max(start - PAGE, 0)
        ways.append(("← Later attempts", str(before) if before else ""))
    if len(listed) == PAGE:
        ways.append(("Earlier attempts →", str(start + PAGE)))
    return [(name, {"name": agent, "session": session, "start": place}) for name, place in ways]


def _attempt(one: Attempt) -> list[Cell]:
    last = one.timed[-1] if one.timed else None
    speed = None
    cycles = None
    if last is not None:
        speeds = [median for median, _, _ in last.speeds.values()]
        speed = len(speeds) / sum(1 / value for value in speeds) if speeds else None
        cycles = sum(last.cycles.values()) if last.cycles else None
    return [
        attempt_link(one.kernel_id), words(one.session), number(one.number), words(one.task),
        words(one.target), Cell(f"{one.received_at:%m-%d %H:%M:%S}", one.received_at.isoformat()),
        Cell(outcome(one), f"{one.rung} {one.outcome}"),
        number(None if last is None else last.ratio), number(speed), number(cycles, 6),
    ]  # fmt: skip


def attempt_link(kernel_id: str) -> Cell:
    """A kernel, linked to its page."""
    link = element("a", element("code", kernel_id), href=address("attempt", kernel=kernel_id))
    return words(kernel_id, link)


def agent_link(agent: str) -> Child:
    """An agent, linked to its page."""
    return element("a", element("bdi", agent), href=address("agent", name=agent))


def tag(execution: str | None) -> Child:
    """An execution, as a label."""
    if not execution:
        return NONE
    return element("span", execution, class_=f"tag {execution}")
