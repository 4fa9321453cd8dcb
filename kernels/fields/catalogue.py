"""The fields one server knows: those shipped, those computed, those a user registered in its home.

A name flows in; what is known of the field, or its values, flows out.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels.fields import shipped, synthetic
from kernels.fields.arrays import scan, values_in
from kernels.fields.errors import FieldDataError, UnknownFieldError
from kernels.fields.registry import Entry, Registry, public
from kernels.records import Array, Field, FieldInfo

KEPT_BYTES = 2**30
"""Computed values that are kept in memory; the last field is, whatever its size."""
_LISTED = 40
"""Names in a message."""


class Catalogue:
    """Fields by name. Thread-safe."""

    def __init__(self, home: Path | None = None) -> None:
        """home: where a user's own fields are registered; None for those of the package alone."""
        self.registry = None if home is None else Registry(home)
        self._lock = threading.Lock()
        self._computing: dict[str, threading.Lock] = {}
        self._computed: OrderedDict[str, Field] = OrderedDict()
        self._mapped: dict[str, tuple[Entry, Field]] = {}

    def names(self) -> tuple[str, ...]:
        """The fields that are listed to an agent."""
        return (*shipped.names(), *synthetic.READY, *public(self._entries()))

    def problem(self, name: str) -> str | None:
        """Why an agent can't use a field of this name; None if it can.

        A hidden field is as unknown as one that does not exist.
        """
        missing = self.missing(name)
        if missing is None and self._known(name).hidden:
            return str(self._unknown(name))
        return missing

    def missing(self, name: str) -> str | None:
        """Why an operator can't use a field of this name; None if one can: it may be hidden."""
        try:
            self._known(name)
        except UnknownFieldError as error:
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
        return self._map(entry)

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
        with self._lock:
            making = self._computing.setdefault(name, threading.Lock())
        with making:
            with self._lock:
                if name in self._computed:
                    self._computed.move_to_end(name)
                    return self._computed[name]
            data = synthetic.compute(recipe)
            data.flags.writeable = False
            digest = hashlib.sha256(data.data).hexdigest()
            field = Field(replace(synthetic.info(recipe), sha256=digest), data)
            with self._lock:
                self._computed[name] = field
                self._forget()
        return field

    def _forget(self) -> None:
        """Let go of the values used longest ago, until the rest is small enough."""
        kept = sum(field.data.nbytes for field in self._computed.values())
        while kept > KEPT_BYTES and len(self._computed) > 1:
            name, field = self._computed.popitem(last=False)
            self._computing.pop(name, None)
            kept -= field.data.nbytes

    def _map(self, entry: Entry) -> Field:
        """A registered field's values, as long as its file is the one that was registered."""
        entry = self._checked(entry)
        with self._lock:
            kept = self._mapped.get(entry.name)
            if kept is not None and kept[0] == entry:
                return kept[1]
        field = Field(entry.info(), _values(entry))
        with self._lock:
            self._mapped[entry.name] = (entry, field)
        return field

    def _checked(self, entry: Entry) -> Entry:
        """The entry, renewed if its file was touched but holds the same. Raises FieldDataError."""
        try:
            status = Path(entry.path).stat()
        except OSError as error:
            raise FieldDataError(
                f"the file of field {_called(entry)} can't be read ({error.strerror}): put it "
                "back, or remove the field (sz-mcp fields remove)"
            ) from error
        if (status.st_size, status.st_mtime_ns) == (entry.size, entry.mtime_ns):
            return entry
        if status.st_size != entry.size or scan(_values(entry), None).sha256 != entry.sha256:
            raise FieldDataError(
                f"the file of field {_called(entry)} has changed since it was added: remove the "
                "field and add it again (sz-mcp fields remove, sz-mcp fields add)"
            )
        renewed = replace(entry, mtime_ns=status.st_mtime_ns)
        if self.registry is not None:
            self.registry.update(renewed)
        return renewed


def _called(entry: Entry) -> str:
    """The name a message may use: it may reach an agent."""
    return entry.info().name


def _values(entry: Entry) -> Array:
    path, dtype = Path(entry.path), np.dtype(entry.dtype)
    try:
        return values_in(path, entry.form, entry.shape, dtype, entry.offset)
    except (OSError, ValueError) as error:
        raise FieldDataError(
            f"the file of field {_called(entry)} can't be mapped ({error}): remove the field and "
            "add it again (sz-mcp fields remove, sz-mcp fields add)"
        ) from error
