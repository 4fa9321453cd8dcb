"""What the ledger keeps of bound modes, and what of it decides a ranking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernels.records import Metric, ModeOutcome
from results_db.ledger import Ledger
from results_db.summary import summarise
from tests.results_db.records import (
    drained,
    kernel,
    record_ranked,
    record_verdict,
    run_result,
    verdict,
)

OUTCOME = ModeOutcome(side_bytes=600, tries=3, achieved=9.5e-4, reached=True)
COLUMNS = "side_bytes, achieved, reached, tries"


def test_side_data_count_in_ratio_and_bit_rate() -> None:
    found = summarise(run_result(stream_bytes=1000, outcome=OUTCOME))

    assert found.ratio == 4000 / 1600
    assert found.bit_rate == 8 * 1600 / 1000


def test_side_data_count_in_the_score_too() -> None:
    fresh = Metric("fresh_stream_bytes", 1000.0, "bytes", "measured")
    bare = run_result(golden_bytes=None)
    timed = replace(bare, metrics=(*bare.metrics, fresh))

    with_side = summarise(replace(timed, outcome=OUTCOME)).score
    larger = summarise(replace(bare, stream_bytes=1600)).score

    assert with_side == pytest.approx(larger)


def test_the_size_rule_is_about_the_stream_alone() -> None:
    assert summarise(run_result(golden_bytes=1000, outcome=OUTCOME)).within_size_rule is True


def test_a_run_has_what_came_of_its_mode(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    timed = run_result(outcome=OUTCOME)
    apart = (
        Metric("transform_seconds", 0.25, "s", "measured"),
        Metric("detransform_seconds", 0.5, "s", "measured"),
    )
    record_ranked(ledger, kernel("k1"), replace(timed, metrics=(*timed.metrics, *apart)))

    found = drained(
        home, f"SELECT {COLUMNS}, transform_s, detransform_s FROM runs WHERE run_id = 'run-k1'"
    )

    assert found == [(600, 9.5e-4, True, 3, 0.25, 0.5)]


def test_a_run_in_rel_has_none_of_that(home: Path) -> None:
    record_ranked(Ledger(home, writer="test"), kernel("k1"), run_result())

    found = drained(
        home, f"SELECT {COLUMNS}, transform_s, detransform_s FROM runs WHERE run_id = 'run-k1'"
    )

    assert found == [(None, None, None, None, None, None)]


def test_a_verdict_and_its_cases_have_it_too(home: Path) -> None:
    case = replace(verdict().cases[0], outcome=OUTCOME)
    record_verdict(Ledger(home, writer="test"), "r1", "k1", verdict(cases=(case,), outcome=OUTCOME))

    cases = drained(
        home,
        "SELECT c.side_bytes, c.achieved, c.reached, c.tries"
        " FROM (SELECT unnest(cases) AS c FROM verdicts)",
    )

    assert cases == [(600, 9.5e-4, True, 3)]
    assert drained(home, f"SELECT {COLUMNS} FROM runs") == [(600, 9.5e-4, True, 3)]


def test_a_run_that_did_not_reach_what_was_asked_is_not_ranked(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    record_ranked(ledger, kernel("k1"), run_result(3.0, outcome=replace(OUTCOME, reached=False)))
    record_ranked(ledger, kernel("k2", agent="bob"), run_result(1.0, outcome=OUTCOME))

    assert drained(home, "SELECT kernel_id FROM leaderboard") == [("k2",)]
    assert drained(home, "SELECT ineligible_because FROM scored_runs WHERE kernel_id = 'k1'") == [
        ("it did not reach what was asked",)
    ]
