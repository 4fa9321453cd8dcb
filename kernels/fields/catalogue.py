"""The fields one server knows: those shipped, those computed, those a user registered in its home.

A name flows in; what is known of the field, or its values, flows out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kernels.fields import shipped, synthetic
from kernels.fields.arrays import HELD_BYTES, Layout, is_file, sum_of, values_in
from kernels.fields.entries import Entry
from kernels.fields.errors import FieldDataError, UnknownFieldError, reason
from kernels.fields.registry import Registry, public
from kernels.records import Field, FieldInfo

KEPT_BYTES = 2**30
"""Values that are kept in memory; the last field is, whatever its size."""
_LISTED = 40
"""Names in a message."""


class Catalogue:
    """Fields by name. Thread-safe."""

    def __init__(self, home: Path | None = None, *, held_bytes: int = HELD_BYTES) -> None:
        """Without a home, the fields of the package alone.

        home: where a user's own fields are registered.
        held_bytes: values of files up to this are read into memory, larger ones mapped.
        """
        self.registry = None if home is None else Registry(home)
        self._held_bytes = held_bytes
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def names(self) -> tuple[str, ...]:
        """The fields that are listed to an agent."""
        return (*shipped.names(), *synthetic.READY, *public(self._entries()))

    def listed(self) -> tuple[FieldInfo, ...]:
        """What is known of the fields that are listed to an agent, in one look."""
        return (
            *map(shipped.info, shipped.names()),
            *(synthetic.info(synthetic.parse(name)) for name in synthetic.READY),
            *(entry.info() for entry in self._entries() if not entry.hidden),
        )

    def problem(self, name: str) -> str | None:
        """Why an agent can't use a field of this name; None if it can.

        A hidden or damaged field is as unknown as one that does not exist.
        """
        try:
            hidden = self._known(name).hidden
        except UnknownFieldError as error:
            return str(error)
        except FieldDataError:
            return str(self._unknown(name))
        return str(self._unknown(name)) if hidden else None

    def missing(self, name: str) -> str | None:
        """Why an operator can't use a field of this name; None if one can: it may be hidden."""
        try:
            self._known(name)
        except (UnknownFieldError, FieldDataError) as error:
            return str(error)
        return None

    def info(self, name: str) -> FieldInfo:
        """What is known of a field without reading it, by name or alias.

        The info's own name is the one to record: the alias of a hidden field, and the one
        spelling of a computed one. Raises UnknownFieldError, FieldDataError.
        """
        return self._known(name)

    def hidden(self) -> tuple[FieldInfo, ...]:
        """The fields that only operators may use, under their aliases."""
        return tuple(entry.info() for entry in self._entries() if entry.hidden)

    def load(self, name: str) -> Field:
        """A field's values, read-only. Raises UnknownFieldError, FieldDataError."""
        if name in shipped.names():
            return shipped.load(name)
        if name.startswith(synthetic.PREFIX):
            return self._compute(synthetic.parse(name))
        entry = self._entry(name)
        if entry is None:
            raise self._unknown(name)
        return self._registered(entry)

    def unchanged(self, field: Field) -> bool:
        """Whether the values of a loaded field are still those that were loaded.

        Those in memory always are; those of a mapped file as long as its size and time are.
        """
        if not isinstance(field, _MappedField):
            return True
        try:
            return _stamp(field.path) == field.stamp
        except OSError:
            return False

    def _entries(self) -> tuple[Entry, ...]:
        return () if self.registry is None else self.registry.entries()

    def _entry(self, name: str) -> Entry | None:
        return None if self.registry is None else self.registry.find(name)

    def _known(self, name: str) -> FieldInfo:
        if name in shipped.names():
            return shipped.info(name)
        if name.startswith(synthetic.PREFIX):
            return synthetic.info(synthetic.parse(name))
        entry = self._entry(name)
        if entry is None:
            raise self._unknown(name)
        return entry.info()

    def _unknown(self, name: str) -> UnknownFieldError:
        shown = name if len(name) <= 80 else f"{name[:77]}..."
        names = self.names()
        listed = ", ".join(names[:_LISTED])
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return UnknownFieldError(
            f"unknown field {shown!r}: choose one of {listed}{more}, or any {synthetic.GRAMMAR}"
        )

    def _compute(self, recipe: synthetic.Recipe) -> Field:
        """A computed field, made once while it is kept."""
        name = recipe.name
        with self._turn(name):
            kept = self._recalled(name)
            if kept is not None:
                return kept.field
            data = synthetic.compute(recipe)
            data.flags.writeable = False
            field = Field(replace(synthetic.info(recipe), sha256=sum_of(data)), data)
            self._keep(name, _Kept(field))
        return field

    def _registered(self, entry: Entry) -> Field:
        """A registered field's values, as long as its file is the one that was registered."""
        with self._turn(entry.name):
            stamp = _found(entry)
            kept = self._recalled(entry.name)
            if kept is not None and kept.stamp == stamp and _same(kept.entry, entry):
                return kept.field
            field = self._read(entry, stamp)
            self._keep(entry.name, _Kept(field, entry, stamp))
        if stamp.mtime_ns != entry.mtime_ns and self.registry is not None:
            # Only a note that saves the next server a look: a home may be read-only.
            with suppress(OSError):
                self.registry.renew(entry, stamp.mtime_ns)
        return field

    def _read(self, entry: Entry, stamp: Stamp) -> Field:
        """The values, looked through unless the file is mapped and untouched."""
        if stamp.size != entry.size:
            raise _changed(entry)
        path, dtype = Path(entry.path), np.dtype(entry.dtype)
        layout = Layout(entry.shape, dtype, entry.offset)
        try:
            data, is_mapped = values_in(path, entry.form, layout, self._held_bytes)
        except Exception as error:  # What a damaged .npy file makes NumPy raise is not listed.
            raise FieldDataError(
                f"the file of field {_called(entry)} can't be read ({reason(error)}): {_REMEDY}"
            ) from error
        is_trusted = is_mapped and stamp.mtime_ns == entry.mtime_ns
        if not is_trusted and sum_of(data) != entry.sha256:
            raise _changed(entry)
        if not is_mapped:
            return Field(entry.info(), data)
        if _found(entry) != stamp:
            raise _changed(entry)
        return _MappedField(entry.info(), data, path, stamp)

    def _turn(self, name: str) -> threading.Lock:
        """Held by the one who makes a field, while others wait for it."""
        with self._lock:
            return self._making.setdefault(name, threading.Lock())

    def _recalled(self, name: str) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
            return kept

    def _keep(self, name: str, kept: _Kept) -> None:
        """Keep values; let go of those used longest ago, until the rest is small enough."""
        with self._lock:
            self._kept[name] = kept
            self._kept.move_to_end(name)
            total = sum(one.nbytes for one in self._kept.values())
            while total > KEPT_BYTES and len(self._kept) > 1:
                oldest, gone = self._kept.popitem(last=False)
                self._making.pop(oldest, None)
                total -= gone.nbytes


