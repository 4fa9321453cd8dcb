"""What decides a verdict, and what it says of the case, on a session that does as it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kernels.records import Arg, Array, Failure, FailureKind, Status, Verdict
from kernels.suite import bound_suite, core_suite
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from sz_mcp.pipeline import SUITE, Request, Watch
from sz_mcp.pipeline.checks import Further, codec_cases, judge
from sz_mcp.pipeline.damage import Others
from sz_mcp.pipeline.golden import GoldenStreams
from toolchains.base import Reply
from toolchains.failures import gone_failure

Misdeed = Callable[[str, Array], Failure | Array | None]
"""function, original → a failure, another array to decode to, or None to work."""

CASES = {case.name: case for case in (*core_suite(), *bound_suite())}


def replied(*outputs: Array) -> Reply:
    return Reply(
        inputs=(),
        outputs=tuple((output,) for output in outputs),
        seconds=1.0,
        child_seconds=1.0,
        wait_seconds=0.0,
        disturbed=False,
        intact=True,
        cpu_seconds=1.0,
    )


@dataclass
class FakeSession:
    """Implements `toolchains.base.Session` around a codec that stores raw."""

    misdeed: Misdeed
    stored: list[Array] = field(default_factory=list)
    dead: bool = False

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        **_: Any,
    ) -> Reply | Failure:
        if function == "compress":
            self.stored = [item[0] for item in items if isinstance(item[0], np.ndarray)]
        outputs = []
        for original in self.stored:
            done = self.misdeed(function, original)
            if isinstance(done, Failure):
                self.dead = done.kind in (FailureKind.TIMEOUT, FailureKind.CRASH)
                return done
            output = np.zeros(9, np.uint8) if function == "compress" else original
            outputs.append(output if done is None else done)
        return replied(*outputs)

    def call_guarded(self, function: str, arguments: tuple[Arg, ...], **_: Any) -> Reply | Failure:
        return self.call(function, (arguments,))

    def still_intact(self, function: str) -> bool:  # noqa: ARG002
        return True

    def null_round_trip(self, function: str) -> float:
        return float(not function)

    def device_use(self, function: str) -> None:
        """It has no device."""

    def rest(self) -> None:
        """Nothing to stop."""

    def wake(self) -> None:
        """Nothing is stopped."""

    def apart(self) -> AbstractContextManager[None]:
        return nullcontext()

    def alive(self) -> bool:
        return not self.dead

    def kill(self) -> None:
        self.dead = True

    def close(self) -> None:
        self.dead = True


def verdict(misdeed: Misdeed, task: str = "sz-open") -> Verdict:
    codec = TASKS[task]
    assert isinstance(codec, CodecTask)
    request = Request(SUITE, "abs", 0.25)
    return judge(
        FakeSession(misdeed), codec_cases(codec, request, None, GoldenStreams()), request, Watch()
    )


def is_case(data: Array, name: str) -> bool:
    return data is CASES[name].data


def raised(status: Status = Status.ERROR) -> Failure:
    kind = FailureKind.EXCEPTION if status is Status.ERROR else FailureKind.UNSUPPORTED
    return Failure(status, Status.TERMINATES, kind, "ValueError: no")


def wrong(data: Array) -> Array:
    return data + np.ones((), data.dtype)


def test_a_kernel_that_hangs_is_told_with_case_function_form_bound_deadline_and_what_is_left() -> (
    None
):
    late = gone_failure("timeout", "deadline 10 s", Status.TERMINATES, "")

    told = verdict(lambda f, x: late if f == "decompress" and is_case(x, "walk") else None)

    assert told.failure is not None
    assert told.failure.message == (
        "walk: decompress of float32 of shape (9000,), abs_bound 0.25: it did not finish before "
        f"its deadline and was killed (deadline 10 s). {told.not_run} of {len(CASES)} cases were "
        "not run"
    )
    assert told.not_run == len(CASES) - len(told.cases)
    case = told.cases[-1]
    assert (case.case, case.function, case.shape, case.dtype, case.abs_bound) == (
        "walk",
        "decompress",
        (9000,),
        "float32",
        0.25,
    )


def test_an_emulated_launch_that_would_not_end_is_the_last_case() -> None:
    late = Failure(Status.ERROR, Status.TERMINATES, FailureKind.TIMEOUT, "StoppedError: k, block")
    asked: list[str] = []

    class Lasting(FakeSession):
        """Its process outlives a launch that was stopped."""

        def alive(self) -> bool:
            return True

    def misdeed(function: str, _: Array) -> Failure:
        asked.append(function)
        return late

    codec = TASKS["sz-open"]
    assert isinstance(codec, CodecTask)
    request = Request(SUITE, "abs", 0.25)
    cases = codec_cases(codec, request, None, GoldenStreams())
    told = judge(Lasting(misdeed), cases, request, Watch())

    assert asked == ["compress"]
    assert told.not_run == len(CASES) - 1
    assert told.failure is not None
    assert told.failure.kind is FailureKind.TIMEOUT


def test_a_long_array_that_a_kernel_fails_on_is_summed_up() -> None:
    told = verdict(lambda _, x: raised() if is_case(x, "nan_every_97") else None)

    content = next(c.content for c in told.cases if c.failure)
    assert content is not None
    data = CASES["nan_every_97"].data
    assert (content.values, content.non_finite) == ((), int(np.isnan(data).sum()))
    assert (content.minimum, content.maximum) == (np.nanmin(data), np.nanmax(data))


@pytest.mark.parametrize(
    ("name", "values"),
    [("two", ("1.0", "2.0")), ("one_nan", ("nan",)), ("empty", ()), ("scalar", ("0.25",))],
)
def test_a_short_array_that_a_kernel_fails_on_is_told_whole(
    name: str, values: tuple[str, ...]
) -> None:
    told = verdict(lambda _, x: raised() if is_case(x, name) else None)

    content = next(c.content for c in told.cases if c.failure)
    assert content is not None
    assert content.values == values


def test_cases_that_pass_or_are_violated_carry_no_content() -> None:
    told = verdict(lambda f, x: wrong(x) if f == "decompress" and is_case(x, "walk") else None)

    assert [c.content for c in told.cases] == [None] * len(CASES)


def test_a_violation_decides_before_a_failure_that_came_first() -> None:
    def misdeed(function: str, data: Array) -> Failure | Array | None:
        if is_case(data, "constant"):
            return raised()
        return wrong(data) if function == "decompress" and is_case(data, "ramp") else None

    told = verdict(misdeed)

    assert (told.decided_by, told.max_abs_error, told.abs_bound) == ("ramp", 1.0, 0.25)
    assert told.failure is not None
    assert told.failure.kind is FailureKind.BOUND
    assert told.failure.message.startswith("ramp: 10000 of 10000 values are wrong")
    assert "an error of 1.0 (4 times the bound)" in told.failure.message


@pytest.mark.parametrize(
    ("name", "status", "holds"),
    [
        ("ramp", Status.REFUSED, False),
        ("smooth_4d_f64", Status.REFUSED, True),
        ("smooth_4d_f64", Status.ERROR, False),
    ],
)
def test_only_refusing_a_case_outside_the_core_leaves_holds_true(
    name: str, status: Status, holds: bool
) -> None:
    told = verdict(lambda _, x: raised(status) if is_case(x, name) else None)

    assert told.holds is holds
    assert (told.failure is None) is holds


def test_a_violation_outside_the_core_breaks_holds() -> None:
    told = verdict(
        lambda f, x: wrong(x) if f == "decompress" and is_case(x, "smooth_4d_f64") else None
    )

    assert (told.holds, told.decided_by) == (False, "smooth_4d_f64")


def test_a_tiny_array_does_not_decide_where_a_larger_one_is_wrong() -> None:
    def misdeed(function: str, data: Array) -> Array | None:
        if function == "decompress" and is_case(data, "two"):
            return data + np.float32(1000)
        return wrong(data) if function == "decompress" and is_case(data, "ramp") else None

    assert verdict(misdeed).decided_by == "ramp"


def test_a_tiny_array_decides_where_no_other_is_wrong() -> None:
    told = verdict(lambda f, x: wrong(x) if f == "decompress" and is_case(x, "two") else None)

    assert (told.holds, told.decided_by, told.violations) == (False, "two", 2)


def test_a_kernel_whose_process_dies_after_its_reply_has_failed() -> None:
    dying = FakeSession(lambda *_: None)
    codec = TASKS["sz-open"]
    assert isinstance(codec, CodecTask)
    request = Request(SUITE, "abs", 0.25)
    cases = codec_cases(codec, request, None, GoldenStreams())
    dying.kill()

    told = judge(dying, cases, request, Watch())

    assert (told.holds, told.status, len(told.cases)) == (False, Status.ERROR, 1)
    assert told.failure is not None
    assert told.failure.kind is FailureKind.CRASH


SEED = 77


def further_verdict(misdeed: Misdeed) -> Verdict:
    codec = TASKS["sz-open"]
    assert isinstance(codec, CodecTask)
    request = Request(SUITE, "abs", 0.25)
    cases = codec_cases(codec, request, None, GoldenStreams(), SEED)
    further = Further(codec, SEED, Others(raised, raised))
    return judge(FakeSession(misdeed), cases, request, Watch(), further)


def test_a_suite_that_held_goes_on_to_random_cases_and_damage() -> None:
    told = further_verdict(lambda *_: None)

    assert told.holds
    assert sum(case.case.startswith(f"random:{SEED}:") for case in told.cases) >= 20
    # Nothing differs, so that no value is worse than others.
    assert told.search is not None
    assert (told.search.seed, told.search.values) == (SEED, 0)
    assert told.damage is not None
    assert told.damage.tried > 100
    assert told.damage.detected + told.damage.harmless == told.damage.tried


def test_a_suite_that_failed_goes_no_further() -> None:
    told = further_verdict(lambda f, x: wrong(x) if f == "decompress" and x.size > 9000 else None)

    assert (told.holds, told.search, told.damage) == (False, None, None)
