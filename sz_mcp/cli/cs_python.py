"""`sz-mcp cs-python`: run a host program of the Cerebras SDK against the simulated wafer.

The script runs in this process, with an emulated `cerebras` package; the machine is a process of
its own and ends with this one. The exit code is the script's; 1 if it fails.
"""

from __future__ import annotations

import json
import runpy
import shlex
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolchains.child import shims

USAGE = "usage: sz-mcp cs-python [--json] SCRIPT [ARGUMENT...]\n"
_EXIT_WAIT_S = 2.0


def run(arguments: Sequence[str]) -> int:
    """Run a script; the exit code."""
    as_json = arguments[:1] == ["--json"]
    rest = arguments[1:] if as_json else arguments
    if not rest or rest[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if rest else 2
    script = Path(rest[0])
    if not script.is_file():
        sys.stderr.write(f"sz-mcp cs-python: there is no file {script}\n")
        return 2
    with machine() as connection:
        return _run(script, rest[1:], connection, as_json=as_json)


def _run(
    script: Path, arguments: Sequence[str], connection: socket.socket, *, as_json: bool
) -> int:
    shims.install("cerebras")
    from toolchains.child.shims.cerebras import _link  # noqa: PLC0415 - after it is installed

    _link.CONNECTION.link = _Link(_link.SocketLink(connection))
    sys.argv = [str(script), *arguments]
    # As Python does for a script: its own folder comes first.
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as leaving:
        return _code(leaving.code)
    except Exception as problem:  # noqa: BLE001 - whatever a script raises is shown
        _link.CONNECTION.flush()
        _show(problem, script, as_json=as_json)
        return 1
    _link.CONNECTION.flush()
    return 0


def _code(value: object) -> int:
    """As Python exits for SystemExit's argument."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    sys.stderr.write(f"{value}\n")
    return 1


def _show(problem: Exception, script: Path, *, as_json: bool) -> None:
    """The script's part of the traceback; of a program's mistake also its details."""
    sys.stdout.flush()
    frames = traceback.extract_tb(problem.__traceback__)
    own = Path(shims.__file__).parent / "cerebras"
    inner = next((n for n, frame in enumerate(frames) if own in Path(frame.filename).parents), None)
    first = next((n for n, one in enumerate(frames) if one.filename == str(script)), 0)
    shown = frames[first:inner]
    if as_json:
        place = shown[-1] if shown else None
        content: dict[str, Any] = {"error": str(problem), "type": type(problem).__name__}
        if place is not None:
            content |= {"file": place.filename, "line": place.lineno}
        content["halt"] = getattr(problem, "halt", None)
        sys.stderr.write(json.dumps(content) + "\n")
        return
    sys.stderr.write("Traceback (most recent call last):\n")
    sys.stderr.writelines(traceback.format_list(shown))
    sys.stderr.writelines(traceback.format_exception_only(problem))


@contextmanager
def machine() -> Iterator[socket.socket]:
    """The connection to a machine's process, which ends with the block."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            # -P: what lies in the folder of the example is not to be imported.
            command = [sys.executable, "-P", "-m", "simulators.wafer.serving", str(theirs.fileno())]
            process = subprocess.Popen(command, pass_fds=(theirs.fileno(),))
        try:
            yield ours
        finally:
            ours.close()
            try:
                process.wait(_EXIT_WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class _Link:
    """To the machine; compilations are done here."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def exchange(
        self, header: Mapping[str, Any], payload: bytes
    ) -> tuple[Mapping[str, Any], bytes]:
        """As the shim's Link."""
        if header.get("do") == "compile":
            return _compiled(header), b""
        if header.get("do") == "layout":
            return _laid_out(header), b""
        answer: tuple[Mapping[str, Any], bytes] = self._inner.exchange(header, payload)
        return answer


def _compiled(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """A compilation for SdkCompiler."""
    from toolchains.csl.command_line import OptionsError, parse  # noqa: PLC0415 - seldom needed

    main = str(Path(header["folder"]) / header["main"])
    try:
        wish = parse([main, *shlex.split(header["options"])])
    except OptionsError as problem:
        return {"error": f"cslc: {problem}"}
    return _built(replace(wish, out=Path(header["to"]) / wish.out))


def _laid_out(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """A compilation for SdkLayout: its layout in CSL lies beside the program."""
    from toolchains.csl.command_line import parse  # noqa: PLC0415 - most scripts don't compile
    from toolchains.csl.compiler import read_file  # noqa: PLC0415
    from toolchains.csl.wiring import WiringError, Wish, wire  # noqa: PLC0415

    said = Wish.model_validate(header["wish"])
    try:
        wired = wire(said, read_file)
    except WiringError as problem:
        return {"error": f"SdkLayout: {problem}"}
    out = Path(header["to"])
    main = Path(f"{out.name}.layout.csl")
    main.write_text(wired.text, encoding="utf-8")
    answer = _built(parse([str(main), f"--arch={said.arch}", "-o", str(out)]))
    streams = [[one.port, one.color, one.x, one.y] for one in wired.streams]
    return {**answer, "streams": streams}


def _built(wish: Any) -> Mapping[str, Any]:
    from sz_mcp.cli import cslc  # noqa: PLC0415 - most scripts don't compile

    main = str(wish.main)
    outcome = cslc.build(wish)
    said = "\n".join(str(one) for one in outcome.diagnostics)
    if outcome.program is None:
        return {"error": f"{main} has errors:\n{said}"}
    if said:
        sys.stderr.write(f"{said}\n")
    return {"name": str(wish.out)}
