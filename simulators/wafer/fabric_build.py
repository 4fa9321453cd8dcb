"""From a program and a profile to the fabric's flat array."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numba import njit

from .costs import Profile
from .fabric import buffer_of, go_to_position, node_of
from .fabric_bits import count_bits
from .fabric_layout import (
    B_BIT,
    B_FROM,
    B_KEY,
    B_POP,
    B_READY,
    B_RECORD,
    B_RING,
    F_PLAIN,
    F_POP_SHIFT,
    F_RING,
    F_SWAP,
    F_TEARDOWN,
    G_COUNT_CONTROL,
    G_COUNT_DATA,
    G_DISABLED,
    G_FILTER_CONTROL,
    G_SIZE,
    H_DEPTH,
    H_END,
    H_HEIGHT,
    H_HOP,
    H_LIST,
    H_PES,
    H_TABLE,
    H_WAKE_LIST,
    H_WIDTH,
    HOST_WORDS,
    N_BUFFERS,
    N_COLOR,
    N_COLOR_X,
    N_COLOR_Y,
    N_CURRENT,
    N_FILTER,
    N_FLAGS,
    N_HAVE,
    N_HOST,
    N_INDEX,
    N_KEY,
    N_OUT,
    N_QUEUE,
    N_SIZE,
    N_SPEC,
    P_COLORS,
    P_INPUT,
    P_NODE,
    P_NODES,
    P_PE,
    P_SIZE,
    Q_CAPACITY,
    Q_RING,
    Q_TIME,
    S_BITS,
    S_HAS_RX,
    S_HAS_TX,
    S_TX,
    S_VALID,
)
from .opcodes import Op, SystemCall
from .program import COLORS, CodeClass, Filter, FilterKind, Port, Program, Route
from .routing import reach

Flat = npt.NDArray[np.int64]

# Columns of the table of routes, besides a filter's at R_FILTER.
R_SPEC, R_POSITION, R_FLAGS, R_HAVE, R_TX, R_SWAP_X, R_SWAP_Y, R_FILTERED, R_FILTER = range(9)
R_SIZE = R_FILTER + G_SIZE
# Columns of the table of classes: capacities of the queues, input queue of each colour, all ports.
C_INPUT, C_OUTPUT, C_COLOR, C_ALL = 0, 8, 16, 16 + COLORS
C_SIZE = C_ALL + 1
ALL_PORTS = 31
RECONFIGURE = (SystemCall.COLOR_ROUTE, SystemCall.SET_CONFIG, SystemCall.SWITCH_POSITION)
"""Calls that make ports necessary which the layout doesn't name."""
RAMP_BIT = 1 << Port.RAMP
HOST_BIT = 1 << Port.HOST


def build_fabric(program: Program, profile: Profile) -> Flat:
    """F for a program at its start: nothing waits anywhere, and the cycle is 0."""
    program = with_streams(program)
    routes = np.array([_route_row(route) for route in program.routes], dtype=np.int64)
    routes = routes.reshape(len(program.routes), R_SIZE)
    classes = np.array([_class_row(one, profile) for one in program.classes], dtype=np.int64)
    implicit = min(profile.input_depths) if program.arch == "wse2" else 0
    route_of = np.ascontiguousarray(program.route_of.reshape(-1, COLORS))
    class_of = np.ascontiguousarray(program.class_of.reshape(-1))
    sizes = _sizes(route_of, class_of, routes, classes, (implicit, profile.router_depth))
    pes = program.width * program.height
    begin = H_END + 6 * pes
    flat = _zeros(begin + int(sizes.sum()))
    flat[[H_PES, H_WIDTH, H_HEIGHT, H_HOP, H_DEPTH]] = (
        *(pes, program.width, program.height),
        *(profile.hop, profile.router_depth),
    )
    flat[H_TABLE] = H_END
    flat[H_LIST : H_LIST + 4] = H_END + pes * np.arange(1, 5)
    flat[H_WAKE_LIST] = H_END + 5 * pes
    starts = begin + np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]))
    flat[H_END : H_END + pes] = np.where(sizes > 0, starts, 0)
    _fill(flat, route_of, class_of, routes, classes, implicit)
    _link(flat)
    return flat


def _zeros(words: int) -> Flat:
    """An array that begins at a line of the cache, for speed."""
    room = np.zeros(words + 8, dtype=np.int64)
    skip = -room.ctypes.data // 8 % 8
    return room[skip : skip + words]


