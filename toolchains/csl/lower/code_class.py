"""A tile's typed tree as a code class: all functions, their memory, tasks and tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from simulators.wafer.opcodes import Flag
from simulators.wafer.program import (
    CodeClass,
    Fifo,
    Function,
    Queue,
    Task,
    TaskKind,
)
from simulators.wafer.scalar_costs import SCALAR
from toolchains.csl import tree, types
from toolchains.csl.evaluation import Options
from toolchains.csl.source import CslError, Diagnostic, Reports, Severity
from toolchains.csl.tile import FifoInit, Tile
from toolchains.csl.types import size_of

from . import memory
from .call_graph import check_maps, check_recursion, registers
from .frame import Frame, Instruction
from .functions import lower_function
from .places import PlaceTable
from .scalars import scalar_of
from .schedule import costs, words
from .unit import Unit

_WAVELET_BITS = 32
_CONTROL_BITS = 16
"""Of data in a control wavelet."""


def lower_tile(
    tile: Tile, options: Options, name: str, places: PlaceTable, reports: Reports
) -> CodeClass:
    """The code class of a tile program. Mistakes that only show here go to `reports`."""
    unit = Unit(tile, places, reports)
    frames = _frames(unit)
    for check in (check_recursion, check_maps):
        for diagnostic in check(frames, unit.addressed_functions):
            reports.add(diagnostic)
    for fifo in tile.fifos:
        if fifo.value.number in tile.used_fifos:
            unit.variable(fifo.buffer.variable)
    _exports(unit)
    end = memory.place(unit.symbols, banks=options.arch == "wse2")
    total = sum(words(step) for frame in frames.values() for step in frame.code)
    problem = memory.overflow(unit.symbols, end, total, options.memcpy, name)
    if problem is not None:
        reports.add(problem)
    code, origins, entries = _assemble(frames, options.arch)
    return CodeClass(
        name,
        code,
        origins,
        tuple(
            Function(function.name, entry, max(1, frame.high))
            for (function, frame), entry in zip(frames.items(), entries, strict=True)
        ),
        _tasks(unit),
        tuple(operation for operation, _ in unit.operations),
        tuple(place for _, place in unit.operations),
        tuple(unit.configs),
        tuple(unit.naming.patterns),
        _fifos(unit),
        tuple(
            Queue(queue.output, queue.id, queue.color, queue.priority, queue.control_table)
            for queue in tile.queues
        ),
        memory.image(unit.symbols, end),
        memory.regions(unit.symbols, places),
        tuple(tile.texts),
        registers(frames, unit.addressed_functions),
        active=tuple(task for task, _ in tile.active),
        blocked=_blocked(tile),
        teardown_handlers=_handlers(unit, tile.teardown_handlers),
        empty_handlers=_handlers(unit, tile.empty_handlers),
        exported_functions={
            export.name: unit.number(export.function)
            for export in tile.exports
            if export.function is not None
        },
        exported_variables={
            export.name: unit.variable(export.variable).address
            for export in tile.exports
            if export.variable is not None
        },
        control_table=tile.control_table,
    )


def _frames(unit: Unit) -> dict[tree.Function, Frame]:
    """Code of all functions, in the order of their numbers; code may name further ones."""
    for function in _roots(unit.tile):
        unit.number(function)
    for variable in unit.tile.variables:
        try:
            unit.variable(variable)
        except CslError as problem:
            unit.reports.add(problem.diagnostic)
    frames: dict[tree.Function, Frame] = {}
    while len(frames) < len(unit.functions):
        function = unit.functions[len(frames)]
        frames[function] = _guarded(unit, function)
    return frames


def _roots(tile: Tile) -> list[tree.Function]:
    """What starts by itself; functions that are only put in line or never run get no code."""
    exported = [export.function for export in tile.exports if export.function is not None]
    handlers = [*tile.teardown_handlers.values(), *tile.empty_handlers.values()]
    return [*(binding.function for binding in tile.bindings), *exported, *handlers]


def _guarded(unit: Unit, function: tree.Function) -> Frame:
    try:
        return lower_function(unit, function)
    except (CslError, RecursionError) as problem:
        unit.reports.add(_diagnosed(problem, function))
        empty = tree.Function(function.name, (), types.VOID, False, function.span)
        return lower_function(unit, empty)


def _diagnosed(problem: CslError | RecursionError, function: tree.Function) -> Diagnostic:
    if isinstance(problem, CslError):
        return problem.diagnostic
    message = f"the code of `{function.name}` is nested too deeply"
    hint = "a switch instead of a long else-if chain, or several functions"
    return Diagnostic(Severity.ERROR, "too-deep", message, function.span, hint)


def _exports(unit: Unit) -> None:
    for export in unit.tile.exports:
        if export.variable is not None:
            unit.variable(export.variable)


def _handlers(unit: Unit, handlers: Mapping[int, tree.Function]) -> dict[int, int]:
    return {key: unit.number(function) for key, function in handlers.items()}


def _assemble(
    frames: Mapping[tree.Function, Frame], arch: str
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], list[int]]:
    """All code in one array, the places of its instructions, the functions' first instructions."""
    rows: list[tuple[int, int, int, int]] = []
    origins: list[int] = []
    entries: list[int] = []
    for frame in frames.values():
        entry = len(rows)
        entries.append(entry)
        for step, cost in zip(frame.code, costs(frame.code, SCALAR[arch]), strict=True):
            rows.append(_row(step, cost, entry))
            origins.append(step.place)
    code = np.array(rows, np.int64).reshape(-1, 4)
    return code.astype(np.int32), np.array(origins, np.int32), entries


