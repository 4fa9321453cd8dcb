"""The computed benchmark field: smooth waves in three directions, a little noise, 64 MiB."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def waves(n: int) -> npt.NDArray[np.float32]:
    """sin(7x + 3y)·cos(5z − 2x) + 0.3·sin(40yz) + 0.001·N(0, 1), x y z = index/n, in double.

    Plane by plane along x, so that only one plane exists in double; the noise is drawn in C order.
    """
    noise = np.random.default_rng(0)
    axis = np.arange(n) / n
    y, z = axis[:, None], axis[None, :]
    ripples = 0.3 * np.sin(40 * y * z)
    out = np.empty((n, n, n), np.float32)
    for plane, x in zip(out, axis, strict=True):
        smooth = np.sin(7 * x + 3 * y) * np.cos(5 * z - 2 * x) + ripples
        plane[:] = smooth + 0.001 * noise.standard_normal((n, n))
    return out
