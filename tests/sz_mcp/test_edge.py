"""Raw bytes against the HTTP server: what is refused, how, and that nothing is given away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sz_mcp import __version__, edge
from sz_mcp.settings import Http
from sz_mcp.tokens import FileTokens
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.over_http import http_app_of, served, token

pytestmark = pytest.mark.anyio

SECRET = "0123456789abcdef0123456789"
BEARER = f"Authorization: Bearer {SECRET}"
SMALL = Http(body_bytes=20_000, receive_s=0.3)
WAIT_S = 30
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        },
    }
).encode()
DISCOVER = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
MODERN = "MCP-Protocol-Version: 2026-07-28"


@asynccontextmanager
async def listening(
    home: Path, http: Http = SMALL, *, with_tokens: bool = True
) -> AsyncIterator[int]:
    """The port of a server whose one token is SECRET."""
    tokens = FileTokens({"ada": token(SECRET, "ada")}) if with_tokens else None
    app = http_app_of(home, FakePipeline(), tokens)
    try:
        async with served(app, tokens, http) as url:
            yield int(url.rpartition(":")[2].partition("/")[0])
    finally:
        app.close()


def request(
    body: bytes, *headers: str, line: str = "POST /mcp HTTP/1.1", host: str = "127.0.0.1"
) -> bytes:
    """A request; what `headers` name takes the place of the usual ones."""
    usual = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    named = {one.partition(":")[0].lower() for one in headers}
    kept = [f"{name}: {value}" for name, value in usual.items() if name.lower() not in named]
    return "\r\n".join([line, *kept, *headers, "", ""]).encode() + body


async def said(port: int, *parts: bytes) -> bytes:
    """Everything that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(-1), WAIT_S)
    finally:
        writer.close()


def status(answer: bytes) -> int:
    return int(answer.split()[1])


