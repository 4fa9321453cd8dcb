"""A bench from its first row to its last, with a fake pipeline behind a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from results_db import drain, queries
from results_db.encoding import Json
from sz_mcp.bench import records, world
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.records import Before, Event, Spent, read_before
from sz_mcp.bench.runner import Bench, Outcome, Parts, only_one
from sz_mcp.bench.spec import Spec
from sz_mcp.bench.world import World
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.tokens import read_tokens
from tests.sz_mcp.bench.specs import NAMES, SMALL, spec
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.over_http import http_app_of, served

WORLD = World(NAMES, {"cuda:sm_90": "no GPU; install one"})


@dataclass
class Watch:
    """Remembers what it was told."""

    ends: list[tuple[str, Event, str]] = field(default_factory=list)
    dies_after: int = 10_000
    """Ended cells after which the bench is cut short, as by a kill."""

    def started(self, cell: Cell) -> None: ...

    def told(self, cell: Cell, what: str) -> None: ...

    def looked(self) -> None: ...

    def ended(self, cell: Cell, event: Event, reason: str, _spent: Spent | None) -> None:
        self.ends.append((cell.cell_id, event, reason))


@dataclass(frozen=True)
class FakeServer:
    """A server that may be said to have ended."""

    url: str
    gone: asyncio.Event

    def check(self) -> None:
        if self.gone.is_set():
            raise StepFailed("the server ended")


@asynccontextmanager
async def fake(home: Path, tokens: Path, _folder: Path) -> AsyncIterator[FakeServer]:
    pipeline = FakePipeline()
    known = read_tokens(tokens)
    app = http_app_of(home, pipeline, known)
    try:
        async with served(app, known) as url:
            yield FakeServer(url, asyncio.Event())
    finally:
        pipeline.release.set()
        app.close()


def run(
    home: Path, asked: Spec, watch: Watch | None = None, before: Before | None = None
) -> Outcome:
    """One start of a bench."""
    plan = world.plan(asked, WORLD)
    before = before or Before()
    todo = tuple(cell for cell in plan.cells if cell.cell_id not in before.ended)
    bench = Bench(plan, home, before, watch or Watch(), Parts(fake))
    return asyncio.run(bench.run(todo))


def rows(home: Path, statement: str) -> list[list[Json]]:
    return [list(row) for row in queries.query(home, statement).rows]


def folder(path: Path, source: str) -> str:
    path.mkdir()
    (path / "kernel.py").write_text(source)
    return str(path)


def test_every_cell_is_begun_and_ended_once(tmp_path: Path) -> None:
    outcome = run(tmp_path, spec(SMALL))
    assert outcome.events == {"stopped": 4}
    assert outcome.spent.calls == 16
    events = rows(
        tmp_path,
        "SELECT cell_id, count(*) FILTER (event = 'started'), "
        "count(*) FILTER (event <> 'started'), count(DISTINCT session) "
        "FROM bench_cells GROUP BY ALL",
    )
    assert len(events) == 4
    assert all(row[1:] == [1, 1, 1] for row in events)
    ((cells, name),) = rows(tmp_path, "SELECT cells, name FROM benches")
    assert (cells, name) == (4, "small")


@pytest.mark.slow
def test_a_session_carries_who_works_in_it(tmp_path: Path) -> None:
    asked = spec(SMALL)
    run(tmp_path, asked)
    found = rows(
        tmp_path,
        "SELECT s.session, s.agent, s.budget_attempts, s.budget_seconds, count(*) "
        "FROM sessions s JOIN bench_cells b USING (session) JOIN kernels k USING (session) "
        "WHERE b.event = 'started' AND b.agent = s.agent AND k.agent = s.agent GROUP BY ALL",
    )
    assert len(found) == 4
    assert {tuple(row[2:4]) for row in found} == {(4, 120.0)}
    assert all(str(row[0]).startswith(f"{asked.bench_id}/") for row in found)


@pytest.mark.slow
def test_no_token_is_good_after_its_cell(tmp_path: Path) -> None:
    asked = spec(SMALL)
    run(tmp_path, asked)
    left = read_tokens(tmp_path / "bench" / asked.bench_id / "tokens.toml")
    assert list(left) == ["bench"]


@pytest.mark.slow
def test_an_ended_bench_has_nothing_to_do(tmp_path: Path) -> None:
    asked = spec(SMALL)
    run(tmp_path, asked)
    before = read_before(tmp_path, asked.bench_id)
    assert set(before.ended.values()) == {"stopped"}
    assert before.spent.calls == 16
    outcome = run(tmp_path, asked, before=before)
    assert outcome.events == {}
    assert outcome.spent == before.spent


class Killed(BaseException):
    """Ends a bench as a kill would: nothing more is written."""


@dataclass
class Dying(Watch):
    """Kills the bench when so many cells have begun."""

    begun: int = 0

    def started(self, _cell: Cell) -> None:
        self.begun += 1
        if self.begun > self.dies_after:
            raise Killed


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_bench_cut_short_goes_on_where_it_was(tmp_path: Path, after: int) -> None:
    asked = spec(SMALL)
    with pytest.raises(BaseExceptionGroup):
        run(tmp_path, asked, Dying(dies_after=after))
    before = read_before(tmp_path, asked.bench_id)
    assert len(before.ended) == after
    assert len(before.starts) == after + 1
    run(tmp_path, asked, before=before)
    counted = rows(
        tmp_path,
        "SELECT count(*) FILTER (event = 'started'), count(*) FILTER (event = 'stopped'), "
        "count(DISTINCT cell_id) FROM bench_cells",
    )
    assert counted == [[5, 4, 4]]
    again = rows(tmp_path, "SELECT DISTINCT session FROM bench_cells WHERE session LIKE '%+2'")
    assert len(again) == 1


def test_what_fails_is_recorded_and_given_up(tmp_path: Path) -> None:
    absent = "lost: {kind: command, command: [no-such-agent]}"
    text = SMALL.replace("random: {kind: search, method: random}", absent)
    watch = Watch()
    more = "repeats: 4\ngive_up: 2\nparallel: {waiting: 1}"
    outcome = run(tmp_path, spec(text.replace("repeats: 2", more)), watch)
    assert outcome.events == {"failed": 2, "stopped": 4, "skipped": 2}
    reasons = {reason for _, event, reason in watch.ends if event == "skipped"}
    assert {r.partition(":")[0] for r in reasons} == {"given up"}
    assert "lost failed 2 times in a row: no-such-agent ended with status 127" in reasons.pop()


@pytest.mark.slow
def test_what_cannot_be_is_skipped_with_the_reason(tmp_path: Path) -> None:
    text = SMALL.replace("[numba]", '[numba, "cuda:sm_90"]').replace("repeats: 2", "repeats: 1")
    watch = Watch()
    run(tmp_path, spec(text), watch)
    skipped = [reason for _, event, reason in watch.ends if event == "skipped"]
    assert skipped == ["cuda:sm_90 can't run here: no GPU; install one"] * 2


@pytest.mark.slow
def test_the_budget_of_all_ends_the_bench(tmp_path: Path) -> None:
    watch = Watch()
    outcome = run(tmp_path, spec(SMALL + "  total: {calls: 6}\n"), watch)
    assert outcome.left > 0
    assert outcome.why_left == "budget: 6 calls on kernels"
    assert outcome.left + sum(outcome.events.values()) == 4


@pytest.mark.slow
def test_more_of_all_lets_the_same_bench_go_on(tmp_path: Path) -> None:
    short, long = (spec(SMALL + f"  total: {{calls: {most}}}\n") for most in (6, 1000))
    run(tmp_path, short)
    before = read_before(tmp_path, long.bench_id)
    outcome = run(tmp_path, long, before=before)
    assert outcome.left == 0
    assert len(before.ended) + sum(outcome.events.values()) == 4


SLOW = """\
name: slow
agents:
  slow: {kind: replay, folders: [%s]}
