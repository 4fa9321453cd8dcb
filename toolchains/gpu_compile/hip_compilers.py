"""Which compiler makes AMDGPU code here, and how it is called.

`zig clang -cc1` of the ziglang wheel, whose driver can't link for this target, so the steps are
given singly; a clang of the system from version 19 on; or ROCm's hipcc with AMD's own headers.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OLDEST_CLANG = 19
_NEWEST_CLANG = 40
_NEWER_ARCHS = {"gfx950": 20}
"""Architecture → the first clang that knows it."""
ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
INSTALL = "pip install 'sz-mcp[simt]'"
INCLUDE = Path(__file__).resolve().parent / "hip_include"
TRIPLE = "amdgcn-amd-amdhsa"
_ROCM = Path("/opt/rocm")
_LLVM = Path("/usr/lib")
_LEAST_ROCM = 6
"""Whose hipcc knows gfx942 and ships headers with 64-bit masks."""

_LIBCXX = (
    "-D_LIBCPP_ABI_VERSION=1", "-D_LIBCPP_ABI_NAMESPACE=__1", "-D_LIBCPP_HAS_THREADS=1",
    "-D_LIBCPP_HAS_MONOTONIC_CLOCK=1", "-D_LIBCPP_HAS_TERMINAL=1", "-D_LIBCPP_HAS_MUSL_LIBC=0",
    "-D_LIBCPP_HAS_FILESYSTEM=1", "-D_LIBCPP_HAS_RANDOM_DEVICE=1",
    "-D_LIBCPP_HAS_LOCALIZATION=1", "-D_LIBCPP_HAS_UNICODE=1",
    "-D_LIBCPP_HAS_WIDE_CHARACTERS=1", "-D_LIBCPP_HAS_TIME_ZONE_DATABASE=1",
    "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0", "-D_LIBCPP_PSTL_BACKEND_SERIAL",
    "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "-D_LIBCPP_HARDENING_MODE_DEFAULT=_LIBCPP_HARDENING_MODE_NONE",
    "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
    "-D__GLIBC_MINOR__=36",
)  # fmt: skip
"""What zig's driver defines, its libc++ having no __config_site."""


@dataclass(frozen=True)
class HipCompiler:
    """A compiler that was found."""

    kind: str
    """zig | clang | hipcc"""
    version: str
    front: tuple[str, ...]
    """Program and options up to `-cc1`, or hipcc itself."""
    assembler: tuple[str, ...]
    linker: tuple[str, ...]
    """Program; empty where the assembler links too."""
    system: tuple[str, ...]
    """Options for the headers of the C and C++ libraries."""
    shown: tuple[Path, ...]
    """What it must be able to read."""
    archs: tuple[str, ...] = ARCHS

    @property
    def label(self) -> str:
        """For a reply."""
        return f"{self.kind} {self.version}"


@cache
def find_compiler() -> HipCompiler | None:
    """ROCm's own if it is recent, else the wheel's, else the system's newest clang."""
    return rocm_compiler(_ROCM) or zig_compiler() or clang_compiler(_LLVM)


