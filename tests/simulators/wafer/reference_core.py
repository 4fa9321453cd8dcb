"""A second implementation of `opcodes`, slow and plain: an oracle for the core and the compiler.

One function of one code class, no fabric: vector operations on memory alone, at once, in order.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from simulators.wafer.dsd import DSD_BITS, DsdField, DsdKind, Operand, Operation, Vector
from simulators.wafer.opcodes import SCALAR_BYTES, Flag, MathFunction, Op, Scalar, SystemCall
from simulators.wafer.program import PE_BYTES, CodeClass

_SIGNED = (Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64)
_FLOATS = (Scalar.F16, Scalar.BF16, Scalar.CB16, Scalar.F32)
_FORMATS = {Scalar.F32: ("<f", "<I"), Scalar.F16: ("<e", "<H")}


class Halt(Exception):
    """The program made a mistake; the message is the cause."""


def to_float(bits: int, kind: Scalar) -> float:
    """The number of a bit pattern."""
    if kind is Scalar.BF16:
        return to_float(bits << 16, Scalar.F32)
    number, pattern = _FORMATS[kind]
    value: float = struct.unpack(
        number, struct.pack(pattern, bits & (1 << 8 * SCALAR_BYTES[kind]) - 1)
    )[0]
    return value


def from_float(value: float, kind: Scalar) -> int:
    """The bit pattern of a number, rounded to nearest even."""
    with np.errstate(all="ignore"):
        if kind is Scalar.BF16:
            bits = int(np.float32(value).view(np.uint32))
            return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        if kind is Scalar.F32:
            return int(np.float32(value).view(np.uint32))
        return int(np.float16(value).view(np.uint16))


def canonical(value: int, kind: Scalar) -> int:
    """An integer cut to a type and extended to 64 bits."""
    if kind is Scalar.BOOL:
        return int(value != 0)
    width = 8 * SCALAR_BYTES[kind]
    value &= (1 << width) - 1
    return value - (1 << width) if kind in _SIGNED and value >> (width - 1) else value


def dsd_fields(packed: int) -> dict[DsdField, int]:
    """All fields of a packed DSD, the stride signed."""
    found = {name: packed >> first & (1 << width) - 1 for name, (first, width) in DSD_BITS.items()}
    if found[DsdField.STRIDE] > 127:
        found[DsdField.STRIDE] -= 256
    return found


@dataclass
class Core:
    """One PE."""

    code: CodeClass
    memory: bytearray = field(default_factory=bytearray)
    cycles: int = 0
    taken_extra: int = 3
    """What a taken jump costs more."""
    active: list[int] = field(default_factory=list)
    calls: list[tuple[SystemCall, list[int]]] = field(default_factory=list)
    instructions: int = 0
    dsrs: dict[int, int] = field(default_factory=dict)
    cursors: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = bytearray(self.code.image) + bytearray(PE_BYTES - len(self.code.image))

    def run(self, function: int, *arguments: int, budget: int = 200_000) -> int:
        """Call a function by number; gives its R[0]."""
        registers = [0] * (self.code.registers + 64)
        registers[: len(arguments)] = arguments
        self._loop(registers, self.code.functions[function].entry, budget)
        return registers[0]

    def _loop(self, registers: list[int], pc: int, budget: int) -> None:
        base, stack = 0, list[tuple[int, int]]()
        for _ in range(budget):
            head, a, b, c = (int(x) for x in self.code.code[pc])
            op, kind, flags = Op(head & 255), Scalar(head >> 8 & 255), head >> 24 & 255
            self.cycles += head >> 16 & 255
            self.instructions += 1
            pc += 1
            if op in (Op.CALL, Op.CALL_POINTER):
                callee = c if op is Op.CALL else registers[base + b]
                stack.append((pc, base))
                base += a
                pc = self.code.functions[callee].entry
            elif op is Op.RETURN:
                if not stack:
                    return
                pc, base = stack.pop()
            else:
                target = self._step(registers, base, (op, kind, flags), (a, b, c))
                if target >= 0:
                    pc = target
                    self.cycles += self.taken_extra if op in (Op.JUMP_IF, Op.JUMP_UNLESS) else 0
        raise Halt("RUNAWAY")

    def _step(  # noqa: C901, PLR0915 - one case per operation, to be read as a table
        self,
        registers: list[int],
        base: int,
        head: tuple[Op, Scalar, int],
        fields: tuple[int, int, int],
    ) -> int:
        op, kind, flags = head
        a, b, c = fields
        get: Callable[[int], int] = lambda n: registers[base + n]  # noqa: E731
        result: int | None = None
        match op:
            case Op.NOP:
                pass
            case Op.CONST:
                result = c << 32 | b & 0xFFFFFFFF if flags & Flag.WIDE else c
                result = canonical(result, kind) if kind is Scalar.U64 else result
            case Op.MOVE:
                result = get(b)
            case Op.LOAD:
                result = self.load(kind, (get(b) if b >= 0 else 0) + c)
            case Op.STORE:
                self.store(kind, (get(b) if b >= 0 else 0) + c, get(a))
            case Op.COPY:
                self.memory[get(a) : get(a) + c] = self.memory[get(b) : get(b) + c]
            case Op.FILL:
                for n in range(c):
                    self.store(kind, get(a) + n * SCALAR_BYTES[kind], get(b))
            case Op.CHECK:
                if not 0 <= get(a) < c:
                    raise Halt("INDEX")
            case Op.JUMP:
                return c
            case Op.JUMP_IF:
                return c if get(a) else -1
            case Op.JUMP_UNLESS:
                return -1 if get(a) else c
            case Op.CONVERT:
                result = convert(get(b), kind, Scalar(c))
            case Op.NEG | Op.INVERT | Op.NOT:
                result = _unary(op, kind, get(b))
            case Op.DSD_SET:
                result = dsd_set(get(b), DsdField(c), get(a))
            case Op.DSD_OPERATE:
                self.operate(self.code.operations[c], get)
                result = 1
            case Op.DSR_LOAD:
                self.dsrs[c // 256] = get(a)
            case Op.CURSOR:
                self.cursors[a] = self.addresses(get(b) if b >= 0 else self.dsrs[c])
            case Op.CURSOR_READ:
                if not self.cursors[b]:
                    return c
                result = self.load(kind, self.cursors[b].pop(0))
            case Op.CURSOR_WRITE:
                if not self.cursors[b]:
                    return c
                self.store(kind, self.cursors[b].pop(0), get(a))
            case Op.ACTIVATE:
                self.active.append(c if b == -1 else get(b))
            case Op.BLOCK | Op.UNBLOCK:
                pass
            case Op.SYSTEM:
                result = self.system(SystemCall(c), [get(a + n) for n in range(b)], kind)
            case _:
                right = c if flags & Flag.IMMEDIATE else get(c)
                result = binary(op, kind, get(b), right)
        if result is not None:
            registers[base + a] = result
        return -1

    def load(self, kind: Scalar, address: int) -> int:
        """Read memory."""
        size = SCALAR_BYTES[kind]
        if not 0 <= address <= PE_BYTES - size:
            raise Halt("MEMORY")
        raw = int.from_bytes(self.memory[address : address + size], "little")
        return raw if kind in _FLOATS or kind is Scalar.DSD else canonical(raw, kind)

    def store(self, kind: Scalar, address: int, value: int) -> None:
        """Write memory."""
        size = SCALAR_BYTES[kind]
        if not 0 <= address <= PE_BYTES - size:
            raise Halt("MEMORY")
        self.memory[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(
            size, "little"
        )

    def system(self, call: SystemCall, arguments: list[int], kind: Scalar) -> int:
        """The machine's part, as far as a single PE goes."""
        self.calls.append((call, arguments))
        if call is SystemCall.TIMESTAMP:
            return self.cycles
        if call is SystemCall.ASSERT and not arguments[0]:
            raise Halt("ASSERT")
        if call is SystemCall.MATH and arguments[0] == MathFunction.SQRT:
            return from_float(math.sqrt(to_float(arguments[1], kind)), kind)
        return arguments[0] if arguments else 0

    def addresses(self, packed: int) -> list[int]:
        """Of the elements of a memory DSD."""
        found = dsd_fields(packed)
        size = 4 if found[DsdField.WIDE] else 2
        base, stride = found[DsdField.BASE], found[DsdField.STRIDE]
        if found[DsdField.KIND] == DsdKind.MEMORY:
            return [base + n * stride * size for n in range(found[DsdField.EXTENT])]
        assert found[DsdField.KIND] == DsdKind.MEMORY_4D
        pattern = self.code.patterns[found[DsdField.EXTENT]]
        indices = np.indices(pattern.extents).reshape(len(pattern.extents), -1).T
        return [base + int(np.dot(index, pattern.strides)) * size for index in indices]

    def operate(self, operation: Operation, get: Callable[[int], int]) -> None:
        """A vector operation on memory, element by element."""
        rule, scalars = VECTORS[operation.vector]
        parts = [operation.dest, *operation.sources]
        lists = [self._elements(part, get) for part in parts]
        count = min((len(x) for x in lists if x is not None), default=1)
        if not any(kind in (Operand.DSD, Operand.DSR) for kind, _ in parts):
            count = 1
        for n in range(count):
            inputs = [
                get(where) if spots is None else self.load(scalar, spots[n])
                for spots, (_, where), scalar in zip(lists[1:], parts[1:], scalars[1:], strict=True)
            ]
            spots = lists[0]
            assert spots is not None
            self.store(scalars[0], spots[n], rule(*inputs))

    def _elements(self, part: tuple[Operand, int], get: Callable[[int], int]) -> list[int] | None:
        kind, where = part
        if kind is Operand.SCALAR:
            return None
        if kind is Operand.POINTER:
            return [get(where)] * 65536
        return self.addresses(get(where) if kind is Operand.DSD else self.dsrs[where])


