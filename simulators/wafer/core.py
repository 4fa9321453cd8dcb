"""The scalar core: runs a PE's main thread to its next interaction with the rest of the machine.

It runs ahead of the machine's time as long as nothing outside can tell: `P_TIME` is what it has come
to. What others see, or what depends on them, waits until the machine is there too.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .arithmetic import compute, negate
from .bulk import operate
from .compiling import compiled
from .dsd import Completion, DsdKind, Operand
from .fabric import (
    in_teardown,
    input_head,
    input_length,
    input_pop,
    leave_teardown,
    output_length,
    output_push,
    output_room,
    set_filter,
    set_input_color,
    set_position,
    set_routes,
    set_switch_mode,
    teardown_colors,
)
from .halts import HaltKind
from .live import activate, complete, in_range, shape_of, step_of, unblock, waits_for_it
from .numbers import converted, of_number, to_number, wrap
from .opcodes import MathFunction, Op, SystemCall
from .operands import ENDLESS, address, check, fill, halt, read, scale, write
from .state_layout import (
    C_OPERAND,
    C_POSITION,
    C_SIZE,
    CALLS,
    CURSOR_IN,
    CURSOR_OUT,
    H_LOG,
    H_LOG_ROOM,
    H_LOGGED,
    H_LOST,
    H_TAKEN,
    H_UNBLOCKS,
    H_WAITING,
    H_WIDTHS,
    IDLE,
    K_CODE,
    K_EXTENT,
    K_FUNCTION_COUNT,
    K_FUNCTIONS,
    K_OPERATIONS,
    K_OUT_COLORS,
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
    P_BLOCKED,
    P_BUDGET,
    P_CALLS,
    P_CLASS,
    P_COMPUTE,
    P_CURSORS,
    P_DEPTH,
    P_DSRS,
    P_DUE,
    P_FIFOS,
    P_FLUSH,
    P_FRAME,
    P_LIVE,
    P_MEMORY,
    P_PC,
    P_PRNG,
    P_READY,
    P_STATE,
    P_TASK,
    P_TIME,
    P_TIMER_AT,
    P_TIMER_TASK,
    P_UT_BLOCKED,
    P_UTS,
    RUNNING,
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
    WAITING,
    X_BASE,
    X_COLOR,
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


# --- operations on DSDs ------------------------------------------------------------------------


@compiled
def _touches_fabric(S: Flat, block: int, operation: int) -> bool:
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
def _prepare(S: Flat, block: int, u: int, operation: int, pc: int, now: int) -> int:
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
    # What is read in memory is all sent, whatever the extent of the destination: topic-12-debug-library
    # and game-of-life send several words by a fabout_dsd of extent 1.
    x = u + U_OPERANDS
    if S[x + X_KIND] == X_OUT and not remembered and S[x + X_EXTENT] < total:
        total = S[x + X_EXTENT]
    S[u + U_OP] = S[operation + O_VECTOR]
    S[u + U_TOTAL] = 1 if total == ENDLESS else total
    S[u + U_DONE] = 0
    S[u + U_INDEX] = shift
    S[u + U_PC] = pc
    S[u + U_TASK] = S[block + P_TASK]
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
def _queue_clash(S: Flat, block: int, u: int) -> int:
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
def _start(S: Flat, M: Memory, F: Flat, pe: int, block: int, number: int, pc: int, now: int,
           result: int) -> int:  # fmt: skip
    """Start operation `number` of the class; cycles it holds the main thread, -1: until it ends."""
    operation = S[S[block + P_CLASS] + K_OPERATIONS] + number * O_SIZE
    u = block + P_LIVE + SYNCHRONOUS * U_SIZE
    loaded = _prepare(S, block, u, operation, pc, now)
    S[operation + O_RUNS] += 1
    S[operation + O_ELEMENTS] += S[u + U_TOTAL]
    fabric = False
    for i in range(S[u + U_COUNT]):
        kind = S[u + U_OPERANDS + i * X_SIZE + X_KIND]
        fabric = fabric or kind == X_IN or kind == X_OUT or kind == X_FIFO
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
    S[u + U_AT] = now
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
    clash = _queue_clash(S, block, u)
    if clash >= 0:
        halt(S, HaltKind.QUEUE_BUSY, pe, pc, clash, 0)
        return 0
    v = block + P_LIVE + ut * U_SIZE
    for i in range(U_SIZE):
        S[v + i] = S[u + i]
    S[block + P_UTS] |= 1 << ut
    S[block + P_DUE + ut] = now
    return 0


# --- cursors of @map ---------------------------------------------------------------------------


@compiled
def _cursor_open(S: Flat, block: int, a: int, b: int, c: int) -> None:
    cursor = block + P_CURSORS + a * C_SIZE
    if b < 0:
        fill(S, block, cursor + C_OPERAND, Operand.DSR, c)
    else:
        fill(S, block, cursor + C_OPERAND, Operand.DSD, b)
    S[cursor + C_POSITION] = 0


@compiled
def _load(S: Flat, M: Memory, block: int, where: int, kind: int) -> int:
    """A value of a scalar type; the address has been checked."""
    m = S[block + P_MEMORY]
    if kind == 12 or kind == 6:
        return read(M, m, where, 1)
    if kind == 5:
        return wrap(read(M, m, where, 1), 5)
    if kind == 1 or kind == 2:
        byte = (M[m + (where >> 1)] >> (8 * (where & 1))) & 0xFF
        return wrap(np.int64(byte), kind)
    if kind == 7 or kind == 8 or kind == 13:
        return int(read(M, m, where, 1) | read(M, m, where + 4, 1) << 32)
    return wrap(read(M, m, where, 0), 3) if kind == 3 else read(M, m, where, 0)


@compiled
def _store(S: Flat, M: Memory, block: int, where: int, kind: int, value: int) -> None:
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
def _bytes(kind: int) -> int:
    if kind == 12 or kind == 6 or kind == 5:
        return 4
    if kind == 7 or kind == 8 or kind == 13:
        return 8
    return 1 if kind == 1 or kind == 2 else 2


@compiled
def _good(S: Flat, pe: int, block: int, pc: int, where: int, size: int) -> bool:
    """Whether these bytes are the PE's, and even where they must be; if not, that is a halt."""
    extent = S[S[block + P_CLASS] + K_EXTENT]
    if where < 0 or where + size > extent or (size > 1 and where & 1):
        halt(S, HaltKind.ADDRESS, pe, pc, where, extent)
        return False
    return True


