"""Tokens of the list of tools and of the default replies over the loop of all tasks.

python -m tests.benchmarks.bench_tokens [TASK …]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp import Client
from rich.console import Console
from rich.table import Table

from kernels.tasks import TASKS
from sz_mcp.server import create_server
from tests.sz_mcp import spread
from tests.sz_mcp.fakes import FakePipeline, make_app
from tests.token_count import count


async def listed(home: Path) -> Table:
    table = Table("tool", "tokens", "description", "arguments", "result")
    app = make_app(home, FakePipeline())
    try:
        async with Client(create_server(app)) as client:
            tools = (await client.list_tools()).tools
    finally:
        app.close()
    forms = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in tools]
    for form in forms:
        parts = [form[key] for key in ("description", "inputSchema", "outputSchema")]
        table.add_row(form["name"], *(str(count(one)) for one in (form, *parts)))
    table.add_row("all", str(count(forms)))
    return table


def replied(found: spread.Spread) -> Table:
    table = Table("tool", "replies", "text: median", "largest", "structured: median", "largest")
    for tool, sizes in found.sizes.items():
        middle = found.medians()[tool]
        largest = (max(one.text for one in sizes), max(one.structured for one in sizes))
        row = (len(sizes), middle.text, largest[0], middle.structured, largest[1])
        table.add_row(tool, *map(str, row))
    return table


async def main(tasks: list[str]) -> None:
    console = Console()
    with tempfile.TemporaryDirectory() as home:
        console.print(await listed(Path(home) / "fake"))
        console.print(replied(await spread.collect(Path(home) / "real", tasks)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or list(TASKS)))
