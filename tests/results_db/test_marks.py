"""What operators decide shows in every ranking at once, and deletes nothing."""

from __future__ import annotations

import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernels.records import Kernel, RunResult, Status
from results_db import marks
from results_db.backup import backup
from results_db.errors import QueryError
from results_db.ledger import Ledger
from results_db.marks import About, Decision, Mark, Marked
from results_db.merge import merge
from results_db.prune import Wish, prune
from results_db.rows import HostRow, MarkRow
from tests.results_db.records import (
    drained,
    kernel,
    read,
    record_ranked,
    record_run,
    record_verdict,
    run_result,
    started,
    verdict,
)

BOARD = "SELECT agent FROM leaderboard ORDER BY agent"
RANKED = ["ada", "bob"]
FUTURE = datetime.now(UTC) + timedelta(days=1)


def ledger_at(home: Path) -> Ledger:
    ledger = Ledger(home, writer="test")
    ledger.host(HostRow("host-1"))
    return ledger


def two_ranked(home: Path) -> Ledger:
    """Kernels k-ada and k-bob, each ranked by one run."""
    ledger = ledger_at(home)
    for agent in RANKED:
        made = kernel(f"k-{agent}", agent=agent, session=f"s-{agent}")
        record_ranked(ledger, made, run_result(2.0))
    return ledger


def suspected(ledger: Ledger, made: Kernel, result: RunResult | None = None) -> None:
    """A kernel that holds on the suite, and whose one run, r-NAME, is suspect."""
    name = made.kernel_id
    ledger.kernel(made, f"call-{name}")
    record_verdict(ledger, f"v-{name}", name, verdict())
    record_run(ledger, f"r-{name}", name, result or run_result(status=Status.SUSPECT))


def mark(
    home: Path, about: About, subject: str, decided: Decision = "hidden", reason: str = "a cheat"
) -> Marked:
    return marks.add(home, Mark(about, subject, decided, reason, "olga"))


def agents(home: Path) -> list[str]:
    return [agent for (agent,) in read(home, BOARD)]


def likeness_of(home: Path, kernel_id: str) -> str:
    ((found,),) = drained(home, f"SELECT likeness FROM kernels WHERE kernel_id = '{kernel_id}'")
    return str(found)


@pytest.mark.parametrize("about", ["kernel", "run", "agent", "session", "likeness"])
def test_what_is_hidden_leaves_every_ranking_at_once_and_comes_back_when_it_is_cleared(
    home: Path, about: About
) -> None:
    two_ranked(home).close()
    subject = {
        "kernel": "k-ada",
        "run": "run-k-ada",
        "agent": "ada",
        "session": "s-ada",
        "likeness": likeness_of(home, "k-ada"),
    }[about]
    before = read(home, "SELECT count(*) FROM runs_finished")

    hidden = mark(home, about, subject)
    assert (hidden.places, hidden.delayed) == ((2, 1), "")
    assert agents(home) == ["bob"]
    assert read(home, "SELECT DISTINCT agent FROM best_runs") == [("bob",)]
    assert read(home, "SELECT ineligible_because FROM scored_runs WHERE agent = 'ada'") == [
        ("an operator hid it: a cheat",)
    ]
    assert read(home, "SELECT agent FROM rate_distortion") == [("bob",)]
    assert read(home, "SELECT count(*) FROM runs_finished") == before

    cleared = mark(home, about, subject, "cleared", "it was right")
    assert cleared.places == (1, 2)
    assert agents(home) == RANKED
    assert read(home, "SELECT verdict, reason FROM marks ORDER BY recorded_at") == [
        ("hidden", "a cheat"),
        ("cleared", "it was right"),
    ]


def test_a_mark_says_what_it_concerns_and_who_made_it(home: Path) -> None:
    two_ranked(home).close()
    mark(home, "run", "run-k-ada")
    mark(home, "agent", "bob")

    columns = "about, subject, verdict, marked_by, kernel_id, agent, session"
    assert read(home, f"SELECT {columns} FROM marks ORDER BY about DESC") == [
        ("run", "run-k-ada", "hidden", "olga", "k-ada", "ada", "s-ada"),
        ("agent", "bob", "hidden", "olga", None, "bob", None),
    ]


def test_a_subject_may_be_named_by_an_unambiguous_beginning(home: Path) -> None:
    two_ranked(home).close()

    assert mark(home, "kernel", "k-a").row.subject == "k-ada"
    with pytest.raises(QueryError, match="'k-' begins several: k-ada, k-bob"):
        mark(home, "kernel", "k-")
    with pytest.raises(QueryError, match="agent 'ad'"):
        mark(home, "agent", "ad")
    with pytest.raises(QueryError, match="run 'nosuch'"):
        mark(home, "run", "nosuch")


def test_a_hidden_kernel_stays_hidden_whatever_else_is_cleared(home: Path) -> None:
    two_ranked(home).close()
    mark(home, "kernel", "k-ada")

    mark(home, "agent", "ada", "cleared")
    mark(home, "run", "run-k-ada", "cleared")

    assert agents(home) == ["bob"]


