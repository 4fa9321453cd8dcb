"""Operations with an operand of the fabric or a FIFO: they advance as words and room come.

An operation handles at most one wavelet per queue and cycle, and its elements no faster than its
rate. It ends in the cycle after its last element, which then is in the output queue or in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .dsd import Completion, FabricOption, OnControl, Vector
from .fabric import (
    input_depth,
    input_head,
    input_length,
    input_pop,
    output_depth,
    output_push,
    output_room,
)
from .halts import HaltKind
from .operands import address, check, halt, read, write
from .state_layout import (
    FIFO,
    FIFO_STATE,
    H_RATES,
    H_WIDTHS,
    K_FIFOS,
    K_OUT_COLORS,
    K_TASKS,
    P_ACTIVE,
    P_BLOCKED,
    P_CARRY,
    P_CLASS,
    P_DSRS,
    P_FIFOS,
    P_LOOK,
    P_MEMORY,
    P_UT_BLOCKED,
    Q_HEAD,
    Q_LENGTH,
    Q_READS,
    Q_WRITES,
    T_KIND,
    TASK,
    U_AT,
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
    U_SAVE,
    U_SHAPE,
    U_STEP,
    U_TOTAL,
    X_BASE,
    X_COLOR,
    X_FIFO,
    X_IN,
    X_KIND,
    X_NONE,
    X_OPTIONS,
    X_OUT,
    X_SCALAR,
    X_SIZE,
)
from .vector_rules import carries, combine

Flat = npt.NDArray[np.int64]
Memory = npt.NDArray[np.uint16]

OPERATIONS = len(Vector)
TASK_SHIFT = 16
READY, NO_DATA, NO_ROOM, ENDED = 0, 1, 2, 3
"""Whether an element can be handled: yes; a source is empty; the destination is full; the operation
ends here."""
SUSPENDS, TERMINATES, FAULTS = 2, 1, 3
PLAIN, SENDS, RECEIVES = 0, 1, 2
"""Shapes of operations: one element at a time; from memory to a queue; from a queue to memory."""


@compiled
def fifo_state(block: int, number: int) -> int:
    """Offset of a FIFO's state."""
    return block + P_FIFOS + FIFO_STATE * number


@compiled
def activate(S: Flat, pe: int, block: int, pc: int, task: int) -> None:
    """Activate a task id that something is bound to."""
    entry = S[S[block + P_CLASS] + K_TASKS] + task * TASK
    if S[entry + T_KIND] == 0:
        halt(S, HaltKind.UNBOUND, pe, pc, task, 0)
        return
    S[block + P_ACTIVE] |= np.int64(1) << task
    S[block + P_LOOK] = 1


@compiled
def unblock(S: Flat, block: int, task: int) -> None:
    """Let a blocked task id run."""
    S[block + P_BLOCKED] &= ~(np.int64(1) << task)
    S[block + P_LOOK] = 1


@compiled
def complete(S: Flat, pe: int, block: int, pc: int, what: int, task: int) -> None:
    """What an operation does to a task at its end."""
    if what == Completion.ACTIVATE:
        activate(S, pe, block, pc, task)
    elif what == Completion.UNBLOCK:
        unblock(S, block, task)


@compiled
def _control(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, F: Flat, pe: int, block: int, u: int, queue: int, word: int
) -> bool:
    """A control wavelet at the head of a queue that is read; whether the operation ends.

    @dfilt counts it; otherwise the operation does as it is told, and by default leaves it to the
    control task that it names: such a task runs in between.
    """
    if S[u + U_OP] == Vector.DFILT:
        input_pop(F, pe, queue)
        S[u + U_CONTROLS] += 1
        return bool(S[u + U_CONTROLS] >= S[u + U_TOTAL])
    how = S[u + U_CONTROL]
    if how == OnControl.DEFAULT:
        task = (word >> TASK_SHIFT) & 63
        entry = S[S[block + P_CLASS] + K_TASKS] + task * TASK
        if S[entry + T_KIND] != 3:
            input_pop(F, pe, queue)
        return False
    input_pop(F, pe, queue)
    if how == OnControl.ACTIVATE:
        activate(S, pe, block, S[u + U_PC], S[u + U_CONTROL_ID])
    elif how == OnControl.UNBLOCK:
        unblock(S, block, S[u + U_CONTROL_ID])
    return True


