"""What tests of the parser share."""

from __future__ import annotations

import dataclasses
from typing import Any

from toolchains.csl.nodes import Expr, Module, Stmt
from toolchains.csl.parser import parse
from toolchains.csl.source import Diagnostic, Source, Span


def read(text: str, dialect: str = "1.4") -> tuple[Module, tuple[Diagnostic, ...]]:
    """The module of a text and what is said of it."""
    module, found = parse(Source("test.csl", "", text), dialect)
    assert module is not None
    return module, found


def clean(text: str, dialect: str = "1.4") -> Module:
    """The module of a text without mistakes."""
    module, found = read(text, dialect)
    assert not found, "\n".join(map(str, found))
    return module


def said(text: str, dialect: str = "1.4") -> list[str]:
    """Every diagnostic as `line:column code: message`."""
    found = read(text, dialect)[1]
    return [brief(one) for one in found]


def brief(one: Diagnostic) -> str:
    """A diagnostic as `line:column code: message`, with its hint behind `=>`."""
    place = f"{one.span.line}:{one.span.column} " if one.span else ""
    return f"{place}{one.code}: {one.message}" + (f" => {one.hint}" if one.hint else "")


def shape(node: Any) -> Any:
    """A tree without its spans, to be compared."""
    if dataclasses.is_dataclass(node):
        fields = ((f.name, getattr(node, f.name)) for f in dataclasses.fields(node))
        return (
            type(node).__name__,
            *(shape(v) for k, v in fields if not k.endswith(("span", "spans"))),
        )
    if isinstance(node, tuple):
        return tuple(shape(one) for one in node)
    assert not isinstance(node, Span)
    return node


def body(text: str, dialect: str = "1.4") -> tuple[Stmt, ...]:
    """The statements of a function's body."""
    (item,) = clean(f"fn f() void {{ {text} }}", dialect).items
    block = getattr(item, "body", None)
    assert block is not None
    statements: tuple[Stmt, ...] = block.statements
    return statements


def value(text: str, dialect: str = "1.4") -> Expr:
    """An expression."""
    (item,) = clean(f"const x = {text};", dialect).items
    node: Expr = item.value  # type: ignore[union-attr, assignment]
    return node
