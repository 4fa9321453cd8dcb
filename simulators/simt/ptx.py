"""Inline PTX as C++: each instruction of an `asm` statement becomes the statement that it means.

Known is what public compressors write: arithmetic, comparisons, conversions, bit fields, loads and
stores with their cache and ordering modifiers, fences, shuffles, votes and special registers (PTX
ISA, chapters 9 and 10). Any other instruction is an error that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernels.diagnostics import Diagnostic

from .lexing import masked
from .ptx_instructions import TYPES, UnknownInstruction, statement
from .records import Rejected, Source

_ASM = re.compile(r"\b(?:asm|__asm|__asm__)\s*(?:volatile|__volatile__|__volatile)?\s*\(")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_OPERAND = re.compile(r'\s*(?:\[\w+\]\s*)?"([^"]*)"\s*\((.*)\)\s*$', re.DOTALL)
_LABEL = re.compile(r"^\s*\$?[\w$]+:\s*")


@dataclass(frozen=True)
class _Statement:
    """An asm statement in a text."""

    start: int
    end: int
    code: str
    operands: tuple[str, ...]
    """Expressions; outputs first."""
    outputs: int


def without_ptx(source: Source) -> Source | Rejected:
    """The source and its headers with C++ for PTX."""
    code = _rewritten(source.code, source.file)
    if isinstance(code, Rejected):
        return code
    headers = {}
    for name, text in source.headers.items():
        made = _rewritten(text, name) if "asm" in text else text
        # A header may have what nobody uses.
        headers[name] = text if isinstance(made, Rejected) else made
    return replace(source, code=code, headers=headers)


def _rewritten(text: str, file: str) -> str | Rejected:
    if "asm" not in text:
        return text
    parts, at = [], 0
    for one in _statements(text):
        line = text.count("\n", 0, one.start) + 1
        try:
            made = _translated(one)
        except UnknownInstruction as error:
            source = text.split("\n")[line - 1]
            message = f"inline PTX isn't known here: {error}"
            return Rejected((Diagnostic("error", message, file, line, None, source),))
        original = text[one.start : one.end]
        newline = "\\\n" if "\\\n" in original else "\n"
        parts += [text[at : one.start], made, newline * original.count("\n")]
        at = one.end
    return "".join((*parts, text[at:]))


def _statements(text: str) -> Iterator[_Statement]:
    plain = masked(text)
    for found in _ASM.finditer(plain):
        end = _closing(plain, found.end() - 1)
        inner = text[found.end() : end].replace("\\\n", "\n")
        sections = _sections(inner)
        outputs = _operands(sections[1]) if len(sections) > 1 else []
        inputs = _operands(sections[2]) if len(sections) > 2 else []
        code = "".join(_STRING.findall(sections[0]))
        code = code.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"')
        yield _Statement(found.start(), end + 1, code, (*outputs, *inputs), len(outputs))


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text) - 1


def _sections(text: str) -> list[str]:
    """Code, outputs, inputs, clobbers: at the colons outside of brackets."""
    return _split(text.replace("::", ": :") if '"' in text else text, ":")


def _operands(text: str) -> list[str]:
    found = (_OPERAND.match(one) for one in _split(text, ","))
    return [one[2] for one in found if one]


def _split(text: str, at: str) -> list[str]:
    """At a character outside of brackets and strings."""
    plain, parts, depth, start = masked(text), [], 0, 0
    for index, character in enumerate(plain):
        depth += (character in "([{") - (character in ")]}")
        if character == at and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _translated(one: _Statement) -> str:
    """A compound statement; operands are evaluated once, registers declared as they are in PTX."""
    lines = []
    for number, expression in enumerate(one.operands):
        kind = "auto &" if number < one.outputs else "const auto "
        lines.append(f"{kind}ptx_{number} = ({expression});")
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", one.code, flags=re.DOTALL)
    for text in re.split(r"[;\n]", code.replace("%%", "%@")):
        # Braces around all of it open a scope for its registers.
        instruction = _LABEL.sub("", text.strip().lstrip("{").rstrip("}")).strip()
        if instruction.startswith(".reg"):
            lines.append(_registers(instruction))
        elif instruction:
            lines.append(statement(instruction))
    return "do { " + " ".join(" ".join(lines).split()) + " } while (0)"


def _registers(text: str) -> str:
    """Declarations: .reg .type name, name<count>."""
    found = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text, re.DOTALL)
    if not found or found[1] not in TYPES:
        raise UnknownInstruction(text)
    names: list[str] = []
    for name in re.split(r"\s*,\s*", found[2].strip()):
        many = re.fullmatch(r"(%?@?[\w$]+)<(\d+)>", name)
        names += [f"{many[1]}{n}" for n in range(int(many[2]))] if many else [name]
    listed = ", ".join("reg_" + name.lstrip("%@").replace("$", "_") for name in names)
    return f"{TYPES[found[1]]} {listed};"
