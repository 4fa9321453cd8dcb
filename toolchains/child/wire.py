"""Messages between the server and a child, both ways: fixed binary structs in SEQPACKET datagrams.

The child is not trusted: the server decodes with the same functions, and every malformed message
raises `WireError`. Arrays themselves travel in shared arenas; a message only places them there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

MAX_MESSAGE = 60_000
"""Bytes; under the default limit of a local datagram."""
MAX_ITEMS = 64
MAX_NDIM = 4
ALIGNMENT = 64
"""Every array in an arena starts on a cache line, but for one that ends where the arena does."""
LEAST_ALIGNMENT = 8
"""Of such a one: that of every number it may hold."""
EXPLAINS, CHECKS, CUDA, HIP, WIDE, ANNOUNCES, COUNTS, WAFER = 1, 2, 4, 8, 16, 32, 64, 128
"""What a child is asked of the submission that it loads: to tell what the compiler makes of it; to
check every index in compiled code; to emulate a GPU of one or the other kind, the latter with
wavefronts of 64; to tell of all device code at once; to count what emulated kernels do; to have
the SDK of a simulated wafer."""
MOST_NEEDED = 2 << 20
"""Bytes of what a child may ask for at once."""

DTYPES = (
    "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
)  # fmt: skip
_ITEM_SIZES = {name: np.dtype(name).itemsize for name in DTYPES}
FUNCTIONS = ("compress", "decompress", "run")

CODE_LINE = "machine-code"
"""Begins a line that an explaining child prints about a function of the submission;
tab-separated: name, file, line, bits, vector instructions, all instructions."""
MAP_LINE = "code-map"
"""Likewise, of a piece of machine code: name of its function, or nothing; its address, in hex; its
size; the files it is of, by commas; and of its rows, by semicolons, bytes since the row before,
number of the file, and line."""
KEPT_LINE = "kept-call"
"""Likewise, of a call in a loop that was not inlined: where it is, file and line; the function that
is called, its file and line; its number of arguments, and how many of them are arrays."""
VECTOR_LINE = "vector-code"
"""Likewise, of work on whole vectors in a loop: file and line."""
COUNTED_LINE = "reference-count"
"""Likewise, of a change of a reference count in a loop: file and line."""
COUNTS_LINE = "kernel-counts"
"""Begins a line that a counting child prints after every call: number of a kernel, JSON of all that
it did so far (shims/simt/counting.py)."""

Arg = np.ndarray | float | int | tuple[int, ...] | np.dtype


class WireError(Exception):
    """A message that is not what the protocol allows."""


class Op(IntEnum):
    """What the server asks."""

    LOAD = 1
    ARENAS = 2
    PREPARE = 3
    GO = 4
    GIVEN = 5
    """What it needed, in a memory file."""


class Kind(IntEnum):
    """What the child answers."""

    READY = 1
    LOADED = 2
    MAPPED = 3
    PREPARED = 4
    DONE = 5
    FAULT = 6
    NEEDS = 7
    """In the middle of a request, something compiled: part of what it asks, and whether more
    follows."""


class FaultKind(IntEnum):
    """What went wrong in the child."""

    SYNTAX = 1
    IMPORT = 2
    COMPILE = 3
    EXCEPTION = 4
    CONTRACT = 5
    MEMORY = 6
    UNSUPPORTED = 7
    OVERLAP = 8
    """A result lies in memory of an earlier one of the same request: they must be copied out."""


HEAD = struct.Struct("<IHH")
"""sequence number, Op or Kind, count"""
PREPARE = struct.Struct("<BBBBxxxx")
"""function, profiled, held, descending"""
LOADED = struct.Struct("<Q")
"""address of a probe: 8 bytes that equal PROBE"""
PROBE = b"sz-probe"
ITEM = struct.Struct("<IxxxxQQ")
"""arguments, output offset, output capacity"""
VALUE = struct.Struct("<BBBxxxxxQQ4Q")
"""type, dtype, ndim, offset or scalar bits, nbytes, dims"""
DONE = struct.Struct("<Q")
"""nanoseconds in the kernel's calls"""
PHASE = struct.Struct("<QQIB3x64s64s")
"""calls, nanoseconds, line, compiled, name, file"""
FAULT = struct.Struct("<HHi")
"""FaultKind, frames, item"""
FRAME = struct.Struct("<II128s128s")
"""line, column, file, function"""
ARENA = struct.Struct("<QQ")
"""bytes of the input and of the output arena"""

_ARRAY, _FLOAT, _INT, _SHAPE, _DTYPE = range(5)


@dataclass(frozen=True)
class Placed:
    """An array in an arena, or in the child's own memory."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    """From the start of the arena; for a held result, its address in the child."""

    @property
    def nbytes(self) -> int:
        """Bytes of the array's elements."""
        return math.prod(self.shape) * _ITEM_SIZES[self.dtype]


