"""Pictures in replies and on disk: a profile, and attempts side by side. Records in, PNG out.

Matplotlib without pyplot, so that threads can draw; Okabe and Ito's colours, which colour-blind
readers can tell apart, on white.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernels.records import Profile

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#999999"
_INK = "#222222"
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


def draw_profile(profile: Profile) -> bytes:
    """Time per phase, and bandwidth against the copy peak at that size."""
    phases = _phases(profile)
    figure = Figure(figsize=(9.5, 1.9 + 0.34 * max(len(phases), 4)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 1.3))
    _draw_phases(left, phases)
    _draw_speeds(right, profile)
    bound = f"{profile.bound.mode} {profile.bound.value:g}"
    figure.suptitle(
        f"{profile.field}, bound {bound}\n{profile.bottleneck}", fontsize=10, color=_INK, wrap=True
    )
    return _png(figure)


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
        axes.set_title(name, fontsize=10, color=_INK)
        axes.set_ylabel(unit, fontsize=9)
    bound = panels[3]
    bound.axhline(1.0, color=_INK, linewidth=1.2, linestyle="--")
    bound.set_xlabel("dashed: the bound", fontsize=8)
    bound.set_ylim(0, 1.25)
    figure.suptitle(title, fontsize=11, color=_INK)
    return _png(figure)


def _draw_bars(axes: Axes, names: Sequence[str], values: Sequence[float | None]) -> None:
    heights = [value or 0.0 for value in values]
    colours = [(BLUE, ORANGE, GREEN)[i % 3] for i in range(len(names))]
    bars = axes.bar(names, heights, color=colours, width=0.6)
    labels = ["none" if value is None else f"{value:.4g}" for value in values]
    axes.bar_label(bars, labels=labels, padding=2, fontsize=9, color=_INK)
    axes.margins(y=0.18)
    _bare(axes)


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
    axes.set_title("Time per phase", fontsize=10, color=_INK)
    axes.set_xlabel("ms")
    _bare(axes)
    if not phases:
        axes.text(0.5, 0.5, "no phases", ha="center", transform=axes.transAxes)
        return
    order = dict.fromkeys(phase.function for phase in phases)
    colours = dict(zip(order, (BLUE, ORANGE, GREEN, GREY), strict=False))
    labels = [f"{phase.function}: {phase.name}".removeprefix(": ") for phase in phases]
    times = [phase.seconds * 1e3 for phase in phases]
    bars = axes.barh(labels, times, color=[colours[phase.function] for phase in phases])
    axes.invert_yaxis()
    axes.bar_label(bars, fmt="%.3g", padding=3, fontsize=8, color=_INK)
    axes.margins(x=0.14)
    axes.tick_params(axis="y", labelsize=8)


def _draw_speeds(axes: Axes, profile: Profile) -> None:
    values = {metric.name: metric.value for metric in profile.metrics}
    speeds = {
        name.removesuffix(".bandwidth"): value
        for name, value in values.items()
        if name.endswith(".bandwidth")
    }
    axes.set_title("Bandwidth of original data", fontsize=10, color=_INK)
    axes.set_ylabel("GB/s")
    _draw_bars(axes, list(speeds), list(speeds.values()))
    peak = values.get("copy_peak")
    if peak:
        axes.axhline(peak, color=_INK, linewidth=1.2, linestyle="--")
        axes.text(
            0.98,
            peak,
            f"copy peak {peak:.3g}",
            ha="right",
            va="bottom",
            fontsize=8,
            transform=axes.get_yaxis_transform(),
        )
        axes.set_ylim(0, max(peak, *speeds.values(), 0) * 1.18)


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def _png(figure: Figure) -> bytes:
    figure.set_facecolor("white")
    FigureCanvasAgg(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    return stream.getvalue()
