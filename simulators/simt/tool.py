"""How external programs are run: a compiler gets files and gives files back.

Whoever evaluates submissions passes a runner that confines the program; `plain_run` does not, and
is for trusted source.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Tool:
    """One run of a program in a folder of its own."""

    argv: tuple[str, ...]
    """argv[0] is absolute; other relative names are of files in the folder."""
    files: Mapping[str, bytes]
    """Written there first; names may have folders."""
    results: tuple[str, ...] = ()
    """Files that it is expected to leave there."""
    shown: tuple[Path, ...] = ()
    """Files and folders, beside the system's libraries, that it must be able to read."""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    memory_bytes: int = 4 << 30


@dataclass(frozen=True)
class ToolRun:
    """What came of it."""

    code: int
    """Exit code; negative: the signal that ended it."""
    out: str
    err: str
    files: Mapping[str, bytes]
    """Of `results`, those that are there."""
    seconds: float
    timed_out: bool = False


RunTool = Callable[[Tool], ToolRun]


def plain_run(tool: Tool) -> ToolRun:
    """Run it as an ordinary process."""
    with tempfile.TemporaryDirectory(prefix="sz-mcp-tool-") as folder:
        root = Path(folder)
        for name, content in tool.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        start = time.perf_counter()
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
        try:
            done = subprocess.run(
                tool.argv, cwd=root, env=environment | dict(tool.environment), check=False,
                capture_output=True, timeout=tool.timeout_s, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ToolRun(-9, "", "", {}, time.perf_counter() - start, timed_out=True)
        seconds = time.perf_counter() - start
        left = {n: (root / n).read_bytes() for n in tool.results if (root / n).is_file()}
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        return ToolRun(done.returncode, out, err, left, seconds)
