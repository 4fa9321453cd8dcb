"""Which shared libraries programs need: the names in them, followed as the dynamic loader does.

A child is shown those files and not the folders they lie in. ELF of 64 bits, little-endian
(elf(5)); the order of search is that of ld.so(8), without its cache: its usual folders are looked
through.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct("<4sBB10x2xH4x8xQ8x4x2xHH")
"""magic, class, data, machine, program header offset, its entry size, their number"""
_SEGMENT = struct.Struct("<I4xQQ8xQ")
"""type, offset, address, size in the file"""
_DYNAMIC = struct.Struct("<qQ")
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True)
class _Wants:
    names: tuple[str, ...]
    folders: tuple[str, ...]
    loader: str


def closure(files: Iterable[Path], folders: Sequence[Path], names: Iterable[str]) -> set[Path]:
    """Paths of the libraries that `files` need, and of those named, as they are looked up."""
    found: set[Path] = set()
    pending: list[tuple[str, tuple[Path, ...]]] = [(name, ()) for name in names]
    seen: set[tuple[str, tuple[Path, ...]]] = set()

    def take(path: Path) -> None:
        wants = _wants(path)
        if wants.loader and os.access(wants.loader, os.R_OK):
            found.add(Path(wants.loader))
        own = tuple(Path(f.replace("$ORIGIN", str(path.parent))) for f in wants.folders)
        pending.extend((name, own) for name in wants.names)

    for file in files:
        take(file)
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        name, own = one
        tried = (folder / name for folder in (*own, *folders))
        path = next((t for t in tried if os.access(t, os.R_OK)), None)
        if path is not None and path not in found:
            found.add(path)
            take(path)
    return found


def _wants(path: Path) -> _Wants:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return _read(data)
    except (OSError, ValueError, struct.error):
        # No ELF file, such as a linker script: it needs nothing.
        return _Wants((), (), "")


def _read(data: mmap.mmap) -> _Wants:
    magic, kind, order, _, start, size, count = _HEADER.unpack_from(data)
    if (magic, kind, order) != (b"\x7fELF", 2, 1):
        return _Wants((), (), "")
    segments = [_SEGMENT.unpack_from(data, start + i * size) for i in range(count)]
    loader, entries = "", list[tuple[int, int]]()
    for type_, offset, _, length in segments:
        if type_ == _PT_INTERP:
            loader = _text(data, offset)
        if type_ == _PT_DYNAMIC:
            entries += _DYNAMIC.iter_unpack(data[offset : offset + length])
    strings = next((value for tag, value in entries if tag == _DT_STRTAB), 0)
    base = next(
        (o + strings - a for t, o, a, n in segments if t == _PT_LOAD and a <= strings < a + n), 0
    )

    def told(*tags: int) -> Iterator[str]:
        return (_text(data, base + value) for tag, value in entries if tag in tags)

    folders = [folder for text in told(_DT_RPATH, _DT_RUNPATH) for folder in text.split(":")]
    return _Wants(tuple(told(_DT_NEEDED)), tuple(f for f in folders if f), loader)


def _text(data: mmap.mmap, at: int) -> str:
    return data[at : data.find(b"\0", at)].decode("utf-8", "replace")
