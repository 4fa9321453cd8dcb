"""A small picture of a field: its values where it is 1-D, else a slice through its middle."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernels.records import Array, Field

_MOST = 1000
"""Points drawn along one axis; others are left out."""
_DPI = 110


def draw_field(field: Field) -> bytes:
    """PNG. Fill values and non-finite ones are left blank."""
    shown, where = _slice(field.data)
    values = np.array(shown, np.float64)
    if field.info.fill_value is not None:
        values[shown == field.data.dtype.type(field.info.fill_value)] = np.nan
    values[~np.isfinite(values)] = np.nan
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    if values.ndim == 1:
        axes.plot(values, linewidth=0.8, color="#0072B2")
        axes.set_ylabel(field.info.unit)
    else:
        image = axes.imshow(values, cmap="viridis", aspect="auto", interpolation="nearest")
        figure.colorbar(image, label=field.info.unit)
    axes.set_title(f"{field.info.name}{where}", fontsize=10)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DPI)
    return picture.getvalue()


def _slice(data: Array) -> tuple[Array, str]:
    """The last two axes in the middle of the others, thinned, and which slice that is."""
    flat = data.reshape(1) if data.ndim == 0 else data
    middle = tuple(n // 2 for n in flat.shape[:-2])
    shown = flat[middle]
    thinned = shown[tuple(slice(None, None, -(-n // _MOST)) for n in shown.shape)]
    return thinned, f" [{', '.join(map(str, middle))}, :, :]" if middle else ""
