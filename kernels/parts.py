"""Two arrays of one shape → pairs of small flat parts, in order, worked on by several threads.

Arrays in memory or mapped files flow in, of any byte order and strides; a part is contiguous,
native-endian and read-only, and copied only if it does not lie so already. Nothing grows with the
arrays. Parts don't depend on the number of threads, nor does the order in which results come back.
"""

from __future__ import annotations

import mmap
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kernels.fields.dims import blocks
from kernels.records import Array

PART = 1 << 18
"""Most elements of a part: the caches hold two, and copies of two are 4 MB of double."""
_AHEAD = 8
"""Parts that are begun per thread before the first of them must have been taken."""
_MAPPED_BYTES = 1 << 27
"""Of larger files, pages are asked for ahead and let go behind."""
_STEP_BYTES = 1 << 24
"""So many at a time."""

Progress = Callable[[int, int], None]
"""Elements done, elements in all."""
Given = TypeVar("Given")
Found = TypeVar("Found")


def quiet(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Pair:
    """Part of two arrays, at the same elements."""

    start: int
    """How many elements come before it."""
    x: Array
    y: Array


@dataclass(frozen=True)
class Effort:
    """How work on parts is done."""

    threads: int = 1
    progress: Progress = quiet


def in_order(
    work: Callable[[Given], Found], items: Iterable[Given], threads: int
) -> Iterator[Found]:
    """`work` of every item, in the order of the items, by so many threads."""
    if threads <= 1:
        yield from map(work, items)
        return
    begun: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(threads, "parts") as pool:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > _AHEAD * threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def over_parts(
    work: Callable[[Pair], Found], x: Array, y: Array, effort: Effort
) -> Iterator[Found]:
    """`work` of every part of two arrays of one shape, in C order.

    A part's arrays are flat, contiguous, aligned, native-endian and read-only, and may be
    overwritten once `work` returns.
    """
    x, y = np.asarray(x), np.asarray(y)
    flat = x.flags.c_contiguous and y.flags.c_contiguous
    pairs = _flat_pairs(x.reshape(-1), y.reshape(-1)) if flat else _block_pairs(x, y)
    pages = [_Pages(array) for array in (x, y)] if flat else []

    copies = _Copies()

    def worked(pair: Pair) -> tuple[Found, int]:
        a, b = copies.plain("x", pair.x), copies.plain("y", pair.y)
        return work(Pair(pair.start, a, b)), a.size

    done = 0
    for found, size in in_order(worked, pairs, effort.threads):
        yield found
        done += size
        for one in pages:
            one.move(done)
        effort.progress(done, x.size)


def _flat_pairs(x: Array, y: Array) -> Iterator[Pair]:
    for start in range(0, x.size, PART):
        part = slice(start, start + PART)
        yield Pair(start, x[part], y[part])


def _block_pairs(x: Array, y: Array) -> Iterator[Pair]:
    if x.size == 0:
        return
    start = 0
    for part in blocks(x.shape, PART):
        pair = Pair(start, x[part], y[part])
        yield pair
        start += pair.x.size


class _Copies(threading.local):
    """Where a thread copies parts that don't lie as compiled code takes them; used again and again.

    Memory that is had and given back for every part costs more than the copying.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Array] = {}

    def plain(self, name: str, part: Array) -> Array:
        """The elements flat, contiguous, aligned, native-endian and read-only."""
        if part.flags.c_contiguous and part.flags.aligned and part.dtype.isnative:
            flat = part.reshape(-1).view()
        else:
            if name not in self._kept:
                self._kept[name] = np.empty(PART, part.dtype.newbyteorder("="))
            flat = self._kept[name][: part.size]
            np.copyto(flat.reshape(part.shape), part)
        flat.flags.writeable = False
        return flat


class _Pages:
    """Pages of a mapped file: asked for ahead of the work, let go behind it.

    So it is read as fast as the disk can, and does not fill the memory.
    """

    def __init__(self, array: Array) -> None:
        self._map, self._offset = _read_only_map(array)
        self._itemsize, self._end = array.itemsize, self._offset + array.nbytes
        self._asked = self._gone = self._offset // mmap.PAGESIZE * mmap.PAGESIZE
        self.move(0)

    def move(self, done: int) -> None:
        """The first `done` elements have been worked on; the file keeps what their pages hold."""
        if self._map is None:
            return
        at = (self._offset + done * self._itemsize) // mmap.PAGESIZE * mmap.PAGESIZE
        while self._asked < min(at + 2 * _STEP_BYTES, self._end):
            step = min(_STEP_BYTES, self._end - self._asked)
            self._map.madvise(mmap.MADV_WILLNEED, self._asked, step)
            self._asked += _STEP_BYTES
        if at - self._gone >= _STEP_BYTES:
            self._map.madvise(mmap.MADV_DONTNEED, self._gone, at - self._gone)
            self._gone = at


def _read_only_map(array: Array) -> tuple[mmap.mmap | None, int]:
    """The map of a large file that an array is in, and where in it; None if it may be written to.

    What was written to a private map and not to the file would be lost with its pages.
    """
    base: object = array
    mode = ""
    while isinstance(base, np.ndarray):
        mode = base.mode if isinstance(base, np.memmap) else mode
        base = base.base
    if not (isinstance(base, mmap.mmap) and mode == "r" and array.nbytes >= _MAPPED_BYTES):
        return None, 0
    start = np.frombuffer(base, np.uint8, 1).ctypes.data
    return base, int(array.ctypes.data) - start
