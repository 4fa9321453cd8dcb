"""The fabric as the processing elements and the host see it: queues, host streams, configuration.

F is the flat array that `fabric_build.build_fabric` makes; `pe` is y * width + x. A cycle: the PEs
act (these functions), then `fabric_step.fabric_step(F, t)` moves words. What the step of cycle t
delivers or frees is seen by the PEs from t + 1 on; the step itself sees pops of t at t + 1, too.
A pushed word is in the router 2 cycles later if the ramp is free, a hop takes `Profile.hop`, and
the ramp into the PE 1 cycle. Words as int64: bits 0-31 data, 32 control, 33-37 colour.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .fabric_bits import count_bits
from .fabric_layout import (
    B_BIT,
    B_FIRST,
    B_LENGTH,
    B_READY,
    B_RING,
    F_POP_SHIFT,
    F_RING,
    F_TEARDOWN,
    G_COUNTER,
    G_LIMIT1,
    G_MAX,
    H_COUNT,
    H_DEPTH,
    H_LIST,
    H_NOW,
    H_TABLE,
    N_BUFFERS,
    N_COLOR,
    N_FILTER,
    N_FLAGS,
    N_HAVE,
    N_HOST,
    N_POSITION,
    N_QUEUE,
    N_RX,
    N_SIZE,
    N_SPEC,
    N_TX,
    P_BUSY,
    P_COLORS,
    P_INPUT,
    P_NODE,
    P_NODES,
    P_OUTPUT,
    P_SCHEDULED,
    P_SENDING,
    P_TEARDOWN,
    Q_BUFFER,
    Q_CAPACITY,
    Q_FIRST,
    Q_LENGTH,
    Q_POPS,
    Q_RING,
    Q_TIME,
    S_BITS,
    S_HAS_RX,
    S_HAS_TX,
    S_TX,
    S_VALID,
    W_ADVANCE,
    W_COLOR_SHIFT,
    W_CONTROL,
)

Flat = npt.NDArray[np.int64]

RAMP_PORT = 4
HOST_PORT = 5
QUEUES = 8


@compiled
def node_of(F: Flat, pe: int, color: int) -> int:
    """Offset of the node of a colour; 0: not configured."""
    record = F[F[H_TABLE] + pe]
    index = (F[record + P_COLORS + (color >> 3)] >> ((color & 7) * 8)) & 255
    if index == 0:
        return 0
    return int(F[record + P_NODE] + (index - 1) * N_SIZE)


@compiled
def buffer_of(F: Flat, node: int, port: int) -> int:
    """Offset of a node's buffer for a port; 0: it has none."""
    have = F[node + N_HAVE]
    if have & (1 << port) == 0:
        return 0
    return int(F[node + N_BUFFERS] + count_bits(have & ((1 << port) - 1)) * (B_RING + F[H_DEPTH]))


@compiled
def schedule(F: Flat, record: int, cycle: int) -> None:
    """Step this PE's router in `cycle`, at most 3 cycles ahead."""
    slot = cycle & 3
    if F[record + P_SCHEDULED] & (1 << slot) == 0:
        F[record + P_SCHEDULED] |= 1 << slot
        F[F[H_LIST + slot] + F[H_COUNT + slot]] = record
        F[H_COUNT + slot] += 1


@compiled
def input_queue(F: Flat, pe: int, q: int) -> int:
    """Offset of an input channel's queue: 0-7 by number, 8 + colour whichever a colour has."""
    if q < QUEUES:
        return int(F[F[F[H_TABLE] + pe] + P_INPUT + q])
    node = node_of(F, pe, q - QUEUES)
    return int(F[node + N_QUEUE] if node else 0)


@compiled
def input_length(F: Flat, pe: int, q: int) -> int:
    """How many wavelets wait in an input channel."""
    return int(F[input_queue(F, pe, q) + Q_LENGTH])


@compiled
def input_depth(F: Flat, pe: int, q: int) -> int:
    """How many wavelets an input channel holds at most."""
    return int(F[input_queue(F, pe, q) + Q_CAPACITY])


@compiled
def output_depth(F: Flat, pe: int, q: int) -> int:
    """How many wavelets an output queue holds at most."""
    return int(F[F[F[F[H_TABLE] + pe] + P_OUTPUT + q] + Q_CAPACITY])


@compiled
def input_head(F: Flat, pe: int, q: int) -> int:
    """The oldest wavelet of an input channel, with its control bit and colour; -1: empty."""
    queue = input_queue(F, pe, q)
    if F[queue + Q_LENGTH] == 0:
        return -1
    return int(F[queue + Q_RING + F[queue + Q_FIRST]])


@compiled
def pop_queue(F: Flat, queue: int, record: int) -> int:
    """Take the oldest word; its place is free for the router from the next cycle on."""
    now = F[H_NOW]
    first = F[queue + Q_FIRST]
    word = F[queue + Q_RING + first]
    capacity = F[queue + Q_CAPACITY]
    if F[queue + Q_LENGTH] == capacity:
        schedule(F, record, now + 1)
    F[queue + Q_LENGTH] -= 1
    F[queue + Q_FIRST] = first + 1 if first + 1 < capacity else 0
    if F[queue + Q_TIME] != now:
        F[queue + Q_TIME] = now
        F[queue + Q_POPS] = 0
    F[queue + Q_POPS] += 1
    return int(word)