@dataclass(frozen=True)
class Stamp:
    """By what a change of a file is noticed without reading it."""

    size: int
    mtime_ns: int


@dataclass(frozen=True)
class _MappedField(Field):
    """A field whose values lie in a file."""

    path: Path
    stamp: Stamp
    """Of the file when it was mapped."""


@dataclass(frozen=True)
class _Kept:
    """A field that was loaded, and of what."""

    field: Field
    entry: Entry | None = None
    stamp: Stamp | None = None

    @property
    def nbytes(self) -> int:
        """In memory."""
        return 0 if isinstance(self.field, _MappedField) else self.field.data.nbytes


_REMEDY = (
    "put back what was there, or remove the field and add it again (sz-mcp fields remove, "
    "sz-mcp fields add)"
)


def _same(kept: Entry | None, entry: Entry) -> bool:
    return kept is not None and replace(kept, mtime_ns=entry.mtime_ns) == entry


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return Stamp(status.st_size, status.st_mtime_ns)


def _found(entry: Entry) -> Stamp:
    """Raises FieldDataError if the file is not there."""
    path = Path(entry.path)
    try:
        cause = "" if is_file(path) else "it is no regular file"
        stamp = _stamp(path)
    except OSError as error:
        raise FieldDataError(
            f"the file of field {_called(entry)} can't be read ({reason(error)}): {_REMEDY}"
        ) from error
    if cause:
        raise FieldDataError(
            f"the file of field {_called(entry)} can't be read ({cause}): {_REMEDY}"
        )
    return stamp


def _changed(entry: Entry) -> FieldDataError:
    return FieldDataError(
        f"the file of field {_called(entry)} has changed since it was added: {_REMEDY}"
    )


def _called(entry: Entry) -> str:
    """The name a message may use: it may reach an agent."""
    return entry.info().name
