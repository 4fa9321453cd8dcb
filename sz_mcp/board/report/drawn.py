"""The figures of a report, each with the numbers behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sz_mcp.board.charts.bars import Group, bars
from sz_mcp.board.charts.curves import Line, curves
from sz_mcp.board.charts.grids import Grid, Spoke, heat_map, radar
from sz_mcp.board.charts.plane import SERIES, Axis
from sz_mcp.board.charts.points import Cloud, Point, front, scatter
from sz_mcp.board.figures import shown
from sz_mcp.board.report.document import Figure, Numbers, Subheading
from sz_mcp.board.report.measured import Board, Measured
from sz_mcp.board.report.summary import boards
from sz_mcp.board.tables import Column, number, words

FIELDS = 3
"""Fields of one board that have figures of their own: those that most was measured on."""
Value = Callable[[Measured], float | None]


@dataclass(frozen=True)
class Sweep:
    """One quantity against another, a line per agent."""

    slug: str
    title: str
    x: tuple[Axis, Value]
    y: tuple[Axis, Value]
    execution: str = ""
    """The only one that has it; empty: all have."""


SWEEPS = (
    Sweep(
        "rate-distortion",
        "Rate–distortion",
        (Axis("Bits per value", log=True), lambda one: one.bit_rate),
        (Axis("PSNR in dB"), lambda one: one.psnr),
    ),
    Sweep(
        "ratio-bound",
        "Compression ratio against bound",
        (Axis("Error bound", log=True), lambda one: one.bound),
        (Axis("Ratio", log=True), lambda one: one.ratio),
    ),
    Sweep(
        "speed-bound",
        "Throughput against bound",
        (Axis("Error bound", log=True), lambda one: one.bound),
        (Axis("GB/s, both directions", low=0.0), lambda one: one.throughput),
        "hardware",
    ),
    Sweep(
        "cycles-bound",
        "Cycles against bound",
        (Axis("Error bound", log=True), lambda one: one.bound),
        (Axis("Cycles of the device", log=True), lambda one: one.cycles),
        "simulated",
    ),
)


def figures(best: Sequence[Measured]) -> tuple[Subheading | Figure, ...]:
    """All that there is enough data for, each group under its heading."""
    found: list[Subheading | Figure] = []
    for place, (board, group) in enumerate(boards(best)):
        drawn = _of_board(place, board, group)
        found += [Subheading(board.words), *drawn] if drawn else []
    for told, drawn in (
        ("Across targets", _targets(best)),
        ("Algorithms side by side", _radars(best)),
    ):
        found += [Subheading(told), *drawn] if drawn else []
    return tuple(found)


def _of_board(place: int, board: Board, group: Sequence[Measured]) -> list[Figure]:
    found: list[Figure] = []
    for field, part in _fields(group):
        for sweep in SWEEPS:
            if sweep.execution in ("", board.execution):
                found += _sweep(f"{place}-{field}", board, part, sweep)
    if board.execution == "hardware":
        found += _trade(place, board, group)
    found += _heat(place, board, group)
    return found


def _fields(group: Sequence[Measured]) -> Iterator[tuple[str, list[Measured]]]:
    counts = Counter(one.field for one in group)
    for place, (field, _) in enumerate(counts.most_common(FIELDS)):
        # Of several modes the one with most runs: bounds of different modes share no axis.
        part = [one for one in group if one.field == field]
        mode = Counter(one.mode for one in part).most_common(1)[0][0]
        yield str(place), [one for one in part if one.mode == mode]


def _sweep(name: str, board: Board, part: Sequence[Measured], sweep: Sweep) -> list[Figure]:
    (x_axis, x), (y_axis, y) = sweep.x, sweep.y
    lines, rows = [], []
    for agent in _agents(part):
        points = sorted(
            (x_value, y_value, one.mode, one.bound)
            for one in part
            if one.agent == agent
            and (x_value := x(one)) is not None
            and (y_value := y(one)) is not None
        )
        if points:
            lines.append(Line(agent, tuple((point[0], point[1]) for point in points)))
        rows += [
            (words(agent), number(bound), number(x_value), number(y_value))
            for x_value, y_value, _, bound in points
        ]
    if len({point for line in lines for point in line.points}) < 2:
        return []
    field, mode = part[0].field, part[0].mode
    title = f"{sweep.title}: {board.words}, {field}, {mode}"
    columns = (
        Column("Agent"), Column("Bound", True), Column(x_axis.label, True),
        Column(y_axis.label, True),
    )  # fmt: skip
    name = f"{sweep.slug}-{name}"
    numbers = Numbers(f"{name}-numbers", title, columns, tuple(rows))
    return [Figure(name, curves(title, (x_axis, y_axis), lines), f"{title}.", numbers)]


def _trade(place: int, board: Board, group: Sequence[Measured]) -> list[Figure]:
    """Speed, ratio and error of one board: a mark per run, larger for a better reconstruction."""
    clouds, rows = [], []
    for agent in _agents(group):
        points = []
        for one in group:
            if one.agent != agent or one.throughput is None or one.ratio is None:
                continue
            said = f"{agent}, {one.field}, {one.mode} {one.bound:g}: {shown(one.throughput)} GB/s, "
            said += f"ratio {shown(one.ratio)}, {shown(one.psnr)} dB"
            points.append(Point(one.throughput, one.ratio, said, one.psnr))
            rows.append(
                (
                    words(agent), words(one.field), words(f"{one.mode} {one.bound:g}"),
                    number(one.throughput), number(one.ratio), number(one.psnr),
                )
            )  # fmt: skip
        clouds.append(Cloud(agent, tuple(points)))
    if len(rows) < 2:
        return []
    title = f"Speed, ratio and error: {board.words}"
    axes = (Axis("GB/s, both directions", log=True), Axis("Ratio", log=True))
    every = [(point.x, point.y) for cloud in clouds for point in cloud.points]
    drawn = scatter(title, axes, clouds, [front(every)], "PSNR")
    columns = (
        Column("Agent"), Column("Field"), Column("Bound"), Column("GB/s", True),
        Column("Ratio", True), Column("PSNR dB", True),
    )  # fmt: skip
    name = f"speed-ratio-error-{place}"
    numbers = Numbers(f"{name}-numbers", title, columns, tuple(rows))
    return [Figure(name, drawn, f"{title}.", numbers)]


def _heat(place: int, board: Board, group: Sequence[Measured]) -> list[Figure]:
    """The largest ratio over fields and bounds."""
    mode = Counter(one.mode for one in group).most_common(1)[0][0]
    part = [one for one in group if one.mode == mode and one.ratio]
    fields = sorted({one.field for one in part})
    levels = sorted({one.bound for one in part})
    if len(fields) * len(levels) < 2 or len(levels) < 2:
        return []
    cells: dict[tuple[str, float], float] = defaultdict(float)
    for one in part:
        cells[one.field, one.bound] = max(cells[one.field, one.bound], one.ratio or 0.0)
    grid = Grid(
        "Field", f"Error bound ({mode})", tuple(fields), tuple(f"{level:g}" for level in levels),
        tuple(tuple(cells.get((field, level)) for level in levels) for field in fields),
    )  # fmt: skip
    title = f"Largest ratio over fields and bounds: {board.words}"
    columns = (Column("Field"), *(Column(f"{level:g}", True) for level in levels))
    rows = tuple(
        (words(field), *(number(value) for value in row))
        for field, row in zip(fields, grid.cells, strict=True)
    )
    name = f"heat-{place}"
    drawn = heat_map(title, "ratio", grid, log=True)
    return [Figure(name, drawn, f"{title}.", Numbers(f"{name}-n", title, columns, rows))]


def _targets(best: Sequence[Measured]) -> list[Figure]:
    """Ratios across targets; a size is the same whatever ran the kernel, a speed is not."""
    found: list[Figure] = []
    for task in sorted({one.board.task for one in best}):
        part = [one for one in best if one.board.task == task and one.ratio]
        targets = sorted({one.board.target for one in part})
        if len(targets) < 2:
            continue
        shared = Counter(
            (one.field, one.mode, one.bound)
            for one in {(o.field, o.mode, o.bound, o.board.target): o for o in part}.values()
        )
        (field, mode, bound), _ = min(shared.items(), key=lambda item: (-item[1], item[0]))
        here = [one for one in part if (one.field, one.mode, one.bound) == (field, mode, bound)]
        found += _bars(task, f"{field}, {mode} {bound:g}", targets, here)
    return found


def _bars(task: str, where: str, targets: Sequence[str], here: Sequence[Measured]) -> list[Figure]:
    ratios: dict[tuple[str, str], float] = {}
    for one in here:
        key = (one.agent, one.board.target)
        ratios[key] = max(ratios.get(key, 0.0), one.ratio or 0.0)
    agents = _agents(here)
    title = f"Ratio across targets: {task}, {where}"
    groups = [
        Group(target, tuple(ratios.get((agent, target)) for agent in agents)) for target in targets
    ]
    columns = (Column("Target"), *(Column(agent, True) for agent in agents))
    rows = tuple(
        (words(group.name), *(number(value) for value in group.values)) for group in groups
    )
    name = f"targets-{task}"
    drawn = bars(title, Axis("Ratio"), agents, groups)
    return [Figure(name, drawn, f"{title}.", Numbers(f"{name}-n", title, columns, rows))]


SPOKES: tuple[tuple[str, Value], ...] = (
    ("Ratio", lambda one: one.ratio),
    ("Compress GB/s", lambda one: one.compress.median if one.compress else None),
    ("Decompress GB/s", lambda one: one.decompress.median if one.decompress else None),
    ("PSNR", lambda one: one.psnr),
    (
        "Share of a copy",
        lambda one: (
            one.throughput / one.copy_peak_gbps if one.throughput and one.copy_peak_gbps else None
        ),
    ),
)


def _radars(best: Sequence[Measured]) -> list[Figure]:
    """Algorithms side by side, per machine: the best run of each task on one field and bound."""
    machines: dict[tuple[str, str, int], list[Measured]] = defaultdict(list)
    for one in best:
        if one.board.execution == "hardware" and one.compress and one.decompress:
            machines[one.board.target, one.board.host, one.board.threads].append(one)
    found: list[Figure] = []
    for place, ((target, _, _), group) in enumerate(sorted(machines.items())):
        places: dict[tuple[str, str, float], set[str]] = defaultdict(set)
        for one in group:
            places[one.field, one.mode, one.bound].add(one.board.task)
        where = min(places, key=lambda key: (-len(places[key]), key))
        tasks = sorted(places[where])
        if len(tasks) < 2:
            continue
        here = [one for one in group if (one.field, one.mode, one.bound) == where]
        runs = [
            max(
                (one for one in here if one.board.task == task), key=lambda one: one.throughput or 0
            )
            for task in tasks
        ]
        found.append(_radar(place, f"{target}, {where[0]}, {where[1]} {where[2]:g}", tasks, runs))
    return found


def _fastest(runs: Iterable[Measured]) -> Measured:
    return max(runs, key=lambda one: one.throughput or 0)


def _radar(place: int, where: str, tasks: Sequence[str], runs: Sequence[Measured]) -> Figure:
    spokes = []
    for name, value in SPOKES:
        values = [value(run) for run in runs]
        most = max((one for one in values if one), default=1.0)
        spokes.append(
            Spoke(
                name,
                tuple(shown(one) for one in values),
                tuple(None if one is None else one / most for one in values),
            )
        )
    title = f"Algorithms by what each is good at: {where}"
    columns = (Column("Measure"), *(Column(task, True) for task in tasks))
    rows = tuple((words(name), *(number(value(run)) for run in runs)) for name, value in SPOKES)
    slug = f"radar-{place}"
    caption = f"{title}. Each measure as a share of the best shown; the fastest run of each."
    return Figure(
        slug, radar(title, tasks, spokes), caption, Numbers(f"{slug}-n", title, columns, rows)
    )


def _agents(part: Sequence[Measured]) -> list[str]:
    """Agents with most runs first; as many as have a look of their own."""
    counts = Counter(one.agent for one in part)
    return sorted(sorted(counts), key=lambda agent: -counts[agent])[:SERIES]
