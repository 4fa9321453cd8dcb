"""What an argument of a prompt or of a resource's URI may be: `completion/complete`.

A reference, an argument and what was typed so far flow in; names that begin with it flow out. Only
what is listed to agents is ever offered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, get_args

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    Prompt,
    PromptReference,
    ResourceTemplate,
)

from kernels import baselines
from sz_mcp.app import App
from sz_mcp.calls import Caller
from sz_mcp.prompts import Tier
from sz_mcp.tools import TOOLS

if TYPE_CHECKING:
    from sz_mcp.engine import Engine

MOST = 100
"""Values of one completion, by the protocol."""
KERNELS = 200
"""Own kernels that are looked at."""

_Context = ServerRequestContext[Any, Any]


class Offers(Protocol):
    """What a server has that takes arguments."""

    async def list_prompts(self) -> list[Prompt]:
        """Its prompts."""
        ...

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """Its resources with a variable in their URI."""
        ...


def completer(
    app: App, offers: Offers
) -> Callable[[_Context, CompleteRequestParams], Awaitable[CompleteResult]]:
    """What answers `completion/complete`."""

    async def complete(context: _Context, params: CompleteRequestParams) -> CompleteResult:
        names = await _argument_names(offers, params)
        argument = params.argument
        if argument.name not in names:
            listed = ", ".join(names) or "none"
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"no argument {argument.name!r} here: its arguments are {listed}",
            )
        known = CHOICES.get(argument.name)
        if known is None:
            return CompleteResult(completion=matching((), argument.value))
        given = (params.context.arguments if params.context else None) or {}
        asker = Asker(app, await app.ready(), app.sessions.caller(context), given)
        values = await asyncio.to_thread(known, asker)
        return CompleteResult(completion=matching(values, argument.value))

    return complete


def matching(values: Iterable[str], typed: str) -> Completion:
    """The values that begin with what was typed, in their order."""
    fitting = [value for value in dict.fromkeys(values) if value.startswith(typed)]
    return Completion(values=fitting[:MOST], total=len(fitting), has_more=len(fitting) > MOST)


@dataclass(frozen=True)
class Asker:
    """Who completes an argument, where, and what it has filled in already."""

    app: App
    engine: Engine
    caller: Caller
    given: Mapping[str, str]


def _targets(asker: Asker) -> Iterable[str]:
    targets = asker.engine.targets
    return [*(name for name, info in targets.items() if info.available), *targets]


def _tasks(asker: Asker) -> Iterable[str]:
    tasks = asker.engine.tasks
    return sorted(tasks, key=lambda name: tasks[name].rung)


def _runs(asker: Asker) -> Iterable[str]:
    latest = reversed(asker.app.jobs.remembered())
    return [job.run_id for job in latest if job.session == asker.caller.session]


def _styles(asker: Asker) -> Iterable[str]:
    """Of the family and task that were chosen already, or of any."""
    families, tasks = baselines.families(), tuple(asker.engine.tasks)
    family, task = asker.given.get("family"), asker.given.get("task")
    found = [
        style
        for one in ([family] if family in families else families)
        for name in ([task] if task in tasks else tasks)
        for style in baselines.styles(str(name), str(one))
    ]
    return dict.fromkeys(found)


CHOICES: dict[str, Callable[[Asker], Iterable[str]]] = {
    "target": _targets,
    "task": _tasks,
    "field": lambda asker: asker.engine.catalogue.names(),
    "kernel_id": lambda asker: asker.app.kernels_of(asker.caller, KERNELS),
    "run_id": _runs,
    "family": lambda _: baselines.families(),
    "style": _styles,
    "tier": lambda _: get_args(get_args(Tier)[0]),
    "tool": lambda _: TOOLS,
}
"""Argument → every value it may have, the likeliest first."""


async def _argument_names(offers: Offers, params: CompleteRequestParams) -> tuple[str, ...]:
    """The arguments of what is referred to.

    Raises:
        MCPError: there is no such prompt or resource.
    """
    reference = params.ref
    if isinstance(reference, PromptReference):
        prompts = {one.name: one for one in await offers.list_prompts()}
        if reference.name in prompts:
            return tuple(one.name for one in prompts[reference.name].arguments or ())
        what, known = f"prompt {reference.name!r}", list(prompts)
    else:
        known = [one.uri_template for one in await offers.list_resource_templates()]
        if reference.uri in known:
            return tuple(UriTemplate.parse(reference.uri).variable_names)
        what = f"resource template {reference.uri!r}"
    message = f"no {what}: there are {', '.join(known)}"
    raise MCPError(code=INVALID_PARAMS, message=message)
