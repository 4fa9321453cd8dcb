"""What a counting child told of its kernels: lines in, records out. Told, not trusted.

The submission runs in the same process and may print such lines; what is malformed is dropped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from toolchains.child.wire import COUNTS_LINE

MOST_KERNELS, _MOST_ROWS, _LONGEST_NAME = 64, 2000, 200
_LARGEST = 2.0**62


@dataclass(frozen=True)
class Place:
    """A line of device code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else "an unknown line"


@dataclass(frozen=True)
class SiteCounts:
    """One instruction, in global or in shared memory."""

    place: Place
    kind: str
    """load | store | atomic | branch"""
    size: int
    shared: bool
    requests: int
    """Of warps, in sampled blocks; so are the following."""
    lanes: int
    full: int
    """Lanes that there could have been."""
    bytes: int
    sectors: int
    least_sectors: int
    passes: int
    least_passes: int
    contended: int
    """Of each request, the most lanes on one address."""
    divergent: int


@dataclass(frozen=True)
class RaceSeen:
    """Two instructions that meet at one place, with nothing between them that orders them."""

    first: Place
    first_kind: str
    second: Place
    second_kind: str
    shared: bool
    same_warp: bool
    times: int


@dataclass(frozen=True)
class KernelCounts:
    """One kernel, over its launches."""

    kernel: str
    launches: int
    blocks: int
    sampled: int
    threads: int
    """Of a block."""
    warp: int
    shared_bytes: int
    barriers: int
    """Of sampled blocks."""
    warp_barriers: int
    lost: int
    requested: float
    """Bytes of global memory that all blocks ask for."""
    sectors: float
    """Bytes of the sectors of all requests."""
    distinct: float
    """Bytes of the sectors of a block, each once."""
    hottest: int
    sites: tuple[SiteCounts, ...]
    races: tuple[RaceSeen, ...]


def parsed_counts(printed: str) -> tuple[KernelCounts, ...]:
    """Of every kernel, the last that was told of it."""
    last: dict[int, KernelCounts] = {}
    for line in printed.splitlines():
        kind, _, rest = line.partition("\t")
        number, _, text = rest.partition("\t")
        if kind != COUNTS_LINE or not number.isdecimal() or int(number) >= MOST_KERNELS:
            continue
        try:
            last[int(number)] = _kernel(json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return tuple(last[number] for number in sorted(last))


def _kernel(found: Mapping[str, Any]) -> KernelCounts:
    plain = {
        field.name: _number(found[field.name])
        for field in fields(KernelCounts)
        if field.name not in ("kernel", "sites", "races")
    }
    for name in ("requested", "sectors", "distinct"):
        plain[name] = float(plain[name])
    return KernelCounts(
        kernel=_text(found["kernel"]),
        sites=tuple(map(_site, found["sites"][:_MOST_ROWS])),
        races=tuple(map(_race, found["races"][:_MOST_ROWS])),
        **plain,
    )


def _site(row: Iterable[Any]) -> SiteCounts:
    file, line, kind, size, shared, *counts = row
    if not isinstance(shared, bool):
        raise TypeError("shared is no truth value")
    place = Place(_text(file), _number(line))
    return SiteCounts(place, _text(kind), _number(size), shared, *map(_number, counts))


def _race(row: Iterable[Any]) -> RaceSeen:
    file, line, kind, other_file, other_line, other_kind, shared, same_warp, times = row
    return RaceSeen(
        Place(_text(file), _number(line)),
        _text(kind),
        Place(_text(other_file), _number(other_line)),
        _text(other_kind),
        bool(shared),
        bool(same_warp),
        _number(times),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value[:_LONGEST_NAME]


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("no number")
    if not math.isfinite(value) or not 0 <= value <= _LARGEST:
        raise ValueError("out of range")
    return value
