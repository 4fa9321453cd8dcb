"""Seeded patterns over a grid, each element a function of its index alone.

Everything is integer hashing, additions and multiplications in double, without a library's sin or
log and without state, so that the same bits come out on every machine and in any order of work.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Array

OCTAVES, STEPS, NOISE, PARTICLES = range(4)
"""What `generate` writes."""

BOX = 256.0
"""Length of the box that particles are in."""

_SEGMENT = 4096
"""Elements of the last axis that are worked on at once; they fit in cache."""
_LEVELS = 9.0
_GROUP = 48
"""Particles in one clump."""
_TURN = 8
"""Times in which a particle moves from one place to another."""
_LAND = 0.15
"""Where the mask's pattern is above this, a field is filled: about a third of it."""

_Doubles = npt.NDArray[np.float64]


@njit(nogil=True, cache=True)
def _uniform(seed: np.uint64, a: int, b: int, c: int, d: int) -> float:
    """In [−1, 1), from a lattice point: a linear mix, then SplitMix64's (Steele, Lea, Flood)."""
    z = seed
    z += np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    z += np.uint64(c) * np.uint64(0xD6E8FEB86659FD93)
    z += np.uint64(d) * np.uint64(0xA0761D6478BD642F)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-52 - 1.0


@njit(nogil=True, cache=True)
def _eased(t: float) -> float:
    """0 to 1 with no slope and no curvature at either end, so that lattice cells join smoothly."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@njit(nogil=True, cache=True)
def _add_octave(  # noqa: PLR0913 - a hot loop's parts, unpacked
    row: _Doubles,
    line: _Doubles,
    where: npt.NDArray[np.int64],
    shape: npt.NDArray[np.int64],
    wavelength: float,
    amplitude: float,
    seed: np.uint64,
) -> None:
    """Add noise of one wavelength to the piece of a row that starts at index `where`.

    Random numbers at the points of a lattice are first blended along the outer axes, for the few
    cells of this row; then between those.
    """
    inverse = 1.0 / wavelength
    cells = np.zeros(4, np.int64)
    weights = np.zeros(4, np.float64)
    for axis in range(4):
        shift = 0.5 + 0.5 * _uniform(seed, axis, 1, 2, 3)
        place = where[axis] * inverse + shift
        cells[axis] = np.int64(place)
        weights[axis] = _eased(place - cells[axis]) if shape[axis] > 1 else 0.0
    shift = 0.5 + 0.5 * _uniform(seed, 3, 1, 2, 3)
    count = np.int64((where[3] + row.size - 1) * inverse + shift) - cells[3] + 2
    line[:count] = 0.0
    for corner in range(8):
        weight = 1.0
        for axis in range(3):
            upper = (corner >> axis) & 1
            weight *= weights[axis] if upper else 1.0 - weights[axis]
        if weight > 0.0:
            a = cells[0] + (corner & 1)
            b = cells[1] + ((corner >> 1) & 1)
            c = cells[2] + ((corner >> 2) & 1)
            for k in range(count):
                line[k] += weight * _uniform(seed, a, b, c, cells[3] + k)
    for i in range(row.size):
        place = (where[3] + i) * inverse + shift
        cell = np.int64(place)
        low = line[cell - cells[3]]
        high = line[cell - cells[3] + 1]
        row[i] += amplitude * (low + _eased(place - cell) * (high - low))


@njit(nogil=True, cache=True)
def _octaves(
    row: _Doubles,
    line: _Doubles,
    where: npt.NDArray[np.int64],
    shape: npt.NDArray[np.int64],
    waves: _Doubles,
    seed: np.uint64,
) -> None:
    """Noise of several wavelengths; `waves`: a wavelength and an amplitude in each row."""
    row[:] = 0.0
    for k in range(waves.shape[0]):
        own = seed + np.uint64(k + 1) * np.uint64(0x2545F4914F6CDD1D)
        _add_octave(row, line, where, shape, waves[k, 0], waves[k, 1], own)


@njit(nogil=True, cache=True)
def _nearly_normal(seed: np.uint64, a: int, b: int, c: int, d: int) -> float:
    """About N(0, 1): four uniform numbers, added."""
    total = 0.0
    for k in range(4):
        total += _uniform(seed + np.uint64(k) * np.uint64(0x8CB92BA72F3D8DD7), a, b, c, d)
    return total * 0.8660254037844386


@njit(nogil=True, cache=True)
def _particles(
    row: _Doubles, where: npt.NDArray[np.int64], shape: npt.NDArray[np.int64], seed: np.uint64
) -> None:
    """One coordinate of particles that are stored cell by cell, a quarter of them in clumps.

    Along the last axis they are sorted by cell only (as after a domain decomposition); along the
    axes before it time passes, and each drifts with a velocity of its own.
    """
    time = (where[0] * shape[1] + where[1]) * shape[2] + where[2]
    cells = max(shape[3] // 512, 1)
    width = BOX / cells
    turn = time // _TURN
    ease = _eased((time - turn * _TURN) / _TURN)
    for i in range(row.size):
        p = where[3] + i
        cell = p * cells // shape[3]
        inside = 0.5 + 0.5 * _uniform(seed, p, 0, 0, 1)
        group = p // _GROUP
        if _uniform(seed, group, 0, 0, 2) < -0.5:
            centre = 0.5 + 0.5 * _uniform(seed, group, 0, 0, 3)
            inside = centre + 0.01 * _nearly_normal(seed, p, 0, 0, 4)
        before, after = _uniform(seed, p, turn, 0, 5), _uniform(seed, p, turn + 1, 0, 5)
        moved = 0.02 * (before + ease * (after - before))
        row[i] = (cell + inside + moved) * width


@njit(nogil=True, cache=True)
def _pattern(  # noqa: PLR0913 - a hot loop's parts, unpacked
    row: _Doubles,
    line: _Doubles,
    where: npt.NDArray[np.int64],
    shape: npt.NDArray[np.int64],
    what: int,
    waves: _Doubles,
    seed: np.uint64,
) -> None:
    """Write a piece of a row."""
    if what == PARTICLES:
        _particles(row, where, shape, seed)
    elif what == NOISE:
        for i in range(row.size):
            row[i] = _nearly_normal(seed, where[0], where[1], where[2], where[3] + i)
    else:
        _octaves(row, line, where, shape, waves, seed)
    if what == STEPS:
        for i in range(row.size):
            level = int(np.floor(row[i] * _LEVELS))
            row[i] = 100.0 * _uniform(seed, level, 7, 7, 7)


@njit(nogil=True, cache=True)
def generate(  # noqa: PLR0913 - one hot loop: everything it needs, unpacked
    out: Array,
    what: int,
    waves: _Doubles,
    offset: float,
    seed: int,
    mask_waves: _Doubles,
    fill: float,
) -> None:
    """Write a pattern plus `offset` into a 4-D array, and `fill` where the mask is land.

    The mask varies along the last two axes, as land does; no `mask_waves`, no land.
    """
    shape = np.array(out.shape, np.int64)
    where = np.zeros(4, np.int64)
    part = np.empty(min(_SEGMENT, out.shape[3]), np.float64)
    line = np.empty(_SEGMENT + 3, np.float64)
    own = np.uint64(seed) * np.uint64(0xF1357AEA2E62A9C5) + np.uint64(what)
    mask_seed = own ^ np.uint64(0x5851F42D4C957F2D)
    rows = out.reshape(-1, out.shape[3])
    for r in range(rows.shape[0]):
        where[2] = r % shape[2]
        for start in range(0, rows.shape[1], _SEGMENT):
            where[3] = start
            where[1] = r // shape[2] % shape[1]
            where[0] = r // shape[2] // shape[1]
            target = rows[r, start : start + _SEGMENT]
            piece = part[: target.size]
            _pattern(piece, line, where, shape, what, waves, own)
            for i in range(target.size):
                target[i] = piece[i] + offset
            if mask_waves.shape[0] > 0:
                where[0], where[1] = 0, 0
                _octaves(piece, line, where, shape, mask_waves, mask_seed)
                for i in range(target.size):
                    if piece[i] > _LAND:
                        target[i] = fill
