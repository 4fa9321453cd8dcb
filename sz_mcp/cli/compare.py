"""`sz-mcp runs compare`: two kernels of a home side by side, through the tool agents use."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from mcp import Client

from kernels.fields import FieldDataError, UnknownFieldError
from results_db import runs
from results_db.errors import LedgerError
from sz_mcp import scripted
from sz_mcp.app import App
from sz_mcp.errors import StepFailed
from sz_mcp.scripted import Reply, ScriptedAgent, Tell, stop_unless_ok, watched
from sz_mcp.server import create_server
from sz_mcp.serving import log_to_stderr
from sz_mcp.settings import Settings


def run(settings: Settings, wish: Mapping[str, object], *, as_json: bool) -> None:
    """Compare and print; `wish` has the arguments of run_compress.

    Raises:
        StepFailed: the kernels can't be compared; the message says why.
    """
    log_to_stderr()
    try:
        kernels = {
            key: runs.one_kernel(settings.home, str(wish[key])) for key in ("kernel_id", "against")
        }
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    app = App(settings, "cli")
    app.start()
    try:
        # Calls are recorded as sent, and agents read them.
        field = app.engine().catalogue.info(str(wish["field"])).name
        with watched() as tell:
            reply = scripted.run(_compare, app, {**wish, **kernels, "field": field}, tell)
    except (UnknownFieldError, FieldDataError) as error:
        raise StepFailed(f"--field: {error}") from error
    finally:
        app.close()
    stop_unless_ok("compare", reply)
    if as_json:
        json.dump(reply.structured, sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(f"{reply.text}\n")


async def _compare(app: App, wish: Mapping[str, object], tell: Tell) -> Reply:
    async with Client(create_server(app)) as client:
        return await ScriptedAgent(client, tell).measure("compare", **wish)
