"""Texts with mistakes and habits of other languages, with all that is said of them.

In the files of `parser_cases`, lines of a text begin with `|`; what is said follows it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolchains.csl.parsing import read
from toolchains.csl.source import Diagnostic, Span

FOLDER = Path(__file__).parent / "parser_cases"


def cases(*names: str) -> list[tuple[str, str]]:
    """Pairs of a text and what is said of it."""
    found = []
    for name in names:
        for part in (FOLDER / name).read_text(encoding="utf-8").split("\n\n"):
            lines = [line for line in part.splitlines() if not line.startswith("#")]
            text = "\n".join(line[2:] for line in lines if line.startswith("|"))
            said = "\n".join(line for line in lines if not line.startswith("|"))
            found += [(text, said)] if lines else []
    return found


def place(span: Span | None) -> str:
    return f"{span.line}:{span.column} " if span else ""


def told(found: tuple[Diagnostic, ...]) -> str:
    lines = []
    for one in found:
        lines.append(f"{place(one.span)}{one.severity} {one.code}: {one.message}")
        lines += [f"  hint: {one.hint}"] if one.hint else []
        lines += [f"  note: {place(note.span)}{note.message}" for note in one.notes]
    return "\n".join(lines)


@pytest.mark.parametrize(("text", "expected"), cases("habits.txt"))
def test_a_habit_of_another_language_is_told_with_the_form_of_csl(text: str, expected: str) -> None:
    assert expected
    assert told(read(text)[1]) == expected


@pytest.mark.parametrize(("text", "expected"), cases("mistakes.txt"))
def test_a_mistake_is_told_once_where_it_is(text: str, expected: str) -> None:
    assert expected
    assert told(read(text)[1]) == expected


@pytest.mark.parametrize(("text", "expected"), cases("dialects.txt"))
def test_syntax_of_2_10_is_told_in_1_4_and_read_in_2_10(text: str, expected: str) -> None:
    assert expected
    assert told(read(text)[1]) == expected
    assert told(read(text, "2.10")[1]) == ""
