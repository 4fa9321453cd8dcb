"""A launch's trace as requests: what the lanes of a warp do at one instruction, together.

Lanes of a warp are together where they come to a site for the k-th time since the last barrier of
their block. A GPU may group them otherwise where they diverge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RECORD = np.dtype([("address", "<u8"), ("site", "<u4"), ("thread", "<u2"), ("value", "<u2")])
IN_SHARED = 1 << 63
BEGINS, BARRIER, WARP_BARRIER = 0x7FFFFFF0, 0x7FFFFFF1, 0x7FFFFFF2
"""Sites that are no accesses; of BARRIER the address is the line, of WARP_BARRIER the mask."""
SECTOR, BANKS, WORD = 32, 32, 4
_MOST_KEY = 1 << 62

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sites:
    """The instructions of a kernel, by number; from meta["sites"]."""

    kind: npt.NDArray[np.str_]
    size: Whole
    line: Whole
    file: Sequence[str]
    ordered: npt.NDArray[np.bool_]
    valued: npt.NDArray[np.bool_]

    def place(self, number: int) -> tuple[str, int]:
        """File and line."""
        return self.file[number], int(self.line[number])


def sites_of(meta: Mapping[str, Any]) -> Sites:
    """Of a counted kernel."""
    kinds, sizes, lines, files, ordered, valued = zip(*meta["sites"], strict=True)
    return Sites(
        np.array(kinds),
        np.array(sizes, np.int64),
        np.array(lines, np.int64),
        files,
        np.array(ordered, bool),
        np.array(valued, bool),
    )


@dataclass(frozen=True)
class Requests:
    """Accesses and branches of a launch, those of one request side by side."""

    request: Whole
    """Ascending from 0."""
    position: Whole
    """In the trace."""
    address: Whole
    """In shared memory: the offset."""
    shared: npt.NDArray[np.bool_]
    site: Whole
    thread: Whole
    value: Whole
    epoch: Whole
    """Blocks and their barriers, counted."""
    block: Whole
    """Sampled blocks, counted."""

    def __len__(self) -> int:
        return len(self.request)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Requests:
        """Some of them."""
        return Requests(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def requests_of(trace: npt.NDArray[Any], sites: Sites, warp: int) -> Requests:
    """Group a trace. trace: of RECORD; warp: threads of one."""
    site = trace["site"].astype(np.int64)
    begins = site == BEGINS
    block = np.cumsum(begins) - 1
    epoch = np.cumsum(begins | (site == BARRIER))
    position = np.flatnonzero(site < len(sites.size))
    site, block, epoch = site[position], block[position], epoch[position]
    thread = trace["thread"][position].astype(np.int64)
    own = keys(epoch, thread, site)
    order = np.argsort(own, kind="stable")
    times = np.empty(len(order), np.int64)
    times[order] = _within(own[order])
    together = keys(epoch, thread // warp, site, times)
    order = np.argsort(together, kind="stable")
    raw = trace["address"][position][order]
    return Requests(
        np.cumsum(_starts(together[order])) - 1,
        position[order],
        (raw & np.uint64(IN_SHARED - 1)).astype(np.int64),
        raw >= IN_SHARED,
        site[order],
        thread[order],
        trace["value"][position][order].astype(np.int64),
        epoch[order],
        block[order],
    )


def keys(*columns: Whole) -> Whole:
    """One number per row that is ordered as the rows are; rows that are equal have equal ones."""
    total = np.zeros(len(columns[0]), np.int64)
    if not len(total):
        return total
    bases = [column - column.min() for column in columns]
    spans = [int(base.max()) + 1 for base in bases]
    for number in sorted(range(len(spans)), key=lambda n: -spans[n]):
        if _product(spans) < _MOST_KEY:
            break
        distinct, bases[number] = np.unique(bases[number], return_inverse=True)
        spans[number] = len(distinct)
    for base, span in zip(bases, spans, strict=True):
        total = total * span + base
    return total


def _product(spans: Sequence[int]) -> int:
    total = 1
    for span in spans:
        total *= span
    return total


def _starts(ordered: Whole) -> npt.NDArray[np.bool_]:
    """Where a new value begins."""
    found = np.ones(len(ordered), bool)
    found[1:] = ordered[1:] != ordered[:-1]
    return found


def _within(ordered: Whole) -> Whole:
    """The place of each within its run of equal values."""
    starts = np.flatnonzero(_starts(ordered))
    counts = np.diff(np.append(starts, len(ordered)))
    places: Whole = np.arange(len(ordered)) - np.repeat(starts, counts)
    return places


def distinct(*columns: Whole) -> tuple[npt.NDArray[np.intp], Whole]:
    """Rows that differ, as their first indices, ordered by the columns, and how often each is."""
    _, first, counts = np.unique(keys(*columns), return_index=True, return_counts=True)
    return first, counts.astype(np.int64)
