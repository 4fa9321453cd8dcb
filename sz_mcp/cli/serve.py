"""`sz-mcp serve`: build the App, serve it, close it whatever happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sz_mcp.app import App
from sz_mcp.board.serve import Board, add_board
from sz_mcp.errors import SettingsError
from sz_mcp.health import add_health
from sz_mcp.server import create_server
from sz_mcp.serving import (
    BACKLOG,
    bound,
    check_confinement,
    check_exposure,
    ignore_signals,
    is_exposed,
    leave_on_signals,
    log_to_stderr,
    serve_http,
    serve_stdio,
)
from sz_mcp.settings import Settings
from sz_mcp.tokens import TOKEN_FILE, FileTokens, cautions, read_tokens


def run(settings: Settings) -> None:
    """Serve as the settings say.

    Raises:
        SettingsError: it can't be served so.
    """
    log_to_stderr()
    leave_on_signals()
    # Its errors reach clients by way of the SDK, and would name its version.
    os.environ.setdefault("PYDANTIC_ERRORS_INCLUDE_URL", "0")
    if settings.http.address is None:
        over_stdio(settings)
    else:
        over_http(settings, settings.http.address)


def over_stdio(settings: Settings) -> None:
    """Serve stdin and stdout."""
    with started(App(settings, "stdio")) as app:
        serve_stdio(create_server(app), app.settle)


def over_http(settings: Settings, address: str) -> None:
    """Serve Streamable HTTP; prints the URL to stderr once it listens."""
    host, port = parse_address(address)
    http, file = settings.http, token_file(settings)
    tokens: FileTokens | None = None if file is None else read_tokens(file)
    check_exposure(host, http.allow_hosts, has_tokens=tokens is not None)
    listener = bound(host, port)
    app = App(settings, "http", tokens=tokens)
    with started(app):
        if is_exposed(host):
            layers = app.engine().pipeline.layers()
            check_confinement(host, layers, allowed=http.allow_unconfined)
        listener.listen(BACKLOG)
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"sz-mcp: http://{shown}:{listener.getsockname()[1]}/mcp\n")
        for caution in () if file is None else cautions(file):
            sys.stderr.write(f"sz-mcp: {caution}\n")
        sys.stderr.flush()
        server = create_server(app, tokens)
        add_health(server, app)
        add_board(server, Board(settings.home, tokens, http.board))
        serve_http(server, listener, http, app.settle)


def token_file(settings: Settings) -> Path | None:
    """Where the tokens are; None if nobody needs one."""
    usual = settings.home / TOKEN_FILE
    # Also one that was emptied: then nobody may call, rather than everybody.
    return settings.http.token_file or (usual if usual.exists() else None)


def parse_address(text: str) -> tuple[str, int]:
    """`[HOST:]PORT`, with an IPv6 host in brackets.

    Raises:
        SettingsError: it is something else.
    """
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or (colon and not host):
        raise SettingsError(
            f"{text!r} is no address: give PORT or HOST:PORT, for example 127.0.0.1:8765"
        )
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


@contextmanager
def started(app: App) -> Iterator[App]:
    """Run an App, and close it whatever happens."""
    app.start()
    try:
        yield app
    finally:
        ignore_signals()
        app.close()
