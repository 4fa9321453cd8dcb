"""The fields of run_compress that are of a simulated device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from kernels.records import Metric
from sz_mcp.projection import CYCLES, PROJECTED, basis


class DeviceFields(TypedDict, total=False):
    """Of a `RunReply`; empty where nothing was simulated."""

    cycles: int
    projected_gbps: float
    projection_basis: str


def device_fields(metrics: Sequence[Metric]) -> DeviceFields:
    """What there is in place of a speed: of compress, or of a stage's run."""
    known = {metric.name: metric.value for metric in metrics}
    for function in ("compress", "run"):
        cycles = known.get(f"{function}_{CYCLES}")
        if cycles is not None:
            return DeviceFields(
                cycles=int(cycles),
                projected_gbps=known.get(f"{function}_{PROJECTED}", 0.0),
                projection_basis=basis(metrics),
            )
    return DeviceFields()
