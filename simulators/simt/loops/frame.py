"""Memory of a worker beside shared memory: states, operands of suspension points, kept values.

Everything is an array over the threads of a block, so that neighbouring threads are neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from simulators.simt.constants import Reader

from .reading import Refused

_ALIGN = 64
_MOST_BYTES = 256 << 20
_INTEGER = re.compile(r"i(\d+)$")
_VECTOR = re.compile(r"<(\d+) x (.+)>$")
_SIZES = {"float": 4, "double": 8, "ptr": 8, "half": 2, "bfloat": 2}

CONTEXT = {
    "launch": 0, "shared": 8, "spill": 16, "params": 24, "globals": 32, "state": 40, "ctaid": 48,
    "nctaid": 64, "number": 80,
}  # fmt: skip
"""Offsets into Context of runtime.c."""


@dataclass
class Frame:
    """Where things are; made while a kernel is generated."""

    threads: int
    warp: int
    size: int = 0
    fixed: dict[str, int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    """Name of a value → offset of its array."""
    arrays: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Local array → offset and bytes of one thread."""

    @property
    def padded(self) -> int:
        """Threads, with the rest of the last warp."""
        return -(-self.threads // self.warp) * self.warp

    def take(self, bytes_each: int) -> int:
        """An array of so much for each thread: its offset."""
        start = self.size
        self.size = -(-(start + self.padded * bytes_each) // _ALIGN) * _ALIGN
        if self.size > _MOST_BYTES:
            raise Refused(f"threads keep more than {_MOST_BYTES >> 20} MiB per block")
        return start

    def slot(self, name: str, kind: str) -> int:
        """The array of a value of that type."""
        if name not in self.slots:
            self.slots[name] = self.take(bytes_of(kind))
        return self.slots[name]


def started(threads: int, warp: int) -> Frame:
    """With what the runtime needs."""
    frame = Frame(threads, warp)
    # Warps may be at different points, so that narrow values have an array of their own.
    for name, size in (("state", 4), ("value", 8), ("narrow_value", 4), ("mask", 8), ("arg", 4)):
        frame.fixed[name] = frame.take(size)
    for name, size in (("width", 4), ("result", 8), ("narrow_result", 4)):
        frame.fixed[name] = frame.take(size)
    return frame


def bytes_of(kind: str) -> int:
    """Bytes of a kept value; Refused: a type that isn't kept."""
    if kind in _SIZES:
        return _SIZES[kind]
    if found := _INTEGER.match(kind):
        size = 1
        while size * 8 < int(found[1]):
            size *= 2
        if size <= 16:
            return size
    if found := _VECTOR.match(kind):
        size = int(found[1]) * bytes_of(found[2])
        if size & (size - 1) == 0 and size <= 64 and found[2] != "i1":
            return size
    raise Refused(f"a value of type {kind} that is kept across a barrier or warp operation")


def size_of(kind: str, types: Mapping[str, str]) -> int:
    """Bytes of what a local variable is; types: named types, `%name` → body."""
    return Reader(kind, types).type().size
