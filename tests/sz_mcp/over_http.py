"""The server of a test over real HTTP on loopback, in the test's own event loop, with tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import uvicorn
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client

from kernels.fields import Catalogue
from sz_mcp import edge
from sz_mcp.app import App
from sz_mcp.board.serve import Board, add_board
from sz_mcp.engine import Engine, Parts
from sz_mcp.health import add_health
from sz_mcp.server import create_server
from sz_mcp.serving import http_app, listen, security_of
from sz_mcp.settings import Budgets, Http, Settings
from sz_mcp.tokens import FileTokens, Token, digest_of
from tests.sz_mcp.conftest import Era
from tests.sz_mcp.fakes import PNG, FakePipeline, guide


def token(secret: str, agent: str, **told: object) -> Token:
    return Token.model_validate({"sha256": digest_of(secret), "agent": agent, **told})


def http_app_of(
    home: Path, pipeline: FakePipeline, tokens: FileTokens | None, answer_s: float = 45.0
) -> App:
    """An App around the fake pipeline, as it is served over HTTP."""
    settings = Settings(home=home, budgets=Budgets(answer_s=answer_s, progress_s=0.01))
    parts = Parts(pipeline=pipeline, catalogue=Catalogue(home), guide=guide, draw=lambda _: PNG)
    return App(settings, "http", lambda app: Engine(parts, app.ledger, home), tokens)


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the test run's."""
        yield


@asynccontextmanager
async def served(
    app: App, tokens: FileTokens | None = None, http: Http | None = None
) -> AsyncIterator[str]:
    """The URL of /mcp."""
    settings = http or Http()
    listener = listen("127.0.0.1", 0)
    server = create_server(app, tokens)
    add_health(server, app)
    add_board(server, Board(app.settings.home, tokens, settings.board))
    routes = http_app(server, settings)
    uvicorns = _Server(edge.configured(routes, security_of(()), settings))
    task = asyncio.create_task(uvicorns.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        uvicorns.should_exit = True
        await task


@asynccontextmanager
async def connected(
    url: str, secret: str, era: Era = "2026-07-28", hear: MessageHandlerFnT | None = None
) -> AsyncIterator[Client]:
    """A client that sends a bearer token."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, message_handler=hear) as client:
            yield client
