"""Parameter spaces: what a submission declares can be varied, and how a point becomes its source.

A folder has `space.yaml` and the submission's files (or names a worked submission as its `base`).
Each parameter is a constant that its files define, each in one place: `BLOCK: {choices: [64, 128],
default: 64}`, or `STEPS: {low: 1, high: 8, files: [kernel.py, kernel.cu]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kernels import baselines
from sz_mcp.bench.constants import ConstantError, Value, replaced
from sz_mcp.bench.errors import SpecError

Point = Mapping[str, Value]
"""Parameter → value."""
FILE = "space.yaml"
_SHIPPED = Path(baselines.__file__).parent
_PLACE = "space"
"""Beside the worked submissions of a task."""
_MOST_POINTS = 1_000_000


class SpaceError(SpecError):
    """A space that can't be searched; the message says why."""


class _Parameter(BaseModel):
    """One parameter as it is declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: tuple[Value, ...] = ()
    low: int | None = None
    high: int | None = None
    step: int = Field(default=1, ge=1)
    default: Value | None = None
    files: tuple[str, ...] = Field(default=("kernel.py",), min_length=1)
    """Each defines it."""

    @model_validator(mode="after")
    def _one_kind(self) -> _Parameter:
        ranged = self.low is not None and self.high is not None and self.low <= self.high
        if bool(self.choices) == ranged:
            raise ValueError("give either choices, or low and high")
        return self

    def values(self) -> tuple[Value, ...]:
        if self.choices:
            return self.choices
        return tuple(range(self.low or 0, (self.high or 0) + 1, self.step))


class _Declared(BaseModel):
    """A space.yaml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    base: str = ""
    """STYLE of the worked submission of the same task and target that it varies."""
    parameters: dict[str, _Parameter] = Field(min_length=1)


@dataclass(frozen=True)
class Parameter:
    """One that a search chooses."""

    name: str
    choices: tuple[Value, ...]
    """In order: neighbours are next to each other."""
    default: Value
    files: tuple[str, ...]


@dataclass(frozen=True)
class Space:
    """All points, and the submission they vary."""

    parameters: tuple[Parameter, ...]
    base: Mapping[str, str]

    @property
    def size(self) -> int:
        """How many points there are."""
        return prod(len(one.choices) for one in self.parameters)

    @property
    def defaults(self) -> Point:
        """Where a search begins."""
        return {one.name: one.default for one in self.parameters}

    def random(self, rng: np.random.Generator) -> Point:
        """Any point, all equally likely."""
        return {p.name: p.choices[int(rng.integers(len(p.choices)))] for p in self.parameters}

    def neighbours(self, point: Point) -> list[Point]:
        """Points that differ in one parameter, by one step."""
        found: list[Point] = []
        for one in self.parameters:
            at = one.choices.index(point[one.name])
            found += [
                {**point, one.name: one.choices[near]}
                for near in (at - 1, at + 1)
                if 0 <= near < len(one.choices)
            ]
        return found

    def key(self, point: Point) -> str:
        """The same for the same point."""
        return repr([point[one.name] for one in self.parameters])

    def files(self, point: Point) -> dict[str, str]:
        """The submission at a point."""
        files = dict(self.base)
        for one in self.parameters:
            for name in one.files:
                files[name] = replaced(name, files[name], one.name, point[one.name])
        return files


def space_for(task: str, target: str, folder: Path | None = None) -> Space:
    """The space of a folder, or the one that is shipped. Raises SpaceError."""
    family = target.partition(":")[0]
    place = folder or _SHIPPED / family / task / _PLACE
    path = place / FILE
    try:
        raw: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        declared = _Declared.model_validate(raw)
    except FileNotFoundError:
        raise SpaceError(_missing(task, target, folder)) from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SpaceError(f"{path}: {_gist(error)}") from error
    files = {
        one.name: one.read_text(encoding="utf-8")
        for one in sorted(place.iterdir())
        if one.is_file() and one.name != FILE
    }
    if declared.base:
        try:
            files = {**baselines.read(task, declared.base, family).files, **files}
        except baselines.UnknownBaselineError as error:
            raise SpaceError(f"{path}: base: {error}") from error
    space = Space(tuple(_parameter(n, p, path) for n, p in declared.parameters.items()), files)
    _check(space, path)
    return space


def shipped() -> tuple[tuple[str, str], ...]:
    """(family, task) of the spaces that come with the package."""
    found = (path.parents[1] for path in _SHIPPED.glob(f"*/*/{_PLACE}/{FILE}"))
    return tuple(sorted((task.parent.name, task.name) for task in found))


def _parameter(name: str, declared: _Parameter, path: Path) -> Parameter:
    values = declared.values()
    default = values[0] if declared.default is None else declared.default
    if default not in values:
        raise SpaceError(f"{path}: {name}: the default {default!r} is none of {list(values)}")
    return Parameter(name, values, default, declared.files)


def _check(space: Space, path: Path) -> None:
    if space.size > _MOST_POINTS:
        raise SpaceError(f"{path}: {space.size} points; {_MOST_POINTS} are allowed")
    for one in space.parameters:
        for name in one.files:
            if name not in space.base:
                known = ", ".join(space.base) or "none"
                raise SpaceError(f"{path}: {one.name}: no file {name!r}; there are: {known}")
            try:
                replaced(name, space.base[name], one.name, one.default)
            except ConstantError as error:
                raise SpaceError(f"{path}: {name}: {error}") from None


def _missing(task: str, target: str, folder: Path | None) -> str:
    if folder is not None:
        return f"{folder} has no {FILE}"
    family = target.partition(":")[0]
    known = ", ".join(name for kind, name in shipped() if kind == family) or "none"
    return f"no parameter space for {task} on {target}: there are, of {family}: {known}"


def _gist(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return str(error)
