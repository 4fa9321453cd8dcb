"""Operations of one task that are live at once and need the same queue or microthread.

A task runs to its end before any other, so what it started cannot have been noticed to be done: two
asynchronous operations, one after the other, are live at once unless the first is very short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolchains.csl import tree
from toolchains.csl.source import Diagnostic, Note, Severity

from .operands import Operands, Stream
from .trees import parts
from .wafer import Traffic

Live = tuple[Stream, ...]
_DEEPEST = 20
"""Calls in each other that are followed."""


@dataclass(eq=False)
class _Walk:
    """One task or launched function, its operations in the order in which they begin."""

    operands: Operands
    busy: frozenset[tree.Function]
    found: dict[tuple[int, int, str], tuple[Stream, Stream, str]] = field(default_factory=dict)
    depth: int = 0

    def body(self, statements: Sequence[tree.Stmt], live: Live) -> Live | None:
        """What is certainly live after statements; None if they leave."""
        for statement in statements:
            after = self.statement(statement, live)
            if after is None:
                return None
            live = after
        return live

    def statement(self, node: tree.Stmt, live: Live) -> Live | None:
        match node:
            case tree.If():
                live = self.expression(node.condition, live)
                return _both(self.body(node.then, live), self.body(node.otherwise, live))
            case tree.Switch():
                live = self.expression(node.scrutinee, live)
                ends = [self.body(body, live) for _, body in node.cases]
                ends.append(self.body(node.otherwise, live))
                return _all(ends)
            case tree.Count():
                return self._count(node, live)
            case tree.Loop():
                if node.condition is not None:
                    live = self.expression(node.condition, live)
                self.body((*node.body, *node.step), live)
                return live
            case tree.Scope():
                end = self.body(node.body, live)
                return live if node.target is not None and node.target.broken else end
            case tree.Return() | tree.Break() | tree.Continue():
                self.parts(node, live)
                return None
            case _:
                return self.parts(node, live)

    def _count(self, node: tree.Count, live: Live) -> Live:
        """A loop; what it leaves live is known only if it certainly runs and isn't left."""
        rounds = _rounds(node)
        if rounds == 0:
            return live
        end = self.body(node.body, live)
        if rounds is None or end is None or node.target.broken:
            return live
        if rounds > 1:
            self.body(node.body, end)
        return end

    def parts(self, node: tree.Stmt | tree.Expr, live: Live) -> Live:
        for part in parts(node):
            if isinstance(part, tree.Expr):
                live = self.expression(part, live)
        return live

    def expression(self, node: tree.Expr, live: Live) -> Live:
        match node:
            case tree.Logical():
                after = self.expression(node.left, live)
                self.expression(node.right, after)
                return after
            case tree.Select():
                live = self.expression(node.condition, live)
                self.expression(node.then, live)
                self.expression(node.otherwise, live)
                return live
            case tree.BlockValue():
                end = self.body(node.body, live)
                return live if end is None or node.target.broken else end
            case tree.Call():
                return self._call(node, self.parts(node, live))
            case tree.VectorOp():
                return self._operation(node, self.parts(node, live))
            case _:
                return self.parts(node, live)

    def _call(self, node: tree.Call, live: Live) -> Live:
        if self.depth >= _DEEPEST or node.function not in self.busy:
            return live
        self.depth += 1
        end = self.body(node.function.body, live)
        self.depth -= 1
        return live if end is None else end

    def _operation(self, node: tree.VectorOp, live: Live) -> Live:
        stream = self.operands.stream(node)
        if stream is None:
            return live
        for earlier in live:
            what = _shared(earlier, stream)
            if what:
                key = (earlier.node.span.start, node.span.start, what)
                self.found.setdefault(key, (earlier, stream, what))
        return (*live, stream) if stream.asynchronous else live


def _both(one: Live | None, other: Live | None) -> Live | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(stream for stream in one if stream in other)


def _all(ends: Sequence[Live | None]) -> Live | None:
    result: Live | None = None
    for end in ends:
        result = _both(result, end)
    return result


def _rounds(node: tree.Count) -> int | None:
    """How often a loop runs; None: not known."""
    start, stop = node.start, node.stop
    if not isinstance(start, tree.Constant) or not isinstance(stop, tree.Constant):
        return None
    first, last = start.value.data, stop.value.data
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    return len(range(first, last, node.step))


def _shared(earlier: Stream, later: Stream) -> str:
    """What two operations both need; empty if nothing, or if nothing is certain."""
    if later.asynchronous and earlier.microthread == later.microthread >= 0:
        return f"microthread {later.microthread}"
    if earlier.output and later.output and earlier.output.queue == later.output.queue:
        return f"output_queue {later.output.queue}"
    for one in earlier.inputs:
        for other in later.inputs:
            if one.queue == other.queue:
                return f"input_queue {one.queue}"
    return ""


def check_overlaps(traffic: Traffic) -> Iterator[Diagnostic]:
    """Operations that need what one before them in the same task still has."""
    tile = traffic.tile
    if not any(stream.asynchronous for stream in traffic.streams):
        return
    exported = [one.function for one in tile.exports if one.function is not None]
    roots = dict.fromkeys([*(one.function for one in tile.bindings), *exported])
    for root in roots:
        walk = _Walk(traffic.operands, traffic.busy)
        walk.body(root.body, ())
        for earlier, later, what in walk.found.values():
            yield _overlap(root, earlier, later, what)


def _overlap(root: tree.Function, earlier: Stream, later: Stream, what: str) -> Diagnostic:
    same = earlier.node is later.node
    which = "its own earlier round" if same else f"the asynchronous {earlier.name} before it"
    verb = "needs" if later.asynchronous else "waits in its task for"
    message = f"{later.name} {verb} {what}, which {which} still has in `{root.name}`"
    hint = "start it in the task that the first one activates at its end"
    if later.asynchronous:
        hint += ", or give it another queue"
    notes = () if same else (Note("the first one starts here", earlier.node.span),)
    return Diagnostic(Severity.WARNING, "overlap", message, later.node.span, hint, notes)