@compiled
def input_pop(F: Flat, pe: int, q: int) -> int:
    """Take the oldest wavelet of an input channel that has one."""
    return int(pop_queue(F, input_queue(F, pe, q), F[F[H_TABLE] + pe]))


@compiled
def output_room(F: Flat, pe: int, q: int) -> int:
    """How many wavelets an output queue can take now; 0 for one that isn't there."""
    queue = F[F[F[H_TABLE] + pe] + P_OUTPUT + q]
    return int(F[queue + Q_CAPACITY] - F[queue + Q_LENGTH])


@compiled
def output_length(F: Flat, pe: int, q: int) -> int:
    """How many wavelets an output queue holds."""
    return int(F[F[F[F[H_TABLE] + pe] + P_OUTPUT + q] + Q_LENGTH])


@compiled
def output_push(  # noqa: PLR0913 - compiled: numbers, not a record
    F: Flat, pe: int, q: int, color: int, word: int, control: int, advance_switch: int
) -> None:
    """Send a wavelet by an output queue that has room.

    `advance_switch`: the router of this PE advances the colour's switch when the wavelet leaves.
    """
    record = F[F[H_TABLE] + pe]
    queue = F[record + P_OUTPUT + q]
    entry = (word & 0xFFFFFFFF) | (color << W_COLOR_SHIFT)
    if control:
        entry |= W_CONTROL
    if advance_switch:
        entry |= W_ADVANCE
    capacity = F[queue + Q_CAPACITY]
    at = F[queue + Q_FIRST] + F[queue + Q_LENGTH]
    F[queue + Q_RING + (at if at < capacity else at - capacity)] = entry
    if F[queue + Q_LENGTH] == 0:
        F[queue + Q_BUFFER] = buffer_of(F, node_of(F, pe, color), RAMP_PORT)
    F[queue + Q_LENGTH] += 1
    F[record + P_SENDING] |= 1 << q
    schedule(F, record, F[H_NOW])


@compiled
def host_room(F: Flat, pe: int, color: int) -> int:
    """How many wavelets of a colour the host can inject at a PE now."""
    buffer = buffer_of(F, node_of(F, pe, color), HOST_PORT)
    return int(F[H_DEPTH] - F[buffer + B_LENGTH] if buffer else 0)


@compiled
def host_push(F: Flat, pe: int, color: int, word: int, control: int) -> None:
    """Inject a wavelet at a PE's HOST port, where there is room; at most one per colour and cycle.

    It may leave the router in the next cycle.
    """
    record = F[F[H_TABLE] + pe]
    node = node_of(F, pe, color)
    buffer = buffer_of(F, node, HOST_PORT)
    entry = (word & 0xFFFFFFFF) | (color << W_COLOR_SHIFT)
    if control:
        entry |= W_CONTROL
    depth = F[H_DEPTH]
    at = F[buffer + B_FIRST] + F[buffer + B_LENGTH]
    F[buffer + B_RING + (at if at < depth else at - depth)] = entry
    F[buffer + B_LENGTH] += 1
    F[buffer + B_READY + 1] = F[buffer + B_READY]
    F[buffer + B_READY] = F[H_NOW] + 1
    F[record + P_BUSY] |= F[buffer + B_BIT]
    schedule(F, record, F[H_NOW] + 1)


@compiled
def host_length(F: Flat, pe: int, color: int) -> int:
    """How many wavelets of a colour wait for the host at a PE."""
    return int(F[F[node_of(F, pe, color) + N_HOST] + Q_LENGTH])


@compiled
def host_pop(F: Flat, pe: int, color: int) -> int:
    """Take the oldest wavelet that waits for the host at a PE."""
    return int(pop_queue(F, F[node_of(F, pe, color) + N_HOST], F[F[H_TABLE] + pe]))


@compiled
def fabric_busy(F: Flat) -> bool:
    """Whether a later step can move anything without an action of a PE or the host."""
    return bool(F[H_COUNT] + F[H_COUNT + 1] + F[H_COUNT + 2] + F[H_COUNT + 3] > 0)


@compiled
def set_time(F: Flat, cycle: int) -> None:
    """Go to a later cycle, while the fabric isn't busy; each step goes to the next by itself."""
    F[H_NOW] = cycle


@compiled
def take_teardown(F: Flat, pe: int) -> int:
    """Mask of colours that went into teardown at a PE since it was last asked."""
    record = F[F[H_TABLE] + pe]
    mask = F[record + P_TEARDOWN]
    if mask:
        F[record + P_TEARDOWN] = 0
    return int(mask)


