"""Syntax of other languages, recognised where it can't be read, and how CSL says it.

Called only after a failure: what is read without a mistake pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .parse_habits import (
    BEFORE,
    BETWEEN,
    ERRORS,
    FIRST,
    LOOP,
    NEED_PARENTHESES,
    TYPE_WORDS,
    VARIABLE,
)
from .source import Diagnostic, Severity
from .tokens import ASSIGNMENTS, BUILTIN, END, FLOAT, IDENT, INT, STRING, Tokens

_OPERAND_ENDS = frozenset((IDENT, INT, FLOAT, STRING, ")", "]", ".*", "true", "false"))
_OPERAND_STARTS = frozenset((IDENT, INT, FLOAT, STRING, BUILTIN))

Said = tuple[str, str]
"""A message and a hint."""


@dataclass(frozen=True)
class _Look:
    """An unexpected token and its surroundings."""

    tokens: Tokens
    index: int
    start: int

    def kind(self, offset: int = 0) -> str:
        """Kind of the token so many further on; empty in front of the first and behind the last."""
        at = self.index + offset
        return self.tokens.kinds[at] if 0 <= at < len(self.tokens.kinds) else ""

    def text(self, offset: int = 0) -> str:
        """Its text."""
        at = self.index + offset
        return self.tokens.texts[at] if 0 <= at < len(self.tokens.texts) else ""

    def same_line(self) -> bool:
        """Whether the token before it is on its line."""
        return not self.tokens.starts_line(self.index)

    def after_operand(self) -> bool:
        """Whether an operand ends just before it, on its line."""
        return self.kind(-1) in _OPERAND_ENDS and self.same_line()

    def colon_follows(self) -> bool:
        """Whether a `:` is ahead in this statement."""
        for kind in self.tokens.kinds[self.index : self.index + 60]:
            if kind in (";", "{", ":"):
                return kind == ":"
        return False

    def opener(self) -> int:
        """Index of the bracket that it stands in, -1 if none is near."""
        depth = 0
        for at in range(self.index - 1, max(-1, self.index - 200, self.start - 1), -1):
            kind = self.tokens.kinds[at]
            if kind in (")", "]", "}"):
                depth += 1
            elif kind in ("(", "[", "{", ".{"):
                depth -= 1
                if depth < 0:
                    return at
        return -1


def describe(tokens: Tokens, index: int) -> str:
    """A token, as named in a message."""
    return END if tokens.kinds[index] == END else f"`{tokens.texts[index][:40]}`"


def explain(tokens: Tokens, index: int, start: int) -> Diagnostic | None:
    """What an unexpected token means elsewhere, in a statement from `start`; None if unknown."""
    look = _Look(tokens, index, start)
    for offset, rule in _RULES:
        said = rule(look)
        if said is not None:
            at = start if offset is None else min(max(index + offset, 0), len(tokens.starts) - 1)
            message, hint = said
            span = tokens.span(at)
            return Diagnostic(Severity.ERROR, "foreign-syntax", message, span, hint)
    return None


def _operator(look: _Look) -> Said | None:
    if look.kind() in _ANYWHERE:
        return _ANYWHERE[look.kind()]
    rule = _OPERATORS.get(look.kind())
    return rule(look) if rule else None


_ANYWHERE = {
    "&&": ("CSL writes `and`, not `&&`", "a and b"),
    "||": ("CSL writes `or`, not `||`", "a or b"),
    ":=": ("declarations begin with `var` or `const`", VARIABLE),
    "::": ("members are behind a dot", "module.name"),
    "undefined": (
        "CSL has no `undefined`",
        "leave the value out (var x: [4]f32;), or @zeros([4]f32)",
    ),
}


def _question(look: _Look) -> Said | None:
    if look.kind(-1) == ".":
        return "CSL has no optionals", "keep a bool beside the value: if (valid) { … x … }"
    if look.after_operand() and look.colon_follows():
        return "CSL has no `?:`", "if (condition) a else b"
    return "CSL has no optional types", "keep a bool beside the value"


def _range(look: _Look) -> Said | None:
    opener = look.opener()
    kinds = look.tokens.kinds
    if opener >= 0 and kinds[opener] == "[":
        hint = "a DSD goes over a part: @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> a[i] })"
        return "CSL has no slices", hint
    if opener >= 0 and kinds[opener] == "{":
        return "a case lists its values", "1, 2, 3 => f(),"
    return "CSL has no `..` ranges", "for (@range(u16, begin, end, 1)) |i| { … }"


def _arrow(look: _Look) -> Said | None:
    if look.kind(-1) == ")":
        return "no arrow stands in front of a result's type", "fn(u16) f32"
    return "`->` is for tensor accesses; a pointer's member is behind `.*.`", "p.*.name"


def _plus(look: _Look) -> Said | None:
    if look.kind(-1) == "+" or look.kind(1) == "+":
        return "CSL has no `++`", "x += 1;"
    return "CSL has no unary `+`", "leave it out"


def _bracket(look: _Look) -> Said | None:
    if look.kind(-1) != "[" or look.kind(-2) in _OPERAND_ENDS:
        return None
    return "CSL has no slices: an array has a length, a pointer none", "[4]f32, or [*]f32"


def _equals(look: _Look) -> Said | None:
    if look.kind(-1) in ("==", "!=") and look.tokens.adjacent(look.index):
        return f"CSL writes `{look.kind(-1)}`", f"a {look.kind(-1)} b"
    return None


def _dot(look: _Look) -> Said | None:
    if look.kind(1) == INT:
        return "a number begins with a digit", f"0.{look.text(1)}"
    if look.kind(1) == IDENT and not look.after_operand():
        opener = look.opener()
        if look.kind(2) == "=":
            return "values with and without names are mixed", "give all of them names, or none"
        if opener >= 0 and look.tokens.kinds[opener] == ".{":
            hint = f".{look.text(1)} = value, or Type.{look.text(1)}"
            return "a field has a value, and a member of an enum its type in front", hint
        return "a member of an enum is behind its type", f"Type.{look.text(1)}"
    return None


def _bang(look: _Look) -> Said | None:
    del look
    return "CSL has no error unions", ERRORS


def _declaration(look: _Look) -> Said | None:
    word = look.kind()
    if look.kind(-1) == "=" or look.kind(1) != IDENT:
        return None
    return f"`{word}` declares nothing by itself", f"const {look.text(1)} = {word} {{ … }};"


_OPERATORS: dict[str, Callable[[_Look], Said | None]] = {
    "?": _question,
    "..": _range,
    "...": _range,
    "->": _arrow,
    "+": _plus,
    "]": _bracket,
    "=": _equals,
    ".": _dot,
    "!": _bang,
    **dict.fromkeys(("struct", "enum", "union"), _declaration),
}


def _decrement(look: _Look) -> Said | None:
    minus = look.kind(-1) == "-" and look.kind(-2) == "-"
    return (
        ("CSL has no `--`", "x -= 1;") if minus and look.tokens.adjacent(look.index - 1) else None
    )


def _in_for(look: _Look) -> Said | None:
    opener = look.opener()
    if opener < 1 or look.tokens.kinds[opener - 1] != "for":
        return None
    if look.kind() == ",":
        return (
            "`for` goes over one thing; a second name is the position",
            "for (array) |x, i| { … }",
        )
    return "`for` goes over an array or a range", LOOP


def _without_parentheses(look: _Look) -> Said | None:
    return NEED_PARENTHESES.get(look.kind(-1)) if look.kind() != "(" else None


def _typed_name(look: _Look) -> Said | None:
    """`int x`, `const float x`, `(int x, …)`."""
    word = TYPE_WORDS.get(look.text(-1))
    if word is None or look.kind() != IDENT or look.kind(-1) != IDENT or not look.same_line():
        return None
    name = look.text()
    if name in TYPE_WORDS:
        return f"types are single words in CSL: {word}", f"{word}"
    if look.kind(1) == "(":
        return (
            "functions begin with `fn`; a type stands behind its name",
            f"fn {name}(x: u16) {word} {{ … }}",
        )
    if look.kind(-2) in ("(", ",") and look.kind(1) in (",", ")"):
        return "a type stands behind its name", f"{name}: {word}"
    form = "const" if look.kind(-2) == "const" else "var"
    length = f"[{look.text(2)}]" if look.kind(1) == "[" and look.kind(3) == "]" else ""
    return "a type stands behind its name", f"{form} {name}: {length}{word}{_rest(look)};"


def _rest(look: _Look) -> str:
    value = look.text(2) if look.kind(1) == "=" and look.kind(3) == ";" else "…"
    return f" = {value}" if look.kind(1) == "=" else ""


def _missing_colon(look: _Look) -> Said | None:
    """`param x u16`, `var x [4]f32`."""
    if look.kind(-2) not in ("param", "const", "var") or look.kind() not in (IDENT, "[", "*"):
        return None
    name = look.text(-1)
    kind = look.text() if look.kind() == IDENT else "[4]f32"
    return "`:` stands between a name and its type", f"{look.kind(-2)} {name}: {kind}"


def _star(look: _Look) -> Said | None:
    """`f32*` where a type is wanted, `(float*)p`."""
    at = 0 if look.kind() == "*" else -1
    word = TYPE_WORDS.get(look.text(at - 1))
    if look.kind(at) != "*" or word is None or look.kind(at - 1) != IDENT:
        return None
    if at == -1 and look.kind(-3) == "(" and look.kind(1) in _OPERAND_STARTS:
        return "conversions of pointers are a builtin", f"@ptrcast(*{word}, {look.text(1)})"
    return "the star of a pointer type stands in front", f"*{word}"


def _cast(look: _Look) -> Said | None:
    """`(float)x`."""
    word = TYPE_WORDS.get(look.text(-2))
    if look.kind(-1) != ")" or word is None or look.kind(-3) != "(" or look.kind(-4) == BUILTIN:
        return None
    if look.kind() not in _OPERAND_STARTS or not look.same_line():
        return None
    return "conversions are a builtin", f"@as({word}, {look.text()})"


def _before(look: _Look) -> Said | None:
    if look.kind(-1) != IDENT or not look.same_line():
        return None
    return BEFORE.get(look.text(-1))


def _between(look: _Look) -> Said | None:
    if not look.after_operand():
        return None
    if look.text() == "as" and look.kind(1) == IDENT:
        word = TYPE_WORDS.get(look.text(1), look.text(1))
        return "conversions are a builtin", f"@as({word}, {look.text(-1)})"
    return BETWEEN.get(look.text())


def _first(look: _Look) -> Said | None:
    """The statement begins with a word of another language."""
    kinds, texts = look.tokens.kinds, look.tokens.texts
    start = look.start
    after = kinds[start + 1] if start + 1 < len(kinds) else END
    if after in ASSIGNMENTS or after in (".", "[", ";"):
        return None
    return FIRST.get(texts[start]) if kinds[start] == IDENT else None


def _c_function(look: _Look) -> Said | None:
    """`a b(` of which neither is known."""
    if look.kind() != IDENT or look.kind(-1) != IDENT or not look.same_line():
        return None
    if look.index != look.start + 1:
        return None
    name = look.text()
    if look.kind(1) == "(":
        return (
            "functions begin with `fn`; a type stands behind its name",
            f"fn {name}(x: u16) {look.text(-1)} {{ … }}",
        )
    if look.kind(1) in ("=", ";"):
        return "declarations begin with `var` or `const`", f"var {name}: {look.text(-1)} = …;"
    return None


def _python_declaration(look: _Look) -> Said | None:
    """`x: int = 1`."""
    if look.kind() != ":" or look.index != look.start + 1 or look.kind(-1) != IDENT:
        return None
    word = TYPE_WORDS.get(look.text(1), look.text(1))
    return "declarations begin with `var` or `const`", f"var {look.text(-1)}: {word} = …;"


def _misplaced(look: _Look) -> Said | None:
    """Keywords where they can't be."""
    kinds, start = look.tokens.kinds, look.start
    word = kinds[start]
    if word in ("fn", "task") and kinds[start + 1] == IDENT and look.index == start + 1:
        return "functions can't be nested", "move it out of the block"
    if look.index != start:
        return None
    if word in ("param", "layout", "export", "extern"):
        return f"`{word}` stands only outside of functions and blocks", "move it out of the block"
    if word == "else":
        return (
            "`else` without `if` (loops have none)",
            "if (a) { … } else { … }: no `;` in front of `else`",
        )
    return None


_RULES: tuple[tuple[int | None, Callable[[_Look], Said | None]], ...] = (
    (0, _in_for),
    (0, _misplaced),
    (0, _operator),
    (-2, _decrement),
    (0, _without_parentheses),
    (-1, _typed_name),
    (0, _missing_colon),
    (-1, _star),
    (-3, _cast),
    (-1, _before),
    (0, _between),
    (None, _first),
    (-1, _c_function),
    (0, _python_declaration),
)
"""In order, the most exact first; with each, which token is shown (None: the statement's first)."""
