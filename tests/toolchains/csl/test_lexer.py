from __future__ import annotations

import pytest

from tests.toolchains.csl.parsing import brief
from toolchains.csl.lexer import lex
from toolchains.csl.source import Source
from toolchains.csl.tokens import BUILTIN, CHAR, END, FLOAT, IDENT, INT, KEYWORDS, STRING, is_word


def kinds(text: str) -> list[str]:
    tokens, wrong = lex(Source("test.csl", "", text))
    assert not wrong
    return tokens.kinds[: len(tokens.texts) - 1]


def told(text: str) -> list[str]:
    return [brief(one) for one in lex(Source("test.csl", "", text))[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\r\n// only a comment", []),
        ("// one\n/// two\nx // three\n//", [IDENT]),
        ("_ _a a1 f32", [IDENT] * 4),
        ("if iff or order", ["if", IDENT, "or", IDENT]),
        ("0 12 0xfF 0b10 0o17 1_000", [INT] * 6),
        ("1.5 0.25 1e3 2E-4 1.5e+6", [FLOAT] * 5),
        ("1.*", [INT, ".*"]),
        ("a.b.*.c", [IDENT, ".", IDENT, ".*", ".", IDENT]),
        ("1..2", [INT, "..", INT]),
        ("1...2", [INT, "...", INT]),
        ('"" "a\\"b" "\\\\"', [STRING] * 3),
        ("'a' '\\n' '\\x41' '\\'' '\"'", [CHAR] * 5),
        ("@get_dsd @as", [BUILTIN] * 2),
        (".{.x=-1}", [".{", ".", IDENT, "=", "-", INT, "}"]),
        ("a<<=b>>=c", [IDENT, "<<=", IDENT, ">>=", IDENT]),
        ("|i|{n}->a", ["|", IDENT, "|", "{", IDENT, "}", "->", IDENT]),
        ("x=&y", [IDENT, "=", "&", IDENT]),
        ("[*]const", ["[", "*", "]", "const"]),
        ("[4]**T", ["[", INT, "]", "*", "*", IDENT]),
        ("x|=y", [IDENT, "|=", IDENT]),
    ],
)
def test_a_text_has_these_tokens(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_every_keyword_is_its_own_kind_and_looks_like_a_name() -> None:
    assert all(kinds(word) == [word] and is_word(word) for word in KEYWORDS)


def test_places_are_those_of_the_text() -> None:
    text = "a // é\n\t@b(\r\n 12)"
    tokens = lex(Source("test.csl", "", text))[0]
    assert [text[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)] == tokens.texts
    assert [tokens.span(i).line for i in range(6)] == [1, 2, 2, 3, 3, 3]
    assert [tokens.span(i).column for i in range(6)] == [1, 2, 4, 2, 4, 5]
    assert [tokens.starts_line(i) for i in range(5)] == [True, True, False, True, False]
    assert tokens.kinds[5:] == [END] * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x\n 12ab", "2:2 bad-number: not a number: 12ab"),
        ("0x", "1:1 bad-number: not a number: 0x"),
        ("1.5.2", "1:1 bad-number: not a number: 1.5.2"),
        ('a = "b', "1:5 bad-string: this string has no end on its line"),
        ("a = 'b", "1:5 bad-string: this character has no end"),
        ("a = 'bc'", "1:5 bad-string: ' … ' holds one byte"),
        ("a $ b", "1:3 bad-character: CSL has no use for $"),
        ("a \x00 b", "1:3 bad-character: CSL has no use for the character U+0000"),
        ("größe", "1:3 bad-character: CSL has no use for öß"),
        ("a @ b", "1:3 bad-character: CSL has no use for @"),
        ("/* a */ b", "1:1 block-comment: CSL has no block comments"),
        ("b /* a", "1:3 open-comment: CSL has no block comments"),
        ("#pragma once", "1:1 foreign-syntax: CSL has no preprocessor: #pragma"),
    ],
)
def test_what_is_no_token_is_told(text: str, expected: str) -> None:
    (found,) = told(text)
    assert found.split(" => ")[0] == expected


def test_a_mark_of_the_byte_order_is_skipped_at_the_start_only() -> None:
    assert told("\ufeffconst a = 1;") == []
    assert told("const \ufeffa = 1;") == [
        "1:7 bad-character: CSL has no use for the character U+FEFF"
    ]


def test_the_same_of_many_lines_is_told_once() -> None:
    assert len(told("# one\n# two\n# three\n")) == 1


def test_the_text_behind_an_open_string_is_still_read() -> None:
    tokens = lex(Source("test.csl", "", 'f("abc);\ng();'))[0]
    assert tokens.texts[-5:] == ["g", "(", ")", ";", ""]
