"""What the server costs an agent's context: the list of tools, and the default replies."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from kernels.tasks import TASKS
from sz_mcp.server import create_server
from sz_mcp.tools import TOOLS
from tests.sz_mcp import spread
from tests.sz_mcp.fakes import FakePipeline, make_app
from tests.token_count import count

pytestmark = pytest.mark.anyio

LIST_TOKENS = 2500
REPLY_TOKENS = 800
"""At the median, of the text and of the structured content each."""


async def test_the_list_of_tools_keeps_its_budget(tmp_path: Path) -> None:
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app)) as client:
            listed = await client.list_tools()
    finally:
        app.close()

    tools = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed.tools]
    assert len(tools) == len(TOOLS)
    assert count(tools) <= LIST_TOKENS, {one["name"]: count(one) for one in tools}


async def test_replies_about_a_codec_keep_their_budget(tmp_path: Path) -> None:
    assert_kept(await spread.collect(tmp_path, ("sz-open",), ("naive",)))


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_replies_about_all_tasks_keep_their_budget(tmp_path: Path) -> None:
    assert_kept(await spread.collect(tmp_path, TASKS))


def assert_kept(found: spread.Spread) -> None:
    medians = found.medians()
    assert set(medians) == set(TOOLS)
    assert all(one.text <= REPLY_TOKENS for one in medians.values()), medians
    assert all(one.structured <= REPLY_TOKENS for one in medians.values()), medians
