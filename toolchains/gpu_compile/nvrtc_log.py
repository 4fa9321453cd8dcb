"""What NVRTC prints → messages with the place in the submission's own files.

The front end prints `file(line): severity #number: message`, then details, the line of source and a
caret, then the instantiations it came from; ptxas gives a line of the PTX, whose `.loc` directives
lead back to the source. Messages about NVIDIA's headers are told at the line that led there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kernels.records import Diagnostic

from .cuda_places import Files, told_at
from .mangled import readable

MOST_SAID = 40
"""Messages that are told; errors first."""
_LONGEST = 600
"""Characters of a message, and of a line of source."""

_HEADER = re.compile(
    r"^(?:(?P<file>[^()\n]+)\((?P<line>\d+)\)|At end of source): "
    r"(?P<severity>catastrophic error|error|warning|remark|note)(?: #[\w-]+)?: (?P<message>.*)$"
)
_PTXAS = re.compile(
    r"^ptxas (?:[^\n]*?, line (?P<line>\d+); )?(?P<severity>error|warning|fatal)\s*: "
    r"(?P<message>.*)$"
)
_NVRTC = re.compile(r"^nvrtc: (?P<severity>error): (?P<message>.*)$")
_CARET = re.compile(r"^  [ \t]*\^$")
_CONTEXT = re.compile(r'at line (?P<line>\d+)(?: of "?(?P<file>[^"\s]+)"?)?$')
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
_LOC = re.compile(r"^\s*\.loc\s+(\d+) (\d+) (\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+) "([^"]*)"', re.MULTILINE)
_OF_ENTRY = re.compile(r"entry (?:function )?'?([\w$]+)'?")
_ABORTED = "Ptx assembly aborted due to errors"
_SEVERITIES = {"catastrophic error": "error", "fatal": "error", "remark": "note"}
_WORDY = (
    re.compile(r" \(declared (?:at line \d+ of [\w\"./]+|implicitly)\)"),
    re.compile(r"\. Consider using -default-device flag .* in JIT mode"),
)
"""Where NVRTC's own declarations stand; advice that makes host code device code."""
_END = -1
"""For a line: the last one."""
_BUILT_IN = "__nv_nvrtc_builtin_header.h"
_NAMES = "__nv_name_map"
"""The file that NVRTC makes of name expressions: one a line, from the second on."""


@dataclass(frozen=True)
class _Said:
    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    context: tuple[str, ...] = ()
    """Lines after the caret: where it was instantiated."""
    of_ptx: bool = False


def diagnostics(log: str, ptx: str, files: Files) -> tuple[Diagnostic, ...]:
    """What a log says, in its order. ptx: of the same run, with line information if it has any."""
    said = [one for one in _said(log) if not _is_noise(one, files)]
    places = _ptx_places(ptx, files) if any(one.of_ptx for one in said) else {}
    named: dict[str, _Said] = {}
    for one in said:
        if one.file == _NAMES:
            named.setdefault(f"{_NAMES}{one.line}", one)
    return tuple(
        _told(one, files, places)
        for one in said
        if one.file != _NAMES or one in named.values()
    )  # fmt: skip


