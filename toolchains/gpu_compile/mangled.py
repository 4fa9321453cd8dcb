"""Names of kernels as the source spells them, from symbols mangled by the Itanium C++ ABI.

Only what kernels need: nested names and simple template arguments (§5.1 of the ABI). What it does
not know it leaves as it is.
"""

from __future__ import annotations

import re

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long",
    "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float",
    "d": "double", "w": "wchar_t",
}  # fmt: skip
_LENGTH = re.compile(r"\d+")
_VALUE = re.compile(r"(n?)(\d+)E")

_LONGEST = 500
"""Characters of a symbol that is decoded."""


class _UnknownError(Exception):
    """The symbol has something that this does not decode."""


def readable(symbol: str) -> str:
    """Such as `scan<float, 4>` for `_Z4scanIfLi4EEvPT_`; the symbol itself if it is another."""
    if not symbol.startswith("_Z") or len(symbol) > _LONGEST:
        return symbol
    try:
        name, _ = _name(symbol, 2)
    except (_UnknownError, IndexError):
        return symbol
    return name


def _name(text: str, at: int) -> tuple[str, int]:
    """<name>: plain or nested (N … E), with template arguments; and where it ends."""
    nested = text[at] == "N"
    at += nested
    parts: list[str] = []
    while True:
        if text[at].isdigit():
            part, at = _source_name(text, at)
            parts.append(part)
        elif text[at] == "I" and parts:
            arguments, at = _arguments(text, at + 1)
            parts[-1] += f"<{arguments}>"
        elif text.startswith("L", at) and text[at + 1].isdigit():
            # Internal linkage.
            at += 1
        elif nested and text[at] == "E":
            return "::".join(_named(parts)), at + 1
        elif parts and not nested:
            return "::".join(_named(parts)), at
        else:
            raise _UnknownError(text[at:])
        if not nested and parts and (at >= len(text) or text[at] != "I"):
            return "::".join(_named(parts)), at


def _named(parts: list[str]) -> list[str]:
    """Without the names that compilers give to unnamed namespaces."""
    return [part for part in parts if not part.startswith(("_GLOBAL__N", "_INTERNAL_"))] or parts


def _source_name(text: str, at: int) -> tuple[str, int]:
    digits = _LENGTH.match(text, at)
    if digits is None:
        raise _UnknownError(text[at:])
    end = digits.end() + int(digits[0])
    if end > len(text):
        raise _UnknownError(text)
    return text[digits.end() : end], end


def _arguments(text: str, at: int) -> tuple[str, int]:
    arguments = []
    while text[at] != "E":
        argument, at = _literal(text, at + 1) if text[at] == "L" else _type(text, at)
        arguments.append(argument)
    return ", ".join(arguments), at + 1


def _literal(text: str, at: int) -> tuple[str, int]:
    kind, at = _type(text, at)
    value = _VALUE.match(text, at)
    if value is None:
        raise _UnknownError(text[at:])
    if kind == "bool":
        return ("true" if value[2] == "1" else "false"), value.end()
    return ("-" if value[1] else "") + value[2], value.end()


def _type(text: str, at: int) -> tuple[str, int]:
    letter = text[at]
    if letter in _BUILTIN:
        return _BUILTIN[letter], at + 1
    if letter in "PRK":
        inner, at = _type(text, at + 1)
        return {"P": f"{inner}*", "R": f"{inner}&", "K": f"const {inner}"}[letter], at
    if letter.isdigit() or letter == "N":
        return _name(text, at)
    raise _UnknownError(text[at:])
