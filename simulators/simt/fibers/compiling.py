"""A kernel and the fibers that run it, as one object.

clang compiles the source together with the engine's runtime (runtime.h), the IR is rewritten so
that it finds its variables at run time (rewriting.py), and clang makes an object of it. Stacks are
as large as the frames of all functions of that object together, or of a fixed size where one may
call itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from simulators.simt.frontend import TARGET, Compiled, Extra, compile_module, find_compiler
from simulators.simt.records import (
    Bundle,
    KernelInfo,
    ModuleInfo,
    Rejected,
    Source,
    Unsupported,
    Variant,
)
from simulators.simt.tool import RunTool, Tool, ToolRun

from .counting import kept, with_counted
from .rewriting import Layout, Unrewritable, layout_of, rewrite

HERE = Path(__file__).parent
_REWRITTEN, _OBJECT, _FRAMES = "fibers.ll", "fibers.o", "fibers.su"
_LEAST_STACK, _DEEP_STACK, _MOST_STACK = 16 << 10, 256 << 10, 1 << 20
_OWN_STACK = 6 << 10
"""For the C library's functions, whose frames aren't known."""
_TIMEOUT_S = 60.0


def compile_kernel(
    source: Source, info: ModuleInfo, variant: Variant, run: RunTool
) -> Bundle | Unsupported | Rejected:
    """One kernel for one block shape; info: of the module, from the front end."""
    kernel = next((one for one in info.kernels if one.symbol == variant.kernel), None)
    if kernel is None:
        return Unsupported(f"the module has no kernel {variant.kernel}")
    if variant.hooks not in ("none", "counted"):
        return Unsupported(f"fibers have no {variant.hooks} accesses")
    made = _object(source, info, kernel, variant, _LEAST_STACK, run)
    if not isinstance(made, _Made) or made.stack <= _LEAST_STACK:
        return made.bundle if isinstance(made, _Made) else made
    if made.stack > _MOST_STACK:
        return Unsupported(f"a thread needs a stack of {made.stack} bytes")
    again = _object(source, info, kernel, variant, made.stack, run)
    return again.bundle if isinstance(again, _Made) else again


class _Made:
    """An object and the bytes of stack that a thread of it needs."""

    def __init__(self, bundle: Bundle, stack: int) -> None:
        self.bundle, self.stack = bundle, stack


def _object(
    source: Source,
    info: ModuleInfo,
    kernel: KernelInfo,
    variant: Variant,
    stack: int,
    run: RunTool,
) -> _Made | Unsupported | Rejected:
    extra = Extra(_options(variant, stack, kernel.shared_bytes), (HERE,))
    made = compile_module(source, run, extra)
    if isinstance(made, Rejected):
        return made
    described = made.described
    layout = layout_of(described.ir, info, described.shared.get(kernel.symbol, {}))
    sites: list[list[object]] = []
    try:
        if variant.hooks == "counted":
            ir, sites = _counted(source, kernel, layout, made, run)
        else:
            ir = rewrite(described.ir, kernel, layout)
    except Unrewritable as error:
        return Unsupported(str(error))
    done = _assembled(ir, run)
    if done is None or _OBJECT not in done.files:
        said = done.err.strip().splitlines()[:1] if done else []
        return Unsupported(f"clang makes no object of it: {''.join(said)[:300]}")
    meta = _meta(info, kernel, variant, made, stack, source.warp)
    if sites:
        meta |= {"sites": sites, "lockstep": source.dialect == "hip"}
    return _Made(Bundle(meta, done.files[_OBJECT]), _stack_needed(done, ir))


def _counted(
    source: Source, kernel: KernelInfo, layout: Layout, made: Compiled, run: RunTool
) -> tuple[str, list[list[object]]]:
    """IR of a kernel with its instrumented copy, and the sites of that. Raises Unrewritable."""
    plain = compile_module(source, run, Extra(("-disable-red-zone", "-target-cpu", _cpu())))
    if isinstance(plain, Rejected):
        raise Unrewritable("the module does not compile without the engine")
    ir = plain.described.ir
    main = rewrite(made.described.ir, kernel, layout, kept=kept(ir))
    try:
        return with_counted(main, ir, kernel, layout)
    except RuntimeError as error:
        raise Unrewritable(f"it can't be instrumented: {str(error)[:300]}") from error


def _options(variant: Variant, stack: int, shared: int) -> tuple[str, ...]:
    x, y, z = variant.block
    static = -(-shared // 16) * 16
    numbers = {"X": x, "Y": y, "Z": z, "STACK_BYTES": stack, "STATIC_SHARED": static}
    defines = [f"-DSIMT_{name}={value}" for name, value in numbers.items()]
    if variant.descending:
        defines.append("-DSIMT_DESCENDING")
    if variant.hooks == "counted":
        defines.append("-DSIMT_COUNTED")
    return (*defines, "-disable-red-zone", "-target-cpu", _cpu(), "-include", "runtime.h")


def _cpu() -> str:
    """The best level of x86-64 here, short of AVX-512, whose registers a switch doesn't keep."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "x86-64"
    flags = set(re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)[1].split())  # type: ignore[index]
    return "x86-64-v3" if {"avx2", "fma", "bmi2", "f16c"} <= flags else "x86-64"


