"""Code of hand-made trees, run by the reference core."""

from __future__ import annotations

import numpy as np
import pytest

from simulators.wafer.dsd import DsdField, DsdKind, Vector
from simulators.wafer.opcodes import Scalar
from tests.simulators.wafer.reference_core import Core, Halt, from_float, to_float
from toolchains.csl import tree as t
from toolchains.csl import types as ty
from toolchains.csl.values import Active, Address, Dsd, Known

from .lower_trees import (
    HERE,
    at,
    const,
    count,
    function,
    give,
    i16,
    let,
    line,
    local,
    lower,
    op,
    put,
    ref,
    variable,
)


def _words(core: Core, address: int, number: int, kind: str = "<i2") -> list[float]:
    size = np.dtype(kind).itemsize
    raw = bytes(core.memory[address : address + size * number])
    found: list[float] = np.frombuffer(raw, kind).tolist()
    return found


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("+", 32767, 1, -32768),
        ("-", 5, 8, -3),
        ("*", 300, 300, 24464),
        ("/", -7, 2, -3),
        ("%", -7, 2, -1),
        ("&", 12, 10, 8),
        ("|", 12, 10, 14),
        ("^", 12, 10, 6),
        ("==", 3, 3, 1),
        (">", 4, 3, 1),
        (">=", 3, 4, 0),
        ("<", 4, 3, 0),
    ],
)
def test_operators_compute_with_registers_and_with_numbers(
    operator: str, left: int, right: int, expected: int
) -> None:
    x, y = local("x", ty.I16), local("y", ty.I16)
    result = ty.BOOL if expected in (0, 1) and operator in ("==", ">", ">=", "<") else ty.I16
    both = function("both", (x, y), result, give(op(operator, ref(x), ref(y))))
    number = function("number", (x,), result, give(op(operator, ref(x), i16(right))))
    flipped = function("flipped", (y,), result, give(op(operator, i16(left), ref(y))))
    made = lower(both, number, flipped)
    assert made.call("both", left, right) == expected
    assert made.call("number", left) == expected
    assert made.call("flipped", right) == expected


