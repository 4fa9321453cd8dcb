"""A submission's device in this process: an emulated cupy, whose kernels the server compiles."""

from __future__ import annotations

import os

import numpy as np

from . import shims, wire
from .device import Need
from .faults import ContractError
from .shims import cupy
from .shims.cupy._engine import PROCESS, Asking, Source
from .shims.cupy._errors import CompileException, NotEmulatedError
from .shims.simt.runtime import Launcher

_LAUNCH_S, _SLOWEST_BYTES_PER_S = 9.0, 2e6
"""A launch that waits for longer is stopped, and says where: a second before its request is."""


class Emulated:
    """Implements `device.Device`."""

    def __init__(self, asked: int, need: Need) -> None:
        """asked: wire.CUDA or wire.HIP, and what else is wanted of it."""
        for name in ("cupy", "cupyx"):
            shims.install(name)
        hooks = "checked" if asked & wire.CHECKS else "none"
        self._counts = bool(asked & wire.COUNTS)
        hooks = "counted" if self._counts else hooks
        kind = _Announcing if asked & wire.ANNOUNCES else Asking
        self._launcher = Launcher(int(os.environ.get("NUMBA_NUM_THREADS", "1")))
        PROCESS.engine = kind(need, launcher=self._launcher, hooks=hooks)
        PROCESS.dialect = "cuda" if asked & wire.CUDA else "hip"
        PROCESS.warp = 64 if asked & wire.WIDE else 32

    def given(self, values: tuple[object, ...], *, descending: bool) -> tuple[object, ...]:
        """See `Device.given`."""
        PROCESS.descending = descending
        nbytes = sum(v.nbytes for v in values if isinstance(v, np.ndarray))
        self._launcher.deadline_s = _LAUNCH_S + nbytes / _SLOWEST_BYTES_PER_S
        return tuple(cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in values)

    def taken(self, function: str, result: object) -> object:
        """See `Device.taken`."""
        if self._counts:
            _tell(self._launcher)
        return self._taken(function, result)

    def _taken(self, function: str, result: object) -> object:
        if isinstance(result, tuple):
            return tuple(self._taken(function, one) for one in result)
        if isinstance(result, cupy.ndarray):
            return cupy.asnumpy(result)
        if isinstance(result, np.ndarray):
            raise ContractError(
                f"{function} returned a numpy.ndarray; on this target a cupy.ndarray is needed"
            )
        return result


def _tell(launcher: Launcher) -> None:
    """What its kernels did so far."""
    for number, text in enumerate(launcher.counting.lines()):
        os.write(2, f"{wire.COUNTS_LINE}\t{number}\t{text}\n".encode())


class _Announcing(Asking):
    """Tells of every module, so that all device code of a submission is seen when it is built."""

    def declare(self, source: Source) -> None:
        """See Engine; errors show when the module is used."""
        try:
            self.module(source)
        except (CompileException, NotEmulatedError):
            return
