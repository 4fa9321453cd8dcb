"""SPERR as the WebAssembly codec of numcodecs-wasm-sperr. Runs inside a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numcodecs_wasm_sperr import Sperr

from sz_mcp.peers.protocol import Array, Functions, Stream


@dataclass(frozen=True)
class _Sperr:
    mode: str

    def compress(self, data: Array, abs_bound: float) -> Stream:
        stream = Sperr(mode=self.mode, **{self.mode: abs_bound}).encode(data)
        return np.frombuffer(stream, np.uint8)

    def decompress(self, stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        # The stream's own header says what it holds, and its mode does not matter any more.
        del shape, dtype
        return np.asarray(Sperr(mode=self.mode, **{self.mode: 1.0}).decode(stream))


def functions(option: str) -> Functions:
    """option: the mode whose parameter is the bound."""
    return _Sperr(option)
