"""What code asks of the machine: time, random numbers, prints, queues, switches, mathematics."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .fabric import (
    in_teardown,
    input_length,
    leave_teardown,
    output_length,
    output_room,
    set_filter,
    set_input_color,
    set_position,
    set_routes,
    set_switch_mode,
    teardown_colors,
)
from .halts import HaltKind
from .numbers import of_number, to_number
from .opcodes import MathFunction, SystemCall
from .operands import halt
from .state_layout import (
    H_LOG,
    H_LOG_ROOM,
    H_LOGGED,
    H_LOST,
    H_UNBLOCKS,
    H_WAITING,
    K_OUT_COLORS,
    P_CLASS,
    P_DSRS,
    P_FIFOS,
    P_FLUSH,
    P_PRNG,
    P_READY,
    P_TIMER_AT,
    P_TIMER_TASK,
)

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]


@compiled
def _log(S: Flat, pe: int, now: int, kind: int, value: int, buffer: int) -> None:
    count = S[H_LOGGED]
    if count >= S[H_LOG_ROOM]:
        S[H_LOST] += 1
        return
    entry = S[H_LOG] + 5 * count
    S[entry] = now
    S[entry + 1] = pe
    S[entry + 2] = kind
    S[entry + 3] = value
    S[entry + 4] = buffer
    S[H_LOGGED] = count + 1


@compiled
def _math(function: int, x: float, y: float) -> float:  # noqa: C901 - a table of functions
    if function == MathFunction.SQRT:
        return math.sqrt(x) if x >= 0.0 else math.nan
    if function == MathFunction.INV_SQRT:
        if x > 0.0:
            return 1.0 / math.sqrt(x)
        return math.inf if x == 0.0 else math.nan
    if function == MathFunction.SIN:
        return math.sin(x) if x - x == 0.0 else math.nan
    if function == MathFunction.COS:
        return math.cos(x) if x - x == 0.0 else math.nan
    if function == MathFunction.TAN:
        return math.tan(x) if x - x == 0.0 else math.nan
    if function == MathFunction.EXP:
        return math.exp(x) if x < 700.0 else (math.inf if x == x else x)
    if function == MathFunction.LOG:
        return math.log(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    if function == MathFunction.POW:
        return float(x**y)
    if function == MathFunction.TANH:
        return math.tanh(x)
    if function == MathFunction.SIGMOID:
        return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else (0.0 if x == x else x)
    if function == MathFunction.FLOOR:
        return float(np.floor(x))
    if function == MathFunction.CEIL:
        return float(np.ceil(x))
    if function == MathFunction.ATAN2:
        return math.atan2(x, y)
    if function == MathFunction.ASIN:
        return math.asin(x) if -1.0 <= x <= 1.0 else math.nan
    if function == MathFunction.ACOS:
        return math.acos(x) if -1.0 <= x <= 1.0 else math.nan
    if function == MathFunction.ATAN:
        return math.atan(x)
    if function == MathFunction.SINH:
        return float(np.sinh(x))
    if function == MathFunction.COSH:
        return float(np.cosh(x))
    if function == MathFunction.LOG2:
        return math.log2(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    if function == MathFunction.EXP2:
        return float(np.exp2(x))
    if function == MathFunction.LOG10:
        return math.log10(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    if function == MathFunction.ROUND:
        return float(np.floor(x + 0.5)) if x >= 0.0 else float(np.ceil(x - 0.5))
    return float(np.trunc(x))


@compiled
def needs_time(call: int) -> bool:
    """Whether a system call is seen by, or sees, what else happens in the machine."""
    return (
        call == SystemCall.UNBLOCK_COMMANDS
        or call >= SystemCall.TEARDOWN_EXIT
        or call == SystemCall.QUEUE_FLUSH
        or call == SystemCall.FIFO_READ_LENGTH
        or call == SystemCall.FIFO_WRITE_LENGTH
        or call == SystemCall.SET_CONFIG
    )


@compiled
def _mask_or_none(mask: int) -> int:
    return mask if mask else -1


@compiled
def _fabric_call(  # noqa: C901 - compiled: a table of cases
    S: Flat, F: Flat, pe: int, block: int, call: int, r: int
) -> None:
    """System calls about queues, switches and teardown; arguments from S[r] on."""
    a, b, c, d = S[r], S[r + 1], S[r + 2], S[r + 3]
    if call == SystemCall.TEARDOWN_EXIT:
        if in_teardown(F, pe, a):
            leave_teardown(F, pe, a)
    elif call == SystemCall.SWITCH:
        set_position(F, pe, a, b)
    elif call == SystemCall.COLOR_ROUTE:
        set_routes(F, pe, a, 0, b, c)
    elif call == SystemCall.SWITCH_POSITION:
        set_routes(F, pe, a, b, _mask_or_none(c), _mask_or_none(d))
    elif call == SystemCall.SWITCH_MODE:
        set_switch_mode(F, pe, a, -1 if b == 0xFFFF else b, -1 if c == 0xFFFF else c)
    elif call == SystemCall.QUEUE_STATUS:
        status = 0
        for q in range(8):
            length = input_length(F, pe, q) if a == 0 else output_length(F, pe, q)
            if length == 0:
                status |= 1 << q
            elif a and output_room(F, pe, q) == 0:
                status |= 256 << q
        S[r] = status
    elif call == SystemCall.TEARDOWN_PENDING:
        S[r] = teardown_colors(F, pe)
    elif call == SystemCall.QUEUE_COLOR:
        if a >= 16:
            set_input_color(F, pe, a - 16, b)
        else:
            S[S[block + P_CLASS] + K_OUT_COLORS + a] = b
    elif call == SystemCall.FILTER:
        set_filter(F, pe, a, b, c)
    elif call == SystemCall.QUEUE_FLUSH:
        S[block + P_FLUSH] |= 1 << a


@compiled
def system(  # noqa: C901, PLR0913, PLR0915 - compiled: a table of cases
    S: Flat, F: Flat, pe: int, block: int, call: int, r: int, kind: int, pc: int, now: int
) -> None:
    """System call with arguments from S[r] on; a result replaces the first."""
    if call == SystemCall.TIMESTAMP:
        S[r] = now & 0xFFFFFFFFFFFF
    elif call == SystemCall.RANDOM16:
        # 23 bits, x^23 + x^18 + 1.
        seed = S[block + P_PRNG] & 0x7FFFFF
        if seed == 0:
            seed = 1
        for _ in range(16):
            seed = (seed << 1 | ((seed >> 22) ^ (seed >> 17)) & 1) & 0x7FFFFF
        S[block + P_PRNG] = seed
        S[r] = seed & 0xFFFF
    elif call == SystemCall.SET_PRNG:
        S[block + P_PRNG] = S[r]
    elif call == SystemCall.ASSERT:
        if S[r] == 0:
            halt(S, HaltKind.ASSERT, pe, pc, S[r + 1], 0)
    elif call == SystemCall.UNBLOCK_COMMANDS:
        if S[block + P_READY] == 0:
            S[block + P_READY] = 1
            S[H_WAITING] -= 1
            S[H_UNBLOCKS] = now
    elif call == SystemCall.GET_X:
        S[r] = pe % S[2]
    elif call == SystemCall.GET_Y:
        S[r] = pe // S[2]
    elif call == SystemCall.PRINT:
        _log(S, pe, now, S[r], S[r + 1], -1)
    elif call == SystemCall.TRACE:
        _log(S, pe, now, S[r], S[r + 1], S[r + 2])
    elif call == SystemCall.MATH:
        function = S[r]
        second = 0.0
        if function == MathFunction.POW or function == MathFunction.ATAN2:
            second = to_number(S[r + 2], kind)
        S[r] = of_number(_math(function, to_number(S[r + 1], kind), second), kind)
    elif call == SystemCall.FIFO_READ_LENGTH:
        S[block + P_FIFOS + 4 * S[r] + 2] = S[r + 1]
    elif call == SystemCall.FIFO_WRITE_LENGTH:
        S[block + P_FIFOS + 4 * S[r] + 3] = S[r + 1]
    elif call == SystemCall.SET_DSR_BASE:
        entry = block + P_DSRS + 2 * S[r]
        S[entry] = (S[entry] & ~(np.int64(0xFFFF) << 16)) | ((S[r + 1] & 0xFFFF) << 16)
    elif call == SystemCall.TIMER:
        S[block + P_TIMER_TASK] = S[r]
        S[block + P_TIMER_AT] = now + S[r + 1]
    elif call == SystemCall.GET_CONFIG:
        S[r] = 0
    else:
        _fabric_call(S, F, pe, block, call, r)
