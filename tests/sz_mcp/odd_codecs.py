"""Compressors that misbehave, for workers to run: `functions(option)` makes the one named."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sz_mcp.peers.protocol import Array, Functions, Stream


class Stored:
    """Stores the array as it is."""

    def compress(self, data: Array, abs_bound: float) -> Stream:
        del abs_bound
        return np.frombuffer(data.tobytes(), np.uint8)

    def decompress(self, stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return stream.view(dtype).reshape(shape)


class Odd(Stored):
    """Does something else first."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def compress(self, data: Array, abs_bound: float) -> Stream:
        self._act()
        return super().compress(data, abs_bound)


class Off(Stored):
    """Every value is off by a little more than the bound."""

    def compress(self, data: Array, abs_bound: float) -> Stream:
        return super().compress(data + data.dtype.type(1.1 * abs_bound), abs_bound)


class Flat(Stored):
    """Forgets the shape."""

    def decompress(self, stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return super().decompress(stream, shape, dtype).reshape(-1)


def _raise() -> None:
    raise RuntimeError("it does\nnot work") from OSError("no disk")


def _print() -> None:
    sys.stdout.write("chatter " * 50_000)
    sys.stdout.flush()


def _start_another() -> None:
    if os.fork() == 0:
        signal.pause()


_MADE: Mapping[str, Functions] = {
    "stored": Stored(),
    "off": Off(),
    "flat": Flat(),
    "hangs": Odd(signal.pause),
    "crashes": Odd(lambda: os.kill(os.getpid(), signal.SIGSEGV)),
    "exits": Odd(lambda: os._exit(3)),
    "raises": Odd(_raise),
    "prints": Odd(_print),
    "forks": Odd(_start_another),
}


def functions(option: str) -> Functions:
    return _MADE[option]
