"""What a simulated device's cycles say: speeds that they project to, and on what basis.

A rectangle of PEs that works by itself can be repeated over the wafer. So the speed on a larger one
is that of the rectangle which was simulated, times how often it fits.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernels.records import Metric
from toolchains.base import Session
from toolchains.device_use import DeviceUse

CYCLES, PROJECTED, BASIS_SIDE = "device_cycles", "projected_gbps", 512
"""The side of the square of PEs that CereSZ (doi 10.1145/3625549.3658691) is understood to use."""
_HOST_GBPS = 150.0
"""1.2 Tbit/s into and out of a system (vendor's white paper)."""


def device_metrics(session: Session, functions: Iterable[str], nbytes: int) -> tuple[Metric, ...]:
    """Of the last call of every function, over a field of `nbytes`; none where nothing counts."""
    found: list[Metric] = []
    for function in functions:
        use = session.device_use(function)
        if use is not None:
            found += _of_one(function, use, nbytes)
    if found:
        found.append(Metric("host_link_gbps", _HOST_GBPS, "GB/s", "documented"))
    return tuple(found)


def _of_one(function: str, use: DeviceUse, nbytes: int) -> list[Metric]:
    metrics = [
        Metric(f"{function}_{CYCLES}", use.cycles, "cycles", "modelled"),
        Metric(f"{function}_columns", use.columns, "PEs", "derived"),
        Metric(f"{function}_rows", use.rows, "PEs", "derived"),
        Metric(f"{function}_words_in", use.words_in, "words", "modelled"),
        Metric(f"{function}_words_out", use.words_out, "words", "modelled"),
    ]
    if not (use.cycles and use.columns and use.rows and nbytes):
        return metrics
    own = nbytes * use.clock_hz / use.cycles / 1e9
    square = (BASIS_SIDE // use.columns) * (BASIS_SIDE // use.rows)
    wafer = (use.fabric[0] // use.columns) * (use.fabric[1] // use.rows)
    return [
        *metrics,
        Metric(f"{function}_rectangle_gbps", own, "GB/s", "modelled"),
        Metric(f"{function}_{PROJECTED}", own * square, "GB/s", "modelled"),
        Metric(f"{function}_wafer_gbps", own * wafer, "GB/s", "modelled"),
    ]


def basis(metrics: Iterable[Metric]) -> str:
    """What `projected_gbps` assumes, in a sentence; empty where nothing was simulated."""
    known = {metric.name: metric.value for metric in metrics}
    first = next((name for name in ("compress", "run") if f"{name}_{CYCLES}" in known), None)
    if first is None:
        return ""
    columns, rows = (int(known[f"{first}_{side}"]) for side in ("columns", "rows"))
    return (
        f"{first} on {columns} x {rows} simulated PEs, repeated over {BASIS_SIDE} x {BASIS_SIDE}; "
        f"copies between host and wafer left out, which {_HOST_GBPS:.0f} GB/s limit"
    )
