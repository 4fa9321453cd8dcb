"""The seven tools: what agents call.

Each body takes a `Use` (the server, the call, who may see what) and its arguments as a record, and
returns a reply model. Its docstring is the description that agents read. `TOOLS` is the surface.
"""

from __future__ import annotations

import asyncio
import importlib
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from kernels.records import Kernel, Submission
from results_db.errors import QueryError
from results_db.rows import RunStartedRow
from results_db.viewing import Viewer
from sz_mcp.answers import View, query_reply, running_reply
from sz_mcp.app import App
from sz_mcp.arguments import (
    SUITE,
    Arguments,
    CompileArguments,
    DescribeArguments,
    MeasureArguments,
    ProfileArguments,
    QueryArguments,
    ResultArguments,
    RunArguments,
    VerifyArguments,
)
from sz_mcp.asked import Asked
from sz_mcp.brief import fitting
from sz_mcp.calls import Call
from sz_mcp.describe import describe_all, describe_one, describe_task
from sz_mcp.errors import ArgumentProblems, LimitReached
from sz_mcp.jobs import Job, Progress, follow
from sz_mcp.replies import (
    CompileReply,
    DescribeReply,
    KernelReply,
    ProfileReply,
    QueryReply,
    Reply,
    ResultReply,
    RunReply,
    VerifyReply,
)
from sz_mcp.submissions import read_folder

if TYPE_CHECKING:
    from results_db.queries import QueryResult
    from sz_mcp.engine import Engine, Outcome


DEFAULT_ROWS = 50
"""Rows of a query that asks for no number; a concise reply may have fewer."""


@dataclass(frozen=True)
class Use:
    """One use of a tool."""

    app: App
    engine: Engine
    call: Call
    context: Context
    view: View


@dataclass(frozen=True)
class Answer:
    """What a tool says: the reply, and the picture that goes with it."""

    reply: Reply
    picture: bytes | None = None
    """PNG."""


async def describe_arch(use: Use, arguments: DescribeArguments) -> Answer:
    """List targets, tasks and fields, or explain one target or task. Call this first.

    With `target`: its contract, limits, bandwidth peaks of this machine, advice and an example.
    With `task`: what exactly it takes and returns. Next: compile_kernel.
    """
    engine, feedback = use.engine, use.view.feedback
    if arguments.task is not None:
        page = describe_task(engine, arguments.task, feedback, detailed=use.view.detailed)
        if arguments.target is None:
            return Answer(page)
        raise ArgumentProblems("describe_arch explains one `target` or one `task` in a call")
    if arguments.target is None:
        return Answer(describe_all(engine, feedback, use.call.caller.agent))
    info = await asyncio.to_thread(engine.pipeline.describe, arguments.target)
    return Answer(describe_one(engine, info, feedback, detailed=use.view.detailed))


async def compile_kernel(use: Use, arguments: CompileArguments) -> Answer:
    """Send a kernel's source and compile it; returns the kernel_id the other tools take.

    kernel.py defines compress(data, abs_bound) and decompress(stream, shape, dtype), or run(...)
    for a stage. What is wrong with it comes back as status, stage, diagnostics and guidance, not as
    an error of the call. Next: verify_bounds.
    """
    with _accepted(use):
        job = await _received(use, arguments)
    return await _answer(use, job)


async def _received(use: Use, arguments: CompileArguments) -> Job[Outcome]:
    """Store a submission and start its build."""
    target = use.engine.targets[arguments.target]
    if not target.available:
        raise ArgumentProblems(f"target {target.target!r} can't run here: {target.reason}")
    files = arguments.files
    if files is None:
        settings = use.app.settings
        files = await asyncio.to_thread(
            read_folder, Path(str(arguments.path)), settings.roots, settings.limits
        )
    caller = use.call.caller
    kernel = Kernel(
        kernel_id=f"k_{uuid.uuid4().hex}",
        submission=Submission(arguments.task, arguments.target, files, arguments.parent),
        agent=caller.agent,
        session=caller.session,
    )
    _attempt(use, kernel.kernel_id)
    call_id, attempt = use.call.call_id, use.call.attempt
    # Remembered from then on: the journal's thread, which all calls share, need not wait for it.
    await asyncio.to_thread(lambda: kernel.submission.likeness)
    await use.app.write(use.app.receive, kernel, call_id, attempt)
    if caller.shares:
        await asyncio.to_thread(use.app.shared.add, kernel.kernel_id)
    about = {"task": arguments.task, "target": arguments.target}
    job: Job[Outcome] = Job(
        _new_run_id(), "compile_kernel", kernel.kernel_id, caller.session, about
    )
    job.agent = caller.agent
    use.app.jobs.start(job, lambda job: use.engine.compile(kernel, call_id, attempt, job))
    return job


