"""A spec's YAML text → `Spec`, or a `SpecError` that says in which line what is wrong.

Names of tasks, targets, fields and agents are checked against those there are, and a name that is
not known gets the nearest that is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sz_mcp.bench import spec as models
from sz_mcp.bench.errors import SpecError
from sz_mcp.bench.spec import Spec

Place = tuple[str | int, ...]
"""Keys and indices from the top of the file."""
_MODELS: dict[str, type[BaseModel]] = {
    "model": models.ModelAgent,
    "command": models.CommandAgent,
    "search": models.SearchAgent,
    "replay": models.ReplayAgent,
}
_PARTS: dict[str, type[BaseModel]] = {
    "budget": models.Budgets,
    "cell": models.Budget,
    "total": models.Budget,
    "plateau": models.Plateau,
    "parallel": models.Parallel,
    "leave_out": models.LeftOut,
    "bounds": models.Bound,
    "prices": models.Prices,
    "usage": models.UsagePaths,
}


@dataclass(frozen=True)
class Names:
    """What a spec may name."""

    tasks: Sequence[str]
    targets: Sequence[str]
    fields: Sequence[str]


def parse(text: str, origin: str, names: Names, *, folder: Path | None = None) -> Spec:
    """A spec.

    origin: how messages name it; folder: what its relative paths are of.

    Raises:
        SpecError: everything that is wrong with it, a line each.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SpecError(f"{_at(origin, error)}: not YAML: {_first_line(error)}") from None
    if not isinstance(raw, dict) or root is None:
        raise SpecError(f"{origin}: a spec is a mapping with name, agents, tasks, targets, fields")
    try:
        found = Spec.model_validate(raw)
    except ValidationError as error:
        problems = [_told(one, raw) for one in error.errors(include_url=False)]
        raise SpecError(_listed(origin, root, problems)) from None
    wrong = list(_unknown(found, names))
    if wrong:
        raise SpecError(_listed(origin, root, wrong))
    return found if folder is None else _resolved(found, folder.resolve())


