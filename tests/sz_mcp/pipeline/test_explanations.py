"""Explanations that are kept: once per key, few of them, only complete ones."""

from __future__ import annotations

from sz_mcp.pipeline.explanations import Explanations
from toolchains.base import Explanation


class Compiler:
    """Counts how often it is asked."""

    def __init__(self, *notes: str) -> None:
        self.asked = 0
        self._notes = notes

    def __call__(self) -> Explanation:
        self.asked += 1
        return Explanation(notes=self._notes)


def test_a_key_is_explained_once() -> None:
    kept, compiler = Explanations(), Compiler()

    first, second = kept.get(("a", 1), compiler), kept.get(("a", 1), compiler)

    assert first is second
    assert compiler.asked == 1
    kept.get(("a", 2), compiler)
    assert compiler.asked == 2


def test_only_the_latest_are_kept() -> None:
    kept, compiler = Explanations(most=2), Compiler()

    for key in ("a", "b", "a", "c", "a", "b"):
        kept.get(key, compiler)

    assert compiler.asked == 4


def test_what_is_not_complete_is_made_again() -> None:
    kept, compiler = Explanations(), Compiler("the compiler was not asked about run")

    kept.get("a", compiler)
    kept.get("a", compiler)

    assert compiler.asked == 2
