"""What the fabric does and when, in small programs with the expected cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from simulators.wafer import fabric
from simulators.wafer.control_wavelets import (
    IGNORE,
    Opcode,
    decode_commands,
    encode_commands,
    pop_command,
)
from simulators.wafer.costs import Profile
from simulators.wafer.fabric_build import build_fabric
from simulators.wafer.fabric_layout import H_WAKE_LIST, H_WAKES, N_POSITION
from simulators.wafer.fabric_step import fabric_step
from simulators.wafer.program import (
    Filter,
    FilterKind,
    PopMode,
    Program,
    Queue,
    Route,
    Stream,
    Switch,
)

from .fabric_programs import EAST, HOST, NORTH, RAMP, SOUTH, WEST, fabric_program, profile

ADVANCE = encode_commands([Opcode.SWITCH_ADV | IGNORE] + [IGNORE] * 7)
RESET = encode_commands([Opcode.SWITCH_RST | IGNORE] + [IGNORE] * 7)
TEARDOWN = encode_commands([Opcode.TEARDOWN | IGNORE] + [IGNORE] * 7)

Sent = tuple[int, bool]
"""Data and whether it is a control wavelet."""


def chain(*routes: Route, arch: str = "wse3") -> Program:
    """A row of PEs with one colour, 4; all have input queue 2 and output queue 3 for it."""
    queues = [Queue(False, 2, 4), Queue(True, 3, 4)]
    size = (len(routes), 1)
    return fabric_program(
        size,
        {(x, 0, 4): route for x, route in enumerate(routes)},
        {(x, 0): queues for x in range(len(routes))},
        arch=arch,
    )


def deliveries(
    program: Program,
    words: Sequence[Sent],
    machine: Profile | None = None,
    cycles: int = 80,
    sender: int = 0,
) -> list[tuple[int, int, int]]:
    """(cycle, pe, data) of everything that PEs read at once while one sends."""
    flat = build_fabric(program, machine or profile())
    left = list(reversed(words))
    found = []
    for t in range(cycles):
        fabric.set_time(flat, t)
        found += [
            (t, pe, fabric.input_pop(flat, pe, 2) & 0xFFFFFFFF)
            for pe in range(program.width * program.height)
            if fabric.input_length(flat, pe, 2)
        ]
        if left and fabric.output_room(flat, sender, 3):
            data, control = left.pop()
            fabric.output_push(flat, sender, 3, 4, data, int(control), 0)
        fabric_step(flat, t)
    return found


def data(*values: int) -> list[Sent]:
    """Data words."""
    return [(value, False) for value in values]


@pytest.mark.parametrize("hop", [1, 2])
def test_a_wavelet_takes_two_cycles_into_the_router_a_hop_each_and_one_out(hop: int) -> None:
    program = chain(Route(RAMP, EAST), Route(WEST, EAST | RAMP), Route(WEST, RAMP))
    got = deliveries(program, data(7, 8), profile(hop))
    near = 2 + hop + 1
    assert got == [
        (near, 1, 7),
        *sorted([(near + 1, 1, 8), (near + hop, 2, 7)]),
        (near + hop + 1, 2, 8),
    ]


def test_a_route_from_ramp_to_ramp_comes_back() -> None:
    assert deliveries(chain(Route(RAMP, RAMP)), data(5)) == [(3, 0, 5)]


def test_nothing_is_lost_when_nobody_reads_and_senders_see_no_room() -> None:
    program = chain(Route(RAMP, EAST), Route(WEST, RAMP))
    flat = build_fabric(program, profile())
    sent = 0
    for t in range(100):
        if fabric.output_room(flat, 0, 3):
            fabric.output_push(flat, 0, 3, 4, sent, 0, 0)
            sent += 1
        fabric_step(flat, t)
    assert sent == 8 + 4 + 4 + 4  # output queue, two routers, input queue
    assert not fabric.fabric_busy(flat)
    got = []
    for t in range(100, 140):
        fabric.set_time(flat, t)
        if fabric.input_length(flat, 1, 2):
            got.append(fabric.input_pop(flat, 1, 2) & 0xFFFF)
        fabric_step(flat, t)
    assert got == list(range(sent))


def test_two_colours_share_a_link_turn_by_turn() -> None:
    queues = [Queue(True, 2, 4), Queue(True, 3, 5)]
    readers = [Queue(False, 2, 4), Queue(False, 3, 5)]
    routes = {
        (x, 0, c): Route(RAMP, EAST) if x == 0 else Route(WEST, RAMP)
        for x in (0, 1)
        for c in (4, 5)
    }
    flat = build_fabric(
        fabric_program((2, 1), routes, {(0, 0): queues, (1, 0): readers}), profile()
    )
    got = []
    for t in range(30):
        for q in (2, 3):
            if fabric.input_length(flat, 1, q):
                got.append((t, fabric.input_pop(flat, 1, q) >> 33))
            if t < 3:
                fabric.output_push(flat, 0, q, q + 2, t, 0, 0)
        fabric_step(flat, t)
    assert got == [(5, 4), (6, 5), (7, 4), (8, 5), (9, 4), (10, 5)]


def test_a_slow_tap_of_a_multicast_does_not_hold_the_word_back_from_the_others() -> None:
    program = chain(Route(RAMP, EAST), Route(WEST, EAST | RAMP), Route(WEST, RAMP))
    flat = build_fabric(program, profile())
    got = []
    for t in range(60):
        fabric.set_time(flat, t)
        if fabric.input_length(flat, 2, 2):
            got.append(fabric.input_pop(flat, 2, 2) & 0xFFFF)
        if t < 8:
            fabric.output_push(flat, 0, 3, 4, t, 0, 0)
        fabric_step(flat, t)
    assert got == [0, 1, 2, 3, 4]  # the tap's queue takes 4; the fifth waits for it alone


def star(route: Route) -> Program:
    """A PE in the middle of four that receive colour 4."""
    around = {(1, 0): SOUTH, (0, 1): EAST, (2, 1): WEST, (1, 2): NORTH}
    routes = {(x, y, 4): Route(side, RAMP) for (x, y), side in around.items()}
    queues = {place: [Queue(False, 2, 4)] for place in around}
    return fabric_program(
        (3, 3), {**routes, (1, 1, 4): route}, {**queues, (1, 1): [Queue(True, 3, 4)]}
    )


def test_a_ring_switch_sends_to_one_side_after_the_other() -> None:
    route = Route(
        RAMP,
        NORTH,
        positions=(Switch(send=WEST), Switch(send=EAST), Switch(send=SOUTH)),
        position=1,
        ring=True,
    )
    words = [w for value in (0, 2, 4, 6) for w in ((ADVANCE, True), (value, False))]
    got = deliveries(star(route), words, sender=4)
    assert [(pe, value) for _, pe, value in got] == [(5, 0), (7, 2), (1, 4), (3, 6)]


def test_a_control_wavelet_itself_still_goes_by_the_position_before() -> None:
    route = Route(RAMP, NORTH, positions=(Switch(send=WEST),))
    task = encode_commands([Opcode.SWITCH_ADV], task=40, data=9)
    got = deliveries(star(route), [(task, True), (task, True)], sender=4)
    assert [pe for _, pe, _ in got] == [1, 3]
    assert {value for _, _, value in got} == {task}


def test_without_a_ring_a_switch_stays_and_a_reset_brings_it_back() -> None:
    route = Route(RAMP, NORTH, positions=(Switch(send=WEST), Switch(invalid=True)))
    words = [(ADVANCE, True), (ADVANCE, True), (1, False), (RESET, True), (2, False)]
    got = deliveries(star(route), words, sender=4)
    assert [(pe, value) for _, pe, value in got] == [(3, 1), (1, 2)]


def test_a_position_keeps_what_it_does_not_name_of_the_position_before() -> None:
    route = Route(RAMP, NORTH, positions=(Switch(send=WEST), Switch(receive=RAMP)))
    words = [(ADVANCE, True), (ADVANCE, True), (3, False)]
    got = deliveries(star(route), words, sender=4)
    assert [(pe, value) for _, pe, value in got] == [(3, 3)]


def test_the_last_word_of_an_operation_can_advance_its_own_router() -> None:
    route = Route(RAMP, NORTH, positions=(Switch(send=WEST),))
    flat = build_fabric(star(route), profile())
    fabric.output_push(flat, 4, 3, 4, 1, 0, 1)
    fabric.output_push(flat, 4, 3, 4, 2, 0, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert (fabric.input_head(flat, 1, 2), fabric.input_head(flat, 3, 2)) == (
        4 << 33 | 1,
        4 << 33 | 2,
    )


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [
        (PopMode.NO_POP, 1, 1),
        (PopMode.ALWAYS_POP, 1, 0),
        (PopMode.POP_ON_ADVANCE, 1, 0),
        (PopMode.POP_ON_ADVANCE_NOP, 1, 0),
    ],
)
def test_a_popped_command_does_not_reach_the_next_router(
    mode: PopMode, first: int, second: int
) -> None:
    moving = Route(WEST, EAST, positions=(Switch(send=EAST),), pop=mode)
    program = chain(Route(RAMP, EAST), moving, moving, Route(WEST, RAMP))
    flat = build_fabric(program, profile())
    fabric.output_push(flat, 0, 3, 4, ADVANCE, 1, 0)
    for t in range(30):
        fabric_step(flat, t)
    positions = [int(flat[fabric.node_of(flat, pe, 4) + N_POSITION]) for pe in (1, 2)]
    assert positions == [first, second]


def test_a_router_that_cannot_advance_does_not_pop_on_advance() -> None:
    still = Route(WEST, EAST, pop=PopMode.POP_ON_ADVANCE)
    program = chain(Route(RAMP, EAST), still, Route(WEST, RAMP))
    task = encode_commands([Opcode.SWITCH_ADV], task=3)
    assert deliveries(program, [(task, True)])[0][2] == task


def test_commands_survive_encoding_and_move_forward_when_one_is_popped() -> None:
    commands = (1, 4, 7, 2, 0, 5, 3, 6)
    word = encode_commands(commands, task=21)
    assert decode_commands(word) == commands
    assert decode_commands(pop_command(word)) == (*commands[1:], commands[7] & IGNORE)
    assert pop_command(word) >> 16 & 63 == 21
    assert pop_command(0x09DF9249) == 0x091F9249


def taps(rule: Filter) -> Program:
    """A sender, a PE with a filter and one without behind it."""
    return chain(Route(RAMP, EAST), Route(WEST, EAST | RAMP, filter=rule), Route(WEST, RAMP))


def passed(rule: Filter, words: Sequence[Sent]) -> list[int]:
    """What a filter lets through; what is behind it gets everything."""
    got = deliveries(taps(rule), words)
    assert [value for _, pe, value in got if pe == 2] == [value for value, _ in words]
    return [value for _, pe, value in got if pe == 1]


def test_a_counter_filter_passes_the_first_of_every_period() -> None:
    rule = Filter(FilterKind.COUNTER, count_data=True, limit1=4, max_counter=1)
    assert passed(rule, data(*range(12))) == [0, 1, 5, 6, 10, 11]
    later = replace(rule, init_counter=3)
    assert passed(later, data(*range(12))) == [2, 3, 7, 8]


def test_a_counter_filter_with_filter_control_passes_control_only_at_the_maximum() -> None:
    rule = Filter(FilterKind.COUNTER, count_data=True, limit1=9, max_counter=1, filter_control=True)
    control = encode_commands([Opcode.NOP], task=2)
    words = [(control, True), (1, False), (control, True), (2, False), (control, True)]
    assert passed(rule, words) == [1, control, 2]


def test_a_sparse_counter_filters_two_periods_and_then_nothing() -> None:
    rule = Filter(FilterKind.SPARSE_COUNTER, count_data=True, limit1=3, limit2=2, max_counter=0)
    assert passed(rule, data(*range(10))) == [0, 4, 7, 8, 9]
    assert passed(replace(rule, limit2=0), data(*range(6))) == [0, 4, 5]
    assert passed(replace(rule, limit1=0), data(*range(4))) == [0, 1, 2, 3]


def test_a_range_filter_looks_at_the_upper_half_of_data_only() -> None:
    rule = Filter(FilterKind.RANGE, min_index=3, max_index=5)
    control = encode_commands([Opcode.NOP], task=2)
    words = [*data(*(i << 16 for i in range(8))), (control, True)]
    assert passed(rule, words) == [3 << 16, 4 << 16, 5 << 16, control]


def test_a_color_swap_alternates_the_colour_along_the_row() -> None:
    routes = {}
    for x in range(3):
        for c in (4, 5):
            routes[x, 0, c] = Route(
                RAMP if x == 0 else WEST, RAMP | (EAST if x < 2 else 0), swap_x=9 - c
            )
    both = [Queue(False, 2, 4), Queue(False, 3, 5), Queue(True, 3, 5)]
    flat = build_fabric(fabric_program((3, 1), routes, {(x, 0): both for x in range(3)}), profile())
    fabric.output_push(flat, 0, 3, 5, 77, 0, 0)
    for t in range(20):
        fabric_step(flat, t)
    heads = [[fabric.input_head(flat, pe, q) >> 33 for q in (2, 3)] for pe in range(3)]
    assert heads == [[-1, 5], [4, -1], [-1, 5]]


def test_teardown_stops_a_colour_until_it_is_left() -> None:
    program = chain(Route(RAMP, EAST), Route(WEST, RAMP))
    flat = build_fabric(program, profile())
    for word, control in ((TEARDOWN, 1), (5, 0)):
        fabric.output_push(flat, 0, 3, 4, word, control, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert [fabric.take_teardown(flat, pe) for pe in (0, 1)] == [1 << 4, 1 << 4]
    assert [fabric.take_teardown(flat, pe) for pe in (0, 1)] == [0, 0]
    assert fabric.input_length(flat, 1, 2) == 0
    assert fabric.in_teardown(flat, 0, 4)
    for pe in (0, 1):
        fabric.leave_teardown(flat, pe, 4)
    for t in range(20, 40):
        fabric_step(flat, t)
    assert fabric.input_head(flat, 1, 2) == 4 << 33 | 5


def test_routes_set_at_run_time_replace_the_layouts() -> None:
    route = Route(RAMP, NORTH, teardown=True)
    flat = build_fabric(star(route), profile())
    fabric.set_routes(flat, 4, 4, 0, RAMP, WEST | SOUTH)
    fabric.leave_teardown(flat, 4, 4)
    fabric.output_push(flat, 4, 3, 4, 6, 0, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert [fabric.input_length(flat, pe, 2) for pe in (1, 3, 5, 7)] == [0, 1, 0, 1]


def test_host_streams_enter_and_leave_with_back_pressure() -> None:
    relay = [Queue(False, 2, 4), Queue(True, 3, 5)]
    streams = [Stream(4, to_host=False), Stream(5, to_host=True)]
    flat = build_fabric(fabric_program((1, 1), {}, {(0, 0): relay}, streams), profile())
    pushed = 0
    for t in range(20):
        if fabric.host_room(flat, 0, 4):
            fabric.host_push(flat, 0, 4, pushed, 0)
            pushed += 1
        fabric_step(flat, t)
    assert pushed == 8  # the router's buffer and the input queue
    got = []
    for t in range(20, 80):
        if fabric.input_length(flat, 0, 2) and fabric.output_room(flat, 0, 3):
            fabric.output_push(flat, 0, 3, 5, fabric.input_pop(flat, 0, 2), 0, 0)
        if fabric.host_length(flat, 0, 5):
            got.append(fabric.host_pop(flat, 0, 5))
        fabric_step(flat, t)
    assert got == [5 << 33 | value for value in range(8)]


def test_a_stream_is_added_to_a_route_that_the_layout_gives() -> None:
    program = fabric_program(
        (2, 1),
        {(0, 0, 4): Route(0, EAST), (1, 0, 4): Route(WEST, RAMP)},
        {(1, 0): [Queue(False, 2, 4)]},
        [Stream(4, to_host=False, x=0, y=0)],
    )
    flat = build_fabric(program, profile())
    fabric.host_push(flat, 0, 4, 3, 0)
    for t in range(9):
        fabric_step(flat, t)
    assert fabric.input_head(flat, 1, 2) == 4 << 33 | 3
    assert program.routes[0].receive & HOST == 0


def test_on_wse2_a_colour_without_a_queue_has_its_own_channel() -> None:
    program = fabric_program(
        (2, 1),
        {(0, 0, 4): Route(RAMP, EAST), (1, 0, 4): Route(WEST, RAMP)},
        {(0, 0): [Queue(True, 3, -1)]},
        arch="wse2",
    )
    flat = build_fabric(program, profile())
    fabric.output_push(flat, 0, 3, 4, 11, 0, 0)
    for t in range(9):
        fabric_step(flat, t)
    assert fabric.input_head(flat, 1, 8 + 4) == 4 << 33 | 11


def test_on_wse3_a_colour_without_a_queue_stays_in_the_router() -> None:
    program = fabric_program(
        (2, 1),
        {(0, 0, 4): Route(RAMP, EAST), (1, 0, 4): Route(WEST, RAMP)},
        {(0, 0): [Queue(True, 3, 4)]},
    )
    flat = build_fabric(program, profile())
    fabric.output_push(flat, 0, 3, 4, 11, 0, 0)
    for t in range(9):
        fabric_step(flat, t)
    assert fabric.input_length(flat, 1, 8 + 4) == 0
    assert not fabric.fabric_busy(flat)


def test_a_pe_is_woken_once_by_its_first_word_and_by_room_after_a_full_queue() -> None:
    program = chain(Route(RAMP, EAST), Route(WEST, RAMP))
    flat = build_fabric(program, profile(output_depths=(2,) * 8))
    woken = []
    for t in range(12):
        if t == 0:
            fabric.output_push(flat, 0, 3, 4, 1, 0, 0)
            fabric.output_push(flat, 0, 3, 4, 2, 0, 0)
        fabric_step(flat, t)
        begin = flat[H_WAKE_LIST]
        woken += [(t, int(pe)) for pe in flat[begin : begin + flat[H_WAKES]]]
    assert woken == [(0, 0), (4, 1)]


def test_pes_without_routes_and_queues_read_as_empty() -> None:
    program = fabric_program((2, 1), {(0, 0, 4): Route(RAMP, EAST)}, {})
    flat = build_fabric(program, profile())
    assert fabric.input_length(flat, 1, 2) == 0
    assert fabric.input_head(flat, 1, 2) == -1
    assert fabric.output_room(flat, 1, 2) == 0
    assert fabric.node_of(flat, 1, 4) == 0


def test_switches_queues_and_filters_can_be_changed_at_run_time() -> None:
    route = Route(RAMP, NORTH, positions=(Switch(send=WEST),))
    flat = build_fabric(star(route), profile())
    fabric.set_switch_mode(flat, 4, 4, 1, PopMode.ALWAYS_POP)
    fabric.set_position(flat, 4, 4, 1)
    task = encode_commands([Opcode.SWITCH_ADV, Opcode.SWITCH_RST], task=3)
    for word, control in ((1, 0), (task, 1), (2, 0)):
        fabric.output_push(flat, 4, 3, 4, word, control, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert [fabric.input_length(flat, pe, 2) for pe in (1, 3)] == [1, 2]
    fabric.set_time(flat, 20)
    fabric.input_pop(flat, 3, 2)
    assert fabric.input_head(flat, 3, 2) == 4 << 33 | 1 << 32 | pop_command(task)


def test_an_input_queue_can_be_given_to_another_colour() -> None:
    routes = {(x, 0, c): (Route(RAMP, EAST), Route(WEST, RAMP))[x] for x in (0, 1) for c in (4, 5)}
    queues = {(0, 0): [Queue(True, 3, 4)], (1, 0): [Queue(False, 2, 4)]}
    flat = build_fabric(fabric_program((2, 1), routes, queues), profile())
    fabric.set_input_color(flat, 1, 2, 5)
    for color in (4, 5):
        fabric.output_push(flat, 0, 3, color, 9, 0, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert fabric.input_length(flat, 1, 2) == 1
    assert fabric.input_head(flat, 1, 2) == 5 << 33 | 9


def test_a_filters_counter_can_be_set() -> None:
    rule = Filter(FilterKind.COUNTER, count_data=True, limit1=9, max_counter=0)
    flat = build_fabric(taps(rule), profile())
    fabric.set_filter(flat, 1, 0, 2, 8)
    fabric.set_filter(flat, 1, 0, 1, 9)
    fabric.set_filter(flat, 1, 0, 0, 8)
    for word in (1, 2):
        fabric.output_push(flat, 0, 3, 4, word, 0, 0)
    for t in range(20):
        fabric_step(flat, t)
    assert fabric.input_length(flat, 1, 2) == 2


def test_colours_in_teardown_are_listed() -> None:
    flat = build_fabric(star(Route(RAMP, NORTH, teardown=True)), profile())
    assert [fabric.teardown_colors(flat, pe) for pe in (1, 4)] == [0, 1 << 4]
