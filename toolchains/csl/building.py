"""Compilation in a process of its own: files in, a program and what was said of it out.

`main` reads `request.json` in the current folder and writes `answer.json`, and if there is a
program `program.json` and `program.npz`. What an agent wrote is only read here, never run.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulators.wafer.program_files import save_program

from .command_line import OptionsError, parse
from .dialects import compile_in
from .source import Diagnostic

REQUEST, ANSWER = "request.json", "answer.json"
PROGRAM = ("program.json", "program.npz")


def request(files: Mapping[str, str], main: str, options: list[str]) -> bytes:
    """What `main` reads. files: by name; options: of cslc."""
    return json.dumps({"files": dict(files), "main": main, "options": options}).encode()


def main() -> None:
    """Do one request."""
    asked = json.loads(Path(REQUEST).read_text(encoding="utf-8"))
    Path(ANSWER).write_text(json.dumps(_answer(asked)), encoding="utf-8")


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    files = {posixpath.normpath(name): text for name, text in asked["files"].items()}
    name = posixpath.normpath(asked["main"])
    if name not in files:
        known = ", ".join(sorted(n for n in files if n.endswith(".csl"))) or "none"
        return {"error": f"there is no file {name}; CSL files of the submission: {known}"}
    try:
        wish = parse([*asked["options"], name])
    except OptionsError as problem:
        return {"error": f"options of the compiler: {problem}"}

    def read(path: str) -> str:
        known = files.get(posixpath.normpath(path))
        if known is None:
            raise FileNotFoundError(path)
        return str(known)

    compiled = compile_in(wish.dialects, name, wish.options, read).compiled
    if compiled.program is not None:
        save_program(compiled.program, Path())
    told = [_plain(one) for one in compiled.diagnostics]
    return {"diagnostics": told, "stopped": compiled.stopped}


def _plain(one: Diagnostic) -> dict[str, Any]:
    """For JSON."""
    found: dict[str, Any] = {
        "severity": one.severity.value,
        "code": one.code,
        "message": one.message,
        "hint": one.hint,
        "text": str(one),
    }
    if one.span is not None:
        found |= {
            "file": one.span.source.name,
            "line": one.span.line,
            "column": one.span.column,
            "source": one.span.source.line(one.span.line),
        }
    return found
