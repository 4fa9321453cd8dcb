"""Checks of complete tile programs and of whole programs: what would hang or be lost when run.

What is certain is an error, what depends on data or timing a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from simulators.wafer.program import Program
from simulators.wafer.rectangles import rectangles
from toolchains.csl.evaluation import Options
from toolchains.csl.layout import Layout
from toolchains.csl.source import Diagnostic, Note, Reports
from toolchains.csl.tile import Tile

from .buffers import check_buffers
from .commands import check_commands
from .overlaps import check_overlaps
from .queues import Queues, check_queues, queues_of
from .routes import Routes
from .starts import graph_of
from .tasks import check_targets
from .wafer import Traffic, wafer_of


def check_program(
    program: Program, tiles: Sequence[Tile], layout: Layout, options: Options, reports: Reports
) -> None:
    """What the code of tile programs says of itself, and all of it and the routes of each other."""
    wafer = wafer_of(program, tiles, options)
    queues = queues_of(tiles)
    for number, traffic in enumerate(wafer.traffic):
        for found in _tile(traffic, options, queues[traffic.tile.file]):
            reports.add(_placed(found, layout, number))
    for found in (*Routes(wafer, layout).check(), *check_buffers(wafer)):
        reports.add(found)


def _tile(one: Traffic, options: Options, queues: Queues) -> Iterator[Diagnostic]:
    yield from check_targets(one.tile, one.code)
    yield from check_queues(one, options, queues)
    yield from check_overlaps(one)
    if options.memcpy:
        yield from check_commands(one.tile, one.code, graph_of(one.tile, one.code))


def _placed(found: Diagnostic, layout: Layout, number: int) -> Diagnostic:
    """With the PEs, where there are several programs."""
    if len(layout.classes) == 1:
        return found
    rows, columns = np.nonzero(layout.class_of == number)
    where = rectangles(zip(columns.tolist(), rows.tolist(), strict=True))
    return replace(found, notes=(*found.notes, Note(f"in the program of the PEs {where}")))