def with_streams(program: Program) -> Program:
    """The program with the routes that the host's streams imply.

    A colour without a route goes from HOST to RAMP, or back; one with a route has HOST added (where
    the compiler has put it already, nothing changes).
    """
    if not program.streams:
        return program
    routes = list(program.routes)
    route_of = program.route_of.copy()
    for stream in program.streams:
        one = stream.x >= 0
        where = np.zeros(route_of.shape[:2], dtype=bool)
        where[(stream.y, stream.x) if one else ...] = True
        for index in np.unique(route_of[where, stream.color]):
            route = _with_host(None if index < 0 else routes[index], to_host=stream.to_host)
            route_of[where & (program.route_of[:, :, stream.color] == index), stream.color] = len(
                routes
            )
            routes.append(route)
    return replace(program, routes=tuple(routes), route_of=route_of)


def _with_host(route: Route | None, *, to_host: bool) -> Route:
    if route is None:
        return Route(RAMP_BIT, HOST_BIT) if to_host else Route(HOST_BIT, RAMP_BIT)
    if to_host:
        return replace(route, send=route.send | HOST_BIT)
    return replace(route, receive=route.receive | HOST_BIT)


def _route_row(route: Route) -> list[int]:
    spec = route.receive | route.send << S_TX | S_HAS_RX | S_HAS_TX | S_VALID
    for p, switch in enumerate(route.positions, 1):
        part = 0 if switch.invalid else S_VALID
        if switch.receive is not None:
            part |= switch.receive | S_HAS_RX
        if switch.send is not None:
            part |= switch.send << S_TX | S_HAS_TX
        spec |= part << p * S_BITS
    flags = int(route.pop) << F_POP_SHIFT
    flags |= F_RING if route.ring else 0
    flags |= F_TEARDOWN if route.teardown else 0
    flags |= F_PLAIN if route.filter is None else 0
    receive, send = reach(route)
    if route.teardown:
        receive |= ALL_PORTS
        send |= ALL_PORTS
    swaps = [route.swap_x, route.swap_y]
    head = [spec, route.position, flags, receive, send, *swaps, int(route.filter is not None)]
    return head + (_filter_row(route.filter) if route.filter else [0] * G_SIZE)


def _filter_row(one: Filter) -> list[int]:
    flags = G_COUNT_DATA if one.count_data else 0
    flags |= G_COUNT_CONTROL if one.count_control else 0
    flags |= G_FILTER_CONTROL if one.filter_control else 0
    if one.kind == FilterKind.NONE or (one.kind == FilterKind.SPARSE_COUNTER and not one.limit1):
        flags |= G_DISABLED
    counters = [one.init_counter, one.limit1, one.limit2, one.max_counter]
    return [int(one.kind), *counters, flags, one.min_index, one.max_index]


def _class_row(one: CodeClass, profile: Profile) -> list[int]:
    row = [0] * C_SIZE
    row[C_COLOR : C_COLOR + COLORS] = [-1] * COLORS
    for queue in one.queues:
        if queue.output:
            row[C_OUTPUT + queue.id] = profile.output_depths[queue.id]
            continue
        row[C_INPUT + queue.id] = profile.input_depths[queue.id]
        if 0 <= queue.color < COLORS and row[C_COLOR + queue.color] < 0:
            row[C_COLOR + queue.color] = queue.id
    calls = one.code[one.code[:, 0] & 255 == Op.SYSTEM, 3] if len(one.code) else np.zeros(0)
    row[C_ALL] = int(bool(np.isin(calls, RECONFIGURE).any()))
    return row


@njit(cache=True)
def _sizes(  # noqa: C901 - numba: one loop over flat tables
    route_of: npt.NDArray[np.int32],
    class_of: npt.NDArray[np.int32],
    routes: Flat,
    classes: Flat,
    depths: tuple[int, int],
) -> Flat:
    """Words of every PE's block: 0 without a route or a queue."""
    implicit, depth = depths
    sizes = np.zeros(len(class_of), dtype=np.int64)
    for pe in range(len(class_of)):
        size = 0
        row = class_of[pe]
        everything = 0
        if row >= 0:
            everything = 31 if classes[row, C_ALL] else 0
            for q in range(16):
                if classes[row, C_INPUT + q]:
                    size += Q_RING + classes[row, C_INPUT + q]
        for color in range(COLORS):
            route = route_of[pe, color]
            if route < 0:
                continue
            size += N_SIZE + count_bits(routes[route, R_HAVE] | everything) * (B_RING + depth)
            send = routes[route, R_TX] | everything
            if send & RAMP_BIT and (row < 0 or classes[row, C_COLOR + color] < 0):
                size += Q_RING + implicit
            if send & HOST_BIT:
                size += Q_RING + HOST_WORDS
            if routes[route, R_FILTERED]:
                size += G_SIZE
        sizes[pe] = (size + P_SIZE + 7) // 8 * 8 if size else 0
    return sizes


