"""The machine's loop: which PE acts in which cycle, tasks, the fabric's steps, the host's streams."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled, prefetch
from .core import SYNCHRONOUS, _queue_clash, execute
from .fabric import (
    fabric_busy,
    host_length,
    host_pop,
    host_push,
    host_room,
    input_head,
    input_length,
    input_pop,
    output_length,
    set_time,
    take_teardown,
)
from .fabric_bits import lowest
from .fabric_layout import H_TABLE, H_WAKE_LIST, H_WAKES, P_INPUT, P_OUTPUT
from .fabric_step import fabric_step
from .live import activate, advance, blocked_microthread, complete, saved, waits_for_it
from .numbers import wrap
from .state_layout import (
    COMMAND,
    CURSOR_IN,
    CURSOR_OUT,
    H_BLOCK,
    H_BLOCKS,
    H_BUDGET,
    H_DUE,
    H_HALT,
    H_NOW,
    H_OCCUPIED,
    H_PES,
    H_SCHEDULED,
    H_WAITING,
    H_WAKE,
    H_WHEEL,
    HANDLER,
    IDLE,
    K_CHANNEL_COUNT,
    K_CHANNELS,
    K_EMPTY,
    K_FIFO_COUNT,
    K_FUNCTIONS,
    K_HANDLERS,
    K_TASKS,
    K_WATCHES,
    P_ACTIVE,
    P_ARGUMENTS,
    P_AT,
    P_BLOCKED,
    P_BUDGET,
    P_CLASS,
    P_COMMAND,
    P_DEPTH,
    P_DUE,
    P_FIFOS,
    P_FLUSH,
    P_FRAME,
    P_HANDLER,
    P_LIVE,
    P_LOOK,
    P_MEMORY,
    P_NEXT,
    P_PC,
    P_PREVIOUS,
    P_STARTED,
    P_STATE,
    P_TASK,
    P_TASKS_RUN,
    P_TIME,
    P_TIMER_AT,
    P_TIMER_TASK,
    P_UTS,
    RUNNING,
    T_ARGUMENTS,
    T_COUNT,
    T_CYCLES,
    T_ENTRY,
    T_KIND,
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
    WHEEL,
    X_BASE,
    X_IN,
    X_KIND,
    X_MEMORY,
    X_OUT,
    X_SIZE,
    X_STRIDE,
)

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
_NEVER = 1 << 62
FAR, NEAR, NEXT = 9, 6, 3
"""How many PEs ahead their state is fetched, first what they are, then what they do."""


# --- the wheel ---------------------------------------------------------------------------------


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
def _next_cycle(S: Flat, t: int) -> int:
    """The next cycle from t on in which a slot holds something that may be due; -1: none."""
    if S[H_SCHEDULED] == 0:
        return -1
    best = np.int64(_NEVER)
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


# --- tasks -------------------------------------------------------------------------------------


@compiled
def _begin(S: Flat, block: int, task: int, entry: int, t: int) -> None:
    """Start a task's code, after what waking it takes."""
    S[block + P_TASK] = task
    S[block + P_PC] = entry
    S[block + P_DEPTH] = 0
    S[block + P_FRAME] = block + P_FIFOS + 4 * S[S[block + P_CLASS] + K_FIFO_COUNT]
    S[block + P_BUDGET] = S[H_BUDGET]
    S[block + P_STATE] = RUNNING
    S[block + P_TIME] = t + S[H_WAKE]
    S[block + P_STARTED] = t
    S[block + P_TASKS_RUN] += 1


@compiled
def _arguments(S: Flat, block: int, entry: int, word: int) -> None:
    """A wavelet's bits as the arguments of the task that was begun."""
    frame = S[block + P_FRAME]
    for i in range(S[entry + T_COUNT]):
        bits = S[entry + T_ARGUMENTS + 2 * i]
        kind = S[entry + T_ARGUMENTS + 2 * i + 1]
        part = word & ((1 << bits) - 1)
        word >>= bits
        S[frame + i] = wrap(part, kind) if kind < 9 else part


@compiled
def _read_by_operation(S: Flat, block: int, channel: int) -> bool:
    mask = S[block + P_UTS]
    for other in range(9):
        if (mask >> other) & 1:
            u = block + P_LIVE + other * U_SIZE
            if waits_for_it(S, u, channel, False):
                return True
    return False


@compiled
def _from_channels(S: Flat, F: Flat, pe: int, block: int, t: int) -> bool:
    """Start the data or control task of the first channel that has one to start."""
    klass = S[block + P_CLASS]
    blocked = S[block + P_BLOCKED]
    for i in range(S[klass + K_CHANNEL_COUNT]):
        row = S[klass + K_CHANNELS] + 3 * i
        channel, task = S[row], S[row + 1]
        if input_length(F, pe, channel) == 0 or (blocked >> S[row + 2]) & 1:
            continue
        word = input_head(F, pe, channel)
        if (word >> 32) & 1:
            number = (word >> 16) & 63
            entry = S[klass + K_TASKS] + number * TASK
            if S[entry + T_KIND] != 3:
                if _read_by_operation(S, block, channel):
                    continue
                # Nothing is bound to it: the PE takes no notice.
                input_pop(F, pe, channel)
                if input_length(F, pe, channel):
                    return _from_channels(S, F, pe, block, t)
                continue
            if (blocked >> number) & 1:
                continue
            input_pop(F, pe, channel)
            _begin(S, block, number, S[entry + T_ENTRY], t)
            _arguments(S, block, entry, word & 0xFFFF)
            return True
        if task < 0:
            continue
        entry = S[klass + K_TASKS] + task * TASK
        input_pop(F, pe, channel)
        _begin(S, block, task, S[entry + T_ENTRY], t)
        _arguments(S, block, entry, word & 0xFFFFFFFF)
        return True
    return False


