"""Calls that outlast their answer, and callers that go away."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from sz_mcp.answers import SHOWN_SAMPLES
from sz_mcp.server import create_server
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import Era, call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio

WAIT_S = 20


def happened(event: threading.Event) -> bool:
    """Whether it happens at all: the time is only how long a failing test waits."""
    return event.wait(WAIT_S)


async def test_a_long_run_answers_running_and_get_result_returns_what_it_would_have(
    tmp_path: Path, pipeline: FakePipeline, era: Era
) -> None:
    pipeline.release.set()
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    try:
        async with Client(create_server(app), mode=era) as client:
            kernel_id = await compiled(client, fakes.SLOW)
            pipeline.release.clear()
            first = await call(client, "run_compress", kernel_id=kernel_id, field="uk_theta")
            run_id = first.data["run_id"]
            second = await call(client, "get_result", run_id=run_id, wait_s=0)
            pipeline.release.set()
            app.jobs.find(run_id).future.result(WAIT_S)  # type: ignore[union-attr]
            last = await call(client, "get_result", run_id=run_id)
    finally:
        app.close()

    assert first.data["status"] == second.data["status"] == "running"
    assert f'next: get_result(run_id="{run_id}")' in first.text
    assert last.data["status"] == "timed"
    assert last.data["run_id"] == run_id
    assert last.data["ratio"] == 10.0
    assert len(last.data["samples"]) == SHOWN_SAMPLES


async def test_a_long_build_answers_running_with_its_kernel(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    try:
        async with Client(create_server(app)) as client:
            first = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW
            )
            run_id = first.data["run_id"]
            pipeline.release.set()
            app.jobs.find(run_id).future.result(WAIT_S)  # type: ignore[union-attr]
            last = await call(client, "get_result", run_id=run_id)
    finally:
        app.close()

    assert first.data["status"] == "running"
    assert last.data["status"] == "compiled"
    assert last.data["kernel_id"] == first.data["kernel_id"]


async def test_get_result_of_an_unknown_run_points_to_the_ledger(client: Client) -> None:
    async with client:
        told = await call(client, "get_result", run_id="r_nothing")

    assert told.error
    assert "SELECT * FROM runs WHERE run_id" in told.text


async def test_finished_results_are_kept_up_to_a_number(
    client: Client, pipeline: FakePipeline
) -> None:
    async with client:
        kernel_id = await compiled(client)
        runs = [
            (await call(client, "verify_bounds", kernel_id=kernel_id)).data["run_id"]
            for _ in range(4)
        ]
        oldest = await call(client, "get_result", run_id=runs[0])
        newest = await call(client, "get_result", run_id=runs[-1])

    assert oldest.error
    assert newest.data["holds"] is True


async def test_a_client_that_times_out_cancels_its_run(
    client: Client, pipeline: FakePipeline
) -> None:
    pipeline.release.set()
    async with client:
        kernel_id = await compiled(client, fakes.SLOW)
        pipeline.release.clear()
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await client.call_tool(
                "run_compress",
                {"kernel_id": kernel_id, "field": "uk_theta"},
                read_timeout_seconds=0.2,
            )
        seen = await asyncio.to_thread(happened, pipeline.cancelled)

    assert seen


async def test_a_poller_that_times_out_leaves_the_run_alone(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    try:
        async with Client(create_server(app)) as client:
            first = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW
            )
            job = app.jobs.find(first.data["run_id"])
            polling = asyncio.ensure_future(
                client.call_tool("get_result", {"run_id": first.data["run_id"]})
            )
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
    finally:
        cancelled = job is not None and job.cancellation.cancelled
        app.close()

    assert job is not None
    assert not cancelled


async def test_progress_is_reported_while_a_run_goes_on(
    client: Client, pipeline: FakePipeline
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        pipeline.release.set()

    async with client:
        result = await client.call_tool(
            "compile_kernel",
            {"task": "szp", "target": "numba", "files": fakes.SLOW},
            progress_callback=on_progress,
        )

    assert not result.is_error
    assert told[-1] == (0.5, 1.0, "half way")


async def test_closing_the_app_cancels_what_runs_and_closes_the_pipeline(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    async with Client(create_server(app)) as client:
        await call(client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW)
        assert await asyncio.to_thread(happened, pipeline.started)
    await asyncio.to_thread(app.close)

    assert pipeline.cancelled.is_set()
    assert pipeline.closed
