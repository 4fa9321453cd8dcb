"""What clang prints, as diagnostics in the submission's own files.

A message in one of our headers, or of the compiler's, moves to the line of the submission that led
there. Of any other file that somebody includes nothing is told, not even what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from signal import Signals

from kernels.records import Diagnostic
from simulators.simt.tool import ToolRun

from .cuda_places import lines_of
from .hip_compilers import INCLUDE
from .hipify import Translation

MAIN = "sz_source.hip"
"""What the submission's text is called while it is compiled."""
NAMES = "sz_names"
"""And the lines that ask for name expressions."""
MOST = 40
_NOTES = 3
"""Of one message."""
_LONGEST = 600
_PLACED = re.compile(
    r"(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>(?:fatal )?error|warning|note|remark): (?P<message>.*)"
)
_UNPLACED = re.compile(r"(?P<severity>(?:fatal )?error|warning): (?P<message>.*)")
_INCLUDED = re.compile(r"In file included from (?P<file>[^:\n]+):(?P<line>\d+)")
_OCML = re.compile(r"call to '.*' declared with 'error' attribute: ocml: (?P<function>.*)")
_LIBRARY = re.compile(
    r"'(?P<function>(hipcub|rocprim|hiprand|rocrand|thrust|rocwmma|hipfft|hipblas)/[\w./]+)'"
    r" file not found"
)
_NOTHING_TOLD = "no code object, registers or occupancy of this source can be told here"
_BARE = re.compile(r"[\w+-][\w.+-]*")
_FLAG = re.compile(r" \[-[WR][\w=,-]+\]$")
_KERNEL = re.compile(r"Function Name: (?P<symbol>\S+)")
_SILENT = re.compile(
    r"built-in candidate|expanded from macro '__AMDGPU|expression evaluates to"
    r"|'[^']*' declared here|\(skipping \d+|candidates? omitted|candidate function$"
)
"""Notes that say nothing."""
_OF_HOST = "__host__ function"
_NO_MEMORY = re.compile(r"out of memory|bad_alloc|std::length_error", re.IGNORECASE)


@dataclass(frozen=True)
class Own:
    """The files of a submission, and how places in them are told."""

    texts: Mapping[str, str]
    """Name while it is compiled → text as it was sent."""
    file: str
    """What `MAIN` is called in messages."""
    names: tuple[str, ...] = ()
    translations: Mapping[str, Translation] | None = None
    """Of those that were translated before."""
    roots: tuple[Path, ...] = ()
    """Folders of headers that messages may be about: ours and the compiler's."""

    def trusts(self, file: str) -> bool:
        """Whether it is a header that everybody may read."""
        path = Path(file)
        return (
            ".." not in path.relative_to(INCLUDE).parts
            if path.is_relative_to(INCLUDE)
            else any(path.is_relative_to(root) for root in self.roots)
        )

    def place(self, message: _Message) -> Diagnostic | None:
        """Where a message is; None if it is in no file of the submission."""
        name = message.file.removeprefix("./")
        if name == NAMES and message.line <= len(self.names):
            return Diagnostic("", f"name expression {self.names[message.line - 1]!r}: ")
        if name not in self.texts:
            return self._said_by_line(name, message)
        lines = self.texts[name].split("\n")
        known = 0 < message.line <= len(lines)
        column = message.column or None
        translated = (self.translations or {}).get(name)
        if translated is not None and column is not None:
            column = translated.column(message.line, column)
        shown = self.file if name == MAIN else name
        text = lines[message.line - 1].rstrip("\r") if known else None
        return Diagnostic("", "", shown, message.line, column, text)

    def _said_by_line(self, name: str, message: _Message) -> Diagnostic | None:
        """At a place that a `#line` in the main file names: a string's, in kernel.py."""
        if not _BARE.fullmatch(name):
            # A source may claim any name, and then of a file that it includes all would be told.
            return None
        translated = (self.translations or {}).get(MAIN)
        for number, line in enumerate(lines_of(MAIN, self.texts[MAIN]), 1):
            if (line.file, line.number) == (name, message.line):
                column = message.column or None
                if translated is not None and column is not None:
                    column = translated.column(number, column)
                return Diagnostic("", "", name, message.line, column, line.text.rstrip("\r"))
        return None


@dataclass(frozen=True)
class Told:
    """What a run of the compiler said."""

    diagnostics: tuple[Diagnostic, ...]
    missing: tuple[str, ...]
    """Functions of AMD's device library that were called."""
    kernels: Mapping[str, int]
    """Symbol → line of its definition, of those in the submission's main file."""

    @property
    def failed(self) -> bool:
        """Whether something is wrong with the source."""
        return any(d.severity == "error" for d in self.diagnostics)


