"""Lines and steps: budget curves, rate–distortion, ratio or GB/s against the bound."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.charts.plane import (
    HEIGHT,
    SERIES,
    TOP,
    Axis,
    Plane,
    legend,
    legend_height,
    marker,
    plane,
    svg,
)
from sz_mcp.board.figures import shown
from sz_mcp.board.html import Markup, element

MOST_MARKS = 300
"""Points of a chart up to which each has a mark that can be pointed at."""


@dataclass(frozen=True)
class Line:
    """One series. Points in the order in which they are joined."""

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    """Lower ends of intervals, one per point; none if empty."""
    high: tuple[float, ...] = ()
    steps: bool = False
    """Whether a value holds until the next point: best so far."""


@dataclass(frozen=True)
class Reference:
    """A level that lines are compared with, such as a baseline or a physical limit."""

    name: str
    value: float


def curves(
    title: str,
    axes: tuple[Axis, Axis],
    lines: Sequence[Line],
    references: Sequence[Reference] = (),
) -> Markup:
    """Lines over one plane."""
    names = [line.name for line in lines]
    top = TOP + legend_height(names)
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for y in (*(y for _, y in line.points), *line.low, *line.high)]
    on = plane(axes, xs, [*ys, *(one.value for one in references)], top)
    drawn = on.frame()
    for one in references:
        drawn += _reference(on, one)
    for number, line in enumerate(lines):
        drawn += _line(on, number, line, marked=len(xs) <= MOST_MARKS)
    height = top + HEIGHT - TOP
    described = f"{axes[1].label} against {axes[0].label}; {_summary(lines)}"
    return svg(title, described, height, drawn, legend(names, marker))


def _line(on: Plane, number: int, line: Line, *, marked: bool) -> list[Markup]:
    look = number % SERIES
    points = [(on.x.at(x), on.y.at(y)) for x, y in line.points]
    drawn = []
    if line.low and line.high:
        low = [(x, on.y.at(y)) for (x, _), y in zip(points, line.low, strict=True)]
        high = [(x, on.y.at(y)) for (x, _), y in zip(points, line.high, strict=True)]
        if line.steps:
            low, high = _stepped(low), _stepped(high)
        drawn.append(element("path", d=f"{_joined([*high, *low[::-1]])}z", class_=f"band s{look}"))
    way = _stepped(points) if line.steps else points
    if len(way) > 1:
        drawn.append(element("path", d=_joined(way), class_=f"line s{look}"))
    if marked or len(points) == 1:
        drawn += [
            marker(number, x, y, f"{line.name}: {shown(given[1])} at {shown(given[0])}", size=3.2)
            for (x, y), given in zip(points, line.points, strict=True)
        ]
    return drawn


def _stepped(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    way = list(points[:1])
    for before, (x, y) in itertools.pairwise(points):
        way += [(x, before[1]), (x, y)]
    return way


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _reference(on: Plane, one: Reference) -> list[Markup]:
    y, start, end = on.y.at(one.value), on.x.start, on.x.end
    above = y - 5 if y - 16 > on.top else y + 14
    return [
        element("line", class_="reference", x1=start, x2=end, y1=y, y2=y),
        element("text", one.name, class_="reference", x=end - 4, y=above, text_anchor="end"),
    ]


def _summary(lines: Sequence[Line]) -> str:
    told = [
        f"{line.name} from {shown(line.points[0][1])} to {shown(line.points[-1][1])}"
        for line in lines[:SERIES]
        if line.points
    ]
    return "; ".join(told) or "nothing to show"
