"""A text of any language with what decides nothing taken out: comments, blanks, names it declares.

Only names that are seen to be declared here are replaced: a C or CUDA function differs from another
by the intrinsic that it calls, and those are declared elsewhere. Every pattern matches whatever
follows its first character, so that the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_LITERALS = r"""
    "(?:\\.|[^"\\\n])*"?
  | '(?:\\.|[^'\\\n])*'?
"""
_WORDS = r"[^\W\d]\w*|\d[\w.]*|->|[^\s\w]"

_PYTHON = re.compile(
    r'\#[^\n]*|"""(?s:.*?)(?:"""|\Z)' + r"|'''(?s:.*?)(?:'''|\Z)|" + _LITERALS + "|" + _WORDS,
    re.VERBOSE,
)
_OTHER = re.compile(
    r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|" + _LITERALS + "|" + _WORDS,
    re.VERBOSE,
)

_TYPES = frozenset(
    {
        "auto", "bool", "char", "class", "comptime", "const", "double", "enum", "extern", "f16",
        "f32", "float", "fn", "half", "i16", "i32", "i8", "inline", "int", "long", "param",
        "register", "short", "signed", "static", "struct", "template", "typedef", "typename", "u16",
        "u32", "u8", "union", "unsigned", "var", "void", "volatile",
    }
)  # fmt: skip
"""After these a name is a new one, and so it is if a `*` or `&` stands between."""

_NOT_TYPES = frozenset(
    {
        "and", "case", "defined", "delete", "do", "else", "error", "goto", "if", "ifdef", "ifndef",
        "import", "include", "not", "operator", "or", "orelse", "pragma", "return", "sizeof",
        "switch", "throw", "undef", "using", "while", "xor",
    }
)  # fmt: skip
"""A name after these is not declared by it."""

_FIXED = frozenset(
    {
        *_TYPES,
        *_NOT_TYPES,
        "break",
        "continue",
        "define",
        "false",
        "for",
        "namespace",
        "this",
        "true",
    }
)

_MEMBER = (".", "->")
"""A name after these belongs to another one: `threadIdx.x` is no variable `x`."""

_RESTRICT = frozenset({"__restrict__", "restrict", "__restrict"})


def token_text(text: str, *, python: bool) -> str:
    """The tokens of `text`, a line each."""
    pattern, comment = (_PYTHON, ("#",)) if python else (_OTHER, ("//", "/*"))
    tokens = [one for one in pattern.findall(text) if not one.startswith(comment)]
    if python:
        return "\n".join(tokens)
    numbers: dict[str, str] = {}
    declared = frozenset(_declared(tokens))
    return "\n".join(
        numbers.setdefault(one, f"v{len(numbers)}")
        if one in declared and before not in _MEMBER
        else one
        for before, one in pairwise(("", *tokens))
    )


def _declared(tokens: Sequence[str]) -> Iterator[str]:
    """Names that directly follow a type, or another name that can only be one."""
    before, pointed = "", False
    for token in tokens:
        if token in _RESTRICT:
            continue
        if not (token[0].isalpha() or token[0] == "_"):
            pointed = token in "*&"
            before = before if pointed else ""
            continue
        if _declares(before, pointed) and not _is_fixed(token):
            yield token
        before, pointed = token, False


def _declares(before: str, pointed: bool) -> bool:
    if not before or before in _NOT_TYPES:
        return False
    return not pointed or before in _TYPES or before.endswith("_t")


def _is_fixed(token: str) -> bool:
    return token in _FIXED or token.endswith("_t") or token.startswith("__")
