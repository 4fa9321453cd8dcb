"""Loads, stores and copies of the scalar core, and whether their addresses are the PE's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .halts import HaltKind
from .numbers import wrap
from .operands import halt, read, write
from .state_layout import (
    K_EXTENT,
    P_CLASS,
    P_MEMORY,
)

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]


@compiled
def load(S: Flat, M: Memory, block: int, where: int, kind: int) -> int:
    """A value of a scalar type; the address has been checked."""
    m = S[block + P_MEMORY]
    if kind == 12 or kind == 6:
        return read(M, m, where, 1)
    if kind == 5:
        return wrap(read(M, m, where, 1), 5)
    if kind == 1 or kind == 2:
        byte = (M[m + (where >> 1)] >> (8 * (where & 1))) & 0xFF
        return wrap(int(np.int64(byte)), kind)
    if kind == 7 or kind == 8 or kind == 13:
        return int(read(M, m, where, 1) | read(M, m, where + 4, 1) << 32)
    return wrap(read(M, m, where, 0), 3) if kind == 3 else read(M, m, where, 0)


@compiled
def store(S: Flat, M: Memory, block: int, where: int, kind: int, value: int) -> None:
    """Likewise a store."""
    m = S[block + P_MEMORY]
    if kind == 12 or kind == 6 or kind == 5:
        write(M, m, where, value, 1)
    elif kind == 1 or kind == 2:
        shift = 8 * (where & 1)
        word = np.int64(M[m + (where >> 1)])
        M[m + (where >> 1)] = (word & ~(0xFF << shift)) | ((value & 0xFF) << shift)
    elif kind == 7 or kind == 8 or kind == 13:
        write(M, m, where, value, 1)
        write(M, m, where + 4, (value >> 32) & 0xFFFFFFFF, 1)
    else:
        write(M, m, where, value, 0)


@compiled
def bytes_of(kind: int) -> int:
    """Bytes that a value of a scalar type takes in memory, but for a boolean."""
    if kind == 12 or kind == 6 or kind == 5:
        return 4
    if kind == 7 or kind == 8 or kind == 13:
        return 8
    return 1 if kind == 1 or kind == 2 else 2


@compiled
def good(S: Flat, pe: int, block: int, pc: int, where: int, size: int) -> bool:
    """Whether these bytes are the PE's, and even where they must be; if not, that is a halt."""
    extent = S[S[block + P_CLASS] + K_EXTENT]
    if where < 0 or where + size > extent or (size > 1 and where & 1):
        halt(S, HaltKind.ADDRESS, pe, pc, where, extent)
        return False
    return True


@compiled
def copy(S: Flat, M: Memory, block: int, target: int, source: int, count: int) -> None:
    """Copy `count` bytes within a PE's memory; the ranges may overlap."""
    m = S[block + P_MEMORY]
    words = count >> 1
    t, s = m + (target >> 1), m + (source >> 1)
    last = load(S, M, block, source + count - 1, 2) if count & 1 else 0
    if t <= s:
        for i in range(words):
            M[t + i] = M[s + i]
    else:
        for i in range(words - 1, -1, -1):
            M[t + i] = M[s + i]
    if count & 1:
        store(S, M, block, target + count - 1, 2, last)