async def verify_bounds(use: Use, arguments: VerifyArguments) -> Answer:
    """Check every element a kernel decodes against its bound, exactly (a stage: its outputs).

    The suite has the hard cases: NaN, subnormals, huge offsets, odd sizes and more. A failure comes
    with the worst element and a counterexample. A kernel is ranked only if the suite holds at the
    same mode and bound. Next: run_compress.
    """
    asked = _asked(use, "verify_bounds", arguments, arguments.field)
    return await _measure(use, asked)


async def run_compress(use: Use, arguments: RunArguments) -> Answer:
    """Measure ratio, error and speed on one field; with `against`, which of two is faster.

    Speeds are medians over `repeats` requests each way, by the server's clock, with fresh content
    every time. Next: profile, or a better kernel with parent=this kernel_id.
    """
    if arguments.against is not None:
        _check_comparable(use, arguments.kernel_id, arguments.against)
    asked = _asked(
        use, "run_compress", arguments, arguments.field, arguments.repeats, arguments.threads
    )
    return await _measure(use, replace(asked, against=arguments.against))


async def profile(use: Use, arguments: ProfileArguments) -> Answer:
    """Find where a kernel spends its time on one field: use it before optimising.

    Returns time per phase, bandwidth against this machine's peak, what limits it, and a picture.
    """
    asked = _asked(use, "profile", arguments, arguments.field, threads=arguments.threads)
    return await _measure(use, asked)


async def query_results(use: Use, arguments: QueryArguments) -> Answer:
    """Ask the ledger of all calls, kernels and runs in SQL (DuckDB, read-only).

    Start with SELECT * FROM leaderboard, best_runs or ladder; the resource sz-mcp://schema has
    every column.
    """
    try:
        most = arguments.max_rows or DEFAULT_ROWS
        result = await use.app.read(
            use.call.caller.session,
            lambda: _query(use.app.settings.home, arguments.sql, most, use.call.caller.viewer),
        )
    except (QueryError, LimitReached) as error:
        raise ToolError(str(error)) from error
    reply = query_reply(result)
    short = arguments.max_rows is None and not use.view.detailed
    return Answer(fitting(reply) if short else reply)


async def get_result(use: Use, arguments: ResultArguments) -> Answer:
    """Wait for a call that answered `running`, or end it; return its result, or `running` again."""
    job = use.app.seen_job(arguments.run_id, use.call.caller)
    if job is None:
        raise ToolError(f"{arguments.run_id} was forgotten meanwhile; see query_results")
    use.call.run_id, use.call.kernel_id = job.run_id, job.kernel_id
    if arguments.cancel:
        if job.session != use.call.caller.session:
            raise ToolError(f"{job.run_id} is a run of another session: only that can cancel it")
        if not use.app.jobs.cancel(job.run_id):
            answer = await _answer(use, job, owner=False)
            return replace(answer, reply=_uncancelled(answer.reply))
    return await _answer(use, job, arguments.wait_s, owner=False)


def _uncancelled(reply: Reply) -> Reply:
    """The reply of a run that had ended before it was cancelled."""
    if not isinstance(reply, KernelReply):
        return reply
    told = f"it had finished already: nothing was cancelled. {reply.message}".rstrip()
    return reply.model_copy(update={"message": told})


def _query(home: Path, sql: str, max_rows: int, viewer: Viewer | None) -> QueryResult:
    queries = importlib.import_module("results_db.queries")
    result: QueryResult = queries.query(home, sql, max_rows, viewer=viewer)
    return result


def _new_run_id() -> str:
    return f"r_{uuid.uuid4().hex}"


@contextmanager
def _accepted(use: Use) -> Iterator[None]:
    """Hold a place for an evaluation until it is started; a ToolError if there is none now."""
    if reason := use.app.refusal():
        raise ToolError(reason)
    try:
        with use.app.limits.place(use.call.caller.session):
            yield
    except LimitReached as error:
        raise ToolError(str(error)) from error


def _check_comparable(use: Use, kernel_id: str, against: str) -> None:
    """Raise ArgumentProblems if the two kernels do different things."""
    one, other = use.app.kernel(kernel_id), use.app.kernel(against)
    if one is None or other is None:
        return
    mine, theirs = one.submission, other.submission
    if (mine.task, mine.target) != (theirs.task, theirs.target):
        raise ArgumentProblems(
            f"against: {against} is a kernel for {theirs.task} on {theirs.target}, not for "
            f"{mine.task} on {mine.target}: only kernels of one task and target can be compared"
        )


def _attempt(use: Use, kernel_id: str) -> None:
    """Count this call as an attempt: it touches a kernel. A ToolError if none is left."""
    caller = use.call.caller
    attempt = use.app.sessions.count_attempt(caller.session)
    if caller.attempts is not None and attempt > caller.attempts:
        raise ToolError(
            f"budget spent: this session has made all {caller.attempts} calls on kernels that it "
            "may make; describe_arch, get_result and query_results still answer"
        )
    use.call.kernel_id = kernel_id
    use.call.attempt = attempt


