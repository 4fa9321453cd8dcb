"""The search finds what a case did not hold by luck alone, and nothing in a codec that is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kernels.records import Arg, Array, Failure, FailureKind, Status
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from sz_mcp.pipeline import Request, Watch
from sz_mcp.pipeline.adversary import Found, search
from sz_mcp.pipeline.cases import Case, Outcome
from sz_mcp.pipeline.checks import Further, judge
from sz_mcp.pipeline.codec_cases import ruled
from sz_mcp.pipeline.damage import Others
from sz_mcp.pipeline.passes import Wanted, codec_pass
from tests.sz_mcp.pipeline.test_checks import FakeSession, replied
from toolchains.base import Reply

BOUND = 0.1
LONG_S = 60.0
"""Whatever is found is found in a round, not in a time."""

Codec = Callable[[Array], Array]


@dataclass
class CodecSession(FakeSession):
    """What `codec` makes of an array is what comes back of it; the stream is its number."""

    codec: Codec = np.copy
    arrays: list[Array] = field(default_factory=list)

    def call(self, function: str, items: Sequence[tuple[Arg, ...]], **_: Any) -> Reply | Failure:
        if function == "compress":
            self.arrays = [item[0] for item in items if isinstance(item[0], np.ndarray)]
            return replied(*(np.zeros(4, np.uint8) for _ in items))
        return replied(*map(self.codec, self.arrays))


def quantised(data: Array) -> Array:
    """Bins of two bounds, in single precision without a second look."""
    step = np.float32(2 * BOUND)
    with np.errstate(all="ignore"):
        back = np.rint(data / step) * step
    return np.where(np.abs(data) < 1e4, back, data)


def checked(data: Array) -> Array:
    """The same, and what does not hold is stored as it is."""
    back = quantised(data)
    with np.errstate(all="ignore"):
        error = np.abs(back.astype(np.float64) - data.astype(np.float64))
    return np.where(error <= BOUND, back, data)


def spoilt_beside_nan(data: Array) -> Array:
    back = checked(data).reshape(-1)
    after = np.flatnonzero(np.isnan(back[:-1])) + 1
    back[after] = np.where(np.isfinite(back[after]), back[after] + 1, back[after])
    return back.reshape(data.shape)


def spoilt_at_a_chunk(data: Array) -> Array:
    back = checked(data).reshape(-1)
    back[4096:4097] = 77
    return back.reshape(data.shape)


def task() -> CodecTask:
    found = TASKS["sz-open"]
    assert isinstance(found, CodecTask)
    return found


def held_by(session: FakeSession, data: Array, bound: float = BOUND) -> tuple[Case, Outcome]:
    """A case that holds."""
    wanted = Wanted("abs", bound)
    outcome = ruled(task(), "field", data, codec_pass(session, data, wanted))
    assert outcome.failure is None
    return Case("field", True, data, bound, lambda _: outcome, wanted=wanted), outcome


def small_waves(shape: tuple[int, ...] = (300,)) -> Array:
    waves = np.float32(0.35) * np.sin(np.arange(np.prod(shape)) / 9).astype(np.float32)
    return waves.reshape(shape)


def found_by(codec: Codec, *, seed: int = 1, shape: tuple[int, ...] = (300,)) -> Found:
    """What is found around a small field that the codec keeps its bound on."""
    session = CodecSession(lambda *_: None, codec=codec)
    return search(session, task(), [held_by(session, small_waves(shape))], seed, LONG_S)


@pytest.mark.parametrize("codec", [quantised, spoilt_beside_nan, spoilt_at_a_chunk])
def test_what_no_value_of_the_case_shows_is_found_around_it(codec: Codec) -> None:
    found = found_by(codec)

    assert found.failed is not None
    case, outcome = found.failed
    assert (case.name, case.core, case.abs_bound) == ("adversarial:1", True, BOUND)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.BOUND
    assert outcome.counterexample is not None
    assert outcome.counterexample.case == "adversarial:1"
    assert outcome.failure.pattern is not None


def test_the_array_that_was_found_shows_the_same_once_more() -> None:
    found = found_by(quantised)
    assert found.failed is not None
    case, outcome = found.failed

    again = case.run(CodecSession(lambda *_: None, codec=quantised))

    assert again.comparison == outcome.comparison


@pytest.mark.parametrize("shape", [(300,), (15, 20), (5, 6, 10)])
def test_a_codec_that_looks_twice_holds_and_comes_close_to_its_bound(
    shape: tuple[int, ...],
) -> None:
    found = found_by(checked, shape=shape)

    assert found.failed is None
    assert found.values > 100_000
    assert 0.999 < found.worst_over_bound <= 1.0


def test_a_search_follows_from_its_seed() -> None:
    first, second, other = (found_by(quantised, seed=seed).failed for seed in (1, 1, 2))

    assert first is not None
    assert second is not None
    assert other is not None
    assert first[0].data.tobytes() == second[0].data.tobytes()
    assert first[0].data.tobytes() != other[0].data.tobytes()


def test_what_a_kernel_refuses_is_no_find() -> None:
    refusal = Failure(Status.REFUSED, Status.TERMINATES, FailureKind.UNSUPPORTED, "no NaN")
    held = held_by(CodecSession(lambda *_: None, codec=checked), small_waves())

    refusing = FakeSession(lambda *_: refusal)

    assert search(refusing, task(), [held], 1, LONG_S).failed is None


def test_a_lossless_case_leaves_nothing_to_search_around() -> None:
    session = CodecSession(lambda *_: None)
    held = held_by(session, small_waves(), 0.0)

    assert search(session, task(), [held], 1, LONG_S) == Found()


@pytest.mark.parametrize("codec", [quantised, checked])
def test_what_is_found_around_a_field_decides_its_verdict(codec: Codec) -> None:
    session = CodecSession(lambda *_: None, codec=codec)
    case, _ = held_by(session, small_waves())
    further = Further(task(), 3, Others(unused, unused))

    told = judge(session, [case], Request("field", "abs", BOUND), Watch(), further)

    assert told.search is not None
    assert told.search.values > 0
    assert told.damage is None
    assert told.holds == (codec is checked)
    assert told.decided_by == ("field" if codec is checked else "adversarial:3")
    assert (told.counterexample is None) == (codec is checked)


def unused() -> Failure:
    raise AssertionError("no further session is needed")
