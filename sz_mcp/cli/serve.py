"""`sz-mcp serve`: build the App, serve it, close it whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sz_mcp.app import App
from sz_mcp.errors import SettingsError
from sz_mcp.health import add_health
from sz_mcp.server import create_server
from sz_mcp.serving import (
    check_exposure,
    ignore_signals,
    leave_on_signals,
    listen,
    log_to_stderr,
    security_of,
    serve_http,
    serve_stdio,
)
from sz_mcp.settings import Settings
from sz_mcp.tokens import FileTokens, read_tokens


def run(settings: Settings) -> None:
    """Serve as the settings say.

    Raises:
        SettingsError: it can't be served so.
    """
    log_to_stderr()
    leave_on_signals()
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
    file, hosts = settings.http.token_file, settings.http.allow_hosts
    tokens: FileTokens | None = None if file is None else read_tokens(file)
    check_exposure(host, hosts, has_tokens=tokens is not None)
    listener = listen(host, port)
    app = App(settings, "http", tokens=tokens.by_name if tokens else None)
    with started(app):
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"sz-mcp: http://{shown}:{listener.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        server = create_server(app, tokens)
        add_health(server, app, security_of(hosts))
        serve_http(server, listener, hosts, app.settle)


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
