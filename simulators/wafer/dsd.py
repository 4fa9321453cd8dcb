"""Data structure descriptors as 64-bit values, and the templates of operations on them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class DsdKind(IntEnum):
    """Bits 0-3 of a packed DSD."""

    NONE = 0
    MEMORY = 1
    """mem1d: base, extent, stride, wide, index."""
    MEMORY_4D = 2
    """mem4d: base, pattern number in `extent`, wide, index."""
    CIRCULAR = 3
    """circbuf: base, extent, wraparound in `index`."""
    FABRIC_IN = 4
    """extent, queue and colour in `base` (queue | colour << 8), options in `stride`."""
    FABRIC_OUT = 5
    """Likewise; wavelet index offset in `index`."""
    FIFO = 6
    """Number of the FIFO in `base`."""


class DsdField(IntEnum):
    """Fields of a packed DSD: (first bit, width). `DSD_SET` takes these numbers."""

    KIND = 0
    BASE = 1
    """Byte address of the first element, 16 bits."""
    EXTENT = 2
    """Elements or wavelets, 16 bits."""
    STRIDE = 3
    """In elements, signed 8 bits; of fabric DSDs the option bits `FabricOption`."""
    WIDE = 4
    """1 where an element has 32 bits, 0 for 16."""
    INDEX = 5
    """wavelet_index_offset, 16 bits."""
    ADVANCE_2 = 6
    """Not a field: base += 2 * signed value (16-bit elements)."""
    ADVANCE_4 = 7
    """Not a field: base += 4 * signed value."""


DSD_BITS: dict[DsdField, tuple[int, int]] = {
    DsdField.KIND: (0, 4),
    DsdField.WIDE: (4, 1),
    DsdField.STRIDE: (8, 8),
    DsdField.BASE: (16, 16),
    DsdField.EXTENT: (32, 16),
    DsdField.INDEX: (48, 16),
}


class FabricOption(IntEnum):
    """Bits of a fabric DSD's `STRIDE`."""

    CONTROL = 1
    ADVANCE_SWITCH = 2
    CONTROL_TRANSFORM = 4
    ZERO_FIRST = 8
    ZERO_SECOND = 16
    PRIORITY_LOW = 32
    PRIORITY_HIGH = 64


def pack_dsd(kind: DsdKind, fields: dict[DsdField, int]) -> int:
    """A packed DSD, as a signed 64-bit integer; every value is cut to its width."""
    value = int(kind)
    for name, content in fields.items():
        first, width = DSD_BITS[name]
        value |= (content & ((1 << width) - 1)) << first
    return value - (1 << 64) if value >> 63 else value


class Operand(IntEnum):
    """What an operand of an operation is."""

    NONE = 0
    DSD = 1
    """A register with a packed DSD."""
    DSR = 2
    """class * 16 + number; classes: 0 dest, 1 src0, 2 src1."""
    SCALAR = 3
    """A register with a value."""
    POINTER = 4
    """A register with an address: one element, stride 0."""


class Vector(IntEnum):
    """Operations on DSDs, named as their builtins."""

    ADD16 = 0
    ADDC16 = 1
    AND16 = 2
    OR16 = 3
    XOR16 = 4
    SAR16 = 5
    SLL16 = 6
    SLR16 = 7
    SUB16 = 8
    CLZ = 9
    CTZ = 10
    POPCNT = 11
    MOV16 = 12
    MOV32 = 13
    FABSH = 14
    FNEGH = 15
    FABSS = 16
    FNEGS = 17
    FMOVH = 18
    FMOVS = 19
    FADDH = 20
    FSUBH = 21
    FMULH = 22
    FMAXH = 23
    FADDS = 24
    FSUBS = 25
    FMULS = 26
    FMAXS = 27
    FADDHS = 28
    FMACH = 29
    FMACHS = 30
    FMACS = 31
    FH2S = 32
    FS2H = 33
    FH2XP16 = 34
    FS2XP16 = 35
    XP162FH = 36
    XP162FS = 37
    FNORMH = 38
    FNORMS = 39
    FSCALEH = 40
    FSCALES = 41
    DFILT = 42


class Completion(IntEnum):
    """What an asynchronous operation does at its end."""

    NOTHING = 0
    ACTIVATE = 1
    UNBLOCK = 2


class OnControl(IntEnum):
    """What a control wavelet does to an operation that reads the fabric."""

    DEFAULT = 0
    TERMINATE = 1
    ACTIVATE = 2
    UNBLOCK = 3


@dataclass(frozen=True)
class Operation:
    """A template of `DSD_OPERATE`; sources in the order of the builtin's arguments."""

    vector: Vector
    dest: tuple[Operand, int]
    sources: tuple[tuple[Operand, int], ...]
    """Registers or DSR numbers; scalars among them in place."""
    asynchronous: bool = False
    completion: Completion = Completion.NOTHING
    completion_id: int = -1
    """Task id, colour or queue."""
    on_control: OnControl = OnControl.DEFAULT
    on_control_id: int = -1
    index_register: int = -1
    """`.index`; -1: none."""
    microthread: int = -1
    """`.ut_id`; -1: the machine's rule."""
    priority: int = 0
    """-1 low, 0 medium, 1 high."""
    simd: int = -1
    """-1 as the machine does, else 0 off, 32, 64."""


@dataclass(frozen=True)
class DsrConfig:
    """How @load_to_dsr loads a descriptor."""

    asynchronous: bool = False
    completion: Completion = Completion.NOTHING
    completion_id: int = -1
    on_control: OnControl = OnControl.DEFAULT
    on_control_id: int = -1
    microthread: int = -1
    save_address: bool = False
    single_step: bool = False
