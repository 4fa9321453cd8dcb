"""Planes fitted to blocks, in the reference codec `sz`: exact, chosen where they are cheapest."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.bounds import derive
from kernels.random_cases import random_cases
from kernels.suite import bound_suite, core_suite
from kernels.verify import compare
from tests.kernels.sz_arrays import (
    FORMATS,
    Bytes,
    Values,
    anyhow,
    arrays,
    codec,
    law,
    require_bound,
    require_refused_or_decoded,
    signed,
    smooth,
    with_holes,
)

Numbers = npt.NDArray[np.int32]

SHAPES = [
    (1,),
    (127,),
    (300,),
    (11, 12),
    (13, 49),
    (700, 2),
    (2, 3, 3),
    (8, 8, 8),
    (9, 17, 23),
    (3, 5, 8, 9),
]
LEADING_BYTES = 48 + 8
"""Header and table of a stream of one tile."""
HIGHEST = 2**31 - 1


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return codec()


@pytest.fixture
def planes(kernel: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The kernel, with planes for every tile, whatever a sample says."""
    monkeypatch.setattr(kernel.tiles, "choose", lambda *_: (kernel.tiles.REGRESSION, 0))
    return kernel


def trend(shape: tuple[int, ...], noise: float, seed: int = 0) -> Values:
    """A ramp of a few steps for each value, and normal noise; a step is almost 1."""
    axes = np.indices(shape).astype(float)
    ramp = sum(slope * axis for slope, axis in zip((3.0, -1.7, 2.3), axes, strict=False))
    values = ramp + noise * np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(values, np.float32)


BOUND = 0.5


def modes(kernel: ModuleType, data: Values, bound: float) -> set[int]:
    """How the tiles of an array are coded."""
    stream = kernel.compress(data.copy(), bound)
    count = len(kernel.tiles.cuts(kernel.tiles.flattened(data.shape)))
    sizes = np.frombuffer(stream[48 : 48 + 8 * count].tobytes(), np.uint32)[::2]
    starts = 48 + 8 * count + np.cumsum(sizes) - sizes
    return {int(stream[start]) & 127 for start in starts}


# ---- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_bound_holds_with_planes_in_blocks_of_every_shape(
    planes: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    for bound in (1e-7, 1e-3, 0.1, 1e3):
        require_bound(planes, smooth(shape, dtype), bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(3001,), (60, 100), (9, 40, 50)], ids=str)
