"""One server around the fake pipeline per test, and how tests call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent

from sz_mcp.app import App
from sz_mcp.server import create_server
from tests.sz_mcp import fakes
from tests.sz_mcp.fakes import FakePipeline, make_app

Era = Literal["2026-07-28", "legacy"]


@dataclass(frozen=True)
class Told:
    """What a tool returned, for asserting."""

    error: bool
    text: str
    data: dict[str, Any]
    images: int
    links: tuple[str, ...]

    @classmethod
    def of(cls, result: CallToolResult) -> Told:
        json.dumps(result.structured_content, allow_nan=False)
        return cls(
            error=bool(result.is_error),
            text="\n".join(b.text for b in result.content if isinstance(b, TextContent)),
            data=result.structured_content or {},
            images=sum(isinstance(b, ImageContent) for b in result.content),
            links=tuple(str(b.uri) for b in result.content if isinstance(b, ResourceLink)),
        )


async def call(client: Client, tool: str, **arguments: object) -> Told:
    return Told.of(await client.call_tool(tool, arguments))


async def compiled(client: Client, files: dict[str, str] = fakes.GOOD) -> str:
    """kernel_id of a kernel that compiles."""
    told = await call(client, "compile_kernel", task="szp", target="numba", files=files)
    return str(told.data["kernel_id"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def pipeline() -> FakePipeline:
    return FakePipeline()


@pytest.fixture
def app(tmp_path: Path, pipeline: FakePipeline) -> Iterator[App]:
    app = make_app(tmp_path, pipeline)
    yield app
    pipeline.release.set()
    app.close()


@pytest.fixture(params=["2026-07-28", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    era: Era = request.param
    return era


@pytest.fixture
def client(app: App, era: Era) -> Client:
    """Connects in-process; `async with client:` in the test."""
    return Client(create_server(app), mode=era, raise_exceptions=True)
