"""Host code of a submission's file: read, never run, and left out where it can't even be read.

A file of kernels comes with functions that launch them. Where clang finds errors inside such a
function, or misses a header of a host library, the function's body or the #include is left out and
the rest compiled; a warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kernels.diagnostics import Diagnostic

from .lexing import Block, functions
from .records import Source

_DEVICE = re.compile(r"\b(__global__|__device__|constexpr)\b")
_LIBRARIES = re.compile(
    r"(thrust|cublas|cufft|curand|cusparse|cusolver|nvtx|nvml|nvToolsExt|cuda_profiler|rocthrust|GL/)"
)
_MISSING = re.compile(r"'([^']+)' file not found")


@dataclass(frozen=True)
class Trimmed:
    """A source without host code that had errors, and what was left out."""

    source: Source
    warnings: tuple[Diagnostic, ...]


def trimmed(source: Source, errors: Iterable[Diagnostic]) -> Trimmed | None:
    """Without the host code in which those errors are; None: some are not in host code."""
    by_file: dict[str, list[Diagnostic]] = {}
    for one in errors:
        if one.severity == "error":
            if one.file is None or one.line is None:
                return None
            by_file.setdefault(one.file, []).append(one)
    warnings: list[Diagnostic] = []
    for file, found in by_file.items():
        text = source.code if file == source.file else source.headers.get(file)
        shorter = None if text is None else _without(text, file, found)
        if shorter is None:
            return None
        warnings += shorter.warnings
        source = _changed(source, file, shorter.text)
    return Trimmed(source, tuple(warnings)) if warnings else None


@dataclass(frozen=True)
class _Shorter:
    """A text and what was taken from it."""

    text: str
    warnings: tuple[Diagnostic, ...]


def _changed(source: Source, file: str, text: str) -> Source:
    if file == source.file:
        return replace(source, code=text)
    return replace(source, headers={**source.headers, file: text})


def _without(text: str, file: str, errors: list[Diagnostic]) -> _Shorter | None:
    bodies = [block for block in functions(text) if not _DEVICE.search(block.head)]
    warnings: dict[int, Diagnostic] = {}
    for one in errors:
        cut = _cut(text, one, bodies)
        if cut is None:
            return None
        start, end, said = cut.start, cut.end, cut.said
        line = text.count("\n", 0, start) + 1
        message = f"{said}: {one.message}"
        warnings.setdefault(line, Diagnostic("warning", message, file, line, None, one.source))
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return _Shorter(text, tuple(warnings.values()))


@dataclass(frozen=True)
class _Cut:
    start: int
    end: int
    said: str


def _cut(text: str, error: Diagnostic, bodies: list[Block]) -> _Cut | None:
    """What to leave out because of an error."""
    lines = text.split("\n")
    number = error.line or 0
    if not 0 < number <= len(lines):
        return None
    offset = sum(len(line) + 1 for line in lines[: number - 1])
    missing = _MISSING.search(error.message)
    if missing and _LIBRARIES.match(missing[1]):
        return _Cut(offset, offset + len(lines[number - 1]), "a host library is left out")
    at = offset + (error.column or 1) - 1
    for block in bodies:
        if block.start < at <= block.end:
            return _Cut(block.start + 1, block.end, "host code is left out")
    return None