@compiled
def in_teardown(F: Flat, pe: int, color: int) -> bool:
    """Whether a colour is suspended at a PE."""
    return bool(F[node_of(F, pe, color) + N_FLAGS] & F_TEARDOWN != 0)


@compiled
def leave_teardown(F: Flat, pe: int, color: int) -> None:
    """Let a colour's traffic flow again, from this cycle's step on."""
    node = node_of(F, pe, color)
    if node:
        F[node + N_FLAGS] &= ~F_TEARDOWN
        schedule(F, F[F[H_TABLE] + pe], F[H_NOW])


@compiled
def go_to_position(F: Flat, node: int, position: int) -> None:
    """Set a switch: every position replaces what it names of the one before it."""
    spec = F[node + N_SPEC]
    rx = spec & 63
    tx = (spec >> S_TX) & 63
    for p in range(1, position + 1):
        part = spec >> (p * S_BITS)
        if part & S_HAS_RX:
            rx = part & 63
        if part & S_HAS_TX:
            tx = (part >> S_TX) & 63
    F[node + N_POSITION] = position
    F[node + N_RX] = rx & F[node + N_HAVE]
    F[node + N_TX] = tx


@compiled
def set_position(F: Flat, pe: int, color: int, position: int) -> None:
    """Set the position of a colour's switch at a PE, from this cycle's step on."""
    node = node_of(F, pe, color)
    if node:
        go_to_position(F, node, position)
        schedule(F, F[F[H_TABLE] + pe], F[H_NOW])


@compiled
def set_routes(F: Flat, pe: int, color: int, position: int, rx: int, tx: int) -> None:
    """Define what a position (0: the route itself) receives from and sends to; -1: as before it.

    Both -1 make a position other than 0 invalid.
    """
    node = node_of(F, pe, color)
    if node == 0:
        return
    part = S_VALID if position == 0 or rx >= 0 or tx >= 0 else 0
    if rx >= 0:
        part |= rx | S_HAS_RX
    if tx >= 0:
        part |= (tx << S_TX) | S_HAS_TX
    shift = position * S_BITS
    F[node + N_SPEC] = (F[node + N_SPEC] & ~(0x7FFF << shift)) | (part << shift)
    go_to_position(F, node, F[node + N_POSITION])
    schedule(F, F[F[H_TABLE] + pe], F[H_NOW])


@compiled
def set_switch_mode(F: Flat, pe: int, color: int, ring: int, pop: int) -> None:
    """Set whether a colour's switch is a ring and its `PopMode`; a negative number leaves it."""
    node = node_of(F, pe, color)
    if node == 0:
        return
    if ring >= 0:
        F[node + N_FLAGS] = (F[node + N_FLAGS] & ~F_RING) | (F_RING if ring else 0)
    if pop >= 0:
        F[node + N_FLAGS] = (F[node + N_FLAGS] & ~(3 << F_POP_SHIFT)) | (pop << F_POP_SHIFT)


@compiled
def set_input_color(F: Flat, pe: int, q: int, color: int) -> None:
    """From this cycle's step on, input queue q gets what comes by the ramp as this colour alone.

    What has waited at the ramp because no queue took the colour goes in first.
    """
    record = F[F[H_TABLE] + pe]
    queue = F[record + P_INPUT + q]
    for index in range(F[record + P_NODES]):
        node = F[record + P_NODE] + index * N_SIZE
        if F[node + N_QUEUE] == queue:
            F[node + N_QUEUE] = 0
    node = node_of(F, pe, color)
    if node:
        waiting = F[node + N_QUEUE]
        F[node + N_QUEUE] = queue
        while waiting and F[waiting + Q_LENGTH] and F[queue + Q_LENGTH] < F[queue + Q_CAPACITY]:
            at = F[queue + Q_FIRST] + F[queue + Q_LENGTH]
            at -= F[queue + Q_CAPACITY] if at >= F[queue + Q_CAPACITY] else 0
            F[queue + Q_RING + at] = pop_queue(F, waiting, record)
            F[queue + Q_LENGTH] += 1
        schedule(F, record, F[H_NOW])


@compiled
def set_filter(F: Flat, pe: int, number: int, field: int, value: int) -> None:
    """Set field 0 limit1, 1 max_counter or 2 the counter of a PE's filter, by order of colours."""
    record = F[F[H_TABLE] + pe]
    for index in range(F[record + P_NODES]):
        rule = F[F[record + P_NODE] + index * N_SIZE + N_FILTER]
        if rule == 0:
            continue
        if number == 0:
            F[rule + (G_LIMIT1 if field == 0 else G_MAX if field == 1 else G_COUNTER)] = value
        number -= 1


@compiled
def teardown_colors(F: Flat, pe: int) -> int:
    """Mask of the colours that are in teardown at a PE."""
    record = F[F[H_TABLE] + pe]
    mask = 0
    for index in range(F[record + P_NODES]):
        node = F[record + P_NODE] + index * N_SIZE
        if F[node + N_FLAGS] & F_TEARDOWN:
            mask |= 1 << F[node + N_COLOR]
    return mask
