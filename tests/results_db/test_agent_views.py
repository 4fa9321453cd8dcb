"""Views about agents against numbers taken from the rows alone, on a ledger that was made up."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from results_db.ledger import Ledger
from results_db.measures.chances import at_k
from results_db.rows import HostRow, MarkRow
from tests.benchmarks.make_ledger import Size, make
from tests.results_db.records import drained, kernel, read, record_ranked, run_result

Connection = duckdb.DuckDBPyConnection
RUNGS = (
    "received", "parsed", "compiled", "loads", "terminates", "roundtrips", "bound_ok", "timed",
)  # fmt: skip
LEAST = {"build": 3, "run": 5, "bound": 7}
SESSION = "agent, session, task, target"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    home = tmp_path_factory.mktemp("made")
    make(home, Size(5_000, repetitions=2, seed=11))
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        yield connection


def rungs(made: Connection) -> dict[str, int]:
    """kernel_id → the highest rung over its builds and runs."""
    found = {
        kernel_id: 1 for (kernel_id,) in made.execute("SELECT kernel_id FROM kernels").fetchall()
    }
    for table in ("builds", "runs_finished"):
        for kernel_id, status, stage in made.execute(
            f"SELECT kernel_id, status, stage FROM {table}"
        ).fetchall():
            if status in RUNGS:
                reached = RUNGS.index(status) + 1
            else:
                reached = RUNGS.index(stage) if stage in RUNGS else 0
            found[kernel_id] = max(found[kernel_id], reached)
    return found


def held(made: Connection) -> set[str]:
    hidden = {kernel_id for (kernel_id,) in made.execute("SELECT kernel_id FROM marks").fetchall()}
    verified = made.execute(
        "SELECT kernel_id FROM verdicts JOIN runs_started USING (run_id, kernel_id)"
        " WHERE holds AND field = 'suite'"
    ).fetchall()
    return {kernel_id for (kernel_id,) in verified} - hidden


def test_a_session_got_as_far_as_the_best_of_its_kernels(made: Connection) -> None:
    reached, verified = rungs(made), held(made)
    kernels: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for kernel_id, attempt, *key in made.execute(
        f"SELECT kernel_id, attempt, {SESSION} FROM kernels"
    ).fetchall():
        kernels[tuple(key)].append((kernel_id, attempt))

    def first(own: list[tuple[str, int]], least: int) -> int | None:
        return min((attempt for one, attempt in own if reached[one] >= least), default=None)

    wanted = {
        key: (
            len(own),
            max(reached[one] for one, _ in own),
            any(one in verified for one, _ in own),
            first(own, 3),
            first(own, 5),
            min((attempt for one, attempt in own if one in verified), default=None),
        )
        for key, own in kernels.items()
    }
    found = {
        tuple(row[:4]): tuple(row[4:])
        for row in made.execute(
            f"SELECT {SESSION}, kernels, rung_number, passed, first_compiled, first_runnable,"
            " first_verified FROM session_progress"
        ).fetchall()
    }

    assert found == wanted
    assert len({row[2] for row in wanted.values()}) == 2


def test_chances_are_those_of_sessions_for_every_rung(made: Connection) -> None:
    reached, verified = rungs(made), held(made)
    sessions: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for kernel_id, agent, session, task, target in made.execute(
        f"SELECT kernel_id, {SESSION} FROM kernels"
    ).fetchall():
        sessions[agent, task, target][session].append(kernel_id)
    found = made.execute(
        "SELECT agent, task, target, measure, k, probability FROM rungs_at_k"
    ).fetchall()

    for *key, measure, k, probability in found:
        own = sessions[key[0], key[1], key[2]].values()
        got = sum(
            any(one in verified for one in kernels)
            if measure == "pass"
            else max(reached[one] for one in kernels) >= LEAST[measure]
            for kernels in own
        )
        assert probability == pytest.approx(at_k(len(own), got, k)), (key, measure, k)
    assert Counter(row[3] for row in found).keys() == {"build", "run", "bound", "pass"}


def test_advice_is_counted_by_its_rule(made: Connection) -> None:
    given: Counter[tuple[str, str, str]] = Counter()
    of = {
        kernel_id: (agent, target)
        for kernel_id, agent, target in made.execute(
            "SELECT kernel_id, agent, target FROM kernels"
        ).fetchall()
    }
    for kernel_id, guidance in made.execute(
        "SELECT kernel_id, guidance FROM builds WHERE guidance IS NOT NULL"
    ).fetchall():
        for advice in json.loads(guidance):
            given[(*of[kernel_id], advice["rule"])] += 1
    found = made.execute(
        "SELECT agent, target, rule, sum(given)::INT FROM failure_rules GROUP BY ALL"
    ).fetchall()

    assert {(agent, target, rule): count for agent, target, rule, count in found} == dict(given)
    assert given


def test_a_session_whose_calls_have_no_number_may_have_passed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, writer="test")
    ledger.host(HostRow("host-1"))
    record_ranked(ledger, kernel("k1", agent="ada"), run_result(2.0))
    query = "SELECT agent, passed, first_verified FROM session_progress"

    assert drained(tmp_path, query) == [("ada", True, None)]

    ledger.mark(MarkRow("agent", "ada", "hidden", "a reason", "operator"))
    assert drained(tmp_path, query) == []
    assert read(tmp_path, "SELECT hacks, hidden FROM hack_rate") == [(1, 1)]
    ledger.close()
