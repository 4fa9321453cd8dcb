"""A small picture of a field: its values where it is 1-D, else a slice through its middle."""

from __future__ import annotations

import io
import math

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernels.records import Array, Field

_MOST = 1000
"""Points drawn along one axis; others are left out."""
_DPI = 110
_MOST_EXPONENT = 100
"""Of ten: beyond, matplotlib's sums and quotients overflow."""


def draw_field(field: Field) -> bytes:
    """PNG. Fill values and non-finite ones are left blank."""
    shown, where = _slice(field.data)
    values = np.array(shown, np.float64)
    if field.info.fill_value is not None:
        values[shown == field.data.dtype.type(field.info.fill_value)] = np.nan
    values[~np.isfinite(values)] = np.nan
    values, scale = _scaled(values)
    label = " ".join(part for part in (scale, field.info.unit.replace("$", r"\$")) if part)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    if values.ndim == 1:
        axes.plot(values, linewidth=0.8, color="#0072B2")
        axes.set_ylabel(label)
    else:
        image = axes.imshow(values, cmap="viridis", aspect="auto", interpolation="nearest")
        figure.colorbar(image, label=label)
    axes.set_title(f"{field.info.name}{where}", fontsize=10)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DPI)
    return picture.getvalue()


def _scaled(values: Array) -> tuple[Array, str]:
    """Values that can be subtracted and squared, and what they were divided by, as text."""
    largest = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    if abs(exponent) <= _MOST_EXPONENT:
        return values, ""
    exponent = max(exponent, -300)
    return values / 10.0**exponent, f"×1e{exponent}"


def _slice(data: Array) -> tuple[Array, str]:
    """The last two axes in the middle of the others, thinned, and which slice that is."""
    flat = data.reshape(1) if data.ndim == 0 else data
    middle = tuple(n // 2 for n in flat.shape[:-2])
    shown = flat[middle]
    thinned = shown[tuple(slice(None, None, -(-n // _MOST)) for n in shown.shape)]
    return thinned, f" [{', '.join(map(str, middle))}, :, :]" if middle else ""
