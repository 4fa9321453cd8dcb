"""The machine's loop: what each PE does in a cycle, the fabric's steps, the host's streams."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled, prefetch
from .core import execute
from .counting import count_cycles, count_operation
from .fabric import (
    fabric_busy,
    host_length,
    host_pop,
    host_push,
    host_room,
    set_time,
)
from .fabric_bits import lowest
from .fabric_layout import H_TABLE, H_WAKE_LIST, H_WAKES, P_INPUT, P_OUTPUT, W_CONTROL
from .fabric_step import fabric_step
from .live import activate, advance, blocked_microthread, complete, saved
from .starting import SYNCHRONOUS, queue_clash
from .state_layout import (
    CURSOR_IN,
    H_BLOCK,
    H_BLOCKS,
    H_DUE,
    H_HALT,
    H_NOW,
    H_PES,
    H_PROFILE,
    H_WAITING,
    IDLE,
    K_TASKS,
    K_WATCHES,
    P_CLASS,
    P_DUE,
    P_FLUSH,
    P_LIVE,
    P_LOOK,
    P_MEMORY,
    P_STARTED,
    P_STATE,
    P_TASK,
    P_TIME,
    P_TIMER_AT,
    P_TIMER_TASK,
    P_UTS,
    RUNNING,
    T_CYCLES,
    T_RUNS,
    TASK,
    U_COMPLETION,
    U_COMPLETION_ID,
    U_DONE,
    U_FINISH,
    U_OPERANDS,
    U_PC,
    U_RESULT,
    U_RESULT_REGISTER,
    U_SIZE,
    WAITING,
    X_BASE,
    X_IN,
    X_KIND,
    X_MEMORY,
    X_OUT,
    X_SIZE,
    X_STRIDE,
)
from .tasks import pick
from .wheel import NEVER, due_now, next_cycle, schedule

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]

QUIET, READY, RECEIVED = 0, 1, 2
"""What to run until: nothing is scheduled; no PE holds the command stream; the host's streams have
all they want."""
DONE, REST, HALTED, LIMIT = 0, 1, 2, 3
"""How a run ended: as wanted; nothing moves any more; a halt; the cycle limit."""
POLL = 8
"""Cycles between looks at what waits for the host; its queues hold 16 words."""
FAR, NEAR, NEXT = 9, 6, 3
"""How many PEs ahead their state is fetched, first what they are, then what they do."""


# --- a PE's cycle ------------------------------------------------------------------------------


@compiled
def _finish(S: Flat, pe: int, block: int, number: int, t: int) -> None:
    """An operation is over."""
    u = block + P_LIVE + number * U_SIZE
    S[block + P_UTS] &= ~(1 << number)
    saved(S, block, u)
    if S[H_PROFILE]:
        count_operation(S, u, t)
    if number == SYNCHRONOUS:
        if S[u + U_RESULT_REGISTER] >= 0:
            S[S[u + U_RESULT_REGISTER]] = 1 if S[u + U_RESULT] else 0
        S[block + P_STATE] = RUNNING
        S[block + P_TIME] = t
    complete(S, pe, block, S[u + U_PC], S[u + U_COMPLETION], S[u + U_COMPLETION_ID])


@compiled
def _operations(S: Flat, M: Memory, F: Flat, pe: int, block: int, t: int) -> int:
    """Advance all live operations by this cycle; the earliest cycle to look again."""
    soonest = NEVER
    moved = False
    waits = False
    mask = S[block + P_UTS]
    while mask:
        number = lowest(mask)
        mask &= mask - 1
        if number < 8 and blocked_microthread(S, block, number):
            continue
        due = S[block + P_DUE + number]
        if due > t:
            soonest = min(soonest, due)
            continue
        u = block + P_LIVE + number * U_SIZE
        if number == SYNCHRONOUS and S[u + U_DONE] == 0 and queue_clash(S, block, u) >= 0:
            waits = True
            continue
        done = S[u + U_DONE]
        due = advance(S, M, F, pe, block, u, t)
        S[block + P_DUE + number] = due
        if 0 <= S[u + U_FINISH] <= t:
            _finish(S, pe, block, number, t)
            moved = True
            continue
        moved = moved or S[u + U_DONE] != done
        if due < 0:
            waits = True
        else:
            soonest = min(soonest, due)
    if moved and waits and S[block + P_UTS]:
        # A FIFO or a queue may have become free for another operation.
        soonest = min(soonest, t + 1)
    return int(soonest)


@compiled
def act(  # noqa: C901, PLR0915 - compiled: one hot piece
    S: Flat, C: Code, M: Memory, F: Flat, pe: int, t: int
) -> None:
    """All that a PE does in cycle t; it is scheduled again for what is known to come."""
    block = S[H_BLOCKS] + pe * S[H_BLOCK]
    soonest = NEVER
    if S[block + P_TIMER_TASK] >= 0:
        if S[block + P_TIMER_AT] <= t:
            activate(S, pe, block, 0, S[block + P_TIMER_TASK])
            S[block + P_TIMER_TASK] = -1
        else:
            soonest = S[block + P_TIMER_AT]
    if S[block + P_UTS]:
        soonest = min(soonest, _operations(S, M, F, pe, block, t))
    while S[H_HALT] == 0:
        state = S[block + P_STATE]
        if state == WAITING:
            break
        if state >= CURSOR_IN:
            S[block + P_TIME] = t
        elif S[block + P_TIME] > t:
            soonest = min(soonest, S[block + P_TIME])
            break
        elif state == IDLE:
            if S[block + P_LOOK] == 0 and S[block + P_FLUSH] == 0:
                break
            if not pick(S, F, pe, block, t):
                S[block + P_LOOK] = 0
                if S[block + P_FLUSH]:
                    soonest = min(soonest, t + 1)
                break
            continue
        live = S[block + P_UTS]
        execute(S, C, M, F, pe, block, t)
        state = S[block + P_STATE]
        if state == IDLE:
            S[block + P_LOOK] = 1
        if S[block + P_UTS] & ~live:
            # It started operations: those look for data and room in their first cycle.
            soonest = min(soonest, t + 1)
        if state == IDLE:
            _note(S, block)
        if state >= CURSOR_IN:
            break
    if S[H_PROFILE]:
        count_cycles(S, F, pe, block, t)
    if soonest < NEVER:
        schedule(S, pe, block, max(soonest, t + 1))


@compiled
def _note(S: Flat, block: int) -> None:
    """A task has ended."""
    task = S[block + P_TASK]
    if task < 64:
        entry = S[S[block + P_CLASS] + K_TASKS] + task * TASK
        S[entry + T_RUNS] += 1
        S[entry + T_CYCLES] += S[block + P_TIME] - S[block + P_STARTED]


@compiled
def _foresee(  # noqa: C901 - compiled: one hot piece
    S: Flat, M: Memory, F: Flat, i: int, count: int, t: int
) -> None:
    """Have at hand what the PEs will touch that act soon: most of it is not in the cache."""
    if i + FAR < count:
        pe = S[S[H_DUE] + i + FAR]
        block = S[H_BLOCKS] + pe * S[H_BLOCK]
        prefetch(S, block)
        prefetch(S, block + 8)
        prefetch(S, block + 16)
        prefetch(F, F[F[H_TABLE] + pe])
    if i + NEAR < count:
        block = S[H_BLOCKS] + S[S[H_DUE] + i + NEAR] * S[H_BLOCK]
        mask = S[block + P_UTS]
        while mask:
            number = lowest(mask)
            mask &= mask - 1
            if S[block + P_DUE + number] <= t:
                u = block + P_LIVE + number * U_SIZE
                prefetch(S, u)
                prefetch(S, u + 8)
                prefetch(S, u + 16)
    if i + NEXT < count:
        pe = S[S[H_DUE] + i + NEXT]
        block = S[H_BLOCKS] + pe * S[H_BLOCK]
        record = F[F[H_TABLE] + pe]
        mask = S[block + P_UTS]
        while mask:
            number = lowest(mask)
            mask &= mask - 1
            if S[block + P_DUE + number] <= t:
                u = block + P_LIVE + number * U_SIZE
                for x in range(u + U_OPERANDS, u + U_OPERANDS + 2 * X_SIZE, X_SIZE):
                    kind = S[x + X_KIND]
                    if kind == X_IN and S[x + X_BASE] < 8:
                        prefetch(F, F[record + P_INPUT + S[x + X_BASE]])
                    elif kind == X_OUT:
                        prefetch(F, F[record + P_OUTPUT + S[x + X_BASE]])
                    elif kind == X_MEMORY:
                        where = S[x + X_BASE] + S[u + U_DONE] * S[x + X_STRIDE]
                        prefetch(M, S[block + P_MEMORY] + (where >> 1))


# --- the host's streams ------------------------------------------------------------------------


@compiled
def _inject(F: Flat, sends: Flat, words: Flat) -> bool:
    """A word of every stream that has some and room; whether any has some left."""
    left = False
    for i in range(sends.size // 4):
        at = sends[4 * i + 2]
        if at < sends[4 * i + 3]:
            if host_room(F, sends[4 * i], sends[4 * i + 1]) > 0:
                host_push(F, sends[4 * i], sends[4 * i + 1], words[at], 0)
                sends[4 * i + 2] = at + 1
            left = left or sends[4 * i + 2] < sends[4 * i + 3]
    return left


@compiled
def _collect(F: Flat, receives: Flat, words: Flat) -> bool:
    """All that waits for the host, as far as it wants it; whether it has all it wants."""
    complete_ = True
    for i in range(receives.size // 4):
        at, end = receives[4 * i + 2], receives[4 * i + 3]
        while at < end and host_length(F, receives[4 * i], receives[4 * i + 1]) > 0:
            word = host_pop(F, receives[4 * i], receives[4 * i + 1])
            # Control wavelets end where the fabric does: the host counts data (sdklayout-05-gemv).
            if word & W_CONTROL == 0:
                words[at] = word & 0xFFFFFFFF
                at += 1
        receives[4 * i + 2] = at
        complete_ = complete_ and at >= end
    return complete_


@compiled
def run(  # noqa: C901, PLR0913 - compiled: the machine's loop, over arrays
    S: Flat,
    C: Code,
    M: Memory,
    F: Flat,
    sends: Flat,
    send_words: Flat,
    receives: Flat,
    receive_words: Flat,
    until: int,
    limit: int,
) -> int:
    """Run from the current cycle; how it ended."""
    t = S[H_NOW]
    pending = True
    while True:
        if until == READY and S[H_WAITING] <= 0:
            S[H_NOW] = t
            return DONE
        if receives.size and t & (POLL - 1) == 0:
            complete_ = _collect(F, receives, receive_words)
            if complete_ and until == RECEIVED:
                S[H_NOW] = t
                return DONE
        if t >= limit:
            S[H_NOW] = t
            return LIMIT
        count = due_now(S, t)
        for i in range(count):
            _foresee(S, M, F, i, count, t)
            act(S, C, M, F, S[S[H_DUE] + i], t)
        if S[H_HALT]:
            S[H_NOW] = t
            return HALTED
        if pending:
            pending = _inject(F, sends, send_words)
        if fabric_busy(F):
            fabric_step(F, t)
            list_ = F[H_WAKE_LIST]
            for i in range(F[H_WAKES]):
                pe = F[list_ + i]
                block = S[H_BLOCKS] + pe * S[H_BLOCK]
                if S[S[block + P_CLASS] + K_WATCHES]:
                    S[block + P_LOOK] = 1
                schedule(S, pe, block, t + 1)
            t += 1
            continue
        due = next_cycle(S, t + 1)
        if due < 0:
            if _collect(F, receives, receive_words) and until == RECEIVED:
                S[H_NOW] = t
                return DONE
            if fabric_busy(F) or (pending and _inject(F, sends, send_words) and fabric_busy(F)):
                continue
            S[H_NOW] = t
            return REST
        t = min(due, limit)
        set_time(F, t)


@compiled
def start_all(S: Flat, t: int) -> None:
    """Have every PE look at its tasks in cycle t."""
    for pe in range(S[H_PES]):
        schedule(S, pe, S[H_BLOCKS] + pe * S[H_BLOCK], t)
