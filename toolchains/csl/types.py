"""Types of CSL: records that are equal if and only if the types are."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Simple:
    """A type without parts, by its name in the language."""

    name: str

    def __str__(self) -> str:
        """As CSL writes it."""
        return self.name


BOOL = Simple("bool")
VOID = Simple("void")
TYPE = Simple("type")
COMPTIME_INT = Simple("comptime_int")
COMPTIME_FLOAT = Simple("comptime_float")
COMPTIME_STRING = Simple("comptime_string")
COMPTIME_STRUCT = Simple("comptime_struct")
"""Of 1.4: any anonymous struct."""
IMPORTED_MODULE = Simple("imported_module")
COLOR = Simple("color")
DIRECTION = Simple("direction")
INPUT_QUEUE = Simple("input_queue")
OUTPUT_QUEUE = Simple("output_queue")
DATA_TASK_ID = Simple("data_task_id")
LOCAL_TASK_ID = Simple("local_task_id")
CONTROL_TASK_ID = Simple("control_task_id")
UT_ID = Simple("ut_id")
ANYOPAQUE = Simple("anyopaque")
FIFO = Simple("fifo")
"""What @allocate_fifo returns; it has no name in the language."""

DSD_TYPES = {
    name: Simple(name)
    for name in ("mem1d_dsd", "mem4d_dsd", "circbuf_dsd", "fabin_dsd", "fabout_dsd")
}
DSR_TYPES = {
    name: Simple(name)
    for name in ("dsr_dest", "dsr_src0", "dsr_src1", "dsr_fifo_dest", "dsr_fifo_src1", "xdsr", "sr")
}


@dataclass(frozen=True)
class Int:
    """`i16`, `u32`, and in 2.10 any width."""

    bits: int
    signed: bool

    def __str__(self) -> str:
        """As CSL writes it."""
        return f"{'i' if self.signed else 'u'}{self.bits}"

    @property
    def low(self) -> int:
        """Its least value."""
        return -(1 << (self.bits - 1)) if self.signed and self.bits else 0

    @property
    def high(self) -> int:
        """Its greatest value."""
        return (1 << (self.bits - self.signed)) - 1 if self.bits else 0


@dataclass(frozen=True)
class Float:
    """`f16`, `bf16`, `cb16`, `f32`."""

    name: str

    def __str__(self) -> str:
        """As CSL writes it."""
        return self.name


I8, I16, I32, I64 = (Int(n, True) for n in (8, 16, 32, 64))
U8, U16, U32, U64 = (Int(n, False) for n in (8, 16, 32, 64))
F16, BF16, CB16, F32 = (Float(n) for n in ("f16", "bf16", "cb16", "f32"))


@dataclass(frozen=True)
class Range:
    """What @range gives: `range` with the type of its elements."""

    element: Type

    def __str__(self) -> str:
        """For messages."""
        return "range"


@dataclass(frozen=True)
class Array:
    """`[a, b]T`, row-major; the element is never an array."""

    shape: tuple[int, ...]
    element: Type

    def __str__(self) -> str:
        """As CSL writes it."""
        return f"[{', '.join(map(str, self.shape))}]{self.element}"

    @property
    def count(self) -> int:
        """Of elements."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


@dataclass(frozen=True)
class Pointer:
    """`*T`, `*const T`, and with `many` `[*]T`, `[*]const T`."""

    target: Type
    constant: bool = False
    many: bool = False

    def __str__(self) -> str:
        """As CSL writes it."""
        return f"{'[*]' if self.many else '*'}{'const ' if self.constant else ''}{self.target}"


@dataclass(frozen=True)
class Function:
    """`fn(A)R` or `task(A)R`."""

    parameters: tuple[Type, ...]
    result: Type
    task: bool = False

    def __str__(self) -> str:
        """As CSL writes it."""
        inside = ", ".join(map(str, self.parameters))
        return f"{'task' if self.task else 'fn'}({inside}){self.result}"


@dataclass(frozen=True)
class Enum:
    """An enum: what it is, is where it was defined."""

    key: tuple[object, ...]
    """Of the definition: its node and what its parts were evaluated to."""
    name: str = field(compare=False)
    backing: Type
    members: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        """For messages."""
        return self.name


@dataclass(frozen=True)
class Struct:
    """A named struct or union."""

    key: tuple[object, ...]
    name: str = field(compare=False)
    fields: tuple[tuple[str, Type], ...]
    layout: str = ""
    """`packed`, `extern` or empty."""
    union: bool = False

    def __str__(self) -> str:
        """For messages."""
        return self.name


