"""What a text of CSL consists of: the kinds of its tokens, and the words that are reserved."""

from __future__ import annotations

from dataclasses import dataclass

from .source import Source, Span

IDENT = "a name"
BUILTIN = "a builtin"
INT = "an integer"
FLOAT = "a number"
STRING = "a string"
CHAR = "a character"
END = "the end of the file"

KEYWORDS = frozenset(
    (
        *(
            "fn",
            "task",
            "layout",
            "comptime",
            "param",
            "const",
            "var",
            "export",
            "extern",
            "inline",
        ),
        *("if", "else", "for", "while", "switch", "return", "break", "continue", "and", "or"),
        *("align", "linksection", "linkname", "enum", "struct", "union", "packed", "true", "false"),
        *("anytype", "asm", "volatile", "undefined", "inline"),
    )
)

FOREIGN_OPERATORS = ("&&", "||", "...", "..", ":=", "::", "?")
"""Not CSL: tokens of their own, so that what is said of them is exact."""

OPERATORS = (
    *("<<=", ">>=", ".{", ".*", "->", "=>"),
    *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "<<", ">>"),
    *FOREIGN_OPERATORS,
    *"+-*/%&|^~!<>=.,;:()[]{}",
)

LOOK_AHEAD = 3

ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a source, as columns; the last one is the end of the file.

    The kind of an operator or keyword is its text. Positions are counts of characters. `kinds` goes
    on for `LOOK_AHEAD` more, so that to look ahead needs no check.
    """

    source: Source
    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]

    def span(self, index: int) -> Span:
        """Where a token stands."""
        return Span(self.source, self.starts[index], self.ends[index])

    def after(self, index: int) -> Span:
        """The place just behind a token, where something is missing."""
        return Span(self.source, self.ends[index], self.ends[index])

    def starts_line(self, index: int) -> bool:
        """Whether a token is the first of its line."""
        begin = self.ends[index - 1] if index else 0
        return index == 0 or self.source.text.find("\n", begin, self.starts[index]) >= 0

    def adjacent(self, index: int) -> bool:
        """Whether nothing is between a token and the one before it."""
        return index > 0 and self.starts[index] == self.ends[index - 1]


def is_word(kind: str) -> bool:
    """Whether a token of this kind looks like a name; keywords do."""
    return kind == IDENT or kind in KEYWORDS