def _assembled(ir: str, run: RunTool) -> ToolRun | None:
    compiler = find_compiler()
    if compiler is None:
        return None
    argv = (
        str(compiler.program), "clang", "-cc1", "-triple", TARGET, "-emit-obj", "-O2", "-x", "ir",
        "-target-cpu", _cpu(), "-stack-usage-file", _FRAMES, "-mrelocation-model", "pic",
        "-pic-level", "2", "-ffp-contract=off", _REWRITTEN, "-o", _OBJECT,
    )  # fmt: skip
    files = {_REWRITTEN: ir.encode()}
    return run(Tool(argv, files, (_OBJECT, _FRAMES), (), {}, _TIMEOUT_S, 8 << 30))


def _stack_needed(done: ToolRun, ir: str) -> int:
    """A power of two."""
    text = done.files.get(_FRAMES, b"").decode("utf-8", "replace")
    total = _OWN_STACK + sum(int(line.split("\t")[1]) for line in text.splitlines() if "\t" in line)
    if _may_recurse(ir):
        total += _DEEP_STACK
    return 1 << (total - 1).bit_length()


def _may_recurse(ir: str) -> bool:
    """Whether a function may be entered while it runs: a cycle of calls, or one by a pointer."""
    calls: dict[str, set[str]] = {}
    own = calls.setdefault("", set())
    for line in ir.split("\n"):
        if found := re.match(r"define [^@]*@([\w.$-]+)\(", line):
            own = calls.setdefault(found[1] if "!dbg" in line else "", set())
        elif " call " in line or " invoke " in line:
            if re.search(r"\bcall\b[^@(]* %[\w.]+\(", line) and own is not calls[""]:
                return True
            own.update(re.findall(r"@([\w.$-]+)\(", line))
    return any(_reaches(name, name, calls) for name in calls if name)


def _reaches(start: str, wanted: str, calls: Mapping[str, set[str]]) -> bool:
    seen, waiting = set[str](), [*calls.get(start, ())]
    while waiting:
        one = waiting.pop()
        if one == wanted:
            return True
        if one not in seen:
            seen.add(one)
            waiting += calls.get(one, ())
    return False


def _meta(
    info: ModuleInfo, kernel: KernelInfo, variant: Variant, made: Compiled, stack: int, warp: int
) -> dict[str, object]:
    x, y, z = variant.block
    threads = x * y * z
    state = re.search(r"^@simt_block_bytes = .*? i64 (\d+)", made.described.ir, re.MULTILINE)
    variables = [
        {**asdict(one), "init": base64.b64encode(one.init).decode()} for one in info.globals
    ]
    return {
        "kernel": kernel.symbol,
        "engine": "fibers",
        "reason": "",
        "params": [asdict(one) for one in kernel.params],
        "globals": variables,
        "shared_bytes": kernel.shared_bytes,
        "spill_bytes": int(state[1]) if state else 0,
        # One stack more, shared among all, so that they can be aligned to their size.
        "stack_bytes": -(-(stack + stack // threads + 1) // 64) * 64,
        "block": [x, y, z],
        "descending": variant.descending,
        "hooks": variant.hooks,
        "warp": warp,
    }
