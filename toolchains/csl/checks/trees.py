"""Walks over the typed tree: parts of expressions and statements, and what code may start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache

from toolchains.csl import tree

Node = tree.Expr | tree.Stmt | tree.Behaviour | tree.TaskTarget


_NOT_CODE = frozenset(
    ("type", "span", "local", "variable", "operator", "function", "dsr", "kind", "vector")
)
"""Fields that never hold code, left out for speed: trees of large programs are walked."""


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.name not in _NOT_CODE)


def parts(node: Node) -> Iterator[Node]:
    """Expressions and statements directly in a node, in their order."""
    for name in _names(type(node)):  # type: ignore[arg-type]
        yield from _listed(getattr(node, name))


def _listed(content: object) -> Iterator[Node]:
    if isinstance(content, tuple):
        for one in content:
            yield from _listed(one)
    elif isinstance(content, _CODE):
        yield content  # type: ignore[misc]


_CODE: tuple[type, ...] = tuple(
    kind
    for kind in vars(tree).values()
    if isinstance(kind, type)
    and is_dataclass(kind)
    and kind not in (tree.Local, tree.Function, tree.Target)
    and kind.__module__ == tree.__name__
)


def everything(body: tuple[tree.Stmt, ...]) -> Iterator[Node]:
    """All nodes of a body, a node before its parts."""
    waiting: list[Node] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(parts(node))))


@dataclass(frozen=True, eq=False)
class Code:
    """The nodes of a tile's functions, found once for all checks."""

    nodes: dict[tree.Function, tuple[Node, ...]]

    def all(self) -> Iterator[Node]:
        """Those of every function."""
        for found in self.nodes.values():
            yield from found


def code_of(functions: list[tree.Function]) -> Code:
    """The nodes of functions."""
    return Code({one: tuple(everything(one.body)) for one in functions})
