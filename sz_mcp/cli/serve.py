"""`sz-mcp serve`: build the App, serve it, close it whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sz_mcp.app import App
from sz_mcp.errors import SettingsError
from sz_mcp.server import create_server
from sz_mcp.serving import check_exposure, listen, log_to_stderr, serve_http, serve_stdio
from sz_mcp.settings import Settings
from sz_mcp.tokens import FileTokens, read_tokens


def over_stdio(settings: Settings) -> None:
    """Serve stdin and stdout."""
    log_to_stderr()
    with started(App(settings, "stdio")) as app:
        serve_stdio(create_server(app))


def over_http(
    settings: Settings, address: str, token_file: Path | None, hosts: tuple[str, ...]
) -> None:
    """Serve Streamable HTTP; prints the URL to stderr once it listens."""
    log_to_stderr()
    host, port = parse_address(address)
    tokens: FileTokens | None = None if token_file is None else read_tokens(token_file)
    check_exposure(host, hosts, has_tokens=tokens is not None)
    listener = listen(host, port)
    app = App(settings, "http", tokens=tokens.by_name if tokens else None)
    with started(app):
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"sz-mcp: http://{shown}:{listener.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        serve_http(create_server(app, tokens), listener, hosts)


def parse_address(text: str) -> tuple[str, int]:
    """`[HOST:]PORT`, with an IPv6 host in brackets.

    Raises:
        SettingsError: it is something else.
    """
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or (colon and not host):
        raise SettingsError(f"--http {text!r}: give PORT or HOST:PORT, for example 127.0.0.1:8765")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


@contextmanager
def started(app: App) -> Iterator[App]:
    """Run an App, and close it whatever happens."""
    app.start()
    try:
        yield app
    finally:
        app.close()
