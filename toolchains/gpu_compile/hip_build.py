"""What comes of compiling HIP: code objects, assembly, resources and messages, per architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernels.records import Diagnostic, Failure, FailureKind, Metric, Status

from .elf_notes import KernelResources
from .hip_occupancy import HipOccupancy
from .hipify import Translation

_COUNTED = ("vector", "scalar", "memory", "LDS", "matrix", "branches", "waits")
"""Kinds of instructions that a reply tells of."""


@dataclass(frozen=True)
class HipKernel:
    """A `__global__` function, as compiled for one architecture."""

    name: str
    """As the source spells it, or as the name expression that asked for it does."""
    resources: KernelResources
    occupancy: HipOccupancy | None = None
    """Theoretical, with the block of its launch bounds or the usual one, without dynamic LDS."""
    instructions: Mapping[str, int] = field(default_factory=dict)
    """Kind → how many stand in its code (not: are executed)."""
    line: int = 0
    """Of its definition in the submission's file; 0 if not known."""


@dataclass(frozen=True)
class HipModule:
    """What one architecture's compilation left."""

    arch: str
    """Such as gfx942."""
    code: bytes
    """Code object for hipModuleLoadData; empty without one."""
    assembly: str
    kernels: tuple[HipKernel, ...]
    seconds: float
    names: Mapping[str, str] = field(default_factory=dict)
    """Name expression → symbol."""


@dataclass(frozen=True)
class HipBuild:
    """Outcome of compiling one source."""

    modules: tuple[HipModule, ...]
    """Of the architectures that compiled, in the order asked for."""
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    """Wall time, processes started included."""
    compiler: str
    """Which, and its version: counts of registers differ by it."""
    missing: tuple[str, ...] = ()
    """Functions used that AMD's device library has and this compiler has not: why there is no code
    object though nothing is wrong with the source."""
    translation: Translation | None = None
    """Of a CUDA source."""

    @property
    def compiled(self) -> bool:
        """Whether nothing is wrong with the source."""
        return not any(d.severity == "error" for d in self.diagnostics)

    @property
    def failure(self) -> Failure | None:
        """Why it did not compile: the first error; None if it did."""
        errors = tuple(d for d in self.diagnostics if d.severity == "error")
        if not errors:
            return None
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return Failure(
            Status.ERROR,
            Status.COMPILED,
            FailureKind.COMPILE,
            f"{errors[0].message}{more}",
            diagnostics=(*errors, *(d for d in self.diagnostics if d.severity != "error")),
        )


def module_metrics(module: HipModule) -> tuple[Metric, ...]:
    """What a reply tells of each kernel of one architecture, as `vgprs[scan]`."""
    return tuple(metric for kernel in module.kernels for metric in _metrics(kernel))


def _metrics(kernel: HipKernel) -> list[Metric]:
    used = kernel.resources
    figures = (
        ("vgprs", used.vgprs, "per thread", True),
        ("agprs", used.agprs, "per thread, of the VGPRs", False),
        ("sgprs", used.sgprs, "per wavefront", True),
        ("vgpr_spills", used.vgpr_spills, "registers", True),
        ("sgpr_spills", used.sgpr_spills, "registers", False),
        ("scratch", used.scratch_bytes, "B per thread", True),
        ("lds", used.lds_bytes, "B per block, static", True),
        ("kernarg", used.kernarg_bytes, "B", False),
        ("wavefront", used.wavefront, "threads", True),
        ("max_threads", used.max_threads, "per block", False),
    )
    metrics = [
        Metric(f"{name}[{kernel.name}]", float(value), unit, "reported")
        for name, value, unit, always in figures
        if value or always
    ]
    usual = kernel.occupancy
    if usual is not None:
        unit = f"% at {usual.threads} threads, limited by {usual.limit}"
        value = round(100 * usual.fraction, 1)
        metrics.append(Metric(f"occupancy[{kernel.name}]", value, unit, "derived"))
    for kind in _COUNTED:
        count = kernel.instructions.get(kind, 0)
        if count:
            name = f"instructions_{kind.lower()}[{kernel.name}]"
            metrics.append(Metric(name, float(count), "in the code", "reported"))
    return metrics
