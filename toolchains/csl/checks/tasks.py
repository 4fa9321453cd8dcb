"""Task ids that code names and nothing is bound to."""

from __future__ import annotations

from collections.abc import Iterator

from simulators.wafer.program import TaskKind
from toolchains.csl import types
from toolchains.csl.source import Diagnostic, Severity, Span
from toolchains.csl.tile import Tile

from .starts import Target, targets
from .trees import Code


def check_targets(tile: Tile, code: Code) -> Iterator[Diagnostic]:
    """Activations, and ends of operations and of FIFOs, of which no task knows."""
    for node in code.all():
        for target in targets(node):
            if target.id is not None and target.task is None:
                yield from _check(tile, target)
    for number, span in tile.active:
        yield from _check(tile, Target("activate", number, None, None, span))
    for fifo in tile.fifos:
        used = fifo.value.number in tile.used_fifos
        for number in (fifo.activate_push, fifo.activate_pop) if used else ():
            if number >= 0:
                yield from _check(tile, Target("activate", number, None, None, fifo.span))


def _check(tile: Tile, target: Target) -> Iterator[Diagnostic]:
    bound = [one for one in tile.bindings if one.id == target.id]
    if target.operation == "activate" and any(one.kind is TaskKind.LOCAL for one in bound):
        return
    if target.operation == "unblock" and (bound or target.kind != types.LOCAL_TASK_ID):
        # What unblocks a queue or colour may let an operation go on that needs no task.
        return
    if bound:
        message = f"task id {target.id} is a {bound[0].kind} task's, which nothing activates"
        yield _warning(message, target.span, "local tasks are activated")
        return
    message = f"no task is bound to id {target.id}, so this {target.operation}s nothing"
    hint = f"@bind_local_task(…, @get_local_task_id({target.id})) in a comptime block"
    yield _warning(message, target.span, f"{hint}; {_bound(tile)}")


def _bound(tile: Tile) -> str:
    names = [
        f"{one.id} (`{one.value.node.name}`)"
        for one in sorted(tile.bindings, key=lambda one: one.id)
        if one.kind is TaskKind.LOCAL
    ]
    return f"bound here: {', '.join(names) or 'none'}"


def _warning(message: str, span: Span, hint: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, "unbound-task", message, span, hint)