def test_a_session_hides_the_runs_made_in_it_and_the_kernels_sent_in_it(home: Path) -> None:
    ledger = two_ranked(home)
    ledger.run_started(started("later", "k-bob", agent="bob", session="s-late"))
    ledger.run_finished("later", "k-bob", "run_compress", run_result(9.0))
    ledger.kernel(kernel("k-late", agent="cleo", session="s-late"), "c")
    ledger.close()
    drained(home, "FROM runs")

    mark(home, "session", "s-late")

    board = read(home, "SELECT agent, run_id FROM leaderboard ORDER BY agent")
    assert board == [("ada", "run-k-ada"), ("bob", "run-k-bob")]


def test_a_verdict_in_a_hidden_run_ranks_nothing(home: Path) -> None:
    two_ranked(home).close()

    mark(home, "run", "verify-k-ada")

    assert agents(home) == ["bob"]
    assert read(home, "SELECT agent, probability FROM pass_at_k ORDER BY agent") == [
        ("ada", 0.0),
        ("bob", 1.0),
    ]


def test_a_hidden_agent_is_in_no_statistic_of_agents(home: Path) -> None:
    two_ranked(home).close()

    mark(home, "agent", "ada")

    assert read(home, "SELECT agent FROM pass_at_k") == [("bob",)]


def test_a_suspect_result_awaits_review_and_is_ranked_once_it_is_cleared(home: Path) -> None:
    ledger = two_ranked(home)
    suspected(ledger, kernel("k-eve", agent="eve"))
    ledger.close()

    waiting = "SELECT run_id, agent, decision FROM review"
    assert drained(home, waiting) == [("r-k-eve", "eve", None)]
    assert agents(home) == RANKED

    mark(home, "run", "r-k-eve", "cleared", "a faster memory")

    assert agents(home) == [*RANKED, "eve"]
    assert read(home, waiting) == [("r-k-eve", "eve", "cleared")]


def test_a_suspect_result_that_is_hidden_has_been_decided_on(home: Path) -> None:
    ledger = two_ranked(home)
    suspected(ledger, kernel("k-eve", agent="eve"))
    ledger.close()
    drained(home, "FROM runs")

    mark(home, "kernel", "k-eve")

    decided = "SELECT decision, reason, marked_by FROM review"
    assert read(home, decided) == [("hidden", "a cheat", "olga")]
    assert agents(home) == RANKED


@pytest.mark.parametrize("about", ["agent", "session"])
def test_clearing_an_agent_lets_no_suspect_result_pass(home: Path, about: About) -> None:
    ledger = ledger_at(home)
    suspected(ledger, kernel("k-eve", agent="eve", session="s-eve"))
    ledger.close()
    drained(home, "FROM runs")

    mark(home, about, "eve" if about == "agent" else "s-eve", "cleared")

    assert agents(home) == []


def test_what_is_cleared_must_still_keep_every_other_rule(home: Path) -> None:
    ledger = ledger_at(home)
    large = run_result(status=Status.SUSPECT, stream_bytes=9000)
    suspected(ledger, kernel("k-eve", agent="eve"), large)
    ledger.close()
    drained(home, "FROM runs")

    mark(home, "run", "r-k-eve", "cleared")

    assert read(home, "SELECT ineligible_because FROM scored_runs") == [
        ("its stream is larger than 1.02 x golden + 64 bytes",)
    ]


def test_of_two_marks_of_one_moment_one_counts(home: Path) -> None:
    ledger = two_ranked(home)
    for decided in ("hidden", "cleared"):
        ledger.mark(MarkRow("kernel", "k-ada", decided, "why", "olga"))
    ledger.close()

    assert drained(home, "SELECT count(*) FROM current_marks") == [(1,)]
    assert read(home, "SELECT count(*) FROM marks") == [(2,)]


def test_marks_are_merged_and_backed_up_like_everything_else(home: Path, tmp_path: Path) -> None:
    two_ranked(home).close()
    mark(home, "kernel", "k-ada")
    restored, other = tmp_path / "restored", tmp_path / "other"

    backup(home, tmp_path / "all.tar")
    with tarfile.open(tmp_path / "all.tar") as archive:
        archive.extractall(restored, filter="data")
    drained(restored, BOARD)
    merge(other, home)
    again = merge(other, home)

    assert agents(restored) == ["bob"]
    assert agents(other) == ["bob"]
    assert again.rows == {}


def test_what_was_hidden_stays_hidden_when_it_was_pruned_and_comes_back(
    home: Path, tmp_path: Path
) -> None:
    two_ranked(home).close()
    copy = tmp_path / "copy"
    merge(copy, home)
    mark(home, "kernel", "k-ada")

    report = prune(home, Wish(FUTURE))
    assert report.kernels == 1
    assert read(home, "SELECT subject FROM marks") == [("k-ada",)]

    merge(home, copy)
    assert read(home, "SELECT count(*) FROM kernels") == [(2,)]
    assert agents(home) == ["bob"]


def test_a_kernel_that_awaits_review_is_not_pruned_before_it_is_decided_on(home: Path) -> None:
    ledger = ledger_at(home)
    suspected(ledger, kernel("k-eve", agent="eve"))
    ledger.close()
    drained(home, "FROM runs")

    assert prune(home, Wish(FUTURE), dry_run=True).kernels == 0
    mark(home, "run", "r-k-eve")
    assert prune(home, Wish(FUTURE), dry_run=True).kernels == 1