@compiled
def _source_ready(  # noqa: C901 - compiled: one hot piece
    S: Flat, F: Flat, pe: int, block: int, u: int, x: int
) -> int:
    if S[x + X_KIND] == X_IN:
        queue = S[x + X_BASE]
        while True:
            word = input_head(F, pe, queue)
            if word < 0:
                return NO_DATA
            if (word >> 32) & 1 == 0:
                return READY
            length = word
            if _control(S, F, pe, block, u, queue, word):
                return ENDED
            if input_head(F, pe, queue) == length:
                return NO_DATA
    state = fifo_state(block, S[x + X_BASE])
    if S[state + Q_READS] == 0:
        return ENDED
    if S[state + Q_LENGTH] > 0:
        return READY
    return _empty_or_full(S, pe, block, u, x, 5)


@compiled
def _empty_or_full(S: Flat, pe: int, block: int, u: int, x: int, action: int) -> int:
    """What happens at an empty (5) or full (6) FIFO."""
    todo = S[S[S[block + P_CLASS] + K_FIFOS] + S[x + X_BASE] * FIFO + action]
    if todo == FAULTS:
        halt(S, HaltKind.FIFO_FAULT, pe, S[u + U_PC], action - 5, 0)
        return ENDED
    if todo == TERMINATES:
        return ENDED
    if S[u + U_RESULT] == 2 and todo != SUSPENDS:
        # A synchronous operation ends early, and says so.
        S[u + U_RESULT] = 0
        return ENDED
    return NO_DATA if action == 5 else NO_ROOM


