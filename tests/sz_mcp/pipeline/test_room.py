"""Evaluations of large fields share the memory there is, and one that can't fit is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kernels.fields import FieldDataError
from kernels.records import FieldInfo
from sz_mcp.pipeline.room import COPIES, SMALL_BYTES, Room, field_bytes, machine_bytes
from toolchains.children.timing_lock import TimingCancelled

LARGE = FieldInfo("large", (64, 1024, 1024), "float32", source="", licence="", sha256="")
SMALL = FieldInfo("small", (8,), "float64", source="", licence="", sha256="")
NEED = COPIES * field_bytes(LARGE)


def never() -> bool:
    return False


def silent(_fraction: float, _message: str) -> None:
    return


def test_the_size_of_a_field_is_its_values() -> None:
    assert field_bytes(LARGE) == 256 << 20
    assert field_bytes(SMALL) == 64 < SMALL_BYTES


def test_a_second_large_field_waits_until_the_first_is_done() -> None:
    room = Room(NEED + NEED // 2)
    waiting, entered = threading.Event(), threading.Event()

    def tell(_fraction: float, message: str) -> None:
        assert "waiting for memory" in message
        waiting.set()

    def second() -> None:
        with room.taken(LARGE, never, tell):
            entered.set()

    thread = threading.Thread(target=second)
    with room.taken(LARGE, never, silent):
        thread.start()
        assert waiting.wait(30)
        assert not entered.is_set()
    thread.join(30)

    assert entered.is_set()


def test_small_fields_never_wait() -> None:
    room = Room(NEED)

    with room.taken(LARGE, never, silent), room.taken(SMALL, never, silent) as entered:
        assert entered is None


def test_room_comes_back_when_an_evaluation_fails() -> None:
    room = Room(NEED)
    with pytest.raises(ZeroDivisionError), room.taken(LARGE, never, silent):
        raise ZeroDivisionError

    with room.taken(LARGE, lambda: True, silent):
        pass


def test_a_field_that_can_never_fit_is_refused_with_what_would() -> None:
    room = Room(NEED - 1)

    with (
        pytest.raises(FieldDataError, match=r"large has 0.27 GB.*fields of 0.27 GB"),
        room.taken(LARGE, never, silent),
    ):
        pass


def test_a_caller_that_leaves_does_not_wait() -> None:
    room = Room(NEED)

    with (
        room.taken(LARGE, never, silent),
        pytest.raises(TimingCancelled),
        room.taken(LARGE, lambda: True, silent),
    ):
        pass


@pytest.mark.parametrize(("text", "limited"), [("1048576\n", True), ("max\n", False)])
def test_a_control_group_limits_the_memory(tmp_path: Path, text: str, limited: bool) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(text)

    found = machine_bytes(limit)

    assert (found == 1048576) is limited
    assert machine_bytes(tmp_path / "none") >= found
