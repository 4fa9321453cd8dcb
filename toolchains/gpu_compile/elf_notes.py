"""What the note in an AMDGPU code object says of its kernels: registers, LDS, scratch, spills.

An ELF note of the name AMDGPU and type 32 holds a MessagePack map whose `amdhsa.kernels` has a map
per kernel ("User Guide for AMDGPU Backend", Code Object V3 and later; keys of version 5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SHT_NOTE = 7
_NT_METADATA = 32
_MAGIC = b"\x7fELF\x02\x01"
_DEEPEST = 32
"""Nested maps and lists of a note."""

Value = None | bool | int | float | str | bytes | list["Value"] | dict["Value", "Value"]


class NoteError(ValueError):
    """The bytes are no AMDGPU code object, or are damaged."""


@dataclass(frozen=True)
class KernelResources:
    """What one kernel takes."""

    symbol: str
    """Mangled."""
    vgprs: int
    """Of a lane. On CDNA2 and later AGPRs are among them: both come from one file."""
    agprs: int
    sgprs: int
    """Of a wavefront."""
    lds_bytes: int
    """Static, of a block."""
    scratch_bytes: int
    """Of a thread: spills, and arrays that found no register."""
    vgpr_spills: int
    sgpr_spills: int
    """Registers that were spilled; of SGPRs most go to lanes of a VGPR and cost no memory."""
    wavefront: int
    max_threads: int
    """Of a block, by its launch bounds."""
    kernarg_bytes: int
    dynamic_stack: bool = False
    """It calls what the compiler did not see, or recurses: scratch is a guess."""
    wgp_mode: bool = False
    """RDNA: blocks are spread over both CUs of a work group processor."""


def read_kernels(code: bytes) -> tuple[KernelResources, ...]:
    """Kernels of a code object, in the note's order.

    Raises:
        NoteError: it is none.
    """
    try:
        for name, kind, content in _notes(code):
            if name == b"AMDGPU" and kind == _NT_METADATA:
                return _kernels(unpack(content))
    except (struct.error, IndexError) as error:
        raise NoteError(f"the code object is cut short: {error}") from error
    raise NoteError("no AMDGPU metadata in the code object")


def _kernels(note: Value) -> tuple[KernelResources, ...]:
    listed = note.get("amdhsa.kernels") if isinstance(note, dict) else None
    if not isinstance(listed, list):
        raise NoteError("the note has no amdhsa.kernels")
    return tuple(_kernel(one) for one in listed if isinstance(one, dict))


def _kernel(one: Mapping[Value, Value]) -> KernelResources:
    def number(key: str) -> int:
        value = one.get(key, 0)
        return int(value) if isinstance(value, int) else 0

    return KernelResources(
        symbol=str(one.get(".name", "")),
        vgprs=number(".vgpr_count"),
        agprs=number(".agpr_count"),
        sgprs=number(".sgpr_count"),
        lds_bytes=number(".group_segment_fixed_size"),
        scratch_bytes=number(".private_segment_fixed_size"),
        vgpr_spills=number(".vgpr_spill_count"),
        sgpr_spills=number(".sgpr_spill_count"),
        wavefront=number(".wavefront_size"),
        max_threads=number(".max_flat_workgroup_size"),
        kernarg_bytes=number(".kernarg_segment_size"),
        dynamic_stack=bool(number(".uses_dynamic_stack")),
        wgp_mode=bool(number(".workgroup_processor_mode")),
    )


def _notes(code: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Name, type and content of every note of a little-endian ELF64 file."""
    if not code.startswith(_MAGIC):
        raise NoteError("not a little-endian ELF64 file")
    (table,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    for number in range(count):
        at = table + number * size
        (kind,) = struct.unpack_from("<I", code, at + 4)
        offset, length = struct.unpack_from("<QQ", code, at + 24)
        if kind == _SHT_NOTE:
            yield from _notes_of(code[offset : offset + length])


def _notes_of(section: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    at = 0
    while at + 12 <= len(section):
        name_size, size, kind = struct.unpack_from("<III", section, at)
        start = at + 12
        content = start + _padded(name_size)
        yield section[start : start + name_size].rstrip(b"\0"), kind, section[content:][:size]
        at = content + _padded(size)


def _padded(size: int) -> int:
    return (size + 3) & ~3


def unpack(packed: bytes) -> Value:
    """One MessagePack value (the specification's formats, without extensions).

    Raises:
        NoteError: it is not one.
    """
    reader = _Reader(packed)
    try:
        return reader.value(_DEEPEST)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError) as error:
        raise NoteError(f"not MessagePack: {error}") from error


_SCALARS: Mapping[int, tuple[str, int]] = {
    0xCA: (">f", 4), 0xCB: (">d", 8),
    0xCC: (">B", 1), 0xCD: (">H", 2), 0xCE: (">I", 4), 0xCF: (">Q", 8),
    0xD0: (">b", 1), 0xD1: (">h", 2), 0xD2: (">i", 4), 0xD3: (">q", 8),
}  # fmt: skip
_LENGTHS: Mapping[int, tuple[str, str]] = {
    0xC4: ("bytes", ">B"), 0xC5: ("bytes", ">H"), 0xC6: ("bytes", ">I"),
    0xD9: ("str", ">B"), 0xDA: ("str", ">H"), 0xDB: ("str", ">I"),
    0xDC: ("list", ">H"), 0xDD: ("list", ">I"), 0xDE: ("dict", ">H"), 0xDF: ("dict", ">I"),
}  # fmt: skip
_CONSTANTS: Mapping[int, Value] = {0xC0: None, 0xC2: False, 0xC3: True}


class _Reader:
    """Reads MessagePack from the front."""

    def __init__(self, packed: bytes) -> None:
        self._packed, self._at = packed, 0

    def value(self, depth: int) -> Value:
        """The next value, with at most `depth` levels below it."""
        tag = self._packed[self._at]
        self._at += 1
        if tag < 0x80 or tag >= 0xE0:
            return tag if tag < 0x80 else tag - 0x100
        if tag < 0xC0:
            kind, size = _short(tag)
            return self._many(kind, size, depth)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _SCALARS:
            return self._number(_SCALARS[tag][0])
        if tag not in _LENGTHS:
            raise NoteError(f"MessagePack tag {tag:#x} is not expected here")
        kind, form = _LENGTHS[tag]
        return self._many(kind, int(self._number(form)), depth)

    def _number(self, form: str) -> int | float:
        (number,) = struct.unpack_from(form, self._packed, self._at)
        self._at += struct.calcsize(form)
        return number  # type: ignore[no-any-return]

    def _many(self, kind: str, size: int, depth: int) -> Value:
        if depth == 0 or size > len(self._packed):
            raise NoteError("MessagePack is nested too deep, or longer than its bytes")
        if kind == "list":
            return [self.value(depth - 1) for _ in range(size)]
        if kind == "dict":
            return {self.value(depth - 1): self.value(depth - 1) for _ in range(size)}
        content = self._packed[self._at : self._at + size]
        self._at += size
        return content if kind == "bytes" else content.decode()


def _short(tag: int) -> tuple[str, int]:
    """What a tag below 0xC0 begins, and how many items or bytes it has."""
    if tag >= 0xA0:
        return "str", tag & 0x1F
    return ("dict", tag & 0xF) if tag < 0x90 else ("list", tag & 0xF)