def zig_compiler() -> HipCompiler | None:
    """That of the ziglang wheel, which is not imported."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).resolve().parent
    zig, library = str(root / "zig"), root / "lib"
    headers = (
        ("-internal-isystem", library / "libcxx" / "include"),
        ("-internal-isystem", library / "include"),
        *(
            ("-internal-externc-isystem", library / "libc" / "include" / name)
            for name in ("x86-linux-gnu", "generic-glibc", "x86-linux-any", "any-linux-any")
        ),
    )
    return HipCompiler(
        kind="zig",
        version=importlib.metadata.version("ziglang"),
        front=(zig, "clang", "-cc1"),
        assembler=(zig, "clang", "-cc1as"),
        linker=(zig, "ld.lld"),
        system=(*_LIBCXX, *(str(word) for pair in headers for word in pair)),
        shown=(root,),
    )


def clang_compiler(folder: Path) -> HipCompiler | None:
    """The newest of `folder`/llvm-NN, with its linker; from version 19 on."""
    for version in range(_NEWEST_CLANG, OLDEST_CLANG - 1, -1):
        root = folder / f"llvm-{version}"
        clang, linker = root / "bin" / "clang", root / "bin" / "ld.lld"
        if clang.exists() and linker.exists():
            headers = (*_libstdcxx(), ("-internal-isystem", str(_resource(root, version))))
            headers += (("-internal-externc-isystem", "/usr/include/x86_64-linux-gnu"),)
            headers += (("-internal-externc-isystem", "/usr/include"),)
            return HipCompiler(
                kind="clang",
                version=str(version),
                front=(str(clang.resolve()), "-cc1"),
                assembler=(str(clang.resolve()), "-cc1as"),
                linker=(str(linker), "-flavor", "gnu"),
                system=tuple(word for pair in headers for word in pair),
                shown=(root, Path("/usr/include"), Path("/usr/lib")),
                archs=tuple(a for a in ARCHS if version >= _NEWER_ARCHS.get(a, 0)),
            )
    return None


def rocm_compiler(root: Path) -> HipCompiler | None:
    """The hipcc of ROCm from version 6 on."""
    try:
        version = (root / ".info" / "version").read_text(encoding="ascii").strip()
        major = int(version.partition(".")[0])
    except (OSError, ValueError):
        return None
    hipcc, clang = root / "bin" / "hipcc", root / "lib" / "llvm" / "bin" / "clang"
    if major < _LEAST_ROCM or not hipcc.exists() or not clang.exists():
        return None
    return HipCompiler(
        kind="hipcc",
        version=version,
        front=(str(hipcc),),
        assembler=(str(clang), "-x", "assembler", f"--target={TRIPLE}"),
        linker=(),
        system=(),
        shown=(root.resolve(), *_folders("/usr/include", "/usr/lib", "/usr/bin")),
    )


def missing() -> str:
    """Why no HIP can be compiled here, and the remedy; empty if it can."""
    if find_compiler() is None:
        return (
            "no registers, assembly or code objects: neither ziglang, nor clang >= "
            f"{OLDEST_CLANG}, nor ROCm is installed: {INSTALL}"
        )
    return ""


def front_command(
    compiler: HipCompiler, arch: str, source: str, options: Sequence[str], result: str
) -> tuple[str, ...]:
    """Source to assembly, or to an object if `result` ends in .o."""
    shared = (
        *options, "-O3", "-fno-caret-diagnostics", "-ftemplate-depth=400", "-fshow-overloads=best",
        "-Rpass-analysis=kernel-resource-usage", f"-fdebug-prefix-map={INCLUDE}=hip",
        "-fdebug-compilation-dir=.",
    )  # fmt: skip
    if compiler.kind == "hipcc":
        kind = "-c" if result.endswith(".o") else "-S"
        return (
            *compiler.front, *shared, "-ferror-limit=20", "-x", "hip", "--cuda-device-only",
            "--no-gpu-bundle-output", "-gline-tables-only", f"--offload-arch={arch}", "-I.",
            kind, source, "-o", result,
        )  # fmt: skip
    kind = "-emit-obj" if result.endswith(".o") else "-S"
    return (
        *compiler.front, "-triple", TRIPLE, "-aux-triple", "x86_64-unknown-linux-gnu",
        "-target-cpu", arch, "-fcuda-is-device", "-fcuda-allow-variadic-functions",
        "-fhip-new-launch-api", "-x", "hip", "-fdeclspec", "-fgnuc-version=4.2.1",
        "-fcxx-exceptions", "-fexceptions", "-mcode-object-version=5", "-ferror-limit", "20",
        "-fvisibility=hidden", "-fapply-global-visibility-to-externs",
        "-debug-info-kind=line-tables-only", "-dwarf-version=5", "-debugger-tuning=gdb",
        *shared,
        "-I.", "-internal-isystem", str(INCLUDE), *compiler.system,
        "-include", "hip/hip_runtime.h", kind, source, "-o", result,
    )  # fmt: skip


def object_command(compiler: HipCompiler, arch: str, assembly: str, result: str) -> tuple[str, ...]:
    """Assembly to an object, or to a code object where no linker is needed."""
    if not compiler.linker:
        return (*compiler.assembler, f"-mcpu={arch}", assembly, "-o", result)
    return (
        *compiler.assembler, "-triple", TRIPLE, "-target-cpu", arch, "-filetype", "obj",
        assembly, "-o", result,
    )  # fmt: skip


def _resource(root: Path, version: int) -> Path:
    return root / "lib" / "clang" / str(version) / "include"


def _libstdcxx() -> tuple[tuple[str, str], ...]:
    """The newest libstdc++ of the system."""
    found = sorted(
        (p for p in Path("/usr/include/c++").glob("*") if p.name.isdigit()),
        key=lambda p: int(p.name),
    )
    if not found:
        return ()
    own = Path("/usr/include/x86_64-linux-gnu/c++") / found[-1].name
    return (("-internal-isystem", str(found[-1])), ("-internal-isystem", str(own)))


def _folders(*names: str) -> tuple[Path, ...]:
    return tuple(path for path in map(Path, names) if path.is_dir())
