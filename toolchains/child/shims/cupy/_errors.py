"""Exceptions of the emulated cupy.

RuntimeError
├── CUDARuntimeError    a call of the runtime API failed
├── CUDADriverError     a launch is impossible, or went wrong
├── TimelessError       a time was asked for; nothing here has one
└── NotEmulatedError    CuPy has this, the emulation does not
MemoryError
└── OutOfMemoryError
Exception
└── CompileException    device code has errors; `diagnostics` holds them
"""

from __future__ import annotations

from dataclasses import dataclass


class NotEmulatedError(RuntimeError):
    """CuPy has it, this emulation has not."""

    def __init__(self, name: str, advice: str = "") -> None:
        """name: as a program spells it, such as cupy.fft.fft."""
        super().__init__(f"not emulated: {name}" + (f" ({advice})" if advice else ""))


class TimelessError(RuntimeError):
    """Nothing that runs on an emulated device has a duration worth telling."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"emulated: no time is measured here ({name}); events only order work, "
            "and speeds come from real hardware"
        )


class CUDARuntimeError(RuntimeError):
    """A failed call of the runtime API."""

    def __init__(self, name: str, detail: str, status: int = 1) -> None:
        super().__init__(f"{name}: {detail}")
        self.status = status


class CUDADriverError(RuntimeError):
    """A failed call of the driver API."""

    def __init__(self, name: str, detail: str, status: int = 1) -> None:
        super().__init__(f"{name}: {detail}")
        self.status = status


def invalid_value(detail: str) -> CUDADriverError:
    """A launch that the driver refuses."""
    return CUDADriverError("CUDA_ERROR_INVALID_VALUE", f"invalid argument: {detail}")


class OutOfMemoryError(MemoryError):
    """The emulated device, or this machine, has no more memory."""


@dataclass(frozen=True)
class Diagnostic:
    """As the compiler's; the same fields as `kernels.diagnostics.Diagnostic`."""

    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source: str | None = None

    def __str__(self) -> str:
        """`file(line): severity: message`, as NVRTC writes it."""
        where = f"{self.file or '<code>'}({self.line}): " if self.line else ""
        return f"{where}{self.severity}: {self.message}"


class CompileException(Exception):
    """Device code does not compile."""

    def __init__(
        self,
        msg: str,
        source: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
    ) -> None:
        self._msg, self.source, self.name = msg, source, name
        self.options, self.backend = options, backend
        self.diagnostics: tuple[Diagnostic, ...] = ()
        super().__init__()

    def __repr__(self) -> str:
        return self._msg

    def __str__(self) -> str:
        return self._msg

    def get_message(self) -> str:
        """What the compiler said."""
        return self._msg

    def dump(self, f: object) -> None:
        """Write the message and the numbered source to a file."""
        write = f.write  # type: ignore[attr-defined]
        write(f"{self.backend.upper()} compilation error: {self._msg}\n")
        write(f"Name: {self.name}\nOptions: {' '.join(self.options)}\n")
        for number, line in enumerate(self.source.split("\n"), 1):
            write(f"{number:5d} {line}\n")
