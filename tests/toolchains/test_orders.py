"""Results that depend on the order in which threads run are told from those that do not."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pytest

from kernels.records import Arg, Array, Failure, FailureKind, Status
from toolchains.base import Reply
from toolchains.children.session import ChildSession
from toolchains.orders import OrderedSession

Kernel = Callable[[tuple[Arg, ...], bool], tuple[Array, ...] | Failure]
_ROOM = {"capacity": (1 << 20,), "deadline_s": 5.0}
_X = np.arange(6, dtype=np.float32)


class _Fake:
    """A session whose functions may look at the order."""

    def __init__(self, **functions: Kernel) -> None:
        self.functions, self.asked = functions, list[tuple[str, bool]]()
        self.descending = False

    def order(self, *, descending: bool) -> None:
        self.descending = descending

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        **_more: object,
    ) -> Reply | Failure:
        self.asked.append((function, self.descending))
        outputs = []
        for item in items:
            made = self.functions[function](item, self.descending)
            if isinstance(made, Failure):
                return made
            outputs.append(made)
        given = tuple(v for item in items for v in item if isinstance(v, np.ndarray))
        return Reply(given, tuple(outputs), 0.1, 0.1, 0.0, False, True, 0.1)


def _session(**functions: Kernel) -> tuple[OrderedSession, _Fake]:
    fake = _Fake(**functions)
    return OrderedSession(cast(ChildSession, fake)), fake


def test_a_call_is_made_in_both_orders_and_the_first_reply_is_kept() -> None:
    session, fake = _session(run=lambda item, _down: (np.asarray(item[0]) * 2,))
    reply = session.call("run", [(_X,)], **_ROOM)  # type: ignore[arg-type]
    assert isinstance(reply, Reply)
    np.testing.assert_array_equal(reply.outputs[0][0], _X * 2)
    assert fake.asked == [("run", False), ("run", True)]


def test_a_stage_that_depends_on_the_order_fails_and_the_places_are_named() -> None:
    def run(item: tuple[Arg, ...], descending: bool) -> tuple[Array, ...]:
        made = np.asarray(item[0]).copy()
        if descending:
            made[[1, 4]] = -0.0
            made[0] = -0.0
        return (made,)

    failure = _session(run=run)[0].call("run", [(_X,)], **_ROOM)  # type: ignore[arg-type]
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.stage) == (FailureKind.ORDER, Status.ROUNDTRIPS)
    # Bit by bit: +0 and -0 differ.
    assert "3 of 6 elements of output 0 differ (flat 0, 1, 4)" in failure.message


def test_another_shape_or_number_type_in_the_other_order_is_a_difference() -> None:
    session, _ = _session(run=lambda _item, down: (np.zeros(3 + down, np.int32),))
    failure = session.call("run", [(_X,)], **_ROOM)  # type: ignore[arg-type]
    assert isinstance(failure, Failure)
    assert "int32 of shape (3,) or int32 of shape (4,)" in failure.message


@pytest.mark.parametrize("decodes_alike", [True, False])
def test_streams_may_differ_if_they_decode_to_the_same_values(decodes_alike: bool) -> None:
    def compress(_item: tuple[Arg, ...], descending: bool) -> tuple[Array, ...]:
        return (np.array([descending, 7], np.uint8),)

    def decompress(item: tuple[Arg, ...], _descending: bool) -> tuple[Array, ...]:
        stream = np.asarray(item[0])
        return (_X + (0 if decodes_alike else stream[0]),)

    session, _ = _session(compress=compress, decompress=decompress)
    reply = session.call("compress", [(_X, 0.1)], **_ROOM)  # type: ignore[arg-type]
    if decodes_alike:
        assert isinstance(reply, Reply)
        assert reply.outputs[0][0].tolist() == [0, 7]
    else:
        assert isinstance(reply, Failure)
        assert reply.kind is FailureKind.ORDER


def test_a_failure_in_the_other_order_alone_says_so() -> None:
    crash = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, "it raised")
    session, _ = _session(run=lambda _item, down: crash if down else (_X,))
    failure = session.call("run", [(_X,)], **_ROOM)  # type: ignore[arg-type]
    assert isinstance(failure, Failure)
    assert failure.message.startswith("with threads in descending order")


def test_content_that_was_filled_in_is_the_same_in_both_orders() -> None:
    seen: list[list[float]] = []

    def run(item: tuple[Arg, ...], _descending: bool) -> tuple[Array, ...]:
        seen.append(np.asarray(item[0]).tolist())
        return (np.asarray(item[0]).copy(),)

    session, _ = _session(run=run)
    pattern = _X.copy()

    def fill(arrays: Sequence[Array]) -> None:
        arrays[0][:] = 5

    # The fake does not fill: what the first call was given must come again.
    session.call("run", [(pattern,)], fill=fill, **_ROOM)  # type: ignore[arg-type]
    assert seen[0] == seen[1]
