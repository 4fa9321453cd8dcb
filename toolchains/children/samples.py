"""Where a process is, many times a second: addresses of the instructions it is at.

The operating system interrupts each thread of a child after so much of its processor time
(perf_event_open(2), the software clock, which virtual machines have too) and notes the address.
The child has no part in it. What runs in the operating system's kernel is not seen.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections import Counter
from collections.abc import Mapping, Sequence

from .events import open_event

PERIOD_S = 1e-4
_MAX_THREADS = 16
_PAGES = 16
MOST_SAMPLES = 4096
"""In a thread's ring of so many pages: 0.4 s. What does not fit is not noted."""
_SOFTWARE, _CPU_CLOCK = 1, 0
_SAMPLE_ADDRESS = 1
_EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 5, 1 << 6
_HEAD_AT = 1024
"""Of data_head in struct perf_event_mmap_page."""
_RECORD = struct.Struct("<IHH")
_IS_SAMPLE = 9


class Samples:
    """Notes addresses from `start` until `stop`."""

    def __init__(self, threads: Sequence[int]) -> None:
        self._threads = threads[:_MAX_THREADS]
        self._rings: list[tuple[int, mmap.mmap]] = []

    def start(self) -> None:
        """Begin, while the process sleeps. Without the right to it, nothing is noted."""
        for thread in self._threads:
            fd = open_event(
                _SOFTWARE,
                _CPU_CLOCK,
                thread,
                _EXCLUDE_KERNEL | _EXCLUDE_HV,
                sampling=(int(PERIOD_S * 1e9), _SAMPLE_ADDRESS),
            )
            if fd < 0:
                return
            try:
                self._rings.append((fd, mmap.mmap(fd, (1 + _PAGES) * mmap.PAGESIZE)))
            except OSError:
                # More memory than is allowed to be locked (perf_event_mlock_kb).
                os.close(fd)
                return

    def stop(self) -> Mapping[int, int]:
        """Address → how many times a thread was there."""
        found: Counter[int] = Counter()
        for _, ring in self._rings:
            found.update(_addresses(ring))
        return found

    def close(self) -> None:
        """Free what it holds. Idempotent."""
        while self._rings:
            fd, ring = self._rings.pop()
            with contextlib.suppress(BufferError):
                ring.close()
            os.close(fd)


def _addresses(ring: mmap.mmap) -> list[int]:
    (head,) = struct.unpack_from("<Q", ring, _HEAD_AT)
    data = ring[mmap.PAGESIZE : mmap.PAGESIZE + min(head, _PAGES * mmap.PAGESIZE)]
    found, at = [], 0
    while at + _RECORD.size <= len(data):
        kind, _, size = _RECORD.unpack_from(data, at)
        if size < _RECORD.size:
            break
        if kind == _IS_SAMPLE and at + 16 <= len(data):
            found.append(struct.unpack_from("<Q", data, at + 8)[0])
        at += size
    return found