def _unary(op: Op, kind: Scalar, value: int) -> int:
    if op is Op.NOT:
        return 1 - value
    if op is Op.INVERT:
        return canonical(~value, kind)
    if kind in _FLOATS:
        return value ^ 1 << (8 * SCALAR_BYTES[kind] - 1)
    return canonical(-value, kind)


_COMPARISONS: dict[Op, Callable[[float, float], bool]] = {
    Op.EQ: lambda x, y: x == y,
    Op.NE: lambda x, y: x != y,
    Op.LT: lambda x, y: x < y,
    Op.LE: lambda x, y: x <= y,
}


def _divided(x: int, y: int) -> int:
    if y == 0:
        raise Halt("DIVIDE")
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _shifted(op: Op, x: int, y: int, width: int) -> int:
    if y >= width:
        return -1 if op is Op.SHR and x < 0 else 0
    return x << y if op is Op.SHL else x >> y


_INTEGERS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda x, y: x + y,
    Op.SUB: lambda x, y: x - y,
    Op.MUL: lambda x, y: x * y,
    Op.DIV: lambda x, y: _divided(x, y),
    Op.REM: lambda x, y: x - y * _divided(x, y),
    Op.AND: lambda x, y: x & y,
    Op.OR: lambda x, y: x | y,
    Op.XOR: lambda x, y: x ^ y,
}