@compiled
def _ready(S: Flat, F: Flat, pe: int, block: int, u: int) -> int:
    for i in range(1, S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        kind = S[x + X_KIND]
        if kind == X_IN or kind == X_FIFO:  # noqa: SIM109 - numba is slow with tuples
            found = _source_ready(S, F, pe, block, u, x)
            if found != READY:
                return found
    x = u + U_OPERANDS
    if S[x + X_KIND] == X_OUT:
        return READY if output_room(F, pe, S[x + X_BASE]) > 0 else NO_ROOM
    if S[x + X_KIND] == X_FIFO:
        state = fifo_state(block, S[x + X_BASE])
        table = S[S[block + P_CLASS] + K_FIFOS] + S[x + X_BASE] * FIFO
        if S[state + Q_WRITES] == 0:
            return ENDED
        if S[state + Q_LENGTH] >= S[table + 1]:
            return _empty_or_full(S, pe, block, u, x, 6)
    return READY


@compiled
def _fetch(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, i: int
) -> int:
    """The bits of source i for the next element."""
    x = u + U_OPERANDS + i * X_SIZE
    wide = (S[S[H_WIDTHS] + S[u + U_OP]] >> i) & 1
    kind = S[x + X_KIND]
    if kind == X_SCALAR or kind == X_NONE:  # noqa: SIM109 - numba is slow with tuples
        return int(S[x + X_BASE])
    if kind == X_IN:
        word = input_pop(F, pe, S[x + X_BASE]) & 0xFFFFFFFF
        return word if wide else word & 0xFFFF
    if kind == X_FIFO:
        state = fifo_state(block, S[x + X_BASE])
        table = S[S[block + P_CLASS] + K_FIFOS] + S[x + X_BASE] * FIFO
        head = S[state + Q_HEAD]
        value = read(M, S[block + P_MEMORY], S[table] + head * S[table + 2], wide)
        S[state + Q_HEAD] = head + 1 if head + 1 < S[table + 1] else 0
        S[state + Q_LENGTH] -= 1
        if S[state + Q_READS] > 0:
            S[state + Q_READS] -= 1
        if S[table + 4] >= 0:
            activate(S, pe, block, S[u + U_PC], S[table + 4])
        return value
    return read(M, S[block + P_MEMORY], address(S, x, S[u + U_DONE]), wide)


@compiled
def _put(  # noqa: C901, PLR0913 - compiled: one hot piece
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, value: int
) -> None:
    """The result of the next element to the destination."""
    x = u + U_OPERANDS
    wide = S[S[H_WIDTHS] + S[u + U_OP]] & 1
    kind = S[x + X_KIND]
    if kind == X_OUT:
        options = S[x + X_OPTIONS]
        queue = S[x + X_BASE]
        color = S[S[block + P_CLASS] + K_OUT_COLORS + queue]
        if color < 0:
            color = S[x + X_COLOR]
        if not wide:
            value &= 0xFFFF
            if S[u + U_INDEX] >= 0:
                value |= (S[u + U_INDEX] & 0xFFFF) << 16
        control = 1 if options & FabricOption.CONTROL else 0
        if options & FabricOption.CONTROL_TRANSFORM and S[u + U_DONE] + 1 == S[u + U_TOTAL]:
            control = 1
        advance = 1 if options & FabricOption.ADVANCE_SWITCH else 0
        if S[u + U_DONE] + 1 < S[u + U_TOTAL]:
            advance = 0
        output_push(F, pe, queue, color, value, control, advance)
        return
    if kind == X_FIFO:
        state = fifo_state(block, S[x + X_BASE])
        table = S[S[block + P_CLASS] + K_FIFOS] + S[x + X_BASE] * FIFO
        size = S[table + 1]
        tail = (S[state + Q_HEAD] + S[state + Q_LENGTH]) % size
        write(M, S[block + P_MEMORY], S[table] + tail * S[table + 2], value, wide)
        S[state + Q_LENGTH] += 1
        if S[state + Q_WRITES] > 0:
            S[state + Q_WRITES] -= 1
        if S[table + 3] >= 0:
            activate(S, pe, block, S[u + U_PC], S[table + 3])
        return
    if kind != X_NONE:
        write(M, S[block + P_MEMORY], address(S, x, S[u + U_DONE]), value, wide)


@compiled
def _element(S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int) -> None:
    op = S[u + U_OP]
    count = S[u + U_COUNT]
    x = _fetch(S, M, F, pe, block, u, 1)
    y = _fetch(S, M, F, pe, block, u, 2) if count > 2 else 0
    z = _fetch(S, M, F, pe, block, u, 3) if count > 3 else 0
    if op == Vector.DFILT:
        return
    carry = S[block + P_CARRY]
    _put(S, M, F, pe, block, u, combine(op, x, y, z, carry))
    S[block + P_CARRY] = carries(op, x, y, carry)


@compiled
def shape_of(S: Flat, u: int) -> int:
    """Whether an operation may be done several elements at a time without anyone noticing."""
    if S[u + U_STEP] != 1 or S[u + U_OP] == Vector.DFILT or S[u + U_OP] == Vector.ADDC16:
        return PLAIN
    inputs = 0
    for i in range(1, S[u + U_COUNT]):
        kind = S[u + U_OPERANDS + i * X_SIZE + X_KIND]
        if kind == X_FIFO:
            return PLAIN
        inputs += kind == X_IN
    kind = S[u + U_OPERANDS + X_KIND]
    if kind == X_OUT:
        return SENDS if inputs == 0 else PLAIN
    return RECEIVES if kind != X_FIFO and kind != X_NONE and inputs == 1 else PLAIN


@compiled
def _elements(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, count: int
) -> None:
    """Handle so many elements now."""
    for _ in range(count):
        _element(S, M, F, pe, block, u)
        S[u + U_DONE] += 1


@compiled
def _send_some(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, t: int
) -> int:
    """Fill the output queue but for one place; 0: one word at a time is wanted.

    The ramp takes one word a cycle at most, so that it never finds the queue empty, and nobody can
    tell that words are in the queue early.
    """
    queue = S[u + U_OPERANDS + X_BASE]
    depth = output_depth(F, pe, queue)
    if depth < 4 or S[u + U_TOTAL] - S[u + U_DONE] <= 2 * depth:
        return 0
    room = output_room(F, pe, queue)
    if room == 0:
        return -1
    _elements(S, M, F, pe, block, u, room - 1 if room > 1 else 1)
    S[u + U_AT] = t + 1
    return -1 if room == 1 else t + (depth >> 1)


@compiled
def _receive_some(  # noqa: PLR0913 - compiled: arrays, not records
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, t: int
) -> int:
    """Take all words but one; 0: one word at a time is wanted.

    A word comes per cycle at most, so that the queue isn't full before the next look.
    """
    queue = -1
    for i in range(1, S[u + U_COUNT]):
        if S[u + U_OPERANDS + i * X_SIZE + X_KIND] == X_IN:
            queue = S[u + U_OPERANDS + i * X_SIZE + X_BASE]
    depth = input_depth(F, pe, queue)
    if depth < 4 or S[u + U_TOTAL] - S[u + U_DONE] <= 2 * depth:
        return 0
    waiting = input_length(F, pe, queue)
    if waiting == 0 or waiting == depth:
        # Full: words may wait behind it, whose time depends on when there is room.
        return 0
    if waiting == 1 and S[u + U_MARK] != S[u + U_DONE]:
        S[u + U_MARK] = S[u + U_DONE]
        return t + depth - 2
    for _ in range(max(1, waiting - 1)):
        if (input_head(F, pe, queue) >> 32) & 1:
            return 0
        _elements(S, M, F, pe, block, u, 1)
    S[u + U_AT] = t + 1
    return -1 if waiting == 1 else t + depth - 2


@compiled
def advance(  # noqa: C901, PLR0913 - compiled: one hot piece
    S: Flat, M: Memory, F: Flat, pe: int, block: int, u: int, t: int
) -> int:
    """Handle what can be handled in cycle t; when to look again, -1: when the fabric wakes the PE.

    U_FINISH is set when the last element is done.
    """
    if S[u + U_FINISH] >= 0:
        return int(S[u + U_FINISH])
    if t < S[u + U_AT]:
        return int(S[u + U_AT])
    if S[u + U_TOTAL] <= 0:
        S[u + U_FINISH] = t
        return t
    due = 0
    if S[u + U_SHAPE] == SENDS:
        due = _send_some(S, M, F, pe, block, u, t)
    elif S[u + U_SHAPE] == RECEIVES:
        due = _receive_some(S, M, F, pe, block, u, t)
    if due != 0:
        return due
    found = _ready(S, F, pe, block, u)
    if found == ENDED:
        if S[u + U_RESULT] == 2:
            S[u + U_RESULT] = 1
        S[u + U_FINISH] = t + 1
        return t + 1
    if found != READY:
        return -1
    _element(S, M, F, pe, block, u)
    S[u + U_AT] = t + S[u + U_STEP]
    if S[u + U_OP] == Vector.DFILT:
        return t + 1
    S[u + U_DONE] += 1
    if S[u + U_DONE] >= S[u + U_TOTAL]:
        if S[u + U_RESULT] == 2:
            S[u + U_RESULT] = 1
        S[u + U_FINISH] = t + 1
        return t + 1
    return int(S[u + U_AT])


@compiled
def saved(S: Flat, block: int, u: int) -> None:
    """DSRs with `save_address` go on behind the elements that were done."""
    for i in range(S[u + U_COUNT]):
        number = S[u + U_SAVE + i]
        if number < 0:
            continue
        x = u + U_OPERANDS + i * X_SIZE
        if S[x + X_KIND] >= X_IN:
            continue
        entry = block + P_DSRS + 2 * number
        moved = address(S, x, S[u + U_DONE])
        S[entry] = (S[entry] & ~(np.int64(0xFFFF) << 16)) | ((moved & 0xFFFF) << 16)


@compiled
def step_of(S: Flat, op: int) -> int:
    """Cycles per element of an operation with the fabric."""
    rate = S[S[H_RATES] + OPERATIONS + op]
    return int(max(1, 64 // max(rate, 1)))


@compiled
def in_range(S: Flat, pe: int, block: int, u: int) -> bool:
    """Whether the operation's memory operands lie in one variable each."""
    widths = S[S[H_WIDTHS] + S[u + U_OP]]
    for i in range(S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        if not check(S, pe, S[u + U_PC], block, x, S[u + U_TOTAL], (widths >> i) & 1):
            return False
    return True


@compiled
def waits_for_it(S: Flat, u: int, queue: int, output: bool) -> bool:
    """Whether an operation uses a queue."""
    wanted = X_OUT if output else X_IN
    for i in range(S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        if S[x + X_KIND] == wanted and S[x + X_BASE] == queue:
            return True
    return False


@compiled
def blocked_microthread(S: Flat, block: int, number: int) -> bool:
    """Whether a program blocked this microthread (WSE-3)."""
    return bool((S[block + P_UT_BLOCKED] >> number) & 1)
