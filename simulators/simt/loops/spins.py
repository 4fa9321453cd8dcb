"""Loops that wait for what another thread writes: each turn of theirs is a suspension point.

Such a loop branches on a volatile or atomic read of its own. Without a point it would keep the
thread that it waits for from running, and could not be stopped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .reading import Block, Function, Instruction

YIELD = "__simt_yield"
_READ = re.compile(r"load (volatile|atomic)|cmpxchg|atomicrmw")

_EXPECTED = re.compile(r"= cmpxchg .*?ptr \S+, \S+ %([^ ,]+),")


@dataclass(frozen=True)
class _Loop:
    """A way back and what is on it."""

    latch: str
    header: str
    blocks: frozenset[str]


def with_yields(function: Function) -> None:
    """Put a call of the yielding primitive on every way back of such loops."""
    loops = _loops(function)
    for number, loop in enumerate(loops):
        inner = frozenset[str]().union(*(o.blocks for o in loops if o.blocks < loop.blocks))
        if line := _waits(function, loop, inner):
            _insert(function, loop, f"simt..spin{number}", max(line, 0))


def _loops(function: Function) -> list[_Loop]:
    """By the edges that lead back to a block on the way to them."""
    before: dict[str, set[str]] = {}
    for block in function.blocks.values():
        for target in block.end.targets:
            before.setdefault(target, set()).add(block.name)
    found = []
    for latch, header in _back_edges(function):
        blocks, waiting = {header, latch}, [latch] if latch != header else []
        while waiting:
            for source in before.get(waiting.pop(), ()):
                if source not in blocks:
                    blocks.add(source)
                    waiting.append(source)
        found.append(_Loop(latch, header, frozenset(blocks)))
    return found


def _back_edges(function: Function) -> list[tuple[str, str]]:
    edges, done, path = [], set[str](), set[str]()
    stack = [(function.entry, iter(function.blocks[function.entry].end.targets))]
    path.add(function.entry)
    while stack:
        name, targets = stack[-1]
        target = next(targets, None)
        if target is None:
            stack.pop()
            path.discard(name)
            done.add(name)
        elif target in path:
            edges.append((name, target))
        elif target not in done:
            path.add(target)
            stack.append((target, iter(function.blocks[target].end.targets)))
    return list(dict.fromkeys(edges))


def _waits(function: Function, loop: _Loop, inner: frozenset[str]) -> int:
    """The line of a read that decides a branch of the loop (-1: unknown); 0: there is none."""
    body = [one for name in loop.blocks for one in function.blocks[name].body]
    for name in loop.blocks - inner:
        for one in function.blocks[name].body:
            if _reads(one, body) and _decides(one, body):
                return one.line or -1
    return 0


def _reads(one: Instruction, body: list[Instruction]) -> bool:
    """Whether it reads what others write, and needs them to.

    An exchange that expects what it saw in the turn before does without them.
    """
    if not one.result or not _READ.match(one.text.split(" = ", 1)[1]):
        return False
    expected = _EXPECTED.search(one.text)
    return expected is None or all(other.result != expected[1] for other in body)


def _decides(read: Instruction, body: list[Instruction]) -> bool:
    derived, changed = {read.result}, True
    while changed:
        changed = False
        for one in body:
            if not derived.isdisjoint(one.uses):
                if one.opcode in ("br", "switch"):
                    return True
                if one.result and one.result not in derived:
                    derived.add(one.result)
                    changed = True
    return False


def _insert(function: Function, loop: _Loop, name: str, line: int) -> None:
    latch, header = function.blocks[loop.latch], function.blocks[loop.header]
    latch.body[-1] = _redirected(latch.end, loop.header, name)
    call = Instruction(
        f"call void @{YIELD}(i32 {line})", "call", "", (), line, YIELD, (f"i32 {line}",)
    )
    jump = Instruction(f"br label %{loop.header}", "br", "", (), targets=(loop.header,))
    function.blocks[name] = Block(name, [call, jump])
    for index, one in enumerate(header.body):
        if one.opcode == "phi":
            incoming = tuple((v, name if b == loop.latch else b) for v, b in one.incoming)
            header.body[index] = replace(one, incoming=incoming)


def _redirected(end: Instruction, old: str, new: str) -> Instruction:
    text = re.sub(rf"label %{re.escape(old)}(?![-\w.$])", f"label %{new}", end.text)
    targets = tuple(new if target == old else target for target in end.targets)
    return replace(end, text=text, targets=targets)
