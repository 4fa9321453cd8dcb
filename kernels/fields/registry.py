"""A user's own fields: one JSON file each in `home/fields`, written atomically.

Several processes may add, change and remove at once: changes wait for each other, readers for
nobody. Nothing here reads a field's values.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kernels.fields import shipped
from kernels.fields.entries import HIDDEN_PREFIX, Entry, from_text, to_text
from kernels.fields.errors import FieldDataError, FieldNameError, UnknownFieldError, reason

RESERVED = ("suite", "synthetic")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
_SUFFIX = ".json"
_LOCK = ".lock"
_PLACE = "HOME/fields"
"""What a message calls the folder, which is the operator's alone."""
_MOST_BYTES = 2**20
"""Of an entry's file: what is larger is something else."""


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
        self._known: dict[str, tuple[tuple[int, int, int], Entry]] = {}

    @property
    def data(self) -> Path:
        """Where values are kept that are not read from the user's own file."""
        return self.folder / "data"

    def entries(self) -> tuple[Entry, ...]:
        """All that can be understood, by name; one damaged file takes no other field away."""
        return tuple(found for found in self._found() if isinstance(found, Entry))

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the files that can't be understood; for operators alone."""
        return tuple(
            str(found).replace(_PLACE, str(self.folder), 1)
            for found in self._found()
            if not isinstance(found, Entry)
        )

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
        """By name or alias. Raises UnknownFieldError, FieldDataError, FieldNameError."""
        if name in shipped.names() or name.startswith("synthetic:"):
            raise FieldNameError(
                f"{name} comes with the package: it can't be hidden or removed; your own fields "
                f"can: {self._listed()}"
            )
        found = self.find(name)
        if found is None:
            raise UnknownFieldError(
                f"no field {name!r} is registered here; registered: {self._listed()}"
            )
        return found

    def add(self, entry: Entry) -> Entry:
        """Register a field. Raises FieldNameError if the name can't be used or is taken."""
        problem = problem_of_name(entry.name)
        if problem is not None:
            raise FieldNameError(problem)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            draft = self._draft(entry)
            try:
                os.link(draft, self._path(entry.name))
            except FileExistsError:
                raise FieldNameError(taken(entry.name)) from None
            finally:
                draft.unlink()
        return entry

    def renew(self, entry: Entry, mtime_ns: int) -> None:
        """Note that a field's file was found unchanged at another time.

        Looking through a file takes long: if the field was changed or removed meanwhile, that
        stands. Raises OSError.
        """
        with self._locked():
            try:
                current = _read(self._path(entry.name))
            except (FileNotFoundError, FieldDataError):
                return
            if replace(current, mtime_ns=entry.mtime_ns) == entry:
                self._write(replace(current, mtime_ns=mtime_ns))

    def hide(self, name: str, *, hidden: bool) -> Entry:
        """Take a field away from agents, or give it to them.

        Raises:
            UnknownFieldError, FieldDataError, FieldNameError: it is not registered, or damaged.
        """
        self.get(name)
        with self._locked():
            entry = self.get(name)
            alias = entry.alias or (new_alias() if hidden else "")
            return self._write(replace(entry, hidden=hidden, alias=alias))

    def remove(self, name: str) -> Entry:
        """Forget a field, and delete its values if they are a copy of ours that no other uses.

        Raises:
            UnknownFieldError, FieldDataError, FieldNameError: it is not registered, or damaged.
        """
        self.get(name)
        with self._locked():
            entry = self.get(name)
            self._path(entry.name).unlink(missing_ok=True)
            if entry.owned and not any(other.path == entry.path for other in self.entries()):
                Path(entry.path).unlink(missing_ok=True)
        return entry

    def _listed(self) -> str:
        return ", ".join(entry.name for entry in self.entries()) or "none yet"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One change at a time, of all threads and processes. Raises OSError."""
        with (self.folder / _LOCK).open("ab") as file:
            # Given back when the file is closed, however this process ends.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _write(self, entry: Entry) -> Entry:
        """Put an entry in the place of the one before."""
        self._draft(entry).replace(self._path(entry.name))
        return entry

    def _draft(self, entry: Entry) -> Path:
        """The entry in a file that no reader takes for one. Raises OSError, leaving no file."""
        draft = self.folder / f".{entry.name}.{secrets.token_hex(4)}.tmp"
        try:
            with draft.open("x", encoding="utf-8") as file:
                file.write(to_text(entry))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise type(error)(error.errno, error.strerror, str(self.folder)) from error
        return draft

    def _entry(self, path: Path) -> Entry:
        """One file, read unless it is the one read before. Raises as `_read`."""
        try:
            status = path.stat()
        except OSError:
            return _read(path)
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = self._known.get(path.name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        entry = _read(path)
        self._known[path.name] = (stamp, entry)
        return entry


def _read(path: Path) -> Entry:
    """Raises FileNotFoundError; FieldDataError, without the folder: an agent may be told."""
    try:
        # Opening a pipe would wait for somebody who writes.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("it is no file")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("it is too large")
        entry = from_text(content.decode("utf-8"))
        _check_name(entry.name, path)
    except FileNotFoundError as error:
        if not path.is_symlink():
            raise
        raise _damaged(path, error) from error
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error
    return entry


def _check_name(name: str, path: Path) -> None:
    """A copied file would be a second field of the same name. Raises ValueError."""
    if name != path.name.removesuffix(_SUFFIX):
        raise ValueError("the name in it is another than the file's")
    if problem_of_name(name) is not None:
        raise ValueError("no field can have this name")


def _damaged(path: Path, error: Exception) -> FieldDataError:
    return FieldDataError(
        f"{_PLACE}/{path.name} can't be understood ({reason(error)}): remove it and add the field "
        "again (sz-mcp fields add)"
    )


def taken(name: str) -> str:
    """The message for a name that is in use."""
    return (
        f"a field {name!r} is registered already: choose another --name, "
        f"or remove it first (sz-mcp fields remove {name})"
    )


def public(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Names that agents may be told."""
    return tuple(entry.name for entry in entries if not entry.hidden)