def _row(step: Instruction, cost: int, entry: int) -> tuple[int, int, int, int]:
    b, c = step.b, step.c
    if step.target is not None:
        c = entry + step.target.position
    if step.symbol is not None:
        if step.flags & Flag.WIDE:
            b = (b & 0xFFFFFFFF) + (step.symbol.address << 16)
            b = (b & 0xFFFFFFFF) - ((b & 0x80000000) << 1)
        else:
            c += step.symbol.address
    head = step.op | step.type << 8 | cost << 16 | step.flags << 24
    return head, step.a, b, c


def _tasks(unit: Unit) -> tuple[Task, ...]:
    return tuple(
        Task(
            binding.kind,
            binding.id,
            unit.number(binding.function),
            *_arguments(binding.function, binding.kind),
        )
        for binding in unit.tile.bindings
    )


def _arguments(function: tree.Function, kind: TaskKind) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Bits of the wavelet, split equally, and register type of each argument."""
    kinds = [local.type for local in function.parameters]
    whole = _WAVELET_BITS if kind is TaskKind.DATA else _CONTROL_BITS
    if len(kinds) == 1:
        widths: tuple[int, ...] = (min(whole, 8 * size_of(kinds[0])),)
    else:
        widths = (whole // max(1, len(kinds)),) * len(kinds)
    return widths, tuple(int(scalar_of(kind)) for kind in kinds)


def _fifos(unit: Unit) -> tuple[Fifo, ...]:
    ordered = sorted(unit.tile.fifos, key=lambda fifo: fifo.value.number)
    return tuple(_fifo(unit, fifo) for fifo in ordered)


def _fifo(unit: Unit, fifo: FifoInit) -> Fifo:
    """A FIFO; one that no code names has no memory."""
    used = fifo.value.number in unit.tile.used_fifos
    return Fifo(
        fifo.name,
        unit.variable(fifo.buffer.variable).address + fifo.buffer.offset if used else 0,
        fifo.elements if used else 0,
        size_of(fifo.value.element),
        unit.task_id(fifo.activate_push, fifo.push_task),
        unit.task_id(fifo.activate_pop, fifo.pop_task),
        fifo.empty_action,
        fifo.full_action,
    )


def _blocked(tile: Tile) -> tuple[int, ...]:
    freed = {task for task, _ in tile.unblocked}
    return tuple(task for task, _ in tile.blocked if task not in freed)
