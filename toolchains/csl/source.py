"""Source texts, places in them, and what is said about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, eq=False)
class Source:
    """One file of CSL."""

    name: str
    """As it is shown: relative to the folder of the compilation, or `<math>` of a library."""
    path: str
    """Where it was read; empty if it is in memory only."""
    text: str
    library: bool = False

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True)
class Span:
    """From `start` up to `end`, offsets in characters of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """Line of its start, from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """Column of its start, from 1."""
        return self.start - (self.source.text.rfind("\n", 0, self.start) + 1) + 1

    def to(self, other: Span) -> Span:
        """From this one's start to the other's end."""
        return Span(self.source, self.start, other.end)


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Note:
    """A further place that explains a diagnostic."""

    message: str
    span: Span | None = None


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong, where, and what to do about it."""

    severity: Severity
    code: str
    """Short and stable, such as `unknown-builtin`: what rules and tests refer to."""
    message: str
    span: Span | None
    hint: str = ""
    """What to write instead; empty if nothing can be said."""
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """`file:line:column: error: message` and, below, the line with carets and the hint."""
        head = f"{self.severity}: {self.message} [{self.code}]"
        lines = [f"{_at(self.span)}: {head}", *_carets(self.span)] if self.span else [head]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        for note in self.notes:
            where = f"{_at(note.span)}: " if note.span else "  "
            lines.append(f"{where}note: {note.message}")
        return "\n".join(lines)


def _at(span: Span) -> str:
    return f"{span.source.name}:{span.line}:{span.column}"


def _carets(span: Span) -> list[str]:
    text = span.source.line(span.line)
    if not text.strip():
        return []
    begin = span.column - 1
    width = max(1, min(span.end - span.start, len(text) - begin))
    margin = "".join("\t" if c == "\t" else " " for c in text[:begin])
    return [f"  {text}", f"  {margin}{'^' * width}"]


class CslError(Exception):
    """A mistake that ends the analysis of what it stands in, with its diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


def error(
    span: Span | None, code: str, message: str, hint: str = "", notes: tuple[Note, ...] = ()
) -> CslError:
    """An exception to raise, for one mistake."""
    return CslError(Diagnostic(Severity.ERROR, code, message, span, hint, notes))


@dataclass
class Reports:
    """What was found wrong so far: errors of one compilation, once each, in the order found."""

    found: list[Diagnostic] = field(default_factory=list)
    limit: int = 50

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep it, unless the same was said of the same place."""
        key = _identity(diagnostic)
        if len(self.found) < self.limit and all(_identity(d) != key for d in self.found):
            self.found.append(diagnostic)

    def warn(self, span: Span | None, code: str, message: str, hint: str = "") -> None:
        """Add a warning."""
        self.add(Diagnostic(Severity.WARNING, code, message, span, hint))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Those that prevent a program from being made."""
        return tuple(d for d in self.found if d.severity is Severity.ERROR)


def _identity(diagnostic: Diagnostic) -> tuple[str, str, str, int]:
    span = diagnostic.span
    place = (span.source.name, span.start) if span else ("", 0)
    return (diagnostic.code, diagnostic.message, *place)


Reader = Callable[[str], str]
"""Text of a file by its path; raises FileNotFoundError."""
