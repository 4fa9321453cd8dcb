"""The wheel of scheduled PEs: a slot per cycle, each a list through the PEs' blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled, prefetch
from .fabric_bits import lowest
from .state_layout import (
    H_BLOCK,
    H_BLOCKS,
    H_DUE,
    H_OCCUPIED,
    H_SCHEDULED,
    H_WHEEL,
    P_AT,
    P_NEXT,
    P_PREVIOUS,
    WHEEL,
)

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]

NEVER = 1 << 62
"""A cycle that doesn't come."""


@compiled
def unschedule(S: Flat, block: int) -> None:
    """Take a PE out of the wheel."""
    slot = S[block + P_AT] & (WHEEL - 1)
    after, before = S[block + P_NEXT], S[block + P_PREVIOUS]
    if after:
        S[S[H_BLOCKS] + (after - 1) * S[H_BLOCK] + P_PREVIOUS] = before
    if before:
        S[S[H_BLOCKS] + (before - 1) * S[H_BLOCK] + P_NEXT] = after
    else:
        S[S[H_WHEEL] + slot] = after
        if after == 0:
            S[S[H_OCCUPIED] + (slot >> 6)] &= ~(np.int64(1) << (slot & 63))
    S[block + P_AT] = -1
    S[H_SCHEDULED] -= 1


@compiled
def schedule(S: Flat, pe: int, block: int, cycle: int) -> None:
    """Have a PE act in a cycle, unless it does so earlier."""
    known = S[block + P_AT]
    if known >= 0:
        if known <= cycle:
            return
        unschedule(S, block)
    slot = cycle & (WHEEL - 1)
    first = S[S[H_WHEEL] + slot]
    S[block + P_AT] = cycle
    S[block + P_NEXT] = first
    S[block + P_PREVIOUS] = 0
    if first:
        S[S[H_BLOCKS] + (first - 1) * S[H_BLOCK] + P_PREVIOUS] = pe + 1
    S[S[H_WHEEL] + slot] = pe + 1
    S[S[H_OCCUPIED] + (slot >> 6)] |= np.int64(1) << (slot & 63)
    S[H_SCHEDULED] += 1


@compiled
def next_cycle(S: Flat, t: int) -> int:
    """The next cycle from t on in which a slot holds something that may be due; -1: none."""
    if S[H_SCHEDULED] == 0:
        return -1
    best = NEVER
    words = WHEEL // 64
    first = (t & (WHEEL - 1)) >> 6
    for i in range(words + 1):
        word = (first + i) % words
        mask = S[S[H_OCCUPIED] + word]
        while mask:
            slot = word * 64 + lowest(mask)
            mask &= mask - 1
            entry = S[S[H_WHEEL] + slot]
            while entry:
                block = S[H_BLOCKS] + (entry - 1) * S[H_BLOCK]
                best = min(best, S[block + P_AT])
                entry = S[block + P_NEXT]
        if best < t + 64 * i:
            break
    return int(best)


@compiled
def due_now(S: Flat, t: int) -> int:
    """Take the PEs that act in cycle t out of the wheel, into the list at `H_DUE`; how many."""
    slot = S[H_WHEEL] + (t & (WHEEL - 1))
    entry = S[slot]
    count = 0
    while entry:
        block = S[H_BLOCKS] + (entry - 1) * S[H_BLOCK]
        after = S[block + P_NEXT]
        if after:
            prefetch(S, S[H_BLOCKS] + (after - 1) * S[H_BLOCK])
        if S[block + P_AT] == t:
            unschedule(S, block)
            S[S[H_DUE] + count] = entry - 1
            count += 1
        entry = after
    return count
