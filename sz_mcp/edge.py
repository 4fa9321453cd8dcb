"""What a client must get past before the MCP SDK sees its request.

Of every route: the Host and Origin headers must name this server; the head of a request, and its
body, must arrive in time; only so many connections are open at once. A token opens only so many
sessions: all tokens together have as many as the SDK keeps, each until nobody used it for half an
hour. How large a body may be is
checked where it is read, after the token: whoever has none is answered before sending one. What is
wrong is told in a status and a line of text, never with a version or a traceback.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import anyio
import anyio.lowlevel
import h11
import uvicorn
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sz_mcp.settings import Http

LINGER_S = 2.0
"""How long what is still being sent is thrown away once it was answered: to close at once would
lose the answer on its way."""
HEAD_BYTES = 16 * 1024
"""Largest head of a request."""
GRACE_S = 2.0
"""How long connections may take to end once the server has settled."""
SESSIONS = 256
"""Of those that begin with a handshake, that one token may open within SESSIONS_S."""
SESSIONS_S = 1800.0
"""After so long the SDK ends a session that nobody used."""
_SESSION_ID = b"mcp-session-id"


class Guard:
    """Middleware: refuses requests of other hosts and origins, and long heads, on every route."""

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings) -> None:
        self._app = app
        self._hosts = TransportSecurityMiddleware(security)
        self._sessions = Sessions()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan of the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Uvicorn counts what has come so far of a head that is not whole yet, and no other.
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_BYTES:
            refusal: Response | None = PlainTextResponse("Request head too large", 431)
        else:
            refusal = await self._hosts.validate_request(Request(scope)) or self._sessions.full(
                scope
            )
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        with anyio.CancelScope() as served:
            await self._app(scope, _whole(receive, served), self._sessions.counting(scope, send))


class Sessions:
    """How many sessions each token has opened lately. Where there are no tokens nobody is told."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._opened: dict[bytes, deque[float]] = {}
        """Digest of a token that was let in → when it opened its last sessions."""

    def full(self, scope: Scope) -> Response | None:
        """The refusal of one more session; None if the request opens none, or may open it."""
        token = _opening(scope)
        opened = self._opened.get(token, deque())
        while opened and opened[0] < self._clock() - SESSIONS_S:
            opened.popleft()
        if len(opened) < SESSIONS:
            return None
        wait_s = max(1, math.ceil(opened[0] + SESSIONS_S - self._clock()))
        text = (
            f"This token has opened {SESSIONS} sessions in half an hour, as many as it may: use "
            f"one of them, or retry after {wait_s} s"
        )
        return PlainTextResponse(text, 429, {"Retry-After": str(wait_s)})

    def counting(self, scope: Scope, send: Send) -> Send:
        """`send`, which counts the session if it was opened."""
        token = _opening(scope)
        if not token:
            return send

        async def sent(message: Message) -> None:
            if (
                message["type"] == "http.response.start"
                and message["status"] < 400
                and any(name.lower() == _SESSION_ID for name, _ in message["headers"])
            ):
                self._opened.setdefault(token, deque(maxlen=SESSIONS)).append(self._clock())
            await send(message)

        return sent


def _opening(scope: Scope) -> bytes:
    """Digest of the token of a request that may open a session; empty of any other."""
    # Of several the first counts, as it does for the SDK.
    headers = dict(reversed(scope["headers"]))
    token = headers.get(b"authorization", b"").partition(b" ")[2].strip()
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    alone = version and version not in HANDSHAKE_PROTOCOL_VERSIONS
    if scope["method"] != "POST" or not token or alone or _SESSION_ID in headers:
        return b""
    return hashlib.sha256(token).digest()


def _whole(receive: Receive, served: anyio.CancelScope) -> Receive:
    """`receive`, which ends what is being served if the client leaves amid its request.

    The SDK would take that for an error of its own, and log it with a traceback.
    """
    whole = False

    async def received() -> Message:
        nonlocal whole
        message = await receive()
        if message["type"] == "http.request":
            whole = not message.get("more_body", False)
        elif not whole:
            served.cancel()
            await anyio.lowlevel.checkpoint()
        return message

    return received


class BoundedProtocol(H11Protocol):
    """Uvicorn's HTTP, which else waits for a request for as long as its client likes."""

    def __init__(self, receive_s: float, **uvicorns: Any) -> None:
        """receive_s: for the head of a request, and again for its body."""
        super().__init__(**uvicorns)
        self._receive_s = receive_s
        self._timer: asyncio.TimerHandle | None = None
        self._awaited: object = None
        """State of the client that the timer runs for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected; it has to say what it wants."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """A client sent something."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """A request was answered, perhaps before all of it came."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._start(LINGER_S)

    def _should_upgrade(self) -> bool:
        """Nothing but HTTP is spoken here; Uvicorn would log that each time."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """See that what is being waited for comes in time."""
        state = self.conn.their_state
        if state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._timer is None or state is not self._awaited:
            self._start(self._receive_s)
        self._awaited = state

    def _start(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            head = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            told = b"The request did not arrive in time"
            for event in (
                h11.Response(status_code=408, headers=head, reason=b"Request Timeout"),
                h11.Data(data=told),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            # What the application still says has nowhere to go.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


def configured(app: ASGIApp, security: TransportSecuritySettings, http: Http) -> uvicorn.Config:
    """How uvicorn serves an application within the bounds of the settings."""
    protocol = functools.partial(BoundedProtocol, http.receive_s)
    return uvicorn.Config(
        Guard(app, security),
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        log_config=None,
        # Below errors are what any passer-by can cause, a line each.
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=http.connections,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_graceful_shutdown=int(GRACE_S),
    )
