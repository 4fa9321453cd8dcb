"""What a worker and its parent say to each other, and the files of memory that arrays pass through.

Messages are frames: their length, then JSON. An array lies at the beginning of a file of memory
that both have open; reading and writing by position keeps a file that changes its size harmless.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Stream = npt.NDArray[np.uint8]
Message = Mapping[str, Any]

LENGTH = struct.Struct("<I")
MOST_BYTES = 1 << 20
"""Of a message."""
_PIECE = 1 << 30
"""Linux moves less than 2 GiB per call."""


@dataclass(frozen=True)
class Files:
    """Files of memory, by descriptor. One worker uses them at a time."""

    original: int
    stream: int
    decoded: int


class Functions(Protocol):
    """A codec as contract §1 has it."""

    def compress(self, data: Array, abs_bound: float) -> Stream:
        """May overwrite `data`."""
        ...

    def decompress(self, stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array of this shape and dtype."""
        ...


def frame(message: Message) -> bytes:
    """A message as it is sent."""
    text = json.dumps(message).encode()
    return LENGTH.pack(len(text)) + text


def put(fd: int, array: Array) -> None:
    """Write the array's bytes to the beginning of a file."""
    view = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        done += os.pwrite(fd, view[done : done + _PIECE], done)


def fetch(fd: int, into: Array) -> None:
    """Fill an array from the beginning of a file. Raises EOFError."""
    view = into.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        count = os.preadv(fd, [view[done : done + _PIECE]], done)
        if count == 0:
            raise EOFError("the file holds less than was said")
        done += count
