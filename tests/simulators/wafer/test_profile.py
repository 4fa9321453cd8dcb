"""Cycles of a profiled machine by cause: they add up, and small programs have those by hand."""

from __future__ import annotations

import numpy as np

from simulators.wafer.dsd import DsdKind, Operand, Vector
from simulators.wafer.machine import Machine
from simulators.wafer.opcodes import Op
from simulators.wafer.profiles import make_profile
from simulators.wafer.profiling import MachineProfile, profile_of
from simulators.wafer.program import Port, Queue, Route
from tests.simulators.wafer.assembling import READY, Pe, const, fabric, ins, machine, memory

_RAMP, _EAST, _WEST = 1 << Port.RAMP, 1 << Port.EAST, 1 << Port.WEST
COLOR, QUEUE = 3, 2
_TO_EAST = {(0, COLOR): Route(_RAMP, _EAST), (1, COLOR): Route(_WEST, _RAMP)}
DSD = Operand.DSD


def _profiled(one: Machine, *launched: str) -> MachineProfile:
    again = Machine(one.program, make_profile(one.program.arch), profiled=True)
    for name in launched:
        again.launch(name)
    outcome = again.run_quiet()
    assert not outcome.text, outcome.text
    found = profile_of(again)
    total = found.compute + found.words + found.room + found.idle
    assert (total == found.cycles).all()
    assert min(grid.min() for grid in (found.compute, found.words, found.room, found.idle)) >= 0
    return found


def _mover(count: int, *, sends: bool, before: int = 0) -> Pe:
    """Moves so many words from memory to the east, or from the west; before that it is busy."""
    pe = Pe("sender" if sends else "receiver", queues=[Queue(sends, QUEUE, COLOR)])
    at = pe.variable("data", np.arange(count, dtype=np.uint32))
    here = const(0, memory(at, count, wide=True))
    kind = DsdKind.FABRIC_OUT if sends else DsdKind.FABRIC_IN
    there = const(1, fabric(kind, QUEUE, COLOR, count))
    operands = ((DSD, 1), (DSD, 0)) if sends else ((DSD, 0), (DSD, 1))
    slow = [const(5, 1, cost=before)] if before else []
    pe.function("go", *slow, here, there, pe.operate(Vector.MOV32, *operands))
    return pe


def test_a_program_without_words_computes_and_then_rests() -> None:
    pe = Pe()
    pe.function("go", *[ins(Op.ADD, 0, 0, 1, flags=1) for _ in range(20)], READY)
    short = _profiled(machine(pe), "go")
    pe = Pe()
    pe.function("go", *[ins(Op.ADD, 0, 0, 1, flags=1) for _ in range(50)], READY)
    long = _profiled(machine(pe), "go")

    assert long.compute[0, 0] - short.compute[0, 0] == 30
    assert (short.words[0, 0], short.room[0, 0]) == (0, 0)


def test_a_receiver_waits_for_as_long_as_its_sender_computes_first() -> None:
    waits = [
        int(
            _profiled(
                machine(_mover(4, sends=True, before=b), _mover(4, sends=False), routes=_TO_EAST),
                "go",
            ).words[0, 1]
        )
        for b in (40, 140)
    ]

    assert waits[1] - waits[0] == 100
    assert 40 <= waits[0] <= 60


def test_a_sender_has_back_pressure_for_as_long_as_its_receiver_computes_first() -> None:
    found = [
        _profiled(
            machine(_mover(60, sends=True), _mover(60, sends=False, before=b), routes=_TO_EAST),
            "go",
        )
        for b in (100, 200)
    ]

    assert found[1].room[0, 0] - found[0].room[0, 0] == 100
    assert found[0].words[0, 0] == 0


def test_operations_are_counted_by_place_with_their_elements() -> None:
    found = _profiled(
        machine(_mover(60, sends=True), _mover(60, sends=False), routes=_TO_EAST), "go"
    )

    assert sum(one.elements for one in found.operations) == 120
    assert all(one.name == "@mov32" and one.cycles >= 60 for one in found.operations)


def test_the_critical_path_leads_from_who_waited_to_who_was_waited_for() -> None:
    found = _profiled(
        machine(_mover(4, sends=True, before=200), _mover(4, sends=False), routes=_TO_EAST), "go"
    )

    assert [(step.x, step.cause, step.color) for step in found.path] == [
        (1, "words", COLOR),
        (0, "", -1),
    ]
    assert found.path[0].waited >= 200


def test_counting_changes_no_cycle() -> None:
    one = machine(_mover(60, sends=True), _mover(60, sends=False, before=100), routes=_TO_EAST)
    one.launch("go")
    one.run_quiet()

    assert _profiled(one, "go").cycles == one.cycle


def test_traffic_is_the_words_on_the_busiest_link_of_each_router() -> None:
    pes = [_mover(24, sends=True), _mover(24, sends=False)]
    found = _profiled(machine(*pes, routes=_TO_EAST), "go")

    assert found.traffic.tolist() == [[24, 0]]
