"""Reading the memory of a child that sleeps: results are taken where the kernel put them.

So the clock holds no copy that the kernel would not make. `process_vm_readv` needs the right to
trace the child; where that is withheld (some containers), the child copies its results out instead.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .cores import Workers

_THREADS = 2


class _Span(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class MemoryReader:
    """Reads from one process, in a few threads: copying is the larger part of checking a result."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._workers = Workers("memory", _THREADS)
        self._call = ctypes.CDLL(None, use_errno=True).process_vm_readv
        self._call.restype = ctypes.c_ssize_t
        self._call.argtypes = (
            ctypes.c_int,
            ctypes.POINTER(_Span),
            ctypes.c_ulong,
            ctypes.POINTER(_Span),
            ctypes.c_ulong,
            ctypes.c_ulong,
        )

    def read(self, pieces: Sequence[tuple[int, npt.NDArray[np.uint8]]]) -> None:
        """Fill each target from its address. Raises OSError if that is not allowed or mapped."""
        self._workers.map(self._read, [p[0] for p in pieces], [p[1] for p in pieces])

    def close(self) -> None:
        """Stop the threads."""
        self._workers.close()

    def _read(self, address: int, target: npt.NDArray[np.uint8]) -> None:
        done = 0
        while done < target.nbytes:
            here = _Span(target.ctypes.data + done, target.nbytes - done)
            there = _Span(address + done, target.nbytes - done)
            got = self._call(self._pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
            if got <= 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
            done += got
