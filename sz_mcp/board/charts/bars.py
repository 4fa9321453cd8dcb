"""Bars: targets side by side, rungs of the ladder, rank intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.charts.plane import (
    CHARACTER_PX,
    RIGHT,
    SERIES,
    TOP,
    WIDTH,
    Axis,
    Scale,
    label,
    legend,
    legend_height,
    marker,
    scale,
    short,
    svg,
)
from sz_mcp.board.figures import shown
from sz_mcp.board.html import Markup, element

_BAR, _GAP, _BELOW = 16.0, 10.0, 44.0
_NAME_MOST = 26


@dataclass(frozen=True)
class Group:
    """Bars that are compared, one per series, under one name."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Span:
    """A value with its interval, such as a rank."""

    name: str
    value: float
    low: float
    high: float
    said: str = ""


def bars(title: str, axis: Axis, series: Sequence[str], groups: Sequence[Group]) -> Markup:
    """Horizontal bars from zero, one colour per series."""
    left = _room([group.name for group in groups])
    top = TOP + legend_height(series)
    values = [value for group in groups for value in group.values]
    across = scale(
        Axis(axis.label, low=0.0, high=axis.high, format=axis.format), values, left, WIDTH - 64.0
    )
    drawn: list[Markup] = []
    y = top
    for group in groups:
        middle = y + _BAR * len(series) / 2 + 4
        drawn.append(label(short(group.name, _NAME_MOST), left - 8, middle, "end", "name"))
        for number, value in enumerate(group.values):
            said = "" if value is None else shown(value)
            drawn += _bar(across, (left, y), number, value, said)
            y += _BAR
        y += _GAP
    drawn = [*_frame(across, top, y), *drawn]
    described = f"{axis.label}; " + "; ".join(
        f"{group.name}: " + ", ".join(shown(value) for value in group.values)
        for group in groups[:12]
    )
    return svg(title, described, y + _BELOW, drawn, legend(series, marker))


def spans(title: str, axis: Axis, rows: Sequence[Span]) -> Markup:
    """A row per value: a dot on the line of its interval."""
    left = _room([row.name for row in rows])
    values = [value for row in rows for value in (row.value, row.low, row.high)]
    across = scale(axis, values, left, WIDTH - float(RIGHT))
    pitch = _BAR + _GAP
    y = float(TOP)
    drawn: list[Markup] = []
    for row in rows:
        middle = y + pitch / 2
        low, high = across.at(row.low), across.at(row.high)
        drawn += [
            label(short(row.name, _NAME_MOST), left - 8, middle + 4, "end", "name"),
            element("line", class_="span", x1=low, x2=high, y1=middle, y2=middle),
            marker(0, across.at(row.value), middle, row.said or row.name, size=5.0),
        ]
        y += pitch
    drawn = [*_frame(across, TOP, y), *drawn]
    described = f"{axis.label}; " + "; ".join(
        f"{row.name}: {shown(row.value)}, {shown(row.low)} to {shown(row.high)}"
        for row in rows[:12]
    )
    return svg(title, described, y + _BELOW, drawn)


def _bar(
    across: Scale, corner: tuple[float, float], number: int, value: float | None, said: str
) -> list[Markup]:
    left, y = corner
    if value is None:
        return [label("none", left + 4, y + 12, "start")]
    wide = max(across.at(value) - left, 0.5)
    return [
        element(
            "rect", element("title", said), x=left, y=round(y + 1, 2), width=round(wide, 2),
            height=_BAR - 2, class_=f"mark s{number % SERIES}",
        ),
        label(said, left + wide + 4, y + 12, "start"),
    ]  # fmt: skip


def _frame(across: Scale, top: float, bottom: float) -> list[Markup]:
    """Grid, ticks and the name of the horizontal axis."""
    drawn = []
    for tick in across.ticks:
        at = across.at(tick)
        drawn.append(element("line", class_="grid", x1=at, x2=at, y1=top, y2=bottom))
        drawn.append(label(across.axis.format(tick), at, bottom + 16, "middle"))
    middle = (across.start + across.end) / 2
    drawn.append(label(across.axis.label, middle, bottom + 36, "middle", "name"))
    return drawn


def _room(names: Sequence[str]) -> float:
    """Pixels that the names at the left take."""
    longest = max((len(short(name, _NAME_MOST)) for name in names), default=0)
    return 24.0 + CHARACTER_PX * longest
