"""Where the loops, functions and calls of a submission stand in its source: read of its syntax."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from kernels.records import Submission

Spot = tuple[str, int]
"""A file and a line."""
LoopNode = ast.For | ast.While


@dataclass(frozen=True)
class Place:
    """A loop, or as a place of depth 0 a function, or a line outside both."""

    file: str
    line: int
    end: int
    depth: int
    function: str
    source: str
    node: LoopNode | None = None

    @property
    def spot(self) -> Spot:
        """Where it begins."""
        return self.file, self.line


@dataclass(frozen=True)
class _Site:
    """A call in the source."""

    caller: str
    callee: str
    spot: Spot


class Places:
    """All that stand in one submission."""

    def __init__(self, submission: Submission) -> None:
        self._files = submission.files
        self.all = tuple(p for file in submission.files for p in self._of(file))

    def of(self, file: str, line: int) -> Place:
        """The innermost loop around a line; a line outside any is an array expression."""
        inner = self._innermost(file, line)
        if inner is not None and inner.depth:
            return inner
        function = inner.function if inner is not None else ""
        return Place(file, line, line, 0, function, self._source(file, line))

    def loop(self, spot: Spot) -> Place | None:
        """The loop that begins there."""
        return next((p for p in self.all if p.spot == spot and p.depth), None)

    def home(self, file: str, line: int) -> Spot:
        """The loop that a line counts for: around it, or around all calls of its function."""
        place = self.of(file, line)
        if not place.depth:
            around = self.loops_around_calls(place.function)
            return around.pop() if len(around) == 1 else place.spot
        return place.spot

    def loops_around_calls(self, function: str, callers: Set[str] | None = None) -> set[Spot]:
        """The innermost loops that call it, also by way of functions that do so outside loops.

        callers: functions that count as callers; None: all.
        """
        found: set[Spot] = set()
        seen, pending = {function}, [function]
        while pending:
            wanted = pending.pop()
            for site in self._sites:
                if site.callee != wanted or (callers is not None and site.caller not in callers):
                    continue
                place = self.of(*site.spot)
                if place.depth:
                    found.add(place.spot)
                elif site.caller not in seen:
                    seen.add(site.caller)
                    pending.append(site.caller)
        return found

    def reached(self, function: str) -> set[str]:
        """The function, and all that it calls, directly or not."""
        found: set[str] = set()
        pending = [function]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.calls.get(name, ())
        return found

    @cached_property
    def calls(self) -> Mapping[str, Set[str]]:
        """Function → names it calls."""
        found: dict[str, set[str]] = {}
        for site in self._sites:
            found.setdefault(site.caller, set()).add(site.callee)
        return found

    @cached_property
    def _sites(self) -> tuple[_Site, ...]:
        return tuple(
            _Site(function, name, (file, node.lineno))
            for file in self._files
            for node, function, _ in self._walk(file)
            if isinstance(node, ast.Call)
            and (name := getattr(node.func, "id", getattr(node.func, "attr", "")))
        )

    def _innermost(self, file: str, line: int) -> Place | None:
        around = [p for p in self.all if p.file == file and p.line <= line <= p.end]
        return max(around, key=lambda p: p.line, default=None)

    def _of(self, file: str) -> Iterator[Place]:
        for node, function, depth in self._walk(file):
            if isinstance(node, ast.FunctionDef | ast.For | ast.While):
                line, end = node.lineno, node.end_lineno or node.lineno
                loop = node if isinstance(node, ast.For | ast.While) else None
                yield Place(file, line, end, depth, function, self._source(file, line), loop)

    def _walk(self, file: str) -> Iterator[tuple[ast.AST, str, int]]:
        """Every node, the function it stands in or is, and its depth in loops of that."""
        pending: list[tuple[ast.AST, str, int]] = [(tree, "", 0) for tree in self._parsed(file)]
        while pending:
            node, function, depth = pending.pop()
            if isinstance(node, ast.FunctionDef):
                function, depth = node.name, 0
            elif isinstance(node, ast.For | ast.While):
                depth += 1
            yield node, function, depth
            pending += [(child, function, depth) for child in ast.iter_child_nodes(node)]

    def _parsed(self, file: str) -> Iterator[ast.Module]:
        """The file's syntax tree; none if Python can't parse it: a file beside kernel.py."""
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield ast.parse(self._files[file])

    def _source(self, file: str, line: int) -> str:
        lines = self._files[file].splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
