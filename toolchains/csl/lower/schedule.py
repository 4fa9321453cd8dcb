"""Cycles of each instruction: an in-order core that waits for operands, within a basic block.

An instruction issues one cycle after the one before it (more for values of 32 or 64 bits, which the
16-bit integer unit handles in parts), and not before its operands are there. What depends on the
machine's state isn't in `cost`: a jump that is taken adds `branch_taken - branch_not_taken`, a
vector operation its elements. Free are checks, which aren't instructions of the hardware; register
moves, which vanish when registers are assigned; constants in loops, which are loaded before them;
and packed DSDs: a descriptor is loaded by the operation that needs it, for one cycle each, once per
distinct DSD. A DSD in a register that moves on by a known number costs nothing more: the published
loops over tiles, which must move two DSDs, leave no cycle for it beside the operation and the back
edge. The machine steps a @map by itself, and its function waits for an element as for any load.
"""

from __future__ import annotations

from simulators.wafer.costs import ScalarCosts
from simulators.wafer.opcodes import SCALAR_BYTES, Flag, Op, Scalar

from .frame import Instruction
from .scalars import FLOATS, INTEGERS, SIGNED

_FREE = frozenset({Op.NOP, Op.CHECK, Op.MOVE, Op.CURSOR_READ})
_JUMPS = frozenset({Op.JUMP, Op.JUMP_IF, Op.JUMP_UNLESS})
_BARRIERS = _JUMPS | {Op.CALL, Op.CALL_POINTER, Op.RETURN, Op.CURSOR_WRITE}
_TWO_SOURCES = frozenset(range(Op.ADD, Op.LE + 1))
_ONE_SOURCE = frozenset({Op.NEG, Op.INVERT, Op.NOT, Op.CONVERT, Op.MOVE})
_READS_A = frozenset(
    {Op.STORE, Op.COPY, Op.FILL, Op.CHECK, Op.JUMP_IF, Op.JUMP_UNLESS, Op.DSR_LOAD, Op.CURSOR_WRITE}
)
_READS_B = frozenset({Op.LOAD, Op.STORE, Op.COPY, Op.FILL, Op.CURSOR, Op.CALL_POINTER})
_NO_RESULT = _READS_A | {Op.JUMP, Op.RETURN, Op.CURSOR, Op.ACTIVATE, Op.BLOCK, Op.UNBLOCK, Op.NOP}
_WORDS = {
    Scalar.I32: 2,
    Scalar.U32: 2,
    Scalar.I64: 4,
    Scalar.U64: 4,
}
"""16-bit parts that the integer unit takes one after the other."""
_INTEGER = frozenset(
    {Op.ADD, Op.SUB, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR, Op.EQ, Op.NE, Op.LT, Op.LE}
    | {Op.NEG, Op.INVERT}
)
_NEVER_PREDICATED = frozenset(
    {Op.COPY, Op.FILL, Op.DSD_OPERATE, Op.DSR_LOAD, Op.CURSOR, Op.SYSTEM, Op.DIV, Op.REM}
    | {Op.CURSOR_READ, Op.ACTIVATE, Op.BLOCK, Op.UNBLOCK}
)
_SHORT_ARM = 4
"""Instructions up to which an arm of an `if` is predicated; an assumption, no limit is known."""
_BLOCK_WORDS_PER_CYCLE = 4
"""COPY and FILL move 64 bits per cycle, as @mov16 does."""


def costs(code: list[Instruction], scalar: ScalarCosts) -> list[int]:
    """Cycles of every instruction of a function whose labels have their positions."""
    entries = {step.target.position for step in code if step.target is not None}
    ready: dict[int, int] = {}
    clock = 0
    looped = _loops(code)
    found = []
    for position, step in enumerate(code):
        if position in entries:
            ready.clear()
        before = clock
        for register in _reads(step):
            clock = max(clock, ready.get(register, 0))
        skipped = _skipped(code, position)
        if skipped >= 0:
            clock += skipped if step.op is Op.JUMP else scalar.issue
        elif not (step.temporary and looped[position]):
            clock += issue(step, scalar)
        if step.op in _BARRIERS:
            ready.clear()
        elif step.op not in _NO_RESULT:
            ready[step.a] = _available(step, clock, ready, scalar)
        found.append(min(255, clock - before))
    return found


def _skipped(code: list[Instruction], position: int) -> int:
    """Instructions of a short arm that a jump leads past; -1 if it isn't one.

    Short arms are predicated ([FAB]): they are issued whether they count or not. So the jump to the
    other arm only sets the predicate (and costs, taken, about what it skips), and the one past the
    other arm costs that arm's instructions.
    """
    step = code[position]
    if step.op not in _JUMPS or step.stepping or step.target is None:
        return -1
    end = step.target.position
    if not position < end <= position + _SHORT_ARM * 3:
        return -1
    arm = code[position + 1 : end]
    if arm and arm[-1].op is Op.JUMP and step.op is not Op.JUMP and _skipped(code, end - 1) >= 0:
        arm = arm[:-1]
    if any(other.op in _BARRIERS or other.op in _NEVER_PREDICATED for other in arm):
        return -1
    count = sum(other.op not in _FREE for other in arm)
    return count if count <= _SHORT_ARM else -1


