"""The picture of a profile that was modelled: kernels against a GPU's documented bandwidth."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.records import Profile
from sz_mcp.pictures import BLUE, GREEN, GREY, INK, ORANGE, bare, png

_KERNELS = 10
"""That are drawn: those that take longest."""


@dataclass(frozen=True)
class _Kernel:
    name: str
    values: Mapping[str, float]

    @property
    def least(self) -> float:
        """Microseconds for the bytes that it must move."""
        return self.values.get("least_time", 0.0)

    @property
    def uncached(self) -> float:
        """For those of every request, as if no cache helped."""
        moved = self.values.get("moved_bytes", 0.0)
        return self.least * self.values.get("sector_bytes", 0.0) / moved if moved else 0.0


def draw_profile(profile: Profile) -> bytes:
    """Least times by memory, and how well each kernel uses what it asks for; PNG."""
    kernels = _kernels(profile)
    figure = Figure(figsize=(11.5, max(4.2, 2.2 + 0.5 * len(kernels))), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_times(left, kernels)
    _draw_shares(right, kernels)
    bound = f"{profile.bound.mode} {profile.bound.value:g}"
    lines = [f"{profile.field}, bound {bound}; modelled, not measured"]
    lines += textwrap.wrap(profile.bottleneck, 140)
    figure.suptitle("\n".join(lines), fontsize=10, color=INK)
    return png(figure)


def _kernels(profile: Profile) -> list[_Kernel]:
    """From metrics named `WHAT[KERNEL]` that a model made."""
    found: dict[str, dict[str, float]] = {}
    for metric in profile.metrics:
        what, _, rest = metric.name.partition("[")
        if metric.provenance == "modelled" and rest:
            found.setdefault(rest.removesuffix("]"), {})[what] = metric.value
    # Metrics of single lines have no launches.
    kernels = [_Kernel(name, values) for name, values in found.items() if "launches" in values]
    return sorted(kernels, key=lambda one: one.uncached, reverse=True)[:_KERNELS]


def _draw_times(axes: Axes, kernels: Sequence[_Kernel]) -> None:
    """Two bars a kernel, on a logarithmic axis."""
    axes.set_title("Time that memory takes at its documented peak", fontsize=10, color=INK)
    axes.set_xlabel("us, over all launches")
    bare(axes)
    drawn = [one for one in kernels if one.least > 0]
    if not drawn:
        axes.text(0.5, 0.5, "no bandwidth, or no traffic", ha="center", transform=axes.transAxes)
        return
    rows = range(len(drawn))
    for offset, label, colour, times in (
        (-0.2, "each sector once per block", BLUE, [one.least for one in drawn]),
        (0.2, "every request, if no cache helped", ORANGE, [one.uncached for one in drawn]),
    ):
        bars = axes.barh([row + offset for row in rows], times, 0.38, color=colour, label=label)
        axes.bar_label(bars, fmt="%.3g", padding=3, fontsize=8, color=INK)
    _named(axes, drawn)
    axes.set_xscale("log")
    axes.margins(x=0.25)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=8, frameon=False)


def _draw_shares(axes: Axes, kernels: Sequence[_Kernel]) -> None:
    """Three bars a kernel; 1 is best."""
    axes.set_title("What is used of what is asked for", fontsize=10, color=INK)
    axes.set_xlabel("share; 1 is best")
    bare(axes)
    for offset, label, colour, shares in (
        (-0.27, "coalescing", BLUE, [one.values.get("coalescing", 0.0) for one in kernels]),
        (0.0, "passes over banks", GREEN, [_inverse(one, "bank_passes") for one in kernels]),
        (0.27, "active lanes", GREY, [one.values.get("active_lanes", 0.0) for one in kernels]),
    ):
        rows = [row + offset for row in range(len(kernels))]
        axes.barh(rows, shares, 0.25, color=colour, label=label)
    _named(axes, kernels)
    axes.set_xlim(0, 1.02)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=8, frameon=False)


def _inverse(one: _Kernel, name: str) -> float:
    value = one.values.get(name, 0.0)
    return 1 / value if value else 0.0


def _named(axes: Axes, kernels: Sequence[_Kernel]) -> None:
    axes.set_yticks(range(len(kernels)), [one.name for one in kernels], fontsize=8)
    axes.invert_yaxis()
