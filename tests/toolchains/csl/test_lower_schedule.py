"""Cycles of code forms that were measured on the vendor's simulator ([FAB] in `costs`), WSE-3."""

from __future__ import annotations

import pytest

from simulators.wafer.dsd import DsdField, DsdKind, Vector
from simulators.wafer.opcodes import Op
from toolchains.csl import tree as t
from toolchains.csl import types as ty
from toolchains.csl.values import Address, Dsd, Variable

from .lower_trees import (
    HERE,
    Lowered,
    at,
    const,
    count,
    function,
    i16,
    let,
    local,
    lower,
    op,
    put,
    ref,
    variable,
)

_RETURN = 6
"""At the end of every function."""
_COMPLETION = 2
"""Of a vector operation, from its last element on: the profile's, not the compiler's."""


def _cycles(made: Lowered) -> int:
    core = made.core()
    core.run(0)
    return core.cycles - _RETURN


def test_a_binary_operation_on_memory_takes_four_instructions_and_seven_cycles() -> None:
    a, b, c = (variable(name, ty.F16) for name in "abc")
    made = lower(
        function("f", (), ty.VOID, put(ref(c), op("+", ref(a), ref(b)))), variables=(a, b, c)
    )
    assert len(made.code.code) - 1 == 4
    assert _cycles(made) == 7


def test_a_shift_takes_three_instructions_and_six_cycles() -> None:
    a, c = variable("a", ty.U16), variable("c", ty.U16)
    shifted = op("<<", ref(a), const(ty.U16, 3))
    made = lower(function("f", (), ty.VOID, put(ref(c), shifted)), variables=(a, c))
    assert len(made.code.code) - 1 == 3
    assert _cycles(made) == 6


@pytest.mark.parametrize("kind", [ty.F16, ty.F32])
def test_a_scalar_dot_product_takes_19_to_25_cycles_per_element(kind: ty.Type) -> None:
    n = 64
    a, b = (variable(name, ty.Array((n,), kind)) for name in "ab")
    total = variable("total", kind)
    i = local("i", ty.I16)
    product = op("*", at(ref(a), ref(i)), at(ref(b), ref(i)))
    body = put(ref(total), op("+", ref(total), product))
    made = lower(
        function("f", (), ty.VOID, count(i, i16(0), i16(n), 1, body)), variables=(a, b, total)
    )
    assert 19 <= _cycles(made) / n <= 25


def _tile(d: Variable, s: Variable, extent: int) -> t.VectorOp:
    kind = ty.DSD_TYPES["mem1d_dsd"]
    to = const(kind, Dsd(DsdKind.MEMORY, Address(d), (extent,), (1,)))
    source = const(kind, Dsd(DsdKind.MEMORY, Address(s), (extent,), (1,)))
    other = const(kind, Dsd(DsdKind.MEMORY, Address(s, 8), (extent,), (1,)))
    return t.VectorOp(ty.VOID, HERE, Vector.FMACH, to, (source, other, _K), t.Behaviour())


def _in_place(d: Variable, s: Variable) -> t.VectorOp:
    """`@fmach(d, d, s, k)`: one descriptor less."""
    whole = _tile(d, s, 16)
    sources = (whole.dest, *whole.sources[1:])
    return t.VectorOp(ty.VOID, HERE, Vector.FMACH, whole.dest, sources, t.Behaviour())


_K = const(ty.F16, 2.0)


