"""Typed trees as short text, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolchains.csl import tree


def listed(nodes: Iterable[Any]) -> str:
    return ", ".join(map(expr, nodes))


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    tree.Constant: lambda n: f"{data(n.value.data)}:{n.type}",
    tree.LocalRef: lambda n: str(n.local.name),
    tree.GlobalRef: lambda n: f"@{n.variable.name}",
    tree.Element: lambda n: f"{expr(n.base)}[{listed(n.indices)}]",
    tree.FieldOf: lambda n: f"{expr(n.base)}.{n.index}",
    tree.Deref: lambda n: f"{expr(n.pointer)}.*",
    tree.AddressOf: lambda n: f"&{expr(n.place)}",
    tree.Unary: lambda n: f"{n.operator}{expr(n.operand)}",
    tree.Binary: lambda n: f"({expr(n.left)} {n.operator} {expr(n.right)})",
    tree.Logical: lambda n: f"({expr(n.left)} {n.operator} {expr(n.right)})",
    tree.Convert: lambda n: f"convert<{n.type}>({expr(n.operand)})",
    tree.Bitcast: lambda n: f"bitcast<{n.type}>({expr(n.operand)})",
    tree.Call: lambda n: f"{n.function.name}({listed(n.arguments)})",
    tree.CallPointer: lambda n: f"({expr(n.pointer)})({listed(n.arguments)})",
    tree.FunctionAddress: lambda n: f"&{n.function.name}",
    tree.Select: lambda n: f"({expr(n.condition)} ? {expr(n.then)} : {expr(n.otherwise)})",
    tree.BlockValue: lambda n: block(n.body),
    tree.Aggregate: lambda n: f"{{{listed(n.parts)}}}:{n.type}",
}


def expr(node: Any) -> str:
    """An expression: globals with an @, constants with their type."""
    write = _EXPRESSIONS.get(type(node))
    return write(node) if write else type(node).__name__


def data(value: Any) -> str:
    if hasattr(value, "variable"):
        return f"&{value.variable.name}+{value.offset}"
    if hasattr(value, "tolist"):
        return str(value.tolist())
    return str(value) if isinstance(value, int | float | tuple | bytes | bool) else "…"


def plain(value: Any) -> object:
    """Data as Python compares it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def given(value: Any) -> str:
    return "" if value is None else f" {expr(value)}"


def count(node: tree.Count) -> str:
    ends = f"{expr(node.start)}, {expr(node.stop)}, {node.step}"
    place = f", {node.position.name}" if node.position else ""
    return f"count {node.local.name}{place} ({ends}) {block(node.body)}"


def switch(node: tree.Switch) -> str:
    cases = " ".join(f"{numbers} {block(body)}" for numbers, body in node.cases)
    return f"switch {expr(node.scrutinee)} {cases} else {block(node.otherwise)}"


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    tree.Declare: lambda n: (
        f"{n.local.name}: {n.local.type}{' =' if n.value else ''}{given(n.value)};"
    ),
    tree.Assign: lambda n: f"{expr(n.place)} = {expr(n.value)};",
    tree.Effect: lambda n: f"{expr(n.value)};",
    tree.If: lambda n: f"if {expr(n.condition)} {block(n.then)} else {block(n.otherwise)}",
    tree.Loop: lambda n: f"loop{given(n.condition)} {block(n.body)} then {block(n.step)}",
    tree.Count: count,
    tree.Switch: switch,
    tree.Scope: lambda n: block(n.body),
    tree.Break: lambda n: f"break{given(n.value)};",
    tree.Return: lambda n: f"return{given(n.value)};",
    tree.Continue: lambda _: "continue;",
}


def statements(body: Iterable[Any]) -> list[str]:
    return [_STATEMENTS[type(one)](one) for one in body]


def block(body: Iterable[Any]) -> str:
    return "{ " + " ".join(statements(body)) + " }"
