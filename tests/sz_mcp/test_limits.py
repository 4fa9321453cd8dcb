"""What one agent may ask at once: refused with when to call again, and nothing is lost."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from results_db.queries import query
from sz_mcp.app import App
from sz_mcp.errors import LimitReached
from sz_mcp.limits import LIMIT_REACHED, UNLIMITED, Limits, Load
from sz_mcp.server import create_server
from sz_mcp.settings import Traffic
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import Told, call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def limits(
    traffic: Traffic, held: dict[str, int] | None = None, clock: Clock | None = None
) -> Limits:
    return Limits(traffic, Load(lambda: held or {}, lambda: 11.2), clock or Clock())


def refused(limits: Limits, session: str) -> str:
    with pytest.raises(LimitReached) as caught, limits.place(session):
        pass
    return str(caught.value)


def test_calls_beyond_those_of_a_minute_are_refused_until_some_of_it_has_passed() -> None:
    clock = Clock()
    found = limits(Traffic(calls_per_minute=30), clock=clock)
    first = [found.count_call("s") for _ in range(31)]
    others = found.count_call("other")
    clock.now += 1.9
    early = found.count_call("s")
    clock.now += 0.2
    late = found.count_call("s")

    assert first[:30] == [""] * 30
    assert "this agent may make 30 calls in a minute: retry after 2 s" in first[30]
    assert "retry after 1 s" in early
    assert (others, late) == ("", "")


def test_a_refused_call_costs_nothing() -> None:
    clock = Clock()
    found = limits(Traffic(calls_per_minute=1), clock=clock)
    found.count_call("s")
    for _ in range(100):
        assert found.count_call("s")
    clock.now += 60

    assert found.count_call("s") == ""


def test_an_agent_has_so_many_evaluations_at_once_and_no_more() -> None:
    found = limits(Traffic(evaluations=3), {"s": 2})
    with found.place("s"):
        text = refused(found, "s")
        with found.place("other"):
            pass
    with found.place("s"):
        pass

    assert text.startswith("limit reached: this agent has 3 evaluations queued or running")
    assert "retry after 12 s" in text
    assert "no attempt was counted, and nothing is lost" in text


def test_all_agents_together_have_so_many_evaluations() -> None:
    text = refused(limits(Traffic(queue=5), {"a": 3, "b": 2}), "c")

    assert "5 evaluations are queued or running here, as many as may be: retry after 12 s" in text


def test_a_limit_of_zero_is_none() -> None:
    found = limits(UNLIMITED, {"s": 10_000})

    assert [found.count_call("s") for _ in range(10_000)] == [""] * 10_000
    with found.place("s"):
        pass


def test_a_place_is_free_again_if_nothing_was_started() -> None:
    found = limits(Traffic(evaluations=1))
    with pytest.raises(ValueError, match="broken"), found.place("s"):
        raise ValueError("broken")
    with found.place("s"):
        pass


@pytest.fixture
def busy(tmp_path: Path, pipeline: FakePipeline) -> Iterator[App]:
    """Serves over HTTP: two evaluations of one agent at once, and six calls in a minute."""
    app = make_app(
        tmp_path, pipeline, answer_s=0.05, traffic=Traffic(evaluations=2, calls_per_minute=6)
    )
    yield app
    pipeline.release.set()
    app.close()


async def slow(client: Client) -> Told:
    return await call(client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW)


async def test_one_more_evaluation_is_a_tool_error_that_is_no_attempt(
    busy: App, tmp_path: Path
) -> None:
    async with Client(create_server(busy)) as client:
        told = [await slow(client) for _ in range(2)]
        third = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.GOOD)
        run_id = told[0].data["run_id"]
        ended = await call(client, "get_result", run_id=run_id, cancel=True, wait_s=9)
        again = await compiled(client)

    assert [one.data["status"] for one in told] == ["running", "running"]
    assert third.error
    assert re.search(r"limit reached: this agent has 2 .* retry after \d+ s", third.text)
    assert not ended.error
    assert again.startswith("k_")
    rows = query(tmp_path, "SELECT outcome, attempt FROM calls ORDER BY started_at").rows
    assert rows == (("ok", 1), ("ok", 2), ("tool_error", None), ("ok", None), ("ok", 3))
    kernels = query(tmp_path, "SELECT count(*) FROM kernels").rows
    assert kernels == ((3,),)


async def test_too_many_calls_are_refused_whatever_they_ask_and_logged(
    busy: App, tmp_path: Path
) -> None:
    async with Client(create_server(busy)) as client:
        for _ in range(6):
            assert not (await call(client, "describe_arch")).error
        refused = await call(client, "describe_arch")
        with pytest.raises(MCPError) as caught:
            await client.read_resource("sz-mcp://tasks")

    assert refused.error
    assert re.search(r"may make 6 calls in a minute: retry after \d+ s", refused.text)
    assert caught.value.code == LIMIT_REACHED
    assert "retry after" in str(caught.value)
    sql = "SELECT tool, outcome FROM calls ORDER BY started_at DESC LIMIT 2"
    assert query(tmp_path, sql).rows == (
        ("resources/read", "protocol_error"),
        ("describe_arch", "tool_error"),
    )


async def test_over_stdio_nothing_is_limited(tmp_path: Path, pipeline: FakePipeline) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.05)
    app.settings = replace(app.settings, traffic=Traffic(1, 1, 1))
    try:
        async with Client(create_server(app)) as client:
            told = [await slow(client) for _ in range(12)]
    finally:
        app.close()

    assert {one.data["status"] for one in told} == {"running"}


async def test_a_query_whose_turn_does_not_come_is_refused_and_the_next_is_answered(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.05)
    release = threading.Event()
    try:
        async with Client(create_server(app)) as client:
            others = [app.reading.submit(f"s_{n}", lambda: release.wait(20)) for n in range(3)]
            asked = await call(client, "query_results", sql="SELECT 1")
            with pytest.raises(MCPError, match="queries of other agents") as caught:
                await client.read_resource("sz-mcp://runs")
            release.set()
            assert all(other.result(20) for other in others)
            again = await call(client, "query_results", sql="SELECT 1")
    finally:
        release.set()
        app.close()

    assert asked.error
    for text in (asked.text, str(caught.value)):
        assert re.search(r"queries of other agents took all .* retry after \d+ s", text)
    assert again.data["rows"] == [[1]]