tasks: [lorenzo-1d]
targets: [numba]
fields: [na_temperature]
repeats: 1
budget:
  cell: {minutes: 0.02}
"""


def test_a_cell_ends_when_its_time_is_over(tmp_path: Path) -> None:
    source = folder(tmp_path / "slow", "SLOW = 1\n")
    watch = Watch()
    run(tmp_path / "home", spec(SLOW % source), watch)
    ((_, event, reason),) = watch.ends
    assert (event, reason) == ("stopped", "budget: 0.02 minutes")
    statement = "SELECT outcome, status FROM calls WHERE tool = 'compile_kernel'"
    assert rows(tmp_path / "home", statement)[0][0] in ("cancelled", "ok")


def test_a_plateau_ends_a_cell(tmp_path: Path) -> None:
    # All of the fake's runs score the same; what is slow then gives the bench time to see it.
    good, slow = (folder(tmp_path / name, f"{name} = 1\n") for name in ("GOOD", "SLOW"))
    text = (SLOW % ", ".join([good, good, good, slow])).replace("minutes: 0.02", "minutes: 5")
    watch = Watch()
    run(tmp_path / "home", spec(f"{text}plateau: {{calls: 4, gain: 0.01}}\n"), watch)
    ((_, event, reason),) = watch.ends
    assert event == "stopped"
    assert reason.startswith("plateau: nothing better by 1% in 6 calls since call 3")


@pytest.mark.slow
def test_a_server_that_ends_ends_the_bench_but_no_cell(tmp_path: Path) -> None:
    @asynccontextmanager
    async def ending(home: Path, tokens: Path, place: Path) -> AsyncIterator[FakeServer]:
        async with fake(home, tokens, place) as server:
            server.gone.set()
            yield server

    source = folder(tmp_path / "slow", "SLOW = 1\n")
    asked = spec((SLOW % source).replace("minutes: 0.02", "minutes: 5"))
    plan, watch = world.plan(asked, WORLD), Watch()
    bench = Bench(plan, tmp_path / "home", Before(), watch, Parts(ending))
    with pytest.raises(BaseExceptionGroup) as raised:
        asyncio.run(bench.run(plan.cells))
    assert raised.group_contains(StepFailed, match="the server ended")
    assert watch.ends == []


def test_two_processes_do_not_run_the_same_bench(tmp_path: Path) -> None:
    first, second = only_one(tmp_path, "small-1"), only_one(tmp_path, "small-1")
    with first, pytest.raises(SettingsError, match="already"), second:
        pass
    with only_one(tmp_path, "small-1"):
        pass


@pytest.mark.slow
def test_what_it_takes_to_repeat_a_bench_is_recorded(tmp_path: Path) -> None:
    run(tmp_path, spec(SMALL))
    drain.drain(tmp_path)
    found: Mapping[str, str] = records.versions()
    assert {"sz-mcp", "python", "numba", "prompt task.md"} <= set(found)
    ((wanted,),) = rows(tmp_path, "SELECT json_extract_string(versions, '$.numba') FROM benches")
    assert wanted == found["numba"]
    ((agents,),) = rows(tmp_path, "SELECT json_keys(spec, '$.agents') FROM benches")
    assert agents == ["random", "worked"]