Value = Placed | float | int | tuple[int, ...] | np.dtype


@dataclass(frozen=True)
class Item:
    """One call of the kernel's function."""

    values: tuple[Value, ...]
    out_offset: int
    out_capacity: int


@dataclass(frozen=True)
class Frame:
    """One place of a traceback, in the submission's own files."""

    file: str
    line: int
    function: str
    column: int = 0
    """In characters, from 1; 0 if not known."""


@dataclass(frozen=True)
class Fault:
    """Why a request failed, as the child tells it."""

    kind: FaultKind
    item: int
    type_name: str
    message: str
    frames: tuple[Frame, ...]
    """Outermost first."""


@dataclass(frozen=True)
class PhaseTime:
    """Self time of one function of the submission."""

    name: str
    file: str
    line: int
    calls: int
    nanoseconds: int
    compiled: bool


def clip(text: str, limit: int) -> bytes:
    """UTF-8 of `text`, at most `limit` bytes, whatever it holds."""
    return text.encode("utf-8", "backslashreplace")[:limit]


def text_of(raw: bytes) -> str:
    """Text of a fixed-size field, up to its first NUL."""
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def pack_value(value: Value) -> bytes:
    """One argument or output."""
    match value:
        case Placed():
            dims = value.shape + (0,) * (MAX_NDIM - len(value.shape))
            code = DTYPES.index(value.dtype)
            return VALUE.pack(_ARRAY, code, len(value.shape), value.offset, value.nbytes, *dims)
        case float():
            return VALUE.pack(
                _FLOAT, 0, 0, *struct.unpack("<Q", struct.pack("<d", value)), *[0] * 5
            )
        case int():
            return VALUE.pack(_INT, 0, 0, value & (2**64 - 1), *[0] * 5)
        case tuple():
            return VALUE.pack(_SHAPE, 0, len(value), 0, 0, *value, *[0] * (MAX_NDIM - len(value)))
        case np.dtype():
            return VALUE.pack(_DTYPE, DTYPES.index(value.name), 0, *[0] * 6)
    raise WireError(f"no wire form for {type(value).__name__}")


def unpack_value(raw: bytes) -> Value:
    """Inverse of `pack_value`; raises WireError on anything it could not have made."""
    tag, code, ndim, word, nbytes, *dims = VALUE.unpack(raw)
    if ndim > MAX_NDIM or code >= len(DTYPES):
        raise WireError(f"ndim {ndim} or dtype code {code} out of range")
    shape = tuple(dims[:ndim])
    match tag:
        case 0:
            placed = Placed(DTYPES[code], shape, word)
            if any(d >= 2**40 for d in shape) or placed.nbytes != nbytes:
                raise WireError("size and shape of an array disagree")
            return placed
        case 1:
            return float(struct.unpack("<d", struct.pack("<Q", word))[0])
        case 2:
            return int(word) if word < 2**63 else int(word) - 2**64
        case 3:
            return shape
        case 4:
            return np.dtype(DTYPES[code])
    raise WireError(f"value tag {tag}")


@dataclass(frozen=True)
class Calls:
    """A request: one call of the function per item."""

    function: str
    items: tuple[Item, ...]
    profiled: bool = False
    held: bool = False
    """Whether results stay where the kernel put them, for the server to read, or are copied out."""
    descending: bool = False
    """Whether an emulated GPU runs the threads of a block last to first."""


def pack_prepare(seq: int, calls: Calls) -> bytes:
    """Ask for the inputs to be mapped and the arguments built."""
    items = calls.items
    parts = [HEAD.pack(seq, Op.PREPARE, len(items))]
    function = FUNCTIONS.index(calls.function)
    parts.append(PREPARE.pack(function, calls.profiled, calls.held, calls.descending))
    for item in items:
        parts.append(ITEM.pack(len(item.values), item.out_offset, item.out_capacity))
        parts.extend(pack_value(v) for v in item.values)
    return b"".join(parts)


def unpack_prepare(message: bytes) -> Calls:
    """Inverse of `pack_prepare`."""
    _, _, count = HEAD.unpack_from(message)
    function, *flags = PREPARE.unpack_from(message, HEAD.size)
    at = HEAD.size + PREPARE.size
    items = []
    for _ in range(count):
        arguments, offset, capacity = ITEM.unpack_from(message, at)
        at += ITEM.size
        values, at = _values(message, at, arguments)
        items.append(Item(values, offset, capacity))
    return Calls(FUNCTIONS[function], tuple(items), *map(bool, flags))


def _values(message: bytes, at: int, count: int) -> tuple[tuple[Value, ...], int]:
    end = at + count * VALUE.size
    if end > len(message):
        raise WireError("a list of values runs past its message")
    values = tuple(unpack_value(message[i : i + VALUE.size]) for i in range(at, end, VALUE.size))
    return values, end


