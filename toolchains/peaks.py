"""What this machine's memory can do: copy, read and write bandwidth by size, of one thread or all.

A peak is the best that was ever seen: noise only lowers a measurement. Curves are kept in a file
beside the ledger, named by machine and version, so that only a first look has to measure.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt

from kernels.records import Bandwidth
from toolchains.children.cores import all_cores

SIZES = tuple(1 << k for k in range(14, 29))
"""16 KiB to 256 MiB: from the first cache level to memory."""
SHARED_FROM = 1 << 20
"""Least size that is worth several threads: below it, meeting costs more than the work."""
_REPEATS = 7
_MIN_SECONDS = 200e-6
"""Shorter passes are repeated within one measurement, so that the clock's grain does not count."""
_MIN_SHARED_SECONDS = 2e-3
_LONG_SECONDS = 0.02
_LONG_REPEATS = 3

Alone = Callable[[], AbstractContextManager[None]]


class PeaksBusy(Exception):
    """The machine is timing something: nothing was measured."""


Words = npt.NDArray[np.uint64]
Work = Callable[[Words, Words, int], object]
"""(source, target, passes over them)"""
Parts = Sequence[tuple[Words, Words]]
"""Source and target of each thread."""


@numba.njit(nogil=True, cache=True)
def _copy_near(source: Words, target: Words, passes: int) -> None:
    """The best way while all is in cache: plain vector code, no call."""
    for _ in range(passes):
        for i in range(source.size):
            target[i] = source[i]


def _copy_far(source: Words, target: Words, passes: int) -> None:
    """The best way in memory: memcpy, which then writes past the caches."""
    for _ in range(passes):
        np.copyto(target, source)


@numba.njit(nogil=True, cache=True)
def _read(source: Words, _target: Words, passes: int) -> np.uint64:
    total = np.uint64(0)
    for _ in range(passes):
        for i in range(source.size):
            total += source[i]
    return total


@numba.njit(nogil=True, cache=True)
def _write(_source: Words, target: Words, passes: int) -> None:
    for k in range(passes):
        for i in range(target.size):
            target[i] = k


def _fill(_source: Words, target: Words, passes: int) -> None:
    """The best way to write one value: memset."""
    for k in range(passes):
        target.view(np.uint8).fill(k & 0xFF)


_KINDS: tuple[tuple[Work, ...], ...] = ((_copy_near, _copy_far), (_read,), (_write, _fill))
"""Ways to copy, read and write: the best one counts."""


class Peaks:
    """Measures once per size and remembers. Thread-safe."""

    def __init__(self, store: Path | None = None, alone: Alone = nullcontext) -> None:
        """store: file that curves are kept in. alone: context of a measurement of a whole curve."""
        self._store, self._alone = store, alone
        self._known: dict[tuple[int, int], Bandwidth] = {}
        self._fresh: set[int] = set()
        self._loaded = store is None
        self._lock = threading.Lock()

    def at(self, nbytes: int) -> Bandwidth:
        """Of one thread, at `nbytes` rounded up to a power of two of at least 4 KiB.

        Measured now, unless this process has; whoever calls sees to it that it is alone.
        """
        size = _rounded(nbytes)
        with self._lock:
            self._load()
            if size not in self._fresh:
                self._fresh.add(size)
                self._learn(_measure(size, 1), 1)
                self._save()
            return self._known[1, size]

    def doubted(self, nbytes: int) -> Bandwidth:
        """Likewise, when a result exceeds what is known: measured again, and at both powers of two.

        What was measured while the machine was busy is too low, and so is what was measured at a
        size that a cache does not hold, where it holds `nbytes`.
        """
        seen = []
        for near in {nbytes, nbytes // 2 + 1}:
            with self._lock:
                self._fresh.discard(_rounded(near))
            seen.append(self.at(near))
        best = max(seen, key=lambda one: one.nbytes)
        return Bandwidth(
            best.nbytes,
            max(one.copy_gbps for one in seen),
            max(one.read_gbps for one in seen),
            max(one.write_gbps for one in seen),
        )

    def curve(self, threads: int = 1) -> tuple[Bandwidth, ...]:
        """At every size of SIZES (SHARED_FROM on, if several threads share them).

        Raises PeaksBusy if nothing is known and the machine does not come to rest.
        """
        sizes = [size for size in SIZES if threads == 1 or size >= SHARED_FROM]
        with self._lock:
            self._load()
            missing = [size for size in sizes if (threads, size) not in self._known]
        if missing:
            # The lock comes second: whoever times a kernel asks for peaks while it is alone.
            with self._alone(), self._lock:
                for size in missing:
                    self._learn(_measure(size, threads), threads)
                    if (1, size) in self._known:
                        # One of the threads could do it alone.
                        self._learn(self._known[1, size], threads)
                self._save()
        with self._lock:
            return tuple(self._known[threads, size] for size in sizes)

    def _learn(self, seen: Bandwidth, threads: int) -> None:
        known = self._known.get((threads, seen.nbytes), seen)
        self._known[threads, seen.nbytes] = Bandwidth(
            seen.nbytes,
            max(seen.copy_gbps, known.copy_gbps),
            max(seen.read_gbps, known.read_gbps),
            max(seen.write_gbps, known.write_gbps),
        )

    def _load(self) -> None:
        if self._loaded or self._store is None:
            return
        self._loaded = True
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            for threads, entries in json.loads(self._store.read_text(encoding="utf-8")).items():
                for entry in entries:
                    self._learn(_bandwidth(entry), int(threads))

    def _save(self) -> None:
        """Best effort: a home that can't be written costs a measurement per process."""
        if self._store is None:
            return
        curves: dict[str, list[dict[str, float]]] = {}
        for (threads, _), bandwidth in sorted(self._known.items()):
            curves.setdefault(str(threads), []).append(asdict(bandwidth))
        with contextlib.suppress(OSError):
            self._store.parent.mkdir(parents=True, exist_ok=True)
            draft = self._store.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps(curves), encoding="utf-8")
            draft.replace(self._store)


