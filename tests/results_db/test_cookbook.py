"""The questions of docs/sql.md, asked of a ledger that was made up; some answered by hand too."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

from results_db.measures.chances import at_k
from results_db.measures.fronts import Trade, pareto
from tests.benchmarks.make_ledger import Size, make

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text("utf-8")
QUESTIONS = {
    int(number): query
    for number, query in re.findall(r"^## (\d+)\. .*?\n```sql\n(.*?)\n```", PAGE, re.M | re.S)
}
ATTEMPTS = 12_000
RUNGS = (
    "received", "parsed", "compiled", "loads", "terminates", "roundtrips", "bound_ok", "timed",
)  # fmt: skip


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    home = tmp_path_factory.mktemp("made")
    make(home, Size(ATTEMPTS, repetitions=4))
    return duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True)


def ask(ledger: duckdb.DuckDBPyConnection, number: int) -> list[dict[str, Any]]:
    found = ledger.execute(QUESTIONS[number])
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def rows(ledger: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return ledger.execute(sql).fetchall()


def test_there_are_twenty_questions() -> None:
    assert sorted(QUESTIONS) == list(range(1, 21))


@pytest.mark.parametrize("number", sorted(QUESTIONS))
def test_a_question_has_an_answer(ledger: duckdb.DuckDBPyConnection, number: int) -> None:
    found = ask(ledger, number)

    # No bench was made up.
    assert bool(found) == (number != 20)


def reached(ledger: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Kernel → number of its highest rung, from 1."""
    best: dict[str, int] = {}
    for kernel, status, stage in rows(
        ledger,
        "SELECT kernel_id, 'received', NULL FROM kernels"
        " UNION ALL SELECT kernel_id, status, stage FROM builds"
        " UNION ALL SELECT kernel_id, status, stage FROM runs_finished",
    ):
        rung = RUNGS.index(status) + 1 if status in RUNGS else 0
        if not rung and stage is not None:
            rung = RUNGS.index(stage)
        best[kernel] = max(best.get(kernel, 0), rung)
    return best


def test_kernels_stop_where_their_rows_say(ledger: duckdb.DuckDBPyConnection) -> None:
    best = reached(ledger)
    wanted = Counter(
        (agent, target, RUNGS[best[kernel] - 1])
        for kernel, agent, target in rows(ledger, "SELECT kernel_id, agent, target FROM kernels")
    )

    found = {(r["agent"], r["target"], r["rung"]): r["kernels"] for r in ask(ledger, 4)}

    assert found == dict(wanted)


def test_chances_are_those_of_sessions_counted_by_hand(
    ledger: duckdb.DuckDBPyConnection,
) -> None:
    best = reached(ledger)
    hidden = {k for (k,) in rows(ledger, "SELECT subject FROM marks WHERE verdict = 'hidden'")}
    held = {
        kernel
        for (kernel,) in rows(
            ledger, "SELECT kernel_id FROM verdicts JOIN runs_started USING (run_id, kernel_id)"
            " WHERE holds AND field = 'suite'"
        )
    } - hidden  # fmt: skip
    sessions: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for kernel, agent, session, task, target in rows(
        ledger, "SELECT kernel_id, agent, session, task, target FROM kernels"
    ):
        sessions[agent, task, target][session].append(kernel)
    for row in ask(ledger, 3):
        own = sessions[row["agent"], row["task"], row["target"]].values()
        got = sum(
            any(k in held for k in kernels)
            if row["measure"] == "pass"
            else max(best[k] for k in kernels) >= 3
            for kernels in own
        )

        assert row["probability"] == pytest.approx(at_k(len(own), got, row["k"])), row


def test_hacks_are_counted_once_per_kernel(ledger: duckdb.DuckDBPyConnection) -> None:
    hacked = {
        kernel
        for (kernel,) in rows(
            ledger,
            "SELECT kernel_id FROM builds WHERE status = 'rejected' OR failure_kind = 'integrity'"
            " UNION ALL SELECT kernel_id FROM runs_finished WHERE status IN ('rejected', 'suspect')"
            " UNION ALL SELECT m.kernel_id FROM marks m SEMI JOIN runs_started USING (kernel_id)",
        )
    }
    per_agent: dict[str, list[bool]] = defaultdict(list)
    for kernel, agent in rows(ledger, "SELECT kernel_id, agent FROM kernels"):
        per_agent[agent].append(kernel in hacked)

    found = {r["agent"]: (r["kernels"], r["hacks"]) for r in ask(ledger, 10)}

    assert found == {agent: (len(own), sum(own)) for agent, own in per_agent.items()}
    assert sum(hacks for _, hacks in found.values()) > 0


def test_the_front_is_that_of_the_measure(ledger: duckdb.DuckDBPyConnection) -> None:
    trades = [
        Trade(ratio, score, kernel)
        for kernel, ratio, score in rows(
            ledger,
            "SELECT kernel_id, ratio, score FROM best_runs WHERE task = 'szp'"
            " AND target = 'numba' AND field = 'uk_theta' AND bound = 1e-3",
        )
    ]

    assert [r["kernel_id"] for r in ask(ledger, 14)] == [one.name for one in pareto(trades)]
    assert trades


def test_what_is_left_on_hidden_fields_is_of_kernels_tried_on_both(
    ledger: duckdb.DuckDBPyConnection,
) -> None:
    speeds: dict[tuple[str, bool], list[float]] = defaultdict(list)
    holds: dict[tuple[str, bool], bool] = {}
    for kernel, field, violations, gbps in rows(
        ledger, "SELECT kernel_id, field, violations, both_ways_gbps FROM runs"
        " WHERE field <> 'suite' AND violations IS NOT NULL"
    ):  # fmt: skip
        key = kernel, field.startswith("hidden")
        holds[key] = holds.get(key, True) and violations == 0
        if gbps is not None:
            speeds[key].append(gbps)
    kept: dict[str, list[bool]] = defaultdict(list)
    logs: dict[str, list[float]] = defaultdict(list)
    for kernel, agent in rows(ledger, "SELECT kernel_id, agent FROM kernels"):
        if holds.get((kernel, False)) and (kernel, True) in holds:
            kept[agent].append(holds[kernel, True])
            here, there = speeds[kernel, False], speeds[kernel, True]
            if here and there:
                logs[agent].append(math.log(statistics.fmean(there) / statistics.fmean(here)))

    found = ask(ledger, 16)

    assert {r["agent"]: r["kernels"] for r in found} == {a: len(v) for a, v in kept.items()}
    for row in found:
        assert row["held"] == pytest.approx(statistics.fmean(kept[row["agent"]]))
        wanted = math.exp(statistics.fmean(logs[row["agent"]]))
        assert row["speed_retained"] == pytest.approx(wanted)


def test_spending_adds_up_over_a_session(ledger: duckdb.DuckDBPyConnection) -> None:
    found = ask(ledger, 7)
    used = rows(
        ledger,
        "SELECT input_tokens + output_tokens, dollars, recorded_at FROM usage"
        " WHERE session = 's0' ORDER BY recorded_at",
    )

    assert found[-1]["tokens"] == sum(tokens for tokens, _, _ in used)
    assert found[-1]["dollars"] == pytest.approx(sum(dollars for _, dollars, _ in used))
    assert found[-1]["minutes"] == pytest.approx((used[-1][2] - used[0][2]).total_seconds() / 60)
    scores = [r["best_score"] for r in found if r["best_score"] is not None]
    assert scores == sorted(scores)
