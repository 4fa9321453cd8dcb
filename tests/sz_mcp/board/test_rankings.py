"""The leaderboard's numbers are those of the raw ledger; cheats, failures and restarts count."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from kernels.records import Build, Execution, Failure, FailureKind, Kernel, Status, Submission
from results_db.drain import drain
from results_db.rows import BenchCellRow
from sz_mcp.board.copy import opened
from sz_mcp.board.pages.leaderboard import BoardTable, Row
from sz_mcp.board.rankings import rankings
from sz_mcp.board.sight import EVERYTHING
from tests.results_db import records
from tests.sz_mcp.board.made import AGENTS, BOUNDS, HOST, Batched

SQL = """
SELECT k.agent, k.session, max(2 / (1 / f.compress_gbps + 1 / f.decompress_gbps))
FROM runs_finished f JOIN runs_started s USING (run_id)
JOIN kernels k ON k.kernel_id = f.kernel_id
WHERE f.tool = 'run_compress' AND k.task = 'szp' AND k.target = 'numba' AND s.bound = ?
GROUP BY ALL
"""


def shown(home: Path, **chosen: str) -> tuple[BoardTable, ...]:
    with opened(home) as copy:
        tables, _, _ = rankings(copy, EVERYTHING, chosen)
    return tables


def rows_of(home: Path, **chosen: str) -> dict[str | None, Row]:
    (table,) = shown(home, **chosen)
    return {row.agent: row for row in table.rows}


@pytest.mark.parametrize("bound", BOUNDS)
def test_means_of_sessions_are_those_of_the_raw_ledger(ledger: Path, bound: float) -> None:
    with duckdb.connect(str(ledger / "ledger-read.duckdb"), read_only=True) as connection:
        raw = connection.execute(SQL, [bound]).fetchall()
    rows = rows_of(ledger, task="szp", target="numba", bound=f"rel {bound:g}")

    assert set(rows) == {agent.name for agent in AGENTS}
    for agent in AGENTS:
        bests = [score for name, _, score in raw if name == agent.name]
        row = rows[agent.name]
        assert row.value == pytest.approx(statistics.fmean(bests))
        assert row.more["best"] == pytest.approx(max(bests))
        assert row.sessions == len(bests) == agent.sessions
        ends = [end for end in (row.low, row.value, row.high) if end is not None]
        assert len(ends) == 3
        assert ends == sorted(ends)
        assert ends[0] >= min(bests) * (1 - 1e-12)
        assert ends[2] <= max(bests) * (1 + 1e-12)


def test_fewer_than_five_sessions_are_too_few_to_rank_and_come_last(ledger: Path) -> None:
    (table,) = shown(ledger, task="szp", target="numba", bound="rel 0.001")

    assert [row.ranked for row in table.rows] == [True, True, True, False]
    assert table.rows[-1].rank is None


def test_ranks_are_intervals_and_overlapping_ones_are_ties(ledger: Path) -> None:
    for table in shown(ledger):
        ranked = [row for row in table.rows if row.ranked]
        for row in ranked:
            assert row.rank is not None
            overlaps = [
                other
                for other in ranked
                if other is not row
                and other.rank is not None
                and other.rank[0] <= row.rank[1]
                and row.rank[0] <= other.rank[1]
            ]
            assert row.tied == bool(overlaps)
    by_name = rows_of(ledger, task="szp", target="numba", bound="rel 0.001")
    assert by_name["claude"].rank == by_name["codex"].rank == (1, 2)
    assert by_name["climber"].rank == (3, 3)


def test_tables_never_mix_executions_and_each_has_its_unit(ledger: Path) -> None:
    for table in shown(ledger):
        where = table.conditions
        expected = {
            "hardware": ("bits" if where.task == "sz-open" else "GB/s", HOST),
            "emulated": ("ratio", ""),
            "simulated": ("cycles", ""),
        }[where.execution]
        assert (table.unit, where.host) == expected
        for row in table.rows:
            speeds = {row.more.get("compress_gbps"), row.more.get("decompress_gbps")}
            assert (speeds == {None}) == (where.execution != "hardware")


def test_fewer_cycles_are_better_and_their_mean_is_harmonic(ledger: Path) -> None:
    (table,) = shown(ledger, target="wafer", bound="rel 0.001")
    with duckdb.connect(str(ledger / "ledger-read.duckdb"), read_only=True) as connection:
        raw = connection.execute(
            "SELECT k.session, s.run_id, sum(m.value) FROM metrics m JOIN runs_started s"
            " USING (run_id) JOIN kernels k ON k.kernel_id = s.kernel_id WHERE s.bound = 1e-3"
            " AND k.agent = 'claude' AND k.target = 'wafer' AND m.unit = 'cycles' GROUP BY ALL"
        ).fetchall()
    bests: dict[str, float] = {}
    for session, _, cycles in raw:
        bests[session] = min(cycles, bests.get(session, cycles))

    values = [row.value for row in table.rows]
    assert values == sorted(values, key=lambda value: value or 0)
    assert rows_of(ledger, target="wafer", bound="rel 0.001")["claude"].value == pytest.approx(
        statistics.harmonic_mean(bests.values())
    )


Session = Callable[[Batched, str, int], None]


def honest(ledger: Batched, name: str, number: int, gbps: float = 2.0) -> None:
    made = records.kernel(f"k_{name}_{number}", agent=name, session=f"{name}-{number}")
    ledger.kernel(made, f"call-{made.kernel_id}", 1)
    records.record_verdict(ledger, f"v_{made.kernel_id}", made.kernel_id, records.verdict())
    result = records.run_result(gbps=gbps + number / 100)
    records.record_run(ledger, f"r_{made.kernel_id}", made.kernel_id, result, 1)


def cheating(ledger: Batched, name: str, number: int) -> None:
    """What it sends is refused, and what is not is suspect."""
    failure = Failure(Status.REJECTED, Status.PARSED, FailureKind.INTEGRITY, "it reads /proc")
    for place in range(2):
        made = records.kernel(f"k_{name}_{number}_{place}", agent=name, session=f"{name}-{number}")
        if place == 0:
            ledger.kernel(made, "c", 1)
            ledger.build("c", made.kernel_id, Build(Status.REJECTED, Status.PARSED, 0.1, failure))
        else:
            suspect = records.run_result(gbps=99.0, status=Status.SUSPECT)
            records.record_ranked(ledger, made, suspect, attempt=2)


def failing(ledger: Batched, name: str, number: int) -> None:
    files = {"kernel.py": f"# {number}"}
    made = Kernel(f"k_{name}_{number}", Submission("szp", "numba", files), name, f"{name}-{number}")
    ledger.kernel(made, "c", 1)
    ledger.build("c", made.kernel_id, records.failed_build())


def small(home: Path, **agents: list[Session]) -> None:
    ledger = Batched(home, writer="made")
    for name, sessions in agents.items():
        for number, session in enumerate(sessions):
            session(ledger, name, number)
    ledger.flush()
    ledger.close()
    drain(home)


def test_a_cheating_agent_is_last_with_its_cheats_counted(tmp_path: Path) -> None:
    small(tmp_path, ada=[honest] * 5, cheat=[cheating] * 5)
    (table,) = shown(tmp_path)

    assert [row.agent for row in table.rows] == ["ada", "cheat"]
    ada, cheat = table.rows
    assert (ada.rank, cheat.rank, cheat.value) == ((1, 1), (2, 2), 0.0)
    assert ada.more["hacks"] == 0.0
    assert cheat.more["hacks"] == 1.0
    assert cheat.kernel_id is None


def test_sessions_of_nothing_but_failures_count_zero(tmp_path: Path) -> None:
    small(tmp_path, ada=[honest, honest, honest, failing, failing])
    row = rows_of(tmp_path)["ada"]

    assert row.sessions == 5
    assert row.value == pytest.approx((2.0 + 2.01 + 2.02) / 5, rel=1e-3)
    assert row.more["passed"] == pytest.approx(0.6)


def test_a_cell_that_was_begun_anew_counts_once(tmp_path: Path) -> None:
    ledger = Batched(tmp_path, writer="made")
    for number in range(5):
        honest(ledger, "ada", number)
    for session, gbps in (("b/c", 9.0), ("b/c+2", 2.0)):
        made = records.kernel(f"k_{gbps:g}", agent="ada", session=session)
        records.record_ranked(ledger, made, records.run_result(gbps=gbps), attempt=1)
        ledger.bench_cell(
            BenchCellRow("b", "c", session, "ada", "search", "szp", "numba", "started")
        )
        ledger.flush()
    ledger.close()
    drain(tmp_path)
    row = rows_of(tmp_path)["ada"]

    assert row.sessions == 6
    assert row.more["best"] == pytest.approx(2.04, rel=1e-3)


def test_what_was_measured_elsewhere_is_no_failure_here(tmp_path: Path) -> None:
    ledger = Batched(tmp_path, writer="made")
    for number in range(3):
        honest(ledger, "ada", number)
    other = records.kernel("k_other", agent="ada", session="other")
    records.record_ranked(ledger, other, records.run_result(field="uk_theta"), attempt=1)
    ledger.flush()
    ledger.close()
    drain(tmp_path)

    assert rows_of(tmp_path, field="cesm")["ada"].sessions == 3
    assert rows_of(tmp_path, field="uk_theta")["ada"].sessions == 1


def test_emulated_runs_are_compared_by_ratio(tmp_path: Path) -> None:
    ledger = Batched(tmp_path, writer="made")
    made = records.kernel("k_1", agent="ada")
    result = records.run_result(
        status=Status.BOUND_OK, stage=Status.TIMED, execution=Execution.EMULATED, samples=(),
        metrics=(),
    )  # fmt: skip
    records.record_ranked(ledger, made, result, attempt=1)
    ledger.flush()
    ledger.close()
    drain(tmp_path)
    (table,) = shown(tmp_path)

    assert (table.unit, table.rows[0].value) == ("ratio", 4.0)


def test_a_stage_has_a_speed_on_hardware_and_is_right_or_wrong_elsewhere(tmp_path: Path) -> None:
    ledger = Batched(tmp_path, writer="made")
    for name, execution in (("k_1", Execution.HARDWARE), ("k_2", Execution.EMULATED)):
        made = records.kernel(name, task="lorenzo-1d", agent="ada", session=name)
        timed = execution is Execution.HARDWARE
        result = records.run_result(
            status=Status.TIMED if timed else Status.BOUND_OK, execution=execution, stream_bytes=0,
            samples=records.samples(("run",), 3.0) if timed else (), golden_bytes=None, metrics=(),
        )  # fmt: skip
        records.record_ranked(ledger, made, result, attempt=1)
    ledger.flush()
    ledger.close()
    drain(tmp_path)
    tables = shown(tmp_path)

    assert [(one.conditions.execution, one.unit) for one in tables] == [
        ("hardware", "GB/s"), ("emulated", "verified"),
    ]  # fmt: skip
    assert [one.rows[0].value for one in tables] == pytest.approx([3.0, 1.0])
