"""The scalar core: runs a PE's main thread to its next interaction with the machine.

It runs ahead of the machine's time as long as nothing outside can tell: `P_TIME` is what it has
come to. What others see, or what depends on them, waits until the machine is there too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arithmetic import compute, negate
from .compiling import compiled
from .dsd import Operand
from .fabric import (
    input_head,
    input_pop,
    output_push,
    output_room,
)
from .halts import HaltKind
from .live import activate, unblock
from .numbers import converted, wrap
from .opcodes import Op
from .operands import address, check, fill, halt, scale
from .registers import REGISTERS, is_register, read_register, write_register
from .scalar_memory import bytes_of, copy, good, load, store
from .starting import start, touches_fabric
from .state_layout import (
    C_OPERAND,
    C_POSITION,
    C_SIZE,
    CALLS,
    CURSOR_IN,
    CURSOR_OUT,
    H_TAKEN,
    IDLE,
    K_CODE,
    K_FUNCTION_COUNT,
    K_FUNCTIONS,
    K_OPERATIONS,
    K_OUT_COLORS,
    O_SIZE,
    P_BLOCKED,
    P_BUDGET,
    P_CALLS,
    P_CLASS,
    P_COMPUTE,
    P_CURSORS,
    P_DEPTH,
    P_DSRS,
    P_FRAME,
    P_PC,
    P_STATE,
    P_TIME,
    P_UT_BLOCKED,
    RUNNING,
    WAITING,
    X_BASE,
    X_COLOR,
    X_EXTENT,
    X_IN,
    X_KIND,
    X_OUT,
)
from .system_calls import needs_time, system

Flat = npt.NDArray[np.int64]
Code = npt.NDArray[np.int32]
Memory = npt.NDArray[np.uint16]


# --- cursors of @map ---------------------------------------------------------------------------


@compiled
def _cursor_open(S: Flat, block: int, a: int, b: int, c: int) -> None:
    cursor = block + P_CURSORS + a * C_SIZE
    if b < 0:
        fill(S, block, cursor + C_OPERAND, Operand.DSR, c)
    else:
        fill(S, block, cursor + C_OPERAND, Operand.DSD, b)
    S[cursor + C_POSITION] = 0


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
def execute(  # noqa: C901, PLR0913, PLR0915 - the interpreter's loop: one branch per instruction
    S: Flat, C: Code, M: Memory, F: Flat, pe: int, block: int, t: int
) -> None:
    """Run the main thread from `P_TIME` on, which is `t` if it must interact."""
    klass = S[block + P_CLASS]
    first = S[klass + K_CODE]
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
        at = (first + pc) * 4
        head = int(np.int64(C[at]))
        op = head & 255
        a = int(np.int64(C[at + 1]))
        b = int(np.int64(C[at + 2]))
        c = int(np.int64(C[at + 3]))
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
            if where >= REGISTERS and is_register(S, where, bytes_of(kind)):
                S[fp + a] = wrap(read_register(F, pe, where), kind)
            elif good(S, pe, block, pc, where, bytes_of(kind)):
                S[fp + a] = load(S, M, block, where, kind)
            else:
                break
        elif op == Op.STORE:
            where = c if b < 0 else S[fp + b] + c
            if where >= REGISTERS and is_register(S, where, bytes_of(kind)):
                write_register(F, pe, where, S[fp + a] & 0xFFFF)
            elif good(S, pe, block, pc, where, bytes_of(kind)):
                store(S, M, block, where, kind, S[fp + a])
            else:
                break
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
            S[block + P_FRAME] = fp
            if touches_fabric(S, block, operation):
                if now > t:
                    break
                now += cost
                held = start(S, M, pe, block, c, pc, now, fp + a)
                if S[8] != 0:
                    break
                pc += 1
                if held < 0:
                    S[block + P_STATE] = WAITING
                    break
                now += held
                continue
            now += cost + start(S, M, pe, block, c, pc, now, fp + a)
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
            wide = 1 if bytes_of(kind) == 4 else 0
            scale(S, x, wide)
            if X_IN <= where_kind <= X_OUT:
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
                    S[fp + a] = load(S, M, block, where, kind)
                else:
                    store(S, M, block, where, kind, S[fp + a])
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
            if now > t and needs_time(c):
                break
            system(S, F, pe, block, c, fp + a, kind, pc, now)
            if S[8] != 0:
                break
        elif op == Op.COPY:
            if not (good(S, pe, block, pc, S[fp + a], c) and good(S, pe, block, pc, S[fp + b], c)):
                break
            copy(S, M, block, S[fp + a], S[fp + b], c)
        elif op == Op.FILL:
            size = bytes_of(kind)
            if not good(S, pe, block, pc, S[fp + a], c * size):
                break
            for i in range(c):
                store(S, M, block, S[fp + a] + i * size, kind, S[fp + b])
        now += cost
        pc += 1
    S[block + P_BUDGET] = budget
    S[block + P_PC] = pc
    S[block + P_FRAME] = fp
    S[block + P_TIME] = now
    S[block + P_COMPUTE] += now - begun
