"""The variant that looks every access up before it is made.

Outside of all arrays, or misaligned: the thread ends, and the launch fails with the source's line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .frame import size_of
from .reading import Block, Function, Instruction

_LOAD = re.compile(r"load (?:volatile |atomic )*(.+?), ptr (%\S+?)(?:,| |$)")
_STORE = re.compile(r"store (?:volatile |atomic )*(.+) (\S+), ptr (%\S+?)(?:,| |$)")
_CHANGE = re.compile(r"(?:cmpxchg|atomicrmw) (?:weak )?(?:volatile )?(?:\w+ )?ptr (%\S+), (\S+) ")
_COPY = re.compile(r"llvm\.mem(cpy|move|set)\.")
_ALIGN = re.compile(r", align (\d+)")
_BAD = "simt..bad"


@dataclass(frozen=True)
class _Access:
    """What an instruction touches."""

    pointer: str
    size: str
    """A number, or a value of 64 bits."""
    align: int
    write: bool


@dataclass
class _Cut:
    """A function being rewritten."""

    types: Mapping[str, str]
    tables: frozenset[str]
    """Values that point into parameters or the compiler's own tables."""
    blocks: dict[str, Block] = field(default_factory=dict)
    counter: int = 0


def with_checks(function: Function, types: Mapping[str, str], structs: Iterable[str]) -> None:
    """Put a check before every access.

    types: named types; structs: parameters that are passed as their address.
    """
    cut = _Cut(types, _tables(function, structs))
    moved = {}
    for block in function.blocks.values():
        last = _block(block, function, cut)
        if last != block.name:
            moved[block.name] = last
    for block in cut.blocks.values():
        block.body = [_from(one, moved) if one.opcode == "phi" else one for one in block.body]
    cut.blocks[_BAD] = Block(_BAD, [Instruction("ret void", "ret", "", ())])
    function.blocks = cut.blocks


def _from(phi: Instruction, moved: Mapping[str, str]) -> Instruction:
    incoming = tuple((value, moved.get(block, block)) for value, block in phi.incoming)
    return replace(phi, incoming=incoming)


def _tables(function: Function, structs: Iterable[str]) -> frozenset[str]:
    found = set(structs)
    changed = True
    while changed:
        changed = False
        for block in function.blocks.values():
            for one in block.body:
                table = one.opcode != "call" and ("@" in one.text or not found.isdisjoint(one.uses))
                if table and one.result not in found and function.types.get(one.result) == "ptr":
                    found.add(one.result)
                    changed = True
    return frozenset(found)


def _block(block: Block, function: Function, cut: _Cut) -> str:
    """Cut a block at its accesses; the name of the last piece."""
    current = cut.blocks.setdefault(block.name, Block(block.name))
    for one in block.body:
        for access in _accesses(one, cut.types):
            if access.pointer.startswith("%") and access.pointer[1:] not in cut.tables:
                current = _check(access, one.line, current, function, cut)
        current.body.append(one)
    return current.name


def _accesses(one: Instruction, types: Mapping[str, str]) -> Iterator[_Access]:
    text = one.text.split(" = ", 1)[-1]
    align = int(found[1]) if (found := _ALIGN.search(text)) else 1
    if one.opcode == "load" and (found := _LOAD.match(text)):
        yield _Access(found[2], str(size_of(found[1], types)), align, False)
    elif one.opcode == "store" and (found := _STORE.match(text)):
        yield _Access(found[3], str(size_of(found[1], types)), align, True)
    elif found := _CHANGE.match(text):
        yield _Access(found[1], str(size_of(found[2], types)), align, True)
    elif found := _COPY.match(one.callee):
        target, source, size = (argument.rsplit(" ", 1)[-1] for argument in one.arguments[:3])
        yield _Access(target, size, 1, True)
        if found[1] != "set":
            yield _Access(source, size, 1, False)


def _check(access: _Access, line: int, current: Block, function: Function, cut: _Cut) -> Block:
    cut.counter += 1
    name = f"simt..k{cut.counter}"
    for suffix, kind in ((".a", "i64"), (".w", "i32"), (".p", "i32"), (".r", "i32"), ("", "i1")):
        function.types[name + suffix] = kind
    uses = tuple(v[1:] for v in (access.pointer, access.size) if v.startswith("%"))
    call = (
        f"call i32 @simt_check(ptr %simt..context, i64 %{name}.a, i64 {access.size}, "
        f"i32 {access.align}, i32 {line}, i32 %{name}.p)"
    )
    current.body += [
        Instruction(
            f"%{name}.a = ptrtoint ptr {access.pointer} to i64", "ptrtoint", f"{name}.a", uses[:1]
        ),
        Instruction(f"%{name}.w = shl i32 %simt..t, 1", "shl", f"{name}.w", ()),
        Instruction(
            f"%{name}.p = or i32 %{name}.w, {int(access.write)}", "or", f"{name}.p", (f"{name}.w",)
        ),
        Instruction(
            f"%{name}.r = {call}", "call", f"{name}.r", (f"{name}.a", f"{name}.p", *uses[1:]), line,
            "simt_check",
        ),
        Instruction(f"%{name} = icmp ne i32 %{name}.r, 0", "icmp", name, (f"{name}.r",)),
        Instruction(
            f"br i1 %{name}, label %{name}.on, label %{_BAD}", "br", "", (name,),
            targets=(f"{name}.on", _BAD),
        ),
    ]  # fmt: skip
    return cut.blocks.setdefault(f"{name}.on", Block(f"{name}.on"))