def test_the_bound_holds_with_planes_around_holes(
    planes: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    require_bound(planes, with_holes(shape, dtype), 1e-2)


def test_the_bound_holds_with_planes_on_the_whole_suite(planes: ModuleType) -> None:
    for case in (*core_suite(), *bound_suite(), *random_cases(7, 60)):
        asked = case.abs_bound
        bound = derive(case.data, case.fill_value, "rel", 1e-3).absolute if asked is None else asked

        require_bound(planes, case.data, bound)


@law
@given(data=arrays(), bound=anyhow)
def test_the_bound_holds_with_planes_for_anything(
    kernel: ModuleType, data: Values, bound: float
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel.tiles, "choose", lambda *_: (kernel.tiles.REGRESSION, 0))
        require_bound(kernel, data, bound)


@pytest.mark.parametrize("shape", [(4000,), (40, 64), (9, 20, 30)], ids=str)
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_bound_holds_with_planes_where_integers_wrap_around(
    planes: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    limit = (2.0**22 if dtype == np.float32 else 2.0**30) - 1000.0
    signs = np.where(np.random.default_rng(1).random(shape) < 0.5, -1.0, 1.0)
    steep = np.linspace(-limit, limit, math.prod(shape)).reshape(shape)
    sides = np.where(np.indices(shape)[-1] % 8 < 4, -limit, limit)

    for data in (signs * limit, steep, sides, np.full(shape, limit)):
        require_bound(planes, np.asarray(data, dtype), 0.5)


# ---- planes --------------------------------------------------------------------------------------


def encoded(kernel: ModuleType, q: Numbers, shape: tuple[int, int, int]) -> tuple[Numbers, Numbers]:
    """Codes of whole numbers, and the coefficients of their planes."""
    regression = kernel.tiles.regression
    codes, numbers = np.empty(q.size, np.int32), np.empty(q.size, np.int32)
    coefficients = np.empty((4, math.prod(regression.grid(shape))), np.int32)
    scale = tuple(np.float64(v) for v in (1.0, 1.0, 0.5, 2.0**30, 1.5 * 2.0**52))
    work = q.astype(np.float64)
    missed = regression.encode(
        work, shape, regression.blocks(shape), numbers, codes, coefficients, scale
    )
    assert not missed
    return codes, coefficients


@pytest.mark.parametrize("shape", [(1, 1, 300), (1, 30, 40), (17, 9, 20)])
def test_a_plane_leaves_no_code_and_its_coefficients_are_alike_in_all_blocks(
    kernel: ModuleType, shape: tuple[int, int, int]
) -> None:
    z, y, x = np.indices(shape)
    codes, coefficients = encoded(kernel, (5 * x - 4 * y + 3 * z + 7).reshape(-1), shape)

    fraction = kernel.tiles.regression.blocks(shape)[3]
    # Half of what a value differs from the next, since X, Y and Z count by twos.
    slopes = [2.5 * 2**fraction, -2 * 2**fraction, 1.5 * 2**fraction]
    wanted = [slope if n > 1 else 0 for slope, n in zip(slopes, shape[::-1], strict=True)]
    assert not codes.any()
    # A block of a single value along an axis has no slope along it.
    for found, slope in zip(coefficients[1:], wanted, strict=True):
        assert set(found.tolist()) <= {slope, 0}
        assert slope in found.tolist()


@pytest.mark.parametrize("shape", [(1, 1, 16), (1, 1, 300), (1, 30, 41), (9, 8, 13)])
def test_codes_and_any_coefficients_give_the_numbers_back_modulo_2_to_32(
    kernel: ModuleType, shape: tuple[int, int, int]
) -> None:
    regression, n = kernel.tiles.regression, math.prod(shape)
    rng = np.random.default_rng(3)
    blocks, sizes = math.prod(regression.grid(shape)), regression.blocks(shape)
    codes = rng.integers(-HIGHEST - 1, HIGHEST, n, np.int32, endpoint=True)
    for high in (100, 1 << 20, HIGHEST):
        coefficients = rng.integers(-high - 1, high, (4, blocks), np.int32, endpoint=True)
        work = np.full(n + 32, 77.0)
        regression.decode(work[:n], shape, sizes, codes, coefficients, np.float64(1))

        assert (work[n:] == 77.0).all()
        np.testing.assert_array_equal(work[:n], plain(shape, sizes, codes, coefficients))


def plain(
    shape: tuple[int, int, int], sizes: tuple[int, ...], codes: Numbers, coefficients: Numbers
) -> npt.NDArray[np.int64]:
    """The same in Python's integers."""
    numbers, bits = np.arange(math.prod(shape)).reshape(shape), sizes[3]
    counts = [-(-n // size) for n, size in zip(shape, sizes, strict=False)]
    found = np.empty(numbers.size, np.int64)
    for block, corner in enumerate(np.ndindex(*counts)):
        cut = tuple(slice(i * size, (i + 1) * size) for i, size in zip(corner, sizes, strict=False))
        b0, *slopes = (int(b) for b in coefficients[:, block])
        inside = numbers[cut]
        for place, number in np.ndenumerate(inside):
            level = b0 << bits >> 3
            for slope, i, n in zip(slopes, place[::-1], inside.shape[::-1], strict=True):
                level += slope * (2 * i - n + 1)
            # Along x, sixteen values at once wrap around by themselves.
            x, n = place[2], inside.shape[2]
            start = level - slopes[0] * 2 * (x % 16) + (1 << (bits - 1))
            whole, part = start >> bits, start & ((1 << bits) - 1)
            along = wrapped(part + wrapped(slopes[0] * 2 * (x % 16))) >> bits
            found[number] = wrapped(int(codes[number]) + whole + along)
    return found


def wrapped(value: int) -> int:
    return (value + HIGHEST + 1) % (1 << 32) - HIGHEST - 1


@law
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 400)),
    high=st.sampled_from([0, 9, 1000, HIGHEST]),
)
def test_coefficients_come_back_from_their_differences(
    kernel: ModuleType, seed: int, shape: tuple[int, int, int], high: int
) -> None:
    regression = kernel.tiles.regression
    rng = np.random.default_rng(seed)
    size = 4, math.prod(regression.grid(shape))
    coefficients = rng.integers(-high - 1, high, size, np.int32, endpoint=True)

    codes = regression.differenced(coefficients, shape)

    assert codes.dtype == np.int32
    np.testing.assert_array_equal(regression.summed(codes, shape), coefficients)


def test_holes_do_not_bend_the_planes_of_their_neighbours(planes: ModuleType) -> None:
    noise, rng = trend((120, 120), 2.0), np.random.default_rng(4)
    masked = noise.copy()
    masked[30:60, 20:90] = 1e20
    spikes = noise.copy()
    spikes[rng.random(noise.shape) < 0.02] = 1e20

    whole = require_bound(planes, noise, BOUND)

    assert require_bound(planes, masked, BOUND) < whole
    assert require_bound(planes, spikes, BOUND) < 1.12 * whole


# ---- choice --------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.7, 1.0, 4.0, 20.0, 60.0])
@pytest.mark.parametrize("shape", [(120_000,), (300, 400), (40, 48, 64)], ids=str)
def test_planes_are_chosen_for_noise_on_a_trend_and_take_fewest_bytes(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], noise: float
) -> None:
    tiles = kernel.tiles
    data = trend(shape, noise)
    assert modes(kernel, data, BOUND) == {tiles.REGRESSION}
    size = require_bound(kernel, data, BOUND)

    axes = [7, 6, 3, 2, 4, 1, 5] if len(shape) == 3 else [3, 1, 2] if len(shape) == 2 else [1]
    others = [(mode, a) for mode in (tiles.LORENZO, tiles.LINEAR, tiles.CUBIC) for a in axes]
    for pair in [*others, (tiles.LORENZO, 0)]:
        monkeypatch.setattr(tiles, "choose", lambda *_, pair=pair: pair)
        assert size < kernel.compress(data.copy(), BOUND).size, pair


