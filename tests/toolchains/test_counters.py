"""What the operating system counts of a process, and the reason where it does not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Array
from tests.toolchains.calls import session_of
from tests.toolchains.conftest import Open
from toolchains.base import Reply, Usage
from toolchains.child.explain import summary
from toolchains.children.counters import EVENTS, Counters, perf_event, reason

PAGES = 3000
MAPS = f"""\
import mmap
import numpy as np

def compress(data, abs_bound):
    area = mmap.mmap(-1, {PAGES} * 4096)
    for at in range(0, len(area), 4096):
        area[at] = 1
    area.close()
    return np.zeros(8, np.uint8)
"""
POOL = """\
from concurrent.futures import ThreadPoolExecutor
import numpy as np

POOL = ThreadPoolExecutor(3)

def work(_):
    return sum(range(300_000))

def compress(data, abs_bound):
    list(POOL.map(work, range(9)))
    work(0)
    return np.zeros(8, np.uint8)
"""


def usage_of(open_kernel: Open, field: Array, source: str) -> Usage:
    session = session_of(open_kernel(source, "compress"))
    usage = None
    for _ in range(2):
        reply = session.call(
            "compress", ((field, 1e-3),), capacity=(100,), deadline_s=20, profiled=True
        )
        assert isinstance(reply, Reply), reply
        usage = reply.usage
    assert usage is not None
    return usage


def test_pages_that_a_call_touches_are_faults_and_memory(open_kernel: Open, field: Array) -> None:
    usage = usage_of(open_kernel, field, MAPS)

    assert PAGES <= usage.counters["page_faults"] < 2 * PAGES
    assert 0.9 * PAGES * 4096 <= usage.peak_bytes < 2 * PAGES * 4096
    assert usage.counters["task_clock_ns"] > 1000


def test_threads_that_worked_are_counted(open_kernel: Open, field: Array) -> None:
    assert usage_of(open_kernel, field, MAPS).threads == 1
    # Three that stay, and the one that called. Threads that ended would not be seen.
    assert usage_of(open_kernel, field, POOL).threads == 4


def test_a_call_that_is_not_profiled_is_not_counted(open_kernel: Open, field: Array) -> None:
    session = session_of(open_kernel(MAPS, "compress"))

    reply = session.call("compress", ((field, 1e-3),), capacity=(100,), deadline_s=20)

    assert isinstance(reply, Reply)
    assert reply.usage is None


def test_hardware_events_are_counted_or_their_absence_explained() -> None:
    counters = Counters(os.getpid())
    counters.start()
    np.arange(100_000).sum()
    usage = counters.stop()
    counters.close()

    hardware = [name for name, (kind, _) in EVENTS.items() if kind == 0]
    for name in hardware:
        assert (name in usage.counters) or (name in usage.missing), name
    if usage.missing:
        assert ";" in usage.missing, "the remedy follows a semicolon"
    assert usage.counters["task_clock_ns"] > 0


def test_descriptors_are_given_back() -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = descriptors()
    for _ in range(50):
        counters = Counters(os.getpid())
        counters.start()
        counters.close()
        counters.close()

    # Other threads of the tests open some too.
    assert descriptors() < before + 50


def test_a_process_that_is_gone_counts_nothing() -> None:
    counters = Counters(1 << 22)
    counters.start()
    usage = counters.stop()

    assert (usage.threads, usage.peak_bytes) == (0, 0)
    assert perf_event(1, 2, 1 << 22, 0) < 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errno.ENOENT, "no performance monitoring unit"),
        (errno.EACCES, "perf_event_paranoid"),
        (errno.EPERM, "perf_event_paranoid"),
        (errno.ENOSYS, "seccomp profile"),
        (errno.EMFILE, "ulimit"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_every_reason_names_its_cause(error: int, words: str) -> None:
    assert words in reason(error)


def test_machine_code_is_summed_up() -> None:
    assembly = "\n".join(
        (
            "f:",
            "\tvxorps\t%xmm0, %xmm0, %xmm0",
            "\tvmovups\t(%rdi), %zmm1",
            "\tvaddps\t%ymm1, %ymm2, %ymm1",
            "\tvaddss\t%xmm1, %xmm2, %xmm1",
            "\taddq\t$8, %rax",
            "\tprefetcht0\t(%rdi)",
        )
    )

    assert summary(assembly) == (256, 1, 6)
    assert summary("\tfadd\tv0.4s, v1.4s, v2.4s\n\tadd\tx0, x0, #1\n") == (128, 1, 2)
