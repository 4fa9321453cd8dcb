"""Pictures in replies and on disk: a profile, and attempts side by side. Records in, PNG out.

Matplotlib without pyplot, so that threads can draw; Okabe and Ito's colours, which colour-blind
readers can tell apart, on white.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernels.records import Profile

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#999999"
COLOURS = (BLUE, ORANGE, GREEN, GREY)
INK = "#222222"
_DPI = 110
_PHASES = 10
"""Longest phases that are drawn; the others are one bar."""


@dataclass(frozen=True)
class Attempt:
    """One kernel's figures, for comparison; None where there is none."""

    label: str
    ratio: float | None
    compress_gbps: float | None
    decompress_gbps: float | None
    error_over_bound: float | None


@dataclass(frozen=True)
class _Phase:
    function: str
    name: str
    seconds: float


@dataclass(frozen=True)
class _Point:
    """One function of the task in the roofline."""

    function: str
    nbytes: float
    gbps: float
    share: float
    roof: float
    """GB/s that a copy moves at that size."""
    colour: str
    marker: str


def draw_profile(profile: Profile) -> bytes:
    """Time per phase, and the kernel's functions against this machine's bandwidth by size."""
    phases = _phases(profile)
    figure = Figure(figsize=(11.5, max(4.2, 1.9 + 0.3 * len(phases))), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _draw_phases(left, phases)
    _draw_roofline(right, profile)
    bound = f"{profile.bound.mode} {profile.bound.value:g}"
    lines = [f"{profile.field}, bound {bound}", *textwrap.wrap(profile.bottleneck, 140)]
    figure.suptitle("\n".join(lines), fontsize=10, color=INK)
    return png(figure)


def draw_attempts(attempts: Sequence[Attempt], title: str) -> bytes:
    """Ratio, speeds and error of several kernels, one panel each."""
    figure = Figure(figsize=(10.5, 3.4), layout="constrained")
    panels = figure.subplots(1, 4)
    names = [attempt.label for attempt in attempts]
    for axes, (name, unit, values) in zip(
        panels,
        (
            ("Compression ratio", "original / stream bytes", [a.ratio for a in attempts]),
            ("Compression speed", "GB/s of original data", [a.compress_gbps for a in attempts]),
            ("Decompression speed", "GB/s of original data", [a.decompress_gbps for a in attempts]),
            ("Worst error", "fraction of the bound", [a.error_over_bound for a in attempts]),
        ),
        strict=True,
    ):
        _draw_bars(axes, names, values)
        axes.set_title(name, fontsize=10, color=INK)
        axes.set_ylabel(unit, fontsize=9)
    bound = panels[3]
    bound.axhline(1.0, color=INK, linewidth=1.2, linestyle="--")
    bound.set_xlabel("dashed: the bound", fontsize=8)
    bound.set_ylim(0, 1.25)
    figure.suptitle(title, fontsize=11, color=INK)
    return png(figure)


def _draw_bars(axes: Axes, names: Sequence[str], values: Sequence[float | None]) -> None:
    heights = [value or 0.0 for value in values]
    colours = [(BLUE, ORANGE, GREEN)[i % 3] for i in range(len(names))]
    bars = axes.bar(names, heights, color=colours, width=0.6)
    labels = ["none" if value is None else f"{value:.4g}" for value in values]
    axes.bar_label(bars, labels=labels, padding=2, fontsize=9, color=INK)
    axes.margins(y=0.18)
    bare(axes)


def _phases(profile: Profile) -> list[_Phase]:
    """The longest phases, in order; metrics named `phase.FUNCTION.NAME`, in seconds."""
    found = []
    for metric in profile.metrics:
        kind, _, rest = metric.name.partition(".")
        function, _, name = rest.partition(".")
        if kind == "phase" and name and metric.unit == "s":
            found.append(_Phase(function, name, metric.value))
    found.sort(key=lambda phase: phase.seconds, reverse=True)
    kept, others = found[:_PHASES], found[_PHASES:]
    if others:
        kept.append(_Phase("", f"{len(others)} others", sum(one.seconds for one in others)))
    return kept


def _draw_phases(axes: Axes, phases: Sequence[_Phase]) -> None:
    axes.set_title("Time per phase", fontsize=10, color=INK)
    axes.set_xlabel("ms")
    bare(axes)
    if not phases:
        axes.text(0.5, 0.5, "no phases", ha="center", transform=axes.transAxes)
        return
    order = dict.fromkeys(phase.function for phase in phases)
    colours = dict(zip(order, COLOURS, strict=False))
    labels = [f"{phase.function}: {phase.name}".removeprefix(": ") for phase in phases]
    times = [phase.seconds * 1e3 for phase in phases]
    bars = axes.barh(labels, times, color=[colours[phase.function] for phase in phases])
    axes.invert_yaxis()
    axes.bar_label(bars, fmt="%.3g", padding=3, fontsize=8, color=INK)
    axes.margins(x=0.14)
    axes.tick_params(axis="y", labelsize=8)


def _draw_roofline(axes: Axes, profile: Profile) -> None:
    """Bytes moved per second against the bytes that a call moves, both logarithmic.

    A copy of n bytes touches 2n and moves 2n; a read or a write touches and moves n.
    """
    points = _points(profile)
    axes.set_title("Bytes moved, against this machine's memory", fontsize=10, color=INK)
    axes.set_xlabel("bytes that a call reads and writes")
    axes.set_ylabel("GB/s moved")
    for name, style, width, curve in (
        ("read", ":", 1.2, [(p.nbytes, p.read_gbps) for p in profile.peaks]),
        ("copy", "-", 1.8, [(2 * p.nbytes, 2 * p.copy_gbps) for p in profile.peaks]),
        ("write", "--", 1.2, [(p.nbytes, p.write_gbps) for p in profile.peaks]),
    ):
        if curve:
            sizes, speeds = zip(*curve, strict=True)
            axes.plot(sizes, speeds, style, color=INK, linewidth=width, label=f"{name} peak")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for point in points:
        axes.plot(
            point.nbytes,
            point.gbps,
            point.marker,
            markersize=9,
            color=point.colour,
            markeredgecolor=INK,
            label=f"{point.function}: {point.gbps:.3g} GB/s, {100 * point.share:.2g}% of a copy",
        )
        axes.vlines(point.nbytes, point.gbps, point.roof, color=point.colour, linewidth=1)
    _frame(axes, profile, points)
    bare(axes)


def _frame(axes: Axes, profile: Profile, points: Sequence[_Point]) -> None:
    """Limits that hold curves and points, and names outside of both."""
    sizes = [p.nbytes for p in profile.peaks] + [point.nbytes for point in points]
    speeds = [2 * p.copy_gbps for p in profile.peaks] + [p.read_gbps for p in profile.peaks]
    speeds += [point.gbps for point in points] + [point.roof for point in points]
    if not sizes:
        axes.text(0.5, 0.5, "nothing was measured", ha="center", transform=axes.transAxes)
        return
    axes.set_xlim(min(sizes) / 1.6, max(sizes) * 2.6)
    axes.set_ylim(min(speeds) / 2.2, max(speeds) * 1.7)
    low, high = (math.ceil(math.log2(limit)) for limit in axes.get_xlim())
    ticks = [k for k in range(low, high) if k % 4 == 2]
    axes.set_xticks([2.0**k for k in ticks], [_size(2**k) for k in ticks])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8, frameon=False)


