"""Only one holder at a time, across processes, and a waiter can leave."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from toolchains.base import Cancellation
from toolchains.children.timing_lock import TimingCancelled, timing_lock

HOLDER = """
import sys
from toolchains.base import Cancellation
from toolchains.children.timing_lock import timing_lock
with timing_lock(Cancellation()):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_and_a_cancelled_wait_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        cancellation = Cancellation()
        timer = threading.Timer(0.1, cancellation.cancel)
        timer.start()

        with pytest.raises(TimingCancelled), timing_lock(cancellation):
            pass

        timer.join()
        holder.communicate("")
    with timing_lock(Cancellation()):
        pass
