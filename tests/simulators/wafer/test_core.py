"""The compiled core against the plain one, on random programs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simulators.wafer.dsd import DsdField
from simulators.wafer.halts import HaltKind
from simulators.wafer.opcodes import SCALAR_BYTES, Flag, Op, Scalar
from tests.simulators.wafer import reference_core
from tests.simulators.wafer.assembling import Instruction, Pe, const, ins, machine, signed

_INTEGERS = tuple(Scalar)[:9]
_FLOATS = (Scalar.F16, Scalar.BF16, Scalar.F32)
_KINDS = (*_INTEGERS, *_FLOATS)
_EACH = 3
"""Registers of every type."""
_BASE = len(_KINDS) * _EACH
"""The first register for other things: one per kind with an address, DSDs, results."""
_DSD, _RESULT = _BASE, _BASE + 2
_ARITHMETIC = tuple(op for op in Op if Op.ADD <= op <= Op.LE)


def _register(chance: random.Random, kind: Scalar) -> int:
    return _KINDS.index(kind) * _EACH + chance.randrange(_EACH)


def _value(chance: random.Random, kind: Scalar) -> int:
    width = 8 * SCALAR_BYTES[kind]
    if kind in _FLOATS:
        number = chance.choice(
            (0.0, -1.5, 3.25, 1e-6, 70000.0, -0.1, 2.0**-20, chance.uniform(-9, 9))
        )
        return reference_core.from_float(number, kind)
    edge = chance.choice(
        (0, 1, -1, 1 << width - 1, (1 << width - 1) - 1, chance.getrandbits(width))
    )
    return reference_core.canonical(edge, kind)


def _binary(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    kind = chance.choice(_KINDS)
    floating = kind in _FLOATS
    ops = [
        op for op in _ARITHMETIC
        if not (floating and Op.REM <= op <= Op.SHR) and not (kind is Scalar.BOOL and op < Op.AND)
    ]  # fmt: skip
    op = chance.choice(ops)
    if kind is Scalar.BOOL and op in (Op.SHL, Op.SHR):
        op = Op.XOR
    to = _register(chance, Scalar.BOOL if op >= Op.EQ else kind)
    left = _register(chance, kind)
    if op in (Op.SHL, Op.SHR):
        return ins(op, to, left, chance.randrange(70), kind, 2, Flag.IMMEDIATE)
    if op in (Op.DIV, Op.REM) and not floating:
        divisor = chance.choice((1, 3, 7, 100)) if kind < Scalar.I64 else 12345
        return ins(op, to, left, divisor, kind, 50, Flag.IMMEDIATE)
    if chance.random() < 0.2 and SCALAR_BYTES[kind] < 4 and kind is not Scalar.BOOL:
        return ins(op, to, left, _value(chance, kind), kind, 1, Flag.IMMEDIATE)
    return ins(op, to, left, _register(chance, kind), kind, chance.randrange(1, 5))


def _unary(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    kind = chance.choice(_KINDS)
    to, source = _register(chance, kind), _register(chance, kind)
    if kind is Scalar.BOOL:
        return ins(Op.NOT, to, source, 0, kind)
    if kind in _FLOATS or chance.random() < 0.5:
        return ins(Op.NEG, to, source, 0, kind)
    return ins(Op.INVERT, to, source, 0, kind)


def _convert(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    source, target = chance.choice(_KINDS), chance.choice(_KINDS)
    return ins(Op.CONVERT, _register(chance, target), _register(chance, source), target, source)


def _move(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    kind = chance.choice(_KINDS)
    return ins(Op.MOVE, _register(chance, kind), _register(chance, kind))


def _memory(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    kind = chance.choice(_KINDS)
    op = chance.choice((Op.LOAD, Op.STORE))
    return ins(op, _register(chance, kind), -1, spots[kind] + 8 * chance.randrange(4), kind)


def _dsd(chance: random.Random, spots: dict[Scalar, int]) -> Instruction:
    # R[a]'s former value is what the field becomes: a register of u16.
    name = chance.choice([f for f in DsdField if f is not DsdField.KIND])
    return ins(Op.DSD_SET, _DSD, _DSD + 1, name, Scalar.DSD)


_MAKERS = (_binary, _binary, _binary, _unary, _convert, _move, _memory, _dsd)


def _program(seed: int) -> tuple[Pe, int, int]:
    """A program of blocks with forward jumps and a loop; at its end all registers are in memory."""
    chance = random.Random(seed)
    pe = Pe()
    spots = {kind: pe.variable(kind.name, 32) for kind in _KINDS}
    ends = pe.variable("ends", 8 * (_BASE + 4))
    code = [
        const(i * _EACH + j, _value(chance, kind), kind)
        for i, kind in enumerate(_KINDS)
        for j in range(_EACH)
    ]
    code += [const(_DSD, chance.getrandbits(16)), const(_DSD + 1, signed(chance.getrandbits(31)))]
    loop = len(code)
    counter = _register(chance, Scalar.U16)
    code.append(const(_BASE + 3, 0))
    for _ in range(60):
        if chance.random() < 0.1:
            op = chance.choice((Op.JUMP_IF, Op.JUMP_UNLESS))
            condition = _register(chance, Scalar.BOOL)
            code.append(ins(op, condition, 0, len(code) + 2, Scalar.BOOL, 3))
        code.append(chance.choice(_MAKERS)(chance, spots))
    code.append(ins(Op.ADD, _RESULT, _RESULT, 1, Scalar.U16, 1, Flag.IMMEDIATE))
    code.append(ins(Op.LT, _BASE + 3, _RESULT, 3, Scalar.U16, 1, Flag.IMMEDIATE))
    code.append(ins(Op.JUMP_IF, _BASE + 3, 0, loop, Scalar.BOOL, 3))
    assert counter >= 0
    for i, kind in enumerate(_KINDS):
        for j in range(_EACH):
            code.append(ins(Op.STORE, i * _EACH + j, -1, ends + 8 * (i * _EACH + j), kind))
    code.append(ins(Op.STORE, _DSD, -1, ends + 8 * _BASE, Scalar.DSD))
    pe.function("f", const(_RESULT, 0), *[_moved(one) for one in code])
    return pe, ends, 8 * (_BASE + 1)


def _moved(one: Instruction) -> Instruction:
    """A jump's target, one further on."""
    head, a, b, c = one
    jumps = (Op.JUMP, Op.JUMP_IF, Op.JUMP_UNLESS)
    return (head, a, b, c + 1) if Op(head & 255) in jumps else one


