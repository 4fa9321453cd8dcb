"""A module of CUDA C++ or HIP through clang: LLVM IR of this processor and what the module defines.

clang is the one inside the `ziglang` wheel, in its CUDA mode for device code, but with this
processor as the target: functions of the host are parsed and not emitted. What the language and
its libraries define is declared by the headers in `include/`; what clang says about a source is
told with the submission's own names and lines.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from kernels.diagnostics import Diagnostic

from .constants import NotData
from .describing import Described, describe
from .diagnosing import Texts, told
from .hostcode import trimmed
from .options import Options, parse_options
from .ptx import without_ptx
from .records import Front, Rejected, Source
from .tool import RunTool, Tool, ToolRun

INCLUDE = Path(__file__).parent / "include"
UNIT, IR, NAMES = "unit.cu", "unit.ll", "name expression"
TARGET = "x86_64-unknown-linux-gnu"
_FLAGS = (
    "-cc1", "-triple", TARGET, "-fcuda-is-device", "-x", "cuda",
    "-fdeclspec", "-fgnuc-version=4.2.1", "-O2",
    "-emit-llvm", "-ffp-contract=off", "-fno-strict-float-cast-overflow",
    "-fno-unroll-loops", "-fwrapv",
    "-debug-info-kind=line-tables-only", "-ferror-limit", "0", "-fno-caret-diagnostics",
    "-fexceptions", "-fcxx-exceptions", "-nostdsysteminc",
    "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Wno-unused-value",
    "-Wno-return-type", "-Wno-cuda-compat", "-Wno-unknown-cuda-version", "-Wno-pass-failed",
)  # fmt: skip
_HOSTED = (
    "-DSIMT_HOSTED", "-D_GNU_SOURCE", "-D_LIBCPP_ABI_VERSION=1", "-D_LIBCPP_ABI_NAMESPACE=__1",
    "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE", "-D__GLIBC_MINOR__=36",
    "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
    "-D_LIBCPP_HAS_MUSL_LIBC=0", "-D_LIBCPP_HAS_TIME_ZONE_DATABASE=0",
    "-D_LIBCPP_PSTL_BACKEND_SERIAL",
    *(
        f"-D_LIBCPP_HAS_{name}=1"
        for name in ("THREADS", "MONOTONIC_CLOCK", "TERMINAL", "FILESYSTEM", "RANDOM_DEVICE",
                     "LOCALIZATION", "UNICODE", "WIDE_CHARACTERS")
    ),
)  # fmt: skip
"""What libc++ of the wheel is configured by, in place of a `__config_site`."""
_HOSTED_FOLDERS = (
    "libcxx/include", "libcxxabi/include", "include", "libc/include/x86-linux-gnu",
    "libc/include/generic-glibc", "libc/include/x86-linux-any", "libc/include/any-linux-any",
)  # fmt: skip
_INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.MULTILINE)
_TIMEOUT_S, _MEMORY_BYTES = 60.0, 8 << 30
_MOST = 20
"""Messages in an answer."""
_ROUNDS = 6
"""Compilations at most, each without the host code that had errors in the one before."""


@dataclass(frozen=True)
class Compiler:
    """Where clang is, and its own headers."""

    program: Path
    library: Path
    """Its `lib`, with its own headers, libc++ and the C library's."""


@dataclass(frozen=True)
class Extra:
    """What an engine adds to a compilation."""

    options: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    """Folders of headers."""


@dataclass(frozen=True)
class Compiled:
    """A module after clang."""

    described: Described
    warnings: tuple[Diagnostic, ...]
    source: Source
    """Without PTX and what of its host code can't be read."""


def front(source: Source, run: RunTool) -> Front | Rejected:
    """Compile a module; run: how clang is run."""
    made = compile_module(source, run, Extra())
    if isinstance(made, Rejected):
        return made
    described = made.described
    if described.needs_types:
        every = Extra(("-debug-info-kind=limited", "-O0", "-disable-llvm-passes"))
        described = described.with_types(_ir(made.source, run, every))
    return Front(described.info, described.ir, made.warnings, source.warp)


def compile_module(source: Source, run: RunTool, extra: Extra) -> Compiled | Rejected:
    """A module's IR and content, without sizes of struct parameters."""
    options = parse_options(source)
    if isinstance(options, Rejected):
        return options
    compiler = find_compiler()
    if compiler is None:
        return Rejected((_error(source, "there is no ziglang package, so no clang"),))
    plain = without_ptx(source)
    if isinstance(plain, Rejected):
        return plain
    warnings, errors = options.warnings, tuple[Diagnostic, ...]()
    for _ in range(_ROUNDS):
        done = run(_tool(plain, options, compiler, extra))
        found = told(done.err, Texts(source))
        if done.code == 0 and IR in done.files:
            return _read(done, plain, (*warnings, *found))
        errors = _errors(source, done, found)
        shorter = trimmed(plain, errors)
        if shorter is None:
            return Rejected(errors[:_MOST])
        plain, warnings = shorter.source, (*warnings, *shorter.warnings)
    return Rejected(errors[:_MOST])


