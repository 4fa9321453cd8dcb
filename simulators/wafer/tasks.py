"""Which task a PE starts next, and how: handlers, the host's command, local ids, wavelets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .fabric import (
    input_head,
    input_length,
    input_pop,
    output_length,
    take_teardown,
)
from .fabric_bits import lowest
from .live import waits_for_it
from .numbers import wrap
from .state_layout import (
    COMMAND,
    H_BUDGET,
    H_WAKE,
    HANDLER,
    K_CHANNEL_COUNT,
    K_CHANNELS,
    K_EMPTY,
    K_FIFO_COUNT,
    K_FUNCTIONS,
    K_HANDLERS,
    K_TASKS,
    P_ACTIVE,
    P_ARGUMENTS,
    P_BLOCKED,
    P_BUDGET,
    P_CLASS,
    P_COMMAND,
    P_DEPTH,
    P_FIFOS,
    P_FLUSH,
    P_FRAME,
    P_HANDLER,
    P_LIVE,
    P_PC,
    P_STARTED,
    P_STATE,
    P_TASK,
    P_TASKS_RUN,
    P_TIME,
    P_UTS,
    RUNNING,
    T_ARGUMENTS,
    T_COUNT,
    T_ENTRY,
    T_KIND,
    TASK,
    U_SIZE,
)

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]


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
def _from_channels(  # noqa: C901 - compiled: one hot piece
    S: Flat, F: Flat, pe: int, block: int, t: int
) -> bool:
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
def pick(S: Flat, F: Flat, pe: int, block: int, t: int) -> bool:
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
