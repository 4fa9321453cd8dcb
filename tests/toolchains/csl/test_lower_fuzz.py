"""Random integer expressions, lowered and run, against Python's integers cut to the types."""

from __future__ import annotations

import random

import pytest

from toolchains.csl import tree as t
from toolchains.csl import types as ty

from .lower_trees import HERE, const, function, give, local, lower, op, ref

_TYPES = (
    ty.I8,
    ty.U8,
    ty.I16,
    ty.U16,
    ty.I32,
    ty.U32,
    ty.I64,
    ty.U64,
    ty.Int(5, True),
    ty.Int(11, False),
)
_LOCALS = {kind: local(f"x_{kind}", kind) for kind in _TYPES}


def _cut(value: int, kind: ty.Int) -> int:
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value


def _make(
    kind: ty.Int, depth: int, chance: random.Random, values: dict[ty.Int, int]
) -> tuple[t.Expr, int]:
    """An expression of a type and its value."""
    choice = chance.randrange(8) if depth else chance.randrange(2)
    if choice == 0:
        value = _cut(chance.choice([0, 1, -1, chance.getrandbits(64)]), kind)
        return const(kind, value), value
    if choice == 1:
        return ref(_LOCALS[kind]), values[kind]
    if choice == 2:
        other = chance.choice(_TYPES)
        inner, value = _make(other, depth - 1, chance, values)
        return t.Convert(kind, HERE, inner), _cut(value, kind)
    if choice == 3:
        inner, value = _make(kind, depth - 1, chance, values)
        operator = chance.choice("-~")
        return t.Unary(kind, HERE, operator, inner), _cut(
            -value if operator == "-" else ~value, kind
        )
    if choice == 4:
        return _shift(kind, depth, chance, values)
    if choice == 5:
        return _select(kind, depth, chance, values)
    left, x = _make(kind, depth - 1, chance, values)
    right, y = _make(kind, depth - 1, chance, values)
    operator = chance.choice("+-*&|^")
    value = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[operator]
    return op(operator, left, right), _cut(value, kind)


def _shift(
    kind: ty.Int, depth: int, chance: random.Random, values: dict[ty.Int, int]
) -> tuple[t.Expr, int]:
    inner, value = _make(kind, depth - 1, chance, values)
    by = chance.randrange(kind.bits)
    operator = chance.choice(["<<", ">>"])
    shifted = value << by if operator == "<<" else value >> by
    return op(operator, inner, const(ty.U16, by)), _cut(shifted, kind)


def _select(
    kind: ty.Int, depth: int, chance: random.Random, values: dict[ty.Int, int]
) -> tuple[t.Expr, int]:
    other = chance.choice(_TYPES)
    left, x = _make(other, depth - 1, chance, values)
    right, y = _make(other, depth - 1, chance, values)
    operator = chance.choice(["<", "<=", ">", ">=", "==", "!="])
    holds = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}
    then, a = _make(kind, depth - 1, chance, values)
    otherwise, b = _make(kind, depth - 1, chance, values)
    chosen = t.Select(kind, HERE, op(operator, left, right), then, otherwise)
    return chosen, a if holds[operator] else b


@pytest.mark.parametrize("seed", range(40))
def test_expressions_give_what_integers_cut_to_their_types_give(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        values = {kind: _cut(chance.getrandbits(64), kind) for kind in _TYPES}
        kind = chance.choice(_TYPES)
        expression, expected = _make(kind, 5, chance, values)
        made = lower(function("f", tuple(_LOCALS.values()), kind, give(expression)))
        assert not made.reports.found
        assert made.call("f", *values.values()) == expected