@dataclass(frozen=True)
class _Message:
    """One line of the compiler's."""

    file: str
    line: int
    column: int
    severity: str
    text: str
    includes: tuple[tuple[str, int], ...] = ()
    """Where the file was included, innermost first."""


def told(done: ToolRun, own: Own) -> Told:
    """Everything in the compiler's output; a death of it is an error too."""
    messages = list(_messages(done.err))
    kernels = {}
    for message in messages:
        kernel = _KERNEL.match(message.text)
        if kernel and message.file.removeprefix("./") == MAIN:
            kernels[kernel["symbol"]] = message.line
    missing: list[str] = []
    found: list[Diagnostic] = []
    for head, *notes in _groups(m for m in messages if m.severity != "remark"):
        library = _OCML.match(head.text) or _LIBRARY.match(head.text)
        if library:
            missing.append(library["function"])
            found.append(replace(_placed(head, notes, own), severity="warning"))
            continue
        found += [_placed(head, notes, own), *_notes(notes, own)]
    found += _death(done, any(d.severity == "error" for d in found) or bool(missing))
    return Told(_distinct(found)[:MOST], tuple(dict.fromkeys(missing)), kernels)


def _messages(text: str) -> Iterable[_Message]:
    includes: list[tuple[str, int]] = []
    for line in text.split("\n"):
        included = _INCLUDED.match(line)
        if included:
            includes.insert(0, (included["file"], int(included["line"])))
            continue
        placed = _PLACED.match(line)
        if placed:
            severity = placed["severity"].removeprefix("fatal ")
            where = (placed["file"], int(placed["line"]), int(placed["column"]))
            yield _Message(*where, severity, _clean(placed["message"]), tuple(includes))
            includes = []
            continue
        unplaced = _UNPLACED.match(line)
        if unplaced:
            yield _Message(
                "", 0, 0, unplaced["severity"].removeprefix("fatal "), _clean(unplaced[2])
            )


def _clean(text: str) -> str:
    """Without the flag that stands behind it, and without paths of ours."""
    return _FLAG.sub("", text).replace(f"{INCLUDE}/", "")[:_LONGEST]


def _groups(messages: Iterable[_Message]) -> Iterable[list[_Message]]:
    group: list[_Message] = []
    for message in messages:
        if message.severity != "note" and group:
            yield group
            group = []
        if message.severity != "note" or group:
            group.append(message)
    if group:
        yield group


def _placed(head: _Message, notes: Sequence[_Message], own: Own) -> Diagnostic:
    """At the first place in the submission that the message or its notes name."""
    text = head.text
    function, library = _OCML.match(text), _LIBRARY.match(text)
    if function:
        text = (
            f"{function['function']} is in AMD's device library (ocml), which this compiler has "
            f"not: {_NOTHING_TOLD}"
        )
    if library:
        text = f"<{library['function']}> is a library of ROCm's, which is not here: {_NOTHING_TOLD}"
    if any(_OF_HOST in note.text for note in notes):
        text += f": {_OF_HOST} is called from device code"
    place = own.place(head)
    if place is None and head.file and not own.trusts(head.file):
        text = "this includes a file that is neither of the submission nor a header of HIP"
    included = (_Message(file, line, 0, "", "") for file, line in head.includes)
    places = (own.place(m) for m in (*notes, *included))
    place = place or next((one for one in places if one is not None), None)
    if place is None:
        return Diagnostic(head.severity, text)
    return replace(place, severity=head.severity, message=f"{place.message}{text}")


def _notes(notes: Sequence[_Message], own: Own) -> list[Diagnostic]:
    kept = []
    for note in notes:
        if _SILENT.search(note.text):
            continue
        place = own.place(note)
        if place is not None:
            kept.append(replace(place, severity="note", message=f"{place.message}{note.text}"))
        elif own.trusts(note.file) and "candidate" in note.text:
            kept.append(Diagnostic("note", note.text))
    return kept[:_NOTES]


def _death(done: ToolRun, explained: bool) -> list[Diagnostic]:
    """An error for a compiler that did not end as it should."""
    if done.timed_out:
        text = (
            f"compiling took more than {done.seconds:.0f} s and was stopped: templates or constant "
            "expressions without end, or far too much unrolled code"
        )
    elif _NO_MEMORY.search(done.err[-20_000:]) and done.code:
        text = "the compiler ran out of memory: far too much code, or templates without end"
    elif done.code < 0:
        text = f"the compiler was ended by {_signal(-done.code)}: the source makes it crash"
    elif done.code and not explained:
        lines = [line for line in done.err.strip().splitlines() if line.strip()]
        last = _clean(lines[-1]) if lines else "without a word"
        text = f"the compiler ended with code {done.code}: {last}"
    else:
        return []
    return [Diagnostic("error", text)]


def _signal(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _distinct(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(dict.fromkeys(found))
