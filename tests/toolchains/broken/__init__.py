"""Kernels that are wrong in one way each, and the rule that should speak of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_MARK = "§"
_HEAD = "import numpy as np\nimport numba\nfrom numba import njit, prange\n"


@dataclass(frozen=True)
class Broken:
    """One of them."""

    rule: str
    source: str
    place: tuple[int, int] | None
    """Line and column that should be told, if that is known."""


def read(name: str) -> dict[str, Broken]:
    """Those of one file, by a name for the test."""
    text = (Path(__file__).parent / f"{name}.txt").read_text()
    found: dict[str, Broken] = {}
    for block in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        rule, kind = head.split()
        source = _source(kind, body.strip("\n"))
        number = sum(name.startswith(f"{rule}-") for name in found) + 1
        found[f"{rule}-{number}"] = Broken(rule, source.replace(_MARK, ""), _place(source))
    return found


def _source(kind: str, text: str) -> str:
    if kind == "whole":
        return f"{text}\n"
    before, _, body = text.rpartition("\n---\n")
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    if kind == "python":
        return f"{_HEAD}{before}\n\ndef compress(data, abs_bound):\n{lines}"
    call = "\ndef compress(data, abs_bound):\n    return work(data, abs_bound)\n"
    return f"{_HEAD}{before}\n\n@njit\ndef work(x, eb):\n{lines}{call}"


def _place(source: str) -> tuple[int, int] | None:
    if _MARK not in source:
        return None
    before = source[: source.index(_MARK)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")
