"""The program in which one compressor runs: `python -m sz_mcp.peers.worker MODULE OPTION FDS`.

Requests come over a pipe and replies go over another, arrays through three files of memory: the
original, the stream, what was decoded. Whatever the compressor raises is a reply; a compressor that
ends the process, or never returns, is the parent's to notice. Speeds are of the call alone, on
content just written and memory touched before.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sz_mcp.peers.protocol import (
    LENGTH,
    Array,
    Files,
    Functions,
    Message,
    Stream,
    fetch,
    frame,
    put,
)

_PR_SET_PDEATHSIG = 1
_MOST_TEXT = 600
"""Characters of an exception."""


@dataclass
class _Codec:
    """A compressor and the arrays it was last given, kept so that their memory is warm."""

    functions: Functions
    files: Files
    data: Array
    stream: Stream

    def compress(self, asked: Message) -> Message:
        shape, dtype = tuple(asked["shape"]), np.dtype(asked["dtype"])
        if self.data.shape != shape or self.data.dtype != dtype:
            self.data = np.zeros(shape, dtype)
        fetch(self.files.original, self.data)
        stream, spent = _timed(lambda: self.functions.compress(self.data, asked["bound"]))
        put(self.files.stream, stream)
        return {**spent, "nbytes": stream.nbytes}

    def decompress(self, asked: Message) -> Message:
        shape, dtype = tuple(asked["shape"]), np.dtype(asked["dtype"])
        self.stream = np.zeros(asked["nbytes"], np.uint8)
        fetch(self.files.stream, self.stream)
        array, spent = _timed(lambda: self.functions.decompress(self.stream, shape, dtype))
        put(self.files.decoded, array)
        return {**spent, "shape": array.shape, "dtype": array.dtype.str}


def _timed(call: Callable[[], Array]) -> tuple[Array, dict[str, float]]:
    """Wall clock of the call, and processor time of all threads meanwhile."""
    used, start = time.process_time(), time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    return result, {"seconds": seconds, "cpu_seconds": time.process_time() - used}


def _load(module: str, option: str, files: Files) -> _Codec:
    functions = importlib.import_module(module).functions(option)
    return _Codec(functions, files, np.zeros(0), np.zeros(0, np.uint8))


def _answered(work: Callable[[], Any]) -> Message:
    try:
        return work() or {}
    except Exception as error:  # noqa: BLE001 - a compressor may raise anything: that is its answer
        missing = isinstance(error, ImportError)
        return {
            "failed": "missing" if missing else type(error).__name__,
            "message": _said(error),
        }


def _said(error: BaseException) -> str:
    """On one line, with what caused it."""
    cause = f" ({error.__cause__})" if error.__cause__ else ""
    return " ".join(f"{error}{cause}".split())[:_MOST_TEXT]


def _serve(codec: _Codec, requests: int, replies: int) -> None:
    with os.fdopen(requests, "rb") as incoming:
        while head := incoming.read(LENGTH.size):
            asked = json.loads(incoming.read(LENGTH.unpack(head)[0]))
            # What is printed goes to a file of fixed size, of which only the end is ever read.
            os.lseek(sys.stdout.fileno(), 0, os.SEEK_SET)
            act = {"compress": codec.compress, "decompress": codec.decompress}[asked["do"]]
            os.write(replies, frame(_answered(lambda: act(asked))))  # noqa: B023 - called at once


def main() -> None:
    """Serve until the parent closes its end or dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # A compressor that crashes is an answer, not something to examine.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module, option = sys.argv[1:3]
    requests, replies, *files = map(int, sys.argv[3:])
    loaded: list[_Codec] = []
    ready = _answered(lambda: loaded.append(_load(module, option, Files(*files))))
    os.write(replies, frame(ready))
    if loaded:
        _serve(loaded[0], requests, replies)


if __name__ == "__main__":
    main()
