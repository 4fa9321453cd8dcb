"""An agent that cheats: a stage that reaches for what times it, and two of the known attacks."""

from __future__ import annotations

from pathlib import Path

MEDDLING = """\
import ctypes
import time

import numpy as np

time.perf_counter = lambda: 0.0

def run(q):
    ctypes.CDLL(None).clock_settime(0, None)
    return np.diff(q.reshape(-1), prepend=q.dtype.type(0)).reshape(q.shape)
"""
ATTACKS = Path(__file__).parents[2] / "exploits" / "data"
KNOWN = ("stage_sampled", "stage_from_memory")
"""Attacks on lorenzo-1d."""


def folders(place: Path) -> list[Path]:
    """What a replay sends."""
    own = place / "meddling"
    own.mkdir(parents=True)
    (own / "kernel.py").write_text(MEDDLING)
    return [own, *(ATTACKS / name for name in KNOWN)]
