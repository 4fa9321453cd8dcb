"""Cases that nobody has seen before: small arrays of every character, from a seed.

A kernel can be made to pass a suite that never changes; these are new in every verification. The
seed is in a case's name, so that `random_case(name)` makes the same array again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.records import Array
from kernels.suite import LAND, SuiteCase

COUNT = 24
"""Cases of one seed."""
SEEDS = 1 << 32

Rng = np.random.Generator
_SINGLE: np.dtype[Any] = np.dtype(np.float32)
_DOUBLE: np.dtype[Any] = np.dtype(np.float64)

_NAME = re.compile(r"random:(\d+):(\d+)(?:@.*)?")
_ENDS = (1, 2, 3, 31, 33, 97, 127, 129, 257, 1021, 2049, 4097)
_MOST = {1: 4099, 2: 61, 3: 15}
"""Of the length of one side, by the number of dimensions."""
_DOUBLE_SHARE, _OWN_BOUND_SHARE, _AFFLICTED_SHARE = 0.2, 0.25, 0.5


def random_cases(seed: int, count: int = COUNT) -> tuple[SuiteCase, ...]:
    """The first `count` cases of a seed; the same ones every time."""
    return tuple(_case(seed, index) for index in range(count))


def random_case(name: str) -> SuiteCase:
    """The case of this name: `random:SEED:INDEX`, with or without its bound. Raises ValueError."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no name of a random case: it is random:SEED:INDEX")
    return _case(int(found[1]), int(found[2]))


def _case(seed: int, index: int) -> SuiteCase:
    rng = np.random.default_rng([seed, index])
    shape, dtype = _shape(rng), _SINGLE
    if len(shape) < 3 and rng.random() < _DOUBLE_SHARE:
        dtype = _DOUBLE
    size = math.prod(shape)
    values = _mixed(rng, size)
    with np.errstate(over="ignore"):
        data = (values * _scale(rng) + _offset(rng)).astype(dtype)
    if rng.random() < 0.15:
        data = _raw_bits(rng, size, dtype)
    spread = _spread(data)
    fill = _afflict(rng, data) if rng.random() < _AFFLICTED_SHARE else None
    data = data.reshape(shape)
    data.flags.writeable = False
    bound = _bound(rng, spread) if rng.random() < _OWN_BOUND_SHARE else None
    name = f"random:{seed}:{index}" + ("" if bound is None else f"@{bound!r}")
    core = dtype == _SINGLE and bound is None
    return SuiteCase(name, data, core, fill, bound)


def _shape(rng: Rng) -> tuple[int, ...]:
    ndim = int(rng.integers(1, 4))
    if ndim == 1 and rng.random() < 0.5:
        return (int(rng.choice(_ENDS)),)
    return tuple(int(n) for n in rng.integers(1, _MOST[ndim] + 1, ndim))


def _scale(rng: Rng) -> float:
    return float(10 ** rng.uniform(-38, 35)) if rng.random() < 0.3 else 1.0


def _offset(rng: Rng) -> float:
    return float(rng.choice([-1, 1]) * 10 ** rng.uniform(0, 8)) if rng.random() < 0.3 else 0.0


def _smooth(rng: Rng, size: int) -> Array:
    place = np.arange(size) / rng.uniform(2, 200)
    return np.asarray(np.sin(place + rng.uniform(0, 6)) + 0.3 * np.cos(3.1 * place))


def _noise(rng: Rng, size: int) -> Array:
    return rng.standard_normal(size)


def _walk(rng: Rng, size: int) -> Array:
    return rng.standard_normal(size).cumsum()


def _steps(rng: Rng, size: int) -> Array:
    lengths = rng.integers(1, 70, size)
    return np.asarray(np.repeat(rng.integers(-40, 40, size) / 4, lengths)[:size])


def _grid(rng: Rng, size: int) -> Array:
    """Multiples of one number: values in the middle and on the border of bins."""
    step = float(rng.choice([1.0, 0.5, 0.125, 0.1, 1e-3]))
    return np.asarray(rng.integers(-500, 501, size) * step)


def _magnitudes(rng: Rng, size: int) -> Array:
    signs, exponents = rng.choice([-1.0, 1.0], size), rng.integers(-40, 40, size)
    return np.asarray(np.ldexp(signs, exponents) * rng.uniform(1, 2, size))


def _spikes(rng: Rng, size: int) -> Array:
    return rng.normal(0, 1000, size) * (rng.random(size) < 0.02)


def _constant(rng: Rng, size: int) -> Array:
    return np.full(size, rng.normal(0, 100))


_CHARACTERS: tuple[Callable[[Rng, int], Array], ...] = (
    _smooth, _noise, _walk, _steps, _grid, _magnitudes, _spikes, _constant,
)  # fmt: skip


def _mixed(rng: Rng, size: int) -> Array:
    """One character, or runs of two."""
    first, second = (_CHARACTERS[int(i)] for i in rng.integers(0, len(_CHARACTERS), 2))
    values = first(rng, size)
    if rng.random() < 0.5:
        return values
    return np.where(_runs(rng, size), second(rng, size), values)


def _runs(rng: Rng, size: int) -> npt.NDArray[np.bool_]:
    """Runs of both truth values, from single elements to hundreds."""
    lengths = np.ceil(2 ** rng.uniform(0, 9, size)).astype(np.int64)
    return np.repeat(np.arange(size) % 2 == 0, lengths)[:size]


def _raw_bits(rng: Rng, size: int, dtype: np.dtype[Any]) -> Array:
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).copy()


def _spread(data: Array) -> float:
    """About how far the values are apart; above 0."""
    finite = np.abs(data[np.isfinite(data)].astype(np.float64))
    return float(np.median(finite)) if finite.size and np.median(finite) > 0 else 1.0


def _afflict(rng: Rng, data: Array) -> float | None:
    """Write values over some of `data` that are not numbers, or stand for nothing.

    Returns the fill value, if one is declared.
    """
    hit = _runs(rng, data.size) if rng.random() < 0.3 else rng.random(data.size) < 0.05
    value = float(rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e30, 1e35, LAND]))
    data[hit] = value
    if rng.random() < 0.3:
        data[rng.random(data.size) < 0.03] = rng.choice([np.nan, np.inf, -np.inf])
    return LAND if value == LAND and rng.random() < 0.5 else None


def _bound(rng: Rng, spread: float) -> float:
    """From far below the values to above them; now and then of any size."""
    if rng.random() < 0.2:
        return float(10 ** rng.uniform(-45, 38))
    return min(max(spread * float(10 ** rng.uniform(-9, 1)), 5e-324), 1e308)
