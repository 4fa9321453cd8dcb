"""The code of one function in the making: instructions, labels, registers, and where values are.

A register holds a value from when `fresh` gives it until `top` is set back below it. Handlers of
expressions give the register that holds the value: `into`, if asked for, which they write last,
after everything was read; otherwise a local's own register or one at the `top` they found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from simulators.wafer.opcodes import Flag, Op, Scalar
from toolchains.csl import tree
from toolchains.csl.source import CslError, Span, error
from toolchains.csl.types import Type, size_of

from .scalars import in_memory, scalar_of
from .symbols import Symbol, Word
from .unit import Unit


@dataclass(eq=False)
class Label:
    """A place in code to jump to."""

    position: int = -1


@dataclass(eq=False)
class Instruction:
    """One instruction before addresses and positions are known."""

    op: Op
    type: Scalar
    a: int
    b: int
    c: int
    flags: int
    place: int
    symbol: Symbol | None = None
    """Its address is added: to c, or from bit 16 on to b where the flag WIDE is set."""
    target: Label | None = None
    """Its position becomes c."""
    descriptors: int = 0
    """Of DSD_OPERATE: how many descriptors are loaded first."""
    temporary: bool = False
    """A constant that nothing else is ever assigned to: a loop needn't load it anew."""
    stepping: bool = False
    """A jump back of @map, which the machine steps by itself; a DSD moved by a known number."""


@dataclass(frozen=True)
class Spot:
    """A place in memory: a register (-1: none), a symbol's address and an offset, added up."""

    base: int = -1
    offset: int = 0
    symbol: Symbol | None = None

    def plus(self, offset: int) -> Spot:
        """Bytes further on."""
        return replace(self, offset=self.offset + offset) if offset else self


@dataclass(frozen=True)
class Exit:
    """Where `Break` and `Continue` go, and where a `Break` leaves its value."""

    leave: Label
    again: Label | None = None
    register: int = -1
    spot: Spot | None = None


@dataclass(frozen=True)
class Ending:
    """What `Return` does in code that was put in line: leave its value and jump."""

    leave: Label
    register: int = -1
    spot: Spot | None = None


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call that a function makes."""

    function: tree.Function | None
    """None: by pointer."""
    base: int
    """Register at which the callee's frame begins."""
    span: Span
    pointer: tree.Expr | None
    mapped: bool
    """Within the function of an @map, whose cursors are open."""


@dataclass(frozen=True)
class Tables:
    """Who lowers which node: filled by `functions`, so that no file here imports upwards."""

    values: Mapping[type, Callable[..., int]]
    """(frame, expression, into) → register."""
    spots: Mapping[type, Callable[..., Spot]]
    """(frame, expression) → place."""
    stores: Mapping[type, Callable[..., None]]
    """(frame, expression, spot): evaluate a value that lives in memory to a place."""
    statements: Mapping[type, Callable[..., None]]


