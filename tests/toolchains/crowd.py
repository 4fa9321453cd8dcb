"""Many small kernels in few children: a child costs more than what most of them do wrong."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType

import numpy as np

from kernels.records import Array, Failure, Field, FieldInfo, Submission, Verdict
from kernels.tasks import TASKS
from kernels.tasks.base import StageTask
from sz_mcp.pipeline import SUITE, Request, Watch
from sz_mcp.pipeline.checks import codec_cases, judge, stage_cases
from sz_mcp.pipeline.golden import GoldenStreams
from toolchains.base import Cancellation, Reply
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, Purpose, open_session

FUNCTIONS = ("compress", "decompress", "run")
_ENTRY = """\
import importlib
import numpy as np

chosen = None

def compress(data, abs_bound):
    global chosen
    if abs_bound < 0:
        chosen = importlib.import_module(f"kernel_{int(-abs_bound)}")
        return np.zeros(0, np.uint8)
    return chosen.compress(data, abs_bound)

def decompress(stream, shape, dtype):
    return chosen.decompress(stream, shape, dtype)

def run(*inputs):
    return chosen.run(*inputs)
"""
CUBE = np.linspace(0, 1, 60, dtype=np.float32).reshape(3, 4, 5)
ROOM = 1000
BOUND = 0.125


class Crowd(AbstractContextManager["Crowd"]):
    """Kernels by name, all in one child; a new one is started when it has died."""

    def __init__(self, pool: Pool, sources: Mapping[str, str]) -> None:
        self._pool = pool
        self._numbers = {name: i + 1 for i, name in enumerate(sources)}
        files = {f"kernel_{self._numbers[n]}.py": text for n, text in sources.items()}
        self._submission = Submission("sz-open", "numba", {"kernel.py": _ENTRY, **files})
        self._session: ChildSession | None = None

    def file(self, name: str) -> str:
        """Where a kernel's source is."""
        return f"kernel_{self._numbers[name]}.py"

    def call(self, name: str, deadline_s: float = 20.0) -> Failure | None:
        """What one call of `compress` fails with; or the import."""
        session = self._open()
        failure = self._choose(session, name)
        if failure is not None:
            return failure
        items = ((CUBE, BOUND),)
        reply = session.call("compress", items, capacity=(ROOM,), deadline_s=deadline_s)
        return None if isinstance(reply, Reply) else reply

    def verify(
        self, name: str, task_name: str, data: Array, mode: str = "abs", bound: float = BOUND
    ) -> Verdict:
        """What verify_bounds says of one array."""
        session, task = self._chosen(name), TASKS[task_name]
        info = FieldInfo("line", data.shape, data.dtype.name, "", "", "0" * 64)
        request, field = Request("line", mode, bound), Field(info, data)
        if isinstance(task, StageTask):
            cases = stage_cases(task, request, field)
        else:
            cases = codec_cases(task, request, field, GoldenStreams())
        return judge(session, cases, request, Watch())

    def verify_suite(self, name: str, task_name: str) -> Verdict:
        """What verify_bounds says of all edge cases of a stage, or the fixed suite of a codec."""
        session, task = self._chosen(name), TASKS[task_name]
        request = Request(SUITE, "rel", 1e-3)
        if isinstance(task, StageTask):
            cases = stage_cases(task, request, None)
        else:
            cases = codec_cases(task, request, None, GoldenStreams())
        return judge(session, cases, request, Watch())

    def _chosen(self, name: str) -> ChildSession:
        session = self._open()
        assert self._choose(session, name) is None
        return session

    def _open(self) -> ChildSession:
        if self._session is None or not self._session.alive():
            self._close()
            session = open_session(
                self._pool, self._submission, FUNCTIONS, Cancellation(), purpose=Purpose.BUILD
            )
            assert isinstance(session, ChildSession), session
            self._session = session
        return self._session

    def _choose(self, session: ChildSession, name: str) -> Failure | None:
        items = ((CUBE, -float(self._numbers[name])),)
        reply = session.call("compress", items, capacity=(ROOM,), deadline_s=20.0)
        return None if isinstance(reply, Reply) else reply

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()
