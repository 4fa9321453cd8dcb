"""What one server process is told at its start, as one frozen object that is passed down.

Nothing below reads flags, the environment or the clock at import; `configuration` builds a
`Settings` once, from a file, the environment and flags, and the command line hands it down. The
text under a field is what the reference page and `sz-mcp config` say of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

FeedbackLevel = Literal["none", "raw", "explain", "suggest"]
Openness = Literal["tokens", "scores", "off"]


@dataclass(frozen=True)
class Least:
    """The smallest value a number may have; `above`: it must be larger."""

    value: float
    above: bool = False


Positive = Annotated[float, Least(0, above=True)]
Count = Annotated[int, Least(1)]


@dataclass(frozen=True)
class Limits:
    """How large a submission may be."""

    source_bytes: Count = 256 * 1024
    """UTF-8 bytes of all files of one submission."""
    files: Count = 32
    """Files of one submission."""


@dataclass(frozen=True)
class Traffic:
    """What agents may ask of a server at once, over HTTP; over stdio nothing is limited."""

    evaluations: Annotated[int, Least(0)] = 8
    """Evaluations that one agent (token) may have queued or running at once; 0: no limit."""
    calls_per_minute: Annotated[int, Least(0)] = 600
    """Calls that one agent may make in a minute, after a pause all at once; 0: no limit."""
    queue: Annotated[int, Least(0)] = 400
    """Evaluations of all agents that may be queued or running at once; 0: no limit."""


@dataclass(frozen=True)
class Budgets:
    """How long things may take, in seconds."""

    answer_s: Positive = 45.0
    """A tool answers within this, with `running` if need be: clients give up at about 60 s."""
    progress_s: Positive = 0.25
    """Least time between two progress notifications of one call."""
    drain_s: Positive = 5.0
    """Time between two looks at whether the journal has something to drain."""
    shutdown_s: Annotated[float, Least(0)] = 10.0
    """How long evaluations may go on after SIGTERM or SIGINT, before they are cancelled."""


@dataclass(frozen=True)
class Http:
    """Serving over HTTP."""

    address: str | None = None
    """`[HOST:]PORT` to serve Streamable HTTP at; without it `serve` speaks stdio."""
    token_file: Path | None = None
    """File of bearer tokens: who may call, and as which agent; default: `tokens.toml` in the home,
    if it is there."""
    allow_hosts: tuple[str, ...] = ()
    """Host names that clients may use, beside those of this machine."""
    allow_unconfined: bool = False
    """Whether other machines may be served where nothing but rlimits confines submitted code."""
    body_bytes: Count = 4 * 1024 * 1024
    """Largest body of a request."""
    receive_s: Positive = 30.0
    """How long a client may take to send the head of a request, and again its body, in seconds."""
    connections: Count = 512
    """Connections that may be open at once."""
    board: Openness = "tokens"
    """Who may see the leaderboard page where calls need a token: `tokens`, whoever has one;
    `scores`, everybody, names and scores but no sources; `off`, nobody."""


@dataclass(frozen=True)
class Settings:
    """One server process."""

    home: Path
    """Where journal, ledger and submitted sources live; default: the user's data folder."""
    roots: tuple[Path, ...] = ()
    """Folders from which `compile_kernel` may read a `path`."""
    agent: str = "anonymous"
    """Who is calling, over stdio; over HTTP a token says so."""
    feedback: FeedbackLevel = "suggest"
    """How much agents are told about failures, where no token says otherwise."""
    workers: Count = 4
    """Evaluations of a tool that may be in progress at once; what is timed waits for a lock. Agents
    take turns, and the last free one is kept for an agent that has none in progress."""
    kept_results: Count = 256
    """Finished results that `get_result` can still return."""
    disk_quota_bytes: Annotated[int, Least(0)] = 10_000_000_000
    """Bytes that the home may take, without data sets and compiled functions; 0: no limit.
    Above nine tenths there are warnings, above all of it nothing more is evaluated."""
    limits: Limits = field(default_factory=Limits)
    traffic: Traffic = field(default_factory=Traffic)
    budgets: Budgets = field(default_factory=Budgets)
    http: Http = field(default_factory=Http)
