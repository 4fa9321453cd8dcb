"""The picture of a wafer profile: what the PEs of the rectangle did with the cycles."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.figure import Figure

from kernels.records import Profile
from sz_mcp.pictures import INK, png

_COLUMNS = 2


def draw_profile(profile: Profile) -> bytes:
    """A map of the rectangle per cause, on one scale of 0 to 1; PNG."""
    rows = -(-len(profile.maps) // _COLUMNS)
    figure = Figure(figsize=(11.5, 1.2 + 2.8 * max(1, rows)), layout="constrained")
    axes = figure.subplots(max(1, rows), _COLUMNS, squeeze=False)
    for one in axes.flat:
        one.set_axis_off()
    for one, drawn in zip(axes.flat, profile.maps, strict=False):
        one.set_axis_on()
        image = one.imshow(
            np.array(drawn.rows), vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto",
            interpolation="nearest",
        )  # fmt: skip
        one.set_title(drawn.name, fontsize=10, color=INK)
        one.set_xlabel("x of the PE", fontsize=8)
        one.set_ylabel("y", fontsize=8)
        figure.colorbar(image, ax=one, label="share of the cycles")
    bound = f"{profile.bound.mode} {profile.bound.value:g}"
    lines = [f"{profile.field}, bound {bound}; simulated, in cycles"]
    lines += textwrap.wrap(profile.bottleneck, 140)
    figure.suptitle("\n".join(lines), fontsize=10, color=INK)
    return png(figure)
