"""The rows that calls leave: who called, what became of it, how many attempts it took."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from results_db.queries import query
from sz_mcp.app import App
from sz_mcp.server import create_server
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in query(home, sql).rows]


async def test_every_call_leaves_a_row_whatever_becomes_of_it(
    client: Client, app: App, tmp_path: Path
) -> None:
    async with client:
        await call(client, "describe_arch")
        kernel_id = await compiled(client)
        await call(client, "nothing", x=1)
        await call(client, "verify_bounds", kernel_id=kernel_id, bond=1)
        await client.read_resource("sz-mcp://schema")
        with pytest.raises(MCPError):
            await client.read_resource("sz-mcp://tasks/none")
    app.close()

    found = rows(tmp_path, "SELECT tool, outcome, attempt, status FROM calls ORDER BY started_at")
    assert found == [
        ("describe_arch", "ok", None, None),
        ("compile_kernel", "ok", 1, "compiled"),
        ("nothing", "tool_error", None, None),
        ("verify_bounds", "tool_error", None, None),
        ("resources/read", "ok", None, None),
        ("resources/read", "protocol_error", None, None),
    ]


async def test_a_row_says_who_called_with_what_and_how_much(app: App, tmp_path: Path) -> None:
    who = Implementation(name="editor", version="9")
    async with Client(create_server(app), client_info=who) as client:
        kernel_id = await compiled(client)
        told = await call(client, "verify_bounds", kernel_id=kernel_id, bound=0.5)
    app.close()

    ((row),) = rows(
        tmp_path,
        "SELECT agent, client, protocol, kernel_id, run_id, attempt, arguments ->> 'bound', "
        "duration_ms > 0, request_bytes > 0, reply_bytes > 100, session = "
        "(SELECT session FROM sessions) FROM calls WHERE tool = 'verify_bounds'",
    )
    assert row[:6] == ("tester", "editor 9", "2026-07-28", kernel_id, told.data["run_id"], 2)
    assert row[6:] == ("0.5", True, True, True, True)


async def test_a_row_keeps_the_beginning_of_long_arguments_and_no_source(
    client: Client, app: App, tmp_path: Path
) -> None:
    async with client:
        await compiled(client)
        await call(client, "query_results", sql="SELECT " + "1," * 5000, junk=["x" * 50_000])
    app.close()

    found = rows(tmp_path, "SELECT tool, arguments FROM calls ORDER BY started_at")
    assert "def compress" not in found[0][1]
    assert "sha256" in found[0][1]
    assert "(10007 characters)" in found[1][1]
    assert len(found[1][1]) < 5000


async def test_the_session_is_recorded_once_with_its_feedback_level(
    client: Client, app: App, tmp_path: Path
) -> None:
    async with client:
        await call(client, "describe_arch")
        await call(client, "describe_arch")
    app.close()

    found = rows(tmp_path, "SELECT agent, transport, feedback_level FROM sessions")
    assert found == [("tester", "stdio", "suggest")]


async def test_a_cancelled_call_leaves_a_row(
    client: Client, app: App, pipeline: FakePipeline, tmp_path: Path
) -> None:
    async with client:
        with pytest.raises(MCPError):
            await client.call_tool(
                "compile_kernel",
                {"task": "szp", "target": "numba", "files": fakes.SLOW},
                read_timeout_seconds=0.2,
            )
        await asyncio.to_thread(pipeline.cancelled.wait, 20)
    app.close()

    found = rows(tmp_path, "SELECT tool, outcome, kernel_id IS NULL FROM calls")
    assert found == [("compile_kernel", "cancelled", False)]


async def test_runs_builds_and_guidance_reach_the_ledger(
    client: Client, app: App, tmp_path: Path
) -> None:
    async with client:
        good, wrong = await compiled(client), await compiled(client, fakes.WRONG)
        await call(client, "verify_bounds", kernel_id=good)
        await call(client, "verify_bounds", kernel_id=wrong)
        await call(client, "run_compress", kernel_id=good, field="uk_theta")
        await call(client, "profile", kernel_id=good, field="uk_theta")
    app.close()

    runs = rows(tmp_path, "SELECT kernel_id, tool, status FROM runs ORDER BY started_at")
    assert runs == [
        (good, "verify_bounds", "bound_ok"),
        (wrong, "verify_bounds", "error"),
        (good, "run_compress", "timed"),
        (good, "profile", "timed"),
    ]
    board = rows(tmp_path, "SELECT agent, kernel_id, ratio FROM leaderboard")
    assert board == [("tester", good, 10.0)]
    assert rows(tmp_path, "SELECT count(*) FROM violations") == [(1,)]


async def test_an_attempt_is_on_disk_before_its_call_ends(
    app: App, pipeline: FakePipeline, tmp_path: Path
) -> None:
    async with Client(create_server(app)) as client:
        kernel_id = await compiled(client)
        slow = asyncio.create_task(compiled(client, fakes.SLOW))
        await asyncio.to_thread(pipeline.started.wait, 20)
        kernels = rows(tmp_path, "SELECT attempt FROM kernels ORDER BY attempt")
        ended = rows(tmp_path, "SELECT attempt FROM calls")
        pipeline.release.set()
        await slow
        await call(client, "verify_bounds", kernel_id=kernel_id)
    app.close()

    assert kernels == [(1,), (2,)]
    assert ended == [(1,)]
    assert rows(tmp_path, "SELECT attempt FROM runs") == [(3,)]


async def test_attempts_are_counted_per_session(tmp_path: Path) -> None:
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app)) as client:
            first = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.GOOD
            )
            await call(client, "verify_bounds", kernel_id=first.data["kernel_id"])
            third = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.GOOD
            )
    finally:
        app.close()

    assert (first.data["attempt"], third.data["attempt"]) == (1, 3)
