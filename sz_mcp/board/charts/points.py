"""Scatters: ratio against throughput with its Pareto front, speed–ratio–error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.charts.plane import (
    HEIGHT,
    TOP,
    Axis,
    Plane,
    legend,
    legend_height,
    marker,
    plane,
    svg,
)
from sz_mcp.board.figures import finite, shown
from sz_mcp.board.html import Markup, element

SIZES = (3.0, 9.0)
"""Half-widths of the marks of the smallest and the largest third value."""


@dataclass(frozen=True)
class Point:
    """One mark; `size` is a third value, shown by how large it is."""

    x: float
    y: float
    said: str
    size: float | None = None


@dataclass(frozen=True)
class Cloud:
    """Points of one series."""

    name: str
    points: tuple[Point, ...]


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other beats in both, by rising x."""
    kept: list[tuple[float, float]] = []
    for x, y in sorted(set(points), reverse=True):
        if not kept or y > kept[-1][1]:
            kept.append((x, y))
    return kept[::-1]


def scatter(
    title: str,
    axes: tuple[Axis, Axis],
    clouds: Sequence[Cloud],
    fronts: Sequence[Sequence[tuple[float, float]]] = (),
    size_label: str = "",
) -> Markup:
    """Points over one plane; fronts: Pareto fronts, each by rising x."""
    names = [cloud.name for cloud in clouds]
    every = [point for cloud in clouds for point in cloud.points]
    top = TOP + legend_height(names)
    on = plane(axes, [one.x for one in every], [one.y for one in every], top)
    drawn = on.frame()
    drawn += [_front(on, front) for front in fronts if len(front) > 1]
    sizes = finite([one.size for one in every])
    for number, cloud in enumerate(clouds):
        drawn += [
            marker(number, on.x.at(one.x), on.y.at(one.y), one.said, size=_size(one.size, sizes))
            for one in cloud.points
        ]
    described = f"{axes[1].label} against {axes[0].label} of {len(every)} results"
    count = sum(map(len, fronts))
    described += f"; {count} of them on a Pareto front" if count else ""
    described += f"; larger marks: larger {size_label}" if size_label else ""
    best = max(every, key=lambda one: one.y, default=None)
    if best is not None:
        described += f"; highest {shown(best.y)} at {shown(best.x)}"
    return svg(title, described, top + HEIGHT - TOP, drawn, legend(names, marker))


def _front(on: Plane, front: Sequence[tuple[float, float]]) -> Markup:
    # Between two points of the front only what the worse of each has is attained.
    way = [(on.x.at(front[0][0]), on.y.at(front[0][1]))]
    for x, y in front[1:]:
        way += [(way[-1][0], on.y.at(y)), (on.x.at(x), on.y.at(y))]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in way)
    return element("path", d=path, class_="front")


def _size(value: float | None, sizes: Sequence[float]) -> float:
    small, large = SIZES
    if value is None or not sizes or max(sizes) == min(sizes):
        return 4.0
    share = (value - min(sizes)) / (max(sizes) - min(sizes))
    # Area, not width, is what the eye compares.
    return float((small**2 + share * (large**2 - small**2)) ** 0.5)
