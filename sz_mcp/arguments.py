"""The arguments of every tool as records, and what is said when a call's arguments are wrong.

A raw JSON object flows in; a frozen record whose every name is known to this server flows out, or
`ArgumentProblems` listing everything that is wrong at once, with the valid choices.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from kernels.modes.names import SEARCHED
from results_db.statistics import FEWEST_PAIRS
from sz_mcp.errors import ArgumentProblems
from sz_mcp.settings import Limits
from sz_mcp.submissions import folder_under_roots, problems_of_files

SUITE = "suite"
DEFAULT_BOUND = 1e-3
"""In modes whose bound is an error."""
_TARGETS = {
    "psnr": "the least PSNR in dB, for example 60",
    "l2norm": "the largest ‖x − x'‖₂, in the field's unit",
    "ratio": "the least ratio, for example 10",
}
"""Mode → what its bound says; there is no default for these."""
LARGEST_BOUND = 1e100
"""No field is so wide that more would mean anything, and bound × range must not overflow."""
_KERNEL_ID = re.compile(r"k_[0-9a-f]{32}")


@dataclass(frozen=True)
class Known:
    """The names a call may use on this server at this moment: the context of validation."""

    tasks: tuple[str, ...]
    targets: tuple[str, ...]
    fields: tuple[str, ...]
    """Those that are listed."""
    field_problem: Callable[[str], str | None]
    """Why a field can't be used; None if it can. More can be used than are listed."""
    has_kernel: Callable[[str], bool]
    has_run: Callable[[str], bool]
    roots: tuple[Path, ...]
    limits: Limits
    cores: int


class _Problems(ValueError):
    """Several problems with one argument."""

    def __init__(self, problems: Iterable[str]) -> None:
        super().__init__("; ".join(problems))


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("bool", "must be a number, not true or false")
    return value


def _finite(value: float) -> float:
    if not 0 < value <= LARGEST_BOUND:
        raise PydanticCustomError("bound", "must be a finite number above 0 (for example 1e-3)")
    return value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _from_json(value: object) -> object:
    """Some clients send an object as its JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _check_task(value: str, info: ValidationInfo) -> str:
    return _one_of(value, "task", _known(info).tasks)


def _check_target(value: str, info: ValidationInfo) -> str:
    return _one_of(value, "target", _known(info).targets)


def _check_field(value: str, info: ValidationInfo) -> str:
    known = _known(info)
    problem = known.field_problem(value)
    if problem is None:
        return value
    if value == SUITE:
        problem = f"suite is for verify_bounds; here choose one of {', '.join(known.fields)}"
    near = difflib.get_close_matches(value, known.fields, n=1)
    hint = f" (did you mean {near[0]}?)" if near and ":" not in value else ""
    raise PydanticCustomError("choice", "{problem}{hint}", {"problem": problem, "hint": hint})


def _check_field_or_suite(value: str, info: ValidationInfo) -> str:
    return value if value == SUITE else _check_field(value, info)


def _check_kernel(value: str, info: ValidationInfo) -> str:
    if _KERNEL_ID.fullmatch(value) is None or not _known(info).has_kernel(value):
        raise PydanticCustomError(
            "kernel",
            "no kernel {shown} here: send its source with compile_kernel and use the kernel_id "
            "it returns (k_ and 32 hex digits)",
            {"shown": _short(value)},
        )
    return value


def _check_run(value: str, info: ValidationInfo) -> str:
    if not _known(info).has_run(value):
        raise PydanticCustomError(
            "run",
            "no run {shown} in this server: a tool that answers `running` returns one. Old runs, "
            "and those of other servers, are in the ledger: query_results with "
            "SELECT * FROM runs WHERE run_id = '…'",
            {"shown": _short(value)},
        )
    return value


def _check_threads(value: int, info: ValidationInfo) -> int:
    cores = _known(info).cores
    if value > cores:
        raise PydanticCustomError(
            "threads", "must be at most {cores}, the cores of this machine", {"cores": cores}
        )
    return value


def _check_pairs(value: str | None, info: ValidationInfo) -> str | None:
    repeats = info.data.get("repeats", FEWEST_PAIRS)
    if value is not None and repeats < FEWEST_PAIRS:
        raise PydanticCustomError(
            "pairs",
            "a comparison needs repeats of at least {fewest}: fewer pairs say nothing",
            {"fewest": FEWEST_PAIRS},
        )
    return value


def _check_files(value: dict[str, str] | None, info: ValidationInfo) -> dict[str, str] | None:
    problems = () if value is None else problems_of_files(value, _known(info).limits)
    if problems:
        raise _Problems(problems)
    return value


def _check_path(value: str | None, info: ValidationInfo) -> str | None:
    files_sent = info.data.get("files", ...)
    if value is None and files_sent is None:
        raise PydanticCustomError(
            "no_source", "send the source: either `files` {name: text} or `path`, a folder"
        )
    if value is None:
        return None
    if files_sent is not None:
        raise PydanticCustomError("two_sources", "send either `files` or `path`, not both")
    try:
        return str(folder_under_roots(value, _known(info).roots))
    except ArgumentProblems as error:
        raise _Problems(error.problems) from error


def _known(info: ValidationInfo) -> Known:
    known = info.context
    if not isinstance(known, Known):
        raise TypeError("arguments are validated by `parse`, which says what is known")
    return known


def _one_of(value: str, what: str, choices: tuple[str, ...]) -> str:
    if value in choices:
        return value
    near = difflib.get_close_matches(value, choices, n=1)
    raise PydanticCustomError(
        "choice",
        "unknown {what} {shown}: choose one of {choices}{hint}",
        {
            "what": what,
            "shown": _short(value),
            "choices": ", ".join(choices),
            "hint": f" (did you mean {near[0]}?)" if near else "",
        },
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


TaskName = Annotated[str, AfterValidator(_check_task)]
TargetName = Annotated[str, AfterValidator(_check_target)]
FieldName = Annotated[str, AfterValidator(_check_field)]
KernelId = Annotated[str, AfterValidator(_check_kernel)]
Mode = Annotated[
    Literal["abs", "rel", "pw_rel", "psnr", "l2norm", "ratio"], BeforeValidator(_lower)
]
BoundValue = Annotated[float, BeforeValidator(_no_bool), AfterValidator(_finite)]
Threads = Annotated[int, Field(ge=1), BeforeValidator(_no_bool), AfterValidator(_check_threads)]


class Arguments(ArgModelBase):
    """What every tool takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    response_format: Literal["concise", "detailed"] = "concise"
    """detailed: everything."""


