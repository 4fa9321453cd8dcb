"""Reports about machines that go no further, on a real fabric with made-up processing elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from simulators.wafer import fabric
from simulators.wafer.control_wavelets import IGNORE, Opcode, encode_commands
from simulators.wafer.fabric_build import build_fabric
from simulators.wafer.fabric_step import fabric_step
from simulators.wafer.fabric_view import Cause, Flat, channel_of, waiting_outputs
from simulators.wafer.hangs import (
    LINES,
    Blocked,
    Edge,
    Held,
    Reader,
    Spot,
    explain,
    shortest_cycle,
)
from simulators.wafer.program import Place, Program, Queue, Route, Stream, Switch

from .fabric_programs import EAST, RAMP, WEST, fabric_program, profile

HERE = Place("pe.csl", 12, 3)


@dataclass(frozen=True)
class Machine:
    """Processing elements that wait as told."""

    program: Program
    fabric: Flat
    waits: tuple[Blocked, ...] = ()
    holds: tuple[Held, ...] = ()
    quiet: tuple[Spot, ...] = ()
    readers: Mapping[tuple[int, int, int], Reader] | None = None

    def blocked(self) -> Sequence[Blocked]:
        """As told."""
        return self.waits

    def held(self) -> Sequence[Held]:
        """As told."""
        return self.holds

    def reader(self, x: int, y: int, channel: int) -> Reader:
        """As told; none by default."""
        return (self.readers or {}).get((x, y, channel), Reader())

    def silent(self) -> Sequence[Spot]:
        """As told."""
        return self.quiet


def machine(*routes: Route, words: Sequence[int] = (), streams: Sequence[Stream] = ()) -> Machine:
    """A row with colour 4 and queues 2 and 3 for it, after (0, 0) sent what it could of `words`."""
    places = range(len(routes))
    program = fabric_program(
        (len(routes), 1),
        {(x, 0, 4): route for x, route in enumerate(routes)},
        {(x, 0): [Queue(False, 2, 4), Queue(True, 3, 4)] for x in places},
        streams,
    )
    flat = build_fabric(program, profile())
    left = list(reversed(words))
    for t in range(60):
        if left and fabric.output_room(flat, 0, 3):
            word = left.pop()
            fabric.output_push(flat, 0, 3, 4, word, int(word > 1000), 0)
        fabric_step(flat, t)
    assert not fabric.fabric_busy(flat)
    return Machine(program, flat)


def receive(x: int, missing: int, task: str = "main") -> Blocked:
    """An operation of the row that reads colour 4."""
    return Blocked(x, 0, task, HERE, "@fmovs", False, 2, 4, missing)


def send(x: int, missing: int) -> Blocked:
    """An operation of the row that writes colour 4 in microthread 3."""
    return Blocked(x, 0, "main", HERE, "@mov32", True, 3, 4, missing, microthread=3)


BOTH = (Route(RAMP, EAST), Route(WEST, RAMP))


def test_two_pes_that_both_receive_first_are_a_cycle() -> None:
    crossing = fabric_program(
        (2, 1),
        {
            (0, 0, 4): Route(RAMP, EAST),
            (1, 0, 4): Route(WEST, RAMP),
            (1, 0, 5): Route(RAMP, WEST),
            (0, 0, 5): Route(EAST, RAMP),
        },
        {(0, 0): [Queue(False, 2, 5)], (1, 0): [Queue(False, 2, 4)]},
    )
    waits = (
        Blocked(0, 0, "main", HERE, "@fmovs", False, 2, 5, 8),
        Blocked(1, 0, "main", HERE, "@fmovs", False, 2, 4, 1),
    )
    report = explain(Machine(crossing, build_fabric(crossing, profile()), waits))
    assert [(edge.waits, edge.on) for edge in report.cycle] == [((0, 0), (1, 0)), ((1, 0), (0, 0))]
    assert report.text == (
        "2 PEs wait for each other:\n"
        "  (0,0) waits for (1,0): @fmovs in main needs 8 more wavelets of colour 5\n"
        "  (1,0) waits for (0,0): @fmovs in main needs 1 more wavelet of colour 4\n"
        "Operations that wait:\n"
        "  (0,0): @fmovs in main (pe.csl:12:3), synchronous, needs 8 more wavelets of colour 5 in"
        " queue 2\n"
        "  (1,0): @fmovs in main (pe.csl:12:3), synchronous, needs 1 more wavelet of colour 4 in"
        " queue 2"
    )


def test_a_full_queue_that_nothing_reads_is_named_with_its_sender() -> None:
    here = replace(machine(*BOTH, words=range(30)), waits=(send(0, 10),))
    report = explain(here)
    assert report.cycle == ()
    assert report.edges == (
        Edge(
            (0, 0),
            (1, 0),
            "@mov32 in main has 10 more wavelets of colour 4 to send, and input queue 2 of (1,0)"
            " is full",
        ),
    )
    assert report.text == (
        "Operations that wait:\n"
        "  (0,0): @mov32 in main (pe.csl:12:3), microthread 3, has 10 more wavelets of colour 4 to"
        " send; output queue 3 is full\n"
        "Wavelets that can't go on:\n"
        "  4 wavelets are stuck at (1,0) colour 4: WEST->RAMP, input queue 2 is full: no operation"
        " reads it\n"
        "  4 more wavelets are in routers behind them\n"
        "Wavelets in input queues that nothing takes:\n"
        "  (1,0): 4 of 4 in queue 2; no task is bound to it and no operation reads it"
    )
    (full,) = waiting_outputs(here.fabric)
    assert (full.x, full.channel, full.words, full.capacity) == (0, 3, 8, 8)


def test_a_blocked_data_task_is_named_as_the_reader() -> None:
    here = machine(*BOTH, words=range(30))
    report = explain(replace(here, readers={(1, 0, 2): Reader("recv", blocked=True)}))
    assert "input queue 2 is full: its task recv is blocked" in report.text
    assert "(1,0): 4 of 4 in queue 2; its task recv is blocked" in report.text


def test_an_operation_that_reads_a_full_queue_but_waits_for_another_is_named() -> None:
    other = Blocked(1, 0, "main", HERE, "@fadds", True, 3, 5, 2)
    here = replace(machine(*BOTH, words=range(30)), waits=(receive(1, 3), other))
    text = explain(here).text
    assert "input queue 2 is full: @fmovs in main reads it but waits for others" in text
    assert "nothing takes" not in text


def test_a_word_sent_where_nobody_receives_is_a_dead_end() -> None:
    report = explain(machine(Route(RAMP, EAST), Route(EAST, RAMP), words=[1, 2]))
    assert [(one.cause, one.words, one.way) for one in report.stuck] == [
        (Cause.DEAD_END, 2, "RAMP->EAST")
    ]
    assert report.text.splitlines()[1] == (
        "  2 wavelets are stuck at (0,0) colour 4: RAMP->EAST, the neighbour doesn't receive the"
        " colour from this side"
    )


def test_a_switch_that_receives_from_elsewhere_is_named_with_its_position() -> None:
    advance = encode_commands([Opcode.SWITCH_ADV | IGNORE] + [IGNORE] * 7)
    gated = Route(WEST, RAMP, positions=(Switch(receive=RAMP),))
    report = explain(machine(Route(RAMP, EAST), gated, words=[advance, 5]))
    assert report.text.splitlines()[1] == (
        "  1 wavelet is stuck at (1,0) colour 4: WEST->?, the switch, at position 1, doesn't"
        " receive from there"
    )


def test_a_colour_in_teardown_and_one_without_a_queue_are_named() -> None:
    stopped = machine(replace(BOTH[0], teardown=True), BOTH[1], words=[1])
    assert "(0,0) colour 4: RAMP->?, the colour is in teardown" in explain(stopped).text
    program = fabric_program(
        (2, 1), {(x, 0, 4): BOTH[x] for x in (0, 1)}, {(0, 0): [Queue(True, 3, 4)]}
    )
    flat = build_fabric(program, profile())
    fabric.output_push(flat, 0, 3, 4, 1, 0, 0)
    for t in range(9):
        fabric_step(flat, t)
    text = explain(Machine(program, flat)).text
    assert "stuck at (1,0) colour 4: WEST->RAMP, no input queue is for this colour" in text
    assert channel_of(flat, 1, 4) == -1


def test_a_receiver_to_which_no_pe_sends_says_so() -> None:
    alone = replace(machine(Route(0, EAST), BOTH[1]), waits=(receive(1, 2),))
    assert "needs 2 more wavelets of colour 4 in queue 2; no PE sends this colour here" in (
        explain(alone).text
    )


def test_a_receiver_of_a_stream_waits_for_the_host() -> None:
    stream = Stream(4, to_host=False, x=0, y=0)
    here = machine(Route(0, RAMP), streams=[stream])
    report = explain(replace(here, waits=(receive(0, 2),)))
    assert report.edges == ()
    assert "in queue 2; the host sends them" in report.text


def test_silent_pes_and_held_tasks_are_listed_as_rectangles() -> None:
    here = machine(*[BOTH[1]] * 5)
    held = tuple(Held(x, 0, "cont", 18, HERE) for x in (0, 1, 3))
    report = explain(replace(here, quiet=((1, 0), (2, 0), (4, 0)), holds=held))
    assert report.text == (
        "3 PEs did not call unblock_cmd_stream(): x 1-2, y 0; (4,0). The host's next command waits"
        " for all of them.\n"
        "Tasks that are activated but blocked:\n"
        "  x 0-1, y 0; (3,0): cont, id 18 (pe.csl:12:3)"
    )


def test_a_machine_in_which_nothing_waits_is_reported_as_ended() -> None:
    assert explain(machine(*BOTH)).text == ("Nothing waits: every task and operation has ended.")


def test_a_report_on_many_different_places_stays_short() -> None:
    here = machine(*[BOTH[1]] * 60)
    waits = tuple(receive(x, x + 1, f"task{x}") for x in range(60))
    held = tuple(Held(x, 0, f"task{x}", x) for x in range(60))
    report = explain(replace(here, waits=waits, holds=held, quiet=tuple((x, 0) for x in range(60))))
    assert len(report.blocked) == 60
    assert len(report.text.splitlines()) <= LINES
    assert "  ... and 56 more" in report.text
    assert "60 PEs (all) did not call" in report.text


def test_the_shortest_of_several_cycles_is_found() -> None:
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (4, 0)]
    edges = [Edge((a, 0), (b, 0), "") for a, b in pairs]
    assert [(e.waits[0], e.on[0]) for e in shortest_cycle(edges)] == [(2, 3), (3, 2)]
    assert shortest_cycle([edge for edge in edges if edge.waits[0] < edge.on[0]]) == ()
    itself = Edge((7, 0), (7, 0), "")
    assert shortest_cycle([*edges, itself]) == (itself,)
