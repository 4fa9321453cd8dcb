"""News of runs, for clients that asked for it, in both protocol eras.

A job that starts flows in; "this resource changed" flows out: to `subscriptions/listen` streams
(2026-07-28) through the SDK's bus, and to connections that sent `resources/subscribe` (2025-11-25)
on their own channel. News are level triggers: whoever hears one reads the resource again. Of a run
hears only who may see it: that somebody's run began is news of somebody's work.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ServerEvent
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from sz_mcp.calls import Caller, Sessions
from sz_mcp.jobs import Job, Progress, follow

RUNS_URI = "sz-mcp://runs"
TAKE_S = 5.0
"""How long a client may take to accept a notification before it loses its subscriptions."""

_Context = ServerRequestContext[Any, Any]


def run_uri(run_id: str) -> str:
    """Where a run is read."""
    return f"{RUNS_URI}/{run_id}"


MayHear = Callable[[Caller | None], bool]
"""Whether a caller may be told; None is whoever asks where there are no tokens."""
Deliver = Callable[[ServerEvent], None]


class RunBus:
    """The SDK's `SubscriptionBus`, which knows who listens."""

    def __init__(self, listener_now: Callable[[], Caller | None]) -> None:
        """listener_now: who sent the request that is being served."""
        self._listener_now = listener_now
        self._listeners: dict[object, tuple[Caller | None, Deliver]] = {}

    def subscribe(self, listener: Deliver) -> Callable[[], None]:
        """Tell `listener` from now on; what is returned ends that."""
        key = object()
        self._listeners[key] = (self._listener_now(), listener)

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Tell everybody."""
        await self.tell(event, lambda _: True)

    async def tell(self, event: ServerEvent, may_hear: MayHear) -> None:
        """Tell those who may hear of it."""
        for caller, listener in list(self._listeners.values()):
            if may_hear(caller):
                listener(event)
        # Streams that have much to say are read in between.
        await anyio.lowlevel.checkpoint()


class Subscriptions:
    """Who hears of which resource; lives on the event loop of one server."""

    def __init__(
        self, pause_s: float, take_s: float = TAKE_S, sessions: Sessions | None = None
    ) -> None:
        """pause_s: least time between two notifications of one run's progress.

        sessions: says who asks to be told; None where nobody has a token.
        """
        self._sessions = sessions
        self.bus = RunBus(self._asking)
        self._pause_s, self._take_s = pause_s, take_s
        self._subscribed: dict[Connection, set[str]] = {}
        self._callers: dict[Connection, Caller | None] = {}
        self._watches: set[asyncio.Task[None]] = set()

    def watch(self, job: Job[Any]) -> None:
        """Tell of a job whenever it gets on, and when it is done."""
        task = asyncio.get_running_loop().create_task(self._tell(job))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)

    async def publish(self, uri: str, job: Job[Any] | None = None) -> None:
        """Tell everyone who asked, and may see the job that it is about, of a change."""

        def may_hear(caller: Caller | None) -> bool:
            if caller is None or job is None or self._sessions is None:
                return True
            return caller.may_see(job.agent, job.session) and self._sessions.still_known(caller)

        await self.bus.tell(ResourceUpdated(uri), may_hear)
        for connection, uris in list(self._subscribed.items()):
            if uri in uris and may_hear(self._callers.get(connection)):
                await self._notify(connection, uri)

    def subscribe(self, connection: Connection, uri: str) -> None:
        """Tell a connection of the resource from now on, until it closes."""
        if connection not in self._subscribed:
            self._subscribed[connection] = set()
            self._callers[connection] = self._asking()
            connection.exit_stack.callback(self._forget, connection)
        self._subscribed[connection].add(uri)

    def unsubscribe(self, connection: Connection, uri: str) -> None:
        """Stop telling a connection of the resource."""
        self._subscribed.get(connection, set()).discard(uri)

    async def _tell(self, job: Job[Any]) -> None:
        uri = run_uri(job.run_id)

        async def report(_: Progress) -> None:
            await self.publish(uri, job)

        await self.publish(RUNS_URI, job)
        await follow(job, math.inf, report, self._pause_s)
        await self.publish(uri, job)
        await self.publish(RUNS_URI, job)

    async def _notify(self, connection: Connection, uri: str) -> None:
        """Never raises; a client that does not read must not hold up the others."""
        params = ResourceUpdatedNotificationParams(uri=uri)
        told = ResourceUpdatedNotification(params=params).model_dump(
            by_alias=True, mode="json", exclude_none=True
        )
        with anyio.move_on_after(self._take_s) as scope:
            await connection.notify(told["method"], told["params"])
        if scope.cancelled_caught:
            self._forget(connection)

    def _asking(self) -> Caller | None:
        return None if self._sessions is None else self._sessions.holder()

    def _forget(self, connection: Connection) -> None:
        self._subscribed.pop(connection, None)
        self._callers.pop(connection, None)


Readable = Callable[[str], Awaitable[bool]]


def handlers(
    subscriptions: Subscriptions, readable: Readable
) -> tuple[
    Callable[[_Context, SubscribeRequestParams], Awaitable[EmptyResult]],
    Callable[[_Context, UnsubscribeRequestParams], Awaitable[EmptyResult]],
]:
    """What answers `resources/subscribe` and `resources/unsubscribe`."""

    async def subscribe(context: _Context, params: SubscribeRequestParams) -> EmptyResult:
        if not await readable(params.uri):
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"no resource {params.uri!r}: resources/list and resources/templates/list "
                "say which there are",
            )
        subscriptions.subscribe(_connection(context), params.uri)
        return EmptyResult()

    async def unsubscribe(context: _Context, params: UnsubscribeRequestParams) -> EmptyResult:
        subscriptions.unsubscribe(_connection(context), params.uri)
        return EmptyResult()

    return subscribe, unsubscribe


def _connection(context: _Context) -> Connection:
    # The session is made anew for every request, and only it knows what lasts longer.
    return context.session._connection
