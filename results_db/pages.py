"""Blocks of a database file and their checksums: damage must not be copied over what is whole.

DuckDB checks a block when it reads it, and a drain reads few: without this a block that was damaged
on disk would go into the next published copy unseen. The layout is that of DuckDB's source
(`src/common/checksum.cpp`, `single_file_block_manager.cpp`): three headers of 4 KiB, then blocks of
256 KiB, each beginning with the checksum of its rest.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_HEADERS, _HEADER_BYTES = 3, 4096
_BLOCK_BYTES = 1 << 18
_SEED, _FACTOR = np.uint64(5381), np.uint64(0xBF58476D1CE4E5B9)

Words = NDArray[np.uint64]


def damaged_at(file: BinaryIO) -> int | None:
    """Offset of the first damaged block of a checkpointed database; None if all are whole.

    A file whose first header is not of the layout above can't be judged, and is left to DuckDB.
    """
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        words = np.frombuffer(mapped, np.uint64, len(mapped) // 8)
        found = _first_damaged(words)
        del words
    return found


def _first_damaged(words: Words) -> int | None:
    if not _is_whole(words[: _HEADER_BYTES // 8]):
        return None
    return next((at * 8 for at, block in _blocks(words) if not _is_whole(block)), None)


def _blocks(words: Words) -> Iterator[tuple[int, Words]]:
    start, header, block = _HEADERS * _HEADER_BYTES // 8, _HEADER_BYTES // 8, _BLOCK_BYTES // 8
    for at in range(0, start, header):
        yield at, words[at : at + header]
    for at in range(start, len(words) - block + 1, block):
        yield at, words[at : at + block]


def _is_whole(block: Words) -> bool:
    with np.errstate(over="ignore"):
        rest = np.bitwise_xor.reduce(block[1:] * _FACTOR)
    # A block that was never written is all zero.
    return bool(block[0] == _SEED ^ rest or not block.any())
