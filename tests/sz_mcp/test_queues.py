"""Turns: whoever sends much waits behind itself, and what is cancelled leaves."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for

import pytest

from sz_mcp.queues import FairQueue
from toolchains.base import Cancellation

WAIT_S = 20


class Gatekeeper:
    """Work that begins when it is its turn and ends when it is told to."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self._gates: dict[str, threading.Event] = {}
        self._changed = threading.Condition()

    def work(self, name: str) -> Callable[[], str]:
        gate = self._gates[name] = threading.Event()

        def run() -> str:
            with self._changed:
                self.began.append(name)
                self._changed.notify_all()
            gate.wait(WAIT_S)
            return name

        return run

    def end(self, *names: str) -> None:
        for name in names:
            self._gates[name].set()

    def end_all(self) -> None:
        self.end(*self._gates)

    def wait_until(self, count: int) -> list[str]:
        """What began, once it is so much."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.began) >= count, WAIT_S)
            return list(self.began)


@pytest.fixture
def keeper() -> Iterator[Gatekeeper]:
    keeper = Gatekeeper()
    yield keeper
    keeper.end_all()


@pytest.fixture
def one() -> Iterator[FairQueue]:
    queue = FairQueue(1, "one")
    yield queue
    queue.shutdown()


def sent(queue: FairQueue, keeper: Gatekeeper, *names: str) -> list[Future[str]]:
    """Send work under names whose first letter is the sender."""
    return [queue.submit(name[0], keeper.work(name)) for name in names]


def test_senders_take_turns_and_the_work_of_one_stays_in_order(
    one: FairQueue, keeper: Gatekeeper
) -> None:
    futures = sent(one, keeper, "a1", "a2", "a3", "a4", "b1", "b2", "c1")
    keeper.end_all()
    wait_for(futures, WAIT_S)

    assert keeper.began == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_a_sender_that_comes_back_does_not_overtake_one_that_still_waits(
    one: FairQueue, keeper: Gatekeeper
) -> None:
    sent(one, keeper, "a1", "b1", "c1", "c2")
    keeper.end("a1")
    keeper.wait_until(2)
    sent(one, keeper, "a2")
    keeper.end("b1", "c1")
    keeper.wait_until(4)
    sent(one, keeper, "b2")
    keeper.end_all()

    assert keeper.wait_until(6) == ["a1", "b1", "c1", "a2", "b2", "c2"]


def test_the_last_free_thread_is_kept_for_a_sender_with_nothing_in_progress(
    keeper: Gatekeeper,
) -> None:
    queue = FairQueue(3, "three")
    try:
        sent(queue, keeper, "a1", "a2", "a3")
        keeper.wait_until(2)
        sent(queue, keeper, "b1")

        assert sorted(keeper.wait_until(3)) == ["a1", "a2", "b1"]
    finally:
        queue.shutdown()


def test_a_sender_with_less_in_progress_goes_first(keeper: Gatekeeper) -> None:
    queue = FairQueue(3, "three")
    try:
        sent(queue, keeper, "a1", "a2", "b1", "a3", "c1")
        keeper.wait_until(3)
        keeper.end("b1")

        assert keeper.wait_until(4)[3:] == ["c1"]
    finally:
        queue.shutdown()


def test_what_waits_knows_how_much_begins_before_it(one: FairQueue, keeper: Gatekeeper) -> None:
    futures = sent(one, keeper, "a1", "a2", "a3", "b1", "b2", "c1")
    keeper.wait_until(1)

    assert [one.ahead(future) for future in futures] == [None, 2, 4, 0, 3, 1]


@pytest.mark.parametrize("seed", range(20))
def test_the_place_that_is_told_is_the_one_it_has(seed: int, keeper: Gatekeeper) -> None:
    chance = random.Random(seed)
    queue = FairQueue(1, "one")
    numbers: Counter[str] = Counter()
    futures: dict[str, Future[str]] = {}
    try:
        for _ in range(30):
            sender = chance.choice("abcde")
            numbers[sender] += 1
            name = f"{sender}{numbers[sender]}"
            futures[name] = queue.submit(sender, keeper.work(name))
            if chance.random() < 0.3:
                running = keeper.wait_until(1)[-1]
                count = len(keeper.began)
                waits = any(queue.ahead(one) is not None for one in futures.values())
                keeper.end(running)
                keeper.wait_until(count + waits)
        places = {name: queue.ahead(future) for name, future in futures.items()}
        begun = len(keeper.began)
        keeper.end_all()
        wait_for(futures.values(), WAIT_S)
    finally:
        queue.shutdown()

    order = keeper.began[begun:]
    assert {name: place for name, place in places.items() if place is not None} == {
        name: place for place, name in enumerate(order)
    }


def test_cancelled_work_leaves_the_line_at_once(one: FairQueue, keeper: Gatekeeper) -> None:
    sent(one, keeper, "a1")
    keeper.wait_until(1)
    cancellation = Cancellation()
    leaving = one.submit("b", lambda: cancellation.cancelled, cancellation)
    staying = one.submit("c", keeper.work("c1"))
    placed = one.ahead(staying)
    cancellation.cancel()

    # The only thread is still taken.
    assert leaving.result(WAIT_S) is True
    assert (placed, one.ahead(staying)) == (1, 0)
    assert not staying.done()


def test_work_that_was_cancelled_before_it_was_sent_ends_too(
    one: FairQueue, keeper: Gatekeeper
) -> None:
    sent(one, keeper, "a1")
    cancellation = Cancellation()
    cancellation.cancel()

    assert one.submit("b", lambda: "left", cancellation).result(WAIT_S) == "left"


def test_a_failure_of_the_work_is_raised_by_its_future_and_the_next_goes_on(
    one: FairQueue,
) -> None:
    broken = one.submit("a", lambda: 1 // 0)
    fine = one.submit("a", lambda: "fine")

    with pytest.raises(ZeroDivisionError):
        broken.result(WAIT_S)
    assert fine.result(WAIT_S) == "fine"


def test_after_the_end_what_waited_is_cancelled_and_what_ran_has_its_result(
    one: FairQueue, keeper: Gatekeeper
) -> None:
    running, waiting = sent(one, keeper, "a1", "b1")
    keeper.wait_until(1)
    one.shutdown()
    keeper.end_all()

    assert running.result(WAIT_S) == "a1"
    with pytest.raises(CancelledError):
        waiting.result(WAIT_S)
    with pytest.raises(RuntimeError, match="after shutdown"):
        one.submit("a", lambda: "late")


def test_work_that_its_sender_gave_up_is_passed_over(one: FairQueue, keeper: Gatekeeper) -> None:
    _, given_up, after = sent(one, keeper, "a1", "b1", "b2")
    keeper.wait_until(1)
    given_up.cancel()
    keeper.end_all()

    assert after.result(WAIT_S) == "b2"
    assert keeper.began == ["a1", "b2"]


def test_no_sender_waits_for_more_than_one_piece_of_every_other(
    one: FairQueue, keeper: Gatekeeper
) -> None:
    """A hundred pieces of one agent do not come before the first of the other nine."""
    futures = sent(one, keeper, *(f"a{i}" for i in range(100)), *(f"{x}1" for x in "bcdefghij"))
    keeper.end_all()
    wait_for(futures, WAIT_S)

    assert keeper.began[:10] == ["a0", *(f"{x}1" for x in "bcdefghij")]


def test_a_cancellation_that_is_kept_does_not_keep_the_work(one: FairQueue) -> None:
    class Work:
        def __call__(self) -> str:
            return "done"

    cancellation, work = Cancellation(), Work()
    kept = weakref.ref(work)
    future = one.submit("a", work, cancellation)
    del work
    assert future.result(WAIT_S) == "done"
    # The thread lets go of its last piece of work with the next one.
    assert one.submit("a", lambda: "next").result(WAIT_S) == "next"
    gc.collect()

    assert kept() is None
