"""Copies between a host's array and the memory of a rectangle of PEs, and arguments of launches."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .host_session import Device, Spot
from .opcodes import Scalar
from .program import CodeClass, Export, ExportKind, Program, Region


class UseError(Exception):
    """What the host asked for can't be done; the message says why and what can."""


@dataclass(frozen=True)
class Rectangle:
    """PEs of a program."""

    x: int
    y: int
    width: int
    height: int

    def spots(self) -> Iterator[Spot]:
        """Its PEs by rows, west to east."""
        for y in range(self.y, self.y + self.height):
            for x in range(self.x, self.x + self.width):
                yield x, y


def checked_rectangle(program: Program, values: Sequence[int]) -> Rectangle:
    """Raises UseError if it isn't inside the program's."""
    x, y, width, height = values
    if width < 1 or height < 1:
        raise UseError(f"a rectangle of {width} x {height} PEs is empty")
    if x < 0 or y < 0 or x + width > program.width or y + height > program.height:
        raise UseError(
            f"the rectangle at ({x}, {y}) of {width} x {height} PEs is not inside the program's"
            f" {program.width} x {program.height}: coordinates count from its north-west corner"
        )
    return Rectangle(x, y, width, height)


def class_at(program: Program, x: int, y: int) -> CodeClass:
    """What a PE runs."""
    return program.classes[int(program.class_of[y, x])]


def export_of(program: Program, number: int) -> Export:
    """By the number that the host got for its name. Raises UseError."""
    if not 0 <= number < len(program.exports):
        streams = ", ".join(str(one.color) for one in program.streams) or "none"
        raise UseError(
            f"there is no symbol {number}: get_id(name) gives a symbol's number; with"
            f" streaming=True it is a colour (this program's: {streams})"
        )
    return program.exports[number]


@dataclass(frozen=True)
class Target:
    """An exported variable and how much of it is copied."""

    export: Export
    bytes: int
    """Of each PE."""

    def address(self, device: Device, x: int, y: int) -> int:
        """Where the copy begins at a PE. Raises UseError if no variable is there."""
        one = class_at(device.program, x, y)
        address = (one.exported_variables or {}).get(self.export.name, -1)
        if address < 0:
            raise UseError(f"{self._at(x, y)} is not exported: no @export_symbol there")
        if self.export.kind is ExportKind.POINTER:
            (address,) = struct.unpack("<H", device.read(x, y, address, 2))
        if region_at(one, address) is None:
            raise UseError(
                f"{self._at(x, y)} is a pointer that holds {address}, where no variable is"
            )
        return address

    def beyond(self, device: Device, x: int, y: int, address: int) -> str:
        """What is wrong if a copy from an address leaves the variable; empty if it doesn't."""
        region = region_at(class_at(device.program, x, y), address)
        if region is None or address + self.bytes <= region.address + region.bytes:
            return ""
        left = region.address + region.bytes - address
        there = " from there on" if address > region.address else ""
        has = f"`{region.name}: {region.type}` has {left}{there}"
        return f"{self._at(x, y)}: {self.bytes} bytes are asked for, but {has}"

    def _at(self, x: int, y: int) -> str:
        return f'"{self.export.name}" at PE ({x}, {y})'


def region_at(one: CodeClass, address: int) -> Region | None:
    """The variable in which an address is."""
    for region in one.regions:
        if region.address <= address < region.address + region.bytes:
            return region
    return None


def copy_in(
    device: Device, target: Target, where: Rectangle, rows: npt.NDArray[np.generic]
) -> None:
    """To each PE its row of values, in the order of the rectangle. Raises UseError."""
    for row, (x, y) in zip(rows, where.spots(), strict=True):
        address = target.address(device, x, y)
        problem = target.beyond(device, x, y, address)
        if problem:
            raise UseError(problem)
        device.write(x, y, address, row.tobytes())


def copy_out(
    device: Device, target: Target, where: Rectangle, warn: Callable[[str], None]
) -> bytes:
    """What each PE has, in the order of the rectangle. Raises UseError.

    A copy that leaves its variable gets what lies behind it, as 25-pt-stencil's host program does,
    and zeros where no memory is.
    """
    parts = []
    for x, y in where.spots():
        address = target.address(device, x, y)
        problem = target.beyond(device, x, y, address)
        if problem:
            warn(f"{problem}; what follows it in memory is given")
        end = max(one.address + one.bytes for one in class_at(device.program, x, y).regions)
        part = device.read(x, y, address, min(target.bytes, end - address))
        parts.append(part.ljust(target.bytes, b"\0"))
    return b"".join(parts)


# --- arguments -----------------------------------------------------------------------------------

_FORMATS: Mapping[Scalar, tuple[str, int]] = {
    Scalar.BOOL: ("?", 1),
    Scalar.I8: ("int8", 1),
    Scalar.U8: ("uint8", 1),
    Scalar.I16: ("int16", 2),
    Scalar.U16: ("uint16", 2),
    Scalar.I32: ("int32", 4),
    Scalar.U32: ("uint32", 4),
    Scalar.I64: ("int64", 8),
    Scalar.U64: ("uint64", 8),
    Scalar.F16: ("float16", 2),
    Scalar.F32: ("float32", 4),
}


def arguments_of(export: Export, given: Sequence[Mapping[str, object]]) -> list[int]:
    """A launch's arguments as register values. Raises UseError."""
    wanted = export.argument_scalars
    if len(given) != len(wanted):
        raise UseError(
            f'"{export.name}" is a `{export.type}` with {len(wanted)}'
            f" argument{'' if len(wanted) == 1 else 's'}, not {len(given)}"
        )
    return [
        _bits(f'argument {number} of "{export.name}", a `{export.type}`', Scalar(kind), one)
        for number, (kind, one) in enumerate(zip(wanted, given, strict=True), 1)
    ]


def _bits(what: str, kind: Scalar, given: Mapping[str, object]) -> int:
    """`given` has the raw bytes of a NumPy scalar in hexadecimal and its dtype, or a number."""
    if kind not in _FORMATS:
        raise UseError(f"{what}: the host can't give a {kind.name.lower()}")
    name, size = _FORMATS[kind]
    wanted = np.dtype(name)
    dtype = given.get("dtype")
    if dtype is None:
        return _of_number(what, wanted, given["value"])
    own = np.dtype(str(dtype))
    raw = bytes.fromhex(str(given["value"]))
    if own.itemsize != size or (own.kind != wanted.kind and own.kind not in "ui"):
        raise UseError(f"{what}: numpy.{wanted} is needed, not numpy.{own}")
    return _register(raw, wanted)


def _register(raw: bytes, wanted: np.dtype[Any]) -> int:
    """As a register holds it: signed integers with their sign, floats by their bits."""
    return int.from_bytes(raw, "little", signed=wanted.kind == "i")


def _of_number(what: str, wanted: np.dtype[Any], value: object) -> int:
    if not isinstance(value, int | float) or (wanted.kind != "f" and isinstance(value, float)):
        raise UseError(f"{what}: {value!r} is no {wanted}")
    if wanted.kind in "iu":
        limits = np.iinfo(wanted)
        if not limits.min <= value <= limits.max:
            raise UseError(f"{what}: {value} does not fit {wanted}")
    return _register(np.array(value, wanted).tobytes(), wanted)
