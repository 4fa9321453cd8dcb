"""Accesses of one place by threads of a block that nothing orders: races.

What orders two accesses is __syncthreads, and __syncwarp for the lanes in its mask, also by way of
other lanes. Shuffles and votes order no memory. Atomic and volatile accesses race with plain ones,
not with each other. Two writes of the same value are no race: whoever comes last, the result is the
same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .requests import WARP_BARRIER, Requests, Sites, Whole, keys

_LIKE = 64
"""Places with accesses by the same instructions that are looked at, at most."""
_MOST = 20_000
"""Places that are looked at one by one, at most."""
_DEEPEST = 256
"""Accesses of one place between two barriers that are compared, at most."""


@dataclass(frozen=True)
class Race:
    """Two instructions that meet."""

    first: int
    """Site; the first in the trace."""
    second: int
    shared: bool
    same_warp: bool


@dataclass(frozen=True)
class Order:
    """What orders the lanes of a warp."""

    warp: int
    lockstep: bool = False
    """Whether lanes of a warp are always ordered."""
    syncs: Mapping[tuple[int, int], tuple[Sequence[int], Sequence[int]]] = field(
        default_factory=dict
    )
    """Block and warp → where in the trace its __syncwarp were, and their masks."""

    def holds(self, first: _Access, second: _Access) -> bool:
        """Whether `first`, which is earlier in the trace, comes before on every GPU."""
        if first.thread == second.thread:
            return True
        warp = first.thread // self.warp
        if warp != second.thread // self.warp:
            return False
        if self.lockstep:
            return True
        where, masks = self.syncs.get((first.block, warp), ((), ()))
        reached = 1 << first.thread % self.warp
        for number in range(bisect_right(where, first.position), len(where)):
            if where[number] > second.position:
                break
            if masks[number] & reached:
                reached |= masks[number]
        return bool(reached >> second.thread % self.warp & 1)


@dataclass(frozen=True)
class _Access:
    position: int
    site: int
    thread: int
    value: int
    block: int


def order_of(trace: npt.NDArray[Any], warp: int, block: Whole, *, lockstep: bool) -> Order:
    """From a trace; block: of every record."""
    found: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for at in np.flatnonzero(trace["site"] == WARP_BARRIER).tolist():
        key = (int(block[at]), int(trace["thread"][at]) // warp)
        where, masks = found.setdefault(key, ([], []))
        where.append(at)
        masks.append(int(trace["address"][at]))
    return Order(warp, lockstep, found)


def races(requests: Requests, sites: Sites, order: Order) -> Counter[Race]:
    """Races and at how many of the places looked at each was seen."""
    found: Counter[Race] = Counter()
    kind = sites.kind[requests.site]
    for shared in (True, False):
        of = requests.where((requests.shared == shared) & (kind != "branch"))
        if len(of):
            for place in _suspects(of, sites):
                found.update(_in_place(place, sites, order, shared=shared))
    return found


def _suspects(of: Requests, sites: Sites) -> Iterator[list[_Access]]:
    """Places that several threads touch between two barriers, one of them writing."""
    size = sites.size[of.site]
    unit = max(1, int(size.min()))
    first, last = of.address // unit, (of.address + size - 1) // unit
    count = last - first + 1
    row = np.repeat(np.arange(len(of)), count)
    unit_of = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    place = keys(of.epoch[row], unit_of)
    by_place = np.lexsort((of.position[row], place))
    row, place = row[by_place], place[by_place]
    starts = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    ends = np.append(starts[1:], len(place))
    thread = of.thread[row]
    several = np.minimum.reduceat(thread, starts) != np.maximum.reduceat(thread, starts)
    writes = np.logical_or.reduceat((sites.kind != "load")[of.site[row]], starts)
    plain = np.logical_or.reduceat(~sites.ordered[of.site[row]], starts)
    chosen = np.flatnonzero(several & writes & plain)
    like: Counter[tuple[int, ...]] = Counter()
    looked = 0
    for number in chosen.tolist():
        rows = row[starts[number] : ends[number]]
        same = tuple(np.unique(of.site[rows]).tolist())
        like[same] += 1
        if like[same] > _LIKE or looked > _MOST:
            continue
        looked += 1
        yield [
            _Access(*values)
            for values in zip(
                of.position[rows[:_DEEPEST]].tolist(),
                of.site[rows[:_DEEPEST]].tolist(),
                of.thread[rows[:_DEEPEST]].tolist(),
                of.value[rows[:_DEEPEST]].tolist(),
                of.block[rows[:_DEEPEST]].tolist(),
                strict=True,
            )
        ]


def _in_place(
    accesses: Sequence[_Access], sites: Sites, order: Order, *, shared: bool
) -> set[Race]:
    """Races among the accesses of one place, in the order of the trace."""
    found: set[Race] = set()
    for number, second in enumerate(accesses):
        for first in accesses[:number]:
            if not _conflicts(first, second, sites) or order.holds(first, second):
                continue
            same = first.thread // order.warp == second.thread // order.warp
            found.add(Race(first.site, second.site, shared, same))
    return found


def _conflicts(first: _Access, second: _Access, sites: Sites) -> bool:
    """Whether it matters which of two comes first."""
    if sites.ordered[first.site] and sites.ordered[second.site]:
        return False
    kinds = (str(sites.kind[first.site]), str(sites.kind[second.site]))
    if kinds == ("load", "load"):
        return False
    if kinds != ("store", "store"):
        return True
    known = sites.valued[first.site] and sites.valued[second.site]
    return bool(known and first.value != second.value) or not known
