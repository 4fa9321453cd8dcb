"""PEs as text."""

from __future__ import annotations

from simulators.wafer.rectangles import rectangles


def test_pes_are_told_as_rectangles_and_the_rest_is_counted() -> None:
    block = {(x, y) for x in range(4) for y in range(2)}

    assert rectangles({*block, (6, 5)}) == "x 0-3, y 0-1; (6,5)"
    assert rectangles({(2 * i, 0) for i in range(8)}).endswith("; and 2 more PEs")
