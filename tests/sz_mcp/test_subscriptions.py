"""News of runs in both eras: progress while they go on, and their end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp import Client
from mcp.server.connection import Connection
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ResourceUpdatedNotification, TextResourceContents

from sz_mcp.jobs import Job
from sz_mcp.server import create_server
from sz_mcp.subscriptions import Subscriptions, run_uri
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = [
    pytest.mark.anyio,
    # resources/subscribe is what 2025-11-25 has; the SDK warns that 2026-07-28 does without.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

WAIT_S = 20


async def status(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return str(json.loads(content.text)["status"])


async def test_a_listening_client_hears_of_a_run_until_it_ends(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    heard = []
    try:
        pipeline.release.set()
        async with Client(create_server(app), mode="2026-07-28") as client:
            kernel_id = await compiled(client, fakes.SLOW)
            pipeline.release.clear()
            told = await call(client, "run_compress", kernel_id=kernel_id, field="uk_theta")
            uri = run_uri(told.data["run_id"])
            with anyio.fail_after(WAIT_S):
                async with client.listen(resource_subscriptions=[uri]) as news:
                    before = await status(client, uri)
                    pipeline.release.set()
                    async for event in news:
                        heard.append(event.uri)  # type: ignore[union-attr]
                        if await status(client, uri) != "running":
                            break
    finally:
        app.close()

    assert before == "running"
    assert set(heard) == {uri}


def drained(receive: MemoryObjectReceiveStream[str]) -> list[str]:
    """What has arrived."""
    arrived = []
    with contextlib.suppress(anyio.WouldBlock):
        while True:
            arrived.append(receive.receive_nowait())
    return arrived


async def test_a_subscribed_client_hears_of_a_run_until_it_unsubscribes(
    tmp_path: Path, pipeline: FakePipeline
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    send, receive = anyio.create_memory_object_stream[str](100)

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            await send.send(str(message.params.uri))

    try:
        pipeline.release.set()
        async with Client(create_server(app), mode="legacy", message_handler=hear) as client:
            kernel_id = await compiled(client, fakes.SLOW)
            for subscribed, told_of_all in ((True, 1), (False, 2)):
                pipeline.release.clear()
                told = await call(client, "run_compress", kernel_id=kernel_id, field="uk_theta")
                uri = run_uri(told.data["run_id"])
                await client.subscribe_resource(uri)
                await client.subscribe_resource("sz-mcp://runs")
                early: list[str] = []
                if not subscribed:
                    await client.unsubscribe_resource(uri)
                    # What it was told of progress while it was subscribed may still be on its way.
                    await anyio.wait_all_tasks_blocked()
                    early = drained(receive)
                pipeline.release.set()
                heard: list[str] = []
                # The list of runs is told of first (if that is heard already) and last.
                with anyio.fail_after(WAIT_S):
                    while (early + heard).count("sz-mcp://runs") < told_of_all:
                        heard.append(await receive.receive())
                assert (uri in heard) is subscribed
                assert await status(client, uri) == "timed"
    finally:
        app.close()
        send.close()
        receive.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_eras_advertise_subscriptions_and_completions(
    tmp_path: Path, mode: Literal["auto", "legacy"]
) -> None:
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app), mode=mode) as client:
            capabilities, version = client.server_capabilities, client.protocol_version
    finally:
        app.close()

    assert version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
    assert capabilities.resources is not None
    assert capabilities.resources.subscribe is True
    assert capabilities.completions is not None


async def test_subscribing_to_what_can_not_be_read_is_refused(tmp_path: Path) -> None:
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app), mode="legacy") as client:
            with pytest.raises(MCPError) as refused:
                await client.subscribe_resource("sz-mcp://songs/1")
    finally:
        app.close()

    assert refused.value.error.code == INVALID_PARAMS
    assert "no resource 'sz-mcp://songs/1'" in refused.value.error.message


class Counted(Subscriptions):
    """Counts what is published of each resource."""

    def __init__(self, pause_s: float) -> None:
        super().__init__(pause_s)
        self.published: list[str] = []
        self.ended = anyio.Event()

    async def publish(self, uri: str, _job: Job[Any] | None = None) -> None:
        self.published.append(uri)
        if self.published.count("sz-mcp://runs") == 2:
            self.ended.set()


async def test_progress_is_told_no_oftener_than_the_pause_allows(tmp_path: Path) -> None:
    app = make_app(tmp_path, FakePipeline())
    counted = Counted(pause_s=3600.0)
    app.jobs.on_start(counted.watch)
    job: Job[Any] = Job("r_1", "profile", "k_1")

    def work(job: Job[Any]) -> Any:
        for step in range(1000):
            job.advance(step / 1000, "on the way")

    try:
        app.jobs.start(job, work)
        with anyio.fail_after(WAIT_S):
            await counted.ended.wait()
    finally:
        app.close()

    assert counted.published[0] == counted.published[-1] == "sz-mcp://runs"
    assert 1 <= counted.published.count("sz-mcp://runs/r_1") <= 2


@dataclass
class Channel:
    """The sending side of a connection; takes nothing more once it is stuck."""

    sent: list[str] = field(default_factory=list)
    stuck: bool = False

    async def notify(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: Any = None,
    ) -> None:
        assert opts is None
        if self.stuck:
            await anyio.sleep_forever()
        self.sent.append(f"{method} {(params or {})['uri']}")

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None
    ) -> dict[str, Any]:
        raise AssertionError(f"nothing is asked of a client: {method} {params} {opts}")


async def test_a_connection_that_closes_is_told_nothing_more() -> None:
    news, channel = Subscriptions(pause_s=0.0), Channel()
    connection = Connection.for_loop(channel)
    news.subscribe(connection, "sz-mcp://runs")

    await news.publish("sz-mcp://runs")
    await connection.exit_stack.aclose()
    await news.publish("sz-mcp://runs")

    assert channel.sent == ["notifications/resources/updated sz-mcp://runs"]


async def test_a_client_that_does_not_read_is_given_up_and_holds_up_nobody() -> None:
    news, stuck, other = Subscriptions(pause_s=0.0, take_s=0.01), Channel(stuck=True), Channel()
    for channel in (stuck, other):
        news.subscribe(Connection.for_loop(channel), "sz-mcp://runs")

    await news.publish("sz-mcp://runs")
    stuck.stuck = False
    await news.publish("sz-mcp://runs")

    assert stuck.sent == []
    assert len(other.sent) == 2
