"""The host's next command: what a launched function starts has to let it pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulators.wafer.program import TaskKind
from toolchains.csl import tree
from toolchains.csl.source import Diagnostic, Note, Severity, Span
from toolchains.csl.tile import Tile

from .starts import Graph, Start, starts, unblocks_commands
from .trees import Code, Node, everything

_HINT = "call unblock_cmd_stream() of <memcpy/memcpy> where its work ends"
_LEAVES = (tree.Return, tree.Break, tree.Continue)


def check_commands(tile: Tile, code: Code, graph: Graph) -> Iterator[Diagnostic]:
    """Functions that the host launches, whose PE then never lets its next command pass."""
    if any(function in graph.passing for function in _by_themselves(tile)):
        return
    for export in tile.exports:
        function = export.function
        if function is None or function not in code.nodes:
            continue
        if function not in graph.passing:
            yield _never(function, graph)
        else:
            yield from _ways(tile, function, graph)


def _by_themselves(tile: Tile) -> Iterator[tree.Function]:
    """What runs without the launched function's doing: on data, commands, at the start."""
    started = {number for number, _ in (*tile.active, *tile.unblocked)}
    for binding in tile.bindings:
        if binding.kind is not TaskKind.LOCAL or binding.id in started:
            yield binding.function
    yield from tile.teardown_handlers.values()
    yield from tile.empty_handlers.values()


def _never(function: tree.Function, graph: Graph) -> Diagnostic:
    way = _longest(function, graph)
    names = " → ".join(f"`{one}`" for one in (function.name, *(s.function.name for s in way)))
    after = "it" if not way else f"the path {names}"
    message = f"`{function.name}` never reaches unblock_cmd_stream: {after} ends without it"
    notes = tuple(
        Note(f"`{before.name}` {start.how} `{start.function.name}` here", start.span)
        for before, start in zip((function, *(s.function for s in way)), way, strict=False)
    )
    message += ", and the host's next command waits for ever"
    return _warning("no-unblock", message, function.span, notes)


def _longest(function: tree.Function, graph: Graph) -> list[Start]:
    """A way to the function that is last reached; breadth first."""
    came: dict[tree.Function, Start] = {}
    before: dict[tree.Function, tree.Function] = {}
    waiting = [function]
    for one in waiting:
        for start in graph.onward.get(one, ()):
            if start.function not in before and start.function is not function:
                came[start.function], before[start.function] = start, one
                waiting.append(start.function)
    way: list[Start] = []
    last = waiting[-1]
    while last is not function:
        way.insert(0, came[last])
        last = before[last]
    return way


# --- ways through the launched function ----------------------------------------------------------


def _ways(tile: Tile, function: tree.Function, graph: Graph) -> Iterator[Diagnostic]:
    """A way through the function itself on which nothing that it starts gets there."""
    end = _Ways(tile, graph).end(function.body)
    if end is not None:
        span, which = end
        message = (
            f"`{function.name}` can end without unblock_cmd_stream: nothing gets there where"
            f" {which}, and the host's next command waits for ever"
        )
        notes = (Note(f"`{function.name}` is launched by the host", function.span),)
        yield _warning("no-unblock", message, span, notes)


class _Ways:
    """Search for a way to the end of a body on which nothing leads to unblock_cmd_stream."""

    def __init__(self, tile: Tile, graph: Graph) -> None:
        self.tile = tile
        self.graph = graph

    def end(self, body: tuple[tree.Stmt, ...]) -> tuple[Span, str] | None:
        """The choice that lets it happen; None if every way gets there.

        The body as a whole may get there, so a way that doesn't lies in one of its choices.
        """
        found: tuple[Span, str] | None = None
        for statement in body:
            if not self._passes(everything((statement,))):
                if any(isinstance(one, _LEAVES) for one in everything((statement,))):
                    return (statement.span, "this leaves it")
                continue
            missing = self._missing(statement)
            if missing is None:
                return None
            found = missing
        return found

    def _missing(self, statement: tree.Stmt) -> tuple[Span, str] | None:
        """Where a statement that may get there may also not; loops are taken to do their work."""
        match statement:
            case tree.If():
                return self._arm(statement, statement.then, "this is true") or self._arm(
                    statement, statement.otherwise, "this is false"
                )
            case tree.Scope():
                return self.end(statement.body)
            case _:
                return None

    def _arm(
        self, node: tree.If, body: tuple[tree.Stmt, ...], which: str
    ) -> tuple[Span, str] | None:
        if not self._passes(everything(body)):
            return node.condition.span, which
        return self.end(body)

    def _passes(self, nodes: Iterable[Node]) -> bool:
        for node in nodes:
            if unblocks_commands(node):
                return True
            if self.graph.passes(list(starts(self.tile, node, []))):
                return True
            if isinstance(node, tree.CallPointer):
                return True
        return False


def _warning(code: str, message: str, span: Span, notes: tuple[Note, ...]) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, span, _HINT, notes)
