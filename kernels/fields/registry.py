"""A user's own fields: one JSON file each in `home/fields`, written atomically.

Several processes may add and remove at once. Nothing here reads a field's values.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kernels.fields import shipped
from kernels.fields.errors import FieldDataError, FieldNameError, UnknownFieldError
from kernels.records import FieldInfo

VERSION = 1
HIDDEN_PREFIX = "hidden-"
RESERVED = ("suite", "synthetic")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
_SUFFIX = ".json"


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


def new_alias() -> str:
    """A name that says nothing of the field."""
    return HIDDEN_PREFIX + secrets.token_hex(4)


def problem_of_name(name: str) -> str | None:
    """Why a user's field can't have this name; None if it can."""
    if _NAME.fullmatch(name) is None:
        return (
            f"field name {name[:80]!r}: use letters, digits, dots, dashes and underscores, "
            "at most 80, the first a letter or digit"
        )
    if name in shipped.names() or name in RESERVED or name.startswith(HIDDEN_PREFIX):
        return f"field name {name!r} is reserved: choose another with --name"
    return None


class Registry:
    """The fields registered in one home. Thread-safe: all state is in files but a read cache."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "fields"
        self._read: dict[str, tuple[tuple[int, int, int], Entry]] = {}

    @property
    def data(self) -> Path:
        """Where values are kept that are not read from the user's own file."""
        return self.folder / "data"

    def entries(self) -> tuple[Entry, ...]:
        """All that can be understood, by name; one damaged file takes no other field away."""
        return tuple(found for found in self._found() if isinstance(found, Entry))

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the files that can't be understood."""
        return tuple(str(found) for found in self._found() if not isinstance(found, Entry))

    def _found(self) -> Iterator[Entry | FieldDataError]:
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                yield self._entry(path)
            except FileNotFoundError:
                continue
            except FieldDataError as error:
                yield error

    def find(self, name: str) -> Entry | None:
        """By name or alias. Raises FieldDataError if its file can't be understood."""
        if _NAME.fullmatch(name) is None:
            return None
        if name.startswith(HIDDEN_PREFIX):
            return next((entry for entry in self.entries() if entry.alias == name), None)
        try:
            return self._entry(self._path(name))
        except FileNotFoundError:
            return None

    def get(self, name: str) -> Entry:
        """By name or alias. Raises UnknownFieldError."""
        found = self.find(name)
        if found is None:
            known = ", ".join(entry.name for entry in self.entries()) or "none yet"
            raise UnknownFieldError(f"no field {name!r} is registered here; registered: {known}")
        return found

    def add(self, entry: Entry) -> Entry:
        """Register a field. Raises FieldNameError if the name can't be used or is taken."""
        problem = problem_of_name(entry.name)
        if problem is not None:
            raise FieldNameError(problem)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self._draft(entry)
        try:
            os.link(draft, self._path(entry.name))
        except FileExistsError:
            raise FieldNameError(taken(entry.name)) from None
        finally:
            draft.unlink()
        return entry

    def update(self, entry: Entry) -> Entry:
        """Write a registered field anew."""
        self._draft(entry).replace(self._path(entry.name))
        return entry

    def hide(self, name: str, *, hidden: bool) -> Entry:
        """Take a field away from agents, or give it to them. Raises UnknownFieldError."""
        entry = self.get(name)
        alias = entry.alias or (new_alias() if hidden else "")
        return self.update(replace(entry, hidden=hidden, alias=alias))

    def remove(self, name: str) -> Entry:
        """Forget a field, and delete its values if they are a copy of ours that no other uses.

        Raises:
            UnknownFieldError: it is not registered.
        """
        entry = self.get(name)
        self._path(entry.name).unlink(missing_ok=True)
        if entry.owned and not any(other.path == entry.path for other in self.entries()):
            Path(entry.path).unlink(missing_ok=True)
        return entry

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _draft(self, entry: Entry) -> Path:
        """The entry in a file that no reader takes for one."""
        draft = self.folder / f".{entry.name}.{secrets.token_hex(4)}.tmp"
        content = {"version": VERSION, **asdict(entry)}
        with draft.open("x", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        return draft

    def _entry(self, path: Path) -> Entry:
        """Read one file, unless it is the one read before. Raises FileNotFoundError."""
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = self._read.get(path.name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        try:
            entry = _from_json(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError) as error:
            raise FieldDataError(
                f"{path} can't be understood ({error}): remove it and add the field again"
            ) from error
        self._read[path.name] = (stamp, entry)
        return entry


def taken(name: str) -> str:
    """The message for a name that is in use."""
    return (
        f"a field {name!r} is registered already: choose another --name, "
        f"or remove it first (sz-mcp fields remove {name})"
    )


def public(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Names that agents may be told."""
    return tuple(entry.name for entry in entries if not entry.hidden)


def _from_json(content: dict[str, Any]) -> Entry:
    version = content.pop("version")
    if version != VERSION:
        raise ValueError(f"version {version}, not {VERSION}")
    return Entry(**{**content, "shape": tuple(content["shape"])})


def _disguised(alias: str, sha256: str) -> str:
    """As much a key of the content as the sum, but none that can be looked up."""
    return hashlib.sha256(f"{alias}:{sha256}".encode()).hexdigest()
