"""The typed tree: code that runs on a PE, checked and with everything known put in its place.

What the analysis makes of function bodies and what lowering turns into instructions. Every
expression has its type and a span; conversions are explicit; operands of an operator have one type,
but for shifts. Calls name specialised functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simulators.wafer.dsd import Completion, DsdField, DsdKind, OnControl, Vector
from simulators.wafer.opcodes import SystemCall

from .source import Span
from .types import Type
from .values import Dsr, FunctionValue, Known, Variable


@dataclass(eq=False)
class Local:
    """A local variable or parameter of a function."""

    name: str
    type: Type
    span: Span
    addressed: bool = False
    """Its address is taken: it needs memory. Arrays and structs have it anyway."""


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Constant:
    """A value known while compiling."""

    type: Type
    span: Span
    value: Known


@dataclass(frozen=True, eq=False)
class LocalRef:
    """The value, or as a place the storage, of a local variable."""

    type: Type
    span: Span
    local: Local


@dataclass(frozen=True, eq=False)
class GlobalRef:
    """Likewise of a variable in memory."""

    type: Type
    span: Span
    variable: Variable


@dataclass(frozen=True, eq=False)
class Deref:
    """What a pointer points to."""

    type: Type
    span: Span
    pointer: Expr


@dataclass(frozen=True, eq=False)
class Element:
    """`base[i, j]`: of an array (a place or a value), or of a many-pointer (one index)."""

    type: Type
    span: Span
    base: Expr
    indices: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class FieldOf:
    """A field of a struct, union or tuple (a place or a value), by position."""

    type: Type
    span: Span
    base: Expr
    index: int


@dataclass(frozen=True, eq=False)
class AddressOf:
    """`&place`."""

    type: Type
    span: Span
    place: Expr


@dataclass(frozen=True, eq=False)
class Unary:
    """`-`, `~`, `!`."""

    type: Type
    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True, eq=False)
class Binary:
    """Arithmetic, bits, shifts and comparisons (then `type` is bool)."""

    type: Type
    span: Span
    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class Logical:
    """`and`, `or`, in order and short-circuited."""

    type: Type
    span: Span
    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class Convert:
    """`@as` and widening: the value as `type`."""

    type: Type
    span: Span
    operand: Expr


@dataclass(frozen=True, eq=False)
class Bitcast:
    """The same bits as `type`; pointers too."""

    type: Type
    span: Span
    operand: Expr


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a specialised function."""

    type: Type
    span: Span
    function: Function
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class CallPointer:
    """A call through a `*const fn`."""

    type: Type
    span: Span
    pointer: Expr
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class FunctionAddress:
    """A pointer to a function."""

    type: Type
    span: Span
    function: Function


@dataclass(frozen=True, eq=False)
class Select:
    """`if (c) a else b` as a value."""

    type: Type
    span: Span
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, eq=False)
class BlockValue:
    """A labelled block as a value: `Break`s with its target give it."""

    type: Type
    span: Span
    target: Target
    body: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class Aggregate:
    """An array, struct or tuple of these parts, in order."""

    type: Type
    span: Span
    parts: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Splat:
    """An array of one value: `@constants` with a value not known."""

    type: Type
    span: Span
    value: Expr


@dataclass(frozen=True, eq=False)
class DsdMake:
    """`@get_dsd` with a field that isn't known: `start` is packed and then changed."""

    type: Type
    span: Span
    kind: DsdKind
    start: Known
    """A `values.Dsd` with what is known."""
    fields: tuple[tuple[DsdField, Expr], ...]
    """`BASE` takes a pointer; `ADVANCE_*` an i16 of elements."""


@dataclass(frozen=True, eq=False)
class DsdUpdate:
    """@set_dsd_length, @set_dsd_base_addr, @set_dsd_stride, @increment_dsd_offset."""

    type: Type
    span: Span
    dsd: Expr
    field: DsdField
    value: Expr


@dataclass(frozen=True, eq=False)
class TaskTarget:
    """What `.activate` or `.unblock` names, or @activate, @block, @unblock: an id, known or not."""

    id: Expr
    microthread: bool = False


@dataclass(frozen=True, eq=False)
class Behaviour:
    """The configuration of an operation or a DSR load."""

    asynchronous: bool = False
    completion: Completion = Completion.NOTHING
    completion_id: int = -1
    on_control: OnControl = OnControl.DEFAULT
    on_control_id: int = -1
    index: Expr | None = None
    microthread: int = -1
    priority: int = 0
    simd: int = -1
    save_address: bool = False
    single_step: bool = False
    completion_task: FunctionValue | None = None
    """Instead of an id: the task that is bound to it."""
    on_control_task: FunctionValue | None = None


