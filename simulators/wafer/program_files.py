"""A program in a folder: `program.json` for what people may read, `program.npz` for the arrays.

Records are written as objects of their fields; reading follows the type annotations of `program`,
so that a new field needs nothing here if it has a default. No pickle. Damage is `ProgramFileError`.
"""

from __future__ import annotations

import base64
import binascii
import json
import types
import typing
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from . import dsd, program
from .program import Program

VERSION = 1
"""Of the format: raised when files of before can't be read any more."""
_JSON = "program.json"
_ARRAYS = "program.npz"


class ProgramFileError(Exception):
    """A folder doesn't hold a program that can be read; the message says why."""


def save_program(what: Program, folder: Path) -> None:
    """Write to a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    content = {"format": "wafer program", "version": VERSION, "program": _plain(what, "", arrays)}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / _JSON).write_text(text + "\n", encoding="utf-8")
    with (folder / _ARRAYS).open("wb") as out:
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]


def load_program(folder: Path) -> Program:
    """Read what `save_program` wrote. Raises ProgramFileError."""
    try:
        content = json.loads((folder / _JSON).read_text(encoding="utf-8"))
        # Opened here, as numpy leaves the file open where it isn't an archive.
        with (folder / _ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError as problem:
        raise ProgramFileError(f"{problem.filename} is missing: compile the program") from problem
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        raise ProgramFileError(f"{folder} is damaged: {problem}") from problem
    if not isinstance(content, dict) or content.get("format") != "wafer program":
        raise ProgramFileError(f"{folder / _JSON} isn't a program of the wafer simulator")
    if content.get("version") != VERSION:
        message = f"{folder} has version {content.get('version')} of the format, not {VERSION}"
        raise ProgramFileError(f"{message}: compile the program again")
    try:
        loaded = _Reader(arrays).value(Program, content.get("program"))
    except (KeyError, TypeError, ValueError, binascii.Error) as problem:
        raise ProgramFileError(f"{folder / _JSON} is damaged: {problem}") from problem
    _check(typing.cast(Program, loaded), folder)
    return typing.cast(Program, loaded)


def _plain(value: object, path: str, arrays: dict[str, npt.NDArray[np.generic]]) -> object:
    """What JSON can hold; arrays go to the other file, by name."""
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(
                getattr(value, field.name), f"{path}.{field.name}".strip("."), arrays
            )
            for field in fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item, f"{path}.{n}", arrays) for n, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{path}.{key}", arrays) for key, item in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


class _Reader:
    """Builds values of annotated types."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        self.arrays = arrays
        self.hints: dict[type, dict[str, object]] = {}
        self.by_origin: dict[object, Callable[[tuple[object, ...], object], object]] = {
            tuple: self._tuple,
            types.UnionType: self._optional,
            typing.Union: self._optional,
            Mapping: self._mapping,
            np.ndarray: self._array,
        }

    def value(self, kind: object, data: object) -> object:
        """A value of a type from what JSON held. TypeError, ValueError or KeyError if it can't."""
        handler = self.by_origin.get(typing.get_origin(kind))
        if handler is not None:
            return handler(typing.get_args(kind), data)
        if not isinstance(kind, type):
            raise TypeError(f"no way to read {kind}")
        if is_dataclass(kind):
            return self._record(kind, data)
        return _atom(kind, data)

    def _record(self, kind: type, data: object) -> object:
        if not isinstance(data, dict):
            raise TypeError(f"{kind.__name__}: an object is needed")
        hints = self.hints.get(kind)
        if hints is None:
            scope = {**vars(dsd), **vars(program)}
            hints = self.hints[kind] = typing.get_type_hints(kind, scope)
        unknown = data.keys() - hints.keys()
        if unknown:
            raise ValueError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
        return kind(**{name: self.value(hints[name], item) for name, item in data.items()})

    def _tuple(self, arguments: tuple[object, ...], data: object) -> object:
        if not isinstance(data, list):
            raise TypeError("a list is needed")
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(self.value(arguments[0], item) for item in data)
        return tuple(self.value(kind, item) for kind, item in zip(arguments, data, strict=True))

    def _optional(self, arguments: tuple[object, ...], data: object) -> object:
        if data is None and type(None) in arguments:
            return None
        return self.value(next(kind for kind in arguments if kind is not type(None)), data)

    def _mapping(self, arguments: tuple[object, ...], data: object) -> object:
        if not isinstance(data, dict):
            raise TypeError("an object is needed")
        key = int if arguments[0] is int else str
        return {key(name): self.value(arguments[1], item) for name, item in data.items()}

    def _array(self, _arguments: tuple[object, ...], data: object) -> object:
        if not isinstance(data, dict) or not isinstance(data.get("array"), str):
            raise TypeError("the name of an array is needed")
        array = self.arrays.get(data["array"])
        if array is None:
            raise ValueError(f"the array {data['array']} is missing")
        return array.astype(np.int32)


def _atom(kind: type, data: object) -> object:
    if issubclass(kind, Enum):
        return kind(data)
    if kind is bytes:
        if not isinstance(data, str):
            raise TypeError("text in base 64 is needed")
        return base64.b64decode(data, validate=True)
    if kind is int and isinstance(data, bool):
        raise TypeError("a number is needed")
    if (kind is not bool and isinstance(data, bool)) or not isinstance(data, kind):
        raise TypeError(f"{data!r} isn't {kind.__name__}")
    return data


def _check(what: Program, folder: Path) -> None:
    """Shapes and numbers that the machine relies on."""
    shape = what.height, what.width
    problems = [
        (what.class_of.shape != shape, "class_of has another shape than the rectangle"),
        (what.route_of.shape != (*shape, program.COLORS), "route_of has a wrong shape"),
        (not _within(what.class_of, 0, len(what.classes)), "a PE has a class that isn't there"),
        (not _within(what.route_of, -1, len(what.routes)), "a PE has a route that isn't there"),
    ]
    for part in what.classes:
        rows = len(part.code)
        problems += [
            (part.code.ndim != 2 or part.code.shape[1:] != (4,), f"code of {part.name}: shape"),
            (part.places.shape != (rows,), f"places of {part.name}: shape"),
            (not _within(part.places, -1, len(what.places)), f"places of {part.name}"),
            (
                any(not 0 <= function.entry < rows for function in part.functions),
                f"functions of {part.name}",
            ),
        ]
    for wrong, message in problems:
        if wrong:
            raise ProgramFileError(f"{folder} is damaged: {message}")


def _within(array: npt.NDArray[np.int32], low: int, end: int) -> bool:
    return not array.size or (int(array.min()) >= low and int(array.max()) < end)
