"""What stands in the loops of optimised LLVM IR: calls, counted references, vector code.

Text of a module in, places in loops out. Whether a block stands in a loop is read of the control
flow, for the line of what follows a loop is often the loop's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

_DEFINE = re.compile(r"^define .*@(?:\"([^\"]+)\"|([\w.$]+))\(")
_LABEL = re.compile(r"^(?:\"([^\"]+)\"|([\w.$-]+)):")
_TARGET = re.compile(r"label %(?:\"([^\"]+)\"|([\w.$-]+))")
_CALL = re.compile(r"\b(?:call|invoke) .*?@(?:\"([^\"]+)\"|([\w.$]+))\(")
_REFERENCE = re.compile(r"@NRT_(?:incref|decref)\(|\batomicrmw (?:add|sub) ")
_VECTOR = re.compile(r" = .*<\d+ x (?:i\d+|half|float|double)>")
REFERENCES, VECTORS = "references are counted", "whole vectors are worked on"
_DEBUG = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+).*?scope: !(\d+)")
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock)\(.*?\bfile: !(\d+)")
_FILE = re.compile(r"^!(\d+) = !DIFile\(filename: \"([^\"]*)\"")


@dataclass(frozen=True)
class Place:
    """A line in a loop, and what is left there."""

    file: str
    line: int
    what: str
    """REFERENCES, VECTORS or the symbol of a function that is called."""


def remains(ir: str, symbols: Mapping[str, object]) -> set[Place]:
    """Calls of `symbols`, changes of reference counts and vector code in loops."""
    lines = ir.splitlines()
    places = _places(lines)
    found = set()
    for body in _bodies(lines):
        for line, what in _left(body, symbols):
            debug = _DEBUG.search(line)
            if debug is not None and debug[1] in places:
                file, number = places[debug[1]]
                found.add(Place(file, number, what))
    return found


def _bodies(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    start = None
    for i, line in enumerate(lines):
        if _DEFINE.match(line):
            start = i + 1
        elif line == "}" and start is not None:
            yield lines[start:i]
            start = None


def _left(body: Sequence[str], symbols: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Lines of interest in the loops of one function, and what each is."""
    blocks: dict[str, list[str]] = {}
    current = blocks.setdefault("", [])
    for line in body:
        label = _LABEL.match(line)
        if label is not None:
            current = blocks.setdefault(label[1] or label[2], [])
        current.append(line)
    edges = {
        name: [a or b for line in text for a, b in _TARGET.findall(line)]
        for name, text in blocks.items()
    }
    for name in in_cycles(edges):
        for line in blocks[name]:
            call = _CALL.search(line)
            callee = (call[1] or call[2]) if call is not None else ""
            if callee in symbols:
                yield line, callee
            elif _REFERENCE.search(line):
                yield line, REFERENCES
            elif _VECTOR.search(line):
                yield line, VECTORS


def in_cycles(edges: Mapping[str, Sequence[str]]) -> set[str]:
    """Nodes of a graph from which a way leads back to them."""
    back: dict[str, list[str]] = {name: [] for name in edges}
    for name, targets in edges.items():
        for target in targets:
            back.setdefault(target, []).append(name)
    left, found = set(edges), {name for name, targets in edges.items() if name in targets}
    # Kosaraju: in the reverse of the order in which a walk is through with them, what leads to a
    # node and is still there is its component.
    for root in reversed(_finished(edges)):
        component, pending = [], [root] if root in left else []
        while pending:
            name = pending.pop()
            if name in left:
                left.remove(name)
                component.append(name)
                pending += back[name]
        if len(component) > 1:
            found.update(component)
    return found


def _finished(edges: Mapping[str, Sequence[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in edges:
        pending = [(root, False)]
        while pending:
            name, done = pending.pop()
            if done:
                order.append(name)
            elif name not in seen and name in edges:
                seen.add(name)
                pending.append((name, True))
                pending += [(target, False) for target in edges[name]]
    return order


def _places(lines: Sequence[str]) -> Mapping[str, tuple[str, int]]:
    """Number of a debug location → file and line of the innermost function it is of."""
    files: dict[str, str] = {}
    scopes: dict[str, str] = {}
    locations: list[tuple[str, int, str]] = []
    for line in lines:
        if not line.startswith("!"):
            continue
        if found := _LOCATION.match(line):
            locations.append((found[1], int(found[2]), found[3]))
        elif found := _SCOPE.match(line):
            scopes[found[1]] = found[2]
        elif found := _FILE.match(line):
            files[found[1]] = PurePath(found[2]).name
    return {
        number: (files.get(scopes.get(scope, ""), ""), line) for number, line, scope in locations
    }