@dataclass(frozen=True, eq=False)
class VectorOp:
    """A DSD operation. Operands in the builtin's order: DSDs, FIFOs, DSRs, pointers, scalars."""

    type: Type
    """void, or bool where a FIFO takes part."""
    span: Span
    vector: Vector
    dest: Expr
    sources: tuple[Expr, ...]
    behaviour: Behaviour


@dataclass(frozen=True, eq=False)
class LoadDsr:
    """@load_to_dsr."""

    type: Type
    span: Span
    dsr: Dsr
    dsd: Expr
    behaviour: Behaviour


@dataclass(frozen=True, eq=False)
class Map:
    """@map: call `function` with an element of each cursor, and pass on the other arguments."""

    type: Type
    span: Span
    function: Function
    inputs: tuple[Expr, ...]
    """DSDs, DSRs; scalars and pointers are evaluated once."""
    output: Expr | None
    """A DSD, DSR, pointer or place."""


@dataclass(frozen=True, eq=False)
class TaskOp:
    """@activate, @block, @unblock."""

    type: Type
    span: Span
    operation: str
    """`activate`, `block`, `unblock`."""
    target: TaskTarget


@dataclass(frozen=True, eq=False)
class System:
    """A call of the machine."""

    type: Type
    span: Span
    call: SystemCall
    arguments: tuple[Expr, ...]


Expr = (
    Constant
    | LocalRef
    | GlobalRef
    | Deref
    | Element
    | FieldOf
    | AddressOf
    | Unary
    | Binary
    | Logical
    | Convert
    | Bitcast
    | Call
    | CallPointer
    | FunctionAddress
    | Select
    | BlockValue
    | Aggregate
    | Splat
    | DsdMake
    | DsdUpdate
    | VectorOp
    | LoadDsr
    | Map
    | TaskOp
    | System
)


# --- statements ------------------------------------------------------------------------------


@dataclass(eq=False)
class Target:
    """A loop or block that `Break` and `Continue` name."""

    label: str = ""
    broken: bool = False
    """Something breaks to it."""


@dataclass(frozen=True, eq=False)
class Declare:
    """A local variable begins; None leaves it undefined."""

    span: Span
    local: Local
    value: Expr | None


@dataclass(frozen=True, eq=False)
class Assign:
    """place = value."""

    span: Span
    place: Expr
    value: Expr


@dataclass(frozen=True, eq=False)
class Effect:
    """An expression for its effect."""

    span: Span
    value: Expr


@dataclass(frozen=True, eq=False)
class If:
    """Neither arm is known to be taken."""

    span: Span
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    """While `condition` (None: always): body, then step, which also follows `Continue`."""

    span: Span
    target: Target
    condition: Expr | None
    body: tuple[Stmt, ...]
    step: tuple[Stmt, ...] = ()


@dataclass(frozen=True, eq=False)
class Count:
    """`for (@range(T, start, stop, step)) |i|` with a step that is known."""

    span: Span
    target: Target
    local: Local
    start: Expr
    stop: Expr
    step: int
    body: tuple[Stmt, ...]
    position: Local | None = None


@dataclass(frozen=True, eq=False)
class Switch:
    """Cases by integer value, and what else."""

    span: Span
    scrutinee: Expr
    cases: tuple[tuple[tuple[int, ...], tuple[Stmt, ...]], ...]
    otherwise: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class Scope:
    """Statements of a block; a `target` if something breaks out of it."""

    span: Span
    body: tuple[Stmt, ...]
    target: Target | None = None


@dataclass(frozen=True, eq=False)
class Break:
    """Leave `target`, with its value if it is a `BlockValue`."""

    span: Span
    target: Target
    value: Expr | None = None


@dataclass(frozen=True, eq=False)
class Continue:
    """Go on with the next round of `target`."""

    span: Span
    target: Target


@dataclass(frozen=True, eq=False)
class Return:
    """Leave the function."""

    span: Span
    value: Expr | None = None


Stmt = Declare | Assign | Effect | If | Loop | Count | Switch | Scope | Break | Continue | Return


@dataclass(eq=False)
class Function:
    """A function or task for one set of known arguments; `body` is filled when it is analysed."""

    name: str
    """The instance's path and its name."""
    parameters: tuple[Local, ...]
    result: Type
    task: bool
    span: Span
    body: tuple[Stmt, ...] = ()
    locals: list[Local] = field(default_factory=list)