@pytest.mark.parametrize(
    ("kind", "start", "stop", "step", "expected"),
    [
        (ty.I16, 0, 5, 1, [0, 1, 2, 3, 4]),
        (ty.U8, 250, 255, 2, [250, 252, 254]),
        (ty.I8, 120, 127, 3, [120, 123, 126]),
        (ty.I16, -32760, -32768, -3, [-32760, -32763, -32766]),
        (ty.U16, 2, 0, -1, [2, 1]),
        (ty.U16, 65530, 65535, 4, [65530, 65534]),
        (ty.I16, 3, 3, 1, []),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_counting_loop_ends_at_the_limits_of_its_type(
    kind: ty.Int, start: int, stop: int, step: int, expected: list[int], known: bool
) -> None:
    i, n = local("i", kind), local("n", ty.U16)
    first, last = local("first", kind), local("last", kind)
    seen = variable("seen", ty.Array((8,), kind))
    bounds = (const(kind, start), const(kind, stop)) if known else (ref(first), ref(last))
    loop = count(
        i,
        bounds[0],
        bounds[1],
        step,
        put(at(ref(seen), ref(n)), ref(i)),
        put(ref(n), op("+", ref(n), const(ty.U16, 1))),
    )
    walk = function("walk", (first, last), ty.U16, let(n, const(ty.U16, 0)), loop, give(ref(n)))
    made = lower(walk, variables=(seen,))
    core = made.core()
    assert core.run(0, start, stop) == len(expected)
    stored = "<" + ("i" if kind.signed else "u") + str(kind.bits // 8)
    assert _words(core, made.address("seen"), len(expected), stored) == expected


def test_arrays_are_row_major_and_checked() -> None:
    i, j = local("i", ty.I16), local("j", ty.I16)
    grid = variable("grid", ty.Array((2, 3), ty.I16), np.arange(6, dtype=np.int64))
    get = function("get", (i, j), ty.I16, give(at(ref(grid), ref(i), ref(j))))
    fixed = function("fixed", (j,), ty.I16, give(at(ref(grid), i16(1), ref(j))))
    made = lower(get, fixed, variables=(grid,))
    assert [made.call("get", 1, n) for n in range(3)] == [3, 4, 5]
    assert made.call("fixed", 2) == 5
    for wrong in ((2, 0), (0, 3), (-1, 0)):
        with pytest.raises(Halt, match="INDEX"):
            made.call("get", *wrong)


def test_pointers_reach_variables_elements_and_locals() -> None:
    numbers = variable("numbers", ty.Array((4,), ty.F32), np.array([1.0, 2.0, 3.0, 4.0]))
    many = ty.Pointer(ty.F32, many=True)
    pointer = variable("pointer", many, Address(numbers, 4))
    i = local("i", ty.U16)
    read = function("read", (i,), ty.F32, give(at(ref(pointer), ref(i))))
    x = local("x", ty.I16, addressed=True)
    address = t.AddressOf(ty.Pointer(ty.I16), HERE, ref(x))
    p = local("p", ty.Pointer(ty.I16))
    poke = function(
        "poke",
        (x,),
        ty.I16,
        let(p, address),
        put(t.Deref(ty.I16, HERE, ref(p)), op("+", t.Deref(ty.I16, HERE, ref(p)), i16(5))),
        give(ref(x)),
    )
    made = lower(read, poke, variables=(numbers, pointer))
    assert to_float(made.call("read", 2), Scalar.F32) == 4.0
    assert made.call("poke", 37) == 42


def test_calls_nest_and_pass_structs_and_arrays_by_value() -> None:
    pair = ty.Struct(("pair",), "Pair", (("a", ty.I16), ("b", ty.I32)))
    x, y = local("x", ty.I16), local("y", ty.I16)
    add = function("add", (x, y), ty.I16, give(op("+", ref(x), ref(y))))
    p = local("p", pair)
    make = function(
        "make",
        (local("u", ty.I16),),
        pair,
    )
    u = make.parameters[0]
    made_pair = t.Aggregate(pair, HERE, (ref(u), const(ty.I32, 70000)))
    make.body = (give(made_pair),)
    first = function("first", (p,), ty.I32, give(t.FieldOf(ty.I32, HERE, ref(p), 1)))
    n = local("n", ty.I16)

    def call(callee: t.Function, *arguments: t.Expr) -> t.Call:
        return t.Call(callee.result, HERE, callee, arguments)

    main = function(
        "main",
        (n,),
        ty.I16,
        give(
            call(
                add,
                call(add, ref(n), i16(1)),
                op(
                    "+",
                    t.FieldOf(ty.I16, HERE, call(make, ref(n)), 0),
                    t.Convert(ty.I16, HERE, call(first, call(make, ref(n)))),
                ),
            )
        ),
    )
    made = lower(main)
    assert made.call("main", 10) == 10 + 1 + 10 + 70000 - 65536
    assert not made.reports.found


def test_assigning_an_aggregate_that_reads_its_target_uses_the_old_values() -> None:
    pair = ty.Struct(("pair",), "Pair", (("a", ty.I16), ("b", ty.I16)))
    v = variable("v", pair, (1, 2))

    def part(n: int) -> t.Expr:
        return t.FieldOf(ty.I16, HERE, ref(v), n)

    swap = function(
        "swap", (), ty.I16, put(ref(v), t.Aggregate(pair, HERE, (part(1), part(0)))), give(part(1))
    )
    made = lower(swap, variables=(v,))
    assert made.call("swap") == 1


def test_packed_structs_are_bits_of_one_integer() -> None:
    bits = ty.Struct(
        ("bits",),
        "Bits",
        (("low", ty.Int(3, False)), ("flag", ty.BOOL), ("signed", ty.Int(4, True)), ("top", ty.U8)),
        "packed",
    )
    v = variable("v", bits, (5, True, -3, 200))
    fields = [t.FieldOf(kind, HERE, ref(v), n) for n, (_, kind) in enumerate(bits.fields)]
    reads = [function(f"read{n}", (), field.type, give(field)) for n, field in enumerate(fields)]
    x = local("x", ty.Int(4, True))
    write = function("write", (x,), bits, put(fields[2], ref(x)), give(ref(v)))
    made = lower(*reads, write, variables=(v,))
    assert [made.call(f"read{n}") for n in range(4)] == [5, 1, -3, 200]
    assert made.call("write", 6) == 5 | 1 << 3 | 6 << 4 | 200 << 8


def test_a_union_holds_one_variant() -> None:
    both = ty.Struct(("u",), "U", (("f", ty.F32), ("bits", ty.U32)), "extern", union=True)
    v = variable("v", both, Active(0, 1.5))
    read = function("read", (), ty.U32, give(t.FieldOf(ty.U32, HERE, ref(v), 1)))
    assert lower(read, variables=(v,)).call("read") == from_float(1.5, Scalar.F32)


def test_odd_widths_wrap_at_their_own_limits() -> None:
    u3, i5 = ty.Int(3, False), ty.Int(5, True)
    x, y = local("x", u3), local("y", i5)
    up = function("up", (x,), u3, give(op("+", ref(x), const(u3, 3))))
    down = function("down", (y,), i5, give(op("*", ref(y), const(i5, 3))))
    made = lower(up, down)
    assert made.call("up", 6) == 1
    assert made.call("down", 7) == 21 - 32


def test_conditions_short_circuit() -> None:
    n = variable("n", ty.I16, 0)
    bump = function(
        "bump", (), ty.BOOL, put(ref(n), op("+", ref(n), i16(1))), give(const(ty.BOOL, True))
    )
    x = local("x", ty.I16)
    called = t.Call(ty.BOOL, HERE, bump, ())
    positive = op(">", ref(x), i16(0))
    both = t.Logical(ty.BOOL, HERE, "and", positive, called)
    either = t.Logical(ty.BOOL, HERE, "or", positive, called)
    chosen = t.Select(ty.I16, HERE, both, ref(n), i16(-1))
    test = function("test", (x,), ty.I16, give(chosen))
    value = function("value", (x,), ty.BOOL, give(either))
    made = lower(test, value, variables=(n,))
    assert made.call("test", 1) == 1
    assert made.call("test", 0) == -1
    assert made.call("value", 0) == 1
    core = made.core()
    core.run(1, 5)
    assert _words(core, made.address("n"), 1) == [0]


def test_breaks_continues_and_block_values_leave_what_they_name() -> None:
    outer, inner, block = t.Target("outer"), t.Target("inner"), t.Target("found")
    i, total = local("i", ty.I16), local("total", ty.I16)
    step = (put(ref(i), op("+", ref(i), i16(1))),)
    odd = op("==", op("&", ref(i), i16(1)), i16(1))
    body = (
        t.If(HERE, odd, (t.Continue(HERE, outer),), ()),
        t.Loop(
            HERE,
            inner,
            None,
            (
                t.If(HERE, op(">", ref(i), i16(8)), (t.Break(HERE, outer),), ()),
                t.Break(HERE, inner),
            ),
        ),
        put(ref(total), op("+", ref(total), ref(i))),
    )
    loop = t.Loop(HERE, outer, op("<", ref(i), i16(100)), body, step)
    taken = t.If(HERE, op(">", ref(total), i16(10)), (t.Break(HERE, block, ref(total)),), ())
    found = t.BlockValue(ty.I16, HERE, block, (taken, t.Break(HERE, block, i16(0))))
    run = function("run", (), ty.I16, let(i, i16(0)), let(total, i16(0)), loop, give(found))
    assert lower(run).call("run") == 0 + 2 + 4 + 6 + 8


@pytest.mark.parametrize(("value", "expected"), [(1, 10), (5, 20), (8, 20), (9, 30), (-4, 40)])
def test_a_switch_takes_the_case_of_its_value(value: int, expected: int) -> None:
    x = local("x", ty.I16)
    cases = (
        ((1, 2), (give(i16(10)),)),
        ((4, 5, 6, 7, 8), (give(i16(20)),)),
        ((9,), (give(i16(30)),)),
    )
    choose = function("choose", (x,), ty.I16, t.Switch(HERE, ref(x), cases, (give(i16(40)),)))
    assert lower(choose).call("choose", value) == expected


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        (ty.I16, ty.U16, -1, 65535),
        (ty.I16, ty.I32, -5, -5),
        (ty.U32, ty.U8, 0x1234, 0x34),
        (ty.F32, ty.I16, from_float(-3.9, Scalar.F32), -3),
        (ty.I32, ty.F16, 3, from_float(3.0, Scalar.F16)),
        (ty.F32, ty.BOOL, from_float(0.0, Scalar.F32), 0),
        (ty.F16, ty.F32, from_float(1.5, Scalar.F16), from_float(1.5, Scalar.F32)),
    ],
)
def test_conversions_keep_the_canonical_form(
    source: ty.Type, target: ty.Type, value: int, expected: int
) -> None:
    x = local("x", source)
    turn = function("turn", (x,), target, give(t.Convert(target, HERE, ref(x))))
    assert lower(turn).call("turn", value) == expected


def test_bitcasts_keep_the_bits() -> None:
    x = local("x", ty.F32)
    negative = from_float(-2.0, Scalar.F32)
    signed = function("signed", (x,), ty.I32, give(t.Bitcast(ty.I32, HERE, ref(x))))
    y = local("y", ty.I32)
    back = function("back", (y,), ty.F32, give(t.Bitcast(ty.F32, HERE, ref(y))))
    made = lower(signed, back)
    assert made.call("signed", negative) == negative - (1 << 32)
    assert made.call("back", negative - (1 << 32)) == negative


def test_large_constants_reach_registers_whole() -> None:
    made = lower(
        function("big", (), ty.U32, give(const(ty.U32, 0xFFFF0001))),
        function("huge", (), ty.I64, give(const(ty.I64, -(1 << 40)))),
    )
    assert made.call("big") == 0xFFFF0001
    assert made.call("huge") == -(1 << 40)


def test_function_pointers_call_what_they_name() -> None:
    x = local("x", ty.I16)
    twice = function("twice", (x,), ty.I16, give(op("*", ref(x), i16(2))))
    kind = ty.Pointer(ty.Function((ty.I16,), ty.I16), constant=True)
    p, n = local("p", kind), local("n", ty.I16)
    run = function(
        "run",
        (n,),
        ty.I16,
        let(p, t.FunctionAddress(kind, HERE, twice)),
        give(op("+", ref(n), t.CallPointer(ty.I16, HERE, ref(p), (ref(n),)))),
    )
    assert lower(run).call("run", 7) == 21


_DSD = ty.DSD_TYPES["mem1d_dsd"]


def _dsd(array: object, extent: int, wide: bool = True, offset: int = 0) -> t.Constant:
    assert hasattr(array, "type")
    data = Dsd(DsdKind.MEMORY, Address(array, offset), (extent,), (1,), wide)  # type: ignore[arg-type]
    return const(_DSD, data)


def test_vector_operations_take_dsds_scalars_and_pointers() -> None:
    a = variable("a", ty.Array((4,), ty.F32), np.array([1.0, 2.0, 3.0, 4.0]))
    y = variable("y", ty.Array((4,), ty.F32))
    total = variable("total", ty.F32, 10.0)
    x = local("x", ty.F32)
    scaled = t.VectorOp(
        ty.VOID,
        HERE,
        Vector.FMACS,
        _dsd(y, 4),
        (_dsd(y, 4), _dsd(a, 4), ref(x)),
        t.Behaviour(),
    )
    pointer = t.AddressOf(ty.Pointer(ty.F32), HERE, ref(total))
    summed = t.VectorOp(ty.VOID, HERE, Vector.FADDS, pointer, (pointer, _dsd(y, 4)), t.Behaviour())
    run = function("run", (x,), ty.VOID, t.Effect(HERE, scaled), t.Effect(HERE, summed))
    made = lower(run, variables=(a, y, total))
    core = made.core()
    core.run(0, from_float(2.0, Scalar.F32))
    assert _words(core, made.address("y"), 4, "<f4") == [2.0, 4.0, 6.0, 8.0]
    assert _words(core, made.address("total"), 1, "<f4") == [30.0]


def test_dsds_are_made_and_changed_while_running() -> None:
    a = variable("a", ty.Array((8,), ty.I16), np.arange(8, dtype=np.int64))
    b = variable("b", ty.Array((8,), ty.I16))
    n, by = local("n", ty.U16), local("by", ty.I16)
    d = local("d", _DSD)
    start = Known(_DSD, Dsd(DsdKind.MEMORY, Address(a), (0,), (1,)))
    make = t.DsdMake(_DSD, HERE, DsdKind.MEMORY, start, ((DsdField.EXTENT, ref(n)),))
    moved = t.DsdUpdate(_DSD, HERE, ref(d), DsdField.ADVANCE_2, ref(by))
    copy = t.VectorOp(ty.VOID, HERE, Vector.MOV16, _dsd(b, 8, wide=False), (ref(d),), t.Behaviour())
    run = function("run", (n, by), ty.VOID, let(d, make), put(ref(d), moved), t.Effect(HERE, copy))
    made = lower(run, variables=(a, b))
    core = made.core()
    core.run(0, 3, 2)
    assert _words(core, made.address("b"), 4) == [2, 3, 4, 0]


def test_map_calls_the_function_for_every_element() -> None:
    a = variable("a", ty.Array((5,), ty.I16), np.arange(5, dtype=np.int64))
    b = variable("b", ty.Array((5,), ty.I16))
    x, k = local("x", ty.I16), local("k", ty.I16)
    early = t.If(HERE, op("==", ref(x), i16(2)), (give(i16(-1)),), ())
    f = function("f", (x, k), ty.I16, early, give(op("+", ref(x), ref(k))))
    scale = local("scale", ty.I16)
    mapped = t.Map(ty.VOID, HERE, f, (_dsd(a, 5, wide=False), ref(scale)), _dsd(b, 5, wide=False))
    run = function("run", (scale,), ty.VOID, t.Effect(HERE, mapped))
    made = lower(run, variables=(a, b))
    core = made.core()
    core.run(0, 10)
    assert _words(core, made.address("b"), 5) == [10, 11, -1, 13, 14]


def test_arrays_are_filled_copied_and_built_of_parts() -> None:
    kind = ty.Array((6,), ty.I16)
    v, w = variable("v", kind), variable("w", kind)
    x = local("x", ty.I16)
    parts = t.Aggregate(kind, HERE, (ref(x), *(i16(n) for n in range(5))))
    run = function(
        "run",
        (x,),
        ty.I16,
        put(ref(v), t.Splat(kind, HERE, ref(x))),
        put(ref(w), ref(v)),
        put(ref(v), parts),
        give(op("+", at(ref(w), i16(5)), at(ref(v), i16(5)))),
    )
    made = lower(run, variables=(v, w))
    assert made.call("run", 30) == 34


def test_an_open_map_may_not_call_what_maps_too() -> None:
    a = variable("a", ty.Array((5,), ty.I16))
    x = local("x", ty.I16)
    same = function("same", (x,), ty.I16, give(ref(x)))
    whole = _dsd(a, 5, wide=False)
    inner = function(
        "inner", (), ty.VOID, t.Effect(HERE, t.Map(ty.VOID, HERE, same, (whole,), whole))
    )
    call = t.Call(ty.VOID, line(9), inner, ())
    outer = function("outer", (x,), ty.VOID, t.Effect(HERE, call))
    run = function("run", (), ty.VOID, t.Effect(HERE, t.Map(ty.VOID, HERE, outer, (whole,), None)))
    (problem,) = lower(run, variables=(a,)).reports.errors
    assert str(problem).startswith(
        "code.csl:9:1: error: the function of this @map calls `inner`, which uses @map too"
    )


def test_the_left_operand_is_read_before_the_right_one_changes_it() -> None:
    x, block = local("x", ty.I16), t.Target("b")
    change = t.BlockValue(
        ty.I32,
        HERE,
        block,
        (put(ref(x), i16(100)), t.Break(HERE, block, const(ty.I32, 1))),
    )
    y = local("y", ty.I16)
    total = op("+", t.Convert(ty.I32, HERE, ref(x)), change)
    f = function("f", (y,), ty.I32, let(x, ref(y)), give(total))
    assert lower(f).call("f", 5) == 6


def _chain(depth: int) -> t.Function:
    x = local("x", ty.I16)
    arm: tuple[t.Stmt, ...] = (give(i16(-1)),)
    for n in reversed(range(depth)):
        arm = (t.If(HERE, op("==", ref(x), i16(n)), (give(i16(n + 1)),), arm),)
    return function("chain", (x,), ty.I16, *arm)


def test_else_if_chains_may_be_long_but_not_endless() -> None:
    made = lower(_chain(100))
    assert [made.call("chain", n) for n in (0, 99, 100)] == [1, 100, -1]
    (problem,) = lower(_chain(3000)).reports.errors
    assert (problem.code, problem.span) == ("too-deep", HERE)
