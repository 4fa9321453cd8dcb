"""Cycles of a profiled machine by cause: a PE advances, waits for words, waits for room, or rests.

A cycle counts as compute if anything of the PE advances in it: the main thread, or an operation.
Otherwise the operation that holds the main thread, or the first live one, says what is waited for.
What is left is idle. Operations that are done several elements at a time count as advancing until
their next look, at most 6 cycles, though a word may have been late by as many.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .fabric import input_head
from .fabric_bits import lowest
from .state_layout import (
    CURSOR_IN,
    CURSOR_OUT,
    EVENT,
    FIFO_STATE,
    H_BLOCK,
    H_EVENT_COUNT,
    H_EVENT_ROOM,
    H_EVENTS,
    N_BUSY,
    N_CAUSE,
    N_COMPUTE,
    N_DATA,
    N_PC,
    N_QUEUE,
    N_ROOM,
    N_SINCE,
    N_SIZE,
    O_CYCLES,
    O_WAITED,
    P_DUE,
    P_FIFOS,
    P_LIVE,
    P_PC,
    P_STATE,
    P_TIME,
    P_UTS,
    Q_LENGTH,
    U_AT,
    U_COUNT,
    U_FINISH,
    U_OPERANDS,
    U_PC,
    U_SIZE,
    U_START,
    U_STEP,
    U_TASK,
    U_TOTAL,
    X_BASE,
    X_FIFO,
    X_IN,
    X_KIND,
    X_OUT,
    X_SIZE,
)

Flat = npt.NDArray[np.int64]

NOTHING, WORDS, ROOM = 0, 1, 2
OUTPUT = 8
"""Added to the number of an output queue."""
_SYNCHRONOUS = 8


@compiled
def count_operation(S: Flat, u: int, t: int) -> None:
    """An operation with the fabric has ended."""
    operation = S[u + U_TASK] >> 7
    took = t - S[u + U_START]
    S[operation + O_CYCLES] += took
    S[operation + O_WAITED] += max(0, took - S[u + U_TOTAL] * S[u + U_STEP])


@compiled
def count_cycles(S: Flat, F: Flat, pe: int, block: int, t: int) -> None:
    """Count what has passed up to cycle t, and see what the PE does from t on."""
    n = block + S[H_BLOCK] - N_SIZE
    begin = S[n + N_SINCE]
    busy = min(max(S[n + N_BUSY], begin), t)
    S[n + N_COMPUTE] += busy - begin
    cause = S[n + N_CAUSE]
    if cause != NOTHING and t > busy:
        S[n + (N_DATA if cause == WORDS else N_ROOM)] += t - busy
        _note(S, pe, n, busy, t)
    S[n + N_SINCE] = t
    S[n + N_BUSY] = S[block + P_TIME]
    S[n + N_CAUSE] = NOTHING
    state = S[block + P_STATE]
    if state == CURSOR_IN or state == CURSOR_OUT:  # noqa: SIM109 - numba is slow with tuples
        S[n + N_CAUSE] = WORDS if state == CURSOR_IN else ROOM
        S[n + N_PC], S[n + N_QUEUE] = S[block + P_PC], -1
    mask = S[block + P_UTS]
    while mask:
        number = lowest(mask)
        mask &= mask - 1
        u = block + P_LIVE + number * U_SIZE
        until = max(S[u + U_AT], S[u + U_FINISH], S[block + P_DUE + number])
        S[n + N_BUSY] = max(S[n + N_BUSY], until)
        if S[n + N_CAUSE] == NOTHING or number == _SYNCHRONOUS:
            _blame(S, F, pe, block, u)


@compiled
def _blame(S: Flat, F: Flat, pe: int, block: int, u: int) -> None:
    """What the operation at u waits for, once it no longer advances."""
    n = block + S[H_BLOCK] - N_SIZE
    S[n + N_PC], S[n + N_QUEUE], S[n + N_CAUSE] = S[u + U_PC], -1, WORDS
    for i in range(1, S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        if S[x + X_KIND] == X_IN:
            S[n + N_QUEUE] = S[x + X_BASE]
            if input_head(F, pe, S[x + X_BASE]) < 0:
                return
        elif S[x + X_KIND] == X_FIFO:
            fifo = block + P_FIFOS + FIFO_STATE * S[x + X_BASE]
            if S[fifo + Q_LENGTH] == 0:
                return
    kind = S[u + U_OPERANDS + X_KIND]
    if kind == X_OUT:
        S[n + N_QUEUE], S[n + N_CAUSE] = S[u + U_OPERANDS + X_BASE] + OUTPUT, ROOM
    elif kind == X_FIFO:
        S[n + N_CAUSE] = ROOM


@compiled
def _note(S: Flat, pe: int, n: int, begin: int, end: int) -> None:
    """A wait to the log, if it has room."""
    count = S[H_EVENT_COUNT]
    S[H_EVENT_COUNT] = count + 1
    if count >= S[H_EVENT_ROOM]:
        return
    row = S[H_EVENTS] + EVENT * count
    S[row], S[row + 1], S[row + 2] = pe, begin, end
    S[row + 3], S[row + 4], S[row + 5] = S[n + N_CAUSE], S[n + N_PC], S[n + N_QUEUE]
