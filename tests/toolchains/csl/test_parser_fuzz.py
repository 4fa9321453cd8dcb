"""Whatever the text is, the parser says what is wrong with it, soon, and never fails itself."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.toolchains.csl.parsing import read, shape
from tests.toolchains.csl.test_parser_productions import PRODUCTIONS
from toolchains.csl.lexer import lex
from toolchains.csl.parser import parse
from toolchains.csl.printing import print_module
from toolchains.csl.source import Source

OWN = "\n".join(PRODUCTIONS)
JUNK = [
    *"{}()[];,:.|?@\"'#\\$",
    *("\x00", "é", "😀", "\ufeff", "\ud800"),
    *(".{", ".*", "=>", "->", "||", "&&", "..", "/*", "*/", "//", "0x", "1e999", "1__0", "9f"),
    *("if", "else", "for", "while", "switch", "fn", "task", "layout", "comptime", "undefined"),
    *("struct", "enum", "asm"),
]
OPENED = [
    *("(", "[", "{", ".{", "if (", "-", "&", "*", "f(", "x = |i|{", "a.", "!", "[2]", "fn(", "@f("),
    *("if (a) { ", "switch (a) { 1 => ", "for (a) |b| {", "blk: {", "comptime {", "struct { a: "),
    *("enum(", "if (a) x else ", "a + (", ".{ .a = ", "while (a) : (", "else if (a) {", "try "),
]
REPEATED = [
    *("a + ", "a.b", "a, ", "a; ", "{}", "(a) ", "else ", '"', "'", "/*", "//\n", "#\n", "é", " "),
    *("\n", "1.", "@", "a == ", "x[0]", "fn f() void {}\n", "}", "const x = ;\n", "fn f( "),
]


def mutated(text: str, chance: random.Random, edits: int = 6) -> str:
    """One text with some of its tokens lost, doubled, swapped or replaced, or cut short."""
    tokens = lex(Source("", "", text))[0]
    words = [*tokens.texts[:-1]]
    gaps = [text[a:b] for a, b in zip([0, *tokens.ends], [*tokens.starts, len(text)], strict=False)]
    for _ in range(chance.randint(1, edits) if words else 0):
        at = chance.randrange(len(words))
        match chance.randrange(6):
            case 0:
                words[at] = ""
            case 1:
                words[at] += " " + words[at]
            case 2:
                other = chance.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = chance.choice(JUNK)
            case 4:
                words[at] += " " + chance.choice(JUNK)
            case _:
                words[at] = words[chance.randrange(len(words))]
    result = "".join(gap + word for gap, word in zip(gaps, words, strict=False))
    return result[: chance.randrange(len(result) + 1)] if chance.random() < 0.15 else result


def survives(text: str, dialect: str) -> None:
    """The text is read; what is said can be shown, and what is kept can be printed."""
    module, found = parse(Source("fuzz.csl", "", text), dialect)
    assert module is not None
    assert len(found) <= 200
    for one in found:
        assert one.span is None or 0 <= one.span.start <= one.span.end <= len(text)
        str(one)
    print_module(module)


def test_own_texts_with_random_edits_give_only_diagnostics() -> None:
    chance = random.Random(7)
    for _ in range(300):
        text = "\n".join(chance.choice(PRODUCTIONS) for _ in range(12))
        survives(mutated(text, chance), chance.choice(("1.4", "2.10")))


def test_random_characters_give_only_diagnostics() -> None:
    chance = random.Random(8)
    for _ in range(200):
        text = "".join(chr(chance.randrange(256)) for _ in range(chance.randrange(300)))
        survives(text, "1.4")
        survives(" ".join(chance.choice(JUNK) for _ in range(80)), "1.4")


def test_random_tokens_give_only_diagnostics() -> None:
    chance = random.Random(9)
    words = lex(Source("", "", OWN))[0].texts[:-1]
    for _ in range(200):
        survives(" ".join(chance.choice(words) for _ in range(120)), "2.10")


@pytest.mark.parametrize("opened", OPENED)
def test_any_depth_gives_a_diagnostic(opened: str) -> None:
    for head in ("const x = ", "fn f() void { ", ""):
        survives(head + opened * 20000, "1.4")


def calls(text: str) -> int:
    """Calls of functions that one parse makes: a measure of its time that is always the same."""
    count = 0

    def counted(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        parse(Source("fuzz.csl", "", text))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("repeated", REPEATED)
def test_any_length_takes_linear_time(repeated: str) -> None:
    for head in ("const x = ", "fn f() void { ", ""):
        assert calls(head + repeated * 2000) < 5 * calls(head + repeated * 500) + 1000
        survives(head + repeated * 8000, "1.4")


def test_what_is_kept_of_a_damaged_text_is_printed_as_it_was_read() -> None:
    chance = random.Random(10)
    kept = 0
    for _ in range(150):
        text = "\n".join(chance.choice(PRODUCTIONS) for _ in range(8))
        module, found = read(mutated(text, chance, 1), "2.10")
        if not found:
            again, said = read(print_module(module), "2.10")
            assert not said
            assert shape(again) == shape(module)
            kept += 1
    assert kept > 5


def corpora() -> Iterator[tuple[Path, str]]:
    for name, dialect in (("SZ_MCP_CSL_EXAMPLES", "1.4"), ("SZ_MCP_SDK_EXAMPLES", "2.10")):
        if os.environ.get(name):
            for path in sorted(Path(os.environ[name]).rglob("*.csl")):
                yield path, dialect


@pytest.mark.slow
def test_corpus_files_with_random_edits_give_only_diagnostics() -> None:
    files = [(path.read_text(encoding="utf-8"), dialect) for path, dialect in corpora()]
    if not files:
        pytest.skip("neither SZ_MCP_CSL_EXAMPLES nor SZ_MCP_SDK_EXAMPLES names a checkout")
    chance = random.Random(int(os.environ.get("SZ_MCP_FUZZ_SEED", "11")))
    for _ in range(int(os.environ.get("SZ_MCP_FUZZ_FILES", "20000"))):
        text, dialect = chance.choice(files)
        survives(mutated(text, chance), dialect)
