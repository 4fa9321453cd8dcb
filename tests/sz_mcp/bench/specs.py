"""Specs for tests, as YAML."""

from __future__ import annotations

from sz_mcp.bench.reading import Names, parse
from sz_mcp.bench.spec import Spec

NAMES = Names(
    tasks=("szp", "szx", "lorenzo-1d", "lorenzo-2d"),
    targets=("numba", "cuda:sm_90", "wafer:wse3"),
    fields=("na_temperature", "sea_surface"),
)
SMALL = """\
name: small
agents:
  random: {kind: search, method: random}
  worked: {kind: replay, styles: [naive, tuned]}
tasks: [lorenzo-1d]
targets: [numba]
fields: [na_temperature]
repeats: 2
budget:
  cell: {calls: 4, minutes: 2}
"""


def spec(text: str) -> Spec:
    return parse(text, "test.yaml", NAMES)
