"""Every page's complete example, cut out of the text an agent reads, through the real server."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import TextResourceContents

from kernels.tasks import TASKS
from sz_mcp.app import App
from sz_mcp.server import create_server
from sz_mcp.settings import Settings
from tests.sz_mcp.conftest import call
from tests.sz_mcp.page_text import examples_of

pytestmark = pytest.mark.anyio

HALVES = tuple(TASKS)[::2], tuple(TASKS)[1::2]
"""Two servers, so that two cores share the work."""


@pytest.mark.parametrize("tasks", HALVES, ids=("even", "odd"))
async def test_the_example_of_every_page_is_right_as_it_is_printed(
    tmp_path: Path, tasks: tuple[str, ...]
) -> None:
    await assert_right(tmp_path, tasks)


async def assert_right(home: Path, tasks: Iterable[str]) -> None:
    """Compile and verify what the pages of `tasks` show for targets that run here."""
    app = App(Settings(home=home), "stdio")
    try:
        async with Client(create_server(app)) as client:
            for task in tasks:
                (page,) = (await client.read_resource(f"sz-mcp://tasks/{task}")).contents
                assert isinstance(page, TextResourceContents)
                examples = examples_of(page.text)
                assert "numba" in examples, task
                await _assert_right(client, task, examples["numba"])
    finally:
        app.close()


async def _assert_right(client: Client, task: str, files: dict[str, str]) -> None:
    kernel = await call(client, "compile_kernel", task=task, target="numba", files=files)
    assert kernel.data["status"] == "compiled", kernel.text
    # A note says how long the first call took, which is the machine's matter.
    assert {one["severity"] for one in kernel.data["diagnostics"]} <= {"note"}, kernel.text
    told = await call(client, "verify_bounds", kernel_id=kernel.data["kernel_id"])
    if told.data["status"] == "running":
        told = await call(client, "get_result", run_id=told.data["run_id"], wait_s=45)
    assert told.data["status"] == "bound_ok", f"{task}: {told.text}"
    assert told.data["holds"] is True, f"{task}: {told.text}"
