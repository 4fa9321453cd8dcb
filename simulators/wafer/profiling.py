"""What a profiled machine counted: cycles by cause per PE, tasks, operations, the critical path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import state_layout as at
from .counting import OUTPUT, ROOM
from .dsd import Vector
from .fabric_layout import H_TABLE, P_LINKS
from .machine import Machine
from .program import CodeClass, Place, Port, Program
from .routing import STEPS, masks, opposite, ports_of

Grid = npt.NDArray[np.int64]
_STEPS = 200
"""Of the critical path."""


@dataclass(frozen=True)
class Counted:
    """A task, or an operation at its place, over all PEs."""

    name: str
    place: str
    """file:line; empty if not known."""
    runs: int
    cycles: int
    elements: int = 0
    waited: int = 0
    """Of an operation's cycles: beyond what its elements take."""


@dataclass(frozen=True)
class Step:
    """A piece of the critical path: the PE advanced from begin to end, then it was waited for."""

    x: int
    y: int
    begin: int
    end: int
    waited: int
    """Cycles that the PE itself waited before `begin`."""
    cause: str
    """What for: `words` or `room`; empty: for nothing."""
    place: str
    """Of the operation that waited."""
    color: int


@dataclass(frozen=True)
class MachineProfile:
    """Of a whole run. Grids have the shape (height, width); the first four sum to `cycles`."""

    cycles: int
    compute: Grid
    words: Grid
    """Waiting for words of the fabric or a FIFO."""
    room: Grid
    """Back-pressure: waiting for room in a queue or a FIFO."""
    idle: Grid
    traffic: Grid
    """Words that left by the link of each router that moved most, of its four; not in cycles."""
    tasks: tuple[Counted, ...]
    """Most cycles first."""
    operations: tuple[Counted, ...]
    path: tuple[Step, ...]
    """Last step first."""
    truncated: bool
    """Whether there were more waits than were kept, so that the path may skip some."""

    @property
    def slowest(self) -> tuple[int, int]:
        """The PE with most cycles of compute, (x, y)."""
        y, x = np.unravel_index(int(np.argmax(self.compute)), self.compute.shape)
        return int(x), int(y)


def profile_of(machine: Machine) -> MachineProfile:
    """What was counted so far; the machine was made with `profiled`."""
    words, program = machine.state, machine.program
    shape = (program.height, program.width)
    blocks = words[int(words[at.H_BLOCKS]) : int(words[at.H_EVENTS])]
    rows = blocks.reshape(shape[0] * shape[1], -1)[:, -at.N_SIZE :]
    now = machine.cycle
    since, busy, cause = rows[:, at.N_SINCE], rows[:, at.N_BUSY], rows[:, at.N_CAUSE]
    until = np.minimum(np.maximum(busy, since), now)
    compute = rows[:, at.N_COMPUTE] + until - since
    data = rows[:, at.N_DATA] + np.where(cause == 1, now - until, 0)
    room = rows[:, at.N_ROOM] + np.where(cause == ROOM, now - until, 0)
    idle = now - compute - data - room
    kept = min(int(words[at.H_EVENT_COUNT]), int(words[at.H_EVENT_ROOM]))
    first = int(words[at.H_EVENTS])
    events = words[first : first + at.EVENT * kept].reshape(kept, at.EVENT)
    return MachineProfile(
        cycles=now,
        compute=compute.reshape(shape),
        words=data.reshape(shape),
        room=room.reshape(shape),
        idle=idle.reshape(shape),
        traffic=_traffic(machine.fabric, rows.shape[0]).reshape(shape),
        tasks=_ordered(_tasks(words, program)),
        operations=_ordered(_operations(words, program)),
        path=tuple(_path(program, events, _last(rows, now))),
        truncated=int(words[at.H_EVENT_COUNT]) > kept,
    )


def _traffic(fabric: Grid, pes: int) -> Grid:
    """Of the busiest of each router's four links to neighbours."""
    table = int(fabric[H_TABLE])
    links = range(P_LINKS, P_LINKS + len(STEPS))
    # A PE without a record has no router that anything goes through.
    return np.array(
        [
            max(int(fabric[record + link]) for link in links) if record else 0
            for record in map(int, fabric[table : table + pes])
        ],
        dtype=np.int64,
    )


