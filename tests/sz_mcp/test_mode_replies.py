"""What a reply says of a bound mode, in its structure and in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.records import Bound, Kernel, ModeOutcome, RunResult, Status, Submission, Verdict
from sz_mcp.answers import View, run_reply, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.brief import structured
from sz_mcp.pipeline import Request, Watch
from sz_mcp.schemas import full_form, result_schema
from sz_mcp.steps import at
from sz_mcp.texts import text_of
from sz_mcp.tools import TOOLS
from tests.sz_mcp.fakes import GOOD, FakePipeline

KERNEL = Kernel("k_1", Submission("szp", "numba", GOOD))
FIELDS = {"achieved", "reached", "tries", "side_bytes"}
REACHED = ModeOutcome(tries=2, achieved=60.0157, reached=True)
MISSED = ModeOutcome(tries=24, achieved=5.25, reached=False)
POINTWISE = ModeOutcome(side_bytes=11, achieved=9.9667e-4, reached=True)


def asked(mode: str, bound: float, tool: str = "run_compress") -> Asked:
    return Asked(tool, "r_1", "k_1", "uk_theta", mode, bound)


def result(mode: str, bound: float, outcome: ModeOutcome | None) -> RunResult:
    run = FakePipeline().run(KERNEL, Request("uk_theta", mode, bound), Watch())
    return replace(run, bound=Bound(mode, bound, 0.0844), outcome=outcome)


def verdict(outcome: ModeOutcome | None) -> Verdict:
    found = FakePipeline().verify(KERNEL, Request("uk_theta"), Watch())
    case = replace(found.cases[0], outcome=outcome)
    return replace(found, cases=(case,), outcome=outcome, decided_by=case.case)


def mode_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("mode ")]


@pytest.mark.parametrize("mode", ["abs", "rel"])
def test_abs_and_rel_have_neither_fields_nor_a_line(mode: str) -> None:
    reply = run_reply(asked(mode, 1e-3), result(mode, 1e-3, None), (), View())

    assert not FIELDS & structured(reply, detailed=False).keys()
    assert mode_lines(text_of(reply)) == []


def test_a_psnr_that_was_reached_is_told_with_its_bound_and_tries() -> None:
    reply = run_reply(asked("psnr", 60.0), result("psnr", 60.0, REACHED), (), View())

    assert mode_lines(text_of(reply)) == [
        "mode psnr 60: 60.016 dB; at absolute bound 0.0844, found in 2 tries"
    ]
    told = structured(reply, detailed=False)
    assert (told["achieved"], told["reached"], told["tries"]) == (60.0157, True, 2)
    assert told["abs_bound"] == 0.0844
    assert "side_bytes" not in told


def test_a_ratio_that_was_not_reached_is_told_and_stays_in_a_concise_structure() -> None:
    reply = run_reply(asked("ratio", 8.0), result("ratio", 8.0, MISSED), (), View())

    assert mode_lines(text_of(reply)) == [
        "mode ratio 8: NOT reached, the nearest is ratio 5.25; at absolute bound 0.0844, found in "
        "24 tries; it is not ranked"
    ]
    assert structured(reply, detailed=False)["reached"] is False


def test_pw_rel_tells_what_the_kernel_was_given_and_what_the_side_data_cost() -> None:
    reply = run_reply(asked("pw_rel", 1e-3), result("pw_rel", 1e-3, POINTWISE), (), View())

    text = text_of(reply)
    assert mode_lines(text) == [
        "mode pw_rel 0.001: largest |x − x'| / |x| 0.00099667; the kernel was given log2 |x| with "
        "absolute bound 0.0844, side data 11 bytes"
    ]
    assert ", bound 0.0844" not in text.splitlines()[0]
    assert structured(reply, detailed=False)["side_bytes"] == 11


def test_a_run_in_which_nothing_differs_has_no_psnr_to_tell() -> None:
    outcome = ModeOutcome(tries=1, achieved=None, reached=True)

    reply = run_reply(asked("psnr", 60.0), result("psnr", 60.0, outcome), (), View())

    assert mode_lines(text_of(reply))[0].startswith("mode psnr 60: nothing differs; ")


def test_a_verdict_tells_what_came_of_the_case_that_decided() -> None:
    reply = verify_reply(asked("psnr", 60.0, "verify_bounds"), verdict(REACHED), (), View())

    (line,) = mode_lines(text_of(reply))
    assert line == "mode psnr 60: 60.016 dB; at absolute bound 0.001, found in 2 tries"
    assert structured(reply, detailed=False)["tries"] == 2


def test_a_verdict_that_missed_says_nothing_of_ranks() -> None:
    reply = verify_reply(asked("ratio", 8.0, "verify_bounds"), verdict(MISSED), (), View())

    (line,) = mode_lines(text_of(reply))
    assert "NOT reached" in line
    assert "ranked" not in line


def test_a_detailed_verdict_has_it_of_every_case() -> None:
    view = View(detailed=True)
    reply = verify_reply(asked("pw_rel", 1e-3, "verify_bounds"), verdict(POINTWISE), (), view)

    (case,) = structured(reply, detailed=True)["cases"]
    assert (case["achieved"], case["side_bytes"]) == (POINTWISE.achieved, 11)


def test_a_bound_that_broke_has_no_line() -> None:
    broken = replace(result("psnr", 60.0, ModeOutcome(tries=1)), status=Status.ERROR)

    assert mode_lines(text_of(run_reply(asked("psnr", 60.0), broken, (), View()))) == []


@pytest.mark.parametrize(
    ("mode", "bound", "said"),
    [
        ("rel", 1e-3, ""),
        ("pw_rel", 1e-3, ', mode="pw_rel"'),
        ("psnr", 60.0, ', mode="psnr", bound=60'),
        ("ratio", 1e-3, ', mode="ratio", bound=0.001'),
    ],
)
def test_the_next_call_names_a_target_always(mode: str, bound: float, said: str) -> None:
    assert at(asked(mode, bound)) == said


@pytest.mark.parametrize("tool", ["verify_bounds", "run_compress", "profile"])
def test_the_page_of_a_tool_says_what_the_modes_mean(tool: str) -> None:
    modes = full_form(tool, TOOLS[tool])["modes"]

    assert isinstance(modes, dict)
    assert set(modes) == {"abs", "rel", "pw_rel", "psnr", "l2norm", "ratio"}
    assert not FIELDS & result_schema(TOOLS[tool].reply)["properties"].keys()


def test_the_page_of_a_tool_without_modes_has_none() -> None:
    assert "modes" not in full_form("query_results", TOOLS["query_results"])
