"""Agents of a bench at work on a fake server over real HTTP."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from results_db import queries
from results_db.encoding import Json
from sz_mcp.bench.agents.desk import Desk, Usage
from sz_mcp.bench.cells import READERS, Cell
from sz_mcp.bench.spec import Bound, Budget, Kind
from sz_mcp.tokens import FileTokens
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.over_http import http_app_of, served, token

SECRET = "szmcp_bench"
SESSION = "bench/cell"


def cell(kind: Kind, task: str = "lorenzo-1d", repeat: int = 1) -> Cell:
    """Of an agent named like its kind."""
    bound = Bound(mode="rel", value=1e-3)
    found = Cell(kind, kind, task, "numba", "na_temperature", bound, None, "none", repeat)
    if kind in READERS:
        return replace(found, prompt_tier="knowledgeable", feedback_level="suggest")
    return found


@dataclass
class Told:
    """What an agent reported."""

    used: list[Usage] = field(default_factory=list)


@asynccontextmanager
async def desk(
    home: Path, at: Cell, budget: Budget, told: Told | None = None, **of_token: object
) -> AsyncIterator[Desk]:
    """A desk whose server is a fake one of this home."""
    holder = token(SECRET, at.agent, session=SESSION, sees="session", **of_token)
    tokens = FileTokens({SESSION: holder})
    pipeline = FakePipeline()
    app = http_app_of(home, pipeline, tokens)
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with served(app, tokens) as url:
                yield Desk(
                    cell=at,
                    url=url,
                    token=SECRET,
                    budget=budget,
                    home=home,
                    folder=Path(folder),
                    used=(told or Told()).used.append,
                )
    finally:
        pipeline.release.set()
        app.close()


def calls(home: Path) -> list[list[Json]]:
    """Tool and status of every call on kernels, in order."""
    statement = "SELECT tool, status FROM calls WHERE attempt IS NOT NULL ORDER BY attempt"
    return [list(row) for row in queries.query(home, statement).rows]
