"""What tests of the tuned `szp` and `szx` share: the codecs, thread counts, kinds of streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernels.streams import szp, szx
from tests.kernels.submissions import loaded

Stream = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]

FORMATS: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]


@dataclass(frozen=True)
class Tuned:
    """A tuned kernel and the golden codec of its format."""

    name: str
    kernel: ModuleType
    encode: Callable[[Values, float], Stream]
    decode: Callable[[Stream, tuple[int, ...], np.dtype[Any]], Values]
    eager: dict[str, int]
    """Constants of the kernel with which it treats small arrays as large ones."""

    @contextmanager
    def with_threads(self, count: int) -> Iterator[None]:
        """Slabs of one chunk or group each, shared by so many threads; as it is for one thread."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.kernel.team, "size", lambda: count)
            for name, value in self.eager.items() if count > 1 else ():
                patch.setattr(self.kernel, name, value)
            yield

    def roundtrip(self, data: Values, bound: float) -> tuple[Stream, Values]:
        """The stream and what is decoded from it; the kernel may scribble on neither."""
        stream = self.kernel.compress(data.copy(), bound).copy()
        decoded = self.kernel.decompress(stream.copy(), data.shape, data.dtype)
        return stream, np.array(decoded)


@cache
def tuned_codecs() -> dict[str, Tuned]:
    """Both, by name; compiled once for all tests of a process.

    They are not loaded side by side, because their modules have the same names.
    """
    with loaded("szp", "tuned") as kernel:
        eager = {"TO_ENCODE": 1, "TO_DECODE": 1, "MOST_CHUNKS": 1, "LEAST_CHUNKS": 1}
        codecs = {"szp": Tuned("szp", kernel, szp.encode, szp.decode, eager)}
    with loaded("szx", "tuned") as kernel:
        eager = {"WORTHWHILE": 1, "MOST_GROUPS": 1, "LEAST_GROUPS": 1, "STREAMED": 0}
        codecs["szx"] = Tuned("szx", kernel, szx.encode, szx.decode, eager)
    return codecs


def walk(count: int, dtype: npt.DTypeLike, seed: int = 0) -> Values:
    """A random walk around 300."""
    noise = np.random.default_rng(seed).standard_normal(count)
    return np.asarray(np.cumsum(noise) + 300.0, dtype)


def with_holes(values: Values) -> Values:
    """The values with fills at every kind of place: scattered, in runs, over whole blocks."""
    n = values.size
    values[5:n:61] = 1e20
    values[n // 3 : n // 3 + 300] = 1e20
    values[n // 2] = np.nan
    return values


def kinds_of_streams() -> dict[str, tuple[Values, float]]:
    """Small arrays and bounds whose streams have every kind of block, side and header."""
    holes = walk(700, np.float32)
    holes[40:60] = holes[256:384] = 1e20
    holes[500] = np.nan
    wide = np.where(np.arange(200) % 7 == 0, -1.0, 1.0) * 10.0 ** (np.arange(200) / 9 - 9)
    doubles = walk(300, np.float64, seed=1)
    doubles[33] = np.inf
    doubles[128:256] = np.inf
    return {
        "masks, fills, a raw block and a tail": (holes, 1e-2),
        "raw and coded blocks": (wide.astype(np.float32), 1e-3),
        "float64 with masks and fills": (doubles, 1e-3),
        "float64 of a wide range": (wide, 1e-6),
        "lossless": (walk(70, np.float32), 0.0),
        "lossless float64": (walk(70, np.float64), 0.0),
        "constant": (np.full(300, 2.5, np.float32), 1e-3),
        "fill alone": (np.full(200, 1e20, np.float32), 1e-3),
        "empty": (np.zeros((3, 0), np.float32), 1e-3),
        "0-D": (np.array(3.5, np.float32), 0.1),
        "0-D float64": (np.array(-1e5), 1e-3),
        "4-D": (walk(120, np.float32).reshape(2, 3, 4, 5), 1e-2),
    }
