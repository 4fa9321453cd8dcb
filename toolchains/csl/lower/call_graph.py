"""Which function calls which: recursion, and how many registers all frames take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolchains.csl import tree, types
from toolchains.csl.source import Diagnostic, Note, Severity

from .frame import CallSite, Frame

_POINTER_ROUNDS = 8
"""Frames kept for each round of a cycle that pointers may close, which needn't happen."""


def check_recursion(
    frames: Mapping[tree.Function, Frame], addressed: set[tree.Function]
) -> list[Diagnostic]:
    """An error for each cycle of calls by name; a warning where a pointer may close one."""
    found: list[Diagnostic] = []
    done: set[tree.Function] = set()
    for function in frames:
        if function not in done:
            _visit(function, frames, addressed, [], done, found)
    return found


def _visit(
    function: tree.Function,
    frames: Mapping[tree.Function, Frame],
    addressed: set[tree.Function],
    path: list[tuple[tree.Function, bool]],
    done: set[tree.Function],
    found: list[Diagnostic],
) -> None:
    path.append((function, False))
    for reached in callees(frames[function], addressed):
        callee = reached.function
        names = [step for step, _ in path]
        path[-1] = (function, reached.by_pointer)
        if callee in names:
            found.append(_cycle(path[names.index(callee) :]))
        elif callee not in done and callee in frames:
            _visit(callee, frames, addressed, path, done, found)
    path.pop()
    done.add(function)


def _cycle(path: Sequence[tuple[tree.Function, bool]]) -> Diagnostic:
    names = [function.name for function, _ in path]
    chain = " → ".join(f"`{name}`" for name in [*names, names[0]])
    notes = tuple(Note(f"`{function.name}` is here", function.span) for function, _ in path[1:])
    hint = "use a loop, or a task that is activated again"
    if any(by_pointer for _, by_pointer in path):
        message = f"functions may call themselves through a pointer: {chain}"
        return Diagnostic(
            Severity.WARNING, "possible-recursion", message, path[0][0].span, hint, notes
        )
    message = f"a PE has no stack for recursion: {chain}"
    return Diagnostic(Severity.ERROR, "recursion", message, path[0][0].span, hint, notes)


@dataclass(frozen=True, eq=False)
class Callee:
    """A function that a call may reach."""

    function: tree.Function
    by_pointer: bool
    site: CallSite


def callees(frame: Frame, addressed: set[tree.Function]) -> list[Callee]:
    """Functions that a frame's code may call; pointers reach all of their type."""
    found: list[Callee] = []
    for site in frame.calls:
        if site.function is not None:
            found.append(Callee(site.function, False, site))
        elif site.pointer is not None:
            found += [
                Callee(candidate, True, site)
                for candidate in sorted(addressed, key=lambda other: other.name)
                if fits(candidate, site.pointer.type)
            ]
    return found


def check_maps(
    frames: Mapping[tree.Function, Frame], addressed: set[tree.Function]
) -> list[Diagnostic]:
    """Calls out of the function of an @map must not reach another @map: the cursors are taken."""
    found = []
    for frame in frames.values():
        for callee in callees(frame, addressed):
            inner = _map_below(callee.function, frames, addressed) if callee.site.mapped else None
            if inner is not None:
                message = f"the function of this @map calls `{inner.name}`, which uses @map too"
                hint = "write the inner one as a loop"
                span = callee.site.span
                found.append(Diagnostic(Severity.ERROR, "nested-map", message, span, hint))
    return found


def _map_below(
    start: tree.Function,
    frames: Mapping[tree.Function, Frame],
    addressed: set[tree.Function],
) -> tree.Function | None:
    seen, waiting = {start}, [start]
    while waiting:
        function = waiting.pop()
        frame = frames.get(function)
        if frame is None:
            continue
        if frame.maps:
            return function
        for callee in callees(frame, addressed):
            if callee.function not in seen:
                seen.add(callee.function)
                waiting.append(callee.function)
    return None


def fits(function: tree.Function, pointer: types.Type) -> bool:
    """Whether a pointer of this type may name it."""
    target = pointer.target if isinstance(pointer, types.Pointer) else pointer
    if not isinstance(target, types.Function):
        return True
    parameters = tuple(local.type for local in function.parameters)
    return target.parameters == parameters and target.result == function.result


def registers(frames: Mapping[tree.Function, Frame], addressed: set[tree.Function]) -> int:
    """That all frames need at once, at most."""
    needed: dict[tree.Function, int] = {}

    def depth(function: tree.Function, open_: frozenset[tree.Function]) -> int:
        frame = frames[function]
        most = max(frame.high, 1)
        for reached in callees(frame, addressed):
            callee = reached.function
            if callee in open_ or callee not in frames:
                most = max(most, frame.high * _POINTER_ROUNDS)
                continue
            if callee not in needed:
                needed[callee] = depth(callee, open_ | {callee})
            most = max(most, reached.site.base + needed[callee])
        return most

    return max((depth(function, frozenset({function})) for function in frames), default=1)
