"""Reading the memory of a child that sleeps: results are taken where the kernel put them.

So the clock holds no copy that the kernel would not make. `process_vm_readv` needs the right to
trace the child; where that is withheld (some containers), the child copies its results out instead.
"""

from __future__ import annotations

import ctypes
import os

import numpy as np
import numpy.typing as npt


class _Span(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class MemoryReader:
    """Reads from one process. Raises OSError where that is not allowed or not mapped."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
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

    def read(self, address: int, target: npt.NDArray[np.uint8]) -> None:
        """Fill `target` from `address` on."""
        done = 0
        while done < target.nbytes:
            here = _Span(target.ctypes.data + done, target.nbytes - done)
            there = _Span(address + done, target.nbytes - done)
            got = self._call(self._pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
            if got <= 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
            done += got
