"""The difference of two sources, line by line, in bounded time whatever the lines are.

Myers' greedy algorithm (E. W. Myers, Algorithmica 1, 1986, pages 251–266). Agents choose the
lines, so the number of differences that is looked for is bounded: beyond it the changed middle is
shown as taken out and put in whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

MOST_EDITS = 800
CONTEXT = 3
Kind = Literal["same", "added", "removed"]


@dataclass(frozen=True)
class Edit:
    """One line of a difference."""

    kind: Kind
    line: str
    before: int
    """1-based number of the line before, or of the one that comes next there."""
    after: int


@dataclass(frozen=True)
class FileChange:
    """What became of one file; `hunks` are runs of edits with the lines around them."""

    name: str
    hunks: tuple[tuple[Edit, ...], ...]
    added: int
    removed: int


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Files that differ, by name."""
    return tuple(
        _change(name, before.get(name, ""), after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def edits(before: Sequence[str], after: Sequence[str]) -> list[Edit]:
    """The lines of both in order."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    a, b = before[start : len(before) - end], after[start : len(after) - end]
    same: Kind = "same"
    kinds = [*[same] * start, *_script(a, b), *[same] * end]
    return list(_numbered(kinds, before, after))


def _change(name: str, before: str, after: str) -> FileChange:
    found = edits(before.splitlines(), after.splitlines())
    return FileChange(
        name,
        tuple(_hunks(found)),
        sum(one.kind == "added" for one in found),
        sum(one.kind == "removed" for one in found),
    )


def _hunks(found: Sequence[Edit]) -> Iterator[tuple[Edit, ...]]:
    changed = [place for place, one in enumerate(found) if one.kind != "same"]
    start = 0
    for number, place in enumerate(changed):
        last = number + 1 == len(changed)
        if last or changed[number + 1] - place > 2 * CONTEXT:
            first = changed[start]
            yield tuple(found[max(first - CONTEXT, 0) : place + CONTEXT + 1])
            start = number + 1


def _script(a: Sequence[str], b: Sequence[str]) -> list[Kind]:
    """A shortest way from a to b; all of a out and all of b in if that is too long."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for count in range(min(len(a) + len(b), MOST_EDITS) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-count, count + 1, 2):
            x = _step(furthest, diagonal, count)
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _way_back(trail, len(a), len(b))
    out: Kind = "removed"
    put: Kind = "added"
    return [*[out] * len(a), *[put] * len(b)]


def _step(furthest: Mapping[int, int], diagonal: int, count: int) -> int:
    if _is_down(furthest, diagonal, count):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _is_down(furthest: Mapping[int, int], diagonal: int, count: int) -> bool:
    """Whether this diagonal is reached by putting in a line of b."""
    return diagonal == -count or (
        diagonal != count and furthest[diagonal - 1] < furthest[diagonal + 1]
    )


def _way_back(trail: Sequence[Mapping[int, int]], x: int, y: int) -> list[Kind]:
    kinds: list[Kind] = []
    for count in range(len(trail) - 1, 0, -1):
        furthest, diagonal = trail[count], x - y
        down = _is_down(furthest, diagonal, count)
        from_diagonal = diagonal + 1 if down else diagonal - 1
        from_x = furthest[from_diagonal]
        from_y = from_x - from_diagonal
        # Down: a line of b was put in, then equal lines follow; else one of a was taken out.
        kinds += ["same"] * (x - from_x if down else y - from_y)
        kinds.append("added" if down else "removed")
        x, y = from_x, from_y
    kinds += ["same"] * x
    return kinds[::-1]


def _numbered(kinds: Sequence[Kind], before: Sequence[str], after: Sequence[str]) -> Iterator[Edit]:
    x = y = 0
    for kind in kinds:
        line = after[y] if kind == "added" else before[x]
        yield Edit(kind, line, x + 1, y + 1)
        x += kind != "added"
        y += kind != "removed"
