"""A call whose arrays end where memory does, and a child that checks every index."""

from __future__ import annotations

import numpy as np

from kernels.records import Array, Failure, FailureKind, Submission
from tests.toolchains.conftest import HONEST, Open
from toolchains.base import Cancellation, Reply, Session
from toolchains.children.pool import Pool
from toolchains.children.session import Purpose, open_session

SUMMING = """\
import numpy as np
from numba import njit

@njit
def summed(stream, count):
    total = np.zeros(1)
    for i in range(count):
        total[0] += stream[i]
    return total

def decompress(stream, shape, dtype):
    return summed(stream, shape[0])
"""


def call(session: Session | Failure, stream: Array, count: int) -> Reply | Failure:
    assert not isinstance(session, Failure)
    arguments = (stream, (count,), np.dtype("f8"))
    return session.call_guarded("decompress", arguments, capacity=1000, deadline_s=20.0)


def test_what_ends_where_memory_does_is_read_whole(open_kernel: Open) -> None:
    session = open_kernel(SUMMING, "decompress")

    for size in (0, 1, 7, 8, 100, 4095, 4096, 4097, 70_001):
        reply = call(session, np.ones(size, np.uint8), size)

        assert isinstance(reply, Reply)
        assert reply.outputs[0][0].tolist() == [size]


def test_who_reads_on_ends_there(open_kernel: Open) -> None:
    session = open_kernel(SUMMING, "decompress")
    stream = np.ones(4000, np.uint8)

    assert isinstance(call(session, stream, 4000), Reply)
    beyond = call(session, stream, 4008)

    assert isinstance(beyond, Failure)
    assert beyond.kind is FailureKind.CRASH
    assert "SIGSEGV" in beyond.message


def test_a_request_that_is_not_guarded_has_its_arrays_on_cache_lines(open_kernel: Open) -> None:
    source = HONEST.replace(
        "    return stream.view", "    assert stream.ctypes.data % 64 == 0\n    return stream.view"
    )
    session = open_kernel(source)
    assert not isinstance(session, Failure)
    stream, arguments = np.zeros(24, np.uint8), ((6,), np.dtype("f4"))

    plain = session.call(
        "decompress", ((stream, *arguments),) * 3, capacity=(100,) * 3, deadline_s=20.0
    )
    guarded = session.call_guarded(
        "decompress", (stream, *arguments), capacity=100, deadline_s=20.0
    )

    assert isinstance(plain, Reply)
    assert isinstance(guarded, Failure)
    assert guarded.kind is FailureKind.EXCEPTION


def test_a_wrong_index_is_an_exception_where_every_index_is_checked(pool: Pool) -> None:
    submission = Submission("sz-open", "numba", {"kernel.py": SUMMING})
    session = open_session(pool, submission, ("decompress",), Cancellation(), purpose=Purpose.CHECK)
    stream = np.ones(100, np.uint8)

    within, beyond = call(session, stream, 100), call(session, stream, 101)

    assert not isinstance(session, Failure)
    alive = session.alive()
    session.close()
    assert isinstance(within, Reply)
    assert isinstance(beyond, Failure)
    assert beyond.kind is FailureKind.EXCEPTION
    assert "IndexError: index is out of bounds" in beyond.message
    assert [(d.file, d.line) for d in beyond.diagnostics][-1] == ("kernel.py", 12)
    assert alive
