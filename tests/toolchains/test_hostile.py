"""What a hostile kernel does outside its calls, or says of itself, gains nothing and is seen."""

from __future__ import annotations

import os
import time

import pytest

from kernels.records import Array, Failure, FailureKind
from toolchains.base import Reply
from toolchains.children.clock import snapshot
from toolchains.children.pool import Pool

from .calls import compress_with, failure_of, session_of, states
from .conftest import HONEST, Open


def test_work_before_the_clock_starts_is_seen(open_kernel: Open, field: Array) -> None:
    source = """
import threading, time
import numpy as np
def spin():
    while True:
        sum(range(1000))
threading.Thread(target=spin, daemon=True).start()
def compress(data, abs_bound):
    return np.zeros(1, np.uint8)
"""
    reply = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(reply, Reply)
    assert not reply.intact


def test_work_after_the_reply_is_seen(open_kernel: Open, field: Array) -> None:
    source = """
import threading, time
import numpy as np
def late():
    time.sleep(0.05)
    sum(range(1000_000))
def compress(data, abs_bound):
    threading.Thread(target=late, daemon=True).start()
    return np.zeros(1, np.uint8)
"""
    session = session_of(open_kernel(source, "compress"))

    reply = compress_with(session, field)
    assert isinstance(reply, Reply)
    deadline = time.monotonic() + 10
    while session.still_intact("compress") and time.monotonic() < deadline:
        os.sched_yield()

    assert not session.still_intact("compress")


def test_a_kernel_at_rest_does_not_work(open_kernel: Open, field: Array) -> None:
    source = """
import threading
import numpy as np
def spin():
    while True:
        sum(range(1000))
threading.Thread(target=spin, daemon=True).start()
def compress(data, abs_bound):
    return np.zeros(1, np.uint8)
"""
    session = session_of(open_kernel(source, "compress"))
    child = session._channels["compress"].child

    session.rest()
    deadline = time.monotonic() + 10
    while states(child.pid) != {"T"} and time.monotonic() < deadline:
        os.sched_yield()
    stopped, at_rest = states(child.pid), snapshot(child.pid).cpu_ns
    sum(range(3_000_000))
    still = snapshot(child.pid).cpu_ns
    session.wake()
    reply = compress_with(session, field)

    assert stopped == {"T"}
    assert at_rest == still
    assert isinstance(reply, Reply)
    assert not reply.intact


def test_rest_is_not_held_against_a_kernel(open_kernel: Open, field: Array) -> None:
    session = session_of(open_kernel(HONEST))
    compress_with(session, field)
    for _ in range(3):
        session.rest()
        session.rest()
        session.wake()
        session.wake()
        reply = compress_with(session, field)

        assert isinstance(reply, Reply)
        assert reply.intact


@pytest.mark.parametrize(
    "body",
    [
        "    os.fork()",
        "    os.posix_spawn('/bin/true', ['true'], {})",
        "    import socket; socket.socket()",
        "    os.memfd_create('x')",
        "    import fcntl; fcntl.lockf(open(os.__file__), fcntl.LOCK_SH)",
        "    import fcntl; fcntl.flock(open(os.__file__), fcntl.LOCK_SH)",
        "    os.sched_setaffinity(0, {0})",
    ],
)
def test_what_a_kernel_has_no_use_for_is_refused(
    pool: Pool, open_kernel: Open, field: Array, body: str
) -> None:
    if not any(layer.name == "seccomp" and layer.holds for layer in pool.layers()):
        pytest.skip("system calls can't be refused on this machine")
    failure = failure_of(open_kernel, field, body)

    assert failure.kind is FailureKind.EXCEPTION
    assert "PermissionError" in failure.message


def test_a_kernel_that_lies_about_its_time_does_not_delay_the_server(
    open_kernel: Open, field: Array
) -> None:
    source = (
        HONEST
        + """
import time
_now = [0]
def _later():
    _now[0] += 10**18
    return _now[0]
time.perf_counter_ns = _later
"""
    )
    session = session_of(open_kernel(source, "compress"))

    for _ in range(4):
        reply = compress_with(session, field, deadline_s=5)
        assert isinstance(reply, Reply)
        assert reply.seconds < 5


def test_a_forged_reply_is_not_believed(open_kernel: Open, field: Array) -> None:
    source = """
import os
import numpy as np
def compress(data, abs_bound):
    for fd in range(3, 1024):
        try:
            os.write(fd, b"garbage" * 9)
        except OSError:
            pass
    return np.zeros(1, np.uint8)
"""
    reply = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.INTEGRITY


@pytest.mark.parametrize("name", ["__name__", "__module__"])
def test_an_exception_class_that_lies_is_still_described(
    open_kernel: Open, field: Array, name: str
) -> None:
    source = f"""
class Meta(type):
    @property
    def {name}(cls):
        raise RuntimeError("no")
class Odd(Exception, metaclass=Meta):
    pass
class Text(str):
    def encode(self, *a):
        raise RuntimeError("no")
def compress(data, abs_bound):
    raise Odd(Text("x"))
"""
    failure = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.EXCEPTION


def test_thousands_of_results_are_a_contract_mistake(open_kernel: Open, field: Array) -> None:
    failure = failure_of(open_kernel, field, "    return (np.zeros(1, np.uint8),) * 100_000")

    assert failure.kind is FailureKind.CONTRACT
    assert "at most 16" in failure.message


def test_a_well_formed_reply_with_an_impossible_shape_is_not_believed(
    open_kernel: Open, field: Array
) -> None:
    source = """
import socket
import numpy as np
from child import wire
def compress(data, abs_bound):
    import sys
    frame = sys._getframe()
    while "self" not in frame.f_locals:
        frame = frame.f_back
    child = frame.f_locals["self"]
    value = wire.VALUE.pack(0, 3, 4, 0, 0, 2**39, 2**39, 0, 1)
    item = wire.ITEM.pack(1, 0, 0) + value
    head = wire.HEAD.pack(child._seq, wire.Kind.DONE, 1)
    child._channel.send(head + wire.DONE.pack(1) + item)
    return np.zeros(1, np.uint8)
"""
    failure = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.INTEGRITY
