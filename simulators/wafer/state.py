"""From a program and a profile to the flat arrays of the processing elements' state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import state_layout as at
from .costs import Profile
from .dsd import DsrConfig, Operation, Vector
from .program import COLORS, CodeClass, FifoAction, Pattern, Program, TaskKind
from .vector_rules import widths

Flat = npt.NDArray[np.int64]

_KINDS = {TaskKind.LOCAL: 1, TaskKind.DATA: 2, TaskKind.CONTROL: 3}
_ACTIONS = {
    FifoAction.TEST_OR_SUSPEND: 0,
    FifoAction.TERMINATE: 1,
    FifoAction.SUSPEND: 2,
    FifoAction.FAULT: 3,
}
_LOG_ROOM = 1 << 16
_EVENTS = 1 << 20
"""Waits that a profiled machine remembers."""
_SPARE_REGISTERS = 64
_TEARDOWN = 29
"""Id of the task that teardown starts."""
_LINE = 8
"""Words of a line of the cache."""


@dataclass(frozen=True, eq=False)
class State:
    """The arrays, which compiled code changes in place."""

    words: Flat
    """S."""
    code: npt.NDArray[np.int32]
    """C, flat."""
    memory: npt.NDArray[np.uint16]
    """M."""


def build_state(
    program: Program, profile: Profile, budget: int, *, profiled: bool = False
) -> State:
    """Everything at cycle 0: memory as the images say, tasks active and blocked as configured."""
    pes = program.width * program.height
    header = np.zeros(at.H_END, np.int64)
    tables: list[Flat] = [header]
    size = at.H_END
    classes: list[int] = []
    begin = 0
    for one in program.classes:
        table = _class_table(one, program.arch, size, begin)
        classes.append(size)
        tables.append(table)
        size += len(table)
        begin += len(one.code)
    rates = np.concatenate((widths(), _rates(profile)))
    header[at.H_WIDTHS], header[at.H_RATES] = size, size + len(Vector)
    tables.append(rates)
    size += len(rates)
    header[at.H_WHEEL], header[at.H_OCCUPIED] = size, size + at.WHEEL
    header[at.H_LOG] = size + at.WHEEL + at.WHEEL // 64
    header[at.H_LOG_ROOM] = _LOG_ROOM
    header[at.H_DUE] = header[at.H_LOG] + 5 * _LOG_ROOM
    rest = at.WHEEL + at.WHEEL // 64 + 5 * _LOG_ROOM + pes
    padding = -(size + rest) % _LINE
    rest += padding
    size += rest
    block = _block_words(program.classes)
    header[at.H_BLOCKS], header[at.H_BLOCK] = size, block
    header[at.H_PES], header[at.H_WIDTH] = pes, program.width
    header[at.H_BUDGET], header[at.H_WAKE] = budget, profile.task_wake
    scalar = profile.scalar
    header[at.H_TAKEN] = scalar.branch_taken - scalar.branch_not_taken
    header[at.H_BANKS], header[at.H_WSE] = profile.banks, 2 if program.arch == "wse2" else 3
    room = _EVENTS if profiled else 0
    header[at.H_PROFILE], header[at.H_EVENT_ROOM] = profiled, room
    header[at.H_EVENTS] = size + pes * block
    words = _aligned(size + pes * block + room * at.EVENT)
    words[: size - rest] = np.concatenate(tables)
    memory = _memory(program, words, classes)
    code = np.concatenate([one.code.reshape(-1) for one in program.classes]).astype(np.int32)
    return State(words, code, memory)


def _aligned(words: int) -> Flat:
    """Zeros that begin at a line of the cache."""
    room = np.zeros(words + _LINE, np.int64)
    first = -(room.ctypes.data // room.itemsize) % _LINE
    return room[first : first + words]


def _block_words(classes: Sequence[CodeClass]) -> int:
    words = max(
        at.P_FIFOS + at.FIFO_STATE * len(one.fifos) + one.registers + _SPARE_REGISTERS
        for one in classes
    )
    return -(-(words + at.N_SIZE) // _LINE) * _LINE


def _memory(program: Program, words: Flat, classes: Sequence[int]) -> npt.NDArray[np.uint16]:
    """M with the images in place, and the PEs' blocks that name them."""
    kinds = program.class_of.reshape(-1)
    images = [_image(one) for one in program.classes]
    lengths = np.array([len(image) for image in images], np.int64)[kinds]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    memory = np.zeros(int(starts[-1]) + 8, np.uint16)
    first, end = int(words[at.H_BLOCKS]), int(words[at.H_EVENTS])
    blocks = words[first:end].reshape(len(kinds), -1)
    blocks[:, at.P_CLASS] = np.array(classes, np.int64)[kinds]
    blocks[:, at.P_MEMORY] = starts[:-1]
    for column in (at.P_AT, at.P_COMMAND, at.P_TIMER_TASK):
        blocks[:, column] = -1
    blocks[:, at.P_LOOK] = 1
    # All ones: a shift register with few ones gives numbers that are alike for a while.
    blocks[:, at.P_PRNG] = 0x7FFFFF
    for number, (one, image) in enumerate(zip(program.classes, images, strict=True)):
        mine = np.flatnonzero(kinds == number)
        for pe in mine:
            memory[starts[pe] : starts[pe] + len(image)] = image
        blocks[mine, at.P_ACTIVE] = _mask(one.active)
        blocks[mine, at.P_BLOCKED] = _mask(one.blocked)
        first = at.P_FIFOS
        for index in range(len(one.fifos)):
            where = first + at.FIFO_STATE * index
            blocks[mine, where + at.Q_READS] = -1
            blocks[mine, where + at.Q_WRITES] = -1
    return memory


