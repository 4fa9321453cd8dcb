"""Memory for evaluations: a large field takes many times its size, and several may be asked for.

An evaluation holds the field, variants of it, results and golden streams in the server, and inputs
and results in two children: about ten times the field, measured on 1 GiB with `szp`.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kernels.fields import FieldDataError
from kernels.records import FieldInfo
from toolchains.children.timing_lock import TimingCancelled

COPIES = 12
"""Memory that an evaluation may take, in sizes of its field."""
SHARE = 0.6
"""Part of the machine's memory that all evaluations may take together."""
SMALL_BYTES = 16 << 20
"""Fields up to this size need not wait: a few of them always fit."""
_LOOK_S = 0.2


class Room:
    """The memory that is not taken yet. Thread-safe."""

    def __init__(self, total_bytes: int) -> None:
        """total_bytes: what all evaluations may take together."""
        self.total_bytes = total_bytes
        self._taken = 0
        self._changed = threading.Condition()

    @contextmanager
    def taken(
        self, info: FieldInfo, cancelled: Callable[[], bool], tell: Callable[[float, str], None]
    ) -> Iterator[None]:
        """Hold what the evaluation of a field takes; waits until others have ended.

        Raises:
            FieldDataError: it would not fit if it were alone.
            TimingCancelled: the caller went away meanwhile.
        """
        nbytes = field_bytes(info)
        need = COPIES * nbytes
        if nbytes <= SMALL_BYTES:
            yield
            return
        if need > self.total_bytes:
            raise FieldDataError(
                f"{info.name} has {nbytes / 1e9:.2f} GB, and this machine's memory is enough for "
                f"fields of {self.total_bytes / COPIES / 1e9:.2f} GB: choose a smaller one "
                "(`sz-mcp check` compares two files of any size)"
            )
        self._take(need, cancelled, tell)
        try:
            yield
        finally:
            with self._changed:
                self._taken -= need
                self._changed.notify_all()

    def _take(
        self, need: int, cancelled: Callable[[], bool], tell: Callable[[float, str], None]
    ) -> None:
        with self._changed:
            while self._taken + need > self.total_bytes:
                tell(0.0, "waiting for memory: other large fields are being evaluated")
                self._changed.wait(_LOOK_S)
                if cancelled():
                    raise TimingCancelled
            self._taken += need


def field_bytes(info: FieldInfo) -> int:
    """Size of a field's values."""
    return math.prod(info.shape) * np.dtype(info.dtype).itemsize


def machine_bytes(limit_file: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Memory of this machine, or of the control group the server runs in if that has less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = limit_file.read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdecimal() else total
