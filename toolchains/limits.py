"""What a request may take: the same for every target, and told by `describe_arch`."""

from __future__ import annotations

from kernels.records import Metric

REQUEST_S = 10.0
SLOWEST_BYTES_PER_S = 2e6
"""A kernel slower than this, beyond REQUEST_S, is as good as one that hangs."""
COMPILING_S = 10.0
"""More for a function's first call on arguments of new types, since that may compile it."""
SPARE_BYTES = 1 << 16
EXPANSION = 2


def deadline_s(nbytes: int) -> float:
    """Seconds that a request over `nbytes` of original data may take."""
    return REQUEST_S + nbytes / SLOWEST_BYTES_PER_S


def output_room(nbytes: int) -> int:
    """Bytes that the outputs of one call may take, for `nbytes` of input or of expected output."""
    return EXPANSION * nbytes + SPARE_BYTES


def limits() -> tuple[Metric, ...]:
    """Those limits by name."""
    return (
        Metric("request_deadline", REQUEST_S, "s", "derived"),
        Metric("request_deadline_per_MB", 1e6 / SLOWEST_BYTES_PER_S, "s more per MB", "derived"),
        Metric("output_room", float(EXPANSION), "x input bytes, plus 64 KiB", "derived"),
    )
