"""What compiles and loads device code for the emulated device, and what this process emulates.

A module of device code → its Info (kernels, parameters, variables) → per kernel and block shape, a
Loaded kernel that can be launched. `Asking` is the engine of a real child: it asks somebody else,
as JSON, and loads the answers.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from ..simt.memory import Registry
from ..simt.runtime import Kernel, Launcher, Module, load
from ._errors import CompileException, Diagnostic, NotEmulatedError

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Source:
    """Device code of one module."""

    code: str
    file: str
    """Where it stands, for diagnostics."""
    dialect: str = "cuda"
    """cuda | hip"""
    warp: int = 32
    options: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Name expressions of template instances."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Files that it may include: name → text."""


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel."""

    name: str
    size: int
    align: int
    pointer: bool
    kind: str = ""
    """int | float; empty for the rest."""


@dataclass(frozen=True)
class KernelInfo:
    """A `__global__` function."""

    name: str
    symbol: str
    params: tuple[Param, ...]
    shared_bytes: int = 0
    max_threads: int = 1024


@dataclass(frozen=True)
class GlobalInfo:
    """A `__device__` or `__constant__` variable."""

    name: str
    symbol: str
    size: int
    align: int
    constant: bool
    init: bytes
    """Its first content; empty: zeros."""


@dataclass(frozen=True)
class Info:
    """What a module defines."""

    kernels: tuple[KernelInfo, ...]
    globals: tuple[GlobalInfo, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


class Variable(Protocol):
    """Memory of one of a module's variables."""

    ptr: int
    size: int


class Loaded(Protocol):
    """A kernel compiled for one block shape."""

    def launch(
        self,
        grid: Dim3,
        args: Sequence[bytes],
        variables: Mapping[str, Variable],
        shared_bytes: int,
    ) -> None:
        """Run it to its end. Raises what the emulator finds wrong.

        args: each argument's bytes; variables: those of the module, by symbol; shared_bytes:
        dynamic.
        """
        ...


class Engine(Protocol):
    """Compiles device code."""

    def declare(self, source: Source) -> None:
        """A module exists, although nothing of it is needed yet."""
        ...

    def module(self, source: Source) -> Info:
        """What it defines. Raises CompileException."""
        ...

    def kernel(self, source: Source, symbol: str, block: Dim3, *, descending: bool) -> Loaded:
        """One of its kernels. Raises CompileException, NotEmulatedError."""
        ...


_LENGTH = struct.Struct("<I")
_TOLD = 6
"""Messages of the compiler that an exception's text repeats; `diagnostics` has all."""
Ask = Callable[[bytes], bytes]
"""A request as JSON → length of the answer's JSON (u32), the JSON, object code."""
Load = Callable[[Mapping[str, Any], bytes], Kernel]
"""What the compiler says of a kernel, and its object code → it, in this process."""


@dataclass(frozen=True)
class _Launched:
    """Implements Loaded by the emulator's own launcher."""

    kernel: Kernel
    launcher: Launcher

    def launch(
        self,
        grid: Dim3,
        args: Sequence[bytes],
        variables: Mapping[str, Variable],
        shared_bytes: int,
    ) -> None:
        """See Loaded."""
        if self.kernel.meta["hooks"] != "none":
            # What kernels may touch changes between launches; variables are part of it.
            self.launcher.registry = Registry()
            for address, size in PROCESS.regions.items():
                self.launcher.registry.register(address, size)
        addresses = {symbol: one.ptr for symbol, one in variables.items()}
        module = Module(addresses, {}, {}, ())
        self.launcher.launch(self.kernel, module, grid, args, shared_bytes)


