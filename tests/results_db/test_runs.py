"""Lists of runs, one run by name, and runs of comparisons and reproductions in the views."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels.records import Failure, FailureKind, Status
from results_db.errors import QueryError
from results_db.ledger import Ledger
from results_db.runs import Asked, list_runs, literal, one_run
from results_db.statistics import Compared, contrast
from tests.results_db import records
from tests.results_db.records import drained


def rows(home: Path, **asked: str | int) -> list[tuple[object, ...]]:
    found = list_runs(home, Asked(**asked))  # type: ignore[arg-type]
    place = found.columns.index("status")
    return [(row[0], row[place]) for row in found.rows]


def test_runs_are_listed_latest_first_with_those_that_go_on(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result())
    ledger.run_started(records.started("going", "k1", agent="bob", session="s2"))
    try:
        every, bobs = rows(home), rows(home, agent="bob")
        timed, last = rows(home, status="timed"), rows(home, limit=1)
    finally:
        ledger.close()

    assert every == [("going", "running"), ("run-k1", "timed"), ("verify-k1", "bound_ok")]
    assert bobs == last == [("going", "running")]
    assert timed == [("run-k1", "timed")]


def test_runs_are_listed_by_session(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    for run, session in (("r1", "s1"), ("r2", "it's")):
        ledger.run_started(records.started(run, "k1", session=session))
    ledger.close()

    assert rows(home, session="it's") == [("r2", "aborted")]


def test_a_run_whose_server_is_gone_is_aborted(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.run_started(records.started("r1", "k1"))
    ledger.close()

    assert one_run(home, "r1")["status"] == "aborted"


def test_a_run_that_failed_for_our_own_reasons_is_an_error_and_no_rung(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.kernel(records.kernel("k1"), "c")
    ledger.run_started(records.started("r1", "k1"))
    ledger.run_failed("r1", "k1", "run_compress", "internal", "the server failed")
    ledger.close()

    found = one_run(home, "r1")

    assert (found["status"], found["stage"], found["failure_kind"]) == ("error", None, "internal")
    assert drained(home, "SELECT rung FROM ladder") == [("received",)]


def test_a_run_is_found_by_its_beginning_unless_several_have_it(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    for run in ("r_12", "r_13", "r_1"):
        ledger.run_started(records.started(run, "k1"))
    ledger.close()

    assert one_run(home, "r_12")["run_id"] == "r_12"
    assert one_run(home, "r_1")["run_id"] == "r_1"
    with pytest.raises(QueryError, match="begins several runs: r_1, r_12, r_13"):
        one_run(home, "r_")
    with pytest.raises(QueryError, match=r"no run .x'; --"):
        one_run(home, "x'; --")


def test_strings_are_quoted() -> None:
    assert literal("it's\0") == "'it''s'"


def test_a_comparison_has_a_row_per_direction_and_is_not_ranked(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result(1.0))
    ledger.run_started(records.started("r", "k1", against="k2"))
    both = tuple(contrast(d, [1.0] * 7, [2.0] * 7) for d in ("compress", "decompress"))
    compared = Compared(records.run_result(9.0), "k2", both)
    ledger.run_finished("r", "k1", "run_compress", compared)
    ledger.close()

    found = drained(
        home,
        "SELECT direction, verdict, speedup, pairs, against, len(seconds) FROM comparisons "
        "ORDER BY direction",
    )

    assert found == [("compress", "faster", 2.0, 7, "k2", 7),
                     ("decompress", "faster", 2.0, 7, "k2", 7)]  # fmt: skip
    reason = drained(home, "SELECT ineligible_because FROM scored_runs WHERE run_id = 'r'")
    assert reason == [("it was timed side by side with another kernel",)]
    assert drained(home, "SELECT run_id FROM leaderboard") == [("run-k1",)]


def test_a_comparison_that_failed_because_of_the_other_kernel_breaks_nothing(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result())
    ledger.run_started(records.started("r", "k1", against="k2"))
    failure = Failure(Status.INCONCLUSIVE, Status.TIMED, FailureKind.PEER, "k2: broke its bound")
    result = records.run_result(
        status=Status.INCONCLUSIVE, stage=Status.TIMED, samples=(), failure=failure
    )
    ledger.run_finished("r", "k1", "run_compress", Compared(result, "k2"))
    ledger.close()

    assert drained(home, "SELECT run_id FROM leaderboard") == [("run-k1",)]


def test_a_reproduction_is_not_ranked(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result(1.0))
    ledger.run_started(records.started("again", "k1", reproduces="run-k1"))
    ledger.run_finished("again", "k1", "run_compress", records.run_result(9.0))
    ledger.close()

    found = drained(home, "SELECT ineligible_because FROM scored_runs WHERE run_id = 'again'")

    assert found == [("it reproduces another run",)]
    assert drained(home, "SELECT run_id FROM leaderboard") == [("run-k1",)]