def _loops(code: list[Instruction]) -> list[bool]:
    """Of each instruction, whether a jump behind it leads back to before it."""
    depth = [0] * (len(code) + 1)
    for position, step in enumerate(code):
        if step.target is not None and step.target.position <= position:
            depth[step.target.position] += 1
            depth[position + 1] -= 1
    found, open_ = [], 0
    for change in depth[:-1]:
        open_ += change
        found.append(open_ > 0)
    return found


def issue(step: Instruction, scalar: ScalarCosts) -> int:
    """Cycles for which an instruction keeps others from being issued."""
    match step.op:
        case Op.DSD_OPERATE:
            return step.descriptors + scalar.issue
        case Op.JUMP:
            return 0 if step.stepping else scalar.branch_taken
        case Op.JUMP_IF | Op.JUMP_UNLESS:
            return scalar.branch_not_taken
        case Op.CALL | Op.CALL_POINTER | Op.RETURN:
            return scalar.call
        case Op.CURSOR:
            return 2 * scalar.issue
        case Op.COPY:
            return scalar.issue + -(-step.c // (2 * _BLOCK_WORDS_PER_CYCLE))
        case _:
            return _issue_plain(step, scalar)


def _issue_plain(step: Instruction, scalar: ScalarCosts) -> int:
    if (step.op is Op.DSD_SET and step.stepping) or _selects(step):
        return 0
    if step.op in _FREE or (step.type is Scalar.DSD and step.op in (Op.CONST, Op.LOAD)):
        return 0
    if step.op is Op.FILL:
        return scalar.issue + -(-step.c // _BLOCK_WORDS_PER_CYCLE)
    if step.op is Op.MUL:
        return scalar.multiply if step.type in FLOATS else scalar.multiply * _parts(step) ** 2
    if step.op in (Op.DIV, Op.REM):
        shifts = _as_shifts(step)
        return shifts * scalar.issue if shifts else scalar.divide
    if step.op is Op.CONVERT:
        return scalar.convert
    return scalar.issue * (_parts(step) if step.op in _INTEGER else 1)


def _as_shifts(step: Instruction) -> int:
    """Instructions of a division by a known power of two; 0 if it is none.

    Unsigned a shift or a mask. Signed ones round to zero: the sign, shifted down, is added before
    the shift; a remainder masks instead and takes the difference.
    """
    known = bool(step.flags & Flag.IMMEDIATE) and step.type in INTEGERS
    if not known or step.c <= 0 or step.c & (step.c - 1):
        return 0
    signed = 4 if step.op is Op.DIV else 5
    return _parts(step) * (signed if step.type in SIGNED else 1)


def _selects(step: Instruction) -> bool:
    """Whether it only names some of the 16-bit registers of an integer."""
    if step.op is Op.SHR:
        words_only = bool(step.flags & Flag.IMMEDIATE) and step.c % 16 == 0
        return words_only and step.type in (Scalar.U32, Scalar.U64)
    if step.op is not Op.CONVERT or step.type not in INTEGERS or step.c not in INTEGERS:
        return False
    return SCALAR_BYTES[Scalar(step.c)] <= SCALAR_BYTES[step.type]


def words(step: Instruction) -> int:
    """Instructions of the hardware that it stands for, in an estimate of code size."""
    if step.op in _FREE or (step.type is Scalar.DSD and step.op in (Op.CONST, Op.LOAD)):
        return 0
    if _selects(step):
        return 0
    match step.op:
        case Op.DSD_OPERATE:
            return step.descriptors + 1
        case Op.COPY | Op.FILL:
            return 4
        case Op.SYSTEM | Op.DIV | Op.REM:
            return _as_shifts(step) or 8
        case Op.MUL if step.type not in FLOATS:
            return _parts(step) ** 2
        case _:
            return _parts(step) if step.op in _INTEGER else 1


def _parts(step: Instruction) -> int:
    return _WORDS.get(step.type, 1)


def _available(step: Instruction, clock: int, ready: dict[int, int], scalar: ScalarCosts) -> int:
    """When the result may be used, as the clock counts: 0 more is by the next instruction."""
    if step.op is Op.CURSOR_READ or (step.op is Op.LOAD and step.type is not Scalar.DSD):
        return clock + scalar.load_use
    if step.op is Op.MOVE:
        return max(clock, ready.get(step.b, 0))
    if Op.EQ <= step.op <= Op.LE:
        # A branch tests what a comparison just made: a loop's back edge takes 9 cycles of [FAB]'s
        # 9 to 10 with its increment, comparison and taken branch.
        return clock + scalar.dependent
    if step.type in FLOATS and Op.ADD <= step.op <= Op.NEG:
        return clock + scalar.dependent
    return clock


def _reads(step: Instruction) -> list[int]:
    """Registers that it waits for."""
    found = []
    if step.op in _TWO_SOURCES:
        found = [step.b] if step.flags & Flag.IMMEDIATE else [step.b, step.c]
    elif step.op in _ONE_SOURCE:
        # A move is no instruction: who reads its copy waits.
        found = [] if step.op is Op.MOVE else [step.b]
    elif step.op is Op.DSD_SET:
        found = [step.a, step.b]
    # A store waits for its address alone: its data is taken from the unit that makes it.
    if step.op in _READS_A and step.op not in (Op.STORE, Op.CHECK):
        found.append(step.a)
    if step.op in _READS_B and step.b >= 0:
        found.append(step.b)
    return found
