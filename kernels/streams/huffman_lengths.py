"""Lengths of Huffman code words: from the counts of symbols, the best that stay within a limit.

Package-merge (Larmore and Hirschberg 1990). A symbol's word of length l is bought as l coins of
widths 2⁻¹ … 2⁻ˡ, each of which costs the symbol's count; the cheapest coins of total width n − 1
make the best code. Coins of one width are paired into packages that compete with the next width's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LONGEST = 16
"""Bits of a code word at most."""


def code_lengths(counts: npt.NDArray[np.integer], longest: int = LONGEST) -> npt.NDArray[np.uint8]:
    """A length for every symbol: 0 if its count is 0, 1 if it is the only one that occurs.

    Raises ValueError if more symbols occur than there are words of that length.
    """
    lengths = np.zeros(counts.size, np.uint8)
    present = np.flatnonzero(counts)
    if present.size > 1 << longest:
        raise ValueError(f"{present.size} symbols have no code of words up to {longest} bits")
    if present.size < 2:
        lengths[present] = 1
        return lengths
    by_count = present[np.argsort(counts[present], kind="stable")]
    lengths[by_count] = _ascending(counts[by_count].astype(np.int64), longest)
    return lengths


def _ascending(costs: npt.NDArray[np.int64], longest: int) -> npt.NDArray[np.uint8]:
    """Lengths for two or more costs, which ascend."""
    row = costs
    single = [np.ones(costs.size, np.bool_)]
    for _ in range(longest - 1):
        even = row.size // 2 * 2
        row = np.concatenate((costs, row[:even:2] + row[1:even:2]))
        order = np.argsort(row, kind="stable")
        row = row[order]
        single.append(order < costs.size)
    lengths = np.zeros(costs.size, np.uint8)
    taken = 2 * (costs.size - 1)
    for is_coin in reversed(single):
        coins = int(np.count_nonzero(is_coin[:taken]))
        lengths[:coins] += 1
        taken = 2 * (taken - coins)
    return lengths
