"""C++ as tokens, as far as a translation by names needs: comments and strings are set apart."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<string> R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"
                | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | (?P<include> ^[\ \t]*\#[\ \t]*include[\ \t]*(?:<[^>\n]*>|"[^"\n]*") )
    | (?P<directive> ^[\ \t]*\#[\ \t]*[a-z]* )
    | (?P<name> [A-Za-z_]\w* )
    | (?P<number> \.?\d(?:[\w.']|(?<=[eEpP])[+-])* )
    | (?P<mark> <<< | :: | \S )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """One token."""

    kind: str
    """comment | string | include | directive | name | number | mark"""
    text: str
    start: int
    """Offset in the text."""

    @property
    def end(self) -> int:
        """Offset behind it."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Call:
    """A name with arguments in parentheses."""

    name: int
    """Index of its token."""
    arguments: tuple[tuple[int, int], ...]
    """Offsets of each argument's text, without blanks around it."""
    close: int
    """Offset of the closing parenthesis."""


def tokens_of(text: str) -> list[Token]:
    """All tokens, without comments."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        kind = "string" if kind == "delimiter" else kind
        if kind != "comment":
            found.append(Token(kind, match[0], match.start()))
    return found


def call_at(text: str, tokens: Sequence[Token], name: int) -> Call | None:
    """The call that the token at index `name` begins; None if it is none."""
    at = name + 1
    if at >= len(tokens) or tokens[at].text != "(":
        return None
    depth, start = 0, tokens[at].end
    arguments: list[tuple[int, int]] = []
    for token in tokens[at:]:
        if token.kind == "mark" and token.text in _OPEN:
            depth += 1
        elif token.kind == "mark" and token.text in _OPEN.values():
            depth -= 1
        closes = depth == 0
        if closes or (depth == 1 and token.text == ","):
            arguments.append(_stripped(text, start, token.start))
            start = token.end
        if closes:
            whole = tuple(a for a in arguments if a[0] < a[1] or len(arguments) > 1)
            return Call(name, whole, token.start)
    return None


def device_bodies(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Index ranges of tokens in the bodies of `__global__` and `__device__` functions."""
    found = []
    at = 0
    while at < len(tokens):
        if tokens[at].text in ("__global__", "__device__"):
            start = _body(tokens, at)
            if start is not None:
                end = _matching(tokens, start)
                found.append((start, end))
                at = end
        at += 1
    return found


def _body(tokens: Sequence[Token], at: int) -> int | None:
    """Where the body begins of what a qualifier at `at` stands before; None for a declaration."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
        elif depth == 0 and text in (";", "="):
            return None
        elif depth == 0 and text == "{":
            return index
    return None


def _matching(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


class Lines:
    """Offsets in a text as lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """1-based line and column."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
