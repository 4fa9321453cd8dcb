"""The bound modes by name, without anything that computes: what a server needs at its start."""

from __future__ import annotations

MEANINGS = {
    "abs": "|x − x'| ≤ bound for every element",
    "rel": "|x − x'| ≤ bound · (max − min) for every element; some tools call it NOA",
    "pw_rel": "|x − x'| ≤ bound · |x| and the same sign for every element; some tools call it REL",
    "psnr": "PSNR ≥ bound, in dB",
    "l2norm": "‖x − x'‖₂ ≤ bound, in the unit of the data",
    "ratio": "original bytes / compressed bytes ≥ bound, if some absolute bound reaches it",
}
"""Mode → what is asked."""
MODES = tuple(MEANINGS)
SEARCHED = ("psnr", "l2norm", "ratio")
"""Modes whose absolute bound depends on what the kernel makes of the data."""
DIRECT = ("abs", "rel")
"""Modes in which the kernel is given the data with a bound that the data alone decide."""