def _without_nans(data: bytes, kind: Scalar) -> int:
    value = int.from_bytes(data[: SCALAR_BYTES[kind]], "little")
    if kind in _FLOATS and reference_core.to_float(value, kind) != reference_core.to_float(
        value, kind
    ):
        return -1
    return value


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_end_as_in_the_plain_core(seed: int) -> None:
    pe, ends, size = _program(seed)
    core = reference_core.Core(pe.built())
    with np.errstate(all="ignore"):
        core.run(0)
    one = machine(pe)
    one.launch("f")
    outcome = one.run_quiet()
    assert outcome.text == ""
    got = one.read(0, 0, ends, size)
    want = bytes(core.memory[ends : ends + size])
    for i, kind in enumerate(_KINDS):
        for j in range(_EACH):
            at = 8 * (i * _EACH + j)
            mine, other = _without_nans(got[at:], kind), _without_nans(want[at:], kind)
            assert mine == other, f"register {i * _EACH + j} of {kind.name}"
    assert got[8 * _BASE :] == want[8 * _BASE :]
    assert int(one.compute_cycles()[0, 0]) == core.cycles


def _stopped(*code: Instruction, budget: int = 100_000) -> tuple[HaltKind, str, int]:
    pe = Pe()
    pe.variable("array", 32)
    pe.function("f", *code)
    one = machine(pe, budget=budget)
    one.launch("f")
    outcome = one.run_quiet()
    assert outcome.halt is not None
    assert outcome.halt.place is not None
    return outcome.halt.kind, outcome.halt.text, outcome.halt.place.line


def test_an_index_out_of_its_array_stops_the_program() -> None:
    found = _stopped(const(0, 5), ins(Op.CHECK, 0, 0, 5))
    assert found == (HaltKind.INDEX, "index 5 is outside an array of 5 elements", 1)


@pytest.mark.parametrize("where", [32, -2, 1])
def test_an_address_out_of_memory_or_odd_stops_the_program(where: int) -> None:
    kind, text, line = _stopped(const(0, where), ins(Op.STORE, 1, 0, 0, Scalar.U16))
    assert (kind, line) == (HaltKind.ADDRESS, 1)
    assert text == f"address {where} is not in this PE's memory of 32 bytes, or not even"


def test_division_by_zero_stops_the_program() -> None:
    found = _stopped(const(0, 5), const(1, 0), ins(Op.DIV, 0, 0, 1, Scalar.I16))
    assert found == (HaltKind.DIVIDE, "division by zero", 2)


def test_an_endless_loop_stops_after_its_budget() -> None:
    kind, text, line = _stopped(ins(Op.NOP), ins(Op.JUMP, 0, 0, 0), budget=1000)
    assert kind is HaltKind.RUNAWAY
    assert text == "a task ran 1000 instructions without an end: an infinite loop"
    assert line in (0, 1)


def test_endless_recursion_stops_the_program() -> None:
    kind, text, _ = _stopped(ins(Op.CALL, 1, 0, 0))
    assert kind is HaltKind.STACK
    assert text.startswith("functions call each other deeper")


def test_a_pointer_to_no_function_stops_the_program() -> None:
    found = _stopped(const(0, 9), ins(Op.CALL_POINTER, 1, 0, 0))
    assert found == (HaltKind.FUNCTION, "a pointer to a function holds 9, which is none", 1)


def test_a_call_keeps_the_callers_registers() -> None:
    pe = Pe()
    to = pe.variable("to", 4)
    inner = pe.function("inner", ins(Op.ADD, 0, 0, 1, Scalar.U16), const(5, 77))
    pe.function(
        "f",
        const(5, 3),
        const(64, 20),
        const(65, 22),
        ins(Op.CALL, 64, 0, inner),
        ins(Op.STORE, 64, -1, to),
        ins(Op.STORE, 5, -1, to + 2),
    )
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert one.read(0, 0, to, 4) == (42).to_bytes(2, "little") + (3).to_bytes(2, "little")


def test_ranges_that_overlap_are_copied_whole() -> None:
    pe = Pe()
    at = pe.variable("data", np.arange(1, 11, dtype=np.uint8))
    pe.function("f", const(0, at + 2), const(1, at), ins(Op.COPY, 0, 1, 7))
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert list(one.read(0, 0, at, 10)) == [1, 2, 1, 2, 3, 4, 5, 6, 7, 10]


def test_filling_writes_every_element() -> None:
    pe = Pe()
    at = pe.variable("data", 16)
    pe.function(
        "f", const(0, at), const(1, 0x3F800000, Scalar.F32), ins(Op.FILL, 0, 1, 3, Scalar.F32)
    )
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert np.frombuffer(one.read(0, 0, at, 16), np.float32).tolist() == [1, 1, 1, 0]