def test_planes_save_a_tenth_of_the_bytes_where_noise_is_as_large_as_a_step(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = trend((64, 64, 64), 1.0)
    size = kernel.compress(data.copy(), BOUND).size
    monkeypatch.setitem(kernel.tiles.choose.__globals__, "noisy", lambda *_: False)

    assert size < 0.9 * kernel.compress(data.copy(), BOUND).size


@pytest.mark.parametrize("shape", [(120_000,), (300, 400), (40, 48, 64)], ids=str)
def test_planes_are_not_chosen_without_noise_or_without_a_trend(
    kernel: ModuleType, shape: tuple[int, ...]
) -> None:
    tiles = kernel.tiles
    calm = smooth(shape, FORMATS[0])
    walk = np.random.default_rng(5).standard_normal(shape)
    for axis in range(len(shape)):
        walk = walk.cumsum(axis)

    assert tiles.REGRESSION not in modes(kernel, calm, 1e-2)
    assert tiles.REGRESSION not in modes(kernel, np.asarray(walk, np.float32), 0.1)


def test_noise_alone_is_not_predicted_at_all(kernel: ModuleType) -> None:
    tiles = kernel.tiles
    noise = np.random.default_rng(6).standard_normal(150_000).astype(np.float32)
    stream = kernel.compress(noise.copy(), 0.05)
    start = 48 + 8 * len(tiles.cuts(tiles.flattened(noise.shape)))

    assert (stream[start] & 127, stream[start + 1] & 7) == (tiles.LORENZO, 0)


def test_a_sample_without_values_chooses_no_planes(kernel: ModuleType) -> None:
    data = trend((60, 300, 400), 3.0)[:8]
    data[:, :, :-3] = np.nan

    require_bound(kernel, data, BOUND)

    assert kernel.tiles.REGRESSION not in modes(kernel, data, BOUND)


def test_the_number_of_threads_changes_nothing_in_a_stream_of_planes(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = trend((21, 150, 180), 1.0)
    data[3:9, 40:90, 60:70] = 1e20
    streams = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(numba, "get_num_threads", lambda n=threads: n)
        stream = kernel.compress(data.copy(), BOUND)
        assert compare(data, kernel.decompress(stream, data.shape, data.dtype), BOUND).holds
        streams.append(stream.tobytes())

    assert modes(kernel, data, BOUND) == {kernel.tiles.REGRESSION}
    assert streams[0] == streams[1] == streams[2]


# ---- damage --------------------------------------------------------------------------------------


def test_every_flipped_bit_and_every_truncation_of_planes_is_noticed(planes: ModuleType) -> None:
    data = with_holes((5, 9, 20), FORMATS[0])[:, :, :7].copy()
    stream = planes.compress(data.copy(), 1e-2).copy()
    for bit in range(8 * stream.size):
        stream[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"damaged|bytes|holds"):
            planes.decompress(stream, data.shape, data.dtype)
        stream[bit // 8] ^= 1 << bit % 8
    for length in range(stream.size):
        with pytest.raises(ValueError, match=r"damaged|bytes"):
            planes.decompress(stream[:length].copy(), data.shape, data.dtype)


def tile_of(stream: Bytes) -> tuple[bytes, Bytes]:
    """The header of a stream of one tile, and the tile."""
    return stream[:48].tobytes(), stream[LEADING_BYTES:].copy()


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(700,), (30, 40), (6, 20, 30)], ids=str)
def test_hostile_planes_with_right_check_sums_end_in_a_refusal_or_an_array(
    planes: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    data = with_holes(shape, dtype) if math.prod(shape) > 1000 else smooth(shape, dtype)
    head, piece = tile_of(planes.compress(data.copy(), 1e-2))
    rng = np.random.default_rng(0)
    for _ in range(150):
        broken = piece.copy()
        places = rng.integers(0, broken.size, rng.integers(1, 9))
        # Most of them where the coefficients are.
        places[: rng.integers(0, 6)] %= 90
        broken[places] = rng.integers(0, 256, places.size)
        if rng.random() < 0.2:
            broken = broken[: rng.integers(0, broken.size)].copy()

        require_refused_or_decoded(planes, signed(planes, head, broken), data)


def test_planes_of_another_count_or_with_axes_are_refused(planes: ModuleType) -> None:
    data = smooth((9, 20, 30), FORMATS[0])
    head, piece = tile_of(planes.compress(data.copy(), 1e-2))
    other = planes.compress(smooth((9, 20, 80), FORMATS[0]), 1e-2)[LEADING_BYTES:].copy()
    for axes in range(1, 8):
        broken = piece.copy()
        broken[1] |= axes
        with pytest.raises(ValueError, match="has no set of axes"):
            planes.decompress(signed(planes, head, broken), data.shape, data.dtype)

    with pytest.raises(ValueError, match=r"damaged|bytes"):
        planes.decompress(signed(planes, head, other), data.shape, data.dtype)
