"""The first calls of the pipeline's own compiled functions, so that no agent waits for them."""

from __future__ import annotations

import numpy as np

from kernels.fresh import fresh_variant
from kernels.verify import compare
from toolchains.peaks import Peaks


def warm() -> None:
    """Compile or load what float32 fields need: a second after an installation, then 0.1 s."""
    data = np.linspace(1, 2, 4096, dtype=np.float32)
    compare(data, data.copy(), 1e-3)
    fresh_variant(data, None, 1e-3, 1, np.empty_like(data))
    Peaks().at(data.nbytes)
