"""Whether what a function gives while compiling follows from its arguments alone.

Layouts call small functions for every PE with the few values that their arguments have: the colour
of an odd column, the neighbour of a border. Such a call is run once for each value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from toolchains.csl import nodes
from toolchains.csl.values import FunctionValue

from .names import Engine, Instance

_PLAIN = (
    nodes.IntLiteral, nodes.BoolLiteral, nodes.StringLiteral, nodes.VoidLiteral, nodes.Unary,
    nodes.Binary, nodes.Comptime, nodes.IfExpr, nodes.SwitchExpr, nodes.Case, nodes.Block,
    nodes.ExprStmt, nodes.If, nodes.For, nodes.While, nodes.Return, nodes.Break, nodes.Continue,
    nodes.LocalDecl, nodes.StructLiteral, nodes.FieldValue, nodes.TupleLiteral,
)  # fmt: skip
"""What does no more than its parts."""
_BUILTINS = frozenset(
    {"@as", "@bitcast", "@get_color", "@is_arch", "@is_same_type", "@range", "@type_of"}
)
"""Those that only look at their arguments."""


def pure(ev: Engine, value: FunctionValue) -> bool:
    """`is_pure` of a function, looked at once."""
    known = ev.pure.get(value)
    if known is None:
        assert isinstance(value.instance, Instance)
        known = ev.pure[value] = is_pure(value.node, value.instance)
    return known


def is_pure(declaration: nodes.FunctionDecl, instance: Instance) -> bool:
    """Whether a function reads and changes nothing but its arguments and constants."""
    return _Search(instance).pure(declaration)


class _Search:
    """Through a function and those that it calls."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._seen: set[str] = set()
        """Functions that were looked at: one that calls itself is as pure as its other parts."""

    def pure(self, declaration: nodes.FunctionDecl) -> bool:
        self._seen.add(declaration.name)
        body = declaration.body
        if body is None:
            return False
        own = {one.name for one in declaration.formals} | set(_declared(body))
        return self._plain(body, own)

    def _plain(self, node: object, own: set[str]) -> bool:
        if isinstance(node, nodes.Name):
            return node.name in own or self._constant(node.name)
        if isinstance(node, nodes.Assign):
            target = node.target
            return (
                isinstance(target, nodes.Name)
                and target.name in own
                and self._plain(node.value, own)
            )
        if isinstance(node, nodes.Call):
            called = node.function
            inside = isinstance(called, nodes.Name) and called.name not in own
            return inside and all(self._plain(one, own) for one in (called, *node.arguments))
        if isinstance(node, nodes.BuiltinCall):
            return node.name in _BUILTINS and all(self._plain(one, own) for one in node.arguments)
        return isinstance(node, _PLAIN) and all(self._plain(one, own) for one in _parts(node))

    def _constant(self, name: str) -> bool:
        slot = self._instance.slots.get(name)
        if slot is None:
            # One of the language: a type, a direction.
            return True
        if isinstance(slot.node, nodes.FunctionDecl):
            return name in self._seen or self.pure(slot.node)
        return isinstance(slot.node, nodes.Param) or not slot.node.mutable


def _parts(node: object) -> Iterator[object]:
    """Nodes within a node."""
    for field in fields(node):  # type: ignore[arg-type]
        held = getattr(node, field.name)
        for one in held if isinstance(held, tuple) else (held,):
            if isinstance(one, nodes.Node | nodes.Case | nodes.FieldValue):
                yield one


def _declared(node: object) -> Iterator[str]:
    """Names that a body declares, wherever."""
    if isinstance(node, nodes.LocalDecl):
        yield node.name
    if isinstance(node, nodes.For):
        yield from (node.variable, node.position)
    for one in _parts(node):
        yield from _declared(one)
