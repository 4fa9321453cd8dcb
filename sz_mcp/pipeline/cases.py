"""A case of a verification and what came of it, and how a failure of one is worded.

A case is one array (codec) or one set of inputs (stage).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels.error_pattern import ErrorPattern
from kernels.records import (
    Array,
    Comparison,
    Counterexample,
    Failure,
    FailureKind,
    Metric,
    ModeOutcome,
    Status,
)
from kernels.tasks.base import StageTask
from toolchains.base import Session

from .passes import Wanted


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    name: str
    core: bool
    data: Array
    """The array to compress, or a stage's first input."""
    abs_bound: float
    run: Callable[[Session], Outcome]
    stage: StageTask | None = None
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""
    wanted: Wanted | None = None
    """Of a codec: the bound as asked."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    failure: Failure | None
    comparison: Comparison | None = None
    counterexample: Counterexample | None = None
    ratio: float | None = None
    function: str = ""
    """compress, decompress or run, if it failed there."""
    mode: ModeOutcome | None = None
    """Of a codec, in modes other than abs and rel."""
    metrics: tuple[Metric, ...] = ()
    """Of the one field, if they were asked for."""


def violation(comparison: Comparison, pattern: ErrorPattern) -> Failure:
    """A bound that does not hold."""
    limit = comparison.abs_bound
    asked = f"with absolute bound {limit!r}" if limit else "where equality is asked"
    of = f" of `{pattern.output_name}`" if pattern.output_name else ""
    return Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        f"{comparison.violations} of {comparison.checked} values{of} are wrong {asked}"
        f"{_first(comparison)}",
        pattern=pattern,
    )


def _first(comparison: Comparison) -> str:
    """Where the first wrong value is, and how wrong."""
    point = comparison.first
    if point is None:
        return ""
    error, limit = float(point.error), comparison.abs_bound
    many = f" ({error / limit:.6g} times the bound)" if limit and np.isfinite(error) else ""
    return (
        f"; first at index {list(point.index)}: {point.original} came back as {point.decoded}, "
        f"an error of {point.error}{many}"
    )
