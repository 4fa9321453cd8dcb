"""Arrays, laws and checks that tests of the reference codec `sz` share."""

from __future__ import annotations

import math
import zlib
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels.verify import compare
from tests.kernels.submissions import loaded

Values = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

FORMATS: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]

law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def codec() -> ModuleType:
    """The submission, compiled once for all tests of a process."""
    with loaded("sz-open", "sz") as module:
        return module


def smooth(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> Values:
    """Waves along every axis, a little noise."""
    total = np.full(shape, 280.0)
    for axis, length in enumerate(shape):
        wave = np.sin(np.arange(length) * (axis + 3) / 40.0)
        total += wave.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(total + 1e-3 * noise, dtype)


def with_holes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Values:
    """The same, with a coast of fill values, single spikes and non-finite values."""
    data = smooth(shape, dtype)
    flat = data.reshape(-1)
    flat[:40] = flat[100:132] = flat[-20:] = dtype.type(1e20)
    flat[flat.size // 2 : flat.size // 2 + 400 : 3] = dtype.type(1e20)
    flat[[50, 99]] = np.nan
    flat[[60, 61]] = np.inf, -np.inf
    flat[7::211] += dtype.type(500)
    return data


def require_bound(kernel: ModuleType, data: Values, bound: float) -> int:
    """Round trip and exact check; the stream's bytes."""
    stream = kernel.compress(data.copy(), bound)
    decoded = kernel.decompress(stream, data.shape, data.dtype)
    comparison = compare(data, decoded, bound)
    assert comparison.holds, comparison
    return int(stream.size)


def special(dtype: np.dtype[Any]) -> st.SearchStrategy[float]:
    edge = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e20, -1e20, 1e-40, 3e38, 2.0**21, 0.5]
    any_float = st.floats(width=32) if dtype == np.float32 else st.floats(width=64)
    return st.one_of(
        st.sampled_from([float(np.asarray(v, dtype)) for v in edge]),
        st.floats(-4, 4, width=32),
        any_float,
    )


@st.composite
def arrays(draw: st.DrawFn) -> Values:
    dtype = draw(st.sampled_from(FORMATS))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12))
    shape = (*shape[:-1], shape[-1] * draw(st.sampled_from([1, 7]))) if shape else shape
    pool = np.array(draw(st.lists(special(dtype), min_size=1, max_size=6)), dtype)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = smooth(shape, dtype, seed=int(rng.integers(1 << 30)))
    rare = rng.random(shape) < draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    return np.asarray(np.where(rare, rng.choice(pool, shape), data), dtype)


anyhow = st.one_of(
    st.just(0.0),
    st.sampled_from([1e-12, 1e-6, 1e-3, 0.1, 1.0, 1e30, 1e-45, 1e300]),
    st.floats(0, 8),
)


def signed(kernel: ModuleType, head: bytes, piece: Bytes) -> Bytes:
    """A stream of one tile with the right check sums, whatever the tile is."""
    entry = np.array([(piece.size, zlib.crc32(piece.tobytes()))], kernel.ENTRY).tobytes()
    rest = head[8 : kernel.HEADER.size] + entry
    front = head[:4] + zlib.crc32(rest).to_bytes(4, "little") + rest
    return np.concatenate([np.frombuffer(front, np.uint8), piece])


def require_refused_or_decoded(kernel: ModuleType, stream: Bytes, like: Values) -> None:
    """Any values will do, as long as nothing behind the tile's own memory is written."""
    tiles = kernel.tiles
    space = tiles.Space(like.dtype)
    n = like.size
    flat = tiles.flattened(like.shape)
    grids = [tiles.interpolation.grids(flat, axes) for axes in range(8)]
    room = max(tiles.interpolation.room(plan) for plan in grids)
    behind = [space.work[room:], space.codes[n:], space.kinds[n:]]
    behind.append(space.q[tiles.lorenzo.room(flat) :])
    for part in behind:
        part[:] = 77
    kernel._spaces[:] = [space]
    try:
        decoded = kernel.decompress(stream, like.shape, like.dtype)
        assert decoded.shape == like.shape
    except ValueError:
        pass
    assert all((part == 77).all() for part in behind)
