"""Counting what sampled blocks of kernels do: traces in, one line of JSON per kernel out.

Of every launch one block in 64 is sampled, at least a few, at most 256, spread over the grid; what
is told of bytes is scaled to all blocks. Everything is a model: the accesses are those that clang
left for this processor.
"""

from __future__ import annotations

import ctypes
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .abi import Allocation, Hooks, Trace
from .races import Race, order_of, races
from .requests import (
    BARRIER,
    BEGINS,
    RECORD,
    SECTOR,
    WARP_BARRIER,
    Requests,
    Sites,
    Whole,
    distinct,
    requests_of,
    sites_of,
)
from .site_sums import COLUMNS, Shape, sectors_of, sums

_ALL = 1 << 32
_RACES = 16
"""Of a kernel that are told, the most frequent ones."""


@dataclass(frozen=True)
class Sampling:
    """Which blocks are looked at."""

    one_in: int = 64
    least: int = 4
    most: int = 256
    records: int = 1 << 21
    """That a worker has room for in a launch, 16 bytes each."""

    def threshold(self, blocks: int) -> int:
        """Of 2^32: the part of the blocks of a launch that is sampled."""
        wanted = min(max(self.least, -(-blocks // self.one_in)), self.most, blocks)
        return _ALL if wanted == blocks else -(-wanted * _ALL // blocks)


class CountedHooks:
    """A `Hooks` structure for one launch, and the traces that it points to."""

    def __init__(
        self, ranges: Sequence[tuple[int, int]], blocks: int, workers: int, sampling: Sampling
    ) -> None:
        """ranges: start and end of each allocation, ascending."""
        self._table = (Allocation * max(1, len(ranges)))(*(Allocation(*one) for one in ranges))
        self._records = [np.empty(sampling.records, RECORD) for _ in range(workers)]
        self._traces = (Trace * workers)(
            *(Trace(one.ctypes.data, 0, len(one), 0) for one in self._records)
        )
        self._hooks = Hooks(
            len(ranges),
            ctypes.addressof(self._table),
            None,
            sampling.threshold(blocks),
            ctypes.addressof(self._traces),
        )
        self.address = ctypes.addressof(self._hooks)

    def traces(self) -> Iterator[tuple[npt.NDArray[Any], int]]:
        """What each worker wrote, and what it lost."""
        for records, trace in zip(self._records, self._traces, strict=True):
            yield records[: trace.count], int(trace.lost)


@dataclass
class Counts:
    """Of one kernel, over its launches."""

    sites: Sites
    global_: Whole
    """Sites × COLUMNS, of sampled blocks."""
    shared: Whole
    launches: int = 0
    blocks: int = 0
    sampled: int = 0
    threads: int = 0
    """Of a block, at most."""
    warp: int = 32
    shared_bytes: int = 0
    barriers: int = 0
    """Of sampled blocks."""
    warp_barriers: int = 0
    lost: int = 0
    requested: float = 0.0
    """Bytes of global memory, scaled to all blocks."""
    sectors: float = 0.0
    """Bytes of sectors, likewise: of every request, as between a multiprocessor and its cache."""
    distinct: float = 0.0
    """Likewise, each sector once per block."""
    hottest: int = 0
    """Sampled blocks of one launch with atomics on one address."""
    races: Counter[Race] = field(default_factory=Counter)


class Counting:
    """The counts of a process."""

    def __init__(self, sampling: Sampling | None = None) -> None:
        self.sampling = sampling or Sampling()
        self.kernels: dict[tuple[str, str], Counts] = {}
        """By name and sites: modules may have different kernels of one name."""

    def hooks(self, ranges: Sequence[tuple[int, int]], blocks: int, workers: int) -> CountedHooks:
        """For a launch."""
        return CountedHooks(ranges, blocks, workers, self.sampling)

    def take(
        self, meta: Mapping[str, Any], blocks: int, shared_bytes: int, hooks: CountedHooks
    ) -> None:
        """Count a launch that has ended."""
        counts = self._of(meta)
        x, y, z = meta["block"]
        counts.threads = max(counts.threads, x * y * z)
        counts.shared_bytes = max(counts.shared_bytes, shared_bytes)
        counts.launches += 1
        counts.blocks += blocks
        traces = []
        for trace, lost in hooks.traces():
            counts.lost |= lost
            traces.append(_whole_blocks(trace) if lost & 1 else trace)
        trace = np.concatenate(traces)
        if len(trace):
            _count(trace, counts, blocks, Shape(meta["warp"], x * y * z), bool(meta["lockstep"]))

    def lines(self) -> Iterator[str]:
        """JSON of each kernel."""
        for (name, _), counts in self.kernels.items():
            yield json.dumps(_told(name, counts), separators=(",", ":"))

    def _of(self, meta: Mapping[str, Any]) -> Counts:
        key = meta["kernel"], json.dumps(meta["sites"])
        if key not in self.kernels:
            sites = sites_of(meta)
            table = np.zeros((len(sites.size), len(COLUMNS)), np.int64)
            self.kernels[key] = Counts(sites, table, table.copy(), warp=meta["warp"])
        return self.kernels[key]


def _whole_blocks(trace: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Without the last block, unless that is all there is."""
    starts = np.flatnonzero(trace["site"] == BEGINS)
    return trace[: starts[-1]] if len(starts) > 1 else trace


def _count(
    trace: npt.NDArray[Any], counts: Counts, blocks: int, shape: Shape, lockstep: bool
) -> None:
    sites, site = counts.sites, trace["site"]
    block = np.cumsum(site == BEGINS) - 1
    sampled = int(block[-1]) + 1
    counts.sampled += sampled
    counts.barriers += int((site == BARRIER).sum())
    counts.warp_barriers += int((site == WARP_BARRIER).sum())
    requests = requests_of(trace, sites, shape.warp)
    if not len(requests):
        return
    table = sums(requests, sites, shape)
    counts.global_ += table[False]
    counts.shared += table[True]
    scale = blocks / sampled
    counts.requested += scale * table[False][:, COLUMNS.index("bytes")].sum()
    counts.sectors += scale * SECTOR * table[False][:, COLUMNS.index("sectors")].sum()
    kind = sites.kind[requests.site]
    memory = requests.where(~requests.shared & (kind != "branch"))
    if len(memory):
        counts.distinct += scale * SECTOR * _distinct_sectors(memory, sites)
    atomics = requests.where(~requests.shared & (kind == "atomic"))
    if len(atomics):
        counts.hottest = max(counts.hottest, _hottest(atomics))
    counts.races.update(
        races(requests, sites, order_of(trace, shape.warp, block, lockstep=lockstep))
    )


def _distinct_sectors(memory: Requests, sites: Sites) -> int:
    """Of every block once."""
    row, sector = sectors_of(memory, sites)
    return len(distinct(memory.block[row], sector)[0])


def _hottest(atomics: Requests) -> int:
    """Blocks that meet at one address, at most."""
    first, _ = distinct(atomics.address, atomics.block)
    _, blocks = distinct(atomics.address[first])
    return int(blocks.max())


def _told(name: str, counts: Counts) -> dict[str, Any]:
    sites = counts.sites
    rows = [
        [*sites.place(number), str(sites.kind[number]), int(sites.size[number]), shared, *values]
        for shared, table in ((False, counts.global_), (True, counts.shared))
        for number, values in enumerate(table.tolist())
        if values[0]
    ]
    met = [
        [*sites.place(race.first), str(sites.kind[race.first]), *sites.place(race.second),
         str(sites.kind[race.second]), race.shared, race.same_warp, times]
        for race, times in counts.races.most_common(_RACES)
    ]  # fmt: skip
    plain = ("launches", "blocks", "sampled", "threads", "warp", "shared_bytes", "barriers",
             "warp_barriers", "lost", "requested", "sectors", "distinct", "hottest")  # fmt: skip
    return {
        "kernel": name,
        **{key: getattr(counts, key) for key in plain},
        "columns": COLUMNS,
        "sites": rows,
        "races": met,
    }
