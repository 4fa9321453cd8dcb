"""Who sends and takes which colour, by code class: what is compared with the routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulators.wafer.opcodes import SystemCall
from simulators.wafer.program import COLORS, Program, TaskKind
from toolchains.csl import tree
from toolchains.csl.evaluation import Options
from toolchains.csl.tile import Tile

from .flows import Flow, Grid, Tables, flow
from .operands import Operands, Stream, mentioned
from .trees import Code, code_of

_CHANGES = (SystemCall.SET_CONFIG, SystemCall.COLOR_ROUTE, SystemCall.QUEUE_COLOR)
"""After which queues and routes are others than the program states."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """The colours of one tile program."""

    tile: Tile
    code: Code
    operands: Operands
    streams: tuple[Stream, ...]
    """Operations with the fabric."""
    sends: frozenset[int]
    """Colours that it may send."""
    takes: frozenset[int]
    """Colours that it may take."""
    takes_any: bool
    """It has control tasks, or queues whose colour isn't known."""
    sends_any: bool
    tasks: frozenset[int]
    """Colours that a data task takes."""

    busy: frozenset[tree.Function]
    """Functions with such operations, or that call some that have."""

    def queue(self, color: int) -> int:
        """An input queue by which an operation takes a colour."""
        for stream in self.streams:
            for one in stream.inputs:
                if one.color == color:
                    return one.queue
        return 0


def traffic_of(tile: Tile, options: Options) -> Traffic:
    """The colours that a tile program's code names."""
    code = code_of(tile.functions)
    operands = Operands(tile, code, options.arch)
    found = (operands.stream(node) for node in code.all() if isinstance(node, tree.VectorOp))
    streams = tuple(one for one in found if one is not None)
    sends: set[int] = set()
    takes: set[int] = set()
    tasks: set[int] = set()
    for dsd in mentioned(tile, code):
        fabric = operands.of(dsd)
        (sends if fabric.output else takes).add(fabric.color)
    for queue in tile.queues:
        (sends if queue.output else takes).add(queue.color)
    for binding in tile.bindings:
        if binding.kind is TaskKind.DATA:
            color = binding.id
            if options.arch == "wse3":
                color = operands.colors.get((False, binding.id), -1)
            tasks.add(color)
    control = any(one.kind is TaskKind.CONTROL for one in tile.bindings)
    changes = any(isinstance(one, tree.System) and one.call in _CHANGES for one in code.all())
    return Traffic(
        tile,
        code,
        operands,
        () if changes else streams,
        frozenset(sends - {-1}),
        frozenset((takes | tasks) - {-1}),
        control or changes or -1 in takes,
        changes,
        frozenset(tasks),
        _busy(code),
    )


def _busy(code: Code) -> frozenset[tree.Function]:
    callers: dict[tree.Function, list[tree.Function]] = {}
    busy = set()
    for function, nodes in code.nodes.items():
        for node in nodes:
            if isinstance(node, tree.VectorOp):
                busy.add(function)
            elif isinstance(node, tree.Call):
                callers.setdefault(node.function, []).append(function)
    waiting = list(busy)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in busy:
                busy.add(caller)
                waiting.append(caller)
    return frozenset(busy)


@dataclass(frozen=True, eq=False)
class Wafer:
    """A program with its traffic."""

    program: Program
    traffic: tuple[Traffic, ...]
    """By code class."""
    tables: Tables
    flow: Flow
    takes: Grid
    """By [colour, y, x]: code there may take the colour."""


def wafer_of(program: Program, tiles: Sequence[Tile], options: Options) -> Wafer:
    """The traffic of a program and where it goes."""
    traffic = tuple(traffic_of(tile, options) for tile in tiles)
    shape = (COLORS, program.height, program.width)
    sends, takes, host = (np.zeros(shape, np.bool_) for _ in range(3))
    for number, one in enumerate(traffic):
        mine = program.class_of == number
        for color in range(COLORS):
            if one.sends_any or color in one.sends:
                sends[color][mine] = True
            if one.takes_any or color in one.takes:
                takes[color][mine] = True
    for stream in program.streams:
        where = ... if stream.x < 0 else (stream.y, stream.x)
        (takes if stream.to_host else host)[stream.color][where] = True
    tables = Tables(program)
    return Wafer(program, traffic, tables, flow(tables, sends, host), takes)
