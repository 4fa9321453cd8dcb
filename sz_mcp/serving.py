"""Serving one EvaluationServer over stdio or HTTP until its client leaves or a signal comes.

After a signal the server settles: it takes no new work and gives what runs its time. A second
signal, or a client that is gone, ends it at once; further ones do nothing. Whoever called here then
closes the App, which kills the children and lets go of the journal.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import cast

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from pydantic_core import from_json
from starlette.applications import Starlette

from sz_mcp import edge
from sz_mcp.errors import SettingsError
from sz_mcp.server import EvaluationServer
from sz_mcp.settings import Http
from toolchains.children.isolation import Layer, confined

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_QUEUED_LINES = 64
_CHUNK = 1 << 16
_ANSWER_TURNS, _ANSWER_TURN_S = 40, 5e-3
BACKLOG = 128
"""Connections that may wait to be accepted."""
Settle = Callable[[], Awaitable[None]]
"""What is awaited after a signal, before connections are closed; once more after a second one."""


def log_to_stderr() -> None:
    """Warnings go to stderr, in one line each; stdout belongs to the protocol."""
    form = "sz-mcp: %(levelname)s: %(name)s: %(message)s"
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format=form)
    # It repeats what any passer-by has written into a header, a line each.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)


class StdinLines:
    """Lines of a pipe as they come, read by a thread that nothing has to wait for.

    The SDK's own reader holds a worker thread in `readline`, which no signal can wake.
    """

    def __init__(self, descriptor: int, replies: int) -> None:
        """replies: where a line that is no message is answered."""
        self._descriptor, self._replies = descriptor, replies
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_QUEUED_LINES)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Every line until the end of the input."""
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line

    def _read(self) -> None:
        rest = b""
        while chunk := os.read(self._descriptor, _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in filter(None, lines):
                text = message_of(line)
                if text is None:
                    os.write(self._replies, _NO_MESSAGE)
                    continue
                self._room.acquire()
                self._put(text)
        self._put(None)

    def _put(self, line: str | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        except RuntimeError:
            # The loop is closed: the server ended while its client was still writing.
            return


_NO_MESSAGE = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: a line of stdin '
    b'is not one JSON object"}}\n'
)


def message_of(line: bytes) -> str | None:
    """The JSON object of a line, as text the SDK can parse; None if it is none.

    JSON may escape a lone surrogate, which is no character and which the SDK's parser refuses
    without an answer: it becomes U+FFFD.
    """
    text = line.decode(errors="replace")
    if text.isspace():
        return None
    if _SURROGATE.search(text) is None:
        # The usual case is left to the SDK, but for what it would not answer.
        return text if _is_object(text) else None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    plain = json.dumps(message, ensure_ascii=False)
    text = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text if _is_object(text) else None


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _is_object(text: str) -> bool:
    # By the SDK's parser, which takes fewer levels than Python's and answers nothing it refuses.
    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False


@contextmanager
def signals(first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """While this lasts a signal calls `first` in the event loop, another one `second`.

    From then on signals do nothing: the event loop's own handlers, and Uvicorn's, would give way to
    the default ones while children are still to be killed and the journal to be drained.
    """
    loop = asyncio.get_running_loop()
    left = [first, second]

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if left:
            loop.call_soon_threadsafe(left.pop(0))

    for number in _SIGNALS:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        left.clear()


def leave_on_signals() -> None:
    """Until something is served a signal ends the process, without a traceback."""
    for number in _SIGNALS:
        signal.signal(number, _leave)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def ignore_signals() -> None:
    """What is being ended already is not to be cut short."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def serve_stdio(server: EvaluationServer, settle: Settle) -> None:
    """Serve this process's stdin and stdout until the client closes them or a signal comes."""
    anyio.run(_serve_stdio, server, settle)


async def _serve_stdio(server: EvaluationServer, settle: Settle) -> None:
    # Children must neither read the protocol nor keep its pipe open.
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    lines = cast("anyio.AsyncFile[str]", StdinLines(wire, os.dup(1)))
    with anyio.CancelScope() as scope:
        loop = asyncio.get_running_loop()
        leaving: list[asyncio.Task[None]] = []

        async def leave() -> None:
            await settle()
            # A call that has ended has an answer, which the SDK has yet to write: it takes some
            # turns of the loop, however long those are on a busy machine.
            for _ in range(_ANSWER_TURNS):
                await anyio.sleep(_ANSWER_TURN_S)
            scope.cancel()

        def begin_to_leave() -> None:
            leaving.append(loop.create_task(leave()))

        with signals(begin_to_leave, scope.cancel):
            async with stdio_server(stdin=lines) as streams:
                await server.serve_streams(*streams)


def bound(host: str, port: int) -> socket.socket:
    """A socket that has the address, and does not listen yet.

    Raises:
        SettingsError: the address can't be used.
    """
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise SettingsError(f"can't listen on {host} port {port}: {error.strerror}") from error
    return found


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises SettingsError."""
    found = bound(host, port)
    found.listen(BACKLOG)
    return found


def is_exposed(host: str) -> bool:
    """Whether other machines can reach an address."""
    return host not in _LOOPBACK


def check_exposure(host: str, allowed_hosts: Iterable[str], *, has_tokens: bool) -> None:
    """Refuse to listen beyond this machine without tokens and named hosts.

    Raises:
        SettingsError: says what is missing.
    """
    if not is_exposed(host) or (has_tokens and list(allowed_hosts)):
        return
    raise SettingsError(
        f"{host} can be reached from other machines: give --token-file (who may call; "
        "`sz-mcp token create` makes one) and --allow-host NAME (under which names), or listen on "
        "127.0.0.1"
    )


def check_confinement(host: str, layers: Iterable[Layer], *, allowed: bool) -> None:
    """Refuse to run what other machines send where nothing but rlimits confines it.

    Raises:
        SettingsError: says which layers are missing and how to get them.
    """
    layers = list(layers)
    if not is_exposed(host) or allowed or confined(layers):
        return
    missing = "; ".join(f"{layer.name}: {layer.detail}" for layer in layers if not layer.holds)
    raise SettingsError(
        f"{host} can be reached from other machines, and submitted code would not be confined "
        f"here ({missing}). Run on a kernel with Landlock and seccomp, or allow user namespaces "
        "(`sz-mcp doctor` says how), or listen on 127.0.0.1, or accept it with --allow-unconfined"
    )


class _HttpServer(uvicorn.Server):
    """Uvicorn that closes its port on a signal, settles, and only then shuts down."""

    def __init__(self, config: uvicorn.Config, settle: Settle) -> None:
        super().__init__(config)
        self._settle = settle
        self._leaving: list[asyncio.Task[None]] = []

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Uvicorn's own raises them again when all is done."""
        with signals(self._begin_to_leave, self._begin_to_leave):
            yield

    def _begin_to_leave(self) -> None:
        self._leaving.append(asyncio.get_running_loop().create_task(self._leave()))

    async def _leave(self) -> None:
        # A signal may come before the port is served.
        for listening in getattr(self, "servers", ()):
            listening.close()
        await self._settle()
        self.should_exit = True


def serve_http(
    server: EvaluationServer, listener: socket.socket, http: Http, settle: Settle
) -> None:
    """Serve Streamable HTTP on `listener` under /mcp until a signal comes."""
    config = edge.configured(http_app(server, http), security_of(http.allow_hosts), http)
    asyncio.run(_HttpServer(config, settle).serve(sockets=[listener]))


def http_app(server: EvaluationServer, http: Http) -> Starlette:
    """What answers under /mcp to requests that name this machine, or one of the allowed hosts."""
    return server.streamable_http_app(
        transport_security=security_of(http.allow_hosts), max_request_body_size=http.body_bytes
    )


def security_of(hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """Requests must name this machine or one of `hosts`."""
    names = ("127.0.0.1", "localhost", "[::1]", *hosts)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{port}"
            for scheme in ("http", "https")
            for name in names
            for port in ("", ":*")
        ],
    )
