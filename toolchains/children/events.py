"""perf_event_open(2), asked for directly: no perf program is needed."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_SYSCALL = {"x86_64": 298, "aarch64": 241}
_ATTR_BYTES = 128
_PERIOD_AT, _SAMPLE_AT, _FORMAT_AT, _FLAGS_AT = 16, 24, 32, 40
"""Offsets in struct perf_event_attr (linux/perf_event.h)."""
_FORMAT_TIMES = 3
"""Value, time enabled, time running: more events than the processor has counters take turns."""
_CLOEXEC = 8


def open_event(
    kind: int, number: int, thread: int, flags: int, sampling: tuple[int, int] = (0, 0)
) -> int:
    """Descriptor of a running event, or a negative error number.

    sampling: every how many events one is noted, and what of it (PERF_SAMPLE_*).
    """
    syscall = _SYSCALL.get(platform.machine())
    if syscall is None:
        return -errno.ENOSYS
    attr = bytearray(_ATTR_BYTES)
    struct.pack_into("<IIQ", attr, 0, kind, _ATTR_BYTES, number)
    struct.pack_into("<Q", attr, _FORMAT_AT, _FORMAT_TIMES)
    struct.pack_into("<Q", attr, _FLAGS_AT, flags)
    struct.pack_into("<Q", attr, _PERIOD_AT, sampling[0])
    struct.pack_into("<Q", attr, _SAMPLE_AT, sampling[1])
    libc = ctypes.CDLL(None, use_errno=True)
    raw = (ctypes.c_char * _ATTR_BYTES).from_buffer(attr)
    fd = int(libc.syscall(syscall, raw, thread, -1, -1, _CLOEXEC))
    return fd if fd >= 0 else -ctypes.get_errno()
