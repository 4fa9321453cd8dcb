"""Cycles that things take: one profile per architecture, every constant with its source.

Sources: [DOC] the vendor's SDK 1.4 documentation (SIMD table, queue depths, banks); [FAB] measured
on the vendor's simulator for WSE-3, arXiv 2608.25124; [SPMM] WSE-2 measurements of SpMM_Cerebras;
[RED] model of arXiv 2404.15888.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ScalarCosts:
    """Cycles of the scalar core: in order, one instruction at a time."""

    issue: int
    """An instruction that depends on none just before it."""
    dependent: int
    """More, if it needs the result of the one before."""
    load_use: int
    """From a load to an instruction that needs it."""
    branch_not_taken: int
    branch_taken: int
    call: int
    divide: int
    multiply: int
    convert: int


@dataclass(frozen=True)
class Profile:
    """What a machine is like."""

    name: str
    clock_hz: float
    hop: int
    """Cycles from a router to the next."""
    scalar: ScalarCosts
    simd: Mapping[str, float]
    """Builtin without `@` → elements per cycle at most."""
    setup: Mapping[str, int]
    """Builtin → cycles before the first element; "" for those not named."""
    input_depths: tuple[int, ...]
    """Words of each input queue."""
    output_depths: tuple[int, ...]
    router_depth: int
    """Words that a router holds per colour."""
    task_wake: int
    """From an activation to a task's first instruction."""
    banks: bool
    """Whether operands in one bank slow each other."""
