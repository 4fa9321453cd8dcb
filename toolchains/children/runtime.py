"""What a child needs of this machine to run: interpreter, its library, packages, shared libraries.

Everything is named file by file or folder by folder, so that both bubblewrap's root and Landlock's
rules can be made of it.
"""

from __future__ import annotations

import compileall
import importlib.util
import platform
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .libraries import closure

PACKAGES = ("numpy", "numpy.libs", "numba", "llvmlite", "llvmlite.libs")
"""What a child may import beside the standard library."""

_MASKED = ("site-packages", "dist-packages")
"""Of the standard library's folder: what is installed. Each costs bubblewrap 0.2 ms to hide."""
UNUSED = (
    "_tkinter", "nis", "readline", "_curses", "_sqlite3", "_ssl", "_crypt", "_dbm", "_gdbm",
    "_uuid", "omppool", "tbbpool",
)  # fmt: skip
"""Modules whose libraries are not shown: screens, networks, databases, and the ways to run parallel
loops that are not used here."""
_BY_NAME = ("libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1")
"""Loaded by name at run time: by the C library to end a thread, by kernels that use ctypes."""
DEVICES = ("/dev/null", "/dev/urandom")


@dataclass(frozen=True)
class Runtime:
    """Paths, none of them below another."""

    interpreter: Path
    library: tuple[Path, ...]
    """Folders of the standard library."""
    masked: tuple[Path, ...]
    """Below those, what is hidden."""
    shared: tuple[Path, ...]
    """Shared libraries, by the names they are found under, and where the loader looks them up."""
    packages: tuple[Path, ...]

    def shown(self) -> tuple[Path, ...]:
        """What there is in the library's folders but for what is hidden."""
        hidden = set(self.masked)
        return tuple(p for folder in self.library for p in folder.iterdir() if p not in hidden)


@cache
def runtime() -> Runtime:
    """Of this interpreter."""
    # A child can't keep what it compiles of its own program: 10 ms and more each time.
    compileall.compile_dir(child_folder(), quiet=2)
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    library = {Path(sysconfig.get_path(p, vars=base)) for p in ("stdlib", "platstdlib")}
    interpreter = Path(sys.executable).resolve()
    packages = _packages()
    programs = [interpreter]
    for folder in library:
        modules = (folder / "lib-dynload").glob("*.so")
        programs += [m for m in modules if not m.name.startswith(UNUSED)]
    for package in packages:
        programs += [m for m in package.rglob("*.so*") if not m.name.startswith(UNUSED)]
    found = closure(programs, _folders(), _BY_NAME)
    inside = (*library, *(p.parent for p in packages))
    return Runtime(
        interpreter=interpreter,
        library=tuple(sorted(library)),
        masked=tuple(sorted(p for f in library for name in _MASKED for p in f.glob(name))),
        shared=tuple(sorted(_outside(found, inside) | _extra())),
        packages=packages,
    )


def child_folder() -> Path:
    """Where the child program lies."""
    return Path(__file__).resolve().parents[1] / "child"


def _folders() -> tuple[Path, ...]:
    """Where the dynamic loader looks: this interpreter's own, those in use, the usual ones."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    used = {Path(line.split(maxsplit=5)[5]) for line in lines if ".so" in line}
    ours = {p.parent for p in used if p.name.startswith(("libc.", "libc-", "ld-", "libm."))}
    usual = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
    return (Path(sys.base_prefix).resolve() / "lib", *sorted(ours), *map(Path, usual))


def _outside(files: Iterable[Path], folders: Iterable[Path]) -> set[Path]:
    """With folders resolved, names kept: the loader asks for a name that may be a link."""
    roots = [folder.resolve() for folder in folders]
    named = {file.parent.resolve() / file.name for file in files}
    return {n for n in named if not any(root in n.parents for root in roots)}


def _extra() -> set[Path]:
    extra = {Path("/etc/ld.so.cache")}
    if platform.machine() == "aarch64":
        # Which processor it is, LLVM reads here; on x86_64 it asks the processor.
        extra.add(Path("/proc/cpuinfo"))
    return {path for path in extra if path.exists()}


def _packages() -> tuple[Path, ...]:
    """Folders of the packages a child may import, where this interpreter finds them."""
    folders = []
    roots = {name: _folder(name) for name in PACKAGES if "." not in name}
    for name in PACKAGES:
        package = name.partition(".")[0]
        path = roots[package].parent / name
        if path.is_dir():
            folders.append(path)
    return tuple(folders)


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{package} is not installed; reinstall sz-mcp")
    return Path(spec.origin).resolve().parent
