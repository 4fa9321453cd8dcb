"""Shared memory between the server and one child: sealed memory files, mapped on both sides.

The child can never write the input arena (F_SEAL_FUTURE_WRITE); neither side can shrink or grow
one, so no access inside it can fault. A page follows the inputs that the child may not touch. A
child sees only its own two arenas.
"""

from __future__ import annotations

import fcntl
import mmap
import os

import numpy as np

from kernels.records import Array
from toolchains.child import wire

_F_SEAL_FUTURE_WRITE = 0x0010
"""Linux ≥ 5.1; not named by Python 3.11's fcntl."""
OUTPUT_BYTES = 1 << 20
"""Most that a child can print."""
_FIXED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Arena:
    """One memory file and the server's mapping of it."""

    def __init__(self, name: str, nbytes: int, *, child_may_write: bool) -> None:
        self.nbytes = max(-(-nbytes // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        self.mapped_bytes = self.nbytes + (0 if child_may_write else mmap.PAGESIZE)
        """By the child: with the page that it may not touch."""
        self.fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.mapped_bytes)
        self._map: mmap.mmap | None = mmap.mmap(self.fd, self.nbytes)
        seals = _FIXED if child_may_write else _FIXED | _F_SEAL_FUTURE_WRITE
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals | fcntl.F_SEAL_SEAL)

    def view(self, placed: wire.Placed) -> Array:
        """The array at a place; raises WireError if it does not lie inside the arena."""
        if placed.offset % wire.LEAST_ALIGNMENT or placed.offset + placed.nbytes > self.nbytes:
            raise wire.WireError("an array lies outside its arena")
        try:
            return np.ndarray(placed.shape, placed.dtype, self._map, placed.offset)
        except ValueError as error:
            raise wire.WireError(f"an impossible shape: {error}") from error

    def close(self) -> None:
        """Let go of the memory; views that still exist keep it mapped until they are dropped."""
        if self._map is not None:
            os.close(self.fd)
            self._map = None


def output_file() -> int:
    """A descriptor for a child's stdout and stderr: of fixed size, sealed, needing no reader."""
    fd = os.memfd_create("child-output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, OUTPUT_BYTES)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _FIXED | fcntl.F_SEAL_SEAL)
    return fd


def tail_of(fd: int, limit: int = 4000) -> str:
    """The last `limit` bytes that a child printed. The file offset is shared with the child."""
    end = min(max(os.lseek(fd, 0, os.SEEK_CUR), 0), OUTPUT_BYTES)
    raw = os.pread(fd, min(end, limit), max(0, end - limit))
    return raw.replace(b"\0", b"").decode("utf-8", "replace")
