"""Agents over all that they tried, against numbers taken from the rows alone."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kernels.records import Build, Failure, FailureKind, Status
from results_db.ledger import Ledger
from results_db.measures.uncertainty import TOO_FEW
from results_db.rows import BenchCellRow, HostRow, UsageRow
from results_db.standings import Scope, agents, scopes
from tests.benchmarks.make_ledger import Size, make
from tests.results_db.records import (
    broken_verdict,
    drained,
    kernel,
    record_ranked,
    record_verdict,
    run_result,
)

REFUSED = Failure(Status.REJECTED, Status.PARSED, FailureKind.INTEGRITY, "reads the clock")
Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    home = tmp_path_factory.mktemp("made")
    make(home, Size(12_000, repetitions=2, seed=3))
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        yield connection


def test_executions_and_machines_never_mix(made: Connection) -> None:
    found = scopes(made)

    assert [one.execution for one in found] == ["hardware", "simulated", "emulated"]
    assert [bool(one.host) for one in found] == [True, False, False]


def test_worth_is_the_mean_over_conditions_of_the_mean_over_sessions(made: Connection) -> None:
    scope = scopes(made)[0]
    best: dict[tuple[object, ...], float] = {}
    own: dict[tuple[object, ...], float] = {}
    conditions: dict[tuple[str, str], set[tuple[object, ...]]] = defaultdict(set)
    for *key, agent, session, score, why in made.execute(
        "SELECT task, target, threads, field, mode, bound, agent, session, score,"
        " ineligible_because FROM scored_runs WHERE execution = 'hardware'"
    ).fetchall():
        conditions[key[0], key[1]].add(tuple(key))
        if why is None:
            best[tuple(key)] = max(best.get(tuple(key), 0), score)
            own[(*key, agent, session)] = max(own.get((*key, agent, session), 0), score)
    tried: dict[str, dict[tuple[object, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for agent, session, task, target in made.execute(
        "SELECT DISTINCT agent, session, task, target FROM kernels"
    ).fetchall():
        for one in conditions[task, target]:
            tried[agent][one].append(own.get((*one, agent, session), 0) / best.get(one, 1))
    everything = {one for per in tried.values() for one in per}
    wanted = {
        agent: sum(statistics.fmean(values) for values in per.values()) / len(everything)
        for agent, per in tried.items()
        if per
    }

    found = {row.standing.agent: row for row in agents(made, scope)}

    assert {agent: row.standing.mean for agent, row in found.items()} == pytest.approx(wanted)
    assert len(found) == 12
    for row in found.values():
        assert row.standing.low <= row.standing.mean <= row.standing.high


def one_agent(ledger: Ledger, agent: str, gbps: float, sessions: int = 5) -> None:
    for number in range(sessions):
        session = f"b/{agent}-{number}"
        made = kernel(f"k-{agent}-{number}", agent=agent, session=session)
        record_ranked(ledger, made, run_result(gbps * (1 + 0.01 * number)), 1)
        ledger.usage(UsageRow(session, agent, 1, 900, 100, "endpoint", dollars=0.5))
        ledger.bench_cell(
            BenchCellRow("b", session[2:], session, agent, "search", "szp", "numba", "finished")
        )


def test_a_cheat_ends_last_with_its_cheats_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, writer="test")
    ledger.host(HostRow("host-1"))
    one_agent(ledger, "slow", 1.0)
    one_agent(ledger, "fast", 4.0)
    one_agent(ledger, "new", 9.0, sessions=2)
    for number in range(5):
        made = kernel(f"k-cheat-{number}", agent="cheat", session=f"b/cheat-{number}")
        ledger.kernel(made, f"call-{number}")
        ledger.build(
            f"call-{number}", made.kernel_id, Build(REFUSED.status, REFUSED.stage, 0.1, REFUSED)
        )
        record_verdict(ledger, f"v-cheat-{number}", made.kernel_id, broken_verdict())
    drained(tmp_path, "SELECT 1")

    with duckdb.connect(str(tmp_path / "ledger-read.duckdb"), read_only=True) as connection:
        (scope,) = scopes(connection)
        found = agents(connection, scope)
        within = agents(connection, Scope(scope.execution, scope.host, "b"))
        elsewhere = agents(connection, Scope(scope.execution, scope.host, "other"))

    assert [row.standing.agent for row in found] == ["fast", "slow", "cheat", "new"]
    cheat, new = found[2], found[3]
    assert (cheat.standing.mean, cheat.hacks.count, cheat.kernels) == (0, 5, 5)
    assert cheat.standing.rank == 3
    assert cheat.passed.count == 0
    assert new.standing.verdict == TOO_FEW
    assert [row.tokens for row in found] == [5000, 5000, 0, 2000]
    assert found[0].dollars == pytest.approx(2.5)
    assert [row.standing.agent for row in within] == ["fast", "slow", "new"]
    assert elsewhere == ()
    ledger.close()


def test_a_cell_that_was_begun_anew_counts_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, writer="test")
    ledger.host(HostRow("host-1"))
    one_agent(ledger, "calm", 2.0)
    for number, again in ((n, a) for n in range(5) for a in ("", "+2")):
        session = f"b/killed-{number}{again}"
        ledger.bench_cell(
            BenchCellRow(
                "b", f"killed-{number}", session, "killed", "search", "szp", "numba", "started"
            )
        )
        made = kernel(f"k-killed-{number}-{len(again)}", agent="killed", session=session)
        if again:
            record_ranked(ledger, made, run_result(2.0), 1)
        else:
            ledger.kernel(made, f"call-{session}")
    drained(tmp_path, "SELECT 1")

    with duckdb.connect(str(tmp_path / "ledger-read.duckdb"), read_only=True) as connection:
        (scope,) = scopes(connection)
        found = {row.standing.agent: row for row in agents(connection, scope)}

    assert found["killed"].standing.sessions == 5
    assert found["killed"].passed.of == 5
    assert found["killed"].standing.mean == pytest.approx(2.0 / 2.08)
    ledger.close()
