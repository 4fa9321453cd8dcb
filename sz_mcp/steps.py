"""The call to make now, as it ends a reply about a kernel."""

from __future__ import annotations

from kernels.modes.names import SEARCHED
from kernels.records import Build, Failure, FailureKind
from sz_mcp.arguments import DEFAULT_BOUND
from sz_mcp.asked import Asked

_MANY_REPEATS = 50
"""What a busy machine takes: repetitions go on until enough of them were undisturbed."""


def after_build(kernel_id: str, build: Build) -> str:
    """A first look at the bound, or a version that builds."""
    if build.failure and build.failure.kind is FailureKind.CANCELLED:
        return "the same compile_kernel again: nothing was found wrong with the kernel"
    if build.failure:
        return _again(kernel_id)
    if build.first_call:
        return f'compile_kernel(…, parent="{kernel_id}") once its first call does not fail'
    return f'verify_bounds(kernel_id="{kernel_id}")'


def after(asked: Asked, failure: Failure | None) -> str:
    """A better version, or the same call where the kernel was not to blame."""
    if failure is not None and failure.kind is FailureKind.PEER:
        return "the same call with a kernel that keeps its bound as `against`"
    if failure is None or failure.kind not in (FailureKind.BUSY, FailureKind.CANCELLED):
        return _again(asked.kernel_id)
    field = "" if asked.field == "suite" else f', field="{asked.field}"'
    busy = failure.kind is FailureKind.BUSY and asked.tool == "run_compress"
    repeats = _MANY_REPEATS if busy else asked.repeats
    extras = "" if repeats == 7 else f", repeats={repeats}"
    extras += "" if asked.threads == 1 else f", threads={asked.threads}"
    extras += "" if asked.against is None else f', against="{asked.against}"'
    return f'{asked.tool}(kernel_id="{asked.kernel_id}"{field}{at(asked)}{extras}) again'


def _again(kernel_id: str) -> str:
    return f'compile_kernel(…, parent="{kernel_id}") with a better version'


def at(asked: Asked) -> str:
    """The arguments that differ from a tool's defaults."""
    mode = "" if asked.mode == "rel" else f', mode="{asked.mode}"'
    usual = asked.bound == DEFAULT_BOUND and asked.mode not in SEARCHED
    return mode + ("" if usual else f", bound={asked.bound:g}")
