"""Builtins of strings, which exist only while compiling."""

from __future__ import annotations

from toolchains.csl import nodes
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Site
from toolchains.csl.types import COMPTIME_INT, COMPTIME_STRING, U8, Array, Type
from toolchains.csl.values import Known

from .arguments import ANYWHERE, known_int, text
from .arrays import array_data


def _strcat(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@strcat("a", "b", …)."""
    joined = b"".join(text(ev, one, at, "a part of @strcat") for one in node.arguments)
    return Known(COMPTIME_STRING, joined)


def _strlen(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@strlen("text"), in bytes."""
    return Known(COMPTIME_INT, len(text(ev, node.arguments[0], at, "the argument")))


def _get_array(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_array("text"): its bytes."""
    content = text(ev, node.arguments[0], at, "the argument")
    kind = Array((len(content),), U8)
    return Known(kind, array_data(kind, list(content)))


def _get_string_from_byte(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_string_from_byte(65)."""
    return Known(COMPTIME_STRING, bytes([known_int(ev, node.arguments[0], at, "a byte", 255)]))


STRINGS: dict[str, Builtin] = {
    "@strcat": Builtin(_strcat, ANYWHERE, (1, -1)),
    "@strlen": Builtin(_strlen, ANYWHERE, (1, 1)),
    "@get_array": Builtin(_get_array, ANYWHERE, (1, 1)),
    "@get_string_from_byte": Builtin(_get_string_from_byte, ANYWHERE, (1, 1)),
}