def binary(op: Op, kind: Scalar, left: int, right: int) -> int:
    """Arithmetic and comparisons."""
    if kind not in _FLOATS:
        if op in _COMPARISONS:
            return int(_COMPARISONS[op](left, right))
        if op in (Op.SHL, Op.SHR):
            return canonical(_shifted(op, left, right, 8 * SCALAR_BYTES[kind]), kind)
        return canonical(_INTEGERS[op](left, right), kind)
    x, y = to_float(left, kind), to_float(right, kind)
    if op in _COMPARISONS:
        return int(_COMPARISONS[op](x, y))
    with np.errstate(all="ignore"):
        exact = {
            Op.ADD: np.float64(x) + y,
            Op.SUB: np.float64(x) - y,
            Op.MUL: np.float64(x) * y,
            Op.DIV: np.float64(x) / y,
        }[op]
    return from_float(float(exact), kind)


def convert(value: int, source: Scalar, target: Scalar) -> int:
    """A value of one type as another."""
    number = to_float(value, source) if source in _FLOATS else value
    if target in _FLOATS:
        return from_float(number, target)
    if target is Scalar.BOOL:
        return int(number != 0)
    whole = int(number) if math.isfinite(number) else 0
    return canonical(whole, target)


def dsd_set(packed: int, name: DsdField, value: int) -> int:
    """A packed DSD with a field changed."""
    if name in (DsdField.ADVANCE_2, DsdField.ADVANCE_4):
        step = 2 if name is DsdField.ADVANCE_2 else 4
        first, width = DSD_BITS[DsdField.BASE]
        value = (packed >> first) + step * value
    else:
        first, width = DSD_BITS[name]
    mask = (1 << width) - 1
    return packed & ~(mask << first) | (value & mask) << first


def _float_rule(compute: Callable[..., float], kind: Scalar) -> Callable[..., int]:
    return lambda *bits: from_float(compute(*(to_float(b, kind) for b in bits)), kind)


_S, _H, _W = Scalar.F32, Scalar.F16, Scalar.U16
VECTORS: dict[Vector, tuple[Callable[..., int], tuple[Scalar, ...]]] = {
    Vector.FADDS: (_float_rule(lambda x, y: x + y, _S), (_S, _S, _S)),
    Vector.FMULS: (_float_rule(lambda x, y: x * y, _S), (_S, _S, _S)),
    Vector.FMACS: (_float_rule(lambda x, y, z: x + y * z, _S), (_S, _S, _S, _S)),
    Vector.FMACH: (_float_rule(lambda x, y, z: x + y * z, _H), (_H, _H, _H, _H)),
    Vector.FMOVS: (lambda x: x, (_S, _S)),
    Vector.MOV16: (lambda x: x, (_W, _W)),
    Vector.ADD16: (lambda x, y: x + y & 0xFFFF, (_W, _W, _W)),
}
"""Rule and the types of destination and sources, of those that tests need."""
