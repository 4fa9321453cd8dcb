"""The routes of the board, within the HTTP server or alone on loopback.

A page is made in a thread, one at a time, from the published copy of the ledger; it is kept until
another copy is published, since until then it can't change.
"""

from __future__ import annotations

import hashlib
import importlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from results_db.viewing import Shared
from sz_mcp.board import access
from sz_mcp.board.layout import HEADERS, Answered, static_file, version
from sz_mcp.board.sight import Sight
from sz_mcp.settings import Openness
from sz_mcp.tokens import FileTokens

ROOT = "/board"
KEPT_PAGES, KEPT_BYTES = 64, 32 << 20
LONGEST = 400
"""Characters of one parameter of a page."""
STATIC: Mapping[str, str] = {
    "board.css": "text/css",
    "chart.css": "text/css",
    "board.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
PAGES = ("", "overall", "agents", "agent", "attempt", "reading")
Answer = Callable[[Request], Awaitable[Response]]


@dataclass
class Board:
    """The pages of one home. Made by whoever serves; used in its event loop."""

    home: Path
    tokens: FileTokens | None = None
    openness: Openness = "tokens"
    _kept: OrderedDict[object, Answered] = field(default_factory=OrderedDict)
    # One at a time: a page takes a core for a moment, on a machine that is measuring.
    _one_by_one: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    def routes(self) -> list[Route]:
        """Everything below ROOT; none if there is to be no board."""
        if self.openness == "off" and self.tokens is not None:
            return []
        pages = [Route(f"{ROOT}/{name}", self._page(name)) for name in PAGES]
        return [
            Route(ROOT, _to_root),
            *pages,
            Route(f"{ROOT}/static/{{name}}", _static),
        ]

    def _page(self, name: str) -> Answer:
        async def answer(request: Request) -> Response:
            shared = frozenset(Shared(self.home).all())
            sight = await access.sight(
                request.headers.get("authorization", ""), self.tokens, self.openness, shared
            )
            if sight is None:
                refused = {**HEADERS, "WWW-Authenticate": access.CHALLENGE}
                return PlainTextResponse("This page needs a token.", 401, refused)
            asked = dict(request.query_params)
            if any(len(value) > LONGEST for value in asked.values()):
                return PlainTextResponse("A parameter is too long.", 400, dict(HEADERS))
            found = await anyio.to_thread.run_sync(
                self._made, name, asked, sight, limiter=self._one_by_one
            )
            return _sent(found, request.headers.get("if-none-match", ""))

        return answer

    def _made(self, name: str, asked: Mapping[str, str], sight: Sight) -> Answered:
        """A page, or a page that says why there is none. Blocks."""
        # Imported here: DuckDB takes as long to import as the server does to start.
        site = importlib.import_module("sz_mcp.board.site")
        key = (site.stamp(self.home), name, frozenset(asked.items()), sight)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found: Answered = site.answered(self.home, sight, (name, asked))
        if found.status == 200:
            self._keep(key, found)
        return found

    def _keep(self, key: object, found: Answered) -> None:
        self._kept[key] = found
        while (
            len(self._kept) > KEPT_PAGES
            or sum(len(one.body) for one in self._kept.values()) > KEPT_BYTES
        ):
            self._kept.popitem(last=False)


def _sent(found: Answered, known: str) -> Response:
    tag = f'"{hashlib.sha256(found.body).hexdigest()[:32]}"'
    kept = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
    headers = {**HEADERS, **kept, "ETag": tag}
    if found.status == 200 and known == tag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, found.status, headers, "text/html; charset=utf-8")


def add_board(server: MCPServer[dict[str, Any]], board: Board) -> None:
    """Answer the board's routes beside /mcp."""
    for route in board.routes():
        register = server.custom_route(route.path, methods=["GET"], include_in_schema=False)
        register(route.endpoint)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse("Not Found", 404, dict(HEADERS))
    content = static_file(name)
    # A link of a page names the version: under that name nothing else is ever found.
    lasting = request.query_params.get("v") == version(name)
    kept = "public, max-age=31536000, immutable" if lasting else "no-cache"
    headers = {**HEADERS, "Cache-Control": kept}
    return Response(content, 200, headers, f"{STATIC[name]}; charset=utf-8")


async def _to_root(_request: Request) -> Response:
    # Relative, so that a proxy may serve it below another path.
    return RedirectResponse("board/", headers=dict(HEADERS))