@dataclass(frozen=True)
class Anonymous:
    """The type of `.{ .a = x }`, structural."""

    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        """For messages."""
        return "struct { " + ", ".join(f"{name}: {kind}" for name, kind in self.fields) + " }"


@dataclass(frozen=True)
class Tuple:
    """The type of `.{ x, y }`, structural. `.{}` is the one without items, and fits both kinds."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        """For messages."""
        return "struct { " + ", ".join(map(str, self.items)) + " }"


Type = Simple | Int | Float | Range | Array | Pointer | Function | Enum | Struct | Anonymous | Tuple

COMPTIME_ONLY = frozenset(
    {TYPE, COMPTIME_INT, COMPTIME_FLOAT, COMPTIME_STRING, COMPTIME_STRUCT, IMPORTED_MODULE}
)


def comptime_only(kind: Type) -> bool:
    """Whether values of this type exist only while compiling."""
    match kind:
        case Function():
            return True
        case Array():
            return comptime_only(kind.element)
        case Struct() | Anonymous():
            return any(comptime_only(field) for _, field in kind.fields)
        case Tuple():
            return any(comptime_only(item) for item in kind.items)
        case _:
            return kind in COMPTIME_ONLY


_SIMPLE_BYTES = {
    "bool": 2,
    "void": 0,
    "anyopaque": 2,
    "color": 2,
    "direction": 2,
    "input_queue": 2,
    "output_queue": 2,
    "data_task_id": 2,
    "local_task_id": 2,
    "control_task_id": 2,
    "ut_id": 2,
    "fifo": 2,
    **dict.fromkeys(DSD_TYPES, 8),
    **dict.fromkeys(DSR_TYPES, 2),
}


def size_of(kind: Type) -> int:
    """Bytes in a PE's memory. Pointers are 16-bit byte addresses. ValueError if it has none."""
    match kind:
        case Int():
            return next((n for n in (1, 2, 4, 8) if kind.bits <= 8 * n), (kind.bits + 7) // 8)
        case Float():
            return 4 if kind.name == "f32" else 2
        case Array():
            return kind.count * size_of(kind.element)
        case Pointer():
            return 2
        case Enum():
            return size_of(kind.backing)
        case Struct() | Anonymous() | Tuple():
            return _aggregate_bytes(kind)
        case _:
            return _plain_bytes(kind)


def align_of(kind: Type) -> int:
    """Bytes that its address is a multiple of: 1, 2 or 4."""
    match kind:
        case Array():
            return align_of(kind.element)
        case Struct() | Anonymous():
            return max([2, *(align_of(field) for _, field in kind.fields)])
        case Tuple():
            return max([2, *(align_of(item) for item in kind.items)])
        case _:
            return max(1, min(4, size_of(kind)))


def bit_width(kind: Type) -> int:
    """Bits in a packed struct. ValueError if it can't be there."""
    match kind:
        case Int():
            return kind.bits
        case Enum():
            return bit_width(kind.backing)
        case Struct() if kind.layout == "packed":
            widths = [bit_width(field) for _, field in kind.fields]
            return max(widths, default=0) if kind.union else sum(widths)
        case Simple() if kind == BOOL:
            return 1
        case _:
            return 8 * size_of(kind)


def field_offset(kind: Struct | Anonymous | Tuple, index: int) -> int:
    """Byte offset of a field (not of packed ones, whose fields are bits of one integer)."""
    if isinstance(kind, Struct) and kind.union:
        return 0
    parts = kind.items if isinstance(kind, Tuple) else tuple(part for _, part in kind.fields)
    offset = 0
    for position, part in enumerate(parts):
        step = align_of(part)
        offset = -(-offset // step) * step
        if position == index:
            return offset
        offset += size_of(part)
    raise ValueError(f"{kind} has no field {index}")


def _plain_bytes(kind: Type) -> int:
    if isinstance(kind, Range):
        return 3 * size_of(kind.element)
    if isinstance(kind, Simple) and kind.name in _SIMPLE_BYTES:
        return _SIMPLE_BYTES[kind.name]
    raise ValueError(f"{kind} has no size in memory")


def _aggregate_bytes(kind: Struct | Anonymous | Tuple) -> int:
    if isinstance(kind, Tuple):
        return _packed(kind.items)
    if isinstance(kind, Struct) and kind.layout == "packed":
        return size_of(Int(bit_width(kind), False))
    if isinstance(kind, Struct) and kind.union:
        return max((size_of(field) for _, field in kind.fields), default=0)
    return _packed(tuple(field for _, field in kind.fields))


def _packed(parts: tuple[Type, ...]) -> int:
    offset = 0
    for part in parts:
        step = align_of(part)
        offset = -(-offset // step) * step + size_of(part)
    return offset + offset % 2
