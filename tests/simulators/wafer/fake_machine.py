"""A machine whose program is a few lines of Python, for tests of what its host asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simulators.wafer.halts import Halt, HaltKind
from simulators.wafer.hangs import HangReport
from simulators.wafer.host_session import Wanted
from simulators.wafer.opcodes import Scalar
from simulators.wafer.program import CodeClass, Export, ExportKind, Program, Region, Stream

from .fabric_programs import code_class, fabric_program

IN, OUT = 3, 4
"""Colours of the streams."""
A, POINTER_A, N = 100, 16, 20
"""Addresses: the array, the pointer to it, a scalar."""
TEXTS = (b"begin\n", b"trace")


def program(size: tuple[int, int] = (2, 3)) -> Program:
    """Each PE has A: [4]u32 by a pointer, n: i16, `add(i16)`, and streams both ways."""
    image = bytearray(A + 16)
    image[POINTER_A : POINTER_A + 2] = A.to_bytes(2, "little")
    one: CodeClass = replace(
        code_class((), "pe.csl"),
        image=bytes(image),
        regions=(
            Region("ptr", POINTER_A, 2, "[*]u32"),
            Region("n", N, 2, "i16"),
            Region("A", A, 16, "[4]u32"),
        ),
        texts=TEXTS,
        exported_variables={"A": POINTER_A, "n": N, "fixed": POINTER_A},
    )
    exports = (
        Export(0, "A", ExportKind.POINTER, "[*]u32", 4),
        Export(1, "n", ExportKind.SCALAR, "i16", 2),
        Export(2, "add", ExportKind.FUNCTION, "fn(i16)void", 0, (int(Scalar.I16),)),
        Export(3, "fixed", ExportKind.POINTER, "[*]const u32", 4, (), mutable=False),
        Export(4, "mix", ExportKind.FUNCTION, "fn(u32,f32)void", 0, (Scalar.U32, Scalar.F32)),
    )
    streams = (Stream(IN, to_host=False), Stream(OUT, to_host=True))
    made = fabric_program(size, {}, {}, ())
    return replace(made, classes=(one,), exports=exports, streams=streams, offset=(4, 1))


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    halt: Halt | None = None
    hang: HangReport | None = None

    @property
    def text(self) -> str:
        """What went wrong."""
        return str(self.halt) if self.halt else self.hang.text if self.hang else ""


@dataclass(frozen=True)
class Said:
    """An entry of the log."""

    cycle: int
    x: int
    y: int
    kind: int
    value: int
    buffer: int = -1


@dataclass
class FakeMachine:
    """Words of the input stream come back by the output stream, plus one; launches do as told.

    `needed`: how many words every launch waits for before it lets the next command pass.
    """

    program: Program
    needed: int = 0
    cycle: int = 0
    fails: Halt | None = None
    on_launch: Callable[[FakeMachine, str, Sequence[int]], None] = lambda *_: None
    log: list[Said] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    sent: int = 0
    ready: bool = True

    def __post_init__(self) -> None:
        shape = (self.program.height, self.program.width)
        image = np.frombuffer(self.program.classes[0].image, np.uint8)
        self.memory = np.tile(image, (*shape, 1))
        self.words: dict[tuple[int, int, int], list[int]] = {}

    def read(self, x: int, y: int, address: int, count: int) -> bytes:
        """Of a PE."""
        return self.memory[y, x, address : address + count].tobytes()

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """To a PE."""
        self.calls.append("write")
        self.memory[y, x, address : address + len(data)] = np.frombuffer(data, np.uint8)

    def launch(self, name: str, arguments: Sequence[int] = ()) -> None:
        """Note it."""
        self.calls.append(f"{name}({', '.join(map(str, arguments))})")
        self.on_launch(self, name, arguments)
        self.ready = False

    def run_ready(self, *, wanted: Wanted | None = None) -> Ended:  # noqa: ARG002
        """A launch is over once enough words came in."""
        self.cycle += 10
        if self.fails is not None:
            return Ended(self.fails)
        if not self.ready and self.sent < self.needed:
            return Ended(hang=hang("no PE called unblock_cmd_stream()"))
        self.ready = True
        return Ended()

    def run_quiet(self, *, wanted: Wanted | None = None) -> Ended:  # noqa: ARG002
        """Nothing moves."""
        return Ended(self.fails)

    def run_received(self, wanted: Wanted) -> Ended:
        """All is there that will ever be."""
        missing = [key for key, n in wanted.items() if len(self.words.get(key, ())) < n]
        return Ended(hang=hang(f"{len(missing)} wait")) if missing else Ended()

    def send(self, color: int, x: int, y: int, data: Sequence[int]) -> None:  # noqa: ARG002
        """Answer at once."""
        self.calls.append("send")
        self.sent += len(data)
        back = self.words.setdefault((x, y, OUT), [])
        back.extend((word + 1) & 0xFFFFFFFF for word in data)

    def received(self, color: int, x: int, y: int) -> Sequence[int]:
        """What came back."""
        return self.words.get((x, y, color), [])

    def logged(self) -> Sequence[Said]:
        """Since the last call."""
        new, self.log = self.log, []
        return new


def hang(text: str) -> HangReport:
    """A report of one line."""
    return HangReport((), (), (), (), (), ((1, 2),), (), text)


def assertion(text: str) -> Halt:
    """A failed @assert."""
    return Halt(HaltKind.ASSERT, 1, 0, "main", None, text, 77)


def answers(requests: Mapping[str, object]) -> Mapping[str, object]:
    """A request's header with what all have in common."""
    return {"machine": 1, "rectangle": [0, 0, 2, 3], "count": 4, "bits": 32, **requests}
