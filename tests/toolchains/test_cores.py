"""Threads that a child keeps run on cores of their own while something is timed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from toolchains.children.cores import all_cores, apart

CHILD = """\
import threading, time

def work():
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    ready.release()
    threading.Event().wait()

ready = threading.Semaphore(0)
idle = threading.Thread(target=threading.Event().wait, daemon=True)
busy = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in (idle, *busy):
    thread.start()
for _ in busy:
    ready.acquire()
print(*(thread.native_id for thread in (*busy, idle)), flush=True)
input()
"""


@pytest.mark.skipif(len(all_cores()) < 2, reason="needs two cores")
def test_the_busiest_threads_of_a_child_are_on_different_cores_while_it_is_timed() -> None:
    cores = all_cores()
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        *busy, idle = map(int, child.stdout.readline().split())

        with apart([child.pid], 2):
            timed = [os.sched_getaffinity(task) for task in busy]
            left = os.sched_getaffinity(idle)
        after = [os.sched_getaffinity(task) for task in busy]
        child.stdin.write("\n")

    assert [len(one) for one in timed] == [1, 1]
    assert timed[0].isdisjoint(timed[1])
    assert len(left) == 2
    assert after == [cores, cores]


STARTS_ONE = """\
import os, threading
input()
thread = threading.Thread(target=lambda: print(len(os.sched_getaffinity(0)), flush=True))
thread.start()
thread.join()
"""


@pytest.mark.skipif(len(all_cores()) < 2, reason="needs two cores")
def test_a_thread_that_a_child_starts_while_it_is_timed_stays_on_the_child_s_cores() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with apart([child.pid], 1):
            child.stdin.write("\n")
            child.stdin.flush()
            cores = child.stdout.readline()

    assert cores == "1\n"
