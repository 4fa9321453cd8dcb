"""What one server process is told at its start, as one frozen object that is passed down.

Nothing below reads flags, the environment or the clock at import; the command line builds a
`Settings` once and hands it to the server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs

FeedbackLevel = Literal["none", "raw", "explain", "suggest"]


@dataclass(frozen=True)
class Limits:
    """How large a submission may be."""

    source_bytes: int = 256 * 1024
    """UTF-8 bytes of all files of one submission."""
    files: int = 32


@dataclass(frozen=True)
class Budgets:
    """How long things may take, in seconds."""

    answer_s: float = 45.0
    """A tool answers within this, with `running` if need be: clients give up at about 60 s."""
    progress_s: float = 0.25
    """Least time between two progress notifications of one call."""
    drain_s: float = 5.0
    """Time between two looks at whether the journal has something to drain."""


@dataclass(frozen=True)
class Settings:
    """One server process."""

    home: Path
    """Where journal, ledger and submitted sources live."""
    roots: tuple[Path, ...] = ()
    """Folders from which `compile_kernel` may read a `path`; resolved."""
    agent: str = "anonymous"
    """Who is calling, over stdio; over HTTP a token says so."""
    feedback: FeedbackLevel = "suggest"
    limits: Limits = field(default_factory=Limits)
    budgets: Budgets = field(default_factory=Budgets)
    workers: int = 4
    """Evaluations that may be in progress at once; timed work is serialised below, by a lock."""
    kept_results: int = 256
    """Finished results that `get_result` can still return."""


def default_home(environment: Mapping[str, str] = os.environ) -> Path:
    """`$SZ_MCP_HOME`, else the user's data folder."""
    named = environment.get("SZ_MCP_HOME")
    return Path(named).expanduser() if named else platformdirs.user_data_path("sz-mcp")
