"""Ways onto the leaderboard that do not lead there, with the honest run beside each."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kernels.records import Bound, Failure, FailureKind, ModeOutcome, Status
from results_db.ledger import Ledger
from results_db.rows import HostRow, RunFinishedRow
from tests.results_db.records import (
    broken_verdict,
    drained,
    failed_build,
    kernel,
    profile,
    read,
    record_ranked,
    record_run,
    record_verdict,
    run_result,
    samples,
    started,
    verdict,
)

WHY = "SELECT ineligible_because FROM scored_runs ORDER BY measured_at"
BOARD = "SELECT agent, run_id FROM leaderboard ORDER BY rank, agent"
DOUBT = "another run of the same program here is suspect: nobody cleared it yet"

PROGRAM = "LIMIT = 4\n\ndef compress(data, abs_bound):\n    return data[:LIMIT]\n"
RENAMED = "MOST = 0x4\n\ndef compress(field, eb):  # mine\n    return field[:MOST]\n"
OTHER = "LIMIT = 5\n\ndef compress(data, abs_bound):\n    return data[:LIMIT]\n"


def ledger_at(home: Path, harness: str | None = None) -> Ledger:
    ledger = Ledger(home, writer="test")
    ledger.host(HostRow("host-1", harness=harness))
    return ledger


def verified(ledger: Ledger, name: str = "k1", **columns: Any) -> None:
    """A kernel that holds on the suite at rel 1e-3 and was not run."""
    ledger.kernel(kernel(name, **columns), f"call-{name}")
    record_verdict(ledger, f"v-{name}", name, verdict())


def finished(ledger: Ledger, name: str = "k1", **columns: Any) -> None:
    """The row of a run as a damaged or odd writer might put it, otherwise an honest one."""
    ledger.run_started(started(f"r-{name}", name))
    row = RunFinishedRow(
        run_id=f"r-{name}",
        kernel_id=name,
        tool="run_compress",
        status="timed",
        stage=None,
        execution="hardware",
        threads=1,
        within_size_rule=True,
        ratio=4.0,
        compress_gbps=2.0,
        decompress_gbps=2.0,
        both_ways_gbps=2.0,
        transfer_bits=1.5,
    )
    ledger._append(dataclasses.replace(row, **columns))


def ranked(home: Path, task: str, rows: Sequence[dict[str, Any]]) -> list[bool]:
    """Which of these rows, each of an agent and a kernel of its own, are on the leaderboard."""
    ledger = ledger_at(home)
    for number, columns in enumerate(rows):
        verified(ledger, f"k{number}", task=task, agent=f"a{number}")
        finished(ledger, f"k{number}", **columns)
    found = {agent for agent, _ in drained(home, BOARD)}
    return [f"a{number}" in found for number in range(len(rows))]


def test_a_speed_that_is_none_is_not_ranked(home: Path) -> None:
    """NaN would be the largest of all numbers to the database."""
    speeds = (2.0, math.nan, math.inf, -math.inf, 0.0, -1.0)

    found = ranked(home, "szp", [{"both_ways_gbps": speed} for speed in speeds])

    assert found == [True, False, False, False, False, False]
    assert read(home, WHY)[1] == ("its score is no positive number",)


def test_bits_may_be_zero_but_nothing_else_that_is_no_positive_number(home: Path) -> None:
    bits = (1.5, 0.0, math.nan, math.inf, -1.0)

    found = ranked(home, "sz-open", [{"transfer_bits": one} for one in bits])

    assert found == [True, True, False, False, False]


def test_a_row_that_lacks_what_ranks_it_is_not_ranked(home: Path) -> None:
    nothing = [
        {name: None} for name in ("status", "execution", "both_ways_gbps", "within_size_rule")
    ]

    found = ranked(home, "szp", [{}, *nothing, {"ratio": math.nan}, {"ratio": math.inf}])

    assert found == [True, *[False] * 6]


def test_requests_that_took_no_time_do_not_count_as_fast(home: Path) -> None:
    ledger = ledger_at(home)
    instant = tuple(
        dataclasses.replace(one, seconds=0.0) for one in samples(("compress", "decompress"), 1.0)
    )
    record_ranked(ledger, kernel("k1"), run_result(samples=instant))

    assert drained(home, BOARD) == []


@pytest.mark.parametrize("columns", [{"against": "k2"}, {"reproduces": "r0"}], ids=str)
def test_compared_and_reproduced_runs_are_not_ranked(home: Path, columns: dict[str, Any]) -> None:
    ledger = ledger_at(home)
    verified(ledger)
    ledger.run_started(started("r1", "k1", **columns))
    ledger.run_finished("r1", "k1", "run_compress", run_result(9.0))

    assert drained(home, BOARD) == []


@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        ("ratio", ModeOutcome(tries=3, achieved=9.0, reached=False)),
        ("psnr", ModeOutcome(tries=3)),
        ("pw_rel", None),
    ],
)
def test_a_mode_whose_target_was_not_reached_is_not_ranked(
    home: Path, mode: str, outcome: ModeOutcome | None
) -> None:
    ledger = ledger_at(home)
    ledger.kernel(kernel("k1"), "c1")
    ledger.run_started(started("v1", "k1", tool="verify_bounds", field="suite", mode=mode))
    ledger.run_finished("v1", "k1", "verify_bounds", verdict())
    made = run_result(bound=Bound(mode, 1e-3, 0.5))
    record_run(ledger, "r1", "k1", dataclasses.replace(made, outcome=outcome))

    assert drained(home, WHY) == [("it did not reach what was asked",)]


def test_threads_have_a_ranking_of_their_own(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result(1.0))
    record_ranked(ledger, kernel("k2", agent="bob"), run_result(9.0, threads=8))

    assert drained(home, "SELECT rank, agent, threads FROM leaderboard ORDER BY agent") == [
        (1, "alice", 1),
        (1, "bob", 8),
    ]


def test_a_run_of_another_agents_kernel_ranks_its_owner(home: Path) -> None:
    ledger = ledger_at(home)
    verified(ledger)
    ledger.run_started(started("r1", "k1", agent="mallory", session="s9"))
    ledger.run_finished("r1", "k1", "run_compress", run_result(9.0))

    assert drained(home, BOARD) == [("alice", "r1")]


def test_trying_again_until_nothing_is_noticed_does_not_help(home: Path) -> None:
    ledger = ledger_at(home)
    verified(ledger, source=PROGRAM)
    record_run(ledger, "caught", "k1", run_result(9.0, status=Status.SUSPECT))
    record_run(ledger, "not caught", "k1", run_result(9.0))
    verified(ledger, "k2", source=RENAMED)
    record_run(ledger, "renamed", "k2", run_result(9.0))
    verified(ledger, "k3", source=OTHER)
    record_run(ledger, "another program", "k3", run_result(1.0))
    verified(ledger, "k4", source=PROGRAM, agent="bob")
    record_run(ledger, "another agent", "k4", run_result(1.0))

    assert drained(home, f"{WHY}, run_id") == [
        ("it is suspect: nobody cleared it yet",), (DOUBT,), (DOUBT,), (None,), (None,)
    ]  # fmt: skip


def test_a_suspect_result_says_nothing_of_another_field_or_bound(home: Path) -> None:
    ledger = ledger_at(home)
    verified(ledger)
    record_run(ledger, "caught", "k1", run_result(status=Status.SUSPECT))
    record_run(ledger, "elsewhere", "k1", run_result(field="nyx"))

    assert drained(home, BOARD) == [("alice", "elsewhere")]


@pytest.mark.parametrize("again", [PROGRAM, RENAMED])
def test_sending_a_program_again_does_not_mend_its_bound(home: Path, again: str) -> None:
    ledger = ledger_at(home)
    verified(ledger, source=PROGRAM)
    record_verdict(ledger, "broke", "k1", broken_verdict())
    record_ranked(ledger, kernel("k2", source=again), run_result(9.0))
    record_ranked(ledger, kernel("k3", source=OTHER), run_result(1.0))

    assert drained(home, BOARD) == [("alice", "run-k3")]


def test_clones_of_an_agent_are_one_in_the_list_of_best_runs(home: Path) -> None:
    ledger = ledger_at(home)
    for number, source in enumerate((PROGRAM, RENAMED, PROGRAM + "# again\n", OTHER)):
        made = kernel(f"k{number}", source=source)
        record_ranked(ledger, made, run_result(1.0 + number))

    found = drained(home, "SELECT kernel_id, round(score, 6) FROM best_runs ORDER BY 1")
    assert found == [("k2", 3.0), ("k3", 4.0)]


def test_one_program_of_several_agents_is_a_tie(home: Path) -> None:
    ledger = ledger_at(home)
    for agent, source, gbps in (
        ("alice", PROGRAM, 2.0), ("bob", RENAMED, 2.2), ("carol", OTHER, 2.1)
    ):  # fmt: skip
        made = kernel(f"k-{agent}", agent=agent, session=agent, source=source)
        record_ranked(ledger, made, run_result(gbps))

    board = drained(home, "SELECT rank, agent, program FROM leaderboard ORDER BY agent")
    assert [row[:2] for row in board] == [(1, "alice"), (1, "bob"), (3, "carol")]
    assert board[0][2] == board[1][2] != board[2][2]
    twins = "SELECT kernel_id, agent, first_kernel_id, first_agent, kernels, agents"
    assert read(home, f"{twins} FROM kernel_twins ORDER BY 1") == [
        ("k-alice", "alice", "k-alice", "alice", 2, 2),
        ("k-bob", "bob", "k-alice", "alice", 2, 2),
    ]


def test_programs_of_two_tasks_are_no_twins(home: Path) -> None:
    ledger = ledger_at(home)
    for name, task in (("k1", "szp"), ("k2", "szx")):
        ledger.kernel(kernel(name, task=task, source=PROGRAM), "c")

    assert drained(home, "FROM kernel_twins") == []


def test_kernels_older_than_likenesses_are_told_apart_by_their_source(home: Path) -> None:
    ledger = ledger_at(home)
    old = "INSERT INTO kernels (id, kernel_id, task, target, agent, content_hash, recorded_at)"
    drained(home, "FROM kernels")
    ledger.close()
    with_rows(
        home,
        f"{old} SELECT uuid(), k, 'szp', 'numba', 'ada', h, now()::TIMESTAMP FROM"
        " (VALUES ('k1', 'h1'), ('k2', 'h1'), ('k3', 'h2')) AS t(k, h)",
    )

    assert drained(home, "SELECT kernel_id FROM kernel_twins ORDER BY 1") == [("k1",), ("k2",)]


def with_rows(home: Path, statement: str) -> None:
    with duckdb.connect(str(home / "ledger.duckdb")) as connection:
        connection.execute(statement)
    (home / "ledger-read.duckdb").unlink()


def test_the_suspect_failure_of_a_run_is_what_its_reviewer_reads(home: Path) -> None:
    ledger = ledger_at(home)
    verified(ledger)
    failure = Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, "too small to be true")
    record_run(ledger, "r1", "k1", run_result(status=Status.SUSPECT, failure=failure))

    assert drained(home, "SELECT run_id, why, kernel_id, field FROM review") == [
        ("r1", "too small to be true", "k1", "cesm")
    ]


def test_every_result_names_the_harness_that_it_came_from(home: Path) -> None:
    for harness in ("old", "new"):
        ledger = ledger_at(home, harness)
        made = kernel(f"k-{harness}", agent=harness)
        record_ranked(ledger, made, run_result())
        ledger.build("c", made.kernel_id, failed_build())
        ledger.run_started(started(f"p-{harness}", made.kernel_id, tool="profile"))
        ledger.run_finished(f"p-{harness}", made.kernel_id, "profile", profile())
        ledger.close()

    drained(home, "FROM runs")
    for table in ("hosts", "builds", "runs_finished", "verdicts", "profiles", "leaderboard"):
        found = read(home, f"SELECT DISTINCT harness FROM {table} ORDER BY 1")
        assert found == [("new",), ("old",)], table
    assert read(home, "SELECT DISTINCT harness FROM runs WHERE kernel_id = 'k-old'") == [("old",)]
