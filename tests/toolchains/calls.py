"""Calls of small kernels in children, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

from kernels.records import Array, Failure
from toolchains.base import Reply
from toolchains.children.session import ChildSession

from .conftest import Open

ROOM = 1 << 20


def session_of(result: ChildSession | Failure) -> ChildSession:
    assert isinstance(result, ChildSession), result
    return result


def states(pid: int) -> set[str]:
    """Of the threads of a process, as proc(5) has them: T is stopped."""
    stats = [task / "stat" for task in Path(f"/proc/{pid}/task").iterdir()]
    return {stat.read_text(encoding="utf-8").rpartition(") ")[2][0] for stat in stats}


def compress_with(session: ChildSession, field: Array, deadline_s: float = 20) -> Reply | Failure:
    return session.call("compress", ((field, 1e-3),), capacity=(ROOM,), deadline_s=deadline_s)


def failure_of(open_kernel: Open, field: Array, body: str, deadline_s: float = 20) -> Failure:
    source = (
        f"import os, sys, ctypes\nimport numpy as np\n\ndef compress(data, abs_bound):\n{body}\n"
    )
    reply = compress_with(session_of(open_kernel(source, "compress")), field, deadline_s)
    assert isinstance(reply, Failure), reply
    return reply
