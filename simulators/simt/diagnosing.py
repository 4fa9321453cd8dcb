"""What clang says about a source, with the submission's own files and lines and nothing of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from posixpath import normpath

from kernels.diagnostics import Diagnostic

from .records import Source

_LINE = re.compile(
    r"(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)"
)
_UNKNOWN = re.compile(r"(?:use of undeclared identifier|unknown type name) '(\w+)'")
_HEADERS = Path(__file__).parent / "include" / "simt"
_BARE = re.compile(r"(?P<kind>fatal error|error): (?P<text>.*)")


@dataclass(frozen=True)
class Texts:
    """The texts that a source consists of."""

    source: Source

    def own(self, file: str) -> str | None:
        """The submission's name of a file; None: it is none of the submission's."""
        if file == self.source.file:
            return file
        name = normpath(file).removeprefix("src/")
        if name in self.source.headers:
            return name
        if file == "name expression":
            return file
        return None

    def line(self, file: str, number: int) -> str | None:
        """Text of a line."""
        if file == "name expression":
            lines: list[str] = list(self.source.names)
        elif file == self.source.file:
            lines = self.source.code.split("\n")
        else:
            lines = self.source.headers.get(file, "").split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else None


@dataclass(frozen=True)
class _Said:
    """A message and the notes that belong to it."""

    head: Diagnostic
    notes: tuple[Diagnostic, ...]


def told(err: str, texts: Texts) -> tuple[Diagnostic, ...]:
    """Messages in order; one inside a header of ours stands where the submission led there."""
    found: list[Diagnostic] = []
    for said in _messages(err):
        found += _own(said, texts)
    return tuple(dict.fromkeys(found))


def _messages(err: str) -> Iterator[_Said]:
    head, notes = None, list[Diagnostic]()
    for line in err.splitlines():
        one = _parsed(line)
        if one is None:
            continue
        if one.severity == "note":
            notes.append(one)
            continue
        if head is not None:
            yield _Said(head, tuple(notes))
        head, notes = one, []
    if head is not None:
        yield _Said(head, tuple(notes))


def _parsed(line: str) -> Diagnostic | None:
    if found := _LINE.fullmatch(line):
        kind = found["kind"].removeprefix("fatal ")
        place = int(found["line"]), int(found["column"])
        return Diagnostic(kind, found["text"], found["file"], *place)
    if found := _BARE.fullmatch(line):
        return Diagnostic("error", found["text"])
    return None


def _own(said: _Said, texts: Texts) -> list[Diagnostic]:
    """The message and those of its notes that are about the submission's files."""
    notes = [placed for note in said.notes if (placed := _placed(note, texts))]
    head = _placed(said.head, texts)
    if head is None:
        if said.head.severity == "warning":
            return []
        at = notes.pop(0) if notes else Diagnostic("error", "", texts.source.file)
        head = replace(at, severity="error", message=said.head.message)
    return [replace(head, message=_explained(head.message, notes)), *notes[:3]]


def _explained(message: str, notes: list[Diagnostic]) -> str:
    """With what a reader would have to look for in the notes, or in the headers."""
    if any("call to __host__ function" in note.message for note in notes):
        return f"{message}: it is a function of the host, without __device__"
    unknown = _UNKNOWN.fullmatch(message)
    if unknown and (near := get_close_matches(unknown[1], _known_names(), 1, 0.75)):
        return f"{message}; did you mean '{near[0]}'?"
    return message


def _known_names() -> set[str]:
    """Names that the headers define."""
    text = "".join(path.read_text() for path in sorted(_HEADERS.glob("*.h")))
    return {name for name in re.findall(r"\b[A-Za-z_]\w{3,}", text) if "simt" not in name.lower()}


def _placed(one: Diagnostic, texts: Texts) -> Diagnostic | None:
    """With the submission's name of the file and the text of the line."""
    name = texts.own(one.file) if one.file is not None else None
    if name is None or one.line is None:
        return None
    if name == "name expression":
        return replace(one, file=name, column=None, source=texts.line(name, one.line))
    return replace(one, file=name, source=texts.line(name, one.line))
