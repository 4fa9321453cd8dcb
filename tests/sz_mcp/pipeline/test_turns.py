"""The lock of what is timed: first come first served, and a cancelled caller leaves the line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from sz_mcp.pipeline.turns import Turns
from toolchains.base import Cancellation
from toolchains.children.timing_lock import TimingCancelled

WAIT_S = 20


class Asking(Cancellation):
    """Tells when whoever it belongs to stands in the line."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def attach(self, callback: Callable[[], None]) -> None:
        super().attach(callback)
        self.asked.set()


def test_turns_come_in_the_order_in_which_they_were_asked_for() -> None:
    turns, order = Turns(), list[int]()

    def work(number: int, asking: Asking) -> None:
        with turns.turn(asking):
            order.append(number)

    with ThreadPoolExecutor(16) as threads, turns.turn(Cancellation()):
        for number in range(16):
            asking = Asking()
            threads.submit(work, number, asking)
            assert asking.asked.wait(WAIT_S)

    assert order == list(range(16))


def test_who_is_cancelled_in_the_line_leaves_it_and_the_next_has_its_turn() -> None:
    turns, asking = Turns(), Asking()

    def wait() -> None:
        with turns.turn(asking):
            pass

    with ThreadPoolExecutor(1) as threads, turns.turn(Cancellation()):
        waiting = threads.submit(wait)
        assert asking.asked.wait(WAIT_S)
        asking.cancel()
        with pytest.raises(TimingCancelled):
            waiting.result(WAIT_S)
    with turns.turn(Cancellation()):
        pass


def test_a_turn_ends_with_a_failure_in_it() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.turn(Cancellation()):
        _ = 1 // 0

    with turns.turn(Cancellation()):
        pass
