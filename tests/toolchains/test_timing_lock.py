"""Only one holder at a time, across processes, whatever somebody does; who waits is told for whom.

All tests lock folders of their own, so that they wait for nothing else on this machine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolchains.base import Cancellation
from toolchains.children.timing_lock import (
    TimingCancelled,
    TimingStuck,
    lock_path,
    timing_lock,
)

HOLDER = """
import sys
from pathlib import Path
from toolchains.base import Cancellation
from toolchains.children.timing_lock import timing_lock
with timing_lock(Cancellation(), folders=(Path(sys.argv[1]),)):
    print("held", flush=True)
    sys.stdin.read()
print("left", flush=True)
"""


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


@contextmanager
def held_elsewhere(room: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(room)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.send_signal(signal.SIGCONT)
            holder.communicate("")


def wait_in_vain(room: Path) -> None:
    """What is expected of somebody who comes while the lock is held."""
    cancellation = Cancellation()
    timer = threading.Timer(0.1, cancellation.cancel)
    timer.start()
    with pytest.raises(TimingCancelled), timing_lock(cancellation, folders=(room,)):
        pass
    timer.join()


def test_another_process_waits_and_a_cancelled_wait_ends(room: Path) -> None:
    with held_elsewhere(room):
        wait_in_vain(room)
    with timing_lock(Cancellation(), folders=(room,)):
        wait_in_vain(room)


def test_a_killed_holder_lets_go(room: Path) -> None:
    with held_elsewhere(room) as holder:
        holder.kill()
        holder.wait()
        with timing_lock(Cancellation(), folders=(room,)):
            pass


def test_another_tmpdir_is_the_same_machine(room: Path, tmp_path: Path) -> None:
    with held_elsewhere(room, TMPDIR=str(tmp_path), HOME=str(tmp_path)):
        wait_in_vain(room)


def test_files_that_somebody_planted_or_removed_change_nothing(room: Path) -> None:
    # Earlier servers locked a file of this name; in a sticky folder anybody can make one.
    planted = room / "sz-mcp-timing.lock"
    planted.symlink_to("/etc/passwd")
    with held_elsewhere(room):
        planted.unlink()
        planted.write_text("mine")
        planted.chmod(0o000)
        wait_in_vain(room)


def test_a_folder_without_the_right_to_write_is_enough(room: Path) -> None:
    room.chmod(0o555)
    with held_elsewhere(room):
        wait_in_vain(room)
    room.chmod(0o755)


def test_a_container_without_the_first_folder_uses_the_next(room: Path, tmp_path: Path) -> None:
    with (
        held_elsewhere(room),
        pytest.raises(TimingStuck),
        timing_lock(Cancellation(), folders=(tmp_path / "run" / "lock", room), patience_s=0.0),
    ):
        pass


def test_the_folder_of_this_machine_is_one_that_users_can_not_remove() -> None:
    assert lock_path() in (Path("/run/lock"), Path("/tmp"))


def test_who_waits_is_told_for_which_process(room: Path) -> None:
    told: list[str] = []
    cancellation = Cancellation()

    def tell(text: str) -> None:
        told.append(text)
        cancellation.cancel()

    with (
        held_elsewhere(room) as holder,
        pytest.raises(TimingCancelled),
        timing_lock(cancellation, tell, folders=(room,)),
    ):
        pass

    assert told == [f"waiting for the timing of process {holder.pid}"]


def test_a_stopped_holder_is_named_as_such_and_not_waited_for_for_ever(room: Path) -> None:
    with held_elsewhere(room) as holder:
        holder.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        with (
            pytest.raises(TimingStuck, match=f"process {holder.pid}, which is stopped"),
            timing_lock(Cancellation(), folders=(room,), patience_s=0.0),
        ):
            pass


def test_who_waited_comes_before_who_was_in_the_room_already(room: Path) -> None:
    order: list[str] = []
    inside, waits = threading.Event(), threading.Event()

    def greedy() -> None:
        for _ in range(3):
            with timing_lock(Cancellation(), folders=(room,)):
                order.append("greedy")
                inside.set()
                # The first time until somebody stands in the entrance.
                waits.wait(10)

    def patient() -> None:
        inside.wait(10)
        with timing_lock(Cancellation(), lambda _: waits.set(), folders=(room,)):
            order.append("patient")

    threads = [threading.Thread(target=work) for work in (greedy, patient)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert order == ["greedy", "patient", "greedy", "greedy"]


def test_a_child_does_not_inherit_the_lock(room: Path) -> None:
    with timing_lock(Cancellation(), folders=(room,)):
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            close_fds=False,
        )
    with child, timing_lock(Cancellation(), folders=(room,)):
        assert child.poll() is None
        child.communicate(b"")
