"""Running a bench: one server, cells side by side as far as the spec allows, rows for what happens.

The ledger is the only state. A cell is `started` before its agent is, and ended by one row when its
agent is done; a cell without that row is begun anew, in a session of its own, when the bench is
started again. So it may be killed at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from results_db.ledger import Ledger
from sz_mcp.bench.agents import command, model, replay, search
from sz_mcp.bench.agents.desk import Desk, Usage
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.errors import CellFailed, CellStopped
from sz_mcp.bench.limits import flat, spent_of
from sz_mcp.bench.progress import Watcher
from sz_mcp.bench.records import Before, Event, Records, Spent
from sz_mcp.bench.serving import Server, Tokens, served
from sz_mcp.bench.spec import Kind
from sz_mcp.bench.tail import Tail
from sz_mcp.bench.world import Plan
from sz_mcp.errors import SettingsError, StepFailed

WORK: Mapping[Kind, Callable[[Any, Desk], Awaitable[str]]] = {
    "model": model.work,
    "command": command.work,
    "search": search.work,
    "replay": replay.work,
}
Serve = Callable[[Path, Path, Path], AbstractAsyncContextManager[Server]]
"""(home, token file, folder for its log) → a running server."""


@dataclass(frozen=True)
class Parts:
    """What a bench is made of; a test supplies its own."""

    serve: Serve = served
    work: Mapping[Kind, Callable[[Any, Desk], Awaitable[str]]] = field(default_factory=lambda: WORK)


_LOOK_S = 1.0
"""Between two looks at what the server has recorded."""
_GIST = 300


@dataclass
class _Running:
    """A cell in progress."""

    cell: Cell
    session: str
    began: float
    """Of the monotonic clock."""
    tokens: int = 0
    dollars: float = 0.0
    task: asyncio.Task[str] | None = None
    stopped: str = ""
    """Why it is being stopped."""


@dataclass(frozen=True)
class Ended:
    """How a cell ended."""

    event: Event
    reason: str


@dataclass(frozen=True)
class Outcome:
    """What a start of a bench came to."""

    events: Mapping[Event, int]
    spent: Spent
    """With earlier starts."""
    left: int
    """Cells that were not begun, because the budget of all was spent."""
    why_left: str = ""


@dataclass
class _State:
    """All that changes while a bench runs."""

    spent: Spent
    """By ended cells and earlier starts."""
    running: dict[str, _Running] = field(default_factory=dict)
    events: dict[Event, int] = field(default_factory=dict)
    failures: dict[str, tuple[str, int]] = field(default_factory=dict)
    """agent → the reason of its last failure, and how often in a row it was that."""
    over: str = ""
    """Why nothing more is begun."""
    left: int = 0
    broken: bool = False
    """Whether the bench itself ends, as when its server is gone."""


class Bench:
    """One start of a bench."""

    def __init__(
        self, plan: Plan, home: Path, before: Before, watcher: Watcher, parts: Parts | None = None
    ) -> None:
        self._parts = parts or Parts()
        self._plan, self._home, self._before, self._watcher = plan, home, before, watcher
        self._spec = plan.spec
        self._folder = folder_of(home, plan.spec.bench_id)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._state = _State(before.spent)
        gain = plan.spec.plateau.gain if plan.spec.plateau else 0.0
        self._tail = Tail(home, gain)

    async def run(self, todo: tuple[Cell, ...]) -> Outcome:
        """Run cells until they are done or the budget of all is spent.

        Raises:
            StepFailed: the server could not be had, or ended.
        """
        ledger = Ledger(self._home, writer="bench")
        try:
            self._records = Records(ledger, self._spec)
            self._records.begun(len(self._plan.cells))
            self._skip(todo)
            possible = [cell for cell in todo if cell.cell_id not in self._plan.skipped]
            if possible:
                await self._serve(possible)
        finally:
            ledger.close()
        state = self._state
        return Outcome(state.events, state.spent, state.left, state.over)

    def _skip(self, todo: tuple[Cell, ...]) -> None:
        for cell in todo:
            if (reason := self._plan.skipped.get(cell.cell_id)) is not None:
                self._end(cell, "", Ended("skipped", reason), None)

    async def _serve(self, cells: list[Cell]) -> None:
        self._tokens = Tokens(self._folder / "tokens.toml")
        async with self._parts.serve(self._home, self._tokens.path, self._folder) as server:
            self._server = server
            parallel = self._spec.parallel
            rooms = {
                True: asyncio.Semaphore(parallel.waiting),
                False: asyncio.Semaphore(parallel.busy),
            }
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch(server))
                async with asyncio.TaskGroup() as work:
                    for cell in cells:
                        work.create_task(self._in_turn(cell, rooms[cell.waits]))
                watch.cancel()

    async def _in_turn(self, cell: Cell, room: asyncio.Semaphore) -> None:
        async with room:
            state = self._state
            if state.broken:
                return
            state.over = state.over or spent_of(self._spec.budget.total, self._spent())
            if state.over:
                state.left += 1
                return
            reason, times = state.failures.get(cell.agent, ("", 0))
            if times >= self._spec.give_up:
                told = f"given up: {cell.agent} failed {times} times in a row: {reason}"
                self._end(cell, "", Ended("skipped", told), None)
                return
            try:
                await self._cell(cell)
            except BaseException:
                # What waits for this room may be let in before it is cancelled.
                state.broken = True
                raise

    async def _cell(self, cell: Cell) -> None:
        """Run a cell to its end, whatever that is."""
        number = self._before.starts.get(cell.cell_id, 0) + 1
        again = f"+{number}" if number > 1 else ""
        session = f"{self._spec.bench_id}/{cell.cell_id}{again}"
        agent, budget = self._spec.agents[cell.agent], self._spec.budget.cell
        token = self._tokens.give(cell, session, getattr(agent, "model", ""), budget)
        running = _Running(cell, session, time.monotonic())
        self._records.event(cell, session, "started")
        self._state.running[cell.cell_id] = running
        self._watcher.started(cell)
        try:
            with _scratch() as folder:
                desk = Desk(
                    cell=cell,
                    url=self._server.url,
                    token=token,
                    budget=budget,
                    home=self._home,
                    folder=folder,
                    used=lambda usage: self._used(running, usage),
                    tell=lambda what: self._watcher.told(cell, what),
                )
                ended = await self._ended(running, self._parts.work[agent.kind](agent, desk))
        finally:
            del self._state.running[cell.cell_id]
            self._tokens.take(session)
        self._tail.look()
        spent = self._cost(running)
        self._state.spent += spent
        self._end(cell, session, ended, spent)

    async def _ended(self, running: _Running, work: Awaitable[str]) -> Ended:
        """Wait for an agent; how it ended. Raises StepFailed if the server is gone."""
        minutes = self._spec.budget.cell.minutes
        running.task = asyncio.ensure_future(work)
        try:
            async with asyncio.timeout(None if minutes is None else 60 * minutes):
                return Ended("finished", await running.task)
        except TimeoutError:
            return Ended("stopped", f"budget: {minutes:g} minutes")
        except asyncio.CancelledError:
            if not running.stopped:
                raise
            return Ended("stopped", running.stopped)
        except Exception as error:  # noqa: BLE001 - whatever a library raises ends one cell
            self._server.check()
            return _ending(error)

    async def _watch(self, server: Server) -> None:
        """Stop cells that reached a limit."""
        while True:
            await asyncio.sleep(_LOOK_S)
            server.check()
            self._tail.look()
            self._watcher.looked()
            whole = spent_of(self._spec.budget.total, self._spent())
            self._state.over = self._state.over or whole
            for running in list(self._state.running.values()):
                standing = self._tail.standing(running.session)
                reason = whole and f"{whole}, of the whole bench"
                self._stop(running, reason or flat(self._spec.plateau, standing))

    def _stop(self, running: _Running, reason: str) -> None:
        if reason and not running.stopped and running.task is not None:
            running.stopped = reason
            running.task.cancel()

    def _used(self, running: _Running, usage: Usage) -> None:
        """Record what an agent used. Raises CellStopped when that is all there is."""
        self._records.used(running.cell, running.session, usage)
        running.tokens += usage.input_tokens + usage.output_tokens
        running.dollars += usage.dollars
        budget = self._spec.budget.cell
        kept = budget.model_copy(update={"calls": None, "minutes": None})
        if reason := spent_of(kept, self._cost(running)):
            raise CellStopped(reason)

    def _cost(self, running: _Running) -> Spent:
        calls = self._tail.standing(running.session).calls
        seconds = time.monotonic() - running.began
        return Spent(calls, seconds, running.tokens, running.dollars)

    def _spent(self) -> Spent:
        whole = self._state.spent
        for running in self._state.running.values():
            whole += self._cost(running)
        return whole

    def _end(self, cell: Cell, session: str, ended: Ended, spent: Spent | None) -> None:
        self._records.event(cell, session, ended.event, ended.reason, spent)
        state = self._state
        state.events[ended.event] = state.events.get(ended.event, 0) + 1
        if ended.event == "failed":
            reason, times = state.failures.get(cell.agent, ("", 0))
            same = times + 1 if reason == ended.reason else 1
            state.failures[cell.agent] = (ended.reason, same)
        elif ended.event != "skipped":
            state.failures.pop(cell.agent, None)
        self._watcher.ended(cell, ended.event, ended.reason, spent)


def _ending(error: BaseException) -> Ended:
    """How a cell ended that raised; task groups of clients wrap what is raised in them."""
    inner = _first(error, CellStopped)
    if inner is not None:
        return Ended("stopped", str(inner))
    inner = _first(error, CellFailed) or _first(error, StepFailed)
    if inner is not None:
        return Ended("failed", str(inner)[:_GIST])
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return Ended("failed", f"{type(error).__name__}: {error}"[:_GIST])


def _first(error: BaseException, kind: type[Exception]) -> BaseException | None:
    if isinstance(error, kind):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((f for one in error.exceptions if (f := _first(one, kind))), None)
    return None


def folder_of(home: Path, bench_id: str) -> Path:
    """Where a bench keeps its tokens and its server's log."""
    return home / "bench" / bench_id


@contextmanager
def only_one(home: Path, bench_id: str) -> Iterator[None]:
    """While this lasts no other process runs the same bench. Raises SettingsError if one does."""
    folder = folder_of(home, bench_id)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise SettingsError(f"{bench_id} is being run by another process already") from None
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sz-mcp-bench-"))
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
