"""Text to tokens, by one regular expression."""

from __future__ import annotations

import re

from .source import Diagnostic, Severity, Source, Span
from .tokens import (
    BUILTIN,
    CHAR,
    END,
    FLOAT,
    IDENT,
    INT,
    KEYWORDS,
    LOOK_AHEAD,
    OPERATORS,
    STRING,
    Tokens,
)

# Quantifiers are possessive, and one of the alternatives always matches: no text takes more than
# linear time. The order of the groups is that of `_KINDS`.
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?://[^\n]*+[ \t\r\n]*+)*+(?:"
    r"([A-Za-z_]\w*+)"
    r"|(\.\.\.?|/\*(?s:.*?)(?:\*/|\Z)|" + "|".join(map(re.escape, OPERATORS)) + ")"
    r"|((?:0x[0-9a-fA-F_]++|0b[01_]++|0o[0-7_]++|\d[\d_]*+)(?!\w|\.\d))"
    r"|(\d[\d_]*+(?:\.\d[\d_]*+(?:[eE][+-]?\d++)?+|[eE][+-]?\d++)(?!\w|\.\d))"
    r'|("(?:[^"\\\n]|\\[^\n])*+")'
    r"|(@[A-Za-z_]\w*+)"
    r"|('(?:[^'\\\n]|\\x[0-9a-fA-F]{2}|\\[^\nx])')"
    r"|(\Z)"
    r'|(\d\w*+(?:\.\d\w*+)*+|"[^"\n;)]*+|\'[^\'\n]*+\'?|\#[^\n]*+|@"[^"\n]*+"?'
    r"|[^\x00-\x7f]++|(?s:.))"
    r")",
    re.ASCII,
)
_KINDS = ("", IDENT, "", INT, FLOAT, STRING, BUILTIN, CHAR, END, "")
_NAME, _OPERATOR, _WRONG = 1, 2, 9
MAX_DIAGNOSTICS = 100
_RESERVED = {word: word for word in KEYWORDS}
_OPERATOR_KINDS = {word: word for word in OPERATORS}


def lex(source: Source) -> tuple[Tokens, list[Diagnostic]]:
    """The tokens of a text, and what in it is none; that is left out, or replaced by a like."""
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    wrong: list[Diagnostic] = []
    for match in _TOKEN.finditer(source.text):
        group = match.lastindex or _WRONG
        text = match[group]
        start = match.start(group)
        if group == _NAME:
            kinds.append(_RESERVED.get(text, IDENT))
        elif group == _OPERATOR and text in _OPERATOR_KINDS:
            kinds.append(_OPERATOR_KINDS[text])
        elif group in (_OPERATOR, _WRONG):
            kind, text, diagnostic = _mend(source, text, start)
            wrong += [diagnostic] if diagnostic else []
            if not kind:
                continue
            kinds.append(kind)
        else:
            kinds.append(_KINDS[group])
        texts.append(text)
        starts.append(start)
        ends.append(match.end())
        if group == 8:
            break
    kinds += (END,) * LOOK_AHEAD
    return Tokens(source, kinds, texts, starts, ends), _once(wrong)


def _mend(source: Source, text: str, start: int) -> tuple[str, str, Diagnostic | None]:
    """The kind and text of the token meant (empty: none), and what to say."""
    if text == "\ufeff" and start == 0:
        return "", "", None
    kind = code = ""
    shown = len(text)
    if text.startswith("/*"):
        code, shown = "block-comment" if text.endswith("*/") else "open-comment", 2
        message, hint = "CSL has no block comments", "put // in front of every line"
    elif text[0] == "#":
        code, shown = "foreign-syntax", 1
        message, hint = _hash(text)
    elif text[0].isascii() and text[0].isdigit():
        kind, code = (FLOAT if "." in text else INT), "bad-number"
        message, hint = _number(text)
    elif text[0] in "\"'":
        kind, code = STRING, "bad-string"
        message, hint = _quoted(text)
    else:
        code = "bad-character"
        message, hint = f"CSL has no use for {_shown(text)}", _BAD.get(text[:2], _BAD.get(text, ""))
    span = Span(source, start, start + max(1, shown))
    replacement = {"": "", STRING: '""'}.get(kind, "0")
    return kind, replacement, Diagnostic(Severity.ERROR, code, message, span, hint)


_BAD = {
    "@": "a builtin is @ and its name, without a space",
    '@"': "a name that is a word of the language can't be quoted: choose another",
    "\\": "a statement may go on in the next line without a mark",
    "$": "names consist of letters, digits and _",
    "`": 'strings are in double quotes: "…"',
}
_DIRECTIVES = {
    "include": 'const m = @import_module("file.csl", .{ .parameter = value });',
    "define": "const NAME = value; or, for a value from outside, param NAME: u16;",
    "pragma": "leave it out",
    **dict.fromkeys(
        ("if", "ifdef", "ifndef", "else", "endif", "elif"),
        "if (condition) { … } over values that are known while compiling leaves code out",
    ),
}


def _hash(text: str) -> tuple[str, str]:
    """What is wrong with a line that begins with #, and what to write."""
    words = re.match(r"#[ \t]*(\w*)", text)
    word = words[1] if words else ""
    if word in _DIRECTIVES:
        return f"CSL has no preprocessor: #{word}", _DIRECTIVES[word]
    return "# starts no comment in CSL", "comments start with //"


def _number(text: str) -> tuple[str, str]:
    """What is wrong with a number, and what to write."""
    stem = text.rstrip("fFuUlL")
    plain = re.fullmatch(r"(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)", stem)
    if plain and stem != text:
        kind = "f32" if "." in text or text[-1] in "fF" else "u32"
        return f"numbers have no suffix in CSL: {text}", f"@as({kind}, {stem})"
    return f"not a number: {text}", "a decimal, 0x… or 0b… number, or one such as 1.5"


def _quoted(text: str) -> tuple[str, str]:
    if text[0] == '"':
        return "this string has no end on its line", 'close it with "'
    if len(text) > 3 and text.endswith("'"):
        return "' … ' holds one byte", f'strings are in double quotes: "{text[1:-1]}"'
    return "this character has no end", "close it with '"


def _shown(text: str) -> str:
    if text.isprintable():
        return text[:8]
    return "the character " + " ".join(f"U+{ord(c):04X}" for c in text[:4])


def _once(found: list[Diagnostic]) -> list[Diagnostic]:
    """The first of those that say the same, such as of every comment with `#`; not too many."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for one in found:
        key = (one.code, one.message)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept[:MAX_DIAGNOSTICS]
