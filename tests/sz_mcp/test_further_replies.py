"""What verify_bounds tells of the search and of damaged streams, in a reply and in the ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import JsonValue

from kernels.records import CaseResult, Status, Verdict
from kernels.verdicts import Damage, Search
from results_db.events import finished_rows
from results_db.rows import MetricRow
from sz_mcp.answers import View, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.brief import structured
from sz_mcp.replies import QueryReply
from sz_mcp.settings import FeedbackLevel
from sz_mcp.texts import text_of

ASKED = Asked("verify_bounds", "r_1", "k_1", "suite", "rel", 1e-3)
QUIET = "prime_2d: bit 3 of byte 80 flipped"
HELD = Verdict(
    Status.BOUND_OK,
    Status.TIMED,
    holds=True,
    checked_values=10,
    violations=0,
    max_abs_error=0.1,
    abs_bound=0.25,
    worst=None,
    counterexample=None,
    cases=(CaseResult("fine", True, Status.BOUND_OK, 10, 0, 0.1, 0.25, 3.5),),
    decided_by="fine",
    search=Search(77, 24, 500_000, 0.99999991),
    damage=Damage(300, 280, 12, 8, (QUIET,), bounds_checked=True),
)


def test_the_text_tells_of_the_search_and_the_damage_in_a_line_each() -> None:
    lines = text_of(verify_reply(ASKED, HELD, (), View())).splitlines()

    (search,) = [line for line in lines if "seed 77" in line]
    assert search == (
        "also tried: 24 random cases and 500000 values around the worst ones, the largest error 1 "
        "of the bound (seed 77)"
    )
    (damage,) = [line for line in lines if "damaged" in line]
    assert damage == (
        "damaged streams: 280 of 300 noticed, 8 harmless, 12 decoded to other values unnoticed "
        f"(such as {QUIET}), which a checksum would tell"
    )


def test_a_decoder_that_notices_all_is_told_so() -> None:
    damage = Damage(300, 300, 0, 0)

    text = text_of(verify_reply(ASKED, replace(HELD, damage=damage), (), View()))

    assert "300 of 300 noticed, 0 harmless, none decoded to other values unnoticed" in text


def test_the_structure_has_both_only_where_there_is_something_to_tell() -> None:
    told = structured(verify_reply(ASKED, HELD, (), View()), detailed=False)
    without = replace(HELD, search=None, damage=None)

    assert told["damage"]["undetected"] == 12
    assert told["damage"]["examples"] == [QUIET]
    assert (told["search"]["seed"], told["search"]["values"]) == (77, 500_000)
    assert not {"search", "damage"} & set(
        structured(verify_reply(ASKED, without, (), View()), detailed=False)
    )


@pytest.mark.parametrize("level", ["none", "raw"])
def test_only_numbers_are_told_at_feedback_level_none(level: FeedbackLevel) -> None:
    reply = verify_reply(ASKED, HELD, (), View(feedback=level))

    assert reply.damage is not None
    assert (reply.damage.examples == []) == (level == "none")


def test_counts_of_damage_are_metrics_of_the_run() -> None:
    rows = finished_rows("r_1", "k_1", "verify_bounds", HELD, ())

    metrics = {r.name: (r.value, r.unit, r.origin) for r in rows if isinstance(r, MetricRow)}
    assert metrics == {
        "damage.tried": (300.0, "streams", "run"),
        "damage.detected": (280.0, "streams", "run"),
        "damage.undetected": (12.0, "streams", "run"),
    }


def test_a_run_without_damage_has_no_such_metrics() -> None:
    rows = finished_rows("r_1", "k_1", "verify_bounds", replace(HELD, damage=None), ())

    assert not [row for row in rows if isinstance(row, MetricRow)]


def test_counts_are_told_in_full_and_measurements_with_four_digits() -> None:
    row: list[JsonValue] = [65536.0, 0.123456, 123456.5, 12.0]

    reply = QueryReply(columns=["a", "b", "c", "d"], rows=[row], truncated=False)
    lines = text_of(reply).splitlines()

    assert lines[1] == "65536 | 0.1235 | 1.235e+05 | 12"
