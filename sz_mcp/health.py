"""`GET /health` of the HTTP server: what a supervisor or a load balancer asks, without a token."""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from results_db.files import LedgerFiles
from sz_mcp import __version__
from sz_mcp.app import App

_PROBE_BYTES = 4096


@dataclass(frozen=True)
class Health:
    """How a server is."""

    status: str
    """ok; full: the disk quota is used up; stopping; or failing: the ledger can't be written."""
    version: str
    schema_version: int
    uptime_s: float
    running_jobs: int
    journal_lag_s: float
    """For how long something written has not been in the database."""
    problem: str = ""


def health_of(app: App) -> Health:
    """Look; writes and removes a small file in the journal's folder."""
    status, problem = "ok", ""
    if app.stopping:
        status, problem = "stopping", "the server is shutting down"
    elif app.quota.full():
        status, problem = "full", "the disk quota is used up: sz-mcp ledger prune"
    if unwritable := _unwritable(LedgerFiles(app.settings.home).journal):
        status, problem = "failing", f"the ledger can't be written: {unwritable}"
    return Health(
        status=status,
        version=__version__,
        schema_version=importlib.import_module("results_db.schema").VERSION,
        uptime_s=round(time.monotonic() - app.started_at, 3),
        running_jobs=len(app.jobs.running()),
        journal_lag_s=round(app.upkeep.lag_s(), 3),
        problem=problem,
    )


def add_health(server: MCPServer[dict[str, Any]], app: App) -> None:
    """Answer GET /health: 200, or 503 when the ledger can't be written.

    Where calls need a token, whoever has none is told the status and no more.
    """
    # One look at a time: whoever asks needs no token, and a look writes to the disk.
    one_by_one = anyio.CapacityLimiter(1)

    async def health(request: Request) -> Response:
        found = await anyio.to_thread.run_sync(health_of, app, limiter=one_by_one)
        known = not app.needs_token or isinstance(request.scope.get("user"), AuthenticatedUser)
        told = asdict(found) if known else {"status": found.status}
        return JSONResponse(told, 503 if found.status == "failing" else 200)

    server.custom_route("/health", methods=["GET"], include_in_schema=False)(health)


def _unwritable(folder: Path) -> str:
    """Why nothing can be made durable in `folder`; empty if it can."""
    probe = folder / f".health-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with probe.open("xb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fdatasync(file.fileno())
    except OSError as error:
        return str(error)
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return ""
