"""Whatever a tool is called with: a status, or an error that explains itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types import INVALID_PARAMS, PARSE_ERROR, ListToolsResult

from kernels.modes.names import MODES
from results_db.queries import query
from sz_mcp.app import App
from sz_mcp.settings import Settings
from tests.sz_mcp import fakes
from tests.sz_mcp.fakes import FakePipeline, make_app
from tests.sz_mcp.fuzz import Fuzz, Made, Pool, documented
from tests.sz_mcp.wire import Wire, wired

pytestmark = pytest.mark.anyio
CALLS = 2_000
MANY_CALLS = 10_000
REAL_CALLS = 200
WEIGHTS = {"query_results": 0.03, "get_result": 0.7}
"""A query is a process."""
UNDOCUMENTED = "UNDOCUMENTED"
BEFORE = 4
"""Calls that the fuzz makes first, to know names."""


@pytest.fixture
def rooted(tmp_path: Path, pipeline: FakePipeline) -> Iterator[App]:
    """A server that may read a folder."""
    folder = tmp_path / "root" / "kernel"
    folder.mkdir(parents=True)
    for name, text in fakes.GOOD.items():
        (folder / name).write_text(text)
    app = make_app(tmp_path / "home", pipeline, roots=(tmp_path / "root",))
    yield app
    app.close()


RAW = {
    "kernel.py": (
        "def compress(data, abs_bound):\n    return data.reshape(-1).view('u1')\n"
        "def decompress(stream, shape, dtype):\n    return stream.view(dtype).reshape(shape)\n"
    )
}
"""What compiles in the real pipeline too."""


async def pool_of(wire: Wire) -> Pool:
    """Names that are right, and the sources that the fake pipeline knows."""

    async def compiled(files: Mapping[str, str]) -> str:
        told = await wire.tool("compile_kernel", task="sz-open", target="numba", files=files)
        return str(told["kernel_id"])

    known = await wire.tool("describe_arch")
    good, wrong = await compiled(RAW), await compiled(fakes.WRONG)
    return Pool(
        {
            "kernel_id": [good, wrong],
            "task": ["sz-open", "lorenzo-1d"],
            "target": ["numba", "numba", "cuda:sm_90"],
            "field": [one["name"] for one in known["fields"]][:3],
            "files": [RAW, fakes.BROKEN, fakes.WRONG, fakes.RAISES, None],
            "path": [None, None, "kernel", "missing"],
            "parent": [None, good],
            "against": [None, await compiled(RAW)],
            "sql": ["SELECT 1", "SELECT * FROM calls LIMIT 2", "DROP TABLE calls", "SELEC", "--"],
            "bound": [1e-3, 0.5, 60],
            "mode": [*MODES],
            "wait_s": [0, 0.1],
        }
    )


async def answered(wire: Wire, made: Made, pool: Pool) -> tuple[str, str]:
    """A class, and the text, of what a call came to."""
    try:
        told = await wire.ask("tools/call", made.params)
    except TimeoutError:
        return UNDOCUMENTED, "no answer"
    if "error" in told:
        error = told["error"]
        right = error["code"] in (INVALID_PARAMS, PARSE_ERROR)
        return ("protocol error" if right else UNDOCUMENTED), str(error)
    result = told["result"]
    text = "".join(block.get("text", "") for block in result["content"])
    if result.get("isError"):
        return ("error" if documented(made.tool, text) else UNDOCUMENTED), text
    data = result["structuredContent"]
    if "run_id" in data:
        pool.add("run_id", data["run_id"])
    return f"{made.tool}: {data.get('status', 'answered')}", text


async def fuzzed(wire: Wire, seed: int, calls: int) -> tuple[Counter[str], list[Any]]:
    """What so many calls came to, by class; and what should not have come."""
    pool = await pool_of(wire)
    told = await wire.ask("tools/list", "{}")
    tools = ListToolsResult.model_validate(told["result"]).tools
    fuzz = Fuzz(tools, pool, seed, WEIGHTS)
    classes: Counter[str] = Counter()
    surprises = []
    for _ in range(calls):
        made = fuzz.call()
        kind, text = await answered(wire, made, pool)
        classes[kind] += 1
        if kind == UNDOCUMENTED:
            surprises.append((text[:2000], made.params[:2000]))
    return classes, surprises


@pytest.mark.parametrize(
    ("calls", "seed"),
    [(CALLS, 1), pytest.param(MANY_CALLS, 2, marks=pytest.mark.slow)],
)
async def test_any_arguments_are_answered_with_a_status_or_an_error_that_is_documented(
    rooted: App, calls: int, seed: int, tmp_path: Path
) -> None:
    async with wired(rooted) as wire:
        classes, surprises = await fuzzed(wire, seed, calls)

    assert surprises[:5] == []
    assert classes.total() == calls
    # It reached the tools, and not only what checks their arguments.
    assert classes["error"] > calls / 4
    for reached in ("compile_kernel: compiled", "verify_bounds: bound_ok", "run_compress: timed"):
        assert classes[reached] > calls / 500
    # What could be read as a call has its row.
    logged = query(tmp_path / "home", "SELECT count(*) FROM calls").rows[0][0]
    assert logged == classes.total() - classes["protocol error"] + BEFORE


@pytest.mark.slow
async def test_any_arguments_are_answered_so_by_the_real_pipeline_too(tmp_path: Path) -> None:
    app = App(Settings(home=tmp_path / "home", agent="fuzz"), "stdio")
    try:
        async with wired(app) as wire:
            classes, surprises = await fuzzed(wire, 3, REAL_CALLS)
    finally:
        app.close()

    assert surprises[:5] == []
    assert classes["run_compress: timed"] + classes["run_compress: inconclusive"] > 0
