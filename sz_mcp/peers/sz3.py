"""SZ3 through pysz: absolute bounds, one thread. Runs inside a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode

from sz_mcp.peers.protocol import Array, Functions, Stream


@dataclass(frozen=True)
class _Sz3:
    algorithm: Any

    def compress(self, data: Array, abs_bound: float) -> Stream:
        config = szConfig()
        config.errorBoundMode = szErrorBoundMode.ABS
        config.absErrorBound = abs_bound
        config.cmprAlgo = self.algorithm
        config.openmp = False
        stream: Stream = sz.compress(data, config)[0]
        return stream

    def decompress(self, stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        array: Array = sz.decompress(stream, dtype, shape)[0]
        return array


def functions(option: str) -> Functions:
    """option: a name of szAlgorithm."""
    return _Sz3(getattr(szAlgorithm, option))
