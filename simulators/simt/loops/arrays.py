"""Local variables that stayed in memory.

Those that outlive a suspension point are of every thread; the others are of the worker, and one
thread after the other has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .frame import Frame, size_of
from .reading import Instruction, Refused
from .splitting import Split, successors

_ALLOCA = re.compile(r"= alloca (.*?)(?:, (i\d+) (\d+|%[^,]+))?(?:, align (\d+))?$")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class LocalArrays:
    """Names of all, and lines that make those of the worker."""

    names: tuple[str, ...]
    private: tuple[str, ...]


def local_arrays(
    split: Split, frame: Frame, types: Mapping[str, str], *, checked: bool
) -> LocalArrays:
    """Take room in the frame for those that outlive a point; raises Refused.

    checked: for all, so that accesses to them are known to be good.
    """
    names, private = [], []
    for block in split.function.blocks.values():
        for one in block.body:
            if one.opcode != "alloca":
                continue
            size, align = _size(one, types)
            names.append(one.result)
            if checked or _outlives(split, one.result):
                each = -(-size // align) * align
                frame.arrays[one.result] = (frame.take(each), each)
            else:
                private.append(f"  {one.text}")
    return LocalArrays(tuple(names), tuple(private))


def _size(one: Instruction, types: Mapping[str, str]) -> tuple[int, int]:
    found = _ALLOCA.search(one.text)
    if found is None or (found[3] and not found[3].isdigit()):
        raise Refused("a local array of variable size", one.line)
    size = size_of(found[1], types) * int(found[3] or 1)
    if size > _MOST_BYTES:
        raise Refused(f"a local array of {size} bytes", one.line)
    return size, int(found[4] or 16)


def _outlives(split: Split, name: str) -> bool:
    """Whether a path leads from a use of it across a point to another use."""
    if not split.points:
        return False
    users = _users(split, name)
    for point in split.points:
        if _reaches(split, point.resume, users) and any(
            _reaches(split, user, {point.block}) for user in users
        ):
            return True
    return False


def _users(split: Split, name: str) -> set[str]:
    """Blocks that use an array, or an address in it."""
    derived, users = {name}, set[str]()
    known = 0
    while known < len(derived):
        known = len(derived)
        for block in split.function.blocks.values():
            for one in block.body:
                if not derived.isdisjoint(one.uses):
                    users.add(block.name)
                    if split.function.types.get(one.result) == "ptr":
                        derived.add(one.result)
    return users


def _reaches(split: Split, start: str, wanted: set[str]) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        name = waiting.pop()
        if name in wanted:
            return True
        for after in successors(split.function.blocks[name], split.points):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False
