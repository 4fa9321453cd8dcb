"""The fields one server knows: those shipped, those computed, those a user registered in its home.

A name flows in; what is known of the field, or its values, flows out.
"""

from __future__ import annotations

from pathlib import Path

from kernels.fields import registry
from kernels.fields.registry import UnknownFieldError
from kernels.records import Field, FieldInfo


class Catalogue:
    """Fields by name. Thread-safe."""

    def __init__(self, home: Path | None = None) -> None:
        """home: where a user's own fields are registered; None for those shipped alone."""
        self._home = home

    def names(self) -> tuple[str, ...]:
        """The fields that are listed to an agent."""
        return registry.names()

    def problem(self, name: str) -> str | None:
        """Why an agent can't use a field of this name; None if it can."""
        try:
            registry.info(name)
        except UnknownFieldError as error:
            return str(error)
        return None

    def info(self, name: str) -> FieldInfo:
        """What is known of a field without reading it. Raises UnknownFieldError."""
        return registry.info(name)

    def load(self, name: str) -> Field:
        """A field's values, read-only. Raises UnknownFieldError, FieldDataError."""
        return registry.load(name)
