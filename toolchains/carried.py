"""Which variables a loop carries from one step to the next, and in what way: read of its syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .places import LoopNode

_EXTREMES = {"max", "min", "maximum", "minimum", "fmax", "fmin"}


@dataclass(frozen=True)
class Carried:
    """The variables that a step reads as the step before left them, by how they come about."""

    chain: tuple[str, ...] = ()
    """Each value needs the value before: a position, a state, a running total."""
    last: tuple[str, ...] = ()
    """Only kept: an element of the input, or what was computed of it alone."""
    extreme: tuple[str, ...] = ()
    """A maximum or minimum."""
    steered: bool = False
    """A value of the chain decides how many steps there are, or where they read."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.chain, *self.last, *self.extreme)


def carried(loop: LoopNode) -> Carried:
    """What a loop carries; a counter that grows by the same number is not carried."""
    read = _Reads()
    if isinstance(loop, ast.For):
        read.target(loop.target)
    else:
        read.value(loop.test)
    read.body(loop.body)
    sources = _sources(loop.body)
    names = sorted(read.before & sources.keys() - _counters(loop.body))
    extreme = [n for n in names if _is_extreme(loop.body, n)]
    chain = [n for n in names if n not in extreme and _depends(n, sources)]
    last = [n for n in names if n not in extreme and n not in chain]
    return Carried(tuple(chain), tuple(last), tuple(extreme), _steers(loop, set(chain)))


class _Reads:
    """Walks statements in their order: which names are read before they are surely assigned."""

    def __init__(self) -> None:
        self.before: set[str] = set()
        self._assigned: set[str] = set()

    def value(self, node: ast.AST | None) -> None:
        if node is not None:
            self.before |= _names(node) - self._assigned

    def target(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self._assigned.add(part.id)
        self.before |= _names(node) - self._assigned

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                self.value(node.value)
                for target in node.targets:
                    self.target(target)
            case ast.AugAssign():
                self.value(node.value)
                if isinstance(node.target, ast.Name):
                    self.before |= {node.target.id} - self._assigned
                self.target(node.target)
            case ast.If():
                self.value(node.test)
                self._branches(node.body, node.orelse)
            case ast.For():
                self.value(node.iter)
                entered = set(self._assigned)
                self.target(node.target)
                self.body(node.body)
                self._assigned = entered
            case ast.While():
                self.value(node.test)
                entered = set(self._assigned)
                self.body(node.body)
                self._assigned = entered
            case _:
                self.value(node)

    def _branches(self, first: Sequence[ast.stmt], second: Sequence[ast.stmt]) -> None:
        entered = set(self._assigned)
        self.body(first)
        one, self._assigned = self._assigned, set(entered)
        self.body(second)
        self._assigned &= one


def _names(node: ast.AST) -> set[str]:
    """Names that are read."""
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _sources(body: Sequence[ast.stmt]) -> dict[str, set[str]]:
    """Assigned name → names that its values are computed of."""
    found: dict[str, set[str]] = {}
    for node in (node for statement in body for node in ast.walk(statement)):
        match node:
            case ast.Assign():
                targets: Sequence[ast.AST] = node.targets
            case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
                targets = [node.target]
            case ast.For():
                targets = [node.target]
            case _:
                continue
        value = node.iter if isinstance(node, ast.For) else node.value
        of = _names(value) if value is not None else set()
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                own = {part.id} if isinstance(node, ast.AugAssign) else set()
                found.setdefault(part.id, set()).update(of | own)
    return found


def _depends(name: str, sources: dict[str, set[str]]) -> bool:
    """Whether its values are computed of its own, by way of others or not."""
    seen: set[str] = set()
    pending = list(sources[name])
    while pending:
        other = pending.pop()
        if other == name:
            return True
        if other not in seen:
            seen.add(other)
            pending += sources.get(other, ())
    return False


def _counters(body: Sequence[ast.stmt]) -> set[str]:
    """Names that are only ever changed by what no step changes, once a step."""
    changed = set(_sources(body))
    assigned: dict[str, list[bool]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.setdefault(node.id, []).append(False)
        match statement:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant() | ast.Name() as by):
                assigned[name][-1] = not _names(by) & changed
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Attribute() as by):
                assigned[name][-1] = not _names(by) & changed
    return {name for name, constant in assigned.items() if constant == [True]}


def _is_extreme(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether it is only assigned max(name, ...), or by a comparison with it."""
    hits = []
    for node in (node for statement in body for node in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Call() as call) if one == name:
                function = getattr(call.func, "id", getattr(call.func, "attr", ""))
                hits.append(function in _EXTREMES and name in _names(call))
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.IfExp() as choice) if one == name:
                hits.append(name in _names(choice.test) and name in _names(choice))
            case ast.If(test=ast.Compare() as test, body=[ast.Assign(targets=[ast.Name(id=one)])]):
                if one == name and name in _names(test):
                    hits.append(True)
    stores = sum(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
        for statement in body
        for node in ast.walk(statement)
    )
    return bool(hits) and all(hits) and len(hits) == stores


def _steers(loop: LoopNode, chain: set[str]) -> bool:
    if isinstance(loop, ast.While) and _names(loop.test) & chain:
        return True
    return any(
        bool(_names(node.slice) & chain)
        for statement in loop.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript)
    )
