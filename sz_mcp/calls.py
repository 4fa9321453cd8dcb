"""Who is calling, and the row that each call leaves in the ledger.

Every tool call, resource read and prompt passes through `CallLog`, whatever becomes of it: its row
is on disk before the reply is sent. What a tool learns on the way (kernel, run, attempt) it notes
on the `Call` that `current_call` returns.
"""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from pydantic import ValidationError

from results_db.attempts import Attempts
from results_db.errors import JournalError
from results_db.ledger import Ledger
from results_db.rows import CallRow, SessionRow
from results_db.viewing import Viewer
from sz_mcp.limits import LIMIT_REACHED
from sz_mcp.settings import FeedbackLevel, Settings
from sz_mcp.tokens import Sees, Token

_LOGGED = frozenset({"tools/call", "resources/read", "prompts/get"})
"""Methods that leave a row; anything but a tool is logged under the name of its method."""
_KEPT_TEXT = 2000
"""Characters of an error, and of an argument, that a row keeps; the ledger keeps sources apart."""


@dataclass(frozen=True)
class Caller:
    """One session of one agent, as far as this server can tell."""

    session: str
    agent: str
    client: str
    """Name and version the client gives of itself; never trusted as an identity."""
    protocol: str
    feedback: FeedbackLevel
    model: str = ""
    prompt_tier: str = ""
    sees: Sees = "all"
    """Whose kernels and runs it may see, beside shared ones."""
    token: str = ""
    """Fingerprint of its token; empty where none is asked for."""
    shares: bool = False
    """Whether everybody may see what it sends."""
    attempts: int | None = None
    """Calls that touch a kernel, which its session may make; None: no limit."""
    seconds: float | None = None
    """Time its session has, for the record."""

    def may_see(self, agent: str, session: str) -> bool:
        """Whether it may see what that session of that agent sent."""
        if self.sees == "all":
            return True
        return agent == self.agent and (self.sees == "agent" or session == self.session)

    @property
    def viewer(self) -> Viewer | None:
        """How it looks at the ledger; None if it sees everything."""
        if self.sees == "all":
            return None
        return Viewer(self.agent, self.session if self.sees == "session" else None)


@dataclass
class Call:
    """One call in progress; filled in on the way and then written as a row."""

    caller: Caller
    tool: str
    arguments: Mapping[str, object]
    call_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=perf_counter)
    kernel_id: str | None = None
    run_id: str | None = None
    attempt: int | None = None
    refusal: str = ""
    """Why it is too much now; empty if it is not. Tools answer with it, other methods fail."""

    @property
    def elapsed_s(self) -> float:
        """For how long its caller has been waiting."""
        return perf_counter() - self.started

    def row(self, outcome: str, result: Mapping[str, Any], error: str | None) -> CallRow:
        """What the ledger keeps of it."""
        structured = result.get("structuredContent") or {}
        return CallRow(
            call_id=self.call_id,
            tool=self.tool,
            started_at=self.started_at,
            duration_ms=self.elapsed_s * 1e3,
            outcome=outcome,
            arguments=_kept(self.arguments),
            agent=self.caller.agent,
            session=self.caller.session,
            client=self.caller.client,
            protocol=self.caller.protocol,
            attempt=self.attempt,
            status=structured.get("status"),
            error=error[:_KEPT_TEXT] if error else None,
            request_bytes=_size(self.arguments),
            reply_bytes=_size(result),
            kernel_id=self.kernel_id,
            run_id=self.run_id,
        )


_CURRENT: ContextVar[Call] = ContextVar("sz_mcp_call")


def current_call() -> Call:
    """The call that the running task serves."""
    return _CURRENT.get()


