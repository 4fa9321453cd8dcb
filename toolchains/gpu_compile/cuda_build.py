"""What comes of compiling CUDA C++: code, resources and messages, per architecture."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.records import Diagnostic, Failure, FailureKind, Metric, Status

from .occupancy import Occupancy, usual_block
from .ptxas import Resources


@dataclass(frozen=True)
class CudaKernel:
    """A `__global__` function, as compiled for one architecture."""

    resources: Resources
    occupancy: tuple[Occupancy, ...] = ()
    """Theoretical, by block size, without dynamic shared memory."""

    @property
    def usual(self) -> Occupancy | None:
        """With the block size of its launch bounds, else with the usual one."""
        threads = usual_block(self.resources)
        return next((one for one in self.occupancy if one.threads == threads), None)


@dataclass(frozen=True)
class CudaModule:
    """What one architecture's compilation left."""

    arch: str
    """Such as sm_80."""
    ptx: str
    """With the lines of the source (`.loc`)."""
    cubin: bytes
    """For cuModuleLoadData."""
    kernels: tuple[CudaKernel, ...]
    functions: tuple[Resources, ...]
    """Device functions that were not inlined."""
    seconds: float
    """In NVRTC."""


@dataclass(frozen=True)
class CudaBuild:
    """Outcome of compiling one source."""

    modules: tuple[CudaModule, ...]
    """Of the architectures that compiled, in the order asked for."""
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    """Wall time, processes started included."""
    nvrtc: str
    """Its version, such as 13.5: counts of registers differ by it. Empty if it did not start."""
    log: str = ""
    """Of the first architecture, with paths cut to what they mean."""

    @property
    def compiled(self) -> bool:
        """Whether every architecture asked for compiled."""
        return not any(d.severity == "error" for d in self.diagnostics)

    @property
    def failure(self) -> Failure | None:
        """Why it did not compile: the first error; None if it did."""
        errors = tuple(d for d in self.diagnostics if d.severity == "error")
        if not errors:
            return None
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        message = f"{errors[0].message}{more}"
        return Failure(
            Status.ERROR,
            Status.COMPILED,
            FailureKind.COMPILE,
            message,
            diagnostics=(*errors, *(d for d in self.diagnostics if d.severity != "error")),
            details=self.log,
        )


def module_metrics(module: CudaModule) -> tuple[Metric, ...]:
    """What a reply tells of each kernel of one architecture, as `registers[scan]`."""
    metrics: list[Metric] = []
    for kernel in module.kernels:
        used, usual = kernel.resources, kernel.usual
        figures: list[tuple[str, float, str]] = [
            ("registers", used.registers, "per thread"),
            ("spills", used.spill_stores + used.spill_loads, "B per thread"),
            ("stack", used.stack, "B per thread"),
            ("shared", used.shared, "B per block"),
            ("constant", used.constant, "B"),
            ("barriers", used.barriers, "per block"),
        ]
        metrics += [
            Metric(f"{name}[{used.name}]", float(value), unit, "reported")
            for name, value, unit in figures
            if value or name in ("registers", "spills")
        ]
        if usual is not None:
            unit = f"% at {usual.threads} threads, limited by {usual.limit}"
            value = round(100 * usual.fraction, 1)
            metrics.append(Metric(f"occupancy[{used.name}]", value, unit, "derived"))
    return tuple(metrics)
