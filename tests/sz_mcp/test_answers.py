"""Records to replies and their text: what is null, what a level hides, what is said first."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from kernels.records import Failure, FailureKind, Kernel, RunResult, Status, Submission, Verdict
from sz_mcp.answers import Asked, View, run_reply, verify_reply
from sz_mcp.pipeline import Request, Watch
from sz_mcp.texts import text_of
from tests.sz_mcp import fakes
from tests.sz_mcp.fakes import FakePipeline

ASKED = Asked("verify_bounds", "r_1", "k_1", "uk_theta", "rel", 1e-3)
LATE = Failure(Status.ERROR, Status.TERMINATES, FailureKind.TIMEOUT, "too late", output="x" * 5000)


def kernel(files: dict[str, str]) -> Kernel:
    return Kernel("k_1", Submission("szp", "numba", files))


def verdict(files: dict[str, str]) -> Verdict:
    return FakePipeline().verify(kernel(files), Request("suite"), Watch())


def result() -> RunResult:
    return FakePipeline().run(kernel(fakes.GOOD), Request("uk_theta"), Watch())


def test_a_kernel_that_never_returned_has_no_error_and_no_bound() -> None:
    nothing = Verdict(Status.ERROR, Status.LOADS, False, 0, 0, 0.0, 0.0, None, None, (), LATE)

    reply = verify_reply(ASKED, nothing, (), View())

    assert reply.max_abs_error is None
    assert reply.abs_bound is None
    assert text_of(reply).startswith(
        "error at loads: nothing was verified on uk_theta at rel 0.001"
    )


def test_level_none_tells_whether_it_holds_but_not_where_it_breaks() -> None:
    reply = verify_reply(ASKED, verdict(fakes.WRONG), (), View("none", detailed=True))

    assert reply.holds is False
    assert reply.violations == 1
    assert (reply.worst, reply.counterexample, reply.cases) == (None, None, [])
    assert (reply.message, reply.next, reply.output) == ("", "", "")


def test_a_lossless_run_says_so_instead_of_an_infinite_psnr() -> None:
    comparison = result().comparison
    assert comparison is not None
    exact = replace(comparison, max_abs_error=0.0, sum_squared_error=0.0)

    reply = run_reply(ASKED, replace(result(), comparison=exact), (), View())

    assert reply.lossless is True
    assert reply.psnr is None


def test_an_error_that_is_not_finite_is_null() -> None:
    comparison = result().comparison
    assert comparison is not None
    broken = replace(comparison, max_abs_error=math.inf, sum_squared_error=math.nan)

    reply = run_reply(ASKED, replace(result(), comparison=broken), (), View())

    assert reply.max_abs_error is None
    assert reply.psnr is None
    assert reply.lossless is False


@pytest.mark.parametrize(("detailed", "length"), [(False, 1500), (True, 5000)])
def test_printed_output_is_cut_to_its_end_unless_asked_for(detailed: bool, length: int) -> None:
    failed = replace(result(), status=Status.ERROR, comparison=None, samples=(), failure=LATE)

    reply = run_reply(ASKED, failed, (), View(detailed=detailed))

    assert len(reply.output) == length
    assert reply.ratio == 10.0
    assert reply.compress_gbps is None


def test_a_message_is_told_once_though_its_case_has_it_too() -> None:
    one = verdict(fakes.WRONG)
    only = replace(one, cases=one.cases[:1], counterexample=None, worst=None)

    text = text_of(verify_reply(ASKED, only, (), View()))

    assert text.count("the bound does not hold") == 1


def test_the_next_call_repeats_a_mode_and_bound_that_are_not_the_defaults() -> None:
    asked = replace(ASKED, mode="abs", bound=0.25)

    reply = verify_reply(asked, verdict(fakes.GOOD), (), View())

    assert reply.next == ('run_compress(kernel_id="k_1", field="uk_theta", mode="abs", bound=0.25)')
