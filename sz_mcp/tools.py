"""The seven tools: what agents call.

Each body takes a `Use` (the server, the call, who may see what) and its arguments as a record, and
returns a reply model. Its docstring is the description that agents read. `TOOLS` is the surface.
"""

from __future__ import annotations

import asyncio
import importlib
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from kernels.records import Kernel, Submission
from results_db.errors import QueryError
from results_db.rows import RunStartedRow
from sz_mcp.answers import Asked, View, query_reply, running_reply
from sz_mcp.app import App
from sz_mcp.arguments import (
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
from sz_mcp.calls import Call
from sz_mcp.describe import describe_all, describe_one
from sz_mcp.errors import ArgumentProblems
from sz_mcp.jobs import Job, Progress, follow
from sz_mcp.replies import (
    CompileReply,
    DescribeReply,
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
    """List what kernels can be written for, or explain one target. Call this first.

    Without `target`: every target (and whether it runs here), task and field by name. With
    `target`: its contract, limits, bandwidth peaks measured on this machine, advice, and a complete
    example submission to start from. Next: compile_kernel.
    """
    engine, feedback = use.engine, use.view.feedback
    if arguments.target is None:
        return Answer(describe_all(engine, feedback))
    info = await asyncio.to_thread(engine.pipeline.describe, arguments.target)
    return Answer(describe_one(engine, info, feedback, detailed=use.view.detailed))


async def compile_kernel(use: Use, arguments: CompileArguments) -> Answer:
    """Send the source of a kernel and compile it; returns the kernel_id all other tools take.

    A submission is a few files, of which kernel.py defines compress(data, abs_bound) and
    decompress(stream, shape, dtype), or run(...) for a stage task. Send them as `files`, or name a
    folder as `path`. What is wrong with the source comes back as status, stage, diagnostics (file,
    line, column) and guidance, not as an error of the call. Next: verify_bounds.
    """
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
    await use.app.write(use.app.receive, kernel, call_id, attempt)
    job: Job[Outcome] = Job(_new_run_id(), "compile_kernel", kernel.kernel_id)
    use.app.jobs.start(job, lambda job: use.engine.compile(kernel, call_id, attempt, job))
    return await _answer(use, job)


async def verify_bounds(use: Use, arguments: VerifyArguments) -> Answer:
    """Check every element of what a kernel decodes against its error bound, exactly.

    field="suite" (the default) runs the hard cases every kernel must survive: constants, noise,
    subnormals, NaN and infinities, huge offsets, odd sizes. A field's name checks that field. For
    stage tasks it checks equality with the golden answer. When the bound does not hold, the worst
    element and a small counterexample come back. A kernel is ranked only with a suite verdict at
    the same mode and bound. Next: run_compress.
    """
    asked = _asked(use, "verify_bounds", arguments, arguments.field)
    return await _measure(use, asked)


async def run_compress(use: Use, arguments: RunArguments) -> Answer:
    """Measure how small and how fast a kernel is on one field, at one bound.

    Ratio and error are of the field itself; speeds are medians over `repeats` timed requests in
    each direction, by the server's clock, with fresh content every time. Takes seconds; other runs
    on this machine wait for it. Next: profile, or a better kernel with parent=this kernel_id.
    """
    asked = _asked(
        use, "run_compress", arguments, arguments.field, arguments.repeats, arguments.threads
    )
    return await _measure(use, asked)


async def profile(use: Use, arguments: ProfileArguments) -> Answer:
    """Find where a kernel spends its time on one field: use it before optimising.

    Returns the time per function of the submission, the bandwidth reached against the copy peak of
    this machine, what limits the kernel, and a picture of it.
    """
    asked = _asked(use, "profile", arguments, arguments.field, threads=arguments.threads)
    return await _measure(use, asked)


async def query_results(use: Use, arguments: QueryArguments) -> Answer:
    """Ask the ledger of all calls, kernels and runs in SQL (DuckDB, read-only, one SELECT).

    Start with SELECT * FROM leaderboard, best_runs or ladder; the resource sz-mcp://schema
    describes every table and column. Includes everything up to this call.
    """
    try:
        result = await asyncio.to_thread(
            _query, use.app.settings.home, arguments.sql, arguments.max_rows
        )
    except QueryError as error:
        raise ToolError(str(error)) from error
    return Answer(query_reply(result))


async def get_result(use: Use, arguments: ResultArguments) -> Answer:
    """Wait for a call that answered `running`, and return what it would have returned.

    If it is still running after `wait_s`, says so again: call once more.
    """
    job = use.app.jobs.find(arguments.run_id)
    if job is None:
        raise ToolError(f"{arguments.run_id} was forgotten meanwhile; see query_results")
    use.call.run_id, use.call.kernel_id = job.run_id, job.kernel_id
    return await _answer(use, job, arguments.wait_s, owner=False)


def _query(home: Path, sql: str, max_rows: int) -> QueryResult:
    result: QueryResult = importlib.import_module("results_db.queries").query(home, sql, max_rows)
    return result


def _new_run_id() -> str:
    return f"r_{uuid.uuid4().hex}"


def _attempt(use: Use, kernel_id: str) -> None:
    """Count this call as an attempt: it touches a kernel."""
    use.call.kernel_id = kernel_id
    use.call.attempt = use.app.sessions.count_attempt(use.call.caller.session)


def _asked(
    use: Use,
    tool: str,
    arguments: MeasureArguments,
    field: str,
    repeats: int = 7,
    threads: int = 1,
) -> Asked:
    _attempt(use, arguments.kernel_id)
    return Asked(
        tool=tool,
        run_id=_new_run_id(),
        kernel_id=arguments.kernel_id,
        field=field,
        mode=arguments.mode,
        bound=arguments.bound,
        repeats=repeats,
        threads=threads,
    )


async def _measure(use: Use, asked: Asked) -> Answer:
    """Record that the run starts, start it, and answer with its result or with `running`."""
    kernel = use.app.kernel(asked.kernel_id)
    if kernel is None:
        raise ArgumentProblems(f"kernel {asked.kernel_id} is gone from this server's home")
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
    )
    await use.app.write(use.app.ledger.run_started, started)
    job: Job[Outcome] = Job(asked.run_id, asked.tool, asked.kernel_id)
    use.app.jobs.start(job, lambda job: use.engine.measure(asked, kernel, job))
    return await _answer(use, job)


async def _answer(
    use: Use, job: Job[Outcome], seconds: float | None = None, *, owner: bool = True
) -> Answer:
    """Follow a job for as long as a tool may take; a caller that goes away ends its own job."""
    budgets = use.app.settings.budgets

    async def report(progress: Progress) -> None:
        await use.context.report_progress(progress.fraction, 1.0, progress.message)

    wait_s = budgets.answer_s if seconds is None else min(seconds, budgets.answer_s)
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


_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)

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
        "Get the result of a running call", get_result, ResultArguments, ResultReply, _READS
    ),
}
