"""A child does what its contract says, and nothing it does reaches the server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Array, Failure, FailureKind, Status, Submission
from toolchains.base import Cancellation, Reply
from toolchains.children.isolation import BubblewrapIsolation, PlainIsolation
from toolchains.children.pool import Pool, PoolClosed
from toolchains.children.session import open_session

from .calls import ROOM, compress_with, failure_of, session_of
from .conftest import HONEST, Open


def test_a_batch_comes_back_in_order_and_unchanged(open_kernel: Open) -> None:
    session = session_of(open_kernel(HONEST))
    arrays = [np.full((3, 5), i, np.float64) for i in range(9)]

    packed = session.call(
        "compress", [(a, 0.0) for a in arrays], capacity=[ROOM] * 9, deadline_s=20
    )
    assert isinstance(packed, Reply)
    streams = [outputs[0].copy() for outputs in packed.outputs]
    back = session.call(
        "decompress",
        [(s, a.shape, a.dtype) for s, a in zip(streams, arrays, strict=True)],
        capacity=[ROOM] * 9,
        deadline_s=20,
    )

    assert isinstance(back, Reply)
    for original, outputs in zip(arrays, back.outputs, strict=True):
        np.testing.assert_array_equal(original, outputs[0])
    assert packed.intact
    assert session.still_intact("compress")


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (7,), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_shape_and_dtype_crosses(
    open_kernel: Open, shape: tuple[int, ...], dtype: type
) -> None:
    session = session_of(open_kernel(HONEST))
    data: Array = np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)

    packed = compress_with(session, data)
    assert isinstance(packed, Reply)
    stream = packed.outputs[0][0].copy()
    back = session.call(
        "decompress", ((stream, shape, data.dtype),), capacity=(ROOM,), deadline_s=20
    )

    assert isinstance(back, Reply)
    np.testing.assert_array_equal(back.outputs[0][0], data)
    assert back.outputs[0][0].shape == shape
    assert back.outputs[0][0].dtype == dtype


def test_a_larger_input_gets_a_larger_arena(open_kernel: Open) -> None:
    session = session_of(open_kernel(HONEST))

    for count in (10, 200_000, 100):
        data = np.arange(count, dtype=np.float32)
        packed = session.call("compress", ((data, 0.0),), capacity=(4 << 20,), deadline_s=20)
        assert isinstance(packed, Reply)
        np.testing.assert_array_equal(packed.outputs[0][0].view(np.float32), data)


def test_a_kernel_may_scribble_on_its_input_and_sees_it_fresh_next_time(open_kernel: Open) -> None:
    source = """
import numpy as np
def compress(data, abs_bound):
    seen = data.copy()
    data[:] = -1
    return seen.view(np.uint8).reshape(-1)
"""
    session = session_of(open_kernel(source, "compress"))
    data = np.arange(5000, dtype=np.float32)

    for _ in range(3):
        reply = compress_with(session, data)
        assert isinstance(reply, Reply)
        np.testing.assert_array_equal(reply.outputs[0][0].view(np.float32), data)


def test_a_kernel_may_return_the_same_memory_every_time(open_kernel: Open) -> None:
    source = """
import numpy as np
scratch = np.zeros(1000, np.uint8)
def compress(data, abs_bound):
    scratch[:data.size] = data
    return scratch[:data.size]
