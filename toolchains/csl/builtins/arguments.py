"""Arguments of builtins: known numbers and texts, and the fields of configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Context, Evaluator, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import Note, Span, error
from toolchains.csl.types import COMPTIME_INT, COMPTIME_STRING, VOID, Int, Type
from toolchains.csl.values import DIRECTIONS, FunctionValue, Known

ANYWHERE = frozenset(Context)
LAYOUT = frozenset({Context.LAYOUT})
BLOCK = frozenset({Context.COMPTIME_BLOCK})
RUNTIME = frozenset({Context.RUNTIME})
BLOCK_OR_RUNTIME = BLOCK | RUNTIME
NOTHING = Known(VOID, None)


@dataclass(frozen=True, eq=False)
class Field:
    """A field of a configuration."""

    value: Known
    span: Span


def is_integer(kind: Type) -> bool:
    """`i16`, …, `comptime_int`."""
    return isinstance(kind, Int) or kind == COMPTIME_INT


def wrap(value: int, kind: Int) -> int:
    """The number that the low bits are."""
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) & 1 else value


def number(value: Known, span: Span, what: str) -> int:
    """A known integer."""
    if not is_integer(value.type):
        raise error(span, "type-mismatch", f"{what} is an integer, not a `{value.type}`")
    assert isinstance(value.data, int)
    return value.data


def known_int(ev: Evaluator, node: nodes.Expr, at: Site, what: str, most: int = 1 << 62) -> int:
    """A known integer from 0 to `most`."""
    value = number(ev.known(node, at), node.span, what)
    return within(value, most, node.span, what)


def within(value: int, most: int, span: Span, what: str) -> int:
    """The value, if it is from 0 to `most`."""
    if 0 <= value <= most:
        return value
    limit = "not negative" if value < 0 and most >= 1 << 62 else f"from 0 to {most}"
    raise error(span, "out-of-range", f"{what} is {limit}, not {value}")


def text(ev: Evaluator, node: nodes.Expr, at: Site, what: str) -> bytes:
    """A known string."""
    value = ev.known(node, at)
    if value.type != COMPTIME_STRING or not isinstance(value.data, bytes):
        raise error(node.span, "type-mismatch", f"{what} is a string, not a `{value.type}`")
    return value.data


def type_argument(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> Type:
    """The first argument, a type."""
    return ev.type(node.arguments[0], at)


def fields(ev: Evaluator, node: nodes.Expr, at: Site, what: str) -> dict[str, Field]:
    """The fields of a configuration, given as a literal or as any known struct."""
    return fields_of(ev.known(node, at), node, what)


def fields_of(value: Known, node: nodes.Expr, what: str) -> dict[str, Field]:
    """The fields of what a node was found to be."""
    spans: dict[str, Span] = {}
    if isinstance(node, nodes.StructLiteral):
        spans = {one.name: one.value.span for one in node.fields}
    return parts(Field(value, node.span), what, spans)


def parts(one: Field, what: str, spans: Mapping[str, Span] | None = None) -> dict[str, Field]:
    """The fields of a known struct."""
    kind, data = one.value.type, one.value.data
    if kind in (types.Tuple(()), VOID):
        return {}
    if not isinstance(kind, types.Anonymous | types.Struct) or not isinstance(data, tuple):
        message = f"{what} is a struct, such as .{{ .name = value }}, not a `{kind}`"
        raise error(one.span, "type-mismatch", message)
    return {
        name: Field(Known(part, content), (spans or {}).get(name, one.span))
        for (name, part), content in zip(kind.fields, data, strict=True)
    }


def only(
    found: Iterable[str], allowed: Iterable[str], what: str, where: Mapping[str, Field]
) -> None:
    """Error unless every field is one of those allowed."""
    names = list(allowed)
    for name in found:
        if name not in names:
            hint = suggestion(name, names) or f"its fields: {', '.join(names)}"
            raise error(where[name].span, "unknown-field", f"{what} has no field `{name}`", hint)


def flag(one: Field, what: str) -> bool:
    """A bool."""
    if one.value.type != types.BOOL:
        message = f"{what} is a bool, not a `{one.value.type}`"
        raise error(one.span, "type-mismatch", message)
    return bool(one.value.data)


def choice(one: Field, names: Iterable[str], what: str) -> str:
    """The name in a struct with one field that is true, such as `.{ .always_pop = true }`."""
    allowed = list(names)
    found = parts(one, what)
    only(found, allowed, what, found)
    chosen = [name for name, part in found.items() if flag(part, f".{name}")]
    if len(chosen) != 1:
        message = f"{what} has exactly one field that is true"
        hint = f"such as .{{ .{allowed[0]} = true }}; its fields: {', '.join(allowed)}"
        raise error(one.span, "bad-choice", message, hint)
    return chosen[0]


def directions(one: Field, what: str) -> list[int]:
    """One direction, or a tuple or array of different ones."""
    kind, data = one.value.type, one.value.data
    listed: list[Any]
    if kind == types.DIRECTION:
        listed = [data]
    elif (
        isinstance(kind, types.Tuple) and all(item == types.DIRECTION for item in kind.items)
    ) or (isinstance(kind, types.Array) and kind.element == types.DIRECTION):
        listed = list(data)  # type: ignore[call-overload]
    else:
        message = f"{what} is a direction or several, not a `{kind}`"
        raise error(one.span, "type-mismatch", message, "such as .{ EAST, RAMP }")
    for position, direction in enumerate(listed):
        if direction in listed[:position]:
            message = f"{what} names {DIRECTIONS[direction]} twice"
            raise error(one.span, "duplicate-direction", message)
    return listed


def function(
    ev: Evaluator, node: nodes.Expr, at: Site, what: str
) -> tuple[FunctionValue, types.Function]:
    """A function or task."""
    value = ev.known(node, at)
    kind = value.type
    if isinstance(kind, types.Pointer):
        kind = kind.target
    if not isinstance(kind, types.Function) or not isinstance(value.data, FunctionValue):
        raise error(node.span, "type-mismatch", f"{what} has to stand here, not a `{value.type}`")
    return value.data, kind


def first(span: Span) -> tuple[Note, ...]:
    """A note at the first of two."""
    return (Note("first here", span),)
