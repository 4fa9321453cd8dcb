"""Static views of routes."""

from __future__ import annotations

import pytest

from simulators.wafer.program import Port, Program, Route, Switch
from simulators.wafer.routing import (
    DeadEnd,
    Reason,
    find_dead_ends,
    find_drivers,
    find_loops,
    hops_text,
    masks,
    reachable,
    trace,
)

from .fabric_programs import EAST, NORTH, RAMP, SOUTH, WEST, fabric_program


def row(*routes: Route | None) -> Program:
    """A row of PEs with routes of colour 4."""
    given = {(x, 0, 4): route for x, route in enumerate(routes) if route}
    return fabric_program((len(routes), 1), given, {})


def test_a_trace_names_every_hop_and_the_sinks() -> None:
    path = trace(row(Route(RAMP, EAST), Route(WEST, EAST | RAMP), Route(WEST, RAMP)), 0, 0, 4)
    assert str(path) == "(0,0) RAMP->EAST, (1,0) WEST->EAST+RAMP, (2,0) WEST->RAMP"
    assert path.sinks == ((1, 0), (2, 0))
    assert path.dead_ends == ()
    assert path.loops == ()


def test_a_long_trace_is_cut_in_the_middle() -> None:
    middle = [Route(WEST, EAST)] * 20
    path = trace(row(Route(RAMP, EAST), *middle, Route(WEST, RAMP)), 0, 0, 4)
    text = str(path)
    assert text.startswith("(0,0) RAMP->EAST, (1,0) WEST->EAST")
    assert text.endswith("... 11 more ..., (21,0) WEST->RAMP")
    assert hops_text(path.hops, limit=30).count("WEST->EAST") == 20


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (None, "(0,0) colour 4 sends EAST to (1,0), but the colour is not configured there"),
        (
            Route(EAST, RAMP),
            "(0,0) colour 4 sends EAST to (1,0), but that router doesn't receive the colour from"
            " this side",
        ),
    ],
)
def test_a_dead_end_says_where_and_why(second: Route | None, text: str) -> None:
    program = row(Route(RAMP, EAST), second)
    assert [str(end) for end in trace(program, 0, 0, 4).dead_ends] == [text]
    assert text in [str(end) for end in find_dead_ends(program)]


def test_the_rectangles_edge_is_a_dead_end() -> None:
    program = row(Route(RAMP, NORTH | WEST))
    found = [DeadEnd(0, 0, 4, port, Reason.EDGE, 4) for port in (Port.NORTH, Port.WEST)]
    assert list(find_dead_ends(program)) == found


def test_positions_are_followed_on_request_only() -> None:
    switched = Route(RAMP, EAST, positions=(Switch(send=WEST), Switch(send=SOUTH)))
    program = row(Route(EAST, RAMP), switched, Route(WEST, RAMP))
    assert trace(program, 1, 0, 4).sinks == ((2, 0),)
    every = trace(program, 1, 0, 4, every_position=True)
    assert set(every.sinks) == {(0, 0), (2, 0)}
    assert [end.port for end in every.dead_ends] == [Port.SOUTH]
    assert find_dead_ends(program) == ()
    assert [end.port for end in find_dead_ends(program, every_position=True)] == [Port.SOUTH]


def test_a_neighbour_that_receives_in_a_later_position_is_no_dead_end() -> None:
    gated = Route(EAST, RAMP, positions=(Switch(receive=WEST),))
    assert trace(row(Route(RAMP, EAST), gated), 0, 0, 4).dead_ends == ()


def test_positions_build_on_each_other() -> None:
    route = Route(WEST, EAST | RAMP, (Switch(receive=RAMP), Switch(send=RAMP)))
    assert [masks(route, p) for p in range(3)] == [
        (WEST, EAST | RAMP),
        (RAMP, EAST | RAMP),
        (RAMP, RAMP),
    ]


def test_an_invalid_position_ends_what_a_switch_can_reach() -> None:
    positions = (Switch(send=WEST), Switch(invalid=True), Switch(send=EAST))
    assert list(reachable(Route(RAMP, NORTH, positions))) == [0, 1]
    assert list(reachable(Route(RAMP, NORTH, positions, position=3))) == [3, 0, 1]


def test_two_neighbours_that_send_to_a_router_are_found() -> None:
    program = row(Route(RAMP, EAST), Route(WEST | EAST, RAMP), Route(RAMP, WEST))
    assert [str(one) for one in find_drivers(program)] == [
        "(1,0) colour 4 receives from EAST and WEST at once"
    ]
    quiet = row(Route(RAMP, EAST), Route(WEST | EAST, RAMP), Route(RAMP, EAST))
    assert find_drivers(quiet) == ()


def test_words_that_come_back_are_a_loop_and_branches_that_meet_are_not() -> None:
    ring = {
        (0, 0, 4): Route(RAMP | SOUTH, EAST),
        (1, 0, 4): Route(WEST, SOUTH),
        (1, 1, 4): Route(NORTH, WEST),
        (0, 1, 4): Route(EAST, NORTH),
    }
    (loop,) = find_loops(fabric_program((2, 2), ring, {}))
    assert hops_text(loop) == (
        "(0,0) SOUTH->EAST, (1,0) WEST->SOUTH, (1,1) NORTH->WEST, (0,1) EAST->NORTH"
    )
    meeting = {
        (0, 0, 4): Route(RAMP, EAST | SOUTH),
        (1, 0, 4): Route(WEST, SOUTH),
        (0, 1, 4): Route(NORTH, EAST),
        (1, 1, 4): Route(NORTH | WEST, RAMP),
    }
    assert find_loops(fabric_program((2, 2), meeting, {})) == ()


def test_a_swap_is_followed_as_the_other_colour() -> None:
    routes = {(0, 0, 4): Route(RAMP, EAST, swap_x=5), (1, 0, 5): Route(WEST, RAMP)}
    program = fabric_program((2, 1), routes, {})
    assert trace(program, 0, 0, 4).sinks == ((1, 0),)
    assert find_dead_ends(program) == ()