def _rounded(nbytes: int) -> int:
    """Size at which `nbytes` are measured."""
    return max(4096, 1 << (max(nbytes, 1) - 1).bit_length())


def _bandwidth(entry: Mapping[str, float]) -> Bandwidth:
    speeds = [float(entry[name]) for name in ("copy_gbps", "read_gbps", "write_gbps")]
    if not all(0 < speed < 1e6 for speed in speeds):
        raise ValueError("no bandwidth")
    return Bandwidth(int(entry["nbytes"]), *speeds)


def _measure(nbytes: int, threads: int) -> Bandwidth:
    """Of `threads` threads that share arrays of `nbytes`."""
    words = nbytes // 8 // threads
    parts = [
        (np.arange(words, dtype=np.uint64), np.zeros(words, np.uint64)) for _ in range(threads)
    ]
    for work in itertools.chain(*_KINDS):
        work(parts[0][0][:8], parts[0][1][:8], 1)
    with _Team(threads) as team:
        seconds = [min(_best(team, work, parts) for work in ways) for ways in _KINDS]
    return Bandwidth(nbytes, *(nbytes / s / 1e9 for s in seconds))


class _Team:
    """Threads that begin together, each on its part; one alone is the calling thread."""

    def __init__(self, threads: int) -> None:
        self._meeting = threading.Barrier(threads)
        cores = all_cores()
        self._others = ThreadPoolExecutor(threads, "peaks", os.sched_setaffinity, (0, cores))

    def __enter__(self) -> _Team:
        return self

    def __exit__(self, *_: object) -> None:
        self._others.shutdown()

    def run(self, work: Work, parts: Parts, passes: int) -> float:
        """Seconds of one pass, from the first to begin to the last to end."""
        if len(parts) == 1:
            spans = [self._one(work, *parts[0], passes)]
        else:
            jobs = [self._others.submit(self._one, work, *part, passes) for part in parts]
            spans = [job.result() for job in jobs]
        return (max(end for _, end in spans) - min(start for start, _ in spans)) / passes

    def _one(self, work: Work, source: Words, target: Words, passes: int) -> tuple[float, float]:
        self._meeting.wait()
        start = time.perf_counter()
        work(source, target, passes)
        return start, time.perf_counter()


def _best(team: _Team, work: Work, parts: Parts) -> float:
    """Least seconds of a pass over several measurements, each long enough for the clock."""
    least = _MIN_SECONDS if len(parts) == 1 else _MIN_SHARED_SECONDS
    first = team.run(work, parts, 1)
    passes = 1 + int(least / max(first, 1e-9))
    repeats = _LONG_REPEATS if first > _LONG_SECONDS else _REPEATS
    return min(team.run(work, parts, passes) for _ in range(repeats))
