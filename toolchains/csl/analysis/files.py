"""Files of a compilation: which one an import means, and its syntax tree, once per file."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field

from toolchains.csl import nodes
from toolchains.csl.parser import parse
from toolchains.csl.source import CslError, Reader, Reports, Severity, Source, Span, error

Library = Callable[[str], str | None]
"""Text of a module of the library by its name without brackets; None if there is none."""


@dataclass(eq=False)
class Files:
    """What was read so far."""

    read: Reader
    library: Library
    dialect: str
    root: str = ""
    """Folder that names are shown relative to."""
    modules: dict[str, nodes.Module | CslError] = field(default_factory=dict)

    def resolve(self, path: str, span: Span | None) -> str:
        """The file that an import or a tile's code names, relative to where that is written."""
        if path.startswith("<") or posixpath.isabs(path):
            return path
        if span is None:
            return posixpath.normpath(path)
        source = span.source
        if source.library:
            folder = posixpath.dirname(source.name.strip("<>"))
            return f"<{posixpath.normpath(posixpath.join(folder, path.removesuffix('.csl')))}>"
        return posixpath.normpath(posixpath.join(posixpath.dirname(source.path), path))

    def text(self, file: str, span: Span | None) -> str:
        """The text of a file that was resolved."""
        if file.startswith("<"):
            found = self.library(file.strip("<>"))
            if found is None:
                raise error(span, "unknown-library", f"there is no library module `{file}`")
            return found
        try:
            return self.read(file)
        except OSError as problem:
            shown = self.shown(file)
            raise error(span, "file-not-found", f"there is no file `{shown}`") from problem

    def shown(self, file: str) -> str:
        """A file's name for messages."""
        if file.startswith("<") or not self.root:
            return file
        return posixpath.relpath(file, self.root)

    def module(self, file: str, span: Span | None, reports: Reports) -> nodes.Module:
        """The syntax tree; what the parser says goes to the reports."""
        found = self.modules.get(file)
        if found is None:
            found = self.modules[file] = self._parsed(file, span, reports)
        if isinstance(found, CslError):
            raise found
        return found

    @property
    def broken(self) -> bool:
        """Whether a file that was asked for does not parse."""
        return any(isinstance(found, CslError) for found in self.modules.values())

    def _parsed(self, file: str, span: Span | None, reports: Reports) -> nodes.Module | CslError:
        library = file.startswith("<")
        source = Source(self.shown(file), "" if library else file, self.text(file, span), library)
        module, diagnostics = parse(source, self.dialect)
        for one in diagnostics:
            reports.add(one)
        wrong = next((one for one in diagnostics if one.severity is Severity.ERROR), None)
        if wrong is not None:
            return CslError(wrong)
        assert module is not None
        return module
