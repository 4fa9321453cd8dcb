"""Records to replies and their text: what is null, what a level hides, what is said first."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from kernels.records import (
    Build,
    CaseContent,
    CaseResult,
    Diagnostic,
    Failure,
    FailureKind,
    Kernel,
    RunResult,
    Status,
    Submission,
    Verdict,
)
from sz_mcp.answers import View, compile_reply, concise, run_reply, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.pipeline import Request, Watch
from sz_mcp.replies import VerifyReply
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


BUSY = Failure(Status.INCONCLUSIVE, Status.TIMED, FailureKind.BUSY, "the machine was busy")


@pytest.mark.parametrize(
    ("kind", "repeats"), [(FailureKind.BUSY, 50), (FailureKind.CANCELLED, 9)], ids=str
)
def test_the_next_call_is_the_same_when_the_kernel_was_not_to_blame_with_patience_if_busy(
    kind: FailureKind, repeats: int
) -> None:
    asked = replace(ASKED, tool="run_compress", repeats=9, threads=2, bound=0.5)
    failed = replace(result(), status=BUSY.status, failure=replace(BUSY, kind=kind))

    reply = run_reply(asked, failed, (), View())

    arguments = f'kernel_id="k_1", field="uk_theta", bound=0.5, repeats={repeats}, threads=2'
    assert reply.next == f"run_compress({arguments}) again"


def test_the_next_call_is_a_better_kernel_when_it_was_too_slow_to_be_timed() -> None:
    slow = replace(BUSY, kind=FailureKind.TIMEOUT)

    reply = run_reply(ASKED, replace(result(), status=slow.status, failure=slow), (), View())

    assert reply.next.startswith('compile_kernel(…, parent="k_1")')


def test_a_kernel_whose_first_call_failed_is_to_be_mended_before_it_is_verified() -> None:
    failure = Failure(
        Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, "KeyError: 1", output="here"
    )
    warning = Diagnostic("warning", "the first call failed: KeyError: 1", "kernel.py", 1, 5, "x=1")
    build = Build(Status.COMPILED, Status.LOADS, 0.1, diagnostics=(warning,), first_call=failure)

    reply = compile_reply(kernel(fakes.GOOD), build, (), View(), 1)

    assert reply.next == 'compile_kernel(…, parent="k_1") once its first call does not fail'
    assert (reply.message, reply.output) == ("", "here")
    assert compile_reply(kernel(fakes.GOOD), build, (), View("none"), 1).output == ""


TYPING = Failure(
    Status.ERROR,
    Status.COMPILED,
    FailureKind.COMPILE,
    "TypingError: Unknown attribute 'a'",
    (
        Diagnostic(
            "error", "TypingError: Unknown attribute 'a'", "kernel.py", 5, 12, "\treturn x.a"
        ),
    ),
    details="Failed in nopython mode pipeline\nUnknown attribute 'a'",
)


def test_a_compile_error_is_said_once_with_the_caret_under_its_column() -> None:
    build = Build(Status.ERROR, Status.COMPILED, 0.5, TYPING, TYPING.diagnostics)

    text = text_of(compile_reply(kernel(fakes.GOOD), build, (), View(), 1))

    assert text.count("Unknown attribute") == 1
    assert (
        "kernel.py:5:12: error: TypingError: Unknown attribute 'a'\n"
        "    \treturn x.a\n"
        "    \t          ^" in text
    )


def test_all_that_a_compiler_said_is_in_detailed_replies_only() -> None:
    build = Build(Status.ERROR, Status.COMPILED, 0.5, TYPING)

    concise, detailed = (
        compile_reply(kernel(fakes.GOOD), build, (), View(detailed=d), 1).message
        for d in (False, True)
    )

    assert concise == TYPING.message
    assert detailed == f"{TYPING.message}\n\n{TYPING.details}"


def raised(name: str, message: str = "ValueError: no", **changes: object) -> CaseResult:
    failure = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, message)
    case = CaseResult(
        name,
        True,
        Status.ERROR,
        0,
        0,
        0.0,
        0.25,
        failure=failure,
        shape=(2, 3),
        dtype="float32",
        function="compress",
        content=CaseContent((), -1.5, 2.5, 1),
    )
    return replace(case, **changes)  # type: ignore[arg-type]


def failed(*cases: CaseResult) -> Verdict:
    first = cases[0]
    assert first.failure is not None
    told = replace(first.failure, message=f"{first.case}: {first.failure.message}")
    return Verdict(
        Status.ERROR,
        told.stage,
        holds=False,
        checked_values=sum(c.checked for c in cases),
        violations=0,
        max_abs_error=0.0,
        abs_bound=first.abs_bound,
        worst=None,
        counterexample=None,
        cases=cases,
        failure=told,
        decided_by=first.case,
    )


FINE = CaseResult("fine", True, Status.BOUND_OK, 10, 0, 0.1, 0.25, 3.5)


def test_a_case_that_failed_is_told_with_its_form_function_bound_and_content() -> None:
    reply = verify_reply(ASKED, failed(raised("walk"), FINE), (), View())

    (case,) = reply.cases
    assert (case.shape, case.dtype, case.function) == ([2, 3], "float32", "compress")
    assert (case.abs_bound, case.max_abs_error) == (0.25, None)
    assert case.content is not None
    assert (case.content.minimum, case.content.maximum, case.content.non_finite) == (-1.5, 2.5, 1)
    assert "values of walk: 6 from -1.5 to 2.5, 1 of them not finite" in text_of(reply)


def test_no_error_is_told_where_the_case_that_decided_was_not_compared() -> None:
    reply = verify_reply(ASKED, failed(raised("walk"), FINE), (), View())

    assert reply.max_abs_error is None
    assert reply.abs_bound == 0.25
    assert "10 values checked, 0 violations. run_id" in text_of(reply)
    assert "largest error" not in text_of(reply)


def test_cases_that_failed_alike_are_told_together() -> None:
    alike = [raised(f"case_{i}") for i in range(90)]
    other = raised("other", "KeyError: 7", content=CaseContent(("1.0", "nan"), 1.0, 1.0, 1))

    text = text_of(verify_reply(ASKED, failed(*alike, other), (), View()))

    assert (
        "90 cases: error in compress: as told below; first: case_0, float32[2, 3], abs_bound 0.25\n"
        in text
    )
    assert "case other, float32[2, 3], abs_bound 0.25: error in compress: KeyError: 7\n" in text
    assert "values of other: 1.0, nan" in text
    assert text.count("ValueError: no") == 1
    assert "more cases" not in text


def test_groups_beyond_the_first_few_are_counted_by_their_cases() -> None:
    cases = [raised(f"case_{i}", f"KeyError: '{'x' * i}'") for i in range(9)]

    text = text_of(verify_reply(ASKED, failed(*cases), (), View()))

    assert "… and 3 more cases that failed" in text


def test_no_worst_element_is_told_without_a_violation() -> None:
    broken = verdict(fakes.WRONG)
    unreadable = replace(broken, violations=0, counterexample=None, cases=())

    assert "worst element" in text_of(verify_reply(ASKED, broken, (), View()))
    assert "worst element" not in text_of(verify_reply(ASKED, unreadable, (), View()))


def test_an_error_that_is_not_finite_is_told_as_such() -> None:
    text = text_of(verify_reply(ASKED, verdict(fakes.WRONG), (), View()))

    assert "1 violations, largest error not finite against 0.001" in text


def test_cases_whose_messages_differ_in_sizes_are_told_together() -> None:
    cases = [raised(f"case_{i}", f"IndexError: {i} is out of ({i}, 2)") for i in range(9)]

    text = text_of(verify_reply(ASKED, failed(*cases), (), View()))

    assert "9 cases: error in compress: as told below; first: case_0" in text


def test_a_concise_structure_holds_few_of_many_failed_cases_and_one_content() -> None:
    content = CaseContent(("1.0", "nan"), 1.0, 1.0, 1)
    cases = [raised(f"case_{i}", content=content) for i in range(90)]
    reply = verify_reply(ASKED, failed(*cases), (), View())

    told = concise(reply)

    assert isinstance(told, VerifyReply)
    assert (told.failed_cases, len(told.cases)) == (90, 4)
    assert [case.content is not None for case in told.cases] == [True] + [False] * 3
