"""What waits in the fabric and why, read from its flat array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import or_

import numpy as np
import numpy.typing as npt

from .fabric import node_of
from .fabric_layout import (
    B_LENGTH,
    B_RING,
    F_TEARDOWN,
    H_DEPTH,
    H_PES,
    H_TABLE,
    H_WIDTH,
    N_BUFFERS,
    N_COLOR,
    N_COLOR_X,
    N_COLOR_Y,
    N_CURRENT,
    N_FLAGS,
    N_HAVE,
    N_HOST,
    N_OUT,
    N_PENDING,
    N_POSITION,
    N_QUEUE,
    N_RX,
    N_SIZE,
    N_SPEC,
    P_BUSY,
    P_INPUT,
    P_NODE,
    P_NODES,
    P_OUTPUT,
    P_SENDING,
    Q_CAPACITY,
    Q_LENGTH,
    S_BITS,
    S_HAS_TX,
    S_TX,
)
from .program import Port
from .routing import STEPS, opposite, ports_of

Flat = npt.NDArray[np.int64]

QUEUES = 8


class Cause(StrEnum):
    """Why the first words of a buffer don't leave."""

    NEXT_FULL = "the router after it is full"
    INPUT_FULL = "the input queue is full"
    NO_QUEUE = "no input queue is for this colour"
    HOST = "the host doesn't read"
    DEAD_END = "the neighbour doesn't receive the colour from this side"
    SWITCH = "the switch doesn't receive from this port now"
    TEARDOWN = "the colour is in teardown"
    MOVING = "it is about to move"


@dataclass(frozen=True)
class Stuck:
    """Words in one buffer of a router."""

    x: int
    y: int
    color: int
    receive: Port
    send: tuple[Port, ...]
    """Outputs that the first word has still to take."""
    words: int
    cause: Cause
    channel: int = -1
    """The input channel that is full."""
    position: int = 0
    """Of the switch."""

    @property
    def way(self) -> str:
        """Such as `WEST->RAMP`."""
        return f"{self.receive.name}->{'+'.join(p.name for p in self.send) or '?'}"


@dataclass(frozen=True)
class Waiting:
    """Words in a queue of a PE."""

    x: int
    y: int
    channel: int
    """Input channel, or output queue."""
    words: int
    capacity: int


def _records(flat: Flat) -> Iterator[tuple[int, int, int]]:
    """(x, y, offset of the record) of every PE that has one."""
    pes, width = int(flat[H_PES]), int(flat[H_WIDTH])
    for pe in np.nonzero(flat[flat[H_TABLE] : flat[H_TABLE] + pes])[0]:
        yield int(pe) % width, int(pe) // width, int(flat[flat[H_TABLE] + pe])


def waiting_inputs(flat: Flat) -> tuple[Waiting, ...]:
    """Input channels that hold words, by row and column."""
    found = []
    for x, y, record in _records(flat):
        queues = {int(flat[record + P_INPUT + q]): q for q in range(QUEUES)}
        for node in _nodes(flat, record):
            queues.setdefault(int(flat[node + N_QUEUE]), QUEUES + int(flat[node + N_COLOR]))
        queues.pop(0, None)
        found += [
            Waiting(x, y, name, int(flat[at + Q_LENGTH]), int(flat[at + Q_CAPACITY]))
            for at, name in queues.items()
            if flat[at + Q_LENGTH]
        ]
    return tuple(found)


def waiting_outputs(flat: Flat) -> tuple[Waiting, ...]:
    """Output queues that hold words, by row and column."""
    found = []
    for x, y, record in _records(flat):
        for q in range(QUEUES if flat[record + P_SENDING] else 0):
            at = int(flat[record + P_OUTPUT + q])
            if flat[at + Q_LENGTH]:
                words = int(flat[at + Q_LENGTH])
                found.append(Waiting(x, y, q, words, int(flat[at + Q_CAPACITY])))
    return tuple(found)


def stuck_words(flat: Flat) -> tuple[Stuck, ...]:
    """Every buffer of a router that holds words, by row, column and colour."""
    found: list[Stuck] = []
    for x, y, record in _records(flat):
        if flat[record + P_BUSY]:
            for node in _nodes(flat, record):
                found += _stuck_in(flat, x, y, node)
    return tuple(found)


def _nodes(flat: Flat, record: int) -> range:
    first = int(flat[record + P_NODE])
    return range(first, first + int(flat[record + P_NODES]) * N_SIZE, N_SIZE)


