"""A spread of real replies: every tool, on tasks of every kind, in success and in failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from mcp import Client
from mcp_types import TextContent

from kernels import baselines
from kernels.tasks import TASKS, Task
from sz_mcp.app import App
from sz_mcp.server import create_server
from sz_mcp.settings import Settings
from tests.token_count import count

FIELD = "uk_theta"
TARGETS = ("numba", "cuda:sm_90", "rocm:gfx942")
QUERIES = (
    "SELECT * FROM leaderboard",
    "SELECT * FROM ladder",
    "SELECT agent, tool, outcome, count(*) FROM calls GROUP BY ALL",
    "SELECT failure_kind, failures, latest_message FROM failure_modes",
)


@dataclass(frozen=True)
class Size:
    """Tokens of one reply."""

    text: int
    structured: int


@dataclass
class Spread:
    """Replies by tool, as they come in."""

    sizes: dict[str, list[Size]] = field(default_factory=lambda: defaultdict(list))
    told: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """(tool, text, structured content)"""

    async def call(self, client: Client, tool: str, **arguments: object) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        text = "\n".join(one.text for one in result.content if isinstance(one, TextContent))
        structured = result.structured_content or {}
        if structured.get("status") == "running":
            return await self.call(client, "get_result", run_id=structured["run_id"], wait_s=45)
        assert not result.is_error, text
        self.sizes[tool].append(Size(count(text), count(structured)))
        self.told.append((tool, text, structured))
        return structured

    def medians(self) -> dict[str, Size]:
        return {
            tool: Size(
                round(median(one.text for one in sizes)),
                round(median(one.structured for one in sizes)),
            )
            for tool, sizes in self.sizes.items()
        }


async def collect(home: Path, tasks: Iterable[str], styles: Iterable[str] | None = None) -> Spread:
    """Real replies of the real server about `tasks`, and good kernels of all styles or of some."""
    spread = Spread()
    app = App(Settings(home=home), "stdio")
    try:
        async with Client(create_server(app)) as client:
            await spread.call(client, "describe_arch")
            for target in TARGETS:
                await spread.call(client, "describe_arch", target=target)
            for task in tasks:
                await spread.call(client, "describe_arch", task=task)
                for files in submissions(TASKS[task], styles):
                    await _use(spread, client, task, files)
            for sql in QUERIES:
                await spread.call(client, "query_results", sql=sql)
    finally:
        app.close()
    return spread


async def _use(spread: Spread, client: Client, task: str, files: dict[str, str]) -> None:
    kernel = await spread.call(client, "compile_kernel", task=task, target="numba", files=files)
    if kernel["status"] != "compiled":
        return
    kernel_id = kernel["kernel_id"]
    verdict = await spread.call(client, "verify_bounds", kernel_id=kernel_id)
    await spread.call(client, "get_result", run_id=verdict["run_id"])
    for tool in ("run_compress", "profile"):
        await spread.call(client, tool, kernel_id=kernel_id, field=FIELD)


def submissions(task: Task, styles: Iterable[str] | None = None) -> Iterator[dict[str, str]]:
    """Good ones, and one for every way in which a first attempt goes wrong."""
    for style in baselines.styles(task.name) if styles is None else styles:
        yield dict(baselines.read(task.name, style).files)
    wrong = CODEC_FAILURES if task.functions != ("run",) else STAGE_FAILURES
    for source in wrong:
        yield {"kernel.py": source}


_TYPING = """\
import numpy as np
from numba import njit


@njit
def scale(values):
    return values + "a step"


"""

STAGE_FAILURES = (
    "def run(*inputs:\n    return inputs\n",
    "import numpy\n",
    _TYPING + "def run(*inputs):\n    return scale(inputs[0])\n",
    "def run(*inputs):\n    return inputs[0] * 0 + 1\n",
    "def run(*inputs):\n    raise RuntimeError('not yet')\n",
)
CODEC_FAILURES = (
    "def compress(data, abs_bound:\n    return data\n",
    "def compress(data, abs_bound):\n    return data\n",
    _TYPING
    + "def compress(data, abs_bound):\n    return scale(data)\n\n\n"
    + "def decompress(stream, shape, dtype):\n    return stream\n",
    "import numpy as np\n\n\n"
    "def compress(data, abs_bound):\n"
    "    return data.astype(np.float16).ravel().view(np.uint8)\n\n\n"
    "def decompress(stream, shape, dtype):\n"
    "    return stream.view(np.float16).astype(dtype).reshape(shape)\n",
    "def compress(data, abs_bound):\n    raise RuntimeError('not yet')\n\n\n"
    "def decompress(stream, shape, dtype):\n    return stream\n",
)