def _read(done: ToolRun, source: Source, said: tuple[Diagnostic, ...]) -> Compiled | Rejected:
    try:
        described = describe(done.files[IR].decode("utf-8", "replace"), source)
    except NotData as error:
        return Rejected((_error(source, str(error)),))
    return Compiled(described, tuple(one for one in said if one.severity == "warning"), source)


def _ir(source: Source, run: RunTool, extra: Extra) -> str:
    """IR of a module that has compiled before."""
    options, compiler = parse_options(source), find_compiler()
    if isinstance(options, Rejected) or compiler is None:
        return ""
    done = run(_tool(source, options, compiler, extra))
    return done.files.get(IR, b"").decode("utf-8", "replace")


def find_compiler() -> Compiler | None:
    """The clang of the `ziglang` package, without importing it."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    return Compiler(home / "zig", home / "lib")


def _tool(source: Source, options: Options, compiler: Compiler, extra: Extra) -> Tool:
    defines = [f"-DSIMT_WARP={source.warp}", *(["-DSIMT_HIP"] if source.dialect == "hip" else [])]
    include = ["-I", "src", "-I", "."]
    for folder in options.include:
        include += ["-I", f"src/{folder}"]
    hosted = is_hosted(source, compiler)
    for place in (*extra.include, INCLUDE, *_library(compiler, hosted)):
        include += ["-internal-isystem", str(place)]
    defines += _HOSTED if hosted else ()
    argv = (
        str(compiler.program), "clang", *_FLAGS, f"-std={options.standard}", *defines,
        *options.defines, *include, *extra.options, "-include", _prelude(source),
        "-o", IR, UNIT,
    )  # fmt: skip
    files = {f"src/{name}": text.encode() for name, text in source.headers.items()}
    return Tool(
        argv, {**files, UNIT: _unit(source, options).encode()}, (IR,),
        (INCLUDE, *extra.include, compiler.library), {}, _TIMEOUT_S, _MEMORY_BYTES,
    )  # fmt: skip


def is_hosted(source: Source, compiler: Compiler) -> bool:
    """Whether it includes a header that only a hosted C++ library has: those of host code.

    Reading such headers takes up to a second; the few that device code includes are in `include/`.
    """
    ours = (INCLUDE, INCLUDE / "std", compiler.library / "include")
    theirs = [compiler.library / folder for folder in _HOSTED_FOLDERS]
    for text in (source.code, *source.headers.values()):
        for name in _INCLUDED.findall(text):
            if name.startswith("cuda/std/") and name != "cuda/std/atomic":
                return True
            if name in source.headers or any((folder / name).is_file() for folder in ours):
                continue
            if any((folder / name).is_file() for folder in theirs):
                return True
    return False


def _library(compiler: Compiler, hosted: bool) -> tuple[Path, ...]:
    if hosted:
        return tuple(compiler.library / folder for folder in _HOSTED_FOLDERS)
    return (INCLUDE / "std", compiler.library / "include")


def _prelude(source: Source) -> str:
    return "hip/hip_runtime.h" if source.dialect == "hip" else "cuda_runtime.h"


def _unit(source: Source, options: Options) -> str:
    """The source, and a variable for every instance that is asked for."""
    name = source.file.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'#line 1 "{name}"', source.code]
    if options.device_by_default:
        lines = [
            "#pragma clang force_cuda_host_device begin",
            *lines,
            "#pragma clang force_cuda_host_device end",
        ]
    for number, asked in enumerate(source.names):
        expression = asked if asked.lstrip().startswith("&") else f"&{asked}"
        lines += [
            f'#line {number + 1} "{NAMES}"',
            f'extern "C" __device__ void *simt_name_{number} = (void *)({expression});',
        ]
    return "\n".join((*lines, ""))


def _errors(source: Source, done: ToolRun, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    if any(one.severity == "error" for one in found):
        return found
    if done.timed_out:
        return (_error(source, f"compiling takes more than {_TIMEOUT_S:.0f} s"),)
    last = done.err.strip().splitlines()[-1:] or [f"exit code {done.code}"]
    return (_error(source, f"the compiler failed: {last[0][:300]}"),)


def _error(source: Source, message: str) -> Diagnostic:
    return Diagnostic("error", message, source.file)