def pack_done(
    seq: int, nanoseconds: int, outputs: Sequence[Sequence[Placed]], phases: Sequence[PhaseTime]
) -> bytes:
    """Report where each item's outputs are."""
    parts = [HEAD.pack(seq, Kind.DONE, len(outputs)), DONE.pack(nanoseconds)]
    for item in outputs:
        parts.append(ITEM.pack(len(item), 0, 0))
        parts.extend(pack_value(v) for v in item)
    for p in phases:
        name, file = clip(p.name, 64), clip(p.file, 64)
        parts.append(PHASE.pack(p.calls, p.nanoseconds, p.line, p.compiled, name, file))
    return b"".join(parts)


@dataclass(frozen=True)
class Done:
    """A finished request, as the child tells it."""

    nanoseconds: int
    outputs: tuple[tuple[Placed, ...], ...]
    phases: tuple[PhaseTime, ...]


def unpack_done(message: bytes) -> Done:
    """Inverse of `pack_done`; raises WireError on anything it could not have made."""
    try:
        return _unpack_done(message)
    except (struct.error, IndexError, OverflowError) as error:
        raise WireError(f"malformed reply: {error}") from error


def _unpack_done(message: bytes) -> Done:
    _, _, count = HEAD.unpack_from(message)
    (nanoseconds,) = DONE.unpack_from(message, HEAD.size)
    at = HEAD.size + DONE.size
    outputs = []
    for _ in range(count):
        arrays, _, _ = ITEM.unpack_from(message, at)
        values, at = _values(message, at + ITEM.size, arrays)
        placed = tuple(v for v in values if isinstance(v, Placed))
        if len(placed) != arrays:
            raise WireError("an output is not an array")
        outputs.append(placed)
    phases = []
    while at < len(message):
        calls, nanos, line, compiled, name, file = PHASE.unpack_from(message, at)
        phases.append(PhaseTime(text_of(name), text_of(file), line, calls, nanos, bool(compiled)))
        at += PHASE.size
    return Done(nanoseconds, tuple(outputs), tuple(phases))


def pack_needs(seq: int, asked: bytes) -> list[bytes]:
    """What a child needs, in as many messages as it takes."""
    room = MAX_MESSAGE - HEAD.size
    parts = [asked[at : at + room] for at in range(0, max(len(asked), 1), room)]
    return [
        HEAD.pack(seq, Kind.NEEDS, more) + part
        for part, more in zip(parts, [True] * (len(parts) - 1) + [False], strict=True)
    ]


def pack_fault(seq: int, fault: Fault) -> bytes:
    """Report an exception or a contract mistake."""
    frames = fault.frames[-16:]
    parts = [HEAD.pack(seq, Kind.FAULT, 0)]
    parts.append(FAULT.pack(fault.kind, len(frames), fault.item))
    parts.extend(
        FRAME.pack(f.line, f.column, clip(f.file, 128), clip(f.function, 128)) for f in frames
    )
    head = b"".join(parts)
    room = MAX_MESSAGE - len(head) - 256
    return head + clip(fault.type_name, 255) + b"\0" + clip(fault.message, room)


def unpack_fault(message: bytes) -> Fault:
    """Inverse of `pack_fault`; raises WireError on anything it could not have made."""
    try:
        kind, count, item = FAULT.unpack_from(message, HEAD.size)
        at = HEAD.size + FAULT.size
        frames = []
        for _ in range(count):
            line, column, file, function = FRAME.unpack_from(message, at)
            frames.append(Frame(text_of(file), line, text_of(function), column))
            at += FRAME.size
        name, _, text = message[at:].partition(b"\0")
        return Fault(
            FaultKind(kind),
            item,
            name.decode("utf-8", "replace"),
            text.decode("utf-8", "replace"),
            tuple(frames),
        )
    except (struct.error, ValueError) as error:
        raise WireError(f"malformed fault: {error}") from error


def pack_sources(files: dict[str, str]) -> bytes:
    """Source files in one blob, for a memfd."""
    parts = [struct.pack("<I", len(files))]
    for name, text in files.items():
        raw_name, raw = name.encode(), text.encode("utf-8", "surrogatepass")
        parts.append(struct.pack("<HI", len(raw_name), len(raw)) + raw_name + raw)
    return b"".join(parts)


def unpack_sources(blob: bytes) -> dict[str, bytes]:
    """Inverse of `pack_sources`."""
    (count,) = struct.unpack_from("<I", blob)
    at, files = 4, {}
    for _ in range(count):
        name_size, size = struct.unpack_from("<HI", blob, at)
        at += 6
        name = blob[at : at + name_size].decode()
        at += name_size
        files[name] = blob[at : at + size]
        at += size
    return files


def align(offset: int) -> int:
    """Round up to where the next array may start."""
    return -(-offset // ALIGNMENT) * ALIGNMENT
