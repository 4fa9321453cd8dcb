"""Where everything lies in a PE's 48 KB, and what to say when it doesn't fit.

Data begins at `FIRST_ADDRESS`; code and the runtime come after it and only count. Code is estimated
at two bytes per instruction word (`schedule.words`): the vendor's encoding isn't public, its
instructions are 16-bit words by the size of minimal programs. The runtime's share is the 4,176
bytes of a minimal program with memcpy, less its code.

On WSE-2, consecutive 16-bit words lie in eight consecutive banks, and two sources of an operation
are read at once without conflict if they start four banks apart: arrays that are second sources
start half a row later than the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simulators.wafer.program import PE_BYTES, Region
from toolchains.csl.source import Diagnostic, Note, Severity

from .places import PlaceTable
from .symbols import Symbol

FIRST_ADDRESS = 16
"""So that an address of 0 is nothing's."""
MEMCPY_RESERVE = 4160
PLAIN_RESERVE = 512
BYTES_PER_WORD = 2
_ROW_BYTES = 16
"""Eight banks of 16 bits."""
_ROW_FROM = 32
"""Bytes from which an array is worth the bytes lost to put it at a bank."""
_LISTED = 12


def place(symbols: Sequence[Symbol], banks: bool) -> int:
    """Set addresses, in the order of the first mention; gives the first free address."""
    at = FIRST_ADDRESS
    for symbol in symbols:
        step, phase = symbol.alignment, 0
        if banks and symbol.size >= _ROW_FROM and step <= 4:
            step, phase = _ROW_BYTES, symbol.phase * (_ROW_BYTES // 2)
        at = -(-(at - phase) // step) * step + phase
        symbol.address = at
        at += max(symbol.size, 1)
    return at


def image(symbols: Iterable[Symbol], end: int) -> bytes:
    """Initial memory."""
    memory = bytearray(end)
    for symbol in symbols:
        at = symbol.address
        memory[at : at + len(symbol.content)] = symbol.content
        for offset, other in symbol.patches:
            word = int.from_bytes(memory[at + offset : at + offset + 2], "little")
            memory[at + offset : at + offset + 2] = (word + other.address & 0xFFFF).to_bytes(
                2, "little"
            )
    return bytes(memory)


def regions(symbols: Iterable[Symbol], places: PlaceTable) -> tuple[Region, ...]:
    """In the order of addresses."""
    return tuple(
        Region(
            symbol.name,
            symbol.address,
            symbol.size,
            str(symbol.type),
            places.place(symbol.span) if symbol.span is not None else None,
        )
        for symbol in sorted(symbols, key=lambda symbol: symbol.address)
        if symbol.size
    )


def overflow(
    symbols: Sequence[Symbol], data_end: int, code_words: int, memcpy: bool, name: str
) -> Diagnostic | None:
    """What is too large, the largest first; None if all fits."""
    reserve = MEMCPY_RESERVE if memcpy else PLAIN_RESERVE
    code = BYTES_PER_WORD * code_words
    total = data_end + code + reserve
    if total <= PE_BYTES:
        return None
    largest = sorted(symbols, key=lambda symbol: -symbol.size)
    notes = [
        Note(
            f"{symbol.size:,} bytes: `{symbol.name}` ({symbol.type}) from address "
            f"{symbol.address}, bank {symbol.address // 2 % 8}",
            symbol.span,
        )
        for symbol in largest[:_LISTED]
    ]
    rest = sum(symbol.size for symbol in largest[_LISTED:])
    if rest:
        notes.append(Note(f"{rest:,} bytes: {len(largest) - _LISTED} others"))
    notes.append(Note(f"{code:,} bytes: code (estimated)"))
    notes.append(Note(f"{reserve:,} bytes: runtime{' with memcpy' if memcpy else ''}"))
    return Diagnostic(
        Severity.ERROR,
        "out-of-memory",
        f"`{name}` needs {total:,} bytes of a PE's {PE_BYTES:,}: {total - PE_BYTES:,} too many",
        largest[0].span if largest else None,
        "make the largest arrays smaller, or spread them over more PEs",
        tuple(notes),
    )