@compiled
def _copy(S: Flat, M: Memory, block: int, target: int, source: int, count: int) -> None:
    m = S[block + P_MEMORY]
    words = count >> 1
    t, s = m + (target >> 1), m + (source >> 1)
    if t <= s:
        for i in range(words):
            M[t + i] = M[s + i]
    else:
        for i in range(words - 1, -1, -1):
            M[t + i] = M[s + i]
    if count & 1:
        value = _load(S, M, block, source + count - 1, 2)
        _store(S, M, block, target + count - 1, 2, value)


# --- the rest of the machine -------------------------------------------------------------------


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
        return x**y
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
def _needs_time(call: int) -> bool:
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
def _fabric_call(S: Flat, F: Flat, pe: int, block: int, call: int, r: int) -> None:
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
def _system(S: Flat, F: Flat, pe: int, block: int, call: int, r: int, kind: int, pc: int,
            now: int) -> None:  # fmt: skip
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


# --- the interpreter ---------------------------------------------------------------------------


@compiled
def _dsd_set(packed: int, field: int, value: int) -> int:
    if field == 6 or field == 7:
        base = ((packed >> 16) & 0xFFFF) + (2 if field == 6 else 4) * value
        return int((packed & ~(np.int64(0xFFFF) << 16)) | ((base & 0xFFFF) << 16))
    first, width = 0, 4
    if field == 1:
        first, width = 16, 16
    elif field == 2:
        first, width = 32, 16
    elif field == 3:
        first, width = 8, 8
    elif field == 4:
        first, width = 4, 1
    elif field == 5:
        first, width = 48, 16
    mask = np.int64((1 << width) - 1)
    return int((packed & ~(mask << first)) | ((value & mask) << first))


