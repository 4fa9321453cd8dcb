from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernels.records import (
    Bound,
    Build,
    CaseResult,
    Comparison,
    Execution,
    Failure,
    FailureKind,
    Metric,
    RunResult,
    Status,
    Verdict,
)
from results_db.ledger import Ledger
from results_db.rows import HostRow
from tests.results_db.records import (
    REL,
    broken_verdict,
    comparison,
    drained,
    failed_build,
    kernel,
    record_ranked,
    record_run,
    record_verdict,
    run_result,
    samples,
    started,
    verdict,
)

WHY = "SELECT ineligible_because FROM scored_runs"
TIMEOUT = Failure(Status.ERROR, Status.TERMINATES, FailureKind.TIMEOUT, "took too long")
BROKE = "the kernel broke its bound or format at this mode and bound"


def ledger_at(home: Path, host: str = "host-1") -> Ledger:
    ledger = Ledger(home, writer="test")
    ledger.host(HostRow(host))
    return ledger


def test_the_leaderboard_ranks_the_best_run_of_every_agent(home: Path) -> None:
    ledger = ledger_at(home)
    for name, agent, gbps in (
        ("k1", "alice", 1.0),
        ("k2", "bob", 2.0),
        ("k3", "alice", 3.0),
        ("k4", "carol", 2.0),
        ("k5", "dave", 0.5),
    ):
        record_ranked(ledger, kernel(name, agent=agent), run_result(gbps))

    assert drained(
        home,
        "SELECT rank, agent, kernel_id, round(score, 6), score_unit, ratio, host FROM leaderboard",
    ) == [
        (1, "alice", "k3", 3.0, "GB/s", 4.0, "host-1"),
        (2, "bob", "k2", 2.0, "GB/s", 4.0, "host-1"),
        (2, "carol", "k4", 2.0, "GB/s", 4.0, "host-1"),
        (4, "dave", "k5", 0.5, "GB/s", 4.0, "host-1"),
    ]


def test_a_fixed_format_scores_the_harmonic_mean_of_both_directions(home: Path) -> None:
    uneven = run_result(samples=samples(("compress",), 2.0) + samples(("decompress",), 6.0))
    record_ranked(ledger_at(home), kernel("k1"), uneven)

    ((score, compress, decompress),) = drained(
        home, "SELECT score, compress_gbps, decompress_gbps FROM leaderboard"
    )
    assert (score, compress, decompress) == pytest.approx((3.0, 2.0, 6.0))


def test_sz_open_scores_bits_and_knows_no_size_rule(home: Path) -> None:
    open_run = run_result(golden_bytes=None)
    record_ranked(ledger_at(home), kernel("k1", task="sz-open"), open_run)

    ((score, unit, bits),) = drained(
        home,
        "SELECT score, score_unit, transfer_bits FROM leaderboard JOIN runs USING (run_id)",
    )
    assert (score, unit) == (bits, "bits")
    assert 0 < score < 2


def test_a_stage_scores_its_speed(home: Path) -> None:
    stage = run_result(samples=samples(("run",), 5.0), stream_bytes=0, golden_bytes=None)
    record_ranked(ledger_at(home), kernel("k1", task="lorenzo-1d"), stage)

    ((score, unit, ratio),) = drained(home, "SELECT score, score_unit, ratio FROM leaderboard")
    assert (score, unit, ratio) == (pytest.approx(5.0), "GB/s", None)


@pytest.mark.parametrize(
    "difference",
    [
        {"execution": Execution.SIMULATED},
        {"field": "other"},
        {"bound": Bound("abs", 1e-3, 1e-3)},
        {"bound": Bound("rel", 1e-4, 0.05)},
        {"threads": 2},
    ],
    ids=lambda difference: next(iter(difference)),
)
def test_runs_under_other_conditions_do_not_compete(home: Path, difference: dict[str, Any]) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result(1.0))
    slow = run_result(0.5, **difference)
    record_ranked(ledger, kernel("k2", agent="bob"), slow)
    ledger.run_started(
        started("v2", "k2", field="suite", mode=slow.bound.mode, bound=slow.bound.value)
    )
    ledger.run_finished("v2", "k2", "verify_bounds", verdict())

    ranks = dict(drained(home, "SELECT agent, rank FROM leaderboard"))
    assert ranks["alice"] == 1
    assert ranks.get("bob", 1) == 1