def read(path: Path, names: Names) -> Spec:
    """The spec of a file. Raises SpecError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} can't be read: {error}") from error
    return parse(text, str(path), names, folder=path.parent)


@dataclass(frozen=True)
class _Problem:
    place: Place
    message: str


def _unknown(spec: Spec, names: Names) -> Iterator[_Problem]:
    for at, task in enumerate(spec.tasks):
        yield from _checked(("tasks", at), task, names.tasks, "task")
    for at, target in enumerate(spec.targets):
        yield from _checked(("targets", at), target, names.targets, "target")
    yield from _unknown_fields(spec, names)
    for at, left in enumerate(spec.leave_out):
        known = {"agent": list(spec.agents), "task": spec.tasks, "target": spec.targets}
        for key, choices in known.items():
            if (value := getattr(left, key)) is not None:
                yield from _checked(("leave_out", at, key), value, choices, f"{key} of this spec")


def _unknown_fields(spec: Spec, names: Names) -> Iterator[_Problem]:
    by_task = spec.fields if isinstance(spec.fields, dict) else {"": spec.fields}
    for task, fields in by_task.items():
        top: Place = ("fields", task) if task else ("fields",)
        if task not in ("", "default"):
            yield from _checked(top, task, spec.tasks, "task of this spec")
        for at, field in enumerate(fields):
            # A field may also be computed or of a file, by a name that no list has.
            if ":" not in field:
                yield from _checked((*top, at), field, names.fields, "field")
    for task in spec.tasks:
        if not spec.fields_of(task):
            yield _Problem(("fields",), f"no field for the task {task}: name one, or a default")


def _checked(place: Place, name: str, choices: Sequence[str], what: str) -> Iterator[_Problem]:
    if name not in choices:
        yield _Problem(place, f"no {what} {name!r}{_nearest(name, choices)}")


def _nearest(name: str, choices: Iterable[str]) -> str:
    known = list(choices)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f": did you mean {near[0]!r}?"
    return f": choose one of {', '.join(known)}" if known else ""


def _told(error: ErrorDetails, raw: dict[str, Any]) -> _Problem:
    place = _place(error["loc"], raw)
    name = str(place[-1]) if place else ""
    match error["type"]:
        case "extra_forbidden":
            return _Problem(place, f"unknown key {name!r}{_nearest(name, _keys_at(place, raw))}")
        case "missing":
            return _Problem(place, f"{name!r} is missing")
        case "union_tag_not_found":
            return _Problem(place, "'kind' is missing: model, command, search or replay")
        case "union_tag_invalid":
            kind = str(error.get("ctx", {}).get("tag", ""))
            return _Problem((*place, "kind"), f"no kind {kind!r}{_nearest(kind, _MODELS)}")
        case "literal_error":
            given = str(error["input"])
            known = [one.strip("'") for one in _choices(error)]
            return _Problem(place, f"{given!r} is none of them{_nearest(given, known)}")
    said = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return _Problem(place, said)


def _choices(error: ErrorDetails) -> list[str]:
    expected = str(error.get("ctx", {}).get("expected", ""))
    return expected.replace(" or ", ", ").split(", ")


def _place(loc: Place, raw: dict[str, Any]) -> Place:
    """Keys of the file: without those that pydantic adds for members of a union."""
    kept: list[str | int] = []
    inside: Any = raw
    for at, key in enumerate(loc):
        last = at == len(loc) - 1
        there = (isinstance(inside, dict) and key in inside) or (
            isinstance(inside, list) and isinstance(key, int) and key < len(inside)
        )
        if there:
            kept.append(key)
            inside = inside[key]
        elif last and isinstance(inside, dict) and key not in _MODELS:
            kept.append(key)
    return tuple(kept)


def _keys_at(place: Place, raw: dict[str, Any]) -> list[str]:
    """The keys that the part of a spec at a place may have."""
    holder = place[:-1]
    if not holder:
        return list(Spec.model_fields)
    if holder[0] == "agents" and len(holder) == 2:
        inside = raw["agents"][holder[1]]
        return list(_MODELS[str(inside.get("kind"))].model_fields)
    named = [str(key) for key in holder if str(key) in _PARTS]
    return list(_PARTS[named[-1]].model_fields) if named else []


def _listed(origin: str, root: yaml.Node, problems: Iterable[_Problem]) -> str:
    lines = []
    for one in problems:
        path = ".".join(str(key) for key in one.place)
        line = _line(root, one.place)
        lines.append(f"{origin}:{line}: {path}: {one.message}" if path else f"{origin}: {one}")
    return "\n".join(dict.fromkeys(lines))


def _line(root: yaml.Node, place: Place) -> int:
    """Line of the last key that is there, from 1."""
    node, line = root, root.start_mark.line
    for key in place:
        found = _child(node, key)
        if found is None:
            break
        node, line = found
    return int(line) + 1


def _child(node: yaml.Node, key: str | int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        found = node.value[key]
        return found, found.start_mark.line
    return None


def _at(origin: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return origin if mark is None else f"{origin}:{mark.line + 1}"


def _first_line(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]


def _resolved(spec: Spec, folder: Path) -> Spec:
    """With relative paths taken from the spec's folder, whatever the current one is."""
    agents: dict[str, models.Agent] = {}
    for name, agent in spec.agents.items():
        update: dict[str, object] = {}
        if isinstance(agent, models.SearchAgent) and agent.space is not None:
            update["space"] = folder / agent.space
        if isinstance(agent, models.ReplayAgent):
            update["folders"] = tuple(folder / one for one in agent.folders)
            if agent.home is not None:
                update["home"] = folder / agent.home
        agents[name] = agent.model_copy(update=update)
    return spec.model_copy(update={"agents": agents})
