"""Compiles for children that emulate a GPU: their requests in, kernels for this processor out.

Each request is compiled in a box of its own; answers are kept by content, block shape, processor
and versions, in memory and in a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import llvmlite.binding as llvm

import kernels
import simulators
from kernels.diagnostics import Diagnostic
from simulators.simt.exchange import (
    ANSWER,
    REQUEST,
    Answer,
    Described,
    ExchangeError,
    Request,
    pack_answer,
    pack_request,
    unpack_answer,
    unpack_request,
)
from simulators.simt.records import Bundle, Rejected, Source, Unsupported
from simulators.simt.tool import Tool, ToolRun
from toolchains.base import Cancellation
from toolchains.children.runtime import runtime
from toolchains.children.tools import Tools

PACKAGES = ("llvmlite", "ziglang")
_BESIDE = ("llvmlite.libs",)
_BUILD_S = 60.0
_MEMORY_BYTES = 6 << 30
_KEPT = 256
"""Answers kept in memory."""
_KEPT_BYTES = 256 << 20
"""And in the folder."""
_COMPILER = "/usr/bin"
"""Where g++ is looked for, which needs much of the folder above."""


@dataclass
class Log:
    """What the children of one session asked for."""

    sources: list[Source] = field(default_factory=list)
    """Modules, in the order in which they were first named."""
    engines: dict[str, str] = field(default_factory=dict)
    """Kernel → engine that ran it, with the reason if it is not `loops`."""
    rejected: tuple[Diagnostic, ...] = ()
    """Errors of the last module that has some."""
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How device code is read."""

    errors: Callable[[Source], tuple[Diagnostic, ...]]
    """Why the compiler of the real GPU refuses it: then it is not emulated either."""
    translate: Callable[[Source], str]
    """As the emulator is to read it."""