def test_runs_on_other_machines_do_not_compete(home: Path) -> None:
    record_ranked(ledger_at(home, "host-1"), kernel("k1"), run_result(1.0))
    record_ranked(ledger_at(home, "host-2"), kernel("k2", agent="bob"), run_result(0.5))

    assert drained(home, "SELECT agent, host, rank FROM leaderboard ORDER BY agent") == [
        ("alice", "host-1", 1),
        ("bob", "host-2", 1),
    ]


def test_a_speed_that_was_not_measured_on_hardware_has_no_score(home: Path) -> None:
    emulated = run_result(execution=Execution.EMULATED)
    record_ranked(ledger_at(home), kernel("k1"), emulated)

    assert drained(home, "SELECT score FROM scored_runs") == [(None,)]
    assert drained(home, "SELECT * FROM leaderboard") == []


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status.SUSPECT, "it is suspect: nobody cleared it yet"),
        (Status.INCONCLUSIVE, "its status is inconclusive, not timed"),
        (Status.ERROR, "its status is error, not timed"),
    ],
)
def test_a_run_that_is_not_timed_is_not_ranked(home: Path, status: Status, why: str) -> None:
    record_ranked(ledger_at(home), kernel("k1"), run_result(status=status))

    assert drained(home, "SELECT * FROM leaderboard") == []
    assert drained(home, WHY) == [(why,)]


def unverified(ledger: Ledger, made: RunResult) -> None:
    ledger.kernel(kernel("k1"), "c1")
    record_run(ledger, "r1", "k1", made)


def test_a_kernel_without_a_suite_verdict_is_not_ranked(home: Path) -> None:
    ledger = ledger_at(home)
    unverified(ledger, run_result())
    ledger.run_started(started("v1", "k1", field="cesm"))
    ledger.run_finished("v1", "k1", "verify_bounds", verdict())

    assert drained(home, "SELECT * FROM leaderboard") == []
    assert drained(home, WHY) == [("no suite verdict that holds at this mode and bound",)]


@pytest.mark.parametrize(("mode", "bound"), [("abs", 1e-3), ("rel", 1e-4)])
def test_a_suite_verdict_counts_for_its_own_mode_and_bound(
    home: Path, mode: str, bound: float
) -> None:
    ledger = ledger_at(home)
    unverified(ledger, run_result())
    ledger.run_started(started("v1", "k1", field="suite", mode=mode, bound=bound))
    ledger.run_finished("v1", "k1", "verify_bounds", verdict())

    assert drained(home, "SELECT * FROM leaderboard") == []


@pytest.mark.parametrize(
    "failed", [broken_verdict(), verdict(holds=False, status=Status.ERROR, failure=TIMEOUT)]
)
def test_a_suite_verdict_that_does_not_hold_does_not_count(home: Path, failed: Verdict) -> None:
    ledger = ledger_at(home)
    unverified(ledger, run_result())
    record_verdict(ledger, "v1", "k1", failed)

    assert drained(home, "SELECT * FROM leaderboard") == []