def _size(nbytes: int) -> str:
    """In the largest binary unit that leaves a whole number."""
    names = ("B", "KiB", "MiB", "GiB")
    power = min(len(names) - 1, (nbytes.bit_length() - 1) // 10)
    return f"{nbytes >> 10 * power} {names[power]}"


def _points(profile: Profile) -> list[_Point]:
    """Functions of the task with what they move; from metrics named FUNCTION.moved_bytes, ..."""
    values = {metric.name: metric.value for metric in profile.metrics}
    functions = [
        name.removesuffix(".moved_bandwidth")
        for name, value in values.items()
        if name.endswith(".moved_bandwidth") and value > 0
    ]
    points = []
    for function, colour, marker in zip(functions, COLOURS, "os^D", strict=False):
        gbps = values[f"{function}.moved_bandwidth"]
        share = values.get(f"{function}.share_of_copy_peak", 0.0)
        nbytes = max(1.0, values.get(f"{function}.moved_bytes", 1.0))
        roof = gbps / share if share > 0 else gbps
        points.append(_Point(function, nbytes, gbps, share, roof, colour, marker))
    return points


def bare(axes: Axes) -> None:
    """Axes without a frame."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def png(figure: Figure) -> bytes:
    """The finished picture."""
    figure.set_facecolor("white")
    FigureCanvasAgg(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    return stream.getvalue()