"""
    session = session_of(open_kernel(source, "compress"))
    arrays = [np.full(100 + i, i, np.float32) for i in range(5)]

    for _ in range(2):
        reply = session.call(
            "compress", [(a, 0.0) for a in arrays], capacity=[ROOM] * 5, deadline_s=20
        )
        assert isinstance(reply, Reply)
        assert reply.intact
        for array, outputs in zip(arrays, reply.outputs, strict=True):
            np.testing.assert_array_equal(outputs[0], array)


def test_an_endless_loop_is_killed_at_its_deadline(open_kernel: Open, field: Array) -> None:
    failure = failure_of(open_kernel, field, "    while True: pass", deadline_s=0.5)

    assert (failure.status, failure.kind) == (Status.ERROR, FailureKind.TIMEOUT)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("    os._exit(0)", "exited with code 0"),
        ("    os._exit(7)", "exited with code 7"),
        ("    ctypes.string_at(0)", "SIGSEGV"),
        ("    os.abort()", "SIGABRT"),
        ("    os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_a_death_is_told_by_its_cause(
    open_kernel: Open, field: Array, body: str, says: str
) -> None:
    failure = failure_of(open_kernel, field, body)

    assert failure.kind is FailureKind.CRASH
    assert says in failure.message


def test_a_hundred_gigabytes_are_refused_as_a_memory_error(open_kernel: Open, field: Array) -> None:
    failure = failure_of(open_kernel, field, "    return np.ones(100 << 30, np.uint8)")

    assert failure.kind is FailureKind.MEMORY
    assert failure.diagnostics[0].line == 5


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("    return None", "returned NoneType"),
        ("    return data.tobytes()", "returned bytes"),
        ("    return data.ravel()", "compress returned float32 of shape (24000,)"),
        ("    return data.view(np.uint8)", "a 1-D uint8 array is needed"),
        ("    return np.zeros(1 << 21, np.uint8)", "at most 1048576 fit"),
        ("    return np.array(['a'])", "returned an array of <U1"),
    ],
)
def test_a_wrong_result_is_a_contract_mistake(
    open_kernel: Open, field: Array, body: str, says: str
) -> None:
    failure = failure_of(open_kernel, field, body)

    assert failure.kind is FailureKind.CONTRACT
    assert says in failure.message


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("    raise ValueError('\\ud800 \\x00 ü')", "ValueError"),
        ("    sys.exit('bye')", "sys.exit(bye)"),
        ("    raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "    class Bad(Exception):\n"
            "        def __str__(self): raise RuntimeError\n"
            "    raise Bad",
            "could not be read",
        ),
        ("    def f(): f()\n    f()", "RecursionError"),
        ("    raise ValueError('x' * 10_000_000)", "ValueError: xxx"),
    ],
)
def test_an_exception_of_any_kind_is_described(
    open_kernel: Open, field: Array, body: str, says: str
) -> None:
    failure = failure_of(open_kernel, field, body)

    assert failure.kind is FailureKind.EXCEPTION
    assert says in failure.message
    assert len(failure.message) < 3000
    failure.message.encode()


def test_the_diagnostic_names_file_line_column_and_source(open_kernel: Open, field: Array) -> None:
    files = {
        "kernel.py": "import steps\n\ndef compress(data, bound):\n    return steps.first(data)\n",
        "steps.py": "def first(data):\n    x = 0\n    return 1 / x\n",
    }
    reply = compress_with(session_of(open_kernel(files, "compress")), field)

    assert isinstance(reply, Failure)
    inner, outer = reply.diagnostics
    assert (inner.file, inner.line, inner.column) == ("steps.py", 3, 12)
    assert inner.source == "    return 1 / x"
    assert (outer.file, outer.line, outer.severity) == ("kernel.py", 4, "note")


def test_a_refusal_is_a_status_of_its_own(open_kernel: Open, field: Array) -> None:
    failure = failure_of(open_kernel, field, "    raise NotImplementedError('no float32')")

    assert (failure.status, failure.kind) == (Status.REFUSED, FailureKind.UNSUPPORTED)


def test_a_kernel_that_raised_can_be_called_again(open_kernel: Open, field: Array) -> None:
    source = """
import numpy as np
def compress(data, abs_bound):
    if data.size == 3:
        raise ValueError("three")
    return np.zeros(1, np.uint8)
"""
    session = session_of(open_kernel(source, "compress"))

    assert isinstance(compress_with(session, np.zeros(3, np.float32)), Failure)
    assert isinstance(compress_with(session, field), Reply)


def test_megabytes_of_prints_neither_block_nor_fail_and_the_tail_is_kept(
    open_kernel: Open, field: Array
) -> None:
    source = """
import os, sys
import numpy as np
def compress(data, abs_bound):
    print("first words")
    for _ in range(300):
        print("x" * 100_000)
        sys.stderr.write("é" * 1000)
    try:
        os.write(1, b"y" * 5_000_000)
    except OSError:
        pass
    raise ValueError("done")
