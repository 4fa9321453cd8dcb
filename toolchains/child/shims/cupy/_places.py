"""Where device code stands in a submission's own files, so that the compiler's messages say so.

A program reads it from a file, writes it as a string, or puts it together from several; what comes
here is the text alone. Lines that stand exactly once in the files of the program's folder tell
where they are from; `#line` says so to every compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_OWN = str(Path(__file__).parent.parent)
_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hip", ".hpp", ".py"})
_MOST_FILES, _MOST_BYTES = 64, 1 << 19
_Place = tuple[str, int]
"""File name, line from 1."""


@dataclass(frozen=True)
class Placed:
    """Device code with the places of its lines."""

    code: str
    file: str
    folder: Path
    """Of the program."""


def placed(code: str) -> Placed:
    """The code, told where it is from; with no trace of it, the line that uses it."""
    frame = _caller()
    path = Path(frame.f_code.co_filename)
    here = f"{path.name}:{frame.f_lineno}"
    texts = _texts(path.parent)
    for name, text in texts.items():
        if text == code:
            return Placed(code, name, path.parent)
    lines = code.split("\n")
    places = _places(lines, _anchors(texts))
    if places is None:
        return Placed(code, here, path.parent)
    return Placed("\n".join(_told(lines, places)), places[0][0], path.parent)


def _caller() -> FrameType:
    """The innermost frame that is not of these packages."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return frame


def _texts(folder: Path) -> dict[str, str]:
    try:
        paths = sorted(p for p in folder.iterdir() if p.suffix in _SUFFIXES)[:_MOST_FILES]
        return {p.name: p.read_text() for p in paths if p.stat().st_size <= _MOST_BYTES}
    except (OSError, ValueError):
        return {}


def _anchors(texts: Mapping[str, str]) -> dict[str, _Place]:
    """Lines that stand once in all files; doubled braces also as one, as in f-strings."""
    seen: dict[str, list[_Place]] = {}
    for name, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            for form in {line.strip(), line.replace("{{", "{").replace("}}", "}").strip()}:
                seen.setdefault(form, []).append((name, number))
    return {line: places[0] for line, places in seen.items() if len(places) == 1 and line}


def _places(lines: Iterable[str], anchors: Mapping[str, _Place]) -> list[_Place] | None:
    """Of every line; between two known ones, counted from the one before. None: none is known."""
    known = [anchors.get(line.strip()) for line in lines]
    first = next((i for i, place in enumerate(known) if place), None)
    if first is None:
        return None
    file, number = known[first] or ("", 0)
    number = max(number - first, 1)
    made = []
    for place in known:
        if place is not None:
            file, number = place
        made.append((file, number))
        number += 1
    return made


def _told(lines: Iterable[str], places: Iterable[_Place]) -> Iterator[str]:
    expected: _Place | None = None
    continued = False
    for line, place in zip(lines, places, strict=True):
        # Inside a macro's definition a directive would end it.
        if place != expected and not continued:
            yield f'#line {place[1]} "{place[0]}"'
            expected = place
        yield line
        continued = line.endswith("\\")
        expected = (expected[0], expected[1] + 1) if expected else None
