"""`python -m simulators.simt.loops.regenerate`: make runtime.ll of runtime.c."""

from __future__ import annotations

from pathlib import Path

from simulators.simt.frontend import TARGET, find_compiler
from simulators.simt.tool import RunTool, Tool, plain_run

_FOLDER = Path(__file__).parent
_FLAGS = ("-cc1", "-triple", TARGET, "-x", "c", "-std=c11", "-Os", "-ffreestanding", "-emit-llvm")


def runtime_ir(run: RunTool) -> str:
    """What clang makes of runtime.c; raises RuntimeError if there is no clang or it fails."""
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("the ziglang package is missing")
    argv = (str(compiler.program), "clang", *_FLAGS, "-o", "runtime.ll", "runtime.c")
    source = (_FOLDER / "runtime.c").read_bytes()
    done = run(Tool(argv, {"runtime.c": source}, ("runtime.ll",)))
    if done.code != 0:
        raise RuntimeError(done.err)
    return done.files["runtime.ll"].decode()


if __name__ == "__main__":
    (_FOLDER / "runtime.ll").write_text(runtime_ir(plain_run))