def _stuck_in(flat: Flat, x: int, y: int, node: int) -> Iterator[Stuck]:
    color = int(flat[node + N_COLOR])
    position = int(flat[node + N_POSITION])
    at = int(flat[node + N_BUFFERS])
    for port in ports_of(int(flat[node + N_HAVE])):
        words = int(flat[at + B_LENGTH])
        at += B_RING + int(flat[H_DEPTH])
        if not words:
            continue
        current = int(flat[node + N_CURRENT])
        if port == current:
            send = ports_of(int(flat[node + N_PENDING]))
            cause = _blocked(flat, node, send)
            full = cause == Cause.INPUT_FULL
            channel = channel_of(flat, y * int(flat[H_WIDTH]) + x, color) if full else -1
            yield Stuck(x, y, color, port, send, words, cause, channel, position)
            continue
        cause = Cause.MOVING
        if flat[node + N_FLAGS] & F_TEARDOWN:
            cause = Cause.TEARDOWN
        elif not flat[node + N_RX] >> port & 1:
            cause = Cause.SWITCH
        elif current >= 0:
            cause = Cause.NEXT_FULL
        yield Stuck(x, y, color, port, (), words, cause, -1, position)


def _blocked(flat: Flat, node: int, send: tuple[Port, ...]) -> Cause:
    """Why the outputs don't take the current word: the worst cause."""
    causes = {_output_cause(flat, node, port) for port in send}
    order = (Cause.DEAD_END, Cause.NO_QUEUE, Cause.INPUT_FULL, Cause.HOST, Cause.NEXT_FULL)
    return next((cause for cause in order if cause in causes), Cause.MOVING)


def _output_cause(flat: Flat, node: int, port: Port) -> Cause:
    if port in STEPS:
        buffer = int(flat[node + N_OUT + port])
        if not buffer:
            return Cause.DEAD_END
        return Cause.NEXT_FULL if flat[buffer + B_LENGTH] >= flat[H_DEPTH] else Cause.MOVING
    queue = int(flat[node + (N_QUEUE if port == Port.RAMP else N_HOST)])
    if flat[queue + Q_CAPACITY] == 0:
        return Cause.NO_QUEUE
    if flat[queue + Q_LENGTH] < flat[queue + Q_CAPACITY]:
        return Cause.MOVING
    return Cause.INPUT_FULL if port == Port.RAMP else Cause.HOST


def channel_of(flat: Flat, pe: int, color: int) -> int:
    """The input channel that a colour's words enter by the ramp; -1: none."""
    node = int(node_of(flat, pe, color))
    queue = int(flat[node + N_QUEUE]) if node else 0
    if not queue or flat[queue + Q_CAPACITY] == 0:
        return -1
    record = int(flat[flat[H_TABLE] + pe])
    for q in range(QUEUES):
        if flat[record + P_INPUT + q] == queue:
            return q
    return QUEUES + color


def senders_to(flat: Flat, pe: int, color: int) -> tuple[tuple[int, bool], ...]:
    """PEs whose words of a colour can come to a PE's router: (pe, by the host)."""
    found: list[tuple[int, bool]] = []
    seen: set[tuple[int, int]] = set()
    waiting = [(pe, color)]
    width = int(flat[H_WIDTH])
    for at, name in waiting:
        node = int(node_of(flat, at, name))
        if (at, name) in seen or not node:
            continue
        seen.add((at, name))
        for port in ports_of(int(flat[node + N_HAVE])):
            if port not in STEPS:
                found.append((at, port == Port.HOST))
                continue
            before = at + STEPS[port][0] + STEPS[port][1] * width
            waiting += [
                (before, other) for other in _colors_that_become(flat, before, name, opposite(port))
            ]
    return tuple(found)


def _colors_that_become(flat: Flat, pe: int, color: int, port: Port) -> Iterator[int]:
    """Colours of a router that leave by a port as this one, and have somewhere to go."""
    if not 0 <= pe < flat[H_PES]:
        return
    for node in _nodes(flat, int(flat[flat[H_TABLE] + pe])):
        leaves = N_COLOR_X if port in (Port.EAST, Port.WEST) else N_COLOR_Y
        goes = flat[node + leaves] == color and flat[node + N_OUT + port]
        if goes and _ever_sends(int(flat[node + N_SPEC])) >> port & 1:
            yield int(flat[node + N_COLOR])


def _ever_sends(spec: int) -> int:
    """All ports that the positions of a switch send to."""
    parts = (spec >> (p * S_BITS) for p in range(4))
    return reduce(or_, (part >> S_TX & 63 for part in parts if part & S_HAS_TX), 0)