@njit(cache=True)
def _new_queue(flat: Flat, at: int, capacity: int) -> int:
    """Fill in a queue and return where the next thing begins."""
    flat[at + Q_CAPACITY] = capacity
    flat[at + Q_TIME] = -1
    return at + Q_RING + capacity


@njit(cache=True)
def _fill(  # noqa: C901, PLR0915 - numba: one loop over flat tables
    flat: Flat,
    route_of: npt.NDArray[np.int32],
    class_of: npt.NDArray[np.int32],
    routes: Flat,
    classes: Flat,
    implicit: int,
) -> None:
    depth = flat[H_DEPTH]
    for pe in range(len(class_of)):
        record = flat[flat[H_TABLE] + pe]
        if record == 0:
            continue
        flat[record + P_PE] = pe
        node = record + P_SIZE
        flat[record + P_NODE] = node
        for color in range(COLORS):
            if route_of[pe, color] >= 0:
                flat[record + P_NODES] += 1
                shift = (color & 7) * 8
                flat[record + P_COLORS + (color >> 3)] |= flat[record + P_NODES] << shift
        at = node + flat[record + P_NODES] * N_SIZE
        row = class_of[pe]
        everything = 31 if row >= 0 and classes[row, C_ALL] else 0
        for q in range(16 if row >= 0 else 0):
            if classes[row, C_INPUT + q]:
                flat[record + P_INPUT + q] = at
                at = _new_queue(flat, at, classes[row, C_INPUT + q])
        index = 0
        for color in range(COLORS):
            route = route_of[pe, color]
            if route < 0:
                continue
            flat[node + N_INDEX] = index
            flat[node + N_CURRENT] = -1
            flat[node + N_COLOR] = color
            flat[node + N_KEY] = color - 32
            swap = routes[route, R_SWAP_X]
            flat[node + N_COLOR_X] = swap if swap >= 0 else color
            swap = routes[route, R_SWAP_Y]
            flat[node + N_COLOR_Y] = swap if swap >= 0 else color
            flat[node + N_SPEC] = routes[route, R_SPEC]
            flat[node + N_FLAGS] = routes[route, R_FLAGS]
            if routes[route, R_SWAP_X] >= 0 or routes[route, R_SWAP_Y] >= 0:
                flat[node + N_FLAGS] |= F_SWAP
            flat[node + N_HAVE] = routes[route, R_HAVE] | everything
            for port in range(6):
                if flat[node + N_HAVE] & (1 << port):
                    if flat[node + N_BUFFERS] == 0:
                        flat[node + N_BUFFERS] = at
                    flat[at + B_KEY] = color - 32
                    flat[at + B_READY] = -1
                    flat[at + B_READY + 1] = -1
                    flat[at + B_POP] = -1
                    flat[at + B_RECORD] = record
                    flat[at + B_BIT] = 1 << index
                    at += B_RING + depth
            send = routes[route, R_TX] | everything
            if send & RAMP_BIT:
                q = classes[row, C_COLOR + color] if row >= 0 else -1
                if q >= 0:
                    flat[node + N_QUEUE] = flat[record + P_INPUT + q]
                else:
                    flat[node + N_QUEUE] = at
                    at = _new_queue(flat, at, implicit)
            if send & HOST_BIT:
                flat[node + N_HOST] = at
                at = _new_queue(flat, at, HOST_WORDS)
            if routes[route, R_FILTERED]:
                flat[node + N_FILTER] = at
                flat[at : at + G_SIZE] = routes[route, R_FILTER:]
                at += G_SIZE
            go_to_position(flat, node, routes[route, R_POSITION])
            index += 1
            node += N_SIZE


@njit(cache=True)
def _link(flat: Flat) -> None:
    """Point every output at the neighbour's buffer, and every buffer at who fills it."""
    width = flat[H_WIDTH]
    height = flat[H_HEIGHT]
    for pe in range(width * height):
        record = flat[flat[H_TABLE] + pe]
        x = pe % width
        y = pe // width
        for index in range(flat[record + P_NODES]):
            node = flat[record + P_NODE] + index * N_SIZE
            ramp = buffer_of(flat, node, 4)
            if ramp:
                flat[ramp + B_FROM] = record
            for port in range(4):
                to_x = x + (port == 2) - (port == 3)
                to_y = y + (port == 1) - (port == 0)
                if to_x < 0 or to_y < 0 or to_x >= width or to_y >= height:
                    continue
                color = flat[node + (N_COLOR_X if port >= 2 else N_COLOR_Y)]
                target = node_of(flat, to_y * width + to_x, color)
                if target == 0:
                    continue
                buffer = buffer_of(flat, target, port ^ 1)
                if buffer:
                    flat[node + N_OUT + port] = buffer
                    flat[buffer + B_FROM] = record
