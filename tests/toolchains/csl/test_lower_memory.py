"""Memory of hand-made tiles: places, contents, alignment, banks, and what doesn't fit."""

from __future__ import annotations

import numpy as np

from simulators.wafer.dsd import DsdField, DsdKind, Vector
from simulators.wafer.program import FifoAction, TaskKind
from tests.simulators.wafer.reference_core import dsd_fields
from toolchains.csl import tree as t
from toolchains.csl import types as ty
from toolchains.csl.nodes import FunctionDecl
from toolchains.csl.tile import Binding, FifoInit, QueueInit, SymbolExport, Tile
from toolchains.csl.values import Address, Dsd, FifoValue, FunctionValue, Variable

from .lower_trees import (
    HERE,
    NODE,
    SOURCE,
    at,
    const,
    function,
    give,
    i16,
    line,
    local,
    lower,
    op,
    put,
    ref,
    variable,
)


def _image(code: object, address: int, size: int) -> bytes:
    image = code.image  # type: ignore[attr-defined]
    return bytes(image[address : address + size])


def test_variables_lie_one_after_the_other_with_their_names_types_and_contents() -> None:
    a = variable("a", ty.I16, -2)
    f = variable("sub.f", ty.Array((2,), ty.F16), np.array([1.0, -2.0]))
    wide = variable("wide", ty.U32, 0xDEADBEEF)
    made = lower(variables=(a, f, wide))
    regions = made.code.regions
    assert [(r.name, r.address, r.bytes, r.type) for r in regions] == [
        ("a", 16, 2, "i16"),
        ("sub.f", 18, 4, "[2]f16"),
        ("wide", 24, 4, "u32"),
    ]
    assert regions[0].place is not None
    assert regions[0].place.line == 1
    assert made.code.image[16:] == bytes.fromhex("feff 003c 00c0 0000 efbeadde")


def test_an_alignment_that_was_asked_for_is_kept() -> None:
    odd = variable("odd", ty.U8, 1)
    aligned = Variable("aligned", ty.I16, 7, True, NODE, 64)
    made = lower(variables=(odd, aligned))
    assert made.address("aligned") == 64


def test_pointers_and_dsds_in_memory_hold_addresses() -> None:
    data = variable("data", ty.Array((4,), ty.F32))
    pointer = variable("pointer", ty.Pointer(ty.F32, many=True), Address(data, 8))
    kind = ty.DSD_TYPES["mem1d_dsd"]
    dsd = variable("dsd", kind, Dsd(DsdKind.MEMORY, Address(data, 4), (3,), (-1,), True))
    made = lower(variables=(pointer, dsd, data))
    at = made.address("data")
    assert _image(made.code, made.address("pointer"), 2) == (at + 8).to_bytes(2, "little")
    packed = int.from_bytes(_image(made.code, made.address("dsd"), 8), "little")
    fields = dsd_fields(packed)
    assert fields[DsdField.BASE] == at + 4
    assert (fields[DsdField.EXTENT], fields[DsdField.STRIDE], fields[DsdField.WIDE]) == (3, -1, 1)


def test_variables_that_only_constants_name_get_memory() -> None:
    hidden = variable("hidden", ty.I16, 9)
    pointer = const(ty.Pointer(ty.I16), Address(hidden))
    made = lower(function("read", (), ty.I16, give(t.Deref(ty.I16, HERE, pointer))))
    assert made.call("read") == 9


def test_a_variable_may_hold_a_pointer_to_a_function() -> None:
    kind = ty.Pointer(ty.Function((), ty.I16), constant=True)
    callee = function("callee", (), ty.I16, give(i16(5)))
    node = object.__new__(FunctionDecl)
    object.__setattr__(node, "span", HERE)
    holder = variable("holder", kind, FunctionValue(None, "callee", node))
    run = function("run", (), ty.I16, give(t.CallPointer(ty.I16, HERE, ref(holder), ())))
    made = lower(callee, run, variables=(holder,))
    assert made.call("run") == 5


def _dot(arch: str) -> tuple[int, int]:
    kind = ty.Array((40,), ty.F32)
    a, b = variable("a", kind), variable("b", kind)
    dsd = ty.DSD_TYPES["mem1d_dsd"]

    def whole(array: Variable) -> t.Constant:
        return const(dsd, Dsd(DsdKind.MEMORY, Address(array), (40,), (1,), True))

    step = t.VectorOp(ty.VOID, HERE, Vector.FADDS, whole(a), (whole(a), whole(b)), t.Behaviour())
    made = lower(
        function("run", (), ty.VOID, t.Effect(HERE, step)),
        variables=(a, b),
        tile=Tile("code.csl", arch),
    )
    return made.address("a"), made.address("b")


def test_on_wse2_the_second_source_starts_four_banks_after_the_first() -> None:
    a, b = _dot("wse2")
    assert (b - a) // 2 % 8 == 4
    a, b = _dot("wse3")
    assert b == a + 160


def test_what_does_not_fit_is_listed_by_size() -> None:
    large = Variable("large", ty.Array((120, 200), ty.I16), None, True, NODE)
    small = Variable("m.small", ty.Array((100,), ty.F32), None, True, NODE)
    made = lower(variables=(small, large))
    (problem,) = made.reports.errors
    assert problem.code == "out-of-memory"
    assert problem.message == ("`code` needs 52,576 bytes of a PE's 49,152: 3,424 too many")
    assert [note.message for note in problem.notes] == [
        "48,000 bytes: `large` ([120, 200]i16) from address 416, bank 0",
        "400 bytes: `m.small` ([100]f32) from address 16, bank 0",
        "0 bytes: code (estimated)",
        "4,160 bytes: runtime with memcpy",
    ]
    assert str(problem).startswith("code.csl:1:1: error: `code` needs")