@compiled
def execute(  # noqa: C901, PLR0915 - the interpreter's loop: one branch per instruction
    S: Flat, C: Code, M: Memory, F: Flat, pe: int, block: int, t: int
) -> None:
    """Run the main thread from `P_TIME` on, which is `t` if it must interact."""
    klass = S[block + P_CLASS]
    start = S[klass + K_CODE]
    functions = S[klass + K_FUNCTIONS]
    fp = S[block + P_FRAME]
    pc = S[block + P_PC]
    now = S[block + P_TIME]
    begun = now
    budget = S[block + P_BUDGET]
    taken = S[H_TAKEN]
    S[block + P_STATE] = RUNNING
    while True:
        budget -= 1
        if budget < 0:
            halt(S, HaltKind.RUNAWAY, pe, pc, S[17], 0)
            break
        at = (start + pc) * 4
        head = np.int64(C[at])
        op = head & 255
        a = np.int64(C[at + 1])
        b = np.int64(C[at + 2])
        c = np.int64(C[at + 3])
        kind = (head >> 8) & 255
        cost = (head >> 16) & 255
        if op >= Op.ADD and op <= Op.LE:
            right = c if (head >> 24) & 1 else S[fp + c]
            if op == Op.ADD and kind == 4:
                S[fp + a] = (S[fp + b] + right) & 0xFFFF
            elif (op == Op.DIV or op == Op.REM) and right == 0 and kind < 9:
                halt(S, HaltKind.DIVIDE, pe, pc, 0, 0)
                break
            else:
                S[fp + a] = compute(op, kind, S[fp + b], right)
        elif op == Op.LOAD:
            where = c if b < 0 else S[fp + b] + c
            if not _good(S, pe, block, pc, where, _bytes(kind)):
                break
            S[fp + a] = _load(S, M, block, where, kind)
        elif op == Op.STORE:
            where = c if b < 0 else S[fp + b] + c
            if not _good(S, pe, block, pc, where, _bytes(kind)):
                break
            _store(S, M, block, where, kind, S[fp + a])
        elif op == Op.MOVE:
            S[fp + a] = S[fp + b]
        elif op == Op.CONST:
            if (head >> 24) & 2:
                S[fp + a] = (c << 32) | (b & 0xFFFFFFFF)
            else:
                S[fp + a] = c
        elif op == Op.JUMP_IF:
            if S[fp + a] != 0:
                now += cost + taken
                pc = c
                continue
        elif op == Op.JUMP_UNLESS:
            if S[fp + a] == 0:
                now += cost + taken
                pc = c
                continue
        elif op == Op.JUMP:
            now += cost
            pc = c
            continue
        elif op == Op.CHECK:
            if S[fp + a] < 0 or S[fp + a] >= c:
                halt(S, HaltKind.INDEX, pe, pc, S[fp + a], c)
                break
        elif op == Op.CONVERT:
            S[fp + a] = converted(S[fp + b], kind, c)
        elif op == Op.DSD_OPERATE:
            operation = S[klass + K_OPERATIONS] + c * O_SIZE
            if _touches_fabric(S, block, operation):
                if now > t:
                    break
                now += cost
                S[block + P_FRAME] = fp
                held = _start(S, M, F, pe, block, c, pc, now, fp + a)
                if S[8] != 0:
                    break
                pc += 1
                if held < 0:
                    S[block + P_STATE] = WAITING
                    break
                now += held
                continue
            S[block + P_FRAME] = fp
            now += cost + _start(S, M, F, pe, block, c, pc, now, fp + a)
            if S[8] != 0:
                break
            pc += 1
            continue
        elif op == Op.CALL or op == Op.CALL_POINTER:
            callee = c
            if op == Op.CALL_POINTER:
                callee = S[fp + b]
                if callee < 0 or callee >= S[klass + K_FUNCTION_COUNT]:
                    halt(S, HaltKind.FUNCTION, pe, pc, callee, 0)
                    break
            depth = S[block + P_DEPTH]
            end = fp + a + S[functions + 2 * callee + 1]
            if depth >= CALLS or end > block + S[4]:
                halt(S, HaltKind.STACK, pe, pc, depth, 0)
                break
            S[block + P_CALLS + 2 * depth] = pc + 1
            S[block + P_CALLS + 2 * depth + 1] = fp
            S[block + P_DEPTH] = depth + 1
            fp += a
            pc = S[functions + 2 * callee]
            now += cost
            continue
        elif op == Op.RETURN:
            depth = S[block + P_DEPTH] - 1
            now += cost
            if depth < 0:
                S[block + P_STATE] = IDLE
                break
            S[block + P_DEPTH] = depth
            pc = S[block + P_CALLS + 2 * depth]
            fp = S[block + P_CALLS + 2 * depth + 1]
            continue
        elif op == Op.DSD_SET:
            S[fp + a] = _dsd_set(S[fp + b], c, S[fp + a])
        elif op == Op.NEG or op == Op.INVERT or op == Op.NOT:
            S[fp + a] = negate(op, kind, S[fp + b])
        elif op == Op.CURSOR_READ or op == Op.CURSOR_WRITE:
            cursor = block + P_CURSORS + b * C_SIZE
            x = cursor + C_OPERAND
            done = S[cursor + C_POSITION]
            where_kind = S[x + X_KIND]
            if done >= S[x + X_EXTENT]:
                now += cost
                pc = c
                continue
            wide = 1 if _bytes(kind) == 4 else 0
            scale(S, x, wide)
            if where_kind == X_IN or where_kind == X_OUT:
                if now > t:
                    break
                if op == Op.CURSOR_READ:
                    if input_head(F, pe, S[x + X_BASE]) < 0:
                        S[block + P_STATE] = CURSOR_IN
                        break
                    word = input_pop(F, pe, S[x + X_BASE])
                    if (word >> 32) & 1:
                        continue
                    S[fp + a] = wrap(word & (0xFFFFFFFF if wide else 0xFFFF), kind)
                else:
                    if output_room(F, pe, S[x + X_BASE]) <= 0:
                        S[block + P_STATE] = CURSOR_OUT
                        break
                    color = S[klass + K_OUT_COLORS + S[x + X_BASE]]
                    color = S[x + X_COLOR] if color < 0 else color
                    mask = 0xFFFFFFFF if wide else 0xFFFF
                    output_push(F, pe, S[x + X_BASE], color, S[fp + a] & mask, 0, 0)
            else:
                if not check(S, pe, pc, block, x, done + 1, wide):
                    break
                where = address(S, x, done)
                if op == Op.CURSOR_READ:
                    S[fp + a] = _load(S, M, block, where, kind)
                else:
                    _store(S, M, block, where, kind, S[fp + a])
            S[cursor + C_POSITION] = done + 1
        elif op == Op.CURSOR:
            S[block + P_FRAME] = fp
            _cursor_open(S, block, a, b, c)
        elif op == Op.ACTIVATE:
            activate(S, pe, block, pc, c if b < 0 else S[fp + b])
            if S[8] != 0:
                break
        elif op == Op.BLOCK or op == Op.UNBLOCK:
            if now > t:
                break
            task = c if b < 0 else S[fp + b]
            if (head >> 24) & 4:
                if op == Op.BLOCK:
                    S[block + P_UT_BLOCKED] |= 1 << task
                else:
                    S[block + P_UT_BLOCKED] &= ~(1 << task)
            elif op == Op.BLOCK:
                S[block + P_BLOCKED] |= np.int64(1) << task
            else:
                unblock(S, block, task)
        elif op == Op.DSR_LOAD:
            entry = block + P_DSRS + 2 * (c >> 8)
            S[entry] = S[fp + a]
            S[entry + 1] = c & 255
        elif op == Op.SYSTEM:
            if now > t and _needs_time(c):
                break
            _system(S, F, pe, block, c, fp + a, kind, pc, now)
            if S[8] != 0:
                break
        elif op == Op.COPY:
            if not (
                _good(S, pe, block, pc, S[fp + a], c) and _good(S, pe, block, pc, S[fp + b], c)
            ):
                break
            _copy(S, M, block, S[fp + a], S[fp + b], c)
        elif op == Op.FILL:
            size = _bytes(kind)
            if not _good(S, pe, block, pc, S[fp + a], c * size):
                break
            for i in range(c):
                _store(S, M, block, S[fp + a] + i * size, kind, S[fp + b])
        now += cost
        pc += 1
    S[block + P_BUDGET] = budget
    S[block + P_PC] = pc
    S[block + P_FRAME] = fp
    S[block + P_TIME] = now
    S[block + P_COMPUTE] += now - begun
