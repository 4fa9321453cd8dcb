"""What a bench is asked to do, as frozen models: the matrix, its agents, budgets and limits.

`reading` makes a `Spec` of a YAML file; `cells` makes cells of a `Spec`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from sz_mcp.settings import FeedbackLevel

Tier = Literal["user", "knowledgeable", "expert"]
Kind = Literal["model", "command", "search", "replay"]
Method = Literal["random", "hill", "tpe"]
Mode = Literal["rel", "abs", "pw_rel", "psnr", "l2norm", "ratio"]
SCRIPTED = "scripted"
"""Endpoint of a model that is a script of ours, served on loopback while the bench runs."""
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_+-]{0,63}$"
_Name = Annotated[str, Field(pattern=_NAME)]
_HASH_DIGITS = 8


class Part(BaseModel):
    """A part of a spec: it takes no key that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Prices(Part):
    """US dollars per million tokens."""

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Of input tokens that the endpoint had cached; default as `input`."""


class ModelAgent(Part):
    """A language model behind an endpoint that speaks OpenAI's chat completions."""

    kind: Literal["model"]
    model: str = Field(min_length=1)
    endpoint: str = Field(min_length=1)
    """Base URL, such as http://127.0.0.1:8080/v1; or `scripted`."""
    key_env: str = ""
    """Environment variable that holds the key; empty: none is needed."""
    prices: Prices = Prices()
    settings: dict[str, Any] = {}
    """Of a request, such as temperature and max_tokens."""
    turns: int = Field(default=400, ge=1)
    """Replies of the model at most."""


class UsagePaths(Part):
    """Where a report has what was used: keys joined by dots, `*` for all; `+` adds paths."""

    report: Literal["json", "lines"] = "json"
    """Standard output is one JSON value (or ends with a line that is one), or each line is one."""
    input: str = ""
    output: str = ""
    cached: str = ""
    dollars: str = ""


class CommandAgent(Part):
    """A command-line agent, started in a scratch folder that has `.mcp.json` and `PROMPT.md`."""

    kind: Literal["command"]
    command: tuple[str, ...] = Field(min_length=1)
    """Arguments; {prompt}, {prompt_file}, {mcp_config}, {folder}, {model}, {url} and {token} are
    replaced."""
    model: str = ""
    env: tuple[str, ...] = ()
    """Environment variables that it is given, beside PATH, LANG and the like."""
    home: Literal["scratch", "own"] = "scratch"
    """Its HOME: the scratch folder, or that of the person who started the bench."""
    usage: UsagePaths | None = None
    prices: Prices = Prices()
    """Used where its report has no dollars."""


class SearchAgent(Part):
    """A search over the parameters that a submission declares; no model."""

    kind: Literal["search"]
    method: Method
    space: Path | None = None
    """Folder with space.yaml; default: the shipped space of the task and target."""
    seed: int = 0
    """Of the first repeat; the others count on from it."""


class ReplayAgent(Part):
    """Sends again what was sent before: a session of a ledger, worked submissions, or folders."""

    kind: Literal["replay"]
    session: str = ""
    """Session of a ledger, whose calls on kernels are made again in order."""
    home: Path | None = None
    """Of that ledger; default: the bench's own."""
    styles: tuple[str, ...] = ()
    """Worked submissions of the task and target, in order: those of these styles that there are."""
    folders: tuple[Path, ...] = ()
    """Folders with kernel.py, in order, each compiled, verified and run."""

    @model_validator(mode="after")
    def _one_source(self) -> ReplayAgent:
        given = [name for name in ("session", "styles", "folders") if getattr(self, name)]
        if len(given) != 1:
            raise ValueError("give exactly one of session, styles and folders")
        return self


Agent = Annotated[
    Annotated[ModelAgent, Tag("model")]
    | Annotated[CommandAgent, Tag("command")]
    | Annotated[SearchAgent, Tag("search")]
    | Annotated[ReplayAgent, Tag("replay")],
    Discriminator("kind"),
]


class Bound(Part):
    """Largest error, in units of the mode."""

    mode: Mode = "rel"
    value: float = Field(gt=0, allow_inf_nan=False)


def _bound(given: object) -> object:
    """A bare number, also as YAML 1.1 reads 1e-3 (as text), is relative to the value range."""
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        return {"value": given}
    return given


class Budget(Part):
    """What may be used; a number that is not given is no limit."""

    calls: int | None = Field(default=None, ge=1)
    """Calls that touch a kernel: compile_kernel, verify_bounds, run_compress, profile."""
    minutes: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    """Input and output together, as the agent reports them."""
    dollars: float | None = Field(default=None, gt=0)


class Budgets(Part):
    """Per cell, and of the whole bench over all its starts."""

    cell: Budget = Budget(calls=100)
    total: Budget = Budget()


class Plateau(Part):
    """When a cell is stopped early: so many calls without a better verified result."""

    calls: int = Field(ge=1)
    gain: float = Field(default=0.01, ge=0)
    """Relative improvement below which a result is no better."""


class Parallel(Part):
    """Cells at once. Whatever they do, the server times one kernel at a time."""

    waiting: int = Field(default=4, ge=1)
    """Of models and commands, which mostly wait for their endpoints."""
    busy: int = Field(default=1, ge=1)
    """Of searches and replays, which never pause."""


class LeftOut(Part):
    """Cells that are not made: those that agree with every key given here."""

    agent: str | None = None
    task: str | None = None
    target: str | None = None
    field: str | None = None
    prompt_tier: Tier | None = None
    feedback_level: FeedbackLevel | None = None


class Spec(Part):
    """A bench."""

    name: _Name
    about: str = ""
    """What it is for, in a sentence."""
    agents: dict[_Name, Agent] = Field(min_length=1)
    tasks: tuple[str, ...] = Field(min_length=1)
    targets: tuple[str, ...] = Field(min_length=1)
    fields: tuple[str, ...] | dict[str, tuple[str, ...]] = Field(min_length=1)
    """For every task, or by task with `default` for the others."""
    bounds: tuple[Annotated[Bound, BeforeValidator(_bound)], ...] = (Bound(value=1e-3),)
    prompt_tiers: tuple[Tier, ...] = ("knowledgeable",)
    feedback_levels: tuple[FeedbackLevel, ...] = ("suggest",)
    repeats: int = Field(default=5, ge=1)
    budget: Budgets = Budgets()
    plateau: Plateau | None = None
    give_up: int = Field(default=3, ge=1)
    """After so many cells in a row that an agent failed for the same reason, its others are
    skipped: an endpoint that is down, a command that is not installed."""
    parallel: Parallel = Parallel()
    leave_out: tuple[LeftOut, ...] = ()

    @field_validator("tasks", "targets", "bounds", "prompt_tiers", "feedback_levels")
    @classmethod
    def _distinct(cls, given: tuple[object, ...]) -> tuple[object, ...]:
        if not given:
            raise ValueError("give at least one")
        twice = [one for at, one in enumerate(given) if one in given[:at]]
        if twice:
            raise ValueError(f"{twice[0]} is there twice")
        return given

    def fields_of(self, task: str) -> tuple[str, ...]:
        """The fields a task is measured on."""
        if isinstance(self.fields, dict):
            return self.fields.get(task, self.fields.get("default", ()))
        return self.fields

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """SHA-256 of what its cells are: without what only says how far and how fast it goes."""
        kept = self.plain()
        del kept["parallel"], kept["give_up"], kept["budget"]["total"], kept["about"]
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def bench_id(self) -> str:
        """The same for the same cells, so that a bench started again goes on."""
        return f"{self.name}-{self.digest[:_HASH_DIGITS]}"
