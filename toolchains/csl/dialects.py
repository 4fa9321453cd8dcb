"""Which SDK's language a program is in, where its user doesn't say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .compiler import Compiled, compile_program, read_file
from .evaluation import Options
from .source import Diagnostic, Reader, Severity

DIALECTS = ("1.4", "2.10")
"""Of the language, in the order they are tried."""


@dataclass(frozen=True)
class Chosen:
    """What came of a compilation, and as what."""

    compiled: Compiled
    options: Options


def compile_in(
    dialects: Sequence[str], main: Path | str, options: Options, read: Reader = read_file
) -> Chosen:
    """Compile in the first dialect in which there are no errors; else that with the fewest.

    A later dialect than the first is told in a note.
    """
    tried: list[Chosen] = []
    for dialect in dialects:
        chosen = replace(options, dialect=dialect)
        compiled = compile_program(main, chosen, read)
        if compiled.program is not None:
            return Chosen(_noted(compiled, dialect, dialects[0]) if tried else compiled, chosen)
        tried.append(Chosen(compiled, chosen))
    return min(tried, key=_errors)


def _errors(one: Chosen) -> int:
    return sum(found.severity is Severity.ERROR for found in one.compiled.diagnostics)


def _noted(compiled: Compiled, dialect: str, first: str) -> Compiled:
    message = f"compiled as SDK {dialect}: in SDK {first} it has errors"
    note = Diagnostic(Severity.NOTE, "dialect", message, None, f"--sdk-dialect={dialect}")
    return replace(compiled, diagnostics=(*compiled.diagnostics, note))
