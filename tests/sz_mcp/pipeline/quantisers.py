"""A session in this process around a quantiser, for tests of what is wrapped around a kernel."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from kernels.records import Arg, Array, Failure
from toolchains.base import Reply

Quantise = Callable[[Array, float], Array]
"""data, absolute bound → what it decodes to."""


def honest(data: Array, bound: float) -> Array:
    """Multiples of twice the bound, or the value itself where that is too far off."""
    if bound == 0.0:
        return data.copy()
    with np.errstate(all="ignore"):
        wide = data.astype(np.float64)
        near = (np.rint(wide / (2 * bound)) * (2 * bound)).astype(data.dtype)
        close = np.abs(wide - near.astype(np.float64)) <= bound
    return np.where(close, near, data)


def furthest(data: Array, bound: float) -> Array:
    """Every value as far off as it may be, but for a 10⁻¹² of that."""
    limit = bound * (1 - 1e-12)
    with np.errstate(all="ignore"):
        wide = data.astype(np.longdouble)
        moved = (wide + limit).astype(data.dtype)
        beyond = moved.astype(np.longdouble) - wide > limit
        moved = np.where(beyond, np.nextafter(moved, data), moved)
    return np.where(np.isfinite(moved), moved, data)


@dataclass
class Quantiser:
    """Implements `toolchains.base.Session`; the stream is what zlib makes of the decoded values."""

    quantise: Quantise
    calls: list[tuple[str, str, float]] = field(default_factory=list)
    """function, dtype, absolute bound (0.0 of a decompression)."""
    failure: Failure | None = None
    """What every call returns, if set."""
    _decoded: list[Array] = field(default_factory=list)

    @property
    def bounds(self) -> list[float]:
        """Those that were compressed with."""
        return [bound for function, _, bound in self.calls if function == "compress"]

    def call(self, function: str, items: Sequence[tuple[Arg, ...]], **_: Any) -> Reply | Failure:
        if self.failure is not None:
            return self.failure
        if function == "decompress":
            self.calls.append((function, str(items[0][2]), 0.0))
            return _replied(self._decoded)
        given = [(cast("Array", item[0]), cast("float", item[1])) for item in items]
        self.calls += [(function, data.dtype.name, bound) for data, bound in given]
        self._decoded = [self.quantise(data, bound) for data, bound in given]
        streams = [zlib.compress(decoded.tobytes()) for decoded in self._decoded]
        return _replied([np.frombuffer(stream, np.uint8) for stream in streams])

    def call_guarded(self, function: str, arguments: tuple[Arg, ...], **_: Any) -> Reply | Failure:
        return self.call(function, (arguments,))

    def still_intact(self, function: str) -> bool:
        return bool(function)

    def null_round_trip(self, function: str) -> float:
        return float(not function)

    def device_use(self, function: str) -> None:
        """It has no device."""

    def rest(self) -> None:
        """Nothing to stop."""

    def wake(self) -> None:
        """Nothing is stopped."""

    def apart(self) -> AbstractContextManager[None]:
        return nullcontext()

    def alive(self) -> bool:
        return self.failure is None

    def kill(self) -> None:
        """Nothing to kill."""

    def close(self) -> None:
        """Nothing to close."""


def _replied(outputs: Sequence[Array]) -> Reply:
    return Reply(
        inputs=(),
        outputs=tuple((output,) for output in outputs),
        seconds=1.0,
        child_seconds=1.0,
        wait_seconds=0.0,
        disturbed=False,
        intact=True,
        cpu_seconds=1.0,
    )