def _image(one: CodeClass) -> npt.NDArray[np.uint16]:
    padded = one.image + bytes(-len(one.image) % 8 + 8)
    return np.frombuffer(padded, "<u2")


def _mask(ids: Sequence[int]) -> int:
    mask = 0
    for one in ids:
        mask |= 1 << one
    return mask - (1 << 64) if mask >> 63 else mask


def _rates(profile: Profile) -> Flat:
    """Setup of every vector operation, then its elements per 64 cycles."""
    names = [vector.name.lower() for vector in Vector]
    plain = profile.setup.get("", 0)
    setup = [profile.setup.get(name, plain) for name in names]
    rates = [round(64 * profile.simd.get(name, 1)) for name in names]
    return np.array([*setup, *rates], np.int64)


class _Table:
    """A class's table in the making."""

    def __init__(self, start: int) -> None:
        self._start, self._parts, self._size = start, list[Flat](), at.K_SIZE

    def add(self, values: Sequence[int] | Flat) -> int:
        """Where these will be in S."""
        where = self._start + self._size
        part = np.asarray(values, np.int64).reshape(-1)
        self._parts.append(part)
        self._size += len(part)
        return where

    def joined(self, head: Flat) -> Flat:
        return np.concatenate([head, *self._parts])


def _class_table(one: CodeClass, arch: str, start: int, code: int) -> Flat:
    head = np.zeros(at.K_SIZE, np.int64)
    table = _Table(start)
    head[at.K_CODE], head[at.K_FUNCTION_COUNT] = code, len(one.functions)
    head[at.K_FUNCTIONS] = table.add([x for f in one.functions for x in (f.entry, f.registers)])
    head[at.K_TASKS] = table.add(_tasks(one))
    head[at.K_OPERATIONS] = table.add(np.array([_operation(o) for o in one.operations]))
    head[at.K_DSR_CONFIGS] = table.add([x for c in one.dsr_configs for x in _config(c)])
    head[at.K_PATTERNS] = table.add([x for p in one.patterns for x in _pattern(p)])
    head[at.K_FIFOS], head[at.K_FIFO_COUNT] = table.add(_fifos(one)), len(one.fifos)
    ranges = sorted((r.address, r.address + r.bytes) for r in one.regions)
    head[at.K_REGIONS] = table.add([x for pair in ranges for x in pair])
    head[at.K_REGION_COUNT] = len(ranges)
    head[at.K_OUT_COLORS : at.K_OUT_COLORS + 8] = -1
    for queue in one.queues:
        if queue.output:
            head[at.K_OUT_COLORS + queue.id] = queue.color
    channels = _channels(one, arch)
    head[at.K_CHANNELS] = table.add([x for pair in channels for x in pair])
    head[at.K_CHANNEL_COUNT] = len(channels)
    head[at.K_EXTENT], head[at.K_REGISTERS] = len(one.image), one.registers
    head[at.K_HANDLERS : at.K_WATCHES] = -1
    torn = one.teardown_handlers or any(task.id == _TEARDOWN for task in one.tasks)
    head[at.K_WATCHES] = bool(channels) or bool(torn)
    for color, function in (one.teardown_handlers or {}).items():
        head[at.K_HANDLERS + color] = function
    for queue_id, function in (one.empty_handlers or {}).items():
        head[at.K_EMPTY + queue_id] = function
    return table.joined(head)


