"""What is registered of one field, and its JSON text → a checked record.

The text may be of any age, edited or copied by hand: nothing in it is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from kernels.fields.dims import DTYPES, has_value, problem_of_shape
from kernels.records import FieldInfo

VERSION = 1
HIDDEN_PREFIX = "hidden-"
FORMS = ("raw", "npy")

_ALIAS = re.compile(rf"{HIDDEN_PREFIX}[0-9a-f]{{8}}")
_SUM = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """A registered field: what it is and where its bytes lie."""

    name: str
    """The operator's name."""
    path: str
    """Absolute; of a file with the values in C order, little-endian."""
    form: str
    """raw | npy"""
    shape: tuple[int, ...]
    dtype: str
    """float32 | float64"""
    sha256: str
    size: int
    """Of the file, in bytes."""
    mtime_ns: int
    """When the file was last found to hold what `sha256` says."""
    offset: int = 0
    """Bytes of a raw file before the values."""
    fill: str = ""
    """Text of the fill value, which JSON could not hold exactly; empty for none."""
    unit: str = ""
    character: str = ""
    source: str = ""
    licence: str = ""
    alias: str = ""
    """What a hidden field is called in records; it stays the same once made."""
    hidden: bool = False
    owned: bool = False
    """The file is a copy of ours, deleted with the last field that uses it."""

    def info(self) -> FieldInfo:
        """What others may know; of a hidden field nothing that would give it away."""
        fill = float(self.fill) if self.fill else None
        if self.hidden:
            return FieldInfo(
                name=self.alias,
                shape=self.shape,
                dtype=self.dtype,
                source="",
                licence="",
                sha256=_disguised(self.alias, self.sha256),
                fill_value=fill,
                hidden=True,
            )
        return FieldInfo(
            name=self.name,
            shape=self.shape,
            dtype=self.dtype,
            source=self.source,
            licence=self.licence,
            sha256=self.sha256,
            unit=self.unit,
            character=self.character,
            fill_value=fill,
        )


def to_text(entry: Entry) -> str:
    """The JSON text of an entry."""
    return json.dumps({"version": VERSION, **asdict(entry)}, indent=1) + "\n"


def from_text(text: str) -> Entry:
    """The entry of a JSON text. Raises ValueError, which says what is wrong."""
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    version = content.pop("version", None)
    if version != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    _check_types(content)
    entry = Entry(**{**content, "shape": tuple(content["shape"])})
    for is_right, what in _RULES:
        if not is_right(entry):
            raise ValueError(what)
    return entry


def _check_types(content: dict[str, Any]) -> None:
    """Every key known, every value of the field's type. Raises ValueError."""
    known = {one.name: one for one in fields(Entry)}
    if content.keys() - known.keys():
        raise ValueError("it has a key that no field has")
    for key, one in known.items():
        if key not in content and one.default is MISSING:
            raise ValueError(f"{key} is missing")
        if key in content and not _TYPES[str(one.type)](content[key]):
            raise ValueError(f"{key} is of another type, not {one.type}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: _is_whole(value) and value >= 0,
    "bool": lambda value: isinstance(value, bool),
    "tuple[int, ...]": lambda value: isinstance(value, list) and all(map(_is_whole, value)),
}
"""Type of an entry's value → whether what JSON gave is one."""


def _is_told_text(entry: Entry) -> bool:
    """Lone surrogates can't be sent to anybody."""
    told = (entry.unit, entry.character, entry.source, entry.licence)
    return all(text == printable(text) for text in told)


def _is_fill(entry: Entry) -> bool:
    if not entry.fill:
        return True
    try:
        value = float(entry.fill)
    except ValueError:
        return False
    return math.isfinite(value) and has_value(np.dtype(entry.dtype), value)


_RULES: tuple[tuple[Callable[[Entry], bool], str], ...] = (
    (lambda entry: entry.dtype in DTYPES, f"dtype is none of {', '.join(DTYPES)}"),
    (lambda entry: entry.form in FORMS, f"form is none of {', '.join(FORMS)}"),
    (
        lambda entry: min(entry.shape, default=1) > 0 and problem_of_shape(entry.shape) is None,
        "shape is none that a field may have",
    ),
    (_is_fill, "fill is no number that the data type has"),
    (lambda entry: Path(entry.path).is_absolute() and "\0" not in entry.path, "path is no path"),
    (lambda entry: _SUM.fullmatch(entry.sha256) is not None, "sha256 is no such sum"),
    (
        lambda entry: (
            _ALIAS.fullmatch(entry.alias) is not None or (entry.alias == "" and not entry.hidden)
        ),
        "alias is none that was drawn",
    ),
    (_is_told_text, "a text holds characters that can't be sent"),
)
"""What an entry must fulfil, and the message if it does not. In order: later ones rely on it."""


def printable(text: str) -> str:
    """The text with question marks for what is no character, such as odd bytes of file names."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _disguised(alias: str, sha256: str) -> str:
    """As much a key of the content as the sum, but none that can be looked up."""
    return hashlib.sha256(f"{alias}:{sha256}".encode()).hexdigest()