@pytest.mark.parametrize("path", ["/mcp", "/health", "/leaderboard", "/", "/no/such"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_other_hosts_and_origins_are_refused_on_every_route(
    tmp_path: Path, path: str, method: str
) -> None:
    line = f"{method} {path} HTTP/1.1"
    async with listening(tmp_path) as port:
        named = await said(port, request(b"", BEARER, line=line, host="evil.example"))
        from_there = await said(port, request(b"", BEARER, "Origin: http://evil", line=line))
        missing = await said(port, f"{method} {path} HTTP/1.0\r\n\r\n".encode())

    assert (status(named), status(from_there), status(missing)) == (421, 403, 421)


DEEP = b"[" * 9000
BAD = {
    "no token": (401, request(INITIALIZE)),
    "a wrong token": (401, request(INITIALIZE, "Authorization: Bearer x")),
    "no bearer": (401, request(INITIALIZE, f"Authorization: Basic {SECRET}")),
    "no JSON": (400, request(b"{junk", BEARER)),
    "nested JSON": (400, request(DEEP, BEARER)),
    "nested JSON of today": (400, request(DEEP, BEARER, MODERN)),
    "a long number": (400, request(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b"}", BEARER)),
    "no UTF-8": (400, request(b"\xff\xfe\x00", BEARER)),
    "nothing": (400, request(b"", BEARER)),
    "a batch": (400, request(b"[]", BEARER)),
    "another type": (400, request(INITIALIZE, BEARER, "Content-Type: text/plain")),
    "wants HTML": (406, request(INITIALIZE, BEARER, "Accept: text/html")),
    "another method": (405, request(INITIALIZE, BEARER, line="PUT /mcp HTTP/1.1")),
    "another route": (404, request(b"", BEARER, line="GET /../etc/passwd HTTP/1.1")),
    "another session": (404, request(INITIALIZE, BEARER, "Mcp-Session-Id: x")),
    "a large body": (413, request(b"", BEARER, "Content-Length: 20001")),
    "a large body without a token": (401, request(b"", "Content-Length: 999999999")),
    "a negative length": (400, request(b"", BEARER, "Content-Length: -1")),
    "two lengths": (400, request(b"", BEARER, "Content-Length: 1", "content-length: 2")),
    "many headers": (431, request(INITIALIZE, BEARER, *(f"X-{i}: {i}" for i in range(2000)))),
    "a long header": (431, request(INITIALIZE, BEARER, "X-A: " + "a" * 50_000)),
    "no HTTP": (400, b"\x16\x03\x01\x02\x00\r\n\r\n"),
    "two hosts": (400, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n"),
    "an upgrade": (400, request(b"", BEARER, "Upgrade: websocket", line="GET /mcp HTTP/1.1")),
    "half a head": (408, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "),
    "silence": (408, b""),
    "half a body": (408, request(b'{"a"', BEARER, "Content-Length: 400")),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
async def test_a_bad_request_is_answered_in_a_line(
    tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected, sent = BAD[what]
    async with listening(tmp_path) as port:
        answer = await said(port, sent)
        after = await said(port, request(INITIALIZE, BEARER))

    assert status(answer) == expected
    assert len(answer) < 1500
    for given_away in (b"Traceback", b"uvicorn", b"/site-packages", __version__.encode()):
        assert given_away not in answer
    assert "Traceback" not in caplog.text
    assert status(after) == 200


async def test_a_chunked_body_that_grows_too_large_is_stopped(tmp_path: Path) -> None:
    head = request(b"", BEARER, "Transfer-Encoding: chunked", "Content-Length: ")
    head = head.replace(b"Content-Length: \r\n", b"")
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    async with listening(tmp_path) as port:
        answer = await said(port, head, *[chunk] * 8)

    assert status(answer) == 413


async def test_a_body_of_the_largest_size_is_read(tmp_path: Path) -> None:
    body = INITIALIZE + b" " * (SMALL.body_bytes - len(INITIALIZE))
    async with listening(tmp_path) as port:
        answer = await said(port, request(body, BEARER))

    assert status(answer) == 200


async def test_health_tells_the_status_to_everybody_and_more_to_those_with_a_token(
    tmp_path: Path,
) -> None:
    line = "GET /health HTTP/1.1"
    async with listening(tmp_path / "a") as port:
        stranger = await said(port, request(b"", line=line))
        holder = await said(port, request(b"", BEARER, line=line))
    async with listening(tmp_path / "b", with_tokens=False) as port:
        anybody = await said(port, request(b"", line=line))

    assert body_of(stranger) == {"status": "ok"}
    assert body_of(holder)["version"] == body_of(anybody)["version"] == __version__
    assert b"server:" not in stranger.lower()


def body_of(answer: bytes) -> dict[str, object]:
    found: dict[str, object] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return found


async def test_more_connections_than_allowed_are_told_to_come_back(tmp_path: Path) -> None:
    async with listening(tmp_path, Http(connections=3)) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        answer = await said(port, request(INITIALIZE, BEARER))
        for _, writer in held:
            writer.close()

    assert status(answer) == 503


async def test_a_token_opens_so_many_sessions_and_others_still_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "SESSIONS", 3)
    other = "another-token-of-somebody-else"
    tokens = FileTokens({"ada": token(SECRET, "ada"), "bob": token(other, "bob")})
    bearers = (
        BEARER, f"authorization: bEARER {SECRET} ", f"{BEARER}\r\nAuthorization: Bearer 1", BEARER,
        f"{BEARER}\r\nAuthorization: Bearer 2", BEARER, f"Authorization: Bearer {other}",
    )  # fmt: skip
    app = http_app_of(tmp_path, FakePipeline(), tokens)
    try:
        async with served(app, tokens) as url:
            port = int(url.rpartition(":")[2].partition("/")[0])
            answers = [await said(port, request(INITIALIZE, bearer)) for bearer in bearers]
            today = await said(port, request(DISCOVER, BEARER, MODERN, "Mcp-Method: ping"))
    finally:
        app.close()

    assert [status(one) for one in answers] == [200, 200, 200, 429, 429, 429, 200]
    assert b"as many as it may" in answers[3]
    assert status(today) != 429


async def test_sessions_may_be_opened_again_when_the_first_have_ended() -> None:
    now = 0.0
    sessions = edge.Sessions(lambda: now)
    scope = {"method": "POST", "headers": [(b"authorization", b"Bearer x")]}

    async def nothing(_: object) -> None:
        return

    opened = {
        "type": "http.response.start", "status": 200, "headers": [(b"mcp-session-id", b"1")],
    }  # fmt: skip
    for _ in range(edge.SESSIONS):
        assert sessions.full(scope) is None
        await sessions.counting(scope, nothing)(opened)
    refusal = sessions.full(scope)
    now = edge.SESSIONS_S + 1

    assert refusal is not None
    assert refusal.headers["retry-after"] == "1800"
    assert sessions.full(scope) is None
