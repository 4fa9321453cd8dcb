"""quantize: CuPy finds the largest magnitude, the host derives the step, a kernel does the rest."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("quantize.cu").read_text()
quantize = cp.RawKernel(SOURCE, "quantize", options=("-fmad=false",))
THREADS = 256
F = np.float32
UNIT = 2.0**-24


def tolerance_within(eb):
    """Largest float32 T at which a rounded difference proves the bound; 0: lossless."""
    t = F(min(eb, 2.0**101))
    above = np.nextafter(t, F(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > eb:
        t, above = np.nextafter(t, F(-np.inf)), t
    return F(0) if t < 2.0**-100 else min(t, F(2.0**100))


def step_for(x, t):
    """The widest step at which no |x| < T * 2^21 fails for rounding alone."""
    size = cp.abs(x)
    largest = float(cp.max(cp.where(size < t * F(2.0**21), size, F(0))))
    step = 2 * (float(t) - 3.001 * UNIT * largest) * (1 - 8 * UNIT)
    rounded = F(step)
    return rounded if float(rounded) <= step else np.nextafter(rounded, F(0))


def run(x, eb):
    t = tolerance_within(eb)
    q, ok = cp.zeros(x.size, cp.int32), cp.zeros(x.size, cp.uint8)
    if x.size == 0 or t == 0:
        return q, ok, F(0)
    step = step_for(x, t)
    blocks = -(-x.size // THREADS)
    quantize((blocks,), (THREADS,), (x, np.uint32(x.size), step, t, q, ok))
    return q, ok, step
