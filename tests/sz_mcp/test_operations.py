"""What a server does beside evaluating: it ends runs, compares, refuses, counts and settles."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kernels.bounds import BoundError
from kernels.records import Build, Kernel, Status, Submission, Verdict
from results_db.attempts import Attempts
from results_db.errors import JournalError
from results_db.prune import Wish, prune
from results_db.queries import query
from sz_mcp import cancelling, quota
from sz_mcp.answers import running_reply
from sz_mcp.app import App
from sz_mcp.calls import Caller, Sessions
from sz_mcp.engine import Outcome
from sz_mcp.jobs import Job
from sz_mcp.pipeline import Request, Watch
from sz_mcp.quota import DiskQuota
from sz_mcp.server import create_server
from sz_mcp.settings import Budgets, Settings
from sz_mcp.tokens import Token, digest_of
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio
WAIT_S = 20


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in query(home, sql).rows]


@pytest.fixture
def hasty(tmp_path: Path, pipeline: FakePipeline) -> Iterator[App]:
    """Answers `running` almost at once."""
    app = make_app(tmp_path, pipeline, answer_s=0.05)
    yield app
    pipeline.release.set()
    app.close()


async def running(client: Client, pipeline: FakePipeline) -> str:
    """run_id of a run that goes on until it is cancelled."""
    told = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW)
    while told.data["status"] == "running":
        told = await call(client, "get_result", run_id=told.data["run_id"], cancel=True, wait_s=5)
    pipeline.cancelled.clear()
    told = await call(client, "verify_bounds", kernel_id=told.data["kernel_id"])
    assert told.data["status"] == "running"
    return str(told.data["run_id"])


async def test_an_agent_ends_its_own_run_and_is_told_how_it_ended(
    hasty: App, tmp_path: Path, pipeline: FakePipeline
) -> None:
    async with Client(create_server(hasty)) as client:
        run_id = await running(client, pipeline)

        told = await call(client, "get_result", run_id=run_id, cancel=True)
        while told.data["status"] == "running":
            told = await call(client, "get_result", run_id=run_id)

    assert told.data["status"] == "error"
    assert pipeline.cancelled.is_set()
    found = rows(tmp_path, f"SELECT status, failure_kind FROM runs WHERE run_id = '{run_id}'")
    assert found == [("error", "cancelled")]


async def test_an_agent_cannot_end_the_run_of_another_session(hasty: App) -> None:
    job: Job[Outcome] = Job("r_other", "profile", "k_1", session="somebody else's")
    outcome = Outcome(lambda _: running_reply("k_1", "r_other", 1.0, ""))
    hasty.jobs.start(job, lambda _: outcome)

    async with Client(create_server(hasty)) as client:
        told = await call(client, "get_result", run_id="r_other", cancel=True)

    assert told.error
    assert "r_other is a run of another session" in told.text
    assert not job.cancellation.cancelled


async def test_another_process_ends_a_run_by_a_file_that_the_server_takes(
    hasty: App, tmp_path: Path, pipeline: FakePipeline
) -> None:
    async with Client(create_server(hasty)) as client:
        run_id = await running(client, pipeline)
        cancelling.ask(tmp_path, "r_of_another_server")
        cancelling.ask(tmp_path, run_id)

        hasty.upkeep.look()

        assert await asyncio.to_thread(pipeline.cancelled.wait, WAIT_S)
    assert cancelling.asked(tmp_path) == ["r_of_another_server"]


def test_a_wish_that_nobody_takes_is_forgotten(tmp_path: Path) -> None:
    cancelling.ask(tmp_path, "r_1")
    os.utime(tmp_path / "cancel" / "r_1", (0, 0))

    assert cancelling.asked(tmp_path) == []
    assert not cancelling.withdraw(tmp_path, "r_1")


async def test_two_kernels_are_compared_and_the_ledger_has_the_comparison(
    client: Client, app: App, tmp_path: Path
) -> None:
    async with client:
        one, other = await compiled(client), await compiled(client)
        told = await call(client, "run_compress", kernel_id=one, field="uk_theta", against=other)

    assert told.data["against"] == other
    (compared,) = told.data["compared"]
    assert (compared["direction"], compared["verdict"], compared["pairs"]) == (
        "compress", "faster", 7
    )  # fmt: skip
    assert compared["low"] <= compared["speedup"] <= compared["high"]
    assert f"2 times as fast as {other}" in told.text
    assert rows(tmp_path, "SELECT kernel_id, against, verdict, pairs FROM comparisons") == [
        (one, other, "faster", 7)
    ]
    assert rows(tmp_path, "SELECT against, repeats, threads FROM runs") == [(other, 7, 1)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"against": "k_none"}, "against: no kernel 'k_none' here"),
        ({"repeats": 5}, "against: a comparison needs repeats of at least 6"),
    ],
)
async def test_a_comparison_that_can_say_nothing_is_refused(
    client: Client, app: App, changes: dict[str, object], complaint: str
) -> None:
    async with client:
        one = await compiled(client)
        wish = {"kernel_id": one, "field": "uk_theta", "against": one, **changes}
        told = await call(client, "run_compress", **wish)

    assert told.error
    assert complaint in told.text


async def test_kernels_of_different_tasks_are_not_compared(client: Client, app: App) -> None:
    async with client:
        one = await compiled(client)
        sent = await call(
            client, "compile_kernel", task="sz-open", target="numba", files=fakes.GOOD
        )
        other = sent.data["kernel_id"]
        told = await call(client, "run_compress", kernel_id=one, field="uk_theta", against=other)

    assert told.error
    assert f"{other} is a kernel for sz-open on numba, not for szp on numba" in told.text


class Failing(FakePipeline):
    """Verifies nothing: raises."""

    error: Exception = RuntimeError("secret detail")

    def verify(self, _kernel: Kernel, _request: Request, _watch: Watch) -> Verdict:
        raise self.error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (RuntimeError("secret detail"), "internal", "the server failed (RuntimeError)"),
        (BoundError("no range"), "argument", "no range"),
    ],
)
async def test_a_run_that_raised_has_ended_and_says_why(
    tmp_path: Path, error: Exception, kind: str, message: str
) -> None:
    pipeline = Failing()
    pipeline.error = error
    app = make_app(tmp_path, pipeline)
    try:
        async with Client(create_server(app)) as client:
            kernel_id = await compiled(client)
            told = await call(client, "verify_bounds", kernel_id=kernel_id)
        found = rows(tmp_path, "SELECT status, failure_kind, failure_message FROM runs")
    finally:
        app.close()

    assert told.error
    assert "secret" not in told.text
    assert found == [("error", kind, message)]


async def test_a_full_home_evaluates_nothing_more_but_can_be_read(tmp_path: Path) -> None:
    pipeline = FakePipeline()
    app = make_app(tmp_path, pipeline)
    try:
        async with Client(create_server(app)) as client:
            kernel_id = await compiled(client)
            app.quota = DiskQuota(tmp_path, 1)
            sent = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.GOOD
            )
            run = await call(client, "run_compress", kernel_id=kernel_id, field="uk_theta")
            asked = await call(client, "query_results", sql="SELECT count(*) FROM kernels")
    finally:
        app.close()

    assert sent.error
    assert run.error
    assert "sz-mcp ledger prune --older-than 30d" in sent.text
    assert asked.data["rows"] == [[1]]
    assert pipeline.requests == []


def test_a_quota_warns_above_nine_tenths_and_refuses_above_all(tmp_path: Path) -> None:
    (tmp_path / "ledger.duckdb").write_bytes(b"x" * 950)

    assert DiskQuota(tmp_path, 0).refusal() is None
    assert DiskQuota(tmp_path, 0).warning() is None
    assert DiskQuota(tmp_path, 2000).warning() is None
    assert DiskQuota(tmp_path, 1000).refusal() is None
    assert "disk_quota_bytes" in (DiskQuota(tmp_path, 1000).warning() or "")
    assert "nothing more is evaluated" in (DiskQuota(tmp_path, 900).refusal() or "")


def test_room_that_was_made_counts_at_once(tmp_path: Path) -> None:
    (tmp_path / "ledger.duckdb").write_bytes(b"x" * 950)
    full = DiskQuota(tmp_path, 900)
    refused = full.refusal()

    (tmp_path / "ledger.duckdb").unlink()

    assert refused is not None
    assert full.refusal() is None


def test_a_home_is_not_looked_at_before_every_call(tmp_path: Path) -> None:
    room = DiskQuota(tmp_path, 900)
    assert room.refusal() is None

    (tmp_path / "ledger.duckdb").write_bytes(b"x" * 950)

    assert quota.LOOK_S > 1
    assert room.refusal() is None


async def test_a_server_that_settles_lets_what_runs_end_and_takes_nothing_new(
    hasty: App, tmp_path: Path, pipeline: FakePipeline
) -> None:
    async with Client(create_server(hasty)) as client:
        kernel_id = await compiled(client)
        run_id = await running(client, pipeline)
        settling = asyncio.create_task(hasty.settle())
        while not hasty.stopping:
            await asyncio.sleep(0)
        refused = await call(client, "verify_bounds", kernel_id=kernel_id)
        pipeline.release.set()
        await asyncio.wait_for(settling, WAIT_S)

    assert refused.error
    assert "shutting down" in refused.text
    assert not pipeline.cancelled.is_set()
    found = rows(tmp_path, f"SELECT status FROM runs WHERE run_id = '{run_id}'")
    assert found == [("bound_ok",)]


async def test_what_runs_longer_than_a_server_may_settle_is_cancelled(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.05)
    app.settings = replace(app.settings, budgets=Budgets(answer_s=0.05, shutdown_s=0.01))
    try:
        async with Client(create_server(app)) as client:
            run_id = await running(client, pipeline)
            await asyncio.wait_for(app.settle(), WAIT_S)
    finally:
        app.close()

    found = rows(tmp_path, f"SELECT failure_kind FROM runs WHERE run_id = '{run_id}'")
    assert found == [("cancelled",)]


def test_attempts_of_a_named_session_are_counted_by_all_servers_of_a_home(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as executor:
        counted = list(executor.map(lambda _: Attempts(tmp_path).next("ada"), range(100)))

    assert sorted(counted) == list(range(1, 101))
    assert Attempts(tmp_path).next("bob/../é\ud800") == 1
    assert Attempts(tmp_path).next("ada") == 101


def test_a_tokens_session_goes_on_counting_in_the_next_server(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    tokens = {
        "ada": Token(sha256=digest_of("0123456789abcdef"), agent="a"),
        "bob": Token(sha256=digest_of("fedcba9876543210"), agent="b", session="trial-1"),
    }

    first, second = (Sessions(settings, "http", tokens) for _ in range(2))
    named = [first.count_attempt("ada"), second.count_attempt("ada")]
    named += [first.count_attempt("trial-1"), second.count_attempt("trial-1")]
    others = [first.count_attempt("x"), second.count_attempt("x")]

    assert named == [1, 2, 1, 2]
    assert others == [1, 1]


def test_an_attempt_that_cannot_be_counted_is_not_acknowledged(tmp_path: Path) -> None:
    (tmp_path / "attempts").write_text("in the way")

    with pytest.raises(JournalError, match="can't count an attempt"):
        Attempts(tmp_path).next("ada")


async def test_a_run_that_had_finished_says_that_it_was_not_cancelled(
    app: App, client: Client
) -> None:
    async with client:
        kernel_id = await compiled(client)
        done = await call(client, "verify_bounds", kernel_id=kernel_id)
        told = await call(client, "get_result", run_id=done.data["run_id"], cancel=True)
        plain = await call(client, "get_result", run_id=done.data["run_id"])

    assert told.data["status"] == "bound_ok"
    assert "it had finished already: nothing was cancelled" in told.text
    assert told.data["message"].startswith("it had finished already")
    assert "finished already" not in plain.text


def test_a_kernel_that_was_pruned_by_another_process_is_gone_here_too(
    app: App, tmp_path: Path
) -> None:
    kernel = Kernel("k_1", Submission("szp", "numba", fakes.GOOD), "tester", "s")
    app.receive(kernel, "c", 1)
    app.ledger.build("c", "k_1", Build(Status.COMPILED, Status.LOADS, 0.1))
    before = app.kernel("k_1")

    prune(tmp_path, Wish(datetime.now(UTC) + timedelta(days=1), keep_best=False))

    assert before == kernel
    assert app.kernel("k_1") is None
    assert app.kernels_of(Caller("s", "tester", "", "", "suggest"), 5) == []


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (536, "536 B"), (999_999, "1000 kB"), (1_000_000, "1 MB"),
        (10_000_000_000, "10 GB"), (1_234_567_890, "1.23 GB"), (10**16, "10000 TB"),
    ],
)  # fmt: skip
def test_bytes_are_told_in_the_unit_that_suits_them(count: int, text: str) -> None:
    assert quota.sized(count) == text