class DescribeArguments(Arguments):
    """Arguments of `describe_arch`."""

    target: TargetName | None = None
    """One in full; without it, all in brief."""
    task: TaskName | None = None
    """Its page; detailed: with an example."""


class CompileArguments(Arguments):
    """Arguments of `compile_kernel`."""

    task: TaskName
    """For example szp."""
    target: TargetName
    """For example numba."""
    files: Annotated[
        dict[str, str] | None, BeforeValidator(_from_json), AfterValidator(_check_files)
    ] = None
    """Name → text, with kernel.py; at most 32 files, 256 KiB."""
    path: Annotated[str | None, AfterValidator(_check_path), Field(validate_default=True)] = None
    """Instead of files: a folder under a root of this server."""
    parent: KernelId | None = None
    """kernel_id of the version it improves."""


class BoundArguments(Arguments):
    """A bound as it is asked for."""

    mode: Mode = "rel"
    """rel: bound × (max − min)."""
    bound: BoundValue = DEFAULT_BOUND
    """Largest error, or target."""

    @model_validator(mode="after")
    def _target_is_given(self) -> Self:
        """The default is an error; for a target it would make no sense."""
        if self.mode in SEARCHED and "bound" not in self.model_fields_set:
            raise PydanticCustomError(
                "target",
                "bound: required with mode {mode}: {what}",
                {"mode": self.mode, "what": _TARGETS[self.mode]},
            )
        return self


class MeasureArguments(BoundArguments):
    """What the tools that run a kernel at a bound take."""

    kernel_id: KernelId
    """From compile_kernel."""


class VerifyArguments(MeasureArguments):
    """Arguments of `verify_bounds`."""

    field: Annotated[str, AfterValidator(_check_field_or_suite)] = SUITE
    """The suite of hard cases, or a field."""


class RunArguments(MeasureArguments):
    """Arguments of `run_compress`."""

    field: FieldName
    """See describe_arch."""
    repeats: Annotated[int, Field(ge=1, le=50), BeforeValidator(_no_bool)] = 7
    """Timed requests each way."""
    threads: Threads = 1
    """Ranked apart."""
    against: Annotated[KernelId | None, AfterValidator(_check_pairs)] = None
    """Another kernel_id: time both in turn."""


class ProfileArguments(MeasureArguments):
    """Arguments of `profile`."""

    field: FieldName
    """See describe_arch."""
    threads: Threads = 1
    """Threads it may use."""


class WishArguments(BoundArguments):
    """What `sz-mcp eval` is asked for."""

    task: TaskName
    target: TargetName
    field: FieldName


class QueryArguments(Arguments):
    """Arguments of `query_results`."""

    sql: Annotated[str, Field(min_length=1)]
    """One SELECT."""
    max_rows: Annotated[int | None, Field(ge=1, le=1000), BeforeValidator(_no_bool)] = None
    """Rows at most; by default as many as keep the reply short."""


class ResultArguments(Arguments):
    """Arguments of `get_result`."""

    run_id: Annotated[str, AfterValidator(_check_run)]
    """From a reply that said running."""
    wait_s: Annotated[float, Field(ge=0, le=45), BeforeValidator(_no_bool)] = 20.0
    """Seconds to wait."""
    cancel: bool = False
    """End it first; only for runs of your own session."""


_A = TypeVar("_A", bound=Arguments)


def parse(model: type[_A], raw: Mapping[str, object], known: Known) -> _A:
    """`raw` as a record whose every name is known.

    Raises:
        ArgumentProblems: one line per problem, all of them.
    """
    try:
        return model.model_validate(raw, context=known)
    except ValidationError as error:
        raise ArgumentProblems(*(_told(one, model) for one in error.errors())) from error


def _told(error: ErrorDetails, model: type[Arguments]) -> str:
    """One problem in words: the argument, what is wrong, what is valid."""
    where = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "missing":
            return f"{where}: required"
        case "extra_forbidden":
            names = tuple(model.model_fields)
            near = difflib.get_close_matches(where, names, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            return f"unknown argument {where!r}: valid names are {', '.join(names)}{hint}"
        case "value_error" | "bool" | "pairs" | "bound" | "threads" | "choice" | "kernel" | "run":
            return f"{where}: {error['msg'].removeprefix('Value error, ')}"
        case "no_source" | "two_sources" | "target":
            return error["msg"]
        case "int_parsing_size":
            return f"{where}: must be a whole number of fewer digits, got {_short(error['input'])}"
    wrong = error["msg"].replace("Input should be", "must be")
    return f"{where}: {wrong}, got {_short(error['input'])}"
