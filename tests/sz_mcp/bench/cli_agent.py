"""A command-line agent that is a script: reads .mcp.json, calls tools, reports what it used.

    python cli_agent.py PROMPT MODEL [how]

how: fail (ends with status 3), hang (leaves a child behind and never ends).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

GOOD = "def compress(data, abs_bound): ...\ndef decompress(s, shape, dtype): ...\n"


async def work() -> None:
    server = json.loads(Path(".mcp.json").read_text())["mcpServers"]["sz-mcp"]
    http = httpx2.AsyncClient(headers=server["headers"], timeout=60)
    transport = streamable_http_client(server["url"], http_client=http)
    async with http, Client(transport) as client:
        wish = {"task": "szp", "target": "numba", "files": {"kernel.py": GOOD}}
        built = await client.call_tool("compile_kernel", wish)
        kernel = (built.structured_content or {})["kernel_id"]
        await client.call_tool("verify_bounds", {"kernel_id": kernel})


def main(prompt: str, model: str, how: str = "") -> int:
    assert prompt == Path("PROMPT.md").read_text()
    if how == "fail":
        sys.stderr.write("no such model\n")
        return 3
    if how == "hang":
        # In a session of its own, as a daemon would be.
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        told = {"pids": [os.getpid(), child.pid]}
        Path(os.environ["TOLD"]).write_text(json.dumps(told))
        time.sleep(300)
    asyncio.run(work())
    sys.stdout.write("working\n")
    usage = {"in": 1200, "cache": [100, 50], "out": 80}
    sys.stdout.write(json.dumps({"model": model, "usage": usage, "cost": 0.25}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
