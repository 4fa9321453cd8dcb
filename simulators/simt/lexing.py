"""Where comments, strings and braces are in C++ text: just enough to find pieces of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DULL = re.compile(
    r"""//(?:\\\n|[^\n])* | /\*.*?\*/ | R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"
    | "(?:\\.|[^"\\\n])*" | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """Braces of a definition outside of any function."""

    head: str
    """What stands before: `__global__ void f(int x)`, `namespace a`."""
    start: int
    """Offset of the opening brace."""
    end: int
    """Offset of the closing one."""


def masked(text: str, *, directives: bool = False) -> str:
    """The same with blanks for comments and the insides of strings; newlines stay."""
    found = _DULL.sub(lambda one: _blank(one[0], keep=one[0][0] in "\"'R"), text)
    return _DIRECTIVE.sub(lambda one: _blank(one[0], keep=False), found) if directives else found


def _blank(text: str, *, keep: bool) -> str:
    inner = re.sub(r"[^\n]", " ", text)
    return f"{text[0]}{inner[1:-1]}{text[-1]}" if keep and len(text) > 1 else inner


def functions(text: str) -> Iterator[Block]:
    """Bodies of functions, also of members, in order; text: the source, not masked."""
    plain = masked(text, directives=True)
    at = head = 0
    open_scopes: list[int] = []
    while found := re.compile(r"[{};]").search(plain, at):
        here = found.start()
        at = here + 1
        if found[0] == "}" and open_scopes:
            open_scopes.pop()
        elif found[0] == "{":
            words = plain[head:here]
            if _is_scope(words):
                open_scopes.append(here)
            else:
                end = _closing(plain, here)
                if _is_function(words):
                    yield Block(words.strip(), here, end)
                at = end + 1
        head = at


def _is_scope(head: str) -> bool:
    """Namespaces, classes and linkage blocks, whose content is again of definitions."""
    words = re.sub(r"\btemplate\s*<.*?>\s*(?=class|struct|union|__)", "", head, flags=re.DOTALL)
    if re.search(r"\bnamespace\b", words) or re.search(r'\bextern\s*"[^"]*"\s*$', words):
        return True
    return bool(re.search(r"\b(class|struct|union)\b", words)) and "(" not in re.sub(
        r"\b(alignas|__align__|__attribute__|__declspec)\s*\(+[^()]*\)+", "", words
    )


def _is_function(head: str) -> bool:
    return ")" in head and "=" not in re.sub(r"\([^()]*\)|<[^<>]*>|operator\s*\S+", "", head)


def _closing(text: str, start: int) -> int:
    depth = 0
    for found in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return len(text) - 1
