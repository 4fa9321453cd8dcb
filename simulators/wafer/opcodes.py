"""The instructions of a processing element's scalar core: numbers, fields and meanings.

An instruction is four int32: `op | type << 8 | cost << 16 | flags << 24`, then a, b, c. Registers
are numbered within the frame of the running function and hold 64 bits each, in the canonical form
of their type: integers sign- or zero-extended, booleans 0 or 1, f32 and 16-bit floats as their bit
pattern, pointers as byte addresses, DSDs packed (see `dsd.py`), everything else as its number.
`cost` is the cycles the instruction takes beyond those that depend on the machine's state.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Op(IntEnum):
    """Operations. R[x] is a register, `type` the scalar type of the operands."""

    NOP = 0
    CONST = 1
    """R[a] = c, sign-extended (b = 0), or c as the upper and b as the lower 32 bits (flag WIDE)."""
    MOVE = 2
    """R[a] = R[b]."""
    LOAD = 3
    """R[a] = memory[type] at R[b] + c bytes (b = -1: at c)."""
    STORE = 4
    """memory[type] at R[b] + c (b = -1: at c) = R[a]."""
    COPY = 5
    """memory at R[a], c bytes = memory at R[b]; ranges may overlap."""
    FILL = 6
    """c elements of `type` at R[a] = R[b]."""
    CHECK = 7
    """Error INDEX unless 0 <= R[a] < c."""
    JUMP = 8
    """Continue at instruction c."""
    JUMP_IF = 9
    """Continue at c if R[a] is not 0."""
    JUMP_UNLESS = 10
    """Continue at c if R[a] is 0."""
    CALL = 11
    """Call function c with a frame that begins at register a: arguments in R[a], R[a + 1], ...;
    afterwards its result, if any, is in R[a]."""
    CALL_POINTER = 12
    """Likewise the function of number R[b]."""
    RETURN = 13
    """Return; the result is in the callee's R[0]. The end of a task if it was called by none."""

    ADD = 16
    """R[a] = R[b] op R[c]; with flag IMMEDIATE, R[b] op c (an integer or the bits of a float)."""
    SUB = 17
    MUL = 18
    DIV = 19
    """Integers truncate towards zero; by 0: error DIVIDE."""
    REM = 20
    """Integers only; the sign of the dividend."""
    AND = 21
    OR = 22
    XOR = 23
    SHL = 24
    """By at least the width: 0."""
    SHR = 25
    """Arithmetic for signed types; by at least the width: 0 or -1."""
    EQ = 26
    """Comparisons give 0 or 1."""
    NE = 27
    LT = 28
    LE = 29
    NEG = 30
    """R[a] = -R[b]."""
    INVERT = 31
    """R[a] = ~R[b]."""
    NOT = 32
    """R[a] = 1 - R[b]."""
    CONVERT = 33
    """R[a] = R[b] of `type` as type c: integers wrap, floats to integers truncate towards zero and
    wrap, floats round to nearest even, anything to bool is `!= 0`."""

    DSD_SET = 40
    """R[a] = the DSD R[b] with field c (a `DsdField`) made from R[a]'s former value."""
    DSD_OPERATE = 41
    """Start operation template c (`Operation`); R[a] = 1 or 0 where a FIFO takes part."""
    DSR_LOAD = 42
    """DSR c // 256 (class * 16 + number) = R[a], with configuration c % 256 of `dsr_configs`."""
    CURSOR = 43
    """Open cursor a (0...7) of @map over the DSD R[b], or over the DSR of number c if b = -1."""
    CURSOR_READ = 44
    """R[a] = next element of cursor b as `type`; at its end continue at c. Waits for the fabric."""
    CURSOR_WRITE = 45
    """Next element of cursor b = R[a] as `type`; at its end continue at c. Waits for the fabric."""

    ACTIVATE = 50
    """Task id R[b], or c if b = -1."""
    BLOCK = 51
    UNBLOCK = 52
    """Likewise; with flag MICROTHREAD it is a microthread's number."""
    SYSTEM = 53
    """Call `SystemCall` c with arguments R[a], R[a + 1], ...; a result replaces R[a]."""


class Flag(IntFlag):
    """Bits of an instruction's flags."""

    IMMEDIATE = 1
    WIDE = 2
    MICROTHREAD = 4
    DEPENDENT = 8
    """The operand was made by the instruction before (only the scheduler reads it)."""