@dataclass(eq=False)
class Frame:
    """State of one function's lowering."""

    unit: Unit
    function: tree.Function
    tables: Tables
    code: list[Instruction] = field(default_factory=list)
    top: int = 0
    high: int = 0
    registers: dict[tree.Local, int] = field(default_factory=dict)
    symbols: dict[tree.Local, Symbol] = field(default_factory=dict)
    exits: dict[tree.Target, Exit] = field(default_factory=dict)
    endings: list[Ending] = field(default_factory=list)
    place: int = -1
    span: Span | None = None
    result: int = -1
    """Register with the address for a result in memory."""
    cursors: int = 0
    inlining: list[tree.Function] = field(default_factory=list)
    maps: bool = False
    """It has an @map."""
    calls: list[CallSite] = field(default_factory=list)

    # --- instructions --------------------------------------------------------------------------

    def emit(
        self, op: Op, kind: Scalar = Scalar.U16, a: int = 0, b: int = 0, c: int = 0
    ) -> Instruction:
        """Append an instruction."""
        instruction = Instruction(op, kind, a, b, c, 0, self.place)
        self.code.append(instruction)
        return instruction

    def jump(self, op: Op, target: Label, register: int = 0) -> None:
        """Append a jump."""
        self.emit(op, Scalar.BOOL, register).target = target

    def mark(self, label: Label) -> None:
        """The label is here."""
        label.position = len(self.code)

    def at(self, span: Span) -> None:
        """What follows comes from there."""
        if span is not self.span:
            self.span = span
            self.place = self.unit.places.number(span)

    # --- registers -----------------------------------------------------------------------------

    def fresh(self) -> int:
        """A register that nothing uses."""
        register = self.top
        self.reserve(register + 1)
        return register

    def reserve(self, top: int) -> None:
        """Registers below are in use."""
        self.top = top
        self.high = max(self.high, top)

    def goal(self, into: int | None) -> int:
        """Where a value goes."""
        return self.fresh() if into is None else into

    def scalar(self, kind: Type, span: Span | None) -> Scalar:
        """The register type of a type; a diagnostic if it has none."""
        try:
            return scalar_of(kind)
        except ValueError as problem:
            raise error(span, "type-too-wide", str(problem), "use at most 64 bits") from problem

    # --- values --------------------------------------------------------------------------------

    def value(self, expr: tree.Expr, into: int | None = None) -> int:
        """Evaluate; of a value in memory, the register holds the address."""
        if in_memory(expr.type):
            return self.address(self.spot(expr), into)
        outer = self.place, self.span
        self.at(expr.span)
        result = self.tables.values[type(expr)](self, expr, into)
        self.place, self.span = outer
        return result

    def spot(self, expr: tree.Expr) -> Spot:
        """The place that an expression names, or where its value was put for now."""
        handler = self.tables.spots.get(type(expr))
        if handler is not None:
            outer = self.place, self.span
            self.at(expr.span)
            result = handler(self, expr)
            self.place, self.span = outer
            return result
        spot = self.temporary(expr.type, expr.span)
        self.store(expr, spot)
        return spot

    def temporary(self, kind: Type, span: Span) -> Spot:
        """Memory for a value of this type, until the function returns."""
        name = f"{self.function.name}.temporary"
        return Spot(symbol=self.unit.memory(name, kind, span))

    def store(self, expr: tree.Expr, spot: Spot) -> None:
        """Evaluate to a place in memory."""
        saved = self.top
        self.at(expr.span)
        if not in_memory(expr.type):
            scalar = self.scalar(expr.type, expr.span)
            self.store_register(scalar, spot, self.value(expr))
        elif (handler := self.tables.stores.get(type(expr))) is not None:
            handler(self, expr, spot)
        else:
            self.copy(spot, self.spot(expr), size_of(expr.type))
        self.top = saved

    def statements(self, body: tuple[tree.Stmt, ...]) -> None:
        """Lower statements; a mistake in one doesn't hide those of the next."""
        for statement in body:
            saved = self.top
            self.at(statement.span)
            try:
                self.tables.statements[type(statement)](self, statement)
            except CslError as problem:
                self.unit.reports.add(problem.diagnostic)
            if not isinstance(statement, tree.Declare):
                self.top = saved

    # --- memory --------------------------------------------------------------------------------

    def load(self, kind: Scalar, spot: Spot, into: int) -> int:
        """Read a register from memory."""
        self.emit(Op.LOAD, kind, into, spot.base, spot.offset).symbol = spot.symbol
        return into

    def store_register(self, kind: Scalar, spot: Spot, register: int) -> None:
        """Write a register to memory."""
        self.emit(Op.STORE, kind, register, spot.base, spot.offset).symbol = spot.symbol

    def address(self, spot: Spot, into: int | None = None) -> int:
        """The address of a place, in a register."""
        if spot.base >= 0 and not spot.offset and spot.symbol is None:
            return self.move(spot.base, into)
        target = self.goal(into)
        if spot.base < 0:
            known = self.emit(Op.CONST, Scalar.U16, target, 0, spot.offset)
            known.symbol, known.temporary = spot.symbol, into is None
        else:
            step = self.emit(Op.ADD, Scalar.U16, target, spot.base, spot.offset)
            step.flags, step.symbol = int(Flag.IMMEDIATE), spot.symbol
        return target

    def copy(self, target: Spot, source: Spot, size: int) -> None:
        """Copy bytes."""
        if not size or target == source:
            return
        saved = self.top
        to, origin = self.address(target), self.address(source)
        self.emit(Op.COPY, Scalar.U8, to, origin, size)
        self.top = saved

    def move(self, register: int, into: int | None) -> int:
        """A register's value where it is asked for."""
        if into is None or into == register:
            return register
        self.emit(Op.MOVE, Scalar.U64, into, register)
        return into

    def word(self, word: Word, kind: Scalar, into: int | None = None) -> int:
        """Load a constant."""
        target = self.goal(into)
        bits = word.bits
        if word.shift or not -(1 << 31) <= bits < 1 << 31:
            wide = self.emit(Op.CONST, kind, target, _low(bits), _low(bits >> 32))
            wide.flags, wide.symbol = int(Flag.WIDE), word.symbol
        else:
            self.emit(Op.CONST, kind, target, 0, bits).symbol = word.symbol
        self.code[-1].temporary = into is None
        return target


def _low(value: int) -> int:
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low
