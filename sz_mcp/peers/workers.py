"""Workers as their parent sees them: started, asked within a deadline, ended.

What a compressor does, even to its process, comes back as `Trouble`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.records import Array
from sz_mcp.peers.codecs import EXTRA, Codec
from sz_mcp.peers.protocol import LENGTH, MOST_BYTES, Files, Message, fetch, frame, put
from toolchains.children.arenas import output_file, tail_of

DEADLINE_S = 120.0
"""For a call, with what is compiled in it; longer for large arrays."""
SLOWEST_BYTES_PER_S = 1e6
_ROOT = Path(__file__).parents[2]
_DYING_S = 5.0
_SAID = 300
"""Characters of what a dead worker printed."""


@dataclass(frozen=True)
class Trouble:
    """Why a compressor gave no result."""

    kind: str
    """missing | error | died | timeout"""
    message: str


@dataclass(frozen=True)
class Spent:
    """What one call took."""

    seconds: float
    """By the worker's clock, the call alone."""
    cpu_seconds: float
    """Of all its threads."""


@dataclass(frozen=True)
class Packed:
    """A stream that lies in the streams' file."""

    nbytes: int
    spent: Spent


@dataclass(frozen=True)
class Restored:
    """What was decoded."""

    array: Array
    spent: Spent


class _Gone(Exception):
    """The worker gave no proper answer."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble


class Worker:
    """One compressor's process: started when it is needed, and again after it died."""

    def __init__(
        self, codec: Codec, files: Files, threads: int = 1, deadline_s: float = DEADLINE_S
    ) -> None:
        self.codec = codec
        self._files, self._threads, self._deadline_s = files, threads, deadline_s
        self._process: _Process | None = None
        self._missing: Trouble | None = None

    def compress(self, data: Array, abs_bound: float) -> Packed | Trouble:
        """Of the array in the originals' file, of which `data` gives shape and dtype."""
        asked = {"do": "compress", **_form(data), "bound": abs_bound}
        reply = self._ask(asked, data.nbytes)
        return reply if isinstance(reply, Trouble) else Packed(reply["nbytes"], _spent(reply))

    def decompress(self, nbytes: int, like: Array) -> Restored | Trouble:
        """Of the first `nbytes` in the streams' file."""
        asked = {"do": "decompress", **_form(like), "nbytes": nbytes}
        reply = self._ask(asked, like.nbytes)
        if isinstance(reply, Trouble):
            return reply
        array = np.empty(reply["shape"], np.dtype(reply["dtype"]))
        fetch(self._files.decoded, array)
        return Restored(array, _spent(reply))

    def close(self) -> None:
        """End the process. Idempotent."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _ask(self, asked: Message, nbytes: int) -> Message | Trouble:
        if self._missing is not None:
            return self._missing
        deadline_s = self._deadline_s + nbytes / SLOWEST_BYTES_PER_S
        try:
            if self._process is None:
                self._process = _Process(self.codec, self._files, self._threads)
                ready = _answer(self.codec, self._process.receive(deadline_s))
                if isinstance(ready, Trouble):
                    self.close()
                    self._missing = ready
                    return ready
            self._process.send(asked)
            return _answer(self.codec, self._process.receive(deadline_s))
        except _Gone as gone:
            self.close()
            return gone.trouble


class _Process:
    def __init__(self, codec: Codec, files: Files, threads: int) -> None:
        requests, self._out = os.pipe()
        self._in, replies = os.pipe()
        self._printed = output_file()
        handed = (requests, replies, files.original, files.stream, files.decoded)
        program = [sys.executable, "-P", "-m", "sz_mcp.peers.worker"]
        try:
            self._popen = subprocess.Popen(
                [*program, codec.module, codec.option, *map(str, handed)],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                pass_fds=handed,
                env=_environment(threads),
                start_new_session=True,
            )
            self._pidfd = os.pidfd_open(self._popen.pid)
        finally:
            os.close(requests)
            os.close(replies)

    def send(self, message: Message) -> None:
        """Raises _Gone."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._out, frame(message))

    def receive(self, deadline_s: float) -> Message:
        """Raises _Gone."""
        until = time.monotonic() + deadline_s
        (length,) = LENGTH.unpack(self._read(LENGTH.size, until, deadline_s))
        try:
            if length > MOST_BYTES:
                raise ValueError("too long")
            message: Message = json.loads(self._read(length, until, deadline_s))
        except ValueError as error:
            raise _Gone(Trouble("died", f"its process sent no proper answer: {error}")) from error
        return message

    def kill(self) -> None:
        """With whatever it started; nothing of it stays."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        for fd in (self._in, self._out, self._printed, self._pidfd):
            os.close(fd)

    def _read(self, count: int, until: float, deadline_s: float) -> bytes:
        read = b""
        while len(read) < count:
            if not _readable(self._in, until - time.monotonic()):
                raise _Gone(Trouble("timeout", f"no answer within {deadline_s:.0f} s"))
            piece = os.read(self._in, count - len(read))
            if not piece:
                raise _Gone(self._death())
            read += piece
        return read

    def _death(self) -> Trouble:
        """Looked at and not reaped: its number stays its own until its group is killed."""
        how = "it gave up its pipe"
        if _readable(self._pidfd, _DYING_S):
            ended = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
            if ended is not None and ended.si_code == os.CLD_EXITED:
                how = f"exit code {ended.si_status}"
            elif ended is not None:
                how = f"killed by {signal.Signals(ended.si_status).name}"
        said = " ".join(tail_of(self._printed).split())[-_SAID:]
        return Trouble("died", f"its process ended ({how})" + (f": {said}" if said else ""))


def _readable(fd: int, within_s: float) -> bool:
    """Whether there is something to read; of a process, whether it has ended."""
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(max(0.0, within_s) * 1000))


@contextmanager
def memory_files() -> Iterator[Files]:
    """Files that exist while this lasts."""
    made = [os.memfd_create(f"peers-{name}") for name in ("original", "stream", "decoded")]
    try:
        yield Files(*made)
    finally:
        for fd in made:
            os.close(fd)


def give(files: Files, data: Array) -> None:
    """Make `data` the original."""
    put(files.original, data)


def _form(array: Array) -> Message:
    return {"shape": array.shape, "dtype": array.dtype.str}


def _spent(reply: Message) -> Spent:
    return Spent(reply["seconds"], reply["cpu_seconds"])


def _answer(codec: Codec, reply: Message) -> Message | Trouble:
    if "failed" not in reply:
        return reply
    if reply["failed"] == "missing":
        remedy = f": {EXTRA}" if codec.package else ""
        return Trouble("missing", f"{reply['message']}{remedy}")
    return Trouble("error", f"{reply['failed']}: {reply['message']}")


def _environment(threads: int) -> dict[str, str]:
    """As many threads as were asked for; memory stays with the process, as in a kernel's child."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    counted = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    return {
        **os.environ,
        **dict.fromkeys(counted, str(threads)),
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