def test_a_loop_of_16_element_tiles_takes_18_cycles_per_tile() -> None:
    d, s = variable("d", ty.Array((64,), ty.F16)), variable("s", ty.Array((64,), ty.F16))
    i = local("i", ty.I16)
    step = (put(ref(i), op("+", ref(i), i16(1))),)
    body = (t.Effect(HERE, _in_place(d, s)),)
    loop = t.Loop(HERE, t.Target(), op("<", ref(i), i16(256)), body, step)
    made = lower(function("f", (), ty.VOID, let(i, i16(0)), loop), variables=(d, s))
    tiles = 256 * (_COMPLETION + 16 // 4)
    assert (_cycles(made) + tiles) / 4617 == pytest.approx(1, abs=0.01)


def test_a_map_whose_function_runs_a_tile_takes_11_cycles_per_tile() -> None:
    d, s = variable("d", ty.Array((64,), ty.F16)), variable("s", ty.Array((64,), ty.F16))
    kind = ty.DSD_TYPES["mem1d_dsd"]
    tiles = tuple(
        variable(f"tile_{v.name}", kind, Dsd(DsdKind.MEMORY, Address(v), (16,), (1,)))
        for v in (d, s)
    )
    x = local("x", ty.F16)
    to, source = (ref(tile) for tile in tiles)
    step = t.VectorOp(ty.VOID, HERE, Vector.FMACH, to, (to, source, _K), t.Behaviour())
    moved = [
        put(tile, t.DsdUpdate(kind, HERE, tile, DsdField.ADVANCE_2, i16(0)))
        for tile in (to, source)
    ]
    callback = function("callback", (x,), ty.VOID, t.Effect(HERE, step), *moved)
    walked = const(kind, Dsd(DsdKind.MEMORY, Address(s), (256,), (0,)))
    mapped = t.Effect(HERE, t.Map(ty.VOID, HERE, callback, (walked,), None))
    made = lower(function("f", (), ty.VOID, mapped), variables=(d, s, *tiles))
    elements = 256 * (_COMPLETION + 16 // 4)
    assert (_cycles(made) + elements) / 2840 == pytest.approx(1, abs=0.02)


def test_a_descriptor_that_is_used_twice_is_loaded_once() -> None:
    d, s = variable("d", ty.Array((16,), ty.F16)), variable("s", ty.Array((16,), ty.F16))

    def cost(operation: t.VectorOp) -> int:
        made = lower(function("f", (), ty.VOID, t.Effect(HERE, operation)), variables=(d, s))
        (row,) = [r for r in made.code.code.tolist() if r[0] & 255 == Op.DSD_OPERATE]
        return int(row[0] >> 16 & 255)

    assert (cost(_tile(d, s, 16)), cost(_in_place(d, s))) == (4, 3)


def test_short_arms_are_predicated_and_long_ones_branch() -> None:
    a, b = variable("a", ty.I16), variable("b", ty.I16)
    x = local("x", ty.I16)

    def cycles(value: int, *arm: t.Stmt) -> int:
        branch = t.If(HERE, op(">", ref(x), i16(0)), arm, ())
        made = lower(function("f", (x,), ty.VOID, branch), variables=(a, b))
        core = made.core()
        core.run(0, value)
        return core.cycles - _RETURN

    store = put(ref(a), ref(x))
    long = [put(ref(b), ref(x))] * 6
    # Comparison with a constant in a register 2, its wait 1, predicate 1, store 1.
    assert cycles(1, store) == 5
    # Branch 3 where it isn't taken, 6 where it is.
    assert cycles(1, *long) == 3 + 3 + 6
    assert cycles(-1, *long) == 3 + 6


def test_taking_words_of_a_wide_integer_is_free() -> None:
    wide, word = variable("wide", ty.U64), variable("word", ty.U16)
    shifted = op(">>", ref(wide), const(ty.U16, 32))
    part = t.Convert(ty.U16, HERE, shifted)
    made = lower(function("f", (), ty.VOID, put(ref(word), part)), variables=(wide, word))
    # The load, its wait, and the store.
    assert _cycles(made) == 1 + 3 + 1


@pytest.mark.parametrize(
    ("kind", "operator", "by", "more"),
    [
        # As a shift or a mask: the six cycles of the form above, and more instructions if signed.
        (ty.U16, "/", 8, 0),
        (ty.U16, "%", 8, 0),
        (ty.I16, "/", 8, 3),
        (ty.I16, "%", 8, 4),
        (ty.U16, "/", 1, 0),
        # Anything else is divided.
        (ty.U16, "/", 7, 49),
        (ty.I16, "%", -8, 49),
    ],
)
def test_dividing_by_a_known_power_of_two_takes_shifts(
    kind: ty.Type, operator: str, by: int, more: int
) -> None:
    a, c = variable("a", kind), variable("c", kind)
    made = lower(
        function("f", (), ty.VOID, put(ref(c), op(operator, ref(a), const(kind, by)))),
        variables=(a, c),
    )

    assert _cycles(made) == 6 + more