def _ordered(found: Iterator[tuple[str, str, int, int, int, int]]) -> tuple[Counted, ...]:
    """Added up by name and place, most cycles first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for name, place, *numbers in found:
        total = sums.setdefault((name, place), [0, 0, 0, 0])
        for index, number in enumerate(numbers):
            total[index] += number
    counted = [
        Counted(name, place, runs, cycles, elements, waited)
        for (name, place), (runs, cycles, elements, waited) in sums.items()
        if runs
    ]
    return tuple(sorted(counted, key=lambda one: (-one.cycles, one.name, one.place)))


def _classes(words: Grid, program: Program) -> Iterator[tuple[int, CodeClass]]:
    """Offset of the table and class, of those that a PE has."""
    block, size = int(words[at.H_BLOCKS]), int(words[at.H_BLOCK])
    kinds = program.class_of.reshape(-1)
    for number, one in enumerate(program.classes):
        mine = np.flatnonzero(kinds == number)
        if mine.size:
            yield int(words[block + int(mine[0]) * size + at.P_CLASS]), one


def _tasks(words: Grid, program: Program) -> Iterator[tuple[str, str, int, int, int, int]]:
    for table, one in _classes(words, program):
        for task in one.tasks:
            row = int(words[table + at.K_TASKS]) + task.id * at.TASK
            function = one.functions[task.function]
            place = _place(program, one, function.entry)
            runs, cycles = int(words[row + at.T_RUNS]), int(words[row + at.T_CYCLES])
            yield function.name, place, runs, cycles, 0, 0


def _operations(words: Grid, program: Program) -> Iterator[tuple[str, str, int, int, int, int]]:
    for table, one in _classes(words, program):
        for number, place in enumerate(one.operation_places):
            row = int(words[table + at.K_OPERATIONS]) + number * at.O_SIZE
            name = f"@{Vector(int(words[row + at.O_VECTOR])).name.lower()}"
            text = _text(program.places[place]) if place >= 0 else ""
            counts = (at.O_RUNS, at.O_CYCLES, at.O_ELEMENTS, at.O_WAITED)
            runs, cycles, elements, waited = (int(words[row + one_]) for one_ in counts)
            yield name, text, runs, cycles, elements, waited


def _place(program: Program, one: CodeClass, pc: int) -> str:
    number = int(one.places[pc]) if 0 <= pc < len(one.places) else -1
    return _text(program.places[number]) if number >= 0 else ""


def _text(place: Place) -> str:
    return f"{place.file}:{place.line}"


# --- the critical path -------------------------------------------------------------------------


def _last(rows: Grid, now: int) -> tuple[int, int]:
    """The PE that advanced last, and until when."""
    ends = np.minimum(rows[:, at.N_BUSY], now)
    pe = int(np.argmax(ends))
    return pe, int(ends[pe])


def _path(program: Program, events: Grid, last: tuple[int, int]) -> Iterator[Step]:
    """From the end back: the last wait of a PE leads to the PE that it waited for."""
    order = np.argsort(events[:, 0], kind="stable")
    events = events[order]
    pe, time = last
    for _ in range(_STEPS):
        mine = events[np.searchsorted(events[:, 0], pe) : np.searchsorted(events[:, 0], pe + 1)]
        index = int(np.searchsorted(mine[:, 2], time, side="right")) - 1
        y, x = divmod(pe, program.width)
        if index < 0:
            yield Step(x, y, 0, time, 0, "", "", -1)
            return
        _, begin, end, cause, pc, queue = (int(value) for value in mine[index])
        one = program.classes[program.class_of[y, x]]
        color = _color(one, queue)
        what = "room" if cause == ROOM else "words"
        yield Step(x, y, end, time, end - begin, what, _place(program, one, pc), color)
        other = _other(program, (x, y), color, forward=cause == ROOM)
        # Who makes a PE go on did so at least a cycle before.
        pe, time = (pe, begin) if other is None else (other[1] * program.width + other[0], end - 1)


def _color(one: CodeClass, queue: int) -> int:
    """Of a queue as the log has it; -1: none, or it is not known."""
    found = [
        q.color for q in one.queues if q.id == queue % OUTPUT and q.output == (queue >= OUTPUT)
    ]
    return found[0] if queue >= 0 and found else -1


def _other(
    program: Program, spot: tuple[int, int], color: int, *, forward: bool
) -> tuple[int, int] | None:
    """The nearest PE whose words of a colour come here, or that takes those sent here."""
    if color < 0:
        return None
    seen, edge = {spot}, [spot]
    while edge:
        found: list[tuple[int, int]] = []
        for x, y in edge:
            for port in _ports(program, x, y, color, forward=forward):
                if port is Port.RAMP:
                    if (x, y) != spot:
                        return x, y
                    continue
                dx, dy = STEPS[port]
                near = (x + dx, y + dy)
                if near not in seen and _joined(program, near, color, port, forward=forward):
                    seen.add(near)
                    found.append(near)
        edge = found
    return None


def _ports(program: Program, x: int, y: int, color: int, *, forward: bool) -> Sequence[Port]:
    number = int(program.route_of[y, x, color])
    if number < 0:
        return ()
    route = program.routes[number]
    return ports_of(masks(route, route.position)[1 if forward else 0])


def _joined(
    program: Program, near: tuple[int, int], color: int, port: Port, *, forward: bool
) -> bool:
    """Whether the neighbour behind a port hands words over, or takes them."""
    x, y = near
    if not (0 <= x < program.width and 0 <= y < program.height):
        return False
    return opposite(port) in _ports(program, x, y, color, forward=not forward)


# --- as data -----------------------------------------------------------------------------------


def as_json(profile: MachineProfile) -> Mapping[str, object]:
    """For the protocol: objects of JSON, the grids as lists of rows."""
    return {
        "cycles": profile.cycles,
        "compute": profile.compute.tolist(),
        "words": profile.words.tolist(),
        "room": profile.room.tolist(),
        "idle": profile.idle.tolist(),
        "traffic": profile.traffic.tolist(),
        "slowest": list(profile.slowest),
        "tasks": [vars(one) for one in profile.tasks],
        "operations": [vars(one) for one in profile.operations],
        "path": [vars(one) for one in profile.path],
        "truncated": profile.truncated,
    }
