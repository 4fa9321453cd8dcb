"""Sets of PEs as text, as few rectangles."""

from __future__ import annotations

from collections.abc import Iterable

Spot = tuple[int, int]
"""x, y."""


def rectangles(spots: Iterable[Spot]) -> str:
    """PEs as few rectangles: `x 0-3, y 1; (5,5)`; at most 6, and how many more PEs."""
    left = set(spots)
    texts: list[str] = []
    while left and len(texts) < 6:
        x, y = min(left, key=lambda spot: (spot[1], spot[0]))
        right = x
        while (right + 1, y) in left:
            right += 1
        bottom = y
        while all((at, bottom + 1) in left for at in range(x, right + 1)):
            bottom += 1
        left -= {(a, b) for a in range(x, right + 1) for b in range(y, bottom + 1)}
        if (right, bottom) == (x, y):
            texts.append(f"({x},{y})")
        else:
            texts.append(f"x {_span(x, right)}, y {_span(y, bottom)}")
    if left:
        texts.append(f"and {len(left)} more PEs")
    return "; ".join(texts)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
