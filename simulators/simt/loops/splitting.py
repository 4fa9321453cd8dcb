"""A kernel cut where threads wait for each other: at its suspension points.

A block that calls a suspending primitive ends there; what follows is a block of its own, where the
thread goes on. Calls that say where a thread is become names that every region has at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .reading import Block, Function, Instruction, Refused, renamed

KINDS = {
    "__simt_sync_block": 1, "__simt_sync_count": 2, "__simt_sync_warp": 3, "__simt_shuffle": 4,
    "__simt_ballot": 5, "__simt_match": 6, "__simt_reduce": 7, "__simt_active": 8,
    "__simt_yield": 9,
}  # fmt: skip
"""As in runtime.c."""
BLOCK, COUNT, WARP, SHUFFLE, BALLOT, MATCH, REDUCE, ACTIVE, YIELD = KINDS.values()
OPERANDS: dict[int, tuple[str, ...]] = {
    BLOCK: ("line",), COUNT: ("line", "value"), WARP: ("line", "mask"),
    SHUFFLE: ("line", "op", "mask", "value", "arg", "width"), BALLOT: ("line", "mask", "value"),
    MATCH: ("line", "mask", "value"), REDUCE: ("line", "op", "mask", "value"), ACTIVE: (),
    YIELD: ("line",),
}  # fmt: skip
TRAPS = ("__simt_trap", "llvm.trap", "llvm.debugtrap")
_TRAP = 2
SUSPEND, FAIL = "suspend", "fail"
"""Opcodes that end a block, of ours."""
_DROPPED = (
    "llvm.lifetime.start.p0",
    "llvm.lifetime.end.p0",
    "llvm.experimental.noalias.scope.decl",
)
DIMENSIONAL = {"__simt_tid": "tid", "__simt_ctaid": "ctaid", "__simt_nctaid": "nctaid"}


@dataclass(frozen=True)
class Point:
    """Where threads wait."""

    number: int
    """From 1 on."""
    kind: int
    line: int
    operands: dict[str, str]
    """As values in text: `%name` or a number."""
    result: str
    """Name of the value that it gives, or empty."""
    block: str
    resume: str


@dataclass(frozen=True)
class Split:
    """A kernel in pieces."""

    function: Function
    points: tuple[Point, ...]
    base: frozenset[str]
    """Values that every region has: arguments and places."""


def split(function: Function, block: tuple[int, int, int]) -> Split:
    """block: its shape. Raises Refused."""
    given = _places(function, block)
    blocks, points = _cut(function)
    cut = Function(function.arguments, function.types, blocks)
    return Split(cut, points, frozenset((*function.arguments, *given)))


def successors(block: Block, points: tuple[Point, ...]) -> tuple[str, ...]:
    """Blocks that control goes to, across suspension points."""
    if block.end.opcode == SUSPEND:
        return (points[int(block.end.text) - 1].resume,)
    return block.end.targets


def constant(value: str) -> int | None:
    """Of a value in text."""
    if value in ("true", "false"):
        return int(value == "true")
    return int(value) if re.fullmatch(r"-?\d+", value) else None


def _places(function: Function, shape: tuple[int, int, int]) -> set[str]:
    """Replace calls that say where a thread is; which names stand for them now."""
    names: dict[str, str] = {}
    given: set[str] = set()
    for block in function.blocks.values():
        kept = []
        for one in block.body:
            value = _place(one, shape) if one.opcode == "call" else None
            if value is None:
                if one.callee not in _DROPPED:
                    kept.append(one)
                continue
            names[one.result] = value
            if value.startswith("%"):
                given.add(value[1:])
                function.types[value[1:]] = "ptr" if "dynamic" in value else "i32"
        block.body = kept
    if names:
        for block in function.blocks.values():
            block.body = [with_values(one, names) for one in block.body]
    return given


def _place(call: Instruction, shape: tuple[int, int, int]) -> str | None:
    """What a call is replaced by."""
    if call.callee == "__simt_lane":
        return "%simt..lane"
    if call.callee == "__simt_dynamic_shared":
        return "%simt..dynamic"
    if call.callee not in ("__simt_ntid", *DIMENSIONAL):
        return None
    axis = constant(_value(call.arguments[0]))
    if axis not in (0, 1, 2):
        raise Refused("a place whose axis is not constant", call.line)
    if call.callee == "__simt_ntid":
        return str(shape[axis])
    return f"%simt..{DIMENSIONAL[call.callee]}{axis}"


def _value(argument: str) -> str:
    """Of `type attributes value`."""
    return argument.rsplit(" ", 1)[-1]


def with_values(one: Instruction, names: dict[str, str]) -> Instruction:
    """With other values in place of some names; names: name → `%other` or a number."""
    if not any(use in names for use in one.uses):
        return one

    def exchanged(text: str) -> str:
        return re.sub(r'%("[^"]*"|[-\w.$]+)', lambda f: names.get(f[1], f[0]), text)

    uses = (names.get(use, f"%{use}") for use in one.uses)
    return replace(
        one,
        text=exchanged(one.text),
        uses=tuple(dict.fromkeys(use[1:] for use in uses if use.startswith("%"))),
        arguments=tuple(map(exchanged, one.arguments)),
        incoming=tuple((exchanged(value), block) for value, block in one.incoming),
    )


def _cut(function: Function) -> tuple[dict[str, Block], tuple[Point, ...]]:
    blocks: dict[str, Block] = {}
    points: list[Point] = []
    last: dict[str, str] = {}
    for block in function.blocks.values():
        for piece in _pieces(block, points):
            blocks[piece.name] = piece
            last[block.name] = piece.name
    moved = {name: other for name, other in last.items() if name != other}
    if moved:
        for block in blocks.values():
            block.body = [_from(one, moved) if one.opcode == "phi" else one for one in block.body]
    return blocks, tuple(points)


def _from(phi: Instruction, moved: dict[str, str]) -> Instruction:
    incoming = tuple((value, moved.get(block, block)) for value, block in phi.incoming)
    return replace(phi, incoming=incoming)


def _pieces(block: Block, points: list[Point]) -> Iterator[Block]:
    current = Block(block.name)
    for one in block.body:
        if one.callee in TRAPS:
            line, code = _trap(one)
            current.body.append(Instruction(f"{line} {code}", FAIL, "", ()))
            yield current
            return
        if one.callee not in KINDS:
            current.body.append(one)
            continue
        point = _point(one, len(points) + 1, current.name)
        points.append(point)
        uses = tuple(v[1:] for v in point.operands.values() if v.startswith("%"))
        current.body.append(Instruction(str(point.number), SUSPEND, "", uses, point.line))
        yield current
        current = Block(point.resume)
    if current.end.opcode == "unreachable":
        current.body[-1] = Instruction("ret void", "ret", "", ())
    yield current


def _trap(call: Instruction) -> tuple[int, int]:
    """Line and code."""
    if call.callee.startswith("llvm."):
        return call.line, _TRAP
    line, code = (constant(_value(argument)) for argument in call.arguments)
    return line or call.line, code or _TRAP


def _point(call: Instruction, number: int, block: str) -> Point:
    kind = KINDS[call.callee]
    operands = dict(zip(OPERANDS[kind], map(_value, call.arguments), strict=True))
    line = constant(operands.pop("line", "0"))
    if "op" in operands and constant(operands["op"]) is None:
        raise Refused("a warp operation whose kind is not constant", call.line)
    name = f"simt..resume{number}"
    return Point(number, kind, line or call.line, operands, call.result, block, name)


def uses_of(blocks: Iterable[Block]) -> dict[str, list[Instruction]]:
    """Name → instructions that use it."""
    found: dict[str, list[Instruction]] = {}
    for block in blocks:
        for one in block.body:
            for use in one.uses:
                found.setdefault(use, []).append(one)
    return found


def rewritten(one: Instruction, names: dict[str, str]) -> str:
    """Text with other names."""
    return renamed(one.text, names) if any(use in names for use in one.uses) else one.text