"""
    reply = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(reply, Failure)
    assert reply.message == "ValueError: done"
    assert 0 < len(reply.output) <= 4000


@pytest.fixture
def listening() -> Iterator[int]:
    """Port of a server on this machine that a child must not reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_child_has_no_network_files_processes_or_environment(
    pool: Pool, open_kernel: Open, field: Array, listening: int
) -> None:
    if not any(layer.name == "bubblewrap" and layer.holds for layer in pool.layers()):
        pytest.skip("bubblewrap does not work on this machine")
    source = f"""
import os, socket, stat
import numpy as np

def open_files():
    for fd in range(3, 64):
        try:
            status = os.fstat(fd)
        except OSError:
            continue
        # Its socket, and the memory files of its arenas, which have no name anywhere.
        if not stat.S_ISSOCK(status.st_mode) and status.st_nlink:
            yield fd

def compress(data, abs_bound):
    found = [f"open:{{fd}}" for fd in open_files()]
    for path in ("/proc", "/etc/passwd", "/home", "/tmp", "/var", {str(Path.cwd())!r}):
        if os.path.exists(path):
            found.append(path)
    for module in ("sz_mcp", "kernels", "toolchains", "results_db", "mcp", "duckdb"):
        try:
            __import__(module)
            found.append(module)
        except ImportError:
            pass
    found += [name for name in os.environ if "SZ" in name or name == "PATH"]
    try:
        socket.create_connection(("127.0.0.1", {listening}), timeout=1)
        found.append("network")
    except OSError:
        pass
    return np.frombuffer((" ".join(found) + "end").encode(), np.uint8)
"""
    reply = compress_with(session_of(open_kernel(source, "compress")), field)

    assert isinstance(reply, Reply), reply
    assert reply.outputs[0][0].tobytes().decode() == "end"


def test_a_cancelled_call_kills_its_children(pool: Pool, field: Array) -> None:
    source = "def compress(data, abs_bound):\n    while True: pass\n"
    cancellation = Cancellation()
    submission = Submission("sz-open", "numba", {"kernel.py": source})
    session = session_of(open_session(pool, submission, ("compress",), cancellation))
    cancellation.attach(session.kill)
    timer = threading.Timer(0.3, cancellation.cancel)
    timer.start()

    reply = compress_with(session, field, deadline_s=60)
    timer.join()

    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.CANCELLED
    assert not session.alive()
    session.close()


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def compress(:\n", FailureKind.SYNTAX),
        ("import torch\n", FailureKind.EXCEPTION),
        ("import os\nos._exit(3)\n", FailureKind.CRASH),
        ("raise SystemExit(1)\n", FailureKind.EXCEPTION),
    ],
)
def test_a_submission_that_does_not_load_says_why(
    open_kernel: Open, source: str, kind: FailureKind
) -> None:
    failure = open_kernel(source, "compress")

    assert isinstance(failure, Failure)
    assert failure.kind is kind


@pytest.mark.parametrize("isolation", [PlainIsolation("for a test"), BubblewrapIsolation()])
def test_children_die_with_a_server_that_is_killed(
    pool: Pool, isolation: PlainIsolation | BubblewrapIsolation
) -> None:
    bubblewrap = isinstance(isolation, BubblewrapIsolation)
    if bubblewrap and not any(x.name == "bubblewrap" and x.holds for x in pool.layers()):
        pytest.skip("bubblewrap does not work on this machine")
    program = f"""
import sys, time
from toolchains.children.isolation import BubblewrapIsolation, PlainIsolation
from toolchains.children.pool import Pool
pool = Pool(0, 4 << 30, {type(isolation).__name__}({"'test'" if not bubblewrap else ""}))
child = pool.take()
print(child.pid, flush=True)
time.sleep(100)
"""
    server = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    assert Path(f"/proc/{pid}").exists()

    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    deadline = time.monotonic() + 10
    while _running(pid) and time.monotonic() < deadline:
        os.sched_yield()

    assert not _running(pid)


def _running(pid: int) -> bool:
    """Whether a process exists and is not a zombie nobody waits for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_plain_process_serves_where_bubblewrap_does_not(field: Array) -> None:
    pool = Pool(0, 4 << 30, PlainIsolation("for a test"))
    submission = Submission("sz-open", "numba", {"kernel.py": HONEST})
    session = session_of(open_session(pool, submission, ("compress",), Cancellation()))

    reply = compress_with(session, field)

    assert isinstance(reply, Reply)
    assert reply.intact
    session.close()
    pool.close()


def test_a_closed_pool_refuses_at_once() -> None:
    pool = Pool(0, 4 << 30, PlainIsolation("for a test"))
    pool.close()

    with pytest.raises(PoolClosed):
        pool.take()
