"""How an operation on DSDs starts: at once in memory, or as a live one of the fabric."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .bulk import operate
from .compiling import compiled
from .dsd import Completion, DsdKind, Operand
from .halts import HaltKind
from .live import complete, in_range, shape_of, step_of, waits_for_it
from .operands import ENDLESS, address, fill, halt, scale
from .state_layout import (
    H_RATES,
    H_WIDTHS,
    K_OPERATIONS,
    O_ASYNC,
    O_CONTROL,
    O_CONTROL_ID,
    O_CYCLES,
    O_DONE,
    O_DONE_ID,
    O_ELEMENTS,
    O_INDEX,
    O_MICROTHREAD,
    O_OPERANDS,
    O_RUNS,
    O_SIZE,
    O_SOURCES,
    O_VECTOR,
    P_CLASS,
    P_DSRS,
    P_DUE,
    P_FRAME,
    P_LIVE,
    P_TASK,
    P_UTS,
    U_AT,
    U_COMPLETION,
    U_COMPLETION_ID,
    U_CONTROL,
    U_CONTROL_ID,
    U_CONTROLS,
    U_COUNT,
    U_DONE,
    U_FINISH,
    U_INDEX,
    U_MARK,
    U_OP,
    U_OPERANDS,
    U_PC,
    U_RESULT,
    U_RESULT_REGISTER,
    U_SAVE,
    U_SHAPE,
    U_SIZE,
    U_START,
    U_STEP,
    U_TASK,
    U_TOTAL,
    X_BASE,
    X_EXTENT,
    X_FIFO,
    X_IN,
    X_INDEX,
    X_KIND,
    X_MEMORY,
    X_OUT,
    X_SIZE,
)

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]

SYNCHRONOUS = 8
"""Number of the operation that holds the main thread."""


@compiled
def touches_fabric(S: Flat, block: int, operation: int) -> bool:
    """Whether an operand of a template is of the fabric, or a FIFO."""
    frame = S[block + P_FRAME]
    for i in range(S[operation + O_SOURCES] + 1):
        kind = S[operation + O_OPERANDS + 2 * i]
        where = S[operation + O_OPERANDS + 2 * i + 1]
        packed = np.int64(0)
        if kind == Operand.DSD:
            packed = S[frame + where]
        elif kind == Operand.DSR:
            packed = S[block + P_DSRS + 2 * where]
        if (packed & 15) >= DsdKind.FABRIC_IN:
            return True
    return bool(S[operation + O_ASYNC])


@compiled
def _microthread(S: Flat, u: int, asked: int) -> int:
    """Which microthread an operation runs on (contract of each architecture)."""
    if asked >= 0:
        return asked
    first = -1
    for i in range(S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        kind = S[x + X_KIND]
        if kind == X_OUT or (kind == X_IN and first < 0):
            first = S[x + X_BASE]
            if kind == X_OUT:
                break
    return first if first >= 0 else 7


@compiled
def _prepare(  # noqa: C901, PLR0915 - compiled: one hot piece
    S: Flat, block: int, u: int, operation: int, pc: int, now: int
) -> int:
    """Make the record at u from a template; the configuration of a DSR that was loaded with one."""
    loaded = 0
    count = S[operation + O_SOURCES] + 1
    total = ENDLESS
    remembered = False
    S[u + U_COUNT] = count
    index = S[operation + O_INDEX]
    widths = S[S[H_WIDTHS] + S[operation + O_VECTOR]]
    shift = S[S[block + P_FRAME] + index] if index >= 0 else -1
    for i in range(4):
        S[u + U_SAVE + i] = -1
    for i in range(count):
        x = u + U_OPERANDS + i * X_SIZE
        kind = S[operation + O_OPERANDS + 2 * i]
        where = S[operation + O_OPERANDS + 2 * i + 1]
        config = fill(S, block, x, kind, where)
        scale(S, x, (widths >> i) & 1)
        if config:
            if S[config + 6]:
                S[u + U_SAVE + i] = where
            if S[config] or loaded == 0:
                loaded = config
        if i and S[x + X_KIND] == X_MEMORY:
            remembered = True
        if S[x + X_EXTENT] < total and not (i == 0 and S[x + X_KIND] == X_OUT):
            total = S[x + X_EXTENT]
        if shift >= 0 and S[x + X_INDEX] and S[x + X_KIND] == X_MEMORY:
            S[x + X_BASE] += 2 * shift
    # What is read in memory is all sent, whatever the extent of the destination: the public
    # topic-12-debug-library and game-of-life send several words by a fabout_dsd of extent 1.
    x = u + U_OPERANDS
    if S[x + X_KIND] == X_OUT and not remembered and S[x + X_EXTENT] < total:
        total = S[x + X_EXTENT]
    S[u + U_OP] = S[operation + O_VECTOR]
    S[u + U_TOTAL] = 1 if total == ENDLESS else total
    S[u + U_DONE] = 0
    S[u + U_INDEX] = shift
    S[u + U_PC] = pc
    S[u + U_TASK] = S[block + P_TASK] | operation << 7
    S[u + U_CONTROLS] = 0
    S[u + U_RESULT_REGISTER] = -1
    S[u + U_RESULT] = 1
    S[u + U_FINISH] = -1
    S[u + U_START] = now
    S[u + U_MARK] = -1
    S[u + U_STEP] = step_of(S, S[operation + O_VECTOR])
    S[u + U_COMPLETION] = S[operation + O_DONE]
    S[u + U_COMPLETION_ID] = S[operation + O_DONE_ID]
    S[u + U_CONTROL] = S[operation + O_CONTROL]
    S[u + U_CONTROL_ID] = S[operation + O_CONTROL_ID]
    if loaded and S[loaded]:
        if S[u + U_COMPLETION] == Completion.NOTHING:
            S[u + U_COMPLETION] = S[loaded + 1]
            S[u + U_COMPLETION_ID] = S[loaded + 2]
        if S[u + U_CONTROL] == 0:
            S[u + U_CONTROL] = S[loaded + 3]
            S[u + U_CONTROL_ID] = S[loaded + 4]
    return loaded


@compiled
def _moved(S: Flat, block: int, u: int) -> None:
    for i in range(S[u + U_COUNT]):
        number = S[u + U_SAVE + i]
        if number >= 0:
            x = u + U_OPERANDS + i * X_SIZE
            entry = block + P_DSRS + 2 * number
            base = address(S, x, S[u + U_TOTAL])
            S[entry] = (S[entry] & ~(np.int64(0xFFFF) << 16)) | ((base & 0xFFFF) << 16)


@compiled
def queue_clash(S: Flat, block: int, u: int) -> int:
    """A queue of the operation at u that another live one uses; -1: none."""
    mask = S[block + P_UTS]
    for i in range(S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        kind = S[x + X_KIND]
        if kind != X_IN and kind != X_OUT:
            continue
        for other in range(9):
            v = block + P_LIVE + other * U_SIZE
            if (mask >> other) & 1 and v != u and waits_for_it(S, v, S[x + X_BASE], kind == X_OUT):
                return int(S[x + X_BASE])
    return -1


@compiled
def start(  # noqa: C901, PLR0913 - compiled: one hot piece
    S: Flat, M: Memory, pe: int, block: int, number: int, pc: int, now: int, result: int
) -> int:
    """Start operation `number` of the class; cycles it holds the main thread, -1: until it ends."""
    operation = S[S[block + P_CLASS] + K_OPERATIONS] + number * O_SIZE
    u = block + P_LIVE + SYNCHRONOUS * U_SIZE
    loaded = _prepare(S, block, u, operation, pc, now)
    S[operation + O_RUNS] += 1
    S[operation + O_ELEMENTS] += S[u + U_TOTAL]
    fabric = False
    for i in range(S[u + U_COUNT]):
        kind = S[u + U_OPERANDS + i * X_SIZE + X_KIND]
        fabric = fabric or X_IN <= kind <= X_FIFO
    asynchronous = S[operation + O_ASYNC] or (loaded != 0 and S[loaded])
    if not fabric:
        took = operate(S, M, pe, block, u)
        S[operation + O_CYCLES] += took
        _moved(S, block, u)
        S[result] = 1
        if asynchronous:
            complete(S, pe, block, pc, S[u + U_COMPLETION], S[u + U_COMPLETION_ID])
        return took
    if not in_range(S, pe, block, u):
        return 0
    S[u + U_AT] = now + S[S[H_RATES] + S[u + U_OP]]
    S[u + U_SHAPE] = shape_of(S, u)
    if not asynchronous:
        S[u + U_RESULT] = 2
        S[u + U_RESULT_REGISTER] = result
        S[u + U_COMPLETION] = Completion.NOTHING
        S[block + P_UTS] |= 1 << SYNCHRONOUS
        S[block + P_DUE + SYNCHRONOUS] = now
        return -1
    asked = S[operation + O_MICROTHREAD]
    if asked < 0 and loaded:
        asked = S[loaded + 5]
    ut = _microthread(S, u, asked)
    if (S[block + P_UTS] >> ut) & 1:
        halt(S, HaltKind.MICROTHREAD_BUSY, pe, pc, ut, 0)
        return 0
    clash = queue_clash(S, block, u)
    if clash >= 0:
        halt(S, HaltKind.QUEUE_BUSY, pe, pc, clash, 0)
        return 0
    v = block + P_LIVE + ut * U_SIZE
    for i in range(U_SIZE):
        S[v + i] = S[u + i]
    S[block + P_UTS] |= 1 << ut
    S[block + P_DUE + ut] = now
    return 0