def test_a_kernel_that_ever_broke_the_bound_is_not_ranked_at_it(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    record_ranked(ledger, kernel("k2", agent="bob"), run_result())
    record_verdict(ledger, "v2", "k1", broken_verdict())
    off = run_result(field="nyx", status=Status.ERROR, comparison=comparison(violations=1))
    record_run(ledger, "r2", "k2", off)

    assert drained(home, "SELECT * FROM leaderboard") == []
    assert drained(home, f"{WHY} WHERE status = 'timed'") == [(BROKE,)] * 2


@pytest.mark.parametrize("kind", [FailureKind.BOUND, FailureKind.FORMAT])
@pytest.mark.parametrize("checked", [comparison(), None], ids=["held on the field", "not compared"])
def test_a_kernel_that_broke_its_bound_or_format_while_timed_is_not_ranked_at_it(
    home: Path, kind: FailureKind, checked: Comparison | None
) -> None:
    """On content made while timing there are no violations to count: the failure says so."""
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    failure = Failure(Status.ERROR, Status.BOUND_OK, kind, "not on content made while timing")
    failed = run_result(status=Status.ERROR, failure=failure, comparison=checked, samples=())
    record_run(ledger, "r2", "k1", failed)

    assert drained(home, "SELECT * FROM leaderboard") == []
    assert drained(home, f"{WHY} WHERE status = 'timed'") == [(BROKE,)]


def failing_case(status: Status, kind: FailureKind, *, core: bool, violations: int) -> CaseResult:
    failure = Failure(status, Status.ROUNDTRIPS, kind, "what happened")
    return CaseResult("4-D", core, status, 9, violations, 1.0, 0.5, failure=failure)


@pytest.mark.parametrize("kind", [FailureKind.BOUND, FailureKind.FORMAT])
def test_a_verdict_that_fails_on_the_format_or_later_on_the_bound_counts(
    home: Path, kind: FailureKind
) -> None:
    """The failure of a verdict is that of one case; any case can break the bound."""
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    late = failing_case(Status.ERROR, kind, core=False, violations=0)
    failed = verdict(
        holds=False, status=Status.ERROR, failure=TIMEOUT, cases=(*verdict().cases, late)
    )
    record_verdict(ledger, "v2", "k1", failed)

    assert drained(home, WHY) == [(BROKE,)]


@pytest.mark.parametrize("kind", [FailureKind.UNSUPPORTED, FailureKind.FORMAT])
def test_a_case_outside_the_core_that_was_refused_broke_nothing(
    home: Path, kind: FailureKind
) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    refused = failing_case(Status.REFUSED, kind, core=False, violations=3)
    failed = verdict(
        holds=False, status=Status.ERROR, violations=3, failure=TIMEOUT, cases=(refused,)
    )
    record_verdict(ledger, "v2", "k1", failed)

    assert drained(home, "SELECT agent FROM leaderboard") == [("alice",)]


def test_a_kernel_that_broke_another_bound_is_ranked_at_this_one(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    ledger.run_started(started("v2", "k1", field="suite", bound=1e-6))
    ledger.run_finished("v2", "k1", "verify_bounds", broken_verdict())

    assert drained(home, "SELECT agent, bound FROM leaderboard") == [("alice", 1e-3)]


def test_a_failure_that_broke_no_bound_does_not_take_a_verdict_back(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    record_verdict(ledger, "v2", "k1", verdict(holds=False, status=Status.ERROR, failure=TIMEOUT))

    assert drained(home, "SELECT agent FROM leaderboard") == [("alice",)]


def test_several_suite_verdicts_do_not_double_a_run(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result())
    record_verdict(ledger, "v2", "k1", verdict())

    assert drained(home, "SELECT count(*) FROM scored_runs") == [(1,)]


@pytest.mark.parametrize(
    ("task", "stream", "golden", "why"),
    [
        ("szp", 1084, 1000, None),
        ("szp", 1085, 1000, "its stream is larger than 1.02 x golden + 64 bytes"),
        ("szx", 1085, 1000, "its stream is larger than 1.02 x golden + 64 bytes"),
        ("szp", 1000, None, "the size of the golden stream is not known"),
        ("sz-open", 9999, 1000, None),
    ],
)
def test_fixed_formats_obey_the_size_rule(
    home: Path, task: str, stream: int, golden: int | None, why: str | None
) -> None:
    made = run_result(stream_bytes=stream, golden_bytes=golden)
    record_ranked(ledger_at(home), kernel("k1", task=task), made)

    assert drained(home, WHY) == [(why,)]
    assert len(drained(home, "SELECT * FROM leaderboard")) == (why is None)


def test_best_runs_has_the_best_run_of_every_kernel(home: Path) -> None:
    ledger = ledger_at(home)
    record_ranked(ledger, kernel("k1"), run_result(1.0))
    record_run(ledger, "again", "k1", run_result(3.0))
    record_run(ledger, "slower", "k1", run_result(2.0))
    record_ranked(ledger, kernel("k2"), run_result(2.0))

    assert drained(home, "SELECT kernel_id, run_id FROM best_runs ORDER BY 1") == [
        ("k1", "again"),
        ("k2", "run-k2"),
    ]


def test_an_unfinished_run_is_running_until_its_process_ends(home: Path) -> None:
    ledger = ledger_at(home)
    ledger.run_started(started("r1", "k1"))

    during = drained(home, "SELECT run_id, status, field, finished_at FROM runs")
    ledger.close()
    after = drained(home, "SELECT run_id, status, field, finished_at FROM runs")

    assert during == [("r1", "running", "cesm", None)]
    assert after == [("r1", "aborted", "cesm", None)]


def test_the_ladder_shows_the_highest_rung_of_every_kernel(home: Path) -> None:
    ledger = ledger_at(home)
    compiled = Build(Status.COMPILED, Status.LOADS, 0.1)
    for name in ("k1", "k2", "k3", "k4", "k5"):
        ledger.kernel(kernel(name), "c")
    ledger.build("c", "k2", failed_build())
    for name in ("k3", "k4", "k5"):
        ledger.build("c", name, compiled)
    record_verdict(
        ledger,
        "v4",
        "k4",
        verdict(holds=False, status=Status.ERROR, stage=Status.TERMINATES, failure=TIMEOUT),
    )
    record_verdict(ledger, "v5", "k5", verdict())
    record_run(ledger, "r5", "k5", run_result())
    record_verdict(ledger, "w5", "k5", broken_verdict())

    assert drained(
        home, "SELECT kernel_id, rung, rung_number, stage FROM ladder ORDER BY kernel_id"
    ) == [
        ("k1", "received", 1, "parsed"),
        ("k2", "received", 1, "parsed"),
        ("k3", "compiled", 3, "loads"),
        ("k4", "loads", 4, "terminates"),
        ("k5", "timed", 8, None),
    ]


def test_the_budget_curve_rises_with_the_best_eligible_attempt(home: Path) -> None:
    ledger = ledger_at(home)
    for attempt, gbps in ((2, 1.0), (4, 3.0), (6, 2.0)):
        record_ranked(ledger, kernel(f"k{attempt}"), run_result(gbps), attempt)
    record_ranked(ledger, kernel("k8"), run_result(9.0, status=Status.SUSPECT), 8)

    found = drained(
        home,
        "SELECT attempt, round(score, 6), round(best_score, 6) FROM budget_curve ORDER BY attempt",
    )
    assert found == [(2, 1.0, 1.0), (4, 3.0, 3.0), (6, 2.0, 3.0), (8, None, 3.0)]


def test_rate_distortion_leaves_out_runs_that_break_the_bound(home: Path) -> None:
    ledger = ledger_at(home)
    ledger.kernel(kernel("k1"), "c1")
    record_run(ledger, "r1", "k1", run_result(stream_bytes=2000))
    record_run(ledger, "r2", "k1", run_result())
    loose = run_result(bound=Bound("rel", 1e-2, 5.0), comparison=comparison(violations=1))
    record_run(ledger, "r3", "k1", loose)

    assert drained(home, "SELECT run_id, bound, ratio, bit_rate FROM rate_distortion") == [
        ("r2", REL.value, 4.0, 8.0)
    ]


def test_failure_modes_counts_causes(home: Path) -> None:
    ledger = ledger_at(home)
    for name in ("k1", "k2"):
        ledger.kernel(kernel(name), "c")
        ledger.build("c", name, failed_build())
    record_run(ledger, "r1", "k2", run_result(status=Status.ERROR, failure=TIMEOUT, samples=()))
    record_run(ledger, "r2", "k2", run_result())
    ledger.run_started(started("r3", "k1"))
    ledger.close()

    assert drained(
        home,
        "SELECT tool, failure_kind, failures, kernels, latest_message FROM failure_modes"
        " ORDER BY failure_kind",
    ) == [
        ("run_compress", "aborted", 1, 1, None),
        ("compile_kernel", "syntax", 2, 2, "does not parse"),
        ("run_compress", "timeout", 1, 1, "took too long"),
    ]


def test_pass_at_k_is_the_unbiased_estimate_over_sessions(home: Path) -> None:
    """5 sessions, 2 of which pass: 1 - C(3, k) / C(5, k)."""
    ledger = ledger_at(home)
    for number in range(5):
        for attempt in ("a", "b"):
            name = f"k{number}{attempt}"
            ledger.kernel(kernel(name, session=f"s{number}"), "c")
            if number < 2 and attempt == "b":
                record_verdict(ledger, f"v{name}", name, verdict())

    found = drained(home, "SELECT sessions, passed, k, probability FROM pass_at_k ORDER BY k")
    assert [row[:3] for row in found] == [(5, 2, 1), (5, 2, 2), (5, 2, 3), (5, 2, 5)]
    assert [row[3] for row in found] == pytest.approx([2 / 5, 1 - 3 / 10, 1 - 1 / 10, 1.0])


def test_pass_at_k_is_zero_where_nothing_passed(home: Path) -> None:
    ledger_at(home).kernel(kernel("k1"), "c1")

    assert drained(home, "SELECT k, probability FROM pass_at_k") == [(1, 0.0)]


def test_a_metric_of_the_copy_peak_becomes_a_column(home: Path) -> None:
    metrics = (
        Metric("other", 1.0, "1", "derived"),
        Metric("copy_peak_gbps", 7.5, "GB/s", "measured"),
    )
    record_run(ledger_at(home), "r1", "k1", run_result(metrics=metrics))

    assert drained(home, "SELECT copy_peak_gbps FROM runs") == [(7.5,)]
