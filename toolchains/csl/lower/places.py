"""The table of places that instructions, operations and routes refer to."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from simulators.wafer.program import Place
from toolchains.csl.source import Source, Span


@dataclass
class PlaceTable:
    """Places of a program, each once."""

    places: list[Place] = field(default_factory=list)
    _numbers: dict[tuple[str, int, int], int] = field(default_factory=dict)
    _starts: dict[Source, list[int]] = field(default_factory=dict)
    """Of each source, the offsets at which its lines begin: spans count them anew every time."""

    def number(self, span: Span | None) -> int:
        """Of where a span starts; -1 for none."""
        if span is None:
            return -1
        starts = self._starts.get(span.source)
        if starts is None:
            starts = _line_starts(span.source.text)
            self._starts[span.source] = starts
        line = bisect_right(starts, span.start)
        key = (span.source.name, line, span.start - starts[line - 1] + 1)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.places)
            self.places.append(Place(*key))
        return number

    def place(self, span: Span) -> Place:
        """The place itself."""
        return self.places[self.number(span)]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