class Emulator:
    """The compiler of emulated kernels. Thread-safe."""

    def __init__(self, tools: Tools, folder: Path | None = None) -> None:
        """folder: where answers outlive this server."""
        self._tools, self._folder = tools, folder
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}

    def giver(
        self, cancellation: Cancellation, log: Log, reading: Reading
    ) -> Callable[[bytes], bytes]:
        """What answers the children of one session."""
        return lambda asked: self._give(asked, cancellation, log, reading)

    def _give(self, asked: bytes, cancellation: Cancellation, log: Log, reading: Reading) -> bytes:
        """The answer to one request; what is no request gets a refusal."""
        try:
            request = unpack_request(asked)
        except ExchangeError as error:
            return pack_answer(Unsupported(str(error)))
        if request.source not in log.sources:
            log.sources.append(request.source)
        errors = reading.errors(request.source)
        if errors:
            log.rejected = errors
            return pack_answer(Rejected(errors))
        source = replace(request.source, code=reading.translate(request.source))
        raw = self._answer(replace(request, source=source), cancellation)
        _note(unpack_answer(raw), log)
        return raw

    def _answer(self, request: Request, cancellation: Cancellation) -> bytes:
        key = hashlib.sha256(_versions().encode() + b"\0" + pack_request(request)).hexdigest()
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        try:
            with busy:
                return self._known(key) or self._built(key, request, cancellation)
        finally:
            with self._lock:
                self._busy.pop(key, None)

    def _known(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        if self._folder is None:
            return None
        with contextlib.suppress(OSError, ExchangeError):
            raw = (self._folder / key).read_bytes()
            unpack_answer(raw)
            self._remember(key, raw)
            return raw
        return None

    def _built(self, key: str, request: Request, cancellation: Cancellation) -> bytes:
        done = self._tools.run(_tool(pack_request(request)), cancellation)
        raw = done.files.get(ANSWER, b"")
        try:
            answer = unpack_answer(raw)
        except ExchangeError:
            failed = _broken(done)
            if request.engine != "auto" or request.variant is None or cancellation.cancelled:
                return pack_answer(failed)
            # LLVM ends its process where it meets what it does not expect; the other engine has
            # another compiler.
            raw = self._built(key, replace(request, engine="fibers"), cancellation)
            answer = unpack_answer(raw)
            if isinstance(answer, Bundle):
                answer = replace(answer, meta={**answer.meta, "reason": failed.reason})
                raw = pack_answer(answer)
        if isinstance(answer, Bundle | Described | Rejected):
            self._remember(key, raw)
            self._keep(key, raw)
        return raw

    def _remember(self, key: str, raw: bytes) -> None:
        with self._lock:
            self._answers[key] = raw
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)

    def _keep(self, key: str, raw: bytes) -> None:
        """In the folder; what can't be kept is compiled again."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(raw)
            Path(file.name).replace(self._folder / key)
            _pruned(self._folder)


def missing() -> str:
    """Why nothing can be emulated here, and the remedy; empty if it can."""
    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        return f"{' and '.join(absent)} not installed: pip install 'sz-mcp[simt]'"
    return ""


def _note(answer: Answer, log: Log) -> None:
    match answer:
        case Rejected(diagnostics):
            log.rejected = diagnostics
        case Described(_, diagnostics) if diagnostics:
            log.warnings = diagnostics
        case Bundle(meta, _):
            reason = f" ({meta['reason']})" if meta.get("reason") else ""
            log.engines[str(meta.get("kernel"))] = f"{meta.get('engine')}{reason}"


def _broken(done: ToolRun) -> Unsupported:
    if done.timed_out:
        return Unsupported(f"compiling for this processor took more than {_BUILD_S:.0f} s")
    lines = done.err.strip().splitlines()
    why = lines[-1][:300] if lines else f"its process ended with code {done.code}"
    return Unsupported(f"the emulator's compiler failed: {why}")


def _tool(request: bytes) -> Tool:
    paths = [str(path.parent) for path in _own()]
    text = (
        f"import sys; sys.path[:0] = {[*paths, str(_packages()[0].parent)]!r}\n"
        "from simulators.simt.build import main; main()"
    )
    return Tool(
        argv=(str(runtime().interpreter), "-I", "-S", "-B", "-X", "utf8", "-c", text),
        files={REQUEST: request},
        results=(ANSWER,),
        shown=(*_own(), *_packages(), *_system()),
        timeout_s=_BUILD_S,
        memory_bytes=_MEMORY_BYTES,
    )


@cache
def _own() -> tuple[Path, ...]:
    """Our packages that the compiler is made of."""
    return tuple(Path(str(package.__file__)).resolve().parent for package in (simulators, kernels))


@cache
def _packages() -> tuple[Path, ...]:
    folders = []
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            folders.append(Path(spec.origin).resolve().parent)
    beside = (folders[0].parent / name for name in _BESIDE)
    return (*folders, *(path for path in beside if path.is_dir()))


@cache
def _system() -> tuple[Path, ...]:
    """What a compiler of the system needs, if there is one."""
    if not Path(_COMPILER, "g++").exists():
        return ()
    return tuple(p for p in map(Path, ("/usr/bin", "/usr/lib", "/usr/include")) if p.is_dir())


@cache
def _versions() -> str:
    """What else an answer depends on: the processor, the packages, our own compiler."""
    found = [llvm.get_host_cpu_name(), str(llvm.get_host_cpu_features().flatten())]
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return "\n".join([*found, _digest(Path(str(simulators.__file__)).parent / "simt")])


def _digest(folder: Path) -> str:
    seen = hashlib.sha256()
    for path in sorted(_sources(folder)):
        seen.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return seen.hexdigest()


def _sources(folder: Path) -> Iterable[Path]:
    return (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def _pruned(folder: Path) -> None:
    """Let the oldest go when the folder is too large."""
    files = sorted(
        (p for p in folder.iterdir() if p.is_file()), key=lambda p: p.stat().st_mtime, reverse=True
    )
    total = 0
    for path in files:
        total += path.stat().st_size
        if total > _KEPT_BYTES:
            path.unlink(missing_ok=True)
