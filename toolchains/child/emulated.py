"""A submission's device in this process: an emulated cupy, whose kernels the server compiles."""

from __future__ import annotations

import numpy as np

from . import shims, wire
from .device import Need
from .faults import ContractError
from .shims import cupy, simt
from .shims.cupy._engine import PROCESS, Asking, Source
from .shims.cupy._errors import CompileException, NotEmulatedError


class Emulated:
    """Implements `device.Device`."""

    def __init__(self, asked: int, need: Need) -> None:
        """asked: wire.CUDA or wire.HIP, and what else is wanted of it."""
        shims.install("cupy")
        hooks = "checked" if asked & wire.CHECKS else "none"
        kind = _Announcing if asked & wire.ANNOUNCES else Asking
        PROCESS.engine = kind(need, simt.load, hooks=hooks)
        PROCESS.dialect = "cuda" if asked & wire.CUDA else "hip"
        PROCESS.warp = 64 if asked & wire.WIDE else 32

    def given(self, values: tuple[object, ...], *, descending: bool) -> tuple[object, ...]:
        """See `Device.given`."""
        PROCESS.descending = descending
        return tuple(cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in values)

    def taken(self, function: str, result: object) -> object:
        """See `Device.taken`."""
        if isinstance(result, tuple):
            return tuple(self.taken(function, one) for one in result)
        if isinstance(result, cupy.ndarray):
            return cupy.asnumpy(result)
        if isinstance(result, np.ndarray):
            raise ContractError(
                f"{function} returned a numpy.ndarray; on this target a cupy.ndarray is needed"
            )
        return result


class _Announcing(Asking):
    """Tells of every module, so that all device code of a submission is seen when it is built."""

    def declare(self, source: Source) -> None:
        """See Engine; errors show when the module is used."""
        try:
            self.module(source)
        except (CompileException, NotEmulatedError):
            return
