"""The plane of a chart: axes, ticks, grid, legend, and where a value lies in pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sz_mcp.board.figures import finite, linear_ticks, log_ticks, tick
from sz_mcp.board.html import Child, Markup, element

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
CHARACTER_PX = 7.0
"""Mean width of a character at the charts' size of text."""
SERIES = 8
"""Series that have a look of their own; later ones begin again."""
_ROW_PX = 18
_NO_ROOM = 1e-12
_DECADES = 250.0


@dataclass(frozen=True)
class Axis:
    """One axis. `low` and `high` widen it; it always holds every value."""

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    format: Callable[[float], str] = tick


@dataclass(frozen=True)
class Scale:
    """From values of an axis to pixels."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Pixel of a value; a value that a logarithmic axis can't have lies at its start."""
        if not self.axis.log:
            share = (value - self.low) / (self.high - self.low)
        elif value <= 0:
            share = 0.0
        else:
            low, high = math.log(self.low), math.log(self.high)
            share = (math.log(value) - low) / (high - low)
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 2)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Values that have a mark."""
        return (log_ticks if self.axis.log else linear_ticks)(self.low, self.high)


def scale(axis: Axis, values: Sequence[float | None], start: float, end: float) -> Scale:
    """The scale that holds all finite values, with a margin."""
    usable = [one for one in finite([*values, axis.low, axis.high]) if not axis.log or one > 0]
    low, high = (min(usable), max(usable)) if usable else (1.0, 10.0) if axis.log else (0.0, 1.0)
    if axis.log:
        first, last = (min(max(math.log10(end), -_DECADES), _DECADES) for end in (low, high))
        wide = max(last - first, 0.1) * 0.06
        low, high = 10 ** (first - wide), 10 ** (last + wide)
    else:
        wide = (high - low) * 0.05 or max(abs(high) * 0.05, _NO_ROOM)
        low = low if axis.low is not None and low == axis.low else low - wide
        high = high if axis.high is not None and high == axis.high else high + wide
    return Scale(axis, low, high, start, end)


@dataclass(frozen=True)
class Plane:
    """Two scales and the room around them."""

    x: Scale
    y: Scale
    top: float
    bottom: float

    def frame(self) -> list[Markup]:
        """Grid, ticks and labels."""
        right, bottom = WIDTH - RIGHT, self.bottom
        drawn = [
            element(
                "line", class_="grid", x1=LEFT, x2=right, y1=self.y.at(tick), y2=self.y.at(tick)
            )
            for tick in self.y.ticks
        ]
        drawn += [
            label(self.y.axis.format(one), LEFT - 8, self.y.at(one) + 4, "end")
            for one in self.y.ticks
        ]
        drawn.append(element("line", class_="axis", x1=LEFT, x2=right, y1=bottom, y2=bottom))
        for one in self.x.ticks:
            at = self.x.at(one)
            drawn.append(element("line", class_="axis", x1=at, x2=at, y1=bottom, y2=bottom + 4))
            drawn.append(label(self.x.axis.format(one), at, bottom + 18, "middle"))
        middle = (LEFT + right) / 2
        drawn.append(label(self.x.axis.label, middle, bottom + 38, "middle", "name"))
        drawn.append(_upright(self.y.axis.label, (self.top + bottom) / 2))
        return drawn


def plane(
    axes: tuple[Axis, Axis], xs: Sequence[float | None], ys: Sequence[float | None], top: float
) -> Plane:
    """A plane that holds all points below `top`."""
    bottom = top + HEIGHT - TOP - BOTTOM
    horizontal = scale(axes[0], xs, LEFT, WIDTH - RIGHT)
    return Plane(horizontal, scale(axes[1], ys, bottom, top), top, bottom)


def legend(names: Sequence[str], mark: Callable[[int, float, float], Markup]) -> list[Markup]:
    """Names in rows above a chart, each behind its mark; none if there is but one."""
    drawn: list[Markup] = []
    if len(names) < 2:
        return drawn
    at, row = float(LEFT), 0
    for number, name in enumerate(names):
        width = 26 + CHARACTER_PX * len(short(name))
        if at + width > WIDTH and at > LEFT:
            at, row = float(LEFT), row + 1
        drawn.append(mark(number, at + 8, TOP - 4 + row * _ROW_PX))
        drawn.append(label(short(name), at + 20, TOP + row * _ROW_PX, "start"))
        at += width
    return drawn


def legend_height(names: Sequence[str]) -> float:
    """Pixels that the legend takes."""
    if len(names) < 2:
        return 0.0
    at, rows = float(LEFT), 1
    for name in names:
        width = 26 + CHARACTER_PX * len(short(name))
        if at + width > WIDTH and at > LEFT:
            at, rows = float(LEFT), rows + 1
        at += width
    return rows * _ROW_PX + 6.0


def short(name: str, most: int = 28) -> str:
    """A name cut to what has room: its end tells it from others as often as its beginning."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - half]}…{name[-half:]}"


def label(value: str, x: float, y: float, anchor: str, class_: str = "tick") -> Markup:
    """A text in the chart."""
    return element("text", value, x=round(x, 2), y=round(y, 2), text_anchor=anchor, class_=class_)


def _upright(value: str, y: float) -> Markup:
    turn = f"translate(14 {y:.1f}) rotate(-90)"
    return element("text", value, transform=turn, text_anchor="middle", class_="name")


def svg(title: str, description: str, height: float, *drawn: Child) -> Markup:
    """A chart with what a screen reader says of it."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:.0f}",
        role="img",
        aria_label=f"{title}. {description}",
        class_="chart",
    )


def marker(number: int, x: float, y: float, *said: Child, size: float = 4.0) -> Markup:
    """The mark of a series: shape and colour; `said`: what is shown when it is pointed at."""
    look = number % SERIES
    title = element("title", *said) if said else None
    return element("path", title, d=_path(_SHAPES[look], x, y, size), class_=f"mark s{look}")


_SHAPES = (
    "circle", "square", "triangle", "diamond", "down", "plus", "cross", "bar",
)  # fmt: skip


def _path(shape: str, x: float, y: float, size: float) -> str:
    a, b = size, size * 1.3
    corners: dict[str, Sequence[tuple[float, float]]] = {
        "square": ((-a, -a), (a, -a), (a, a), (-a, a)),
        "triangle": ((0, -b), (b, a), (-b, a)),
        "diamond": ((0, -b), (b, 0), (0, b), (-b, 0)),
        "down": ((0, b), (b, -a), (-b, -a)),
        "plus": _cross(b, a / 2.2),
        "cross": _turned(_cross(b, a / 2.2)),
        "bar": ((-b, -a / 2), (b, -a / 2), (b, a / 2), (-b, a / 2)),
    }
    if shape == "circle":
        return f"M{x - a:.1f} {y:.1f}a{a} {a} 0 1 0 {2 * a} 0a{a} {a} 0 1 0 {-2 * a} 0z"
    points = " ".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners[shape])
    return f"M{points}z"


def _cross(b: float, a: float) -> Sequence[tuple[float, float]]:
    return (
        (-a, -b), (a, -b), (a, -a), (b, -a), (b, a), (a, a), (a, b), (-a, b), (-a, a), (-b, a),
        (-b, -a), (-a, -a),
    )  # fmt: skip


def _turned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    half = math.sqrt(0.5)
    return [((x - y) * half, (x + y) * half) for x, y in points]
