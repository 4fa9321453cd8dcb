"""What runs beside NVRTC in a process of its own: `python -I -S nvrtc_program.py`, in a folder.

`job.json` says what to compile; `result.json` and, per architecture, `ARCH.ptx` and `ARCH.cubin`
say what came of it. Nothing but ctypes and the standard library. NVRTC's functions are those of its
User Guide, "Basic Usage" and "Accessing Lowered Names".
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Collection
from pathlib import Path
from typing import TypedDict

MOST_LOG = 400_000
MOST_CODE = 48 << 20
"""Bytes of a log, and of PTX or a cubin, that are handed on."""

_Text = ctypes.c_char_p
_Pointer = ctypes.c_void_p


class Job(TypedDict):
    """What to compile."""

    library: str
    """Path of libnvrtc."""
    archs: list[str]
    """Names such as sm_80; none: only ask the library what it is."""
    code: str
    name: str
    """For diagnostics."""
    names: list[str]
    """Name expressions."""
    options: list[str]


class Run(TypedDict):
    """What came of one architecture."""

    arch: str
    code: int
    """nvrtcResult; 0 is success."""
    log: str
    lowered: dict[str, str]
    """Name expression → symbol."""
    ptx: int
    cubin: int
    """Bytes; written only if they are no more than `MOST_CODE`."""
    seconds: float


class Result(TypedDict):
    """What came of a job."""

    version: list[int]
    archs: list[int]
    """That the library compiles for, as 80 for sm_80."""
    runs: list[Run]


def main() -> None:
    """Do the job."""
    job: Job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    library = ctypes.CDLL(job["library"])
    runs = [_compiled(library, job, arch) for arch in job["archs"]]
    result: Result = {"version": _version(library), "archs": _archs(library), "runs": runs}
    Path("result.json").write_text(json.dumps(result), encoding="utf-8")


def _version(library: ctypes.CDLL) -> list[int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return [major.value, minor.value]


def _archs(library: ctypes.CDLL) -> list[int]:
    count = ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(archs)
    return list(archs)


def _compiled(library: ctypes.CDLL, job: Job, arch: str) -> Run:
    start = time.perf_counter()
    program = _Pointer()
    options = [*job["options"], f"--gpu-architecture={arch}"]
    code, file = _text(job["code"]), _text(job["name"])
    library.nvrtcCreateProgram(ctypes.byref(program), code, file, 0, None, None)
    for name in job["names"]:
        library.nvrtcAddNameExpression(program, _text(name))
    failed = library.nvrtcCompileProgram(program, len(options), _texts(options))
    made = {kind: _made(library, program, kind) for kind in ("PTX", "CUBIN")}
    for kind, content in made.items():
        if 0 < len(content) <= MOST_CODE:
            Path(f"{arch}.{kind.lower()}").write_bytes(content)
    lowered = {n: _lowered(library, program, n) for n in job["names"]} if failed == 0 else {}
    log = _log(library, program)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return {
        "arch": arch, "code": failed, "log": log, "lowered": lowered,
        "ptx": len(made["PTX"]), "cubin": len(made["CUBIN"]),
        "seconds": time.perf_counter() - start,
    }  # fmt: skip


def _log(library: ctypes.CDLL, program: _Pointer) -> str:
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value + 1)
    library.nvrtcGetProgramLog(program, buffer)
    log = buffer.value.decode("utf-8", "replace")
    if len(log) <= MOST_LOG:
        return log
    # What the front end says stands at the beginning, what ptxas says at the end.
    return f"{log[: MOST_LOG // 2]}\n\n{log[-MOST_LOG // 2 :]}"


def _lowered(library: ctypes.CDLL, program: _Pointer, name: str) -> str:
    lowered = _Text()
    library.nvrtcGetLoweredName(program, _text(name), ctypes.byref(lowered))
    return (lowered.value or b"").decode("utf-8", "replace")


def _made(library: ctypes.CDLL, program: _Pointer, kind: str) -> bytes:
    size = ctypes.c_size_t()
    failed = getattr(library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    if failed:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{kind}")(program, buffer)
    return buffer.raw.rstrip(b"\0") if kind == "PTX" else buffer.raw


def _text(value: str) -> bytes:
    return value.encode("utf-8", "replace")


def _texts(values: Collection[str]) -> ctypes.Array[_Text]:
    return (_Text * len(values))(*map(_text, values))


if __name__ == "__main__":
    main()
