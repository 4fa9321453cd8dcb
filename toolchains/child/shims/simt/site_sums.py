"""What requests cost, summed per site: sectors, passes of banks, lanes on one address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .requests import BANKS, SECTOR, WORD, Requests, Sites, Whole, distinct

COLUMNS = (
    "requests",
    "lanes",
    "full",  # lanes that there could have been
    "bytes",  # that lanes asked for
    "sectors",  # global: of 32 bytes, of each request
    "least_sectors",  # that as many bytes take
    "passes",  # shared: over the banks
    "least_passes",
    "contended",  # atomics: the most lanes on one address, of each request
    "divergent",  # branches: requests whose lanes went both ways
)


@dataclass(frozen=True)
class Shape:
    """Of a launch."""

    warp: int
    threads: int
    """Of a block."""


def sums(requests: Requests, sites: Sites, shape: Shape) -> dict[bool, Whole]:
    """Shared or not → COLUMNS of every site (sites × columns)."""
    return {
        shared: _summed(requests.where(requests.shared == shared), sites, shape, shared=shared)
        for shared in (False, True)
    }


def _summed(requests: Requests, sites: Sites, shape: Shape, *, shared: bool) -> Whole:
    table = np.zeros((len(sites.size), len(COLUMNS)), np.int64)
    if not len(requests):
        return table
    first, lanes = distinct(requests.request)
    site = requests.site[first]
    warp = requests.thread[first] // shape.warp
    full = np.minimum(shape.warp, shape.threads - warp * shape.warp)
    size = sites.size[site]
    columns = {
        "requests": np.ones_like(lanes),
        "lanes": lanes,
        "full": full,
        "bytes": lanes * size,
    }
    if shared:
        columns["passes"], columns["least_passes"] = _passes(requests, sites, shape)
    else:
        columns["sectors"] = _sectors(requests, sites)
        columns["least_sectors"] = -(-lanes * size // SECTOR)
    columns["contended"] = np.where(sites.kind[site] == "atomic", _contended(requests), 0)
    columns["divergent"] = np.where(sites.kind[site] == "branch", _divergent(requests), 0)
    for name, values in columns.items():
        np.add.at(table[:, COLUMNS.index(name)], site, values)
    branch = sites.kind == "branch"
    for name in ("bytes", "sectors", "least_sectors"):
        table[branch, COLUMNS.index(name)] = 0
    return table


def _count(requests: Requests) -> int:
    return int(requests.request[-1]) + 1


def _by_request(requests: Requests, first: np.ndarray, counts: Whole) -> Whole:
    """The largest count of each request that there is, in order."""
    most = np.zeros(_count(requests), np.int64)
    np.maximum.at(most, requests.request[first], counts)
    there: Whole = most[np.unique(requests.request)]
    return there


def _sectors(requests: Requests, sites: Sites) -> Whole:
    row, sector = sectors_of(requests, sites)
    first, _ = distinct(requests.request[row], sector)
    found = np.bincount(requests.request[row][first], minlength=_count(requests))
    there: Whole = found[np.unique(requests.request)].astype(np.int64)
    return there


def sectors_of(requests: Requests, sites: Sites) -> tuple[Whole, Whole]:
    """Rows and the sectors that they touch."""
    size = np.maximum(1, sites.size[requests.site])
    return _pieces(requests.address, size, SECTOR)


def _pieces(address: Whole, size: Whole, unit: int) -> tuple[Whole, Whole]:
    """Rows, and the numbers of the units that each touches."""
    start, end = address // unit, (address + size - 1) // unit
    counts = end - start + 1
    row = np.repeat(np.arange(len(address)), counts)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    return row, start[row] + offset


def _passes(requests: Requests, sites: Sites, shape: Shape) -> tuple[Whole, Whole]:
    """Passes over the banks, and the least: as many lanes at a time as 32 words are for."""
    size = np.maximum(1, sites.size[requests.site])
    lanes = np.maximum(1, BANKS // np.maximum(1, size // WORD))
    group = requests.thread % shape.warp // lanes
    row, word = _pieces(requests.address, size, WORD)
    first, _ = distinct(requests.request[row], group[row], word)
    row, word = row[first], word[first]
    # Words of one bank, of the lanes that go together; the worst bank decides.
    one, counts = distinct(requests.request[row], group[row], word % BANKS)
    at, of = requests.request[row][one], group[row][one]
    start = np.flatnonzero(np.append(True, (at[1:] != at[:-1]) | (of[1:] != of[:-1])))
    worst = np.maximum.reduceat(counts, start)
    total = np.bincount(at[start], weights=worst, minlength=_count(requests)).astype(np.int64)
    least = np.bincount(at[start], minlength=_count(requests)).astype(np.int64)
    there = np.unique(requests.request)
    return total[there], least[there]


def _contended(requests: Requests) -> Whole:
    return _by_request(requests, *distinct(requests.request, requests.address))


def _divergent(requests: Requests) -> Whole:
    """Whether values differ."""
    starts = np.flatnonzero(np.diff(requests.request, prepend=-1))
    low = np.minimum.reduceat(requests.value, starts)
    high = np.maximum.reduceat(requests.value, starts)
    differs: Whole = (low != high).astype(np.int64)
    return differs
