"""An agent that cheats: a stage that guesses its answer, and one that reaches for what times it."""

from __future__ import annotations

from pathlib import Path

GUESSING = """\
import numpy as np

def run(q):
    codes = q.copy()
    codes.reshape(-1)[1:1024] -= q.reshape(-1)[:1023]
    return codes
"""
MEDDLING = """\
import ctypes
import time

import numpy as np

time.perf_counter = lambda: 0.0

def run(q):
    ctypes.CDLL(None).clock_settime(0, None)
    return np.diff(q.reshape(-1), prepend=q.dtype.type(0)).reshape(q.shape)
"""


def folders(place: Path) -> list[Path]:
    """What a replay sends."""
    found = []
    for name, source in (("guessing", GUESSING), ("meddling", MEDDLING)):
        folder = place / name
        folder.mkdir(parents=True)
        (folder / "kernel.py").write_text(source)
        found.append(folder)
    return found
