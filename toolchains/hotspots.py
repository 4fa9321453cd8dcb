"""Which loops of a submission a child was seen in: addresses flow in, shares of the time flow out.

The child that compiled tells which address is of which line (toolchains/child/explain.py); where it
was is the server's look. Code of a small function that was put in place of its call counts for the
loop that calls it.
"""

from __future__ import annotations

import bisect
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernels.records import Submission
from toolchains.child.wire import MAP_LINE

from .places import Places, Spot

_ROW_LIMIT = 50_000


@dataclass(frozen=True)
class _Piece:
    """Machine code of one function, with what was put in place of calls in it."""

    function: str
    start: int
    end: int
    starts: tuple[int, ...]
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Seen:
    """How many of the looks found the child where."""

    spots: Mapping[Spot, int]
    """First line of a loop, or a line outside any."""
    functions: Mapping[str, int]
    """In machine code of its own."""


def seen_in(submission: Submission, printed: str, addresses: Mapping[int, int]) -> Seen:
    """Where a child was at these addresses, of which each was seen so many times."""
    pieces = sorted(_pieces(printed), key=lambda p: p.start)
    begins = [piece.start for piece in pieces]
    places = Places(submission)
    found: Counter[Spot] = Counter()
    functions: Counter[str] = Counter()
    for address, times in addresses.items():
        at = bisect.bisect_right(begins, address) - 1
        if at >= 0 and address < pieces[at].end:
            functions[pieces[at].function] += times
            spot = _spot(pieces[at], address, places, submission)
            if spot is not None:
                found[spot] += times
    return Seen(found, functions)


def _spot(piece: _Piece, address: int, places: Places, submission: Submission) -> Spot | None:
    """What the address counts for; None if its code is not of the submission."""
    row = bisect.bisect_right(piece.starts, address) - 1
    if row < 0 or piece.spots[row][0] not in submission.files:
        return None
    spot = piece.spots[row]
    place = places.of(*spot)
    if place.depth:
        return place.spot
    inside = piece.function != place.function
    callers = places.reached(piece.function) if inside and piece.function else None
    candidates = places.loops_around_calls(place.function, callers)
    if len(candidates) == 1:
        return candidates.pop()
    # Of several loops that call it, the one whose code it stands in.
    before = (places.of(*s).spot for s in reversed(piece.spots[:row]) if s[0] in submission.files)
    return next((s for s in before if s in candidates), spot) if inside else spot


def _pieces(printed: str) -> Iterator[_Piece]:
    room = _ROW_LIMIT
    for line in printed.splitlines():
        parts = line.split("\t")
        if parts[0] != MAP_LINE or len(parts) != 6:
            continue
        rows = parts[5].split(";")
        room -= len(rows)
        # What a kernel prints can look alike and be nonsense.
        with contextlib.suppress(ValueError, IndexError):
            if room > 0:
                yield _piece(parts, rows)


def _piece(parts: Sequence[str], rows: Sequence[str]) -> _Piece:
    start, files = int(parts[2], 16), parts[4].split(",")
    at, starts, spots = start, [], []
    for row in rows:
        delta, file, line = map(int, row.split(","))
        at += delta
        starts.append(at)
        spots.append((files[file], line))
    return _Piece(parts[1], start, start + int(parts[3]), tuple(starts), tuple(spots))
