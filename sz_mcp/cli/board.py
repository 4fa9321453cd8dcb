"""`sz-mcp board`: the leaderboard page on loopback, with no evaluation server behind it."""

from __future__ import annotations

import asyncio
import sys

import uvicorn
from starlette.applications import Starlette

from results_db.errors import LedgerError
from sz_mcp import edge
from sz_mcp.board.copy import refresh
from sz_mcp.board.serve import ROOT, Board
from sz_mcp.errors import StepFailed
from sz_mcp.serving import leave_on_signals, listen, log_to_stderr, security_of
from sz_mcp.settings import Settings


def run(settings: Settings, port: int) -> None:
    """Serve until a signal comes; prints the address once it listens.

    Raises:
        SettingsError: the port can't be used.
        StepFailed: there is no ledger.
    """
    log_to_stderr()
    leave_on_signals()
    try:
        warning = refresh(settings.home)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    listener = listen("127.0.0.1", port)
    if warning:
        sys.stderr.write(f"sz-mcp: {warning}\n")
    sys.stderr.write(f"sz-mcp: http://127.0.0.1:{listener.getsockname()[1]}{ROOT}/\n")
    sys.stderr.flush()
    app = Starlette(routes=Board(settings.home).routes())
    server = uvicorn.Server(edge.configured(app, security_of(()), settings.http))
    asyncio.run(server.serve(sockets=[listener]))
