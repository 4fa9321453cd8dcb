"""One server process: its settings, ledger, sessions, jobs, and the engine built in the background.

The protocol handshake needs none of numba, DuckDB or Matplotlib, so they are imported in a thread
while it goes on; a call that needs the engine waits for it.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from kernels.records import Kernel
from results_db.blobs import BlobStore
from results_db.errors import BlobError, UnknownKernelError
from results_db.ledger import Ledger
from results_db.viewing import Shared
from sz_mcp.arguments import Known
from sz_mcp.calls import Caller, CallLog, Sessions
from sz_mcp.errors import LimitReached
from sz_mcp.jobs import Job, Jobs
from sz_mcp.limits import UNLIMITED, Limits, Load, too_many_queries
from sz_mcp.queues import FairQueue
from sz_mcp.quota import DiskQuota
from sz_mcp.settings import Settings
from sz_mcp.tokens import Token
from sz_mcp.upkeep import Upkeep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernels.fields import Catalogue
    from sz_mcp.engine import Engine, Outcome

P = ParamSpec("P")
T = TypeVar("T")

_LOG = logging.getLogger(__name__)
ENGINE = "sz_mcp.engine"
WARM = "sz_mcp.pipeline.warm"
LATER = ("sz_mcp.pictures", "results_db.queries", "results_db.drain")
"""Slow imports that are made once the engine is up, so that no call waits for them."""
_EVALUATING = ("compile_kernel", "verify_bounds", "run_compress", "profile")
_OPERATORS = ("eval", "cli")
"""Transports of the command line, where no agent listens."""
_READERS = 3
"""Queries at once: each is a process, which may take two cores and a gigabyte."""
_QUERY_S = 20.0
"""The longest that a query takes, its drain included, once its turn has come."""
KEPT_KERNELS = 256
CLOSE_S = 3.0
"""How long cancelled work may take to end when the server does."""
_POLL_S = 0.02


class App:
    """Everything the tools share. Made and closed by whoever serves; thread-safe."""

    def __init__(
        self,
        settings: Settings,
        transport: str,
        open_engine: Callable[[App], Engine] | None = None,
        tokens: Mapping[str, Token] | None = None,
    ) -> None:
        """`transport` is stdio, http, eval or cli; `open_engine` replaces the real engine."""
        self.settings = settings
        self.ledger = Ledger(settings.home, writer=transport)
        self._operator = transport in _OPERATORS
        self.sessions = Sessions(settings, transport, tokens)
        self.needs_token = tokens is not None
        """Whether only holders of tokens may call."""
        self._blobs = BlobStore(settings.home)
        self.shared = Shared(settings.home)
        self._kernels: OrderedDict[str, Kernel] = OrderedDict()
        self._kernels_lock = threading.Lock()
        # Slow kernels may keep all threads of a tool; the next agent's first step must not wait.
        self._queues = {tool: FairQueue(settings.workers, tool) for tool in _EVALUATING}
        self.reading = FairQueue(_READERS, "reading")
        """Queries, in turns over sessions."""
        self._writer = ThreadPoolExecutor(1, "journal")
        self.jobs: Jobs[Outcome] = Jobs(self._queues, settings.kept_results)
        self.limits = Limits(
            settings.traffic if transport == "http" else UNLIMITED,
            Load(self.jobs.in_progress, self.jobs.expected_s),
        )
        self.quota = DiskQuota(settings.home, settings.disk_quota_bytes)
        self.upkeep = Upkeep(
            settings.home,
            settings.budgets.drain_s,
            busy=lambda: bool(self.jobs.running()),
            cancel=self.jobs.cancel,
            quota=self.quota,
        )
        self.call_log = CallLog(
            self.sessions, self.ledger, self._writer, self.upkeep.note, self.limits.count_call
        )
        self.started_at = time.monotonic()
        self.stopping = False
        self._loader = ThreadPoolExecutor(1, "load")
        self._engine: Future[Engine] = self._loader.submit(open_engine or _open_engine, self)

    def start(self) -> None:
        """Begin the slow imports and the drains; a test may do without."""
        self._loader.submit(lambda: importlib.import_module(WARM).warm())
        for module in LATER:
            self._loader.submit(importlib.import_module, module)
        self.upkeep.start()

    def engine(self) -> Engine:
        """The engine; blocks until it is built. For threads."""
        return self._engine.result()

    async def ready(self) -> Engine:
        """The engine, once it is built. For the event loop."""
        if not self._engine.done():
            await asyncio.shield(asyncio.wrap_future(self._engine))
        return self._engine.result()

    async def known(self, caller: Caller | None = None) -> Known:
        """The names that a caller may use, once the engine is built; None: the operator."""
        engine = await self.ready()
        return Known(
            tasks=tuple(engine.tasks),
            targets=tuple(engine.targets),
            fields=engine.catalogue.names(),
            field_problem=self._field_problem(engine.catalogue),
            has_kernel=lambda kernel_id: self.seen_kernel(kernel_id, caller) is not None,
            has_run=lambda run_id: self.seen_job(run_id, caller) is not None,
            # A root is of the operator's machine: whoever sees all may read it, others may not.
            roots=self.settings.roots if caller is None or caller.viewer is None else (),
            limits=self.settings.limits,
            cores=os.cpu_count() or 1,
        )

    async def recorded(self, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """A call's arguments as the ledger keeps them: a field that an operator hid is an alias.

        An agent's guess at a hidden name is kept as it is: the alias would confirm it.
        """
        field = arguments.get("field")
        if not self._operator or not isinstance(field, str):
            return arguments
        catalogue = (await self.ready()).catalogue
        if catalogue.missing(field) is not None:
            return arguments
        return {**arguments, "field": catalogue.info(field).name}

    def _field_problem(self, catalogue: Catalogue) -> Callable[[str], str | None]:
        """What is wrong with a field's name: an operator may use those that agents never see."""
        return catalogue.missing if self._operator else catalogue.problem

    def receive(self, kernel: Kernel, call_id: str, attempt: int | None) -> None:
        """Store a submission and its row; it is on disk when this returns."""
        self.ledger.kernel(kernel, call_id, attempt)
        self._remember(kernel)

    def kernel(self, kernel_id: str) -> Kernel | None:
        """A kernel that any server of this home received; None if none did."""
        with self._kernels_lock:
            kernel = self._kernels.get(kernel_id)
        try:
            # Another process may have pruned it since.
            if kernel is None or not self._blobs.has_kernel(kernel_id):
                kernel = self._blobs.get_kernel(kernel_id)
        except BlobError as error:
            if not isinstance(error, UnknownKernelError):
                _LOG.warning("kernel %s can't be had: %s", kernel_id, error)
            with self._kernels_lock:
                self._kernels.pop(kernel_id, None)
            return None
        self._remember(kernel)
        return kernel

    def seen_kernel(self, kernel_id: str, caller: Caller | None) -> Kernel | None:
        """A kernel that a caller may see: its own, or a shared one; None is the operator."""
        kernel = self.kernel(kernel_id)
        if kernel is None or caller is None or caller.may_see(kernel.agent, kernel.session):
            return kernel
        return kernel if kernel_id in self.shared else None

    def seen_job(self, run_id: str, caller: Caller | None) -> Job[Outcome] | None:
        """A run of this server that a caller may see; None is the operator."""
        job = self.jobs.find(run_id)
        if job is None or caller is None or caller.may_see(job.agent, job.session):
            return job
        return None

    def kernels_of(self, caller: Caller, most: int) -> list[str]:
        """kernel_ids of a caller, the latest first: of its session, then of its agent's others."""
        with self._kernels_lock:
            used = reversed(self._kernels.values())
            own = [
                one.kernel_id
                for one in used
                if (one.session, one.agent) == (caller.session, caller.agent)
            ]
        own = [name for name in own if self._blobs.has_kernel(name)]
        if caller.sees == "session":
            return own[:most]
        stored = self._blobs.recent_kernels(caller.agent, most)
        return list(dict.fromkeys([*own, *stored]))[:most]

    async def read(self, session: str, work: Callable[[], T]) -> T:
        """Do a query's work in its turn, on a thread. For the event loop.

        Raises:
            LimitReached: its turn did not come in time.
        """
        found = self.reading.submit(session, work)
        waiting = asyncio.wrap_future(found)
        try:
            await asyncio.wait([waiting], timeout=self._patience_s)
            self._check_begun(found)
            return await waiting
        finally:
            found.cancel()

    def read_blocking(self, session: str, work: Callable[[], T]) -> T:
        """The same for threads."""
        found = self.reading.submit(session, work)
        wait([found], self._patience_s)
        self._check_begun(found)
        return found.result()

    @property
    def _patience_s(self) -> float:
        return max(self.settings.budgets.answer_s - _QUERY_S, 0.0)

    def _check_begun(self, query: Future[T]) -> None:
        if not query.done() and query.cancel():
            raise LimitReached(too_many_queries(self.reading.expected_s()))

    async def write(self, event: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Record an event in the journal's thread; it is on disk when this returns."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, lambda: event(*args, **kwargs))
        # A drain waits until no job runs, so this also covers what a job will write in the end.
        self.upkeep.note()

    def refusal(self) -> str | None:
        """Why nothing new may be evaluated now; None if it may. Blocks for a moment."""
        if self.stopping:
            return "the server is shutting down: connect again and repeat the call"
        return self.quota.refusal()

    async def settle(self) -> None:
        """Take no new work, give what runs its time, then cancel it and let its calls answer.

        Asked again, it gives no more time.
        """
        budget = 0.0 if self.stopping else self.settings.budgets.shutdown_s
        self.stopping = True
        if not await self._idle_within(budget):
            for job in self.jobs.running():
                job.cancellation.cancel()
            await self._idle_within(CLOSE_S)

    async def _idle_within(self, seconds: float) -> bool:
        """Whether no job runs and no call is being answered, at the latest then."""
        deadline = time.monotonic() + seconds
        while self.jobs.running() or self.call_log.in_progress:
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def close(self) -> None:
        """Cancel what runs, kill the children, let go of the journal, drain it. Idempotent."""
        running = self.jobs.running()
        for job in running:
            job.cancellation.cancel()
        if self._engine.exception() is None:
            self._engine.result().close()
        self._loader.shutdown(wait=False, cancel_futures=True)
        wait([job.future for job in running], CLOSE_S)
        for queue in (*self._queues.values(), self.reading):
            queue.shutdown()
        self._writer.shutdown(wait=True)
        self.ledger.close()
        self.upkeep.close()

    def _remember(self, kernel: Kernel) -> None:
        with self._kernels_lock:
            self._kernels[kernel.kernel_id] = kernel
            self._kernels.move_to_end(kernel.kernel_id)
            while len(self._kernels) > KEPT_KERNELS:
                self._kernels.popitem(last=False)


def _open_engine(app: App) -> Engine:
    engine: Engine = importlib.import_module(ENGINE).open_engine(app.ledger, app.settings.home)
    return engine
