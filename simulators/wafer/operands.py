"""Operands of vector operations: decoded descriptors, addresses, memory, and its limits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .dsd import DsdKind, Operand
from .halts import HaltKind
from .state_layout import (
    CONFIG,
    H_HALT,
    H_HALT_A,
    H_HALT_B,
    H_HALT_PC,
    H_HALT_PE,
    K_DSR_CONFIGS,
    K_PATTERNS,
    K_REGION_COUNT,
    K_REGIONS,
    P_CLASS,
    P_DSRS,
    P_FRAME,
    PATTERN,
    X_BASE,
    X_CIRCULAR,
    X_COLOR,
    X_EXTENT,
    X_FIFO,
    X_IN,
    X_INDEX,
    X_KIND,
    X_MEMORY,
    X_MEMORY_4D,
    X_NONE,
    X_OPTIONS,
    X_OUT,
    X_PATTERN,
    X_POINTER,
    X_SCALAR,
    X_STRIDE,
)

Flat = npt.NDArray[np.int64]
Memory = npt.NDArray[np.uint16]

ENDLESS = 1 << 30
"""Extent of operands that limit no operation."""


@compiled
def halt(S: Flat, kind: int, pe: int, pc: int, a: int, b: int) -> None:
    """Note why the program stops; the first cause stays."""
    if S[H_HALT] == 0:
        S[H_HALT] = kind
        S[H_HALT_PE] = pe
        S[H_HALT_PC] = pc
        S[H_HALT_A] = a
        S[H_HALT_B] = b


@compiled
def decode(S: Flat, klass: int, x: int, packed: int) -> None:
    """A packed DSD as the operand at x."""
    kind = packed & 15
    low = (packed >> 8) & 0xFF
    base = (packed >> 16) & 0xFFFF
    extent = (packed >> 32) & 0xFFFF
    S[x + X_EXTENT] = extent
    S[x + X_INDEX] = (packed >> 48) & 0xFFFF
    S[x + X_BASE] = base
    if kind == DsdKind.MEMORY:
        S[x + X_KIND] = X_MEMORY
        S[x + X_PATTERN] = (low ^ 0x80) - 0x80
    elif kind == DsdKind.MEMORY_4D:
        pattern = S[klass + K_PATTERNS] + extent * PATTERN
        S[x + X_KIND] = X_MEMORY_4D
        S[x + X_PATTERN] = pattern
        S[x + X_EXTENT] = S[pattern + 9]
    elif kind == DsdKind.CIRCULAR:
        S[x + X_KIND] = X_CIRCULAR
    elif kind == DsdKind.FABRIC_IN or kind == DsdKind.FABRIC_OUT:
        S[x + X_KIND] = X_IN if kind == DsdKind.FABRIC_IN else X_OUT
        S[x + X_COLOR] = base >> 8
        S[x + X_BASE] = base & 0xFF
        S[x + X_OPTIONS] = low
    elif kind == DsdKind.FIFO:
        S[x + X_KIND] = X_FIFO
        S[x + X_EXTENT] = ENDLESS
    else:
        S[x + X_KIND] = X_NONE


@compiled
def scale(S: Flat, x: int, wide: int) -> None:
    """Set the stride for elements of 16 or 32 bits, which is the operation's to say."""
    kind = S[x + X_KIND]
    size = 4 if wide else 2
    if kind == X_MEMORY:
        S[x + X_STRIDE] = S[x + X_PATTERN] * size
    elif X_MEMORY_4D <= kind <= X_CIRCULAR:
        S[x + X_STRIDE] = size


@compiled
def fill(S: Flat, block: int, x: int, kind: int, where: int) -> int:
    """Operand `where` of a template as the operand at x; the DSR's configuration, or 0."""
    frame = S[block + P_FRAME]
    klass = S[block + P_CLASS]
    if kind == Operand.DSD:
        decode(S, klass, x, S[frame + where])
    elif kind == Operand.DSR:
        entry = block + P_DSRS + 2 * where
        decode(S, klass, x, S[entry])
        return int(S[klass + K_DSR_CONFIGS] + S[entry + 1] * CONFIG)
    elif kind == Operand.SCALAR or kind == Operand.POINTER:
        S[x + X_KIND] = X_SCALAR if kind == Operand.SCALAR else X_POINTER
        S[x + X_BASE] = S[frame + where]
        S[x + X_STRIDE] = 0
        S[x + X_EXTENT] = ENDLESS
        S[x + X_INDEX] = 0
    else:
        S[x + X_KIND] = X_NONE
        S[x + X_EXTENT] = ENDLESS
    return 0


@compiled
def address(S: Flat, x: int, i: int) -> int:
    """Byte address of element i of a memory operand."""
    kind = S[x + X_KIND]
    if kind == X_MEMORY_4D:
        pattern = S[x + X_PATTERN]
        rest = i
        offset = 0
        for d in range(S[pattern] - 1, -1, -1):
            extent = S[pattern + 1 + d]
            digit = rest % extent
            rest //= extent
            offset += digit * S[pattern + 5 + d]
        return int(S[x + X_BASE] + offset * S[x + X_STRIDE])
    if kind == X_CIRCULAR:
        turn = S[x + X_INDEX]
        return int(S[x + X_BASE] + (i % turn if turn else i) * S[x + X_STRIDE])
    return int(S[x + X_BASE] + i * S[x + X_STRIDE])


@compiled
def read(M: Memory, m: int, where: int, wide: int) -> int:
    """16 or 32 bits of memory that begins at word m; `where` has been checked."""
    word = m + (where >> 1)
    if wide:
        return int(np.int64(M[word]) | np.int64(M[word + 1]) << 16)
    return int(M[word])


@compiled
def write(M: Memory, m: int, where: int, value: int, wide: int) -> None:
    """Likewise."""
    word = m + (where >> 1)
    M[word] = value & 0xFFFF
    if wide:
        M[word + 1] = (value >> 16) & 0xFFFF


@compiled
def _inside(S: Flat, klass: int, low: int, high: int) -> bool:
    """Whether one variable holds bytes low up to high."""
    table = S[klass + K_REGIONS]
    first = 0
    last = S[klass + K_REGION_COUNT]
    while first < last:
        middle = (first + last) >> 1
        if S[table + 2 * middle] <= low:
            first = middle + 1
        else:
            last = middle
    if first == 0:
        return False
    entry = table + 2 * (first - 1)
    return bool(high <= S[entry + 1])


@compiled
def check(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, pe: int, pc: int, block: int, x: int, n: int, wide: int
) -> bool:
    """Whether n elements of an operand lie in one variable; if not, that is a halt."""
    kind = S[x + X_KIND]
    if n <= 0 or kind == X_NONE or X_IN <= kind <= X_SCALAR:
        return True
    low = high = S[x + X_BASE]
    if kind == X_MEMORY:
        last = low + (n - 1) * S[x + X_STRIDE]
        low = min(low, last)
        high = max(high, last)
    elif kind == X_MEMORY_4D:
        pattern = S[x + X_PATTERN]
        for d in range(S[pattern]):
            span = (S[pattern + 1 + d] - 1) * S[pattern + 5 + d] * S[x + X_STRIDE]
            low += min(span, 0)
            high += max(span, 0)
    elif kind == X_CIRCULAR:
        turn = S[x + X_INDEX]
        high += ((min(turn, n) if turn else n) - 1) * S[x + X_STRIDE]
    high += 4 if wide else 2
    if low & 1 or not _inside(S, S[block + P_CLASS], low, high):
        halt(S, HaltKind.DSD_RANGE, pe, pc, low, high)
        return False
    return True