class Scalar(IntEnum):
    """Types of values in registers and memory; sizes in `SCALAR_BYTES`."""

    BOOL = 0
    I8 = 1
    U8 = 2
    I16 = 3
    U16 = 4
    I32 = 5
    U32 = 6
    I64 = 7
    U64 = 8
    F16 = 9
    BF16 = 10
    CB16 = 11
    F32 = 12
    DSD = 13
    """A packed DSD: 8 bytes."""


SCALAR_BYTES: dict[Scalar, int] = {
    Scalar.BOOL: 2,
    Scalar.I8: 1,
    Scalar.U8: 1,
    Scalar.I16: 2,
    Scalar.U16: 2,
    Scalar.I32: 4,
    Scalar.U32: 4,
    Scalar.I64: 8,
    Scalar.U64: 8,
    Scalar.F16: 2,
    Scalar.BF16: 2,
    Scalar.CB16: 2,
    Scalar.F32: 4,
    Scalar.DSD: 8,
}


class SystemCall(IntEnum):
    """What a program asks of the machine rather than of its core."""

    TIMESTAMP = 0
    """R[a] = cycles since the start, 48 bits."""
    TSC_ENABLE = 1
    TSC_DISABLE = 2
    RANDOM16 = 3
    """R[a] = next of the PE's linear-feedback shift register, u16."""
    SET_PRNG = 4
    ASSERT = 5
    """Error ASSERT with text R[a + 1] of `texts` unless R[a]."""
    UNBLOCK_COMMANDS = 6
    """This PE lets the host's next command pass."""
    GET_X = 7
    GET_Y = 8
    """Coordinates within the program's rectangle."""
    GET_CONFIG = 9
    SET_CONFIG = 10
    """Word address R[a] (, value R[a + 1])."""
    QUEUE_FLUSH = 11
    """Run the empty handler of queue R[a] (output queues; + 16: input queues) once it is empty."""
    FIFO_READ_LENGTH = 12
    FIFO_WRITE_LENGTH = 13
    """Of FIFO R[a]: at most R[a + 1] elements."""
    PRINT = 14
    """simprint: kind R[a] (see `trace.Printed`), value R[a + 1]."""
    TRACE = 15
    """debug: kind R[a], value R[a + 1], buffer R[a + 2]."""
    MATH = 16
    """R[a] = function R[a] (`MathFunction`) of the f32 R[a + 1] (and R[a + 2])."""
    TEARDOWN_EXIT = 17
    """Leave teardown of colour R[a]."""
    SWITCH = 18
    """Position of colour R[a]'s switch = R[a + 1]."""
    COLOR_ROUTE = 19
    """Routes of colour R[a]: receive mask R[a + 1], send mask R[a + 2]."""
    SET_DSR_BASE = 20
    """Base address of DSR R[a] (class * 16 + number) = R[a + 1]."""
    TIMER = 21
    """Activate the timer's task R[a] in R[a + 1] cycles."""
    SWITCH_POSITION = 22
    """Position R[a + 1] (1 to 3) of colour R[a]'s switch: receive mask R[a + 2], send mask
    R[a + 3]; 0 leaves that part as it is before it, both 0 make the position invalid."""
    SWITCH_MODE = 23
    """Of colour R[a]'s switch: ring R[a + 1] and `PopMode` R[a + 2]; 0xFFFF leaves it."""
    QUEUE_STATUS = 24
    """R[a] = bits 0-7 which are empty, 8-15 which are full, of the input (R[a] = 0) or output
    queues."""
    TEARDOWN_PENDING = 25
    """R[a] = a bit per colour in teardown, u32."""
    QUEUE_COLOR = 26
    """Queue R[a] (output queues; + 16: input queues) is for colour R[a + 1] from now on (WSE-3)."""
    FILTER = 27
    """Of the PE's filter R[a] (numbered in the order of colours): field R[a + 1] (0 limit1,
    1 max_counter, 2 the counter) = R[a + 2]."""


class MathFunction(IntEnum):
    """Functions of <math>, computed in double and rounded once to the argument's type."""

    SQRT = 0
    INV_SQRT = 1
    SIN = 2
    COS = 3
    TAN = 4
    EXP = 5
    LOG = 6
    POW = 7
    TANH = 8
    SIGMOID = 9
    FLOOR = 10
    CEIL = 11
    ATAN2 = 12
    ASIN = 13
    ACOS = 14
    ATAN = 15
    SINH = 16
    COSH = 17
    LOG2 = 18
    EXP2 = 19
    LOG10 = 20
    ROUND = 21
    TRUNC = 22
