"""What can be read beside the tools: pages, fields, submissions, results, the schema.

Long things are linked from replies and read here. Lists are single index pages, so that listing
resources needs nothing that is slow to import. A run in progress can be read, and subscribed to.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from kernels import baselines
from results_db.errors import QueryError
from sz_mcp.answers import View
from sz_mcp.app import App
from sz_mcp.calls import current_call
from sz_mcp.describe import all_fields, describe_all, describe_one
from sz_mcp.errors import LimitReached
from sz_mcp.pages import task_page
from sz_mcp.schemas import full_form
from sz_mcp.texts import text_of
from sz_mcp.tools import TOOLS

if TYPE_CHECKING:
    from results_db.queries import QueryResult
    from sz_mcp.engine import Outcome
    from sz_mcp.jobs import Job

_RUN_ID = re.compile(r"r_[0-9a-f]{32}")
_OWN_RUNS = (
    "SELECT run_id, tool, kernel_id, field, mode, bound, status, stage, ratio, compress_gbps, "
    "decompress_gbps, run_gbps, failure_message, started_at, finished_at FROM runs "
    "WHERE session = '{session}' ORDER BY started_at DESC LIMIT 50"
)
_SCHEMA = ("schema.sql", "views.sql")


@dataclass(frozen=True)
class Pages:
    """The readable things of one server. Methods block; the SDK calls them in threads."""

    app: App

    def targets(self) -> str:
        """Every target, task and field in a line."""
        return text_of(describe_all(self.app.engine(), self.app.settings.feedback))

    def target(self, target: str) -> str:
        """Contract, limits, measured peaks, advice and a complete example of one target."""
        engine = self.app.engine()
        info = engine.pipeline.describe(_one_of("target", target, engine.targets))
        return text_of(describe_one(engine, info, self.app.settings.feedback, detailed=False))

    def task(self, task: str) -> str:
        """A task: inputs, outputs, how it is scored, and a complete example per target."""
        tasks = self.app.engine().tasks
        return task_page(tasks[_one_of("task", task, tasks)])

    def tasks(self) -> str:
        """Every task, simpler first, as JSON: name, rung, summary, signature, page."""
        listed = describe_all(self.app.engine(), self.app.settings.feedback).tasks
        return json.dumps([one.model_dump(mode="json") for one in listed])

    def fields(self) -> str:
        """Every field, as JSON: name, shape, dtype, unit, character, fill value, page."""
        listed = all_fields(self.app.engine().catalogue)
        pages = [{"page": f"sz-mcp://fields/{one.name}"} for one in listed]
        rows = [one.model_dump(mode="json") for one in listed]
        return json.dumps([row | page for row, page in zip(rows, pages, strict=True)])

    def field(self, field: str) -> str:
        """A field: shape, type, unit, source, licence, checksum."""
        catalogue = self.app.engine().catalogue
        problem = catalogue.problem(field)
        if problem is not None:
            raise ResourceNotFoundError(problem)
        info = catalogue.info(field)
        return json.dumps(
            {
                "name": info.name,
                "shape": info.shape,
                "dtype": info.dtype,
                "unit": info.unit,
                "character": info.character,
                "fill_value": info.fill_value,
                "source": info.source,
                "licence": info.licence,
                "sha256": info.sha256,
            }
        )

    def baselines(self) -> str:
        """Every reference submission, as JSON: family, task, style, page."""
        return json.dumps(
            [
                {
                    "family": family,
                    "task": task,
                    "style": style,
                    "page": f"sz-mcp://baselines/{family}/{task}/{style}",
                }
                for family in baselines.families()
                for task in self.app.engine().tasks
                for style in baselines.styles(task, family)
            ]
        )

    def baseline(self, family: str, task: str, style: str) -> str:
        """A reference submission (style naive, tuned; sz-open: sz), as JSON: file name → text."""
        tasks = self.app.engine().tasks
        family = _one_of("family", family, baselines.families())
        styles = baselines.styles(_one_of("task", task, tasks), family)
        submission = baselines.read(task, _one_of("style", style, styles), family)
        return json.dumps(dict(submission.files))

    def kernel(self, kernel_id: str) -> str:
        """A submission as it was received, as JSON: task, target, parent, files."""
        kernel = self.app.seen_kernel(kernel_id, current_call().caller)
        if kernel is None:
            raise ResourceNotFoundError(f"no kernel {kernel_id!r}: compile_kernel returns ids")
        submission, parent = kernel.submission, kernel.submission.parent
        if parent and self.app.seen_kernel(parent, current_call().caller) is None:
            parent = None
        return json.dumps(
            {
                "task": submission.task,
                "target": submission.target,
                "parent": parent,
                "files": dict(submission.files),
            }
        )

    def artifact(self, kernel_id: str, artifact: str) -> str:
        """What a compiler wrote of a kernel: PTX, SASS, assembly; compile_kernel names them."""
        seen = self.app.seen_kernel(kernel_id, current_call().caller) is not None
        text = self.app.engine().artifact(kernel_id, artifact) if seen else None
        if text is None:
            raise ResourceNotFoundError(f"nothing named {artifact!r} of a kernel {kernel_id!r}")
        return text

    def leaderboard(self) -> str:
        """Best eligible run of every agent under each set of conditions, ranked, as JSON."""
        found = self._query("SELECT * FROM leaderboard")
        as_of = found.as_of.isoformat(timespec="milliseconds")
        rows = _records(found)
        return json.dumps({"as_of": as_of, "truncated": found.truncated, "rows": rows})

    def runs(self) -> str:
        """Your session's runs, the latest first, as JSON: those in progress, then the last 50."""
        session, agent = current_call().caller.session, current_call().caller.agent
        jobs = self.app.jobs.remembered()
        latest = [job for job in reversed(jobs) if (job.session, job.agent) == (session, agent)]
        found = self._query(f"{_OWN_RUNS.format(session=session.replace(chr(39), chr(39) * 2))}")
        running = [_live(job) for job in latest if not job.future.done()]
        known = {job["run_id"] for job in running}
        ended = [row for row in _records(found) if row["run_id"] not in known]
        return json.dumps({"running": running, "ended": ended})

    def run(self, run_id: str) -> str:
        """A run as JSON: how far it is; once it is done, what came of it, with every sample."""
        job = self.app.seen_job(run_id, current_call().caller)
        if job is not None and not job.future.done():
            return json.dumps(_live(job))
        rows = []
        if _RUN_ID.fullmatch(run_id):
            rows = _records(self._query(f"SELECT * FROM runs WHERE run_id = '{run_id}'"))
        if not rows and job is not None:
            # A build is no run to the ledger, but it has an id while it goes on.
            view = View(current_call().caller.feedback)
            return job.future.result().reply(view).model_dump_json()
        if not rows:
            raise ResourceNotFoundError(
                f"no run {run_id!r} in the ledger: verify_bounds, run_compress and profile "
                "return run ids"
            )
        return json.dumps(rows[0])

    def picture(self, run_id: str) -> bytes:
        """The picture of a profile."""
        png = self.app.engine().picture(run_id) if self._may_see(run_id) else None
        if png is None:
            raise ResourceNotFoundError(f"no picture of a run {run_id!r}: profile makes them")
        return png

    def tool(self, tool: str) -> str:
        """A tool in full, as JSON: description, schemas, the meaning and unit of every field."""
        return json.dumps(full_form(_one_of("tool", tool, TOOLS), TOOLS[tool]))

    def schema(self) -> str:
        """The ledger's tables and views with comments on every table and column, as SQL."""
        package = files("results_db")
        return "\n".join(package.joinpath(name).read_text(encoding="utf-8") for name in _SCHEMA)

    def _may_see(self, run_id: str) -> bool:
        """Whether there may be something to read of such a run."""
        if _RUN_ID.fullmatch(run_id) is None:
            return False
        caller = current_call().caller
        if caller.viewer is None or self.app.seen_job(run_id, caller) is not None:
            return True
        return bool(self._query(f"SELECT 1 FROM runs WHERE run_id = '{run_id}'").rows)

    def _query(self, sql: str) -> QueryResult:
        queries, caller = importlib.import_module("results_db.queries"), current_call().caller

        def work() -> QueryResult:
            found: QueryResult = queries.query(self.app.settings.home, sql, viewer=caller.viewer)
            return found

        try:
            return self.app.read_blocking(caller.session, work)
        except (QueryError, LimitReached) as error:
            raise ResourceError(f"the ledger can't be read: {error}") from error


