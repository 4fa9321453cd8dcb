"""Where a line that the compiler names stands in a submission's own files.

Device code is a file of the submission's, a string in it, or put together when it runs; `#line`
directives in it say from which lines. What the compiler calls a file and a line flows in, the file
and line that an agent knows flow out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from kernels.records import Diagnostic
from simulators.simt.records import Source

FOLDER = "s"
"""Below the folder of a run, where the submission's files lie."""
_LONGEST = 600
"""Characters of a line that are shown."""
_LINE = re.compile(r'^\s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]+)")?\s*$')


@dataclass(frozen=True)
class Line:
    """A line of a source, with the file and number that it says it has."""

    file: str
    number: int
    text: str


@dataclass(frozen=True)
class Files:
    """The texts that places are in."""

    source: Source
    includes: tuple[Path, ...] = ()
    """Folders of NVIDIA's headers."""

    @cached_property
    def main(self) -> str:
        """The source's name below the folder of a run."""
        name = PurePosixPath(self.source.file.partition(":")[0]).name
        return name if re.fullmatch(r"[\w.+-]+", name) else "kernel.cu"

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Of every file, the source first."""
        others = {n: t for n, t in self.source.headers.items() if n != self.main}
        return {self.main: self.source.code, **others}

    @cached_property
    def lines(self) -> Mapping[str, tuple[Line, ...]]:
        """Of every file, in order."""
        return {name: tuple(lines_of(name, text)) for name, text in self.texts.items()}

    @cached_property
    def _index(self) -> Mapping[tuple[str, int], Line]:
        return {(one.file, one.number): one for of in self.lines.values() for one in of}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Longest first."""
        return tuple(sorted({file for file, _ in self._index}, key=len, reverse=True))

    def plain(self, text: str) -> str:
        """Without the folders that files lie in."""
        for folder in sorted(map(str, self.includes), key=len, reverse=True):
            text = text.replace(f"{folder}/", "")
        return re.sub(rf'(?<![\w/.])(?:/[^\s"()]*/)?{FOLDER}/(?=[\w.])', "", text)

    def name(self, path: str) -> str:
        """What the submission calls a file that the compiler gives a path of."""
        plain = self.plain(path)
        return next((n for n in self._names if plain == n or plain.endswith(f"/{n}")), plain)

    def place(self, file: str, line: int, column: int = 0) -> Diagnostic | None:
        """A message without text at a place in a file that `name` names; None if not known."""
        found = self._index.get((file, line))
        if found is None:
            return None
        text = found.text.rstrip("\r")[:_LONGEST]
        used_in, _, used_at = self.source.file.rpartition(":")
        if file == self.main and used_in and used_at.isdigit():
            # Put together when it ran: what is known is the line that used it.
            return Diagnostic("", f" (line {line} of its code)", used_in, int(used_at), None, text)
        told = self.source.file if file == self.main else file
        return Diagnostic("", "", told, line, column or None, text)

    def at(self, file: str, number: int) -> Diagnostic | None:
        """Likewise for a line of a text, counted from 1 whatever it says of itself."""
        lines = self.lines.get(file, ())
        if not 0 < number <= len(lines):
            return None
        return self.place(lines[number - 1].file, lines[number - 1].number)

    def kernel(self, name: str) -> Diagnostic | None:
        """A message without text at the definition of a kernel; None if it is not found."""
        plain = re.escape(name.partition("<")[0].rpartition("::")[2].strip())
        definition = re.compile(rf"__global__[^;{{}}]{{0,400}}?\b{plain}\s*\(")
        for file, text in self.texts.items():
            found = definition.search(text)
            if found:
                return self.at(file, text.count("\n", 0, found.end()) + 1)
        return None


def told_at(place: Diagnostic | None, severity: str, message: str) -> Diagnostic:
    """A message at a place, or at none."""
    if place is None:
        return Diagnostic(severity, message)
    return replace(place, severity=severity, message=message + place.message)


def lines_of(name: str, text: str) -> Iterator[Line]:
    """What the preprocessor takes each line for (C++ standard, [cpp.line])."""
    file, number = name, 1
    for line in text.split("\n"):
        yield Line(file, number, line)
        number += 1
        if match := _LINE.match(line):
            file, number = match[2] or file, int(match[1])