def test_recursion_is_an_error_that_names_the_cycle() -> None:
    x = local("x", ty.I16)
    even = t.Function("even", (x,), ty.I16, False, line(3))
    odd = t.Function("odd", (local("y", ty.I16),), ty.I16, False, line(7))
    even.body = (give(t.Call(ty.I16, HERE, odd, (ref(x),))),)
    odd.body = (give(t.Call(ty.I16, HERE, even, (ref(odd.parameters[0]),))),)
    made = lower(even)
    (problem,) = made.reports.errors
    assert (problem.code, problem.span) == ("recursion", line(3))
    assert problem.message == "a PE has no stack for recursion: `even` → `odd` → `even`"
    assert problem.notes[0].message == "`odd` is here"


def test_a_pointer_that_may_lead_back_is_a_warning() -> None:
    kind = ty.Pointer(ty.Function((), ty.VOID), constant=True)
    p = variable("p", kind)
    run = function("run", (), ty.VOID)
    run.body = (
        put(ref(p), t.FunctionAddress(kind, HERE, run)),
        t.Effect(HERE, t.CallPointer(ty.VOID, HERE, ref(p), ())),
    )
    made = lower(run, variables=(p,))
    assert not made.reports.errors
    assert [d.code for d in made.reports.found] == ["possible-recursion"]


def test_tasks_queues_fifos_and_exports_are_carried_over() -> None:
    tile = Tile("code.csl", "wse3")
    x, y = local("x", ty.U16), local("y", ty.F16)
    task = t.Function("task", (x, y), ty.VOID, True, HERE)
    node = object.__new__(FunctionDecl)
    tile.bindings.append(Binding(TaskKind.DATA, 3, FunctionValue(None, "task", node), task, HERE))
    tile.queues.append(QueueInit(False, 3, 5, 0, -1, HERE))
    buffer = variable("buffer", ty.Array((16,), ty.F32))
    tile.fifos.append(
        FifoInit(
            FifoValue(0, ty.F32),
            "fifo",
            Address(buffer),
            16,
            -1,
            9,
            FifoAction.TEST_OR_SUSPEND,
            FifoAction.TERMINATE,
            HERE,
        )
    )
    tile.used_fifos.add(0)
    v = variable("v", ty.I16, 3)
    tile.exports.append(SymbolExport("shown", v, None, ty.I16, HERE))
    tile.active.append((8, HERE))
    tile.blocked += [(9, HERE), (10, HERE)]
    tile.unblocked.append((10, HERE))
    made = lower(tile=tile)
    code = made.code
    (bound,) = code.tasks
    assert (bound.kind, bound.id, bound.argument_bits) == (TaskKind.DATA, 3, (16, 16))
    assert code.functions[bound.function].name == "task"
    (fifo,) = code.fifos
    assert (fifo.address, fifo.elements, fifo.element_bytes) == (made.address("buffer"), 16, 4)
    assert (fifo.activate_push, fifo.activate_pop) == (-1, 9)
    assert code.exported_variables == {"shown": made.address("v")}
    assert (code.active, code.blocked) == ((8,), (9,))
    assert code.queues[0].color == 5


def test_instructions_know_the_lines_that_they_come_from() -> None:
    x = local("x", ty.I16)
    divide = t.Binary(ty.I16, line(5), "/", i16(1), ref(x))
    made = lower(t.Function("f", (x,), ty.I16, False, line(2), (t.Return(line(5), divide),)))
    lines = {made.places.places[n].line for n in made.code.places.tolist() if n >= 0}
    assert 5 in lines
    assert len(made.places.places) == len(set(made.places.places))


def test_lowering_twice_gives_the_same_bytes() -> None:
    def once() -> bytes:
        v = variable("v", ty.Array((3,), ty.I16), np.array([1, 2, 3]))
        x = local("x", ty.I16)
        made = lower(function("f", (x,), ty.I16, give(op("+", ref(x), i16(1)))), variables=(v,))
        return made.code.code.tobytes() + made.code.image

    assert once() == once()


def test_a_mistake_in_one_statement_is_reported_and_the_others_are_lowered() -> None:
    wide = ty.Int(70, False)
    v = variable("v", wide)
    x = local("x", wide)
    f = function(
        "f", (), ty.I16, t.Declare(line(4), x, t.GlobalRef(wide, line(4), v)), give(i16(3))
    )
    made = lower(f, variables=(v,))
    (problem,) = made.reports.errors
    assert str(problem).splitlines()[0] == (
        "code.csl:4:1: error: u70 is wider than 64 bits [type-too-wide]"
    )
    assert made.call("f") == 3
    assert SOURCE.line(4) == "line 4"


def test_a_constant_array_lies_in_memory_once() -> None:
    kind = ty.Array((3,), ty.I16)
    table = const(kind, np.array([7, 8, 9]))
    i = local("i", ty.I16)
    read = function("read", (i,), ty.I16, give(op("+", at(table, ref(i)), at(table, i16(0)))))
    made = lower(read)
    assert made.call("read", 2) == 16
    assert [(r.name, r.bytes) for r in made.code.regions] == [("read.constant", 6)]


def test_a_negative_index_of_a_pointer_reaches_before_it() -> None:
    data = variable("data", ty.Array((4,), ty.I16), np.array([1, 2, 3, 4]))
    pointer = const(ty.Pointer(ty.I16, many=True), Address(data, 4))
    i = local("i", ty.I16)
    made = lower(function("read", (i,), ty.I16, give(at(pointer, ref(i)))))
    assert [made.call("read", n) for n in (-2, -1, 1)] == [1, 2, 4]