def _asked(
    use: Use,
    tool: str,
    arguments: MeasureArguments,
    field: str,
    repeats: int = 7,
    threads: int = 1,
) -> Asked:
    return Asked(
        tool=tool,
        run_id=_new_run_id(),
        kernel_id=arguments.kernel_id,
        field=field if field == SUITE else use.engine.catalogue.info(field).name,
        mode=arguments.mode,
        bound=arguments.bound,
        repeats=repeats,
        threads=threads,
        metrics=use.view.detailed,
    )


async def _measure(use: Use, asked: Asked) -> Answer:
    """Start a run, and answer with its result or with `running`."""
    with _accepted(use):
        job = await _started(use, asked)
    return await _answer(use, job)


async def _started(use: Use, asked: Asked) -> Job[Outcome]:
    """Record that a run starts, and start it."""
    _attempt(use, asked.kernel_id)
    kernel = use.app.kernel(asked.kernel_id)
    if kernel is None:
        raise ArgumentProblems(f"kernel {asked.kernel_id} is gone from this server's home")
    against = None if asked.against is None else use.app.kernel(asked.against)
    if against is None and asked.against is not None:
        raise ArgumentProblems(f"kernel {asked.against} is gone from this server's home")
    use.call.run_id = asked.run_id
    started = RunStartedRow(
        run_id=asked.run_id,
        call_id=use.call.call_id,
        kernel_id=asked.kernel_id,
        tool=asked.tool,
        field=asked.field,
        mode=asked.mode,
        bound=asked.bound,
        session=use.call.caller.session,
        agent=use.call.caller.agent,
        attempt=use.call.attempt,
        repeats=asked.repeats if asked.tool == "run_compress" else None,
        threads=asked.threads,
        against=asked.against,
    )
    await use.app.write(use.app.ledger.run_started, started)
    about = {"field": asked.field, "mode": asked.mode, "bound": asked.bound}
    session = use.call.caller.session
    job: Job[Outcome] = Job(asked.run_id, asked.tool, asked.kernel_id, session, about)
    job.agent = use.call.caller.agent
    use.app.jobs.start(job, lambda job: use.engine.measure(asked, kernel, job, against))
    return job


async def _answer(
    use: Use, job: Job[Outcome], seconds: float | None = None, *, owner: bool = True
) -> Answer:
    """Follow a job for as long as a tool may take; a caller that goes away ends its own job."""
    budgets = use.app.settings.budgets

    async def report(progress: Progress) -> None:
        await use.context.report_progress(progress.fraction, 1.0, progress.message)

    left_s = max(budgets.answer_s - use.call.elapsed_s, 0.0)
    wait_s = left_s if seconds is None else min(seconds, left_s)
    try:
        done = await follow(job, wait_s, report, budgets.progress_s)
    except asyncio.CancelledError:
        if owner:
            job.cancellation.cancel()
        raise
    if not done:
        progress = job.progress
        reply = running_reply(job.kernel_id, job.run_id, progress.fraction, progress.message)
        return Answer(reply)
    outcome = job.future.result()
    return Answer(outcome.reply(use.view), outcome.picture)


@dataclass(frozen=True)
class Declared:
    """One tool of the surface."""

    title: str
    body: Callable[..., Awaitable[Answer]]
    arguments: type[Arguments]
    reply: type[Reply]
    annotations: ToolAnnotations
    named: tuple[str, ...] = ()
    """Fields of the reply that the list of tools names, if not all."""


# What the protocol assumes of a tool that says nothing is left unsaid.
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(destructive_hint=False, open_world_hint=False)

TOOLS: dict[str, Declared] = {
    "describe_arch": Declared(
        "Describe targets, tasks and fields",
        describe_arch,
        DescribeArguments,
        DescribeReply,
        _READS,
    ),
    "compile_kernel": Declared(
        "Compile a kernel", compile_kernel, CompileArguments, CompileReply, _ADDS
    ),
    "verify_bounds": Declared(
        "Verify the error bound", verify_bounds, VerifyArguments, VerifyReply, _ADDS
    ),
    "run_compress": Declared(
        "Measure ratio and speed", run_compress, RunArguments, RunReply, _ADDS
    ),
    "profile": Declared("Profile a kernel", profile, ProfileArguments, ProfileReply, _ADDS),
    "query_results": Declared(
        "Query the ledger in SQL", query_results, QueryArguments, QueryReply, _READS
    ),
    "get_result": Declared(
        "Get the result of a running call",
        get_result,
        ResultArguments,
        ResultReply,
        _ADDS,
        named=("status", "kernel_id"),
    ),
}
