"""Skips what needs Node where it is not installed, and says how to install it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients import install, servers

Tool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def npm_tool(tmp_path: Path) -> Tool:
    """Runs a command of the installed packages: (name, *arguments) → the ended process."""
    missing = install.problem()
    if missing:
        pytest.skip(missing)
    node = install.node()
    environment = {
        **servers.environment(),
        "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", os.defpath)]),
        # What they keep for themselves ends with the test.
        "HOME": str(tmp_path / "user"),
    }

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [node, install.MODULES / ".bin" / name, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=240,
            check=False,
        )

    return run
