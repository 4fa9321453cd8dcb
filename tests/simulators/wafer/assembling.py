"""A small assembler: programs of the wafer's core from instructions, for tests of the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simulators.wafer.dsd import (
    DsdField,
    DsdKind,
    DsrConfig,
    Operand,
    Operation,
    Vector,
    pack_dsd,
)
from simulators.wafer.machine import Machine
from simulators.wafer.opcodes import Flag, Op, Scalar, SystemCall
from simulators.wafer.profiles import make_profile
from simulators.wafer.program import (
    COLORS,
    CodeClass,
    Fifo,
    Function,
    Pattern,
    Place,
    Program,
    Queue,
    Region,
    Route,
    Stream,
    Task,
    TaskKind,
)

Instruction = tuple[int, int, int, int]
REGISTERS = 64


def ins(
    op: Op, a: int = 0, b: int = 0, c: int = 0, kind: Scalar = Scalar.U16, cost: int = 1,
    flags: int = 0,
) -> Instruction:  # fmt: skip
    """One instruction."""
    return int(op) | int(kind) << 8 | cost << 16 | flags << 24, a, b, c


def signed(value: int) -> int:
    """The int32 with these bits."""
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def const(a: int, value: int, kind: Scalar = Scalar.U16, cost: int = 1) -> Instruction:
    """R[a] = value."""
    if -(1 << 31) <= value < 1 << 31:
        return ins(Op.CONST, a, 0, value, kind, cost)
    return ins(Op.CONST, a, signed(value), signed(value >> 32), kind, cost, Flag.WIDE)


def system(call: SystemCall, a: int = 0, kind: Scalar = Scalar.U16) -> Instruction:
    """A system call."""
    return ins(Op.SYSTEM, a, 0, call, kind)


READY = system(SystemCall.UNBLOCK_COMMANDS)


def memory(base: int, extent: int, stride: int = 1, *, wide: bool = False) -> int:
    """A mem1d DSD."""
    fields = {
        DsdField.BASE: base,
        DsdField.EXTENT: extent,
        DsdField.STRIDE: stride,
        DsdField.WIDE: int(wide),
    }
    return pack_dsd(DsdKind.MEMORY, fields)


def fabric(kind: DsdKind, queue: int, color: int, extent: int, options: int = 0) -> int:
    """A fabin or fabout DSD."""
    fields = {
        DsdField.BASE: queue | color << 8,
        DsdField.EXTENT: extent,
        DsdField.STRIDE: options,
        DsdField.WIDE: 1,
    }
    return pack_dsd(kind, fields)


def fifo(number: int) -> int:
    """A DSD of a FIFO."""
    return pack_dsd(DsdKind.FIFO, {DsdField.BASE: number})


@dataclass
class Pe:
    """One code class in the making; its functions are exported by their names."""

    name: str = "pe"
    code: list[Instruction] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    configs: list[DsrConfig] = field(default_factory=lambda: [DsrConfig()])
    patterns: list[Pattern] = field(default_factory=list)
    fifos: list[Fifo] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    image: bytearray = field(default_factory=bytearray)
    blocked: tuple[int, ...] = ()
    active: tuple[int, ...] = ()

    def variable(self, name: str, content: npt.NDArray[np.generic] | int) -> int:
        """Bytes of memory, zero or as an array is; the address."""
        data = bytes(content) if isinstance(content, int) else content.tobytes()
        self.image += bytes(-len(self.image) % 16)
        address = len(self.image)
        self.image += data
        self.regions.append(Region(name, address, len(data), "u16"))
        return address

    def function(self, name: str, *code: Instruction) -> int:
        """A function, RETURN at its end; its number. Jumps count from its first instruction."""
        entry = len(self.code)
        jumps = (Op.JUMP, Op.JUMP_IF, Op.JUMP_UNLESS, Op.CURSOR_READ, Op.CURSOR_WRITE)
        for head, a, b, c in code:
            self.code.append((head, a, b, c + entry if Op(head & 255) in jumps else c))
        self.code.append(ins(Op.RETURN))
        self.functions.append(Function(name, entry, REGISTERS))
        return len(self.functions) - 1

    def task(
        self, kind: TaskKind, number: int, *code: Instruction,
        bits: tuple[int, ...] = (), scalars: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """A task bound to an id."""
        function = self.function(f"task{number}", *code)
        self.tasks.append(Task(kind, number, function, bits, scalars))

    def operate(self, vector: Vector, *operands: tuple[Operand, int], **more: int) -> Instruction:
        """DSD_OPERATE of a new template: destination, then sources. Its result is in R[63]."""
        one = Operation(vector, operands[0], tuple(operands[1:]), **more)  # type: ignore[arg-type]
        self.operations.append(one)
        return ins(Op.DSD_OPERATE, 63, 0, len(self.operations) - 1)

    def built(self) -> CodeClass:
        """The class; every instruction's place is its number as a line."""
        return CodeClass(
            name=self.name,
            code=np.array(self.code, np.int32).reshape(-1, 4),
            places=np.arange(len(self.code), dtype=np.int32),
            functions=tuple(self.functions),
            tasks=tuple(self.tasks),
            operations=tuple(self.operations),
            operation_places=(-1,) * len(self.operations),
            dsr_configs=tuple(self.configs),
            patterns=tuple(self.patterns),
            fifos=tuple(self.fifos),
            queues=tuple(self.queues),
            image=bytes(self.image),
            regions=tuple(self.regions),
            texts=(b"never",),
            registers=8 * REGISTERS,
            active=self.active,
            blocked=self.blocked,
            exported_functions={f.name: n for n, f in enumerate(self.functions)},
            exported_variables={},
        )


def machine(
    *row: Pe,
    arch: str = "wse3",
    routes: Mapping[tuple[int, int], Route] | None = None,
    streams: Sequence[Stream] = (),
    budget: int = 1_000_000,
) -> Machine:
    """A row of PEs; routes by (x, colour)."""
    width = len(row)
    route_of = np.full((1, width, COLORS), -1, np.int32)
    distinct: list[Route] = []
    for (x, color), route in (routes or {}).items():
        if route not in distinct:
            distinct.append(route)
        route_of[0, x, color] = distinct.index(route)
    lines = max(len(pe.code) for pe in row)
    program = Program(
        arch=arch,
        width=width,
        height=1,
        fabric=(width + 7, 3),
        offset=(4, 1),
        classes=tuple(pe.built() for pe in row),
        class_of=np.arange(width, dtype=np.int32).reshape(1, width),
        routes=tuple(distinct),
        route_of=route_of,
        exports=(),
        streams=tuple(streams),
        places=tuple(Place("pe.csl", line, 1) for line in range(lines)),
        params={},
    )
    return Machine(program, make_profile(arch), budget=budget)