def shortened(told: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each once; of very many the errors and the first others, and how many there were."""
    each = list(dict.fromkeys(told))
    if len(each) <= MOST_SAID:
        return tuple(each)
    errors = [d for d in each if d.severity == "error"][:MOST_SAID]
    others = [d for d in each if d.severity != "error"][: MOST_SAID - len(errors)]
    kept = set(map(id, (*errors, *others)))
    left = len(each) - len(kept)
    last = Diagnostic("note", f"and {left} more messages, which are not shown")
    return (*(d for d in each if id(d) in kept), last)


def _said(log: str) -> list[_Said]:
    lines = log.splitlines()
    starts = [(i, m) for i, line in enumerate(lines) if (m := _start(line))]
    ends = [*(i for i, _ in starts), len(lines)][1:]
    said = [_one(m, lines[i + 1 : end]) for (i, m), end in zip(starts, ends, strict=False)]
    # Where something was instantiated is told once, after the notes about it.
    for i in range(len(said) - 2, -1, -1):
        if said[i + 1].severity == "note" and not said[i].context:
            said[i] = replace(said[i], context=said[i + 1].context)
    return said


def _start(line: str) -> re.Match[str] | None:
    return _HEADER.match(line) or _PTXAS.match(line) or _NVRTC.match(line)


def _one(match: re.Match[str], rest: Sequence[str]) -> _Said:
    found = match.groupdict()
    severity = _SEVERITIES.get(found["severity"], found["severity"])
    said = _Said(severity, found["message"].strip(), line=int(found.get("line") or 0))
    if match.re is not _HEADER:
        return replace(said, of_ptx=match.re is _PTXAS)
    body = [*rest[: rest.index("")]] if "" in rest else [*rest]
    caret = next((i for i, line in enumerate(body) if _CARET.match(line)), len(body) + 1)
    details = " ".join(line.strip() for line in body[: max(caret - 1, 0)])
    return replace(
        said,
        message=f"{said.message} {details}".strip(),
        file=found["file"] or "",
        line=int(found["line"] or _END),
        # Two blanks stand before what is shown.
        column=len(body[caret]) - 2 if caret < len(body) else 0,
        context=tuple(body[caret + 1 :]),
    )


def _is_noise(said: _Said, files: Files) -> bool:
    """Candidates that did not match, warnings about headers that are not the submission's."""
    if _ABORTED in said.message or said.message.startswith("built-in operator"):
        return True
    inside = said.of_ptx or files.place(files.name(said.file), said.line) is not None
    return said.severity != "error" and not inside and bool(said.file)


def _told(said: _Said, files: Files, places: dict[int, Diagnostic]) -> Diagnostic:
    message = files.plain(said.message)
    for wordy in _WORDY:
        message = wordy.sub("", message)
    message = message.strip()[:_LONGEST]
    if said.file == _NAMES:
        names = dict(enumerate(files.source.names, 2))
        found, message = None, f"name expression {names.get(said.line, '')!r}: {message}"
    elif said.of_ptx:
        entry = _OF_ENTRY.search(message)
        name = readable(entry[1]) if entry else ""
        found = files.kernel(name) if entry else places.get(said.line)
        message = f"ptxas: {message.replace(entry[1], name) if entry else message}"
    else:
        file = files.name(said.file)
        found = files.place(file, said.line, said.column)
        if said.line == _END:
            found = files.at(files.main, files.source.code.rstrip().count("\n") + 1)
        elif found is None and file:
            found = _came_from(said, files) or _included(file, files)
            message = f"{message} (in {file}:{said.line})" if file != _BUILT_IN else message
    return told_at(found, said.severity, message)


def _came_from(said: _Said, files: Files) -> Diagnostic | None:
    """The submission's line that instantiated what a message is about."""
    for line in reversed(said.context):
        match = _CONTEXT.search(line.strip())
        if match:
            found = files.place(files.name(match["file"] or said.file), int(match["line"]))
            if found is not None:
                return found
    return None


def _included(file: str, files: Files) -> Diagnostic | None:
    """The submission's line that includes a header of NVIDIA's."""
    for name, lines in files.lines.items():
        for number, line in enumerate(lines, 1):
            match = _INCLUDE.match(line.text)
            if match and match[1] == file:
                return files.at(name, number)
    return None


def _ptx_places(ptx: str, files: Files) -> dict[int, Diagnostic]:
    """Line of the PTX → line of the source, by the last `.loc` before it."""
    names = {int(n): files.name(path) for n, path in _FILE.findall(ptx)}
    places: dict[int, Diagnostic] = {}
    last: Diagnostic | None = None
    for number, line in enumerate(ptx.split("\n"), 1):
        match = _LOC.match(line)
        if match:
            last = files.place(names.get(int(match[1]), ""), int(match[2]))
        elif last is not None:
            places[number] = last
    return places
