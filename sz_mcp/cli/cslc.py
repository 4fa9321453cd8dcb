"""`sz-mcp cslc`: compile CSL into a folder that `sz-mcp cs-python` can run.

The folder is laid out as the vendor's: `out.json` with the parameters, `bin/` with the program and
the table of symbols. The exit code is 0 if there is a program, 1 if the source has errors, 2 if the
options can't be understood.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.style import Style
from rich.text import Text

from simulators.wafer.program import PE_BYTES, Program
from simulators.wafer.program_files import save_program
from toolchains.csl.command_line import OptionsError, Wish, parse
from toolchains.csl.dialects import compile_in
from toolchains.csl.source import Diagnostic, Severity

DONE, WRONG, MISUSED = 0, 1, 2
_STYLES = {
    Severity.ERROR: Style(color="red", bold=True),
    Severity.WARNING: Style(color="yellow", bold=True),
    Severity.NOTE: Style(color="cyan"),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a compilation."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


def run(arguments: Sequence[str]) -> int:
    """Compile; the exit code."""
    try:
        wish = parse(arguments)
    except OptionsError as problem:
        sys.stderr.write(f"sz-mcp cslc: {problem}\ntry: sz-mcp cslc --help\n")
        return MISUSED
    if not wish.main.is_file():
        sys.stderr.write(f"sz-mcp cslc: there is no file {wish.main}\n")
        return MISUSED
    outcome = build(wish)
    if wish.json:
        sys.stdout.write(json.dumps(_summary(wish, outcome), indent=1) + "\n")
    else:
        _show(wish, outcome)
    return WRONG if outcome.program is None else DONE


def build(wish: Wish) -> Outcome:
    """Compile and, if there is a program, write the folder."""
    chosen = compile_in(wish.dialects, wish.main, wish.options)
    compiled = chosen.compiled
    if compiled.program is not None:
        _write(replace(wish, options=chosen.options), compiled.program)
    return Outcome(compiled.program, tuple(compiled.diagnostics))


def _write(wish: Wish, program: Program) -> None:
    options = wish.options
    save_program(program, wish.out / "bin")
    symbols = [
        {"id": one.id, "name": one.name, "kind": one.kind.value, "type": one.type}
        for one in program.exports
    ]
    _dump(wish, "bin/out_rpc.json", {"rpc_symbols": symbols})
    about = {
        "params": dict(options.params),
        "colors": {name: str(number) for name, number in options.colors},
        "arch": program.arch,
        "fabric_dims": list(program.fabric),
        "fabric_offsets": list(program.offset),
        "width": program.width,
        "height": program.height,
        "sdk_dialect": options.dialect,
        "compiler": "sz-mcp cslc",
    }
    _dump(wish, "out.json", about)


def _dump(wish: Wish, name: str, content: dict[str, Any]) -> None:
    (wish.out / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


# --- what is shown ------------------------------------------------------------------------------


def _show(wish: Wish, outcome: Outcome) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for diagnostic in outcome.diagnostics:
        console.print(colored(diagnostic))
    if outcome.program is None:
        count = sum(one.severity is Severity.ERROR for one in outcome.diagnostics)
        console.print(f"{count} error{'' if count == 1 else 's'}; nothing was written")
        return
    program = outcome.program
    most = max(_used(program, number) for number in range(len(program.classes)))
    sys.stdout.write(
        f"{wish.out}: {program.arch}, {program.width} x {program.height} PEs,"
        f" {len(program.classes)} different; at most {most} of {PE_BYTES} bytes\n"
    )
    if wish.verbose:
        _show_memory(program)


def colored(diagnostic: Diagnostic) -> Text:
    """A diagnostic's text with its head and carets in colour."""
    head, _, rest = str(diagnostic).partition("\n")
    style = _STYLES[diagnostic.severity]
    text = Text(head)
    text.highlight_words([f"{diagnostic.severity}:"], style)
    below = Text(f"\n{rest}" if rest else "")
    below.highlight_regex(r"(?m)^\s*\^+$", Style(color="green", bold=True))
    return text + below


def _show_memory(program: Program) -> None:
    for one in program.classes:
        sys.stdout.write(f"{one.name}:\n")
        for region in one.regions:
            sys.stdout.write(
                f"  {region.address:6} {region.bytes:6}  {region.name}: {region.type}\n"
            )


def _used(program: Program, number: int) -> int:
    return max((one.address + one.bytes for one in program.classes[number].regions), default=0)


def _summary(wish: Wish, outcome: Outcome) -> dict[str, Any]:
    program = outcome.program
    summary: dict[str, Any] = {
        "ok": program is not None,
        "diagnostics": [_plain(one) for one in outcome.diagnostics],
    }
    if program is not None:
        summary["out"] = str(wish.out)
        summary["program"] = {
            "arch": program.arch,
            "width": program.width,
            "height": program.height,
            "classes": [
                {"name": one.name, "bytes": _used(program, number)}
                for number, one in enumerate(program.classes)
            ],
        }
    return summary


def _plain(one: Diagnostic) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "severity": one.severity.value,
        "code": one.code,
        "message": one.message,
        "hint": one.hint,
    }
    if one.span is not None:
        span = one.span
        plain |= {"file": span.source.name, "line": span.line, "column": span.column}
        plain["source"] = span.source.line(span.line)
    plain["notes"] = [
        {"message": note.message}
        | ({"file": note.span.source.name, "line": note.span.line} if note.span else {})
        for note in one.notes
    ]
    return plain
