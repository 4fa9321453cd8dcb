"""What can be read beside the tools: pages, fields, submissions, results, the schema.

Long things are linked from replies and read here. Lists are single index pages, so that listing
resources needs nothing that is slow to import.
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
from sz_mcp.app import App
from sz_mcp.describe import describe_all, describe_one
from sz_mcp.texts import text_of

if TYPE_CHECKING:
    from results_db.queries import QueryResult

_RUN_ID = re.compile(r"r_[0-9a-f]{32}")
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
        """A task: inputs, outputs, stream format, and how it is scored."""
        tasks = self.app.engine().tasks
        return tasks[_one_of("task", task, tasks)].page

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

    def baseline(self, family: str, task: str, style: str) -> str:
        """A reference submission (style naive or tuned), as JSON: file name → text."""
        tasks = self.app.engine().tasks
        styles = baselines.styles(_one_of("task", task, tasks), family)
        submission = baselines.read(task, _one_of("style", style, styles), family)
        return json.dumps(dict(submission.files))

    def kernel(self, kernel_id: str) -> str:
        """A submission as it was received, as JSON: task, target, parent, files."""
        kernel = self.app.kernel(kernel_id)
        if kernel is None:
            raise ResourceNotFoundError(f"no kernel {kernel_id!r}: compile_kernel returns ids")
        submission = kernel.submission
        return json.dumps(
            {
                "task": submission.task,
                "target": submission.target,
                "parent": submission.parent,
                "files": dict(submission.files),
            }
        )

    def leaderboard(self) -> str:
        """Best eligible run of every agent under each set of conditions, ranked, as JSON."""
        found = self._query("SELECT * FROM leaderboard")
        as_of = found.as_of.isoformat(timespec="milliseconds")
        rows = _records(found)
        return json.dumps({"as_of": as_of, "truncated": found.truncated, "rows": rows})

    def run(self, run_id: str) -> str:
        """A run as JSON: what was asked, what came of it, every timed sample."""
        rows = []
        if _RUN_ID.fullmatch(run_id):
            rows = _records(self._query(f"SELECT * FROM runs WHERE run_id = '{run_id}'"))
        if not rows:
            raise ResourceNotFoundError(
                f"no run {run_id!r} in the ledger: verify_bounds, run_compress and profile "
                "return run ids"
            )
        return json.dumps(rows[0])

    def picture(self, run_id: str) -> bytes:
        """The picture of a profile."""
        png = self.app.engine().picture(run_id) if _RUN_ID.fullmatch(run_id) else None
        if png is None:
            raise ResourceNotFoundError(f"no picture of a run {run_id!r}: profile makes them")
        return png

    def schema(self) -> str:
        """The ledger's tables and views with comments on every table and column, as SQL."""
        package = files("results_db")
        return "\n".join(package.joinpath(name).read_text(encoding="utf-8") for name in _SCHEMA)

    def _query(self, sql: str) -> QueryResult:
        queries = importlib.import_module("results_db.queries")
        try:
            result: QueryResult = queries.query(self.app.settings.home, sql)
        except QueryError as error:
            raise ResourceError(f"the ledger can't be read: {error}") from error
        return result


def add_resources(server: MCPServer[dict[str, Any]], app: App) -> None:
    """Register the pages: URI, title, body, type."""
    pages = Pages(app)
    for uri, title, body, mime_type in (
        ("targets", "Targets, tasks and fields", pages.targets, "text/plain"),
        ("targets/{+target}", "A target", pages.target, "text/plain"),
        ("tasks/{task}", "A task", pages.task, "text/markdown"),
        ("fields/{field}", "A field", pages.field, "application/json"),
        ("baselines/{family}/{task}/{style}", "A submission", pages.baseline, "application/json"),
        ("kernels/{kernel_id}", "A received kernel", pages.kernel, "application/json"),
        ("leaderboard", "The leaderboard", pages.leaderboard, "application/json"),
        ("runs/{run_id}", "A run", pages.run, "application/json"),
        ("runs/{run_id}/profile.png", "Picture of a profile", pages.picture, "image/png"),
        ("schema", "Schema of the ledger", pages.schema, "application/sql"),
    ):
        register: Callable[[Any], Any] = server.resource(
            f"sz-mcp://{uri}", title=title, description=body.__doc__, mime_type=mime_type
        )
        register(body)


def _records(result: QueryResult) -> list[dict[str, object]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def _one_of(what: str, name: str, choices: Iterable[str]) -> str:
    if name not in choices:
        known = ", ".join(choices)
        raise ResourceNotFoundError(f"no {what} {name!r}: choose one of {known}")
    return name