def _tasks(one: CodeClass) -> Flat:
    rows = np.zeros((64, at.TASK), np.int64)
    for task in one.tasks:
        arguments = [
            x for pair in zip(task.argument_bits, task.argument_scalars, strict=True) for x in pair
        ]
        entry = one.functions[task.function].entry
        row = [_KINDS[task.kind], entry, len(task.argument_bits), *arguments[:8]]
        rows[task.id, : len(row)] = row
    return rows


def _operation(one: Operation) -> list[int]:
    operands = [one.dest, *one.sources, *[(0, 0)] * (3 - len(one.sources))]
    return [
        one.vector, *(x for pair in operands for x in pair), len(one.sources),
        one.asynchronous, one.completion, one.completion_id, one.on_control, one.on_control_id,
        one.index_register, one.microthread, one.priority, one.simd, 0, 0, 0, 0, 0,
    ]  # fmt: skip


def _config(one: DsrConfig) -> list[int]:
    return [
        one.asynchronous, one.completion, one.completion_id, one.on_control, one.on_control_id,
        one.microthread, one.save_address, one.single_step,
    ]  # fmt: skip


def _pattern(one: Pattern) -> list[int]:
    rank = len(one.extents)
    room = [0] * (4 - rank)
    count = int(np.prod(one.extents))
    return [rank, *one.extents, *room, *one.strides, *room, count, 0, 0]


def _fifos(one: CodeClass) -> list[int]:
    return [
        x
        for f in one.fifos
        for x in (
            f.address, f.elements, f.element_bytes, f.activate_push, f.activate_pop,
            _ACTIONS[f.empty_action], _ACTIONS[f.full_action], 0,
        )
    ]  # fmt: skip


def _channels(one: CodeClass, arch: str) -> list[tuple[int, int, int]]:
    """Input channels whose words may start a task, the data task's id or -1, what blocks it."""
    wse2 = arch == "wse2"
    data = sorted(task.id for task in one.tasks if task.kind is TaskKind.DATA)
    found = [(8 + task if wse2 else task, task, task) for task in data]
    known = {channel for channel, _, _ in found}
    if all(task.kind is not TaskKind.CONTROL for task in one.tasks):
        return found
    queued = set()
    for queue in one.queues:
        if queue.output:
            continue
        queued.add(queue.color)
        if queue.id not in known and not (wse2 and 8 + queue.color in known):
            found.append((queue.id, -1, queue.color if wse2 else queue.id))
    if wse2:
        free = (c for c in range(COLORS) if c not in queued and 8 + c not in known)
        found += [(8 + color, -1, color) for color in free]
    return found
