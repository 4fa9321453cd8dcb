"""The picture of a wafer profile: what the PEs of the rectangle did with the cycles."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernels.records import HeatMap, Profile
from sz_mcp.pictures import INK, png


def draw_profile(profile: Profile) -> bytes:
    """A map of the rectangle per cause, on one scale of 0 to 1, a column per function; PNG."""
    columns = _by_function(profile.maps)
    rows = max(map(len, columns))
    size = (1.5 + 5.0 * max(2, len(columns)), 1.2 + 2.4 * max(1, rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(max(1, rows), len(columns), squeeze=False)
    for one in axes.flat:
        one.set_axis_off()
    for place, maps in enumerate(columns):
        for one, drawn in zip(axes[:, place], maps, strict=False):
            one.set_axis_on()
            image = one.imshow(
                np.array(drawn.rows), vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto",
                interpolation="nearest",
            )  # fmt: skip
            one.set_title(drawn.name, fontsize=10, color=INK)
            one.set_xlabel("x of the PE", fontsize=8)
            one.set_ylabel("y", fontsize=8)
            for axis in (one.xaxis, one.yaxis):
                axis.set_major_locator(MaxNLocator(integer=True))
            figure.colorbar(image, ax=one, label="share of the cycles")
    bound = f"{profile.bound.mode} {profile.bound.value:g}"
    lines = [f"{profile.field}, bound {bound}; simulated, in cycles"]
    lines += textwrap.wrap(profile.bottleneck, 140)
    figure.suptitle("\n".join(lines), fontsize=10, color=INK)
    return png(figure)


def _by_function(maps: Sequence[HeatMap]) -> list[list[HeatMap]]:
    """Maps are named FUNCTION: what; at least one column, be it empty."""
    found: dict[str, list[HeatMap]] = {}
    for one in maps:
        found.setdefault(one.name.partition(":")[0], []).append(one)
    return list(found.values()) or [[]]
