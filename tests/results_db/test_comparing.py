"""Agents beside an author, under other conditions, against what they spent: from hand-made rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from kernels.records import Bound
from results_db.comparing import beside, economies, fronts, gains
from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.measures.budgets import Step, area_under
from results_db.rows import HostRow, SessionRow, UsageRow
from results_db.standings import Scope, scopes, worths
from tests.benchmarks.make_ledger import Size, make
from tests.results_db.records import call, kernel, record_ranked, run_result

FINE = Bound("rel", 1e-3, 0.5)
Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class Try:
    """One timed kernel."""

    agent: str
    session: str
    gbps: float
    stream_bytes: int = 1000
    field: str = "cesm"


TRIES = (
    Try("author", "a1", 2.0),
    Try("author", "a1", 4.0, field="nyx"),
    Try("swift", "s1", 1.0),
    Try("swift", "s1", 5.0),
    Try("swift", "s2", 2.5, 500),
    Try("slow", "w1", 0.5),
    Try("slow", "w1", 1.0, field="hacc"),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    home = tmp_path_factory.mktemp("told")
    ledger = Ledger(home, writer="test")
    ledger.host(HostRow("host-1"))
    for session, tier in (("s1", "user"), ("s2", "knowledgeable")):
        ledger.session(SessionRow(session, "swift", prompt_tier=tier))
    # All later than the report of tokens, a minute apart.
    begun = datetime.now(UTC) + timedelta(hours=1)
    for number, one in enumerate(TRIES, 1):
        made = kernel(f"k{number}", agent=one.agent, session=one.session)
        result = run_result(
            one.gbps, field=one.field, stream_bytes=one.stream_bytes, golden_bytes=1000
        )
        record_ranked(ledger, made, result, number)
        ledger.call(
            call(
                f"c{number}",
                agent=one.agent,
                session=one.session,
                attempt=number,
                started_at=begun + timedelta(minutes=number),
            )
        )
    for session in ("s1", "s2"):
        tokens = {"s1": 400, "s2": 900}[session]
        ledger.usage(UsageRow(session, "swift", 1, tokens, 100, "test", dollars=0.5))
    drain(home)
    ledger.close()
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    home = tmp_path_factory.mktemp("made")
    make(home, Size(6_000, repetitions=2, seed=5))
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        yield connection


def only(connection: Connection) -> Scope:
    (scope,) = scopes(connection)
    return scope


def test_an_agent_beside_an_author_keeps_what_it_did_not_solve(told: Connection) -> None:
    found = {row.agent: row for row in beside(told, only(told), "author")}

    swift, slow, author = found["swift"], found["slow"], found["author"]
    assert (swift.conditions, swift.solved) == (3, 1)
    assert swift.fast == {0.0: 0.5, 0.5: 0.5, 1.0: 0.5, 2.0: 0.5}
    assert swift.ratio == pytest.approx(5 / 2)
    assert swift.wins == pytest.approx(1 / 3)
    # What the author did not solve is won by solving it.
    assert slow.wins == pytest.approx(1 / 3)
    assert (slow.fast[0.0], slow.fast[0.5]) == (0.5, 0.0)
    assert author.fast[1.0] == 0.0
    assert author.sol == pytest.approx(0.5)


def test_the_limit_is_the_speed_of_memcpy(told: Connection) -> None:
    found = {row.agent: row for row in beside(told, only(told), "author")}

    assert found["swift"].limit == pytest.approx((5 / 10 + 0 + 0) / 3)
    wanted = 1 / (1 + (1 / 5 - 1 / 10) / (1 / 2 - 1 / 10))
    assert found["swift"].sol == pytest.approx((wanted + 0) / 2)


def test_an_author_without_speed_can_t_be_compared_with(told: Connection) -> None:
    with pytest.raises(ValueError, match="nobody"):
        beside(told, only(told), "nobody")


def test_a_front_covers_ratio_and_speed_above_a_thousandth_of_memcpy(told: Connection) -> None:
    found = [one for one in fronts(told, only(told)) if one.agent == "swift"]

    # Ratio 4 at 5 GB/s, ratio 8 at 2.5; the slowest link has 0.01 GB/s.
    assert [one.kernels for one in found] == [2]
    wanted = 2 * math.log2(5 / 0.01) + 1 * math.log2(2.5 / 0.01)
    assert found[0].volume == pytest.approx(wanted)


def test_a_gain_is_between_sessions_with_less_help_and_more(told: Connection) -> None:
    (found,) = gains(told, only(told))

    assert (found.agent, found.factor, found.before, found.after) == (
        "swift", "prompt_tier", "user", "knowledgeable",
    )  # fmt: skip
    # Of three fields it has cesm alone, where 5 GB/s are best.
    assert (found.conditions, found.sessions) == (3, 1)
    assert found.gain == pytest.approx((0.5 - 1.0) / 3)


def test_tokens_and_dollars_are_of_those_that_report_them(told: Connection) -> None:
    found = {(one.agent, one.spent): one for one in economies(told, only(told))}

    assert {agent for agent, spent in found if spent == "calls"} == {"author", "swift", "slow"}
    assert {key for key in found if key[1] in ("tokens", "dollars")} == {
        ("swift", "tokens"), ("swift", "dollars"),
    }  # fmt: skip
    assert found["swift", "calls"].budget == 7
    # s1 has 1.0 of cesm after 500 of 1000 tokens, s2 0.5 after all: of three fields one.
    assert found["swift", "tokens"].budget == 1000
    assert found["swift", "tokens"].area == pytest.approx((0.5 * 1.0 + 0) / 2 / 3)


def test_areas_are_those_of_the_curves(made: Connection) -> None:
    scope = scopes(made)[0]
    score: dict[tuple[str, str, str], list[Step]] = {}
    top: dict[str, float] = {}
    for agent, session, attempt, value, *key in made.execute(
        "SELECT agent, session, attempt, score, task, target, execution, host, threads, field,"
        " mode, bound FROM scored_runs WHERE execution = 'hardware' AND ineligible_because IS NULL"
    ).fetchall():
        where = " ".join(map(str, key))
        top[where] = max(top.get(where, 0.0), value)
        score.setdefault((agent, session, where), []).append(Step(attempt, value))
    found = {one.agent: one for one in economies(made, scope) if one.spent == "calls"}
    areas: dict[str, dict[str, list[float]]] = {}
    for one in worths(made, scope):
        steps = score.get((one.agent, one.session, one.conditions), [])
        area = area_under(steps, found[one.agent].budget) / top.get(one.conditions, 1.0)
        areas.setdefault(one.agent, {}).setdefault(one.conditions, []).append(area)

    for agent, outcomes in areas.items():
        wanted = sum(sum(own) / len(own) for own in outcomes.values()) / len(outcomes)
        assert found[agent].area == pytest.approx(wanted)
        assert found[agent].low <= found[agent].area <= found[agent].high
    assert len(areas) > 3


def test_executions_never_mix(made: Connection) -> None:
    for scope in scopes(made):
        volumes, areas = fronts(made, scope), economies(made, scope)
        assert bool(volumes) == (scope.execution == "hardware")
        assert areas
    with pytest.raises(ValueError, match="no speed"):
        beside(made, Scope("emulated"), "opus")
