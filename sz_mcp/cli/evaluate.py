"""`sz-mcp eval`: a submission folder through the tools that agents use, logged as an agent's."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from mcp import Client

from sz_mcp import scripted
from sz_mcp.app import App
from sz_mcp.arguments import WishArguments, parse
from sz_mcp.errors import ArgumentProblems, StepFailed
from sz_mcp.scripted import ScriptedAgent, Tell, stop_unless_ok, watched
from sz_mcp.server import create_server
from sz_mcp.serving import log_to_stderr
from sz_mcp.settings import Settings


def run(settings: Settings, wish: Mapping[str, object], *, as_json: bool) -> None:
    """Evaluate the one root of `settings`, print each step's outcome, stop at the first failure.

    `wish` is a `WishArguments`, unchecked.

    Raises:
        StepFailed: a step failed; its reply is in the message.
    """
    log_to_stderr()
    app = App(settings, "eval")
    app.start()
    replies: dict[str, Mapping[str, Any]] = {}
    try:
        with watched() as tell:
            scripted.run(_evaluate, app, wish, tell, replies, as_json)
    finally:
        app.close()
        if as_json:
            json.dump(replies, sys.stdout, indent=1, allow_nan=False)
            sys.stdout.write("\n")


async def _evaluate(
    app: App,
    asked: Mapping[str, object],
    tell: Tell,
    replies: dict[str, Mapping[str, Any]],
    quiet: bool,
) -> None:
    try:
        wish = parse(WishArguments, asked, await app.known())
    except ArgumentProblems as error:
        raise StepFailed(str(error)) from error
    folder = str(app.settings.roots[0])
    async with Client(create_server(app)) as client:
        agent = ScriptedAgent(client, tell)

        async def step(name: str, tool: str, **arguments: object) -> Mapping[str, Any]:
            if tool == "run_compress":
                reply = await agent.measure(name, **arguments)
            else:
                reply = await agent.call(name, tool, **arguments)
            replies[name] = reply.structured
            busy = reply.structured.get("status") == "inconclusive"
            if not busy:
                stop_unless_ok(name, reply)
            if not quiet:
                sys.stdout.write(f"{name}: {reply.text}\n")
            return reply.structured

        built = await step(
            "compile", "compile_kernel", task=wish.task, target=wish.target, path=folder
        )
        kernel = {"kernel_id": built["kernel_id"], "mode": wish.mode, "bound": wish.bound}
        await step("verify suite", "verify_bounds", **kernel)
        await step("verify field", "verify_bounds", field=wish.field, **kernel)
        measured = await step("run", "run_compress", field=wish.field, **kernel)
        await step("profile", "profile", field=wish.field, **kernel)
        if measured["status"] == "inconclusive":
            raise StepFailed(
                "nothing is wrong with the kernel, but the machine was too busy to time it"
            )