class Asking:
    """An engine that has everything compiled elsewhere."""

    def __init__(
        self,
        ask: Ask,
        load: Load = load,
        *,
        launcher: Launcher | None = None,
        hooks: str = "none",
        engine: str = "auto",
    ) -> None:
        """See the module.

        launcher: how many threads run blocks, and how long; hooks: none | checked | counted;
        engine: auto | loops | fibers.
        """
        self._ask, self._load = ask, load
        self._launcher = launcher or Launcher()
        self._hooks, self._engine = hooks, engine
        self.declared: list[Source] = []
        self._known: dict[bytes, Info] = {}
        self._loaded: dict[bytes, Loaded] = {}

    def declare(self, source: Source) -> None:
        """See Engine; kept in `declared`."""
        self.declared.append(source)

    def module(self, source: Source) -> Info:
        """See Engine."""
        request = self._request(source, None)
        if request not in self._known:
            self._known[request] = self._described(source, request)
        return self._known[request]

    def _described(self, source: Source, request: bytes) -> Info:
        told, _ = _told(self._ask(request), source)
        info = told["info"]
        kernels = tuple(
            KernelInfo(**{**one, "params": tuple(Param(**p) for p in one["params"])})
            for one in info["kernels"]
        )
        variables = tuple(
            GlobalInfo(**{**one, "init": base64.b64decode(one["init"])}) for one in info["globals"]
        )
        return Info(kernels, variables, _diagnostics(told.get("diagnostics", ())))

    def kernel(self, source: Source, symbol: str, block: Dim3, *, descending: bool) -> Loaded:
        """See Engine."""
        variant = {
            "kernel": symbol,
            "block": block,
            "descending": descending,
            "hooks": self._hooks,
        }
        request = self._request(source, variant)
        if request not in self._loaded:
            told, code = _told(self._ask(request), source)
            self._loaded[request] = _Launched(self._load(told["meta"], code), self._launcher)
        return self._loaded[request]

    def _request(self, source: Source, variant: Mapping[str, object] | None) -> bytes:
        told = {"source": asdict(source), "variant": variant, "engine": self._engine}
        return json.dumps(told, separators=(",", ":")).encode()


def _told(answer: bytes, source: Source) -> tuple[dict[str, Any], bytes]:
    (length,) = _LENGTH.unpack_from(answer)
    told = json.loads(answer[_LENGTH.size : _LENGTH.size + length])
    if "rejected" in told:
        raise rejected(source, _diagnostics(told["rejected"]))
    if "unsupported" in told:
        where = f" at {source.file}({told['line']})" if told.get("line") else f" in {source.file}"
        raise NotEmulatedError(f"{told['unsupported']}{where}")
    return told, answer[_LENGTH.size + length :]


def _diagnostics(found: Sequence[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(**one) for one in found)


def rejected(source: Source, diagnostics: tuple[Diagnostic, ...]) -> CompileException:
    """The exception for device code that has errors."""
    lines = list(dict.fromkeys(map(str, diagnostics)))
    more = [f"... and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
    text = "\n".join(lines[:_TOLD] + more) or "the compiler failed without a message"
    error = CompileException(text, source.code, source.file, source.options)
    error.diagnostics = diagnostics
    return error


@dataclass
class Process:
    """What this process emulates; whoever starts a submission fills it in first."""

    engine: Engine | None = None
    dialect: str = "cuda"
    warp: int = 32
    descending: bool = False
    """Threads of a block in descending order; fresh memory then has another content, too."""
    modules: dict[Any, Any] = field(default_factory=dict)
    """Compiled ones, with the memory of their variables."""
    regions: dict[int, int] = field(default_factory=dict)
    """Memory that kernels may touch: address → bytes."""
    allocator: Callable[[int], Any] | None = None
    pool: Any = None
    """The default memory pool, made when first asked for."""
    allocations: dict[int, Any] = field(default_factory=dict)
    """Memory of `runtime.malloc`, by address."""
    streams: list[Any] = field(default_factory=list)
    """Entered by `with`, innermost last."""
    seed: int | None = None
    random: Any = None
    """State of cupy.random, made when first used."""

    def needs_engine(self, what: str) -> Engine:
        """The engine; raises NotEmulatedError without one."""
        if self.engine is None:
            raise NotEmulatedError(what, "this process was started without a compiler")
        return self.engine

    @property
    def is_hip(self) -> bool:
        """Whether it emulates CuPy for ROCm."""
        return self.dialect == "hip"


PROCESS = Process()
"""The only state of the emulated cupy that outlives a call."""
