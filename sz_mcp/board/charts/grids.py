"""Heat maps over two swept parameters, and radars of algorithms over several measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.charts.plane import (
    CHARACTER_PX,
    SERIES,
    TOP,
    WIDTH,
    label,
    legend,
    legend_height,
    marker,
    short,
    svg,
)
from sz_mcp.board.figures import NONE, finite, shown
from sz_mcp.board.html import Markup, element

SHADES = 9
_CELL = 34.0
_RADIUS = 130.0


@dataclass(frozen=True)
class Grid:
    """Values over two parameters; `cells[row][column]`, None where nothing was measured."""

    row_label: str
    column_label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


def heat_map(title: str, measure: str, grid: Grid, *, log: bool = False) -> Markup:
    """Cells shaded by value; the number stands in each, a missing one is hatched."""
    left = 40.0 + CHARACTER_PX * max((len(short(name, 24)) for name in grid.rows), default=0)
    wide = min((WIDTH - left - 8) / max(len(grid.columns), 1), 120.0)
    known = finite([value for row in grid.cells for value in row])
    drawn: list[Markup] = [label(grid.row_label, 8, TOP + 8, "start", "name")]
    top = TOP + 20.0
    for number, (name, row) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + number * _CELL
        drawn.append(label(short(name, 24), left - 8, y + _CELL / 2 + 4, "end"))
        for column, value in enumerate(row):
            shade = _shade(value, known, log=log)
            said = f"{name}, {grid.columns[column]}: {shown(value)}"
            drawn += _cell((left + column * wide, y), wide, value, shade, said)
    bottom = top + len(grid.rows) * _CELL
    for column, name in enumerate(grid.columns):
        most = max(3, int(wide / CHARACTER_PX))
        middle = left + (column + 0.5) * wide
        drawn.append(label(short(name, most), middle, bottom + 16, "middle"))
    middle = left + wide * len(grid.columns) / 2
    drawn.append(label(grid.column_label, middle, bottom + 36, "middle", "name"))
    missing = sum(value is None for row in grid.cells for value in row)
    described = f"{measure} over {grid.row_label} and {grid.column_label}"
    if known:
        described += f"; from {shown(min(known))} to {shown(max(known))}"
    described += f"; {missing} missing" if missing else ""
    return svg(title, described, bottom + 44, drawn)


def _cell(
    corner: tuple[float, float], wide: float, value: float | None, shade: int | None, said: str
) -> list[Markup]:
    x, y = corner
    class_ = "cell missing" if shade is None else f"cell h{shade}"
    dark = shade is not None and shade > SHADES // 2
    return [
        element(
            "rect", element("title", said), x=round(x + 1, 2), y=y + 1, width=round(wide - 2, 2),
            height=_CELL - 2, class_=class_,
        ),
        label(
            NONE if value is None else shown(value), x + wide / 2, y + _CELL / 2 + 4, "middle",
            "on-dark" if dark else "on-light",
        ),
    ]  # fmt: skip


def _shade(value: float | None, known: Sequence[float], *, log: bool) -> int | None:
    if value is None or not math.isfinite(value):
        return None
    low, high = min(known), max(known)
    if log and low > 0:
        value, low, high = math.log(value), math.log(low), math.log(high)
    share = (value - low) / (high - low) if high > low else 0.5
    return round(share * (SHADES - 1))


@dataclass(frozen=True)
class Spoke:
    """One measure of a radar; 1 is the best of all that are shown."""

    name: str
    said: tuple[str, ...]
    """The value of each series, as text."""
    shares: tuple[float | None, ...]
    """The value of each series as a share of the best."""


def radar(title: str, series: Sequence[str], spokes: Sequence[Spoke]) -> Markup:
    """Series as polygons over measures, each as a share of the best one shown."""
    top = TOP + legend_height(series)
    centre = (WIDTH / 2, top + _RADIUS + 34)
    drawn: list[Markup] = []
    for ring in (0.25, 0.5, 0.75, 1.0):
        corners = [_at(centre, number, len(spokes), ring) for number in range(len(spokes))]
        drawn.append(element("path", d=_closed(corners), class_="grid"))
    for number, spoke in enumerate(spokes):
        x, y = _at(centre, number, len(spokes), 1.0)
        drawn.append(element("line", class_="grid", x1=centre[0], y1=centre[1], x2=x, y2=y))
        at_x, at_y = _at(centre, number, len(spokes), 1.13)
        side = "middle" if abs(at_x - centre[0]) < 20 else "start" if at_x > centre[0] else "end"
        drawn.append(label(spoke.name, at_x, at_y + 4, side, "name"))
    for number, name in enumerate(series):
        ends = [
            _at(centre, place, len(spokes), spoke.shares[number] or 0.0)
            for place, spoke in enumerate(spokes)
        ]
        drawn.append(element("path", d=_closed(ends), class_=f"area s{number % SERIES}"))
        drawn += [
            marker(number, x, y, f"{name}, {spoke.name}: {spoke.said[number]}", size=3.2)
            for (x, y), spoke in zip(ends, spokes, strict=True)
        ]
    described = "; ".join(
        f"{spoke.name}: "
        + ", ".join(f"{name} {said}" for name, said in zip(series, spoke.said, strict=True))
        for spoke in spokes
    )
    height = centre[1] + _RADIUS + 30
    return svg(title, described, height, drawn, legend(series, marker))


def _at(centre: tuple[float, float], number: int, of: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / of - math.pi / 2
    reach = _RADIUS * min(max(share, 0.0), 1.2)
    return (
        round(centre[0] + reach * math.cos(angle), 2),
        round(centre[1] + reach * math.sin(angle), 2),
    )


def _closed(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points) + "z"