def add_resources(server: MCPServer[dict[str, Any]], app: App) -> None:
    """Register the pages: URI, title, body, type."""
    pages = Pages(app)
    for uri, title, body, mime_type in (
        ("targets", "Targets, tasks and fields", pages.targets, "text/plain"),
        ("tasks", "All tasks", pages.tasks, "application/json"),
        ("fields", "All fields", pages.fields, "application/json"),
        ("baselines", "All reference submissions", pages.baselines, "application/json"),
        ("runs", "Your runs", pages.runs, "application/json"),
        ("targets/{+target}", "A target", pages.target, "text/plain"),
        ("tasks/{task}", "A task", pages.task, "text/markdown"),
        ("fields/{field}", "A field", pages.field, "application/json"),
        ("baselines/{family}/{task}/{style}", "A submission", pages.baseline, "application/json"),
        ("kernels/{kernel_id}", "A received kernel", pages.kernel, "application/json"),
        ("kernels/{kernel_id}/{artifact}", "Compiled code", pages.artifact, "text/plain"),
        ("leaderboard", "The leaderboard", pages.leaderboard, "application/json"),
        ("runs/{run_id}", "A run", pages.run, "application/json"),
        ("runs/{run_id}/profile.png", "Picture of a profile", pages.picture, "image/png"),
        ("tools/{tool}", "A tool in full", pages.tool, "application/json"),
        ("schema", "Schema of the ledger", pages.schema, "application/sql"),
    ):
        register: Callable[[Any], Any] = server.resource(
            f"sz-mcp://{uri}", title=title, description=body.__doc__, mime_type=mime_type
        )
        register(body)


def _live(job: Job[Outcome]) -> dict[str, object]:
    """A run in progress."""
    return {
        "run_id": job.run_id,
        "tool": job.tool,
        "kernel_id": job.kernel_id,
        **job.asked,
        "status": "running",
        "progress": job.progress.fraction,
        "message": job.progress.message,
        "started_at": job.started_at.isoformat(timespec="milliseconds"),
    }


def _records(result: QueryResult) -> list[dict[str, object]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def _one_of(what: str, name: str, choices: Iterable[str]) -> str:
    if name not in choices:
        known = ", ".join(choices)
        raise ResourceNotFoundError(f"no {what} {name!r}: choose one of {known}")
    return name