@compiled
def _handlers(S: Flat, F: Flat, pe: int, block: int, t: int) -> bool:
    """Start the handler of a colour in teardown, or of a queue that was to be flushed."""
    klass = S[block + P_CLASS]
    torn = take_teardown(F, pe)
    if torn:
        S[block + P_HANDLER] |= torn
    mask = S[block + P_HANDLER]
    while mask:
        color = lowest(mask)
        mask &= mask - 1
        function = S[klass + K_HANDLERS + color]
        S[block + P_HANDLER] &= ~(1 << color)
        if function >= 0:
            _begin(S, block, HANDLER, S[S[klass + K_FUNCTIONS] + 2 * function], t)
            return True
        entry = S[klass + K_TASKS] + 29 * TASK
        if S[entry + T_KIND]:
            _begin(S, block, 29, S[entry + T_ENTRY], t)
            return True
    mask = S[block + P_FLUSH]
    while mask:
        queue = lowest(mask)
        mask &= mask - 1
        length = input_length(F, pe, queue - 16) if queue >= 16 else output_length(F, pe, queue)
        if length == 0:
            S[block + P_FLUSH] &= ~(1 << queue)
            function = S[klass + K_EMPTY + queue]
            if function >= 0:
                _begin(S, block, HANDLER, S[S[klass + K_FUNCTIONS] + 2 * function], t)
                return True
    return False


@compiled
def _pick(S: Flat, F: Flat, pe: int, block: int, t: int) -> bool:
    """Start a task: a handler, the host's command, the least local id, then data in order."""
    klass = S[block + P_CLASS]
    if _handlers(S, F, pe, block, t):
        return True
    command = S[block + P_COMMAND]
    if command >= 0:
        S[block + P_COMMAND] = -1
        _begin(S, block, COMMAND, S[S[klass + K_FUNCTIONS] + 2 * command], t)
        for i in range(16):
            S[S[block + P_FRAME] + i] = S[block + P_ARGUMENTS + i]
        return True
    ready = S[block + P_ACTIVE] & ~S[block + P_BLOCKED]
    if ready:
        task = lowest(ready)
        S[block + P_ACTIVE] &= ~(np.int64(1) << task)
        _begin(S, block, task, S[S[klass + K_TASKS] + task * TASK + T_ENTRY], t)
        return True
    return _from_channels(S, F, pe, block, t)


# --- a PE's cycle ------------------------------------------------------------------------------


@compiled
def _finish(S: Flat, pe: int, block: int, number: int, t: int) -> None:
    """An operation is over."""
    u = block + P_LIVE + number * U_SIZE
    S[block + P_UTS] &= ~(1 << number)
    saved(S, block, u)
    if number == SYNCHRONOUS:
        if S[u + U_RESULT_REGISTER] >= 0:
            S[S[u + U_RESULT_REGISTER]] = 1 if S[u + U_RESULT] else 0
        S[block + P_STATE] = RUNNING
        S[block + P_TIME] = t
    complete(S, pe, block, S[u + U_PC], S[u + U_COMPLETION], S[u + U_COMPLETION_ID])


@compiled
def _operations(S: Flat, M: Memory, F: Flat, pe: int, block: int, t: int) -> int:
    """Advance all live operations by this cycle; the earliest cycle to look again."""
    soonest = np.int64(_NEVER)
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
        if number == SYNCHRONOUS and S[u + U_DONE] == 0 and _queue_clash(S, block, u) >= 0:
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
def act(S: Flat, C: Code, M: Memory, F: Flat, pe: int, t: int) -> None:
    """All that a PE does in cycle t; it is scheduled again for what is known to come."""
    block = S[H_BLOCKS] + pe * S[H_BLOCK]
    soonest = np.int64(_NEVER)
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
        if state == CURSOR_IN or state == CURSOR_OUT:
            S[block + P_TIME] = t
        elif S[block + P_TIME] > t:
            soonest = min(soonest, S[block + P_TIME])
            break
        elif state == IDLE:
            if S[block + P_LOOK] == 0 and S[block + P_FLUSH] == 0:
                break
            if not _pick(S, F, pe, block, t):
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
        if state == CURSOR_IN or state == CURSOR_OUT:
            break
    if soonest < _NEVER:
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
def _due(S: Flat, t: int) -> int:
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


@compiled
def _foresee(S: Flat, M: Memory, F: Flat, i: int, count: int, t: int) -> None:
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
            words[at] = host_pop(F, receives[4 * i], receives[4 * i + 1]) & 0xFFFFFFFF
            at += 1
        receives[4 * i + 2] = at
        complete_ = complete_ and at >= end
    return complete_


@compiled
def run(  # noqa: PLR0913 - compiled: arrays, not records
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
        count = _due(S, t)
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
        due = _next_cycle(S, t + 1)
        if due < 0:
            if _collect(F, receives, receive_words) and until == RECEIVED:
                S[H_NOW] = t
                return DONE
            if fabric_busy(F) or (pending and _inject(F, sends, send_words) and fabric_busy(F)):
                continue
            S[H_NOW] = t
            return REST
        t = due
        set_time(F, t)


@compiled
def start_all(S: Flat, t: int) -> None:
    """Have every PE look at its tasks in cycle t."""
    for pe in range(S[H_PES]):
        schedule(S, pe, S[H_BLOCKS] + pe * S[H_BLOCK], t)
