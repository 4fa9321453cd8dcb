"""A small array that shows a violation: in runs, with errors, and with the rule if that is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.records import Counterexample, Guidance, Point, ValueRun
from sz_mcp.answers import View, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.brief import structured
from sz_mcp.counterexamples import counterexample_lines, counterexample_reply
from sz_mcp.pipeline import Request, Watch
from sz_mcp.settings import FeedbackLevel
from tests.sz_mcp import fakes
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.test_answers import kernel

BORDER = Counterexample(
    case="walk",
    shape=(33,),
    dtype="float32",
    abs_bound=0.25,
    values=("0.0",) * 31 + ("1.0",),
    decoded=("0.0",) * 31 + ("2.0",),
    start=1,
    point=Point(32, (32,), "1.0", "2.0", "1.0"),
    runs=(ValueRun(32, "0.0", "0.0", "0.0"), ValueRun(1, "1.0", "2.0", "1.0")),
    shrunk_from=(9000,),
)
PAIR = replace(
    BORDER,
    shape=(2,),
    values=("nan", "0.10000000149011612"),
    decoded=("nan", "nan"),
    start=0,
    point=Point(1, (1,), "0.10000000149011612", "nan", "inf"),
    runs=(ValueRun(1, "nan", "nan", "0.0"), ValueRun(1, "0.10000000149011612", "nan", "inf")),
)


def test_equal_neighbours_are_told_once() -> None:
    told = list(counterexample_lines(counterexample_reply(BORDER, "block-border")))

    assert told == [
        "smallest array that breaks it (rule block-border), from case walk: float32[33], "
        "abs_bound 0.25",
        "original: 0.0 ×32, 1.0",
        "decoded: 0.0 ×32, 2.0",
        "errors: 0.0 ×32, 1.0; the worst at [32] (flat 32)",
    ]


def test_values_are_told_with_the_digits_of_their_type() -> None:
    told = list(counterexample_lines(counterexample_reply(PAIR, "")))

    assert told == [
        "smallest array that breaks it, from case walk: float32[2], abs_bound 0.25",
        "original: nan, 0.1",
        "decoded: nan, nan",
        "errors: 0.0, inf; the worst at [1] (flat 1)",
    ]


def test_values_are_not_told_twice_unless_they_are_few() -> None:
    long, short = (counterexample_reply(shown, "") for shown in (BORDER, PAIR))

    assert (long.values, long.decoded, len(long.runs)) == ([], [], 2)
    assert (short.values, len(short.runs)) == (list(PAIR.values), 2)


def test_what_was_not_shrunk_is_told_around_its_worst_element() -> None:
    whole = counterexample_reply(replace(BORDER, runs=(), shrunk_from=()), "block-border")

    assert (whole.rule, whole.values) == ("", list(BORDER.values))
    assert next(iter(counterexample_lines(whole))) == (
        "case walk, float32[33], abs_bound 0.25, values from flat 1: 0.0 ×31, 1.0"
    )


@pytest.mark.parametrize(
    ("level", "rule"), [("raw", ""), ("explain", "block-border"), ("suggest", "block-border")]
)
def test_the_rule_is_told_to_those_who_are_told_why(level: FeedbackLevel, rule: str) -> None:
    wrong = FakePipeline().verify(kernel(fakes.WRONG), Request("suite"), Watch())
    asked = Asked("verify_bounds", "r_1", "k_1", "suite", "rel", 1e-3)
    guidance = (Guidance("block-border", "because", "do"),)

    reply = verify_reply(asked, replace(wrong, counterexample=BORDER), guidance, View(level))

    assert reply.counterexample is not None
    assert reply.counterexample.rule == rule
    assert structured(reply, detailed=False)["counterexample"]["shrunk_from"] == [9000]
