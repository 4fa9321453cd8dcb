"""Changing a named constant in a source.

Python is read by its syntax tree; in C and CSL it is the one place that defines the name: `const`,
`constexpr` or `param` … `NAME = value`, or `#define NAME value`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

Value = bool | int | float | str


class ConstantError(ValueError):
    """A constant that can't be changed; the message says why."""


def replaced(file: str, text: str, name: str, value: Value) -> str:
    """The source with another value where the constant is defined.

    Raises:
        ConstantError: no place defines it, or several do.
    """
    places = list(_in_python(text, name) if file.endswith(".py") else _elsewhere(text, name))
    if len(places) != 1:
        raise ConstantError(f"{len(places)} places define {name}: there must be one")
    start, end = places[0]
    return text[:start] + _written(value, text[start:end], python=file.endswith(".py")) + text[end:]


def _in_python(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Of assignments at module level: NAME = v, and A, NAME = u, v."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ConstantError(f"not Python: {error.msg}, line {error.lineno}") from error
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        for target, value in _assigned(node):
            if isinstance(target, ast.Name) and target.id == name:
                yield _offsets(value, starts, lines)


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def _offsets(value: ast.expr, starts: list[int], lines: list[str]) -> tuple[int, int]:
    """Columns of the tree count UTF-8 bytes."""
    ends = ((value.lineno, value.col_offset), (value.end_lineno or 0, value.end_col_offset or 0))
    first, last = (
        starts[line - 1] + len(lines[line - 1].encode()[:column].decode()) for line, column in ends
    )
    return first, last


def _elsewhere(text: str, name: str) -> Iterator[tuple[int, int]]:
    own = re.escape(name)
    forms = (
        rf"\b(?:const|constexpr|param)\b[^;\n]*?\b{own}\s*(?::[^=;\n]+)?=[ \t]*",
        rf"^[ \t]*\#[ \t]*define[ \t]+{own}[ \t]+",
    )
    head = "|".join(forms)
    for found in re.finditer(rf"(?:{head})(?P<value>[^\s,;)]+)", text, re.MULTILINE):
        yield found.span("value")


def _written(value: Value, before: str, *, python: bool) -> str:
    if isinstance(value, bool):
        return str(value) if python else str(value).lower()
    return repr(value) if isinstance(value, str) and before[:1] in "\"'" else str(value)