class Sessions:
    """The sessions of one server process, and how many attempts each has made. Thread-safe."""

    def __init__(
        self, settings: Settings, transport: str, tokens: Mapping[str, Token] | None = None
    ) -> None:
        self._settings = settings
        self._transport = transport
        self._tokens: Mapping[str, Token] = {} if tokens is None else tokens
        self._process = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._attempts: Counter[str] = Counter()
        self._kept = Attempts(settings.home)
        self._named = {one.session or name for name, one in self._tokens.items()}
        """Sessions of tokens, those that were revoked among them."""
        self._seen: set[str] = set()

    def caller(self, context: ServerRequestContext[Any, Any]) -> Caller:
        """Who sent this request: the bearer token says so, else the agent the server was given.

        Raises MCPError if the token was revoked since the request was let in.
        """
        params = context.session.client_params
        client = f"{params.client_info.name} {params.client_info.version}" if params else ""
        access = get_access_token()
        if access is not None:
            return self._holder(access, client, context.protocol_version)
        session = self._process
        if self._transport == "http" and params:
            session = f"{session}-{params.client_info.name}"
        return Caller(
            session=session,
            agent=self._settings.agent,
            client=client,
            protocol=context.protocol_version,
            feedback=self._settings.feedback,
        )

    def holder(self) -> Caller | None:
        """Whose token the request that is being served has; None if it has none."""
        access = get_access_token()
        return None if access is None else self._holder(access, "", "")

    def _holder(self, access: AccessToken, client: str, protocol: str) -> Caller:
        token = self._tokens.get(access.client_id)
        if token is None or token.fingerprint != access.subject:
            raise MCPError(code=INVALID_REQUEST, message="the token was revoked")
        session = token.session or access.client_id
        self._named.add(session)
        return Caller(
            session=session,
            agent=token.agent,
            client=client,
            protocol=protocol,
            feedback=token.feedback or self._settings.feedback,
            model=token.model,
            prompt_tier=token.prompt_tier,
            sees=token.sees,
            token=token.fingerprint,
            shares=token.share,
            attempts=token.attempts,
            seconds=token.seconds,
        )

    def still_known(self, caller: Caller) -> bool:
        """Whether its token, if it has one, was not revoked since."""
        known = {one.fingerprint for one in self._tokens.values()}
        return not caller.token or caller.token in known

    def first_row(self, caller: Caller) -> SessionRow | None:
        """The row of a session that was not seen before; None for one that was."""
        with self._lock:
            if caller.session in self._seen:
                return None
            self._seen.add(caller.session)
        return SessionRow(
            session=caller.session,
            agent=caller.agent,
            client=caller.client,
            transport=self._transport,
            protocol=caller.protocol,
            model=caller.model,
            prompt_tier=caller.prompt_tier,
            feedback_level=caller.feedback,
            budget_attempts=caller.attempts,
            budget_seconds=caller.seconds,
        )

    def count_attempt(self, session: str) -> int:
        """The number of this attempt within its session, from 1.

        A token's session goes on in other servers of this home, at the same time or later.
        Raises JournalError.
        """
        if session in self._named:
            return self._kept.next(session)
        with self._lock:
            self._attempts[session] += 1
            return self._attempts[session]


class CallLog:
    """Middleware: one ledger row per call, written before the reply leaves."""

    def __init__(
        self,
        sessions: Sessions,
        ledger: Ledger,
        writer: Executor,
        written: Callable[[], None],
        count: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`written` is told of every row; count: a session's call → why it is refused, or empty."""
        self._sessions = sessions
        self._ledger = ledger
        self._writer = writer
        self._written = written
        self._count = count
        self.in_progress = 0
        """Calls that are being answered."""

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Serve one message; see the module."""
        if ctx.method not in _LOGGED or ctx.request_id is None:
            return await call_next(ctx)
        call = _opened(self._sessions.caller(ctx), ctx.method, ctx.params or {})
        call.refusal = self._count(call.caller.session)
        token = _CURRENT.set(call)
        self.in_progress += 1
        try:
            return await self._answered(call, ctx, call_next)
        finally:
            self.in_progress -= 1
            _CURRENT.reset(token)

    async def _answered(
        self, call: Call, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        try:
            if call.refusal and ctx.method != "tools/call":
                raise MCPError(code=LIMIT_REACHED, message=call.refusal)
            result = await call_next(ctx)
        except asyncio.CancelledError:
            # Nothing can be awaited any more; the writer's thread does it.
            self._writer.submit(self._write, call, call.row("cancelled", {}, None))
            raise
        except (MCPError, ValidationError) as error:
            await self._record(call, call.row("protocol_error", {}, str(error)))
            raise
        told = result if isinstance(result, dict) else {}
        failed = told.get("isError") is True
        error_text = _first_text(told) if failed else None
        await self._record(call, call.row("tool_error" if failed else "ok", told, error_text))
        return result

    async def _record(self, call: Call, row: CallRow) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._writer, self._write, call, row)
        except JournalError as error:
            # What is not on disk must not be acknowledged.
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error

    def _write(self, call: Call, row: CallRow) -> None:
        session = self._sessions.first_row(call.caller)
        if session is not None:
            self._ledger.session(session)
        self._ledger.call(row)
        self._written()


def _opened(caller: Caller, method: str, params: Mapping[str, Any]) -> Call:
    arguments = params.get("arguments")
    sent = dict(arguments) if isinstance(arguments, Mapping) else {}
    if method == "tools/call":
        return Call(caller=caller, tool=str(params.get("name")), arguments=sent)
    what = {key: params[key] for key in ("uri", "name") if key in params}
    return Call(caller=caller, tool=method, arguments={**what, **sent})


def _kept(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments without what is too long for a row; `files` is the ledger's to replace."""
    return {
        name: value if name == "files" and isinstance(value, Mapping) else _cut(value)
        for name, value in arguments.items()
    }


def _cut(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return value if len(text) <= _KEPT_TEXT else f"{text[:_KEPT_TEXT]}… ({len(text)} characters)"


def _size(value: object) -> int:
    """Bytes of the JSON text of `value`."""
    return len(json.dumps(value, separators=(",", ":"), default=str))


def _first_text(result: Mapping[str, Any]) -> str:
    return next((block["text"] for block in result.get("content", ()) if "text" in block), "")
