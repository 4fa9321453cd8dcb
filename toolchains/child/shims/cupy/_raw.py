"""`RawKernel` and `RawModule`: kernels of a program's own source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._device import SHARED_BYTES, limit
from ._engine import PROCESS, KernelInfo, Source
from ._errors import NotEmulatedError, invalid_value
from ._headers import headers, without_folders
from ._launch import Module, launch, module
from ._memory import MemoryPointer
from ._places import placed

_UNKNOWN = (
    "num_regs", "local_size_bytes", "ptx_version", "binary_version", "cache_mode_ca",
)  # fmt: skip
"""Attributes that only a real compiler knows."""


def declared(
    code: str, options: tuple[str, ...] = (), names: Sequence[str] | None = None, backend: str = ""
) -> Source:
    """A module of a program. Raises TypeError, ValueError for arguments that CuPy refuses."""
    if not isinstance(code, str):
        raise TypeError(
            f"Argument 'code' has incorrect type (expected str, got {type(code).__name__})"
        )
    if not isinstance(options, tuple):
        raise TypeError(
            f"Argument 'options' has incorrect type (expected tuple, got {type(options).__name__})"
        )
    if backend not in ("", "nvrtc", "nvcc"):
        raise ValueError(f"Invalid backend: {backend}")
    where = placed(code)
    # CuPy 14 compiles as C++17 unless it is told otherwise.
    standard = () if any("-std" in one for one in options) else ("--std=c++17",)
    kept, folders = without_folders(options)
    source = Source(
        where.code, where.file, PROCESS.dialect, PROCESS.warp, (*kept, *standard),
        tuple(names or ()), headers(code, [where.folder, *folders]),
    )  # fmt: skip
    if PROCESS.engine is not None:
        PROCESS.engine.declare(source)
    return source


class Function:
    """A compiled kernel."""

    def __init__(self, made: Module, name: str) -> None:
        """Raises CUDADriverError if the module has no such kernel."""
        self.module, self.info = made, made.kernel(name)
        most = limit("sharedMemPerBlock") if PROCESS.is_hip else SHARED_BYTES
        self.most_dynamic = max(most - self.info.shared_bytes, 0)

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: Sequence[Any],
        shared_mem: int = 0,
        stream: object = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        """Run it to its end, whatever the stream."""
        launch(self.module, self.info, (grid, block), args, int(shared_mem), self.most_dynamic)

    def linear_launch(
        self, size: int, args: Sequence[Any], shared_mem: int = 0, block_max_size: int = 128
    ) -> None:
        """Run it with at least `size` threads."""
        blocks = -(-size // block_max_size)
        self((blocks,), (min(block_max_size, size),), args, shared_mem)


class RawKernel:
    """A kernel of a program's own source, compiled when it is first used."""

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        **features: Any,
    ) -> None:
        """features: translate_cucomplex, enable_cooperative_groups, jitify."""
        _check_features("RawKernel", features)
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.enable_cooperative_groups = bool(features.get("enable_cooperative_groups"))
        self.file_path: str | None = None
        self.__name__ = name
        self._source = declared(code, options, None, backend)
        self._function: Function | None = None

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: object = None,
    ) -> None:
        """Compile it if needed, and run it to its end."""
        self.kernel(grid, block, args, shared_mem, stream)

    @property
    def kernel(self) -> Function:
        """The compiled kernel. Raises CompileException, CUDADriverError."""
        if self._function is None:
            self._function = Function(module(self._source), self.name)
        return self._function

    def compile(self, log_stream: Any = None) -> None:
        """Compile it now; warnings go to a file."""
        self._function = None
        _tell(self.kernel.module, log_stream)

    @property
    def _info(self) -> KernelInfo:
        return self.kernel.info

    @property
    def max_threads_per_block(self) -> int:
        """By its launch bounds."""
        return self._info.max_threads

    @property
    def shared_size_bytes(self) -> int:
        """Static shared memory."""
        return self._info.shared_bytes

    @property
    def const_size_bytes(self) -> int:
        """Constant memory of its module."""
        return sum(one.size for one in self.kernel.module.info.globals if one.constant)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Dynamic shared memory that a launch may ask for."""
        return self.kernel.most_dynamic

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        most = limit("sharedMemPerBlockOptin") - self._info.shared_bytes
        if not 0 <= size <= most:
            raise invalid_value(f"{self.name}: {size} bytes of dynamic shared memory, of {most}")
        self.kernel.most_dynamic = size

    preferred_shared_memory_carveout = -1
    """Has no effect here."""

    @property
    def attributes(self) -> dict[str, int]:
        """Those that are known; -1 for the rest, as CuPy has it."""
        known = (
            "max_threads_per_block", "shared_size_bytes", "const_size_bytes",
            "max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout",
        )  # fmt: skip
        return {name: getattr(self, name) for name in known} | dict.fromkeys(_UNKNOWN, -1)

    def __getattr__(self, name: str) -> Any:
        if name in _UNKNOWN:
            raise NotEmulatedError(
                f"cupy.RawKernel.{name}", "compile_kernel reports what the real compiler says"
            )
        raise AttributeError(f"'RawKernel' object has no attribute {name!r}")


class RawModule:
    """A program's own source with several kernels, compiled when one is first taken from it."""

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        name_expressions: Sequence[str] | None = None,
        **features: Any,
    ) -> None:
        """features: translate_cucomplex, enable_cooperative_groups, jitify."""
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if code is None:
            raise NotEmulatedError("cupy.RawModule(path=...)", "PTX and cubins need a real GPU")
        if name_expressions is not None and backend != "nvrtc":
            raise ValueError(
                "only nvrtc supports retrieving the mangled names for the given name expressions"
            )
        _check_features("RawModule", features)
        self.code, self.file_path, self.options, self.backend = code, path, options, backend
        self.enable_cooperative_groups = bool(features.get("enable_cooperative_groups"))
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self._source = declared(code, options, self.name_expressions, backend)

    @property
    def module(self) -> Module:
        """The compiled module. Raises CompileException."""
        return module(self._source)

    def compile(self, log_stream: Any = None) -> None:
        """Compile it now; warnings go to a file."""
        _tell(self.module, log_stream)

    def get_function(self, name: str) -> RawKernel:
        """One of its kernels. Raises CompileException, CUDADriverError."""
        kernel = RawKernel.__new__(RawKernel)
        kernel.__dict__.update(
            code=self.code, name=name, options=self.options, backend=self.backend, file_path=None,
            enable_cooperative_groups=self.enable_cooperative_groups, __name__=name,
            _source=self._source, _function=Function(self.module, name),
        )  # fmt: skip
        return kernel

    def get_global(self, name: str) -> MemoryPointer:
        """The memory of one of its variables. Raises CompileException, CUDADriverError."""
        return self.module.variable(name)


def _tell(made: Module, log_stream: Any) -> None:
    if log_stream is not None:
        log_stream.write("".join(f"{one}\n" for one in made.info.warnings))


def _check_features(who: str, features: dict[str, Any]) -> None:
    unknown = set(features) - {"translate_cucomplex", "enable_cooperative_groups", "jitify"}
    if unknown:
        raise TypeError(f"{who}() got an unexpected keyword argument {min(unknown)!r}")
    if features.get("translate_cucomplex"):
        raise NotEmulatedError(f"cupy.{who}(translate_cucomplex=True)", "use cupy/complex.cuh")
