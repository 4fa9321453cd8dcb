"""The reference codec `sz`: keeps every bound on every kind of array, and notices all damage."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings

from kernels import bounds, fields
from kernels.verify import compare
from tests.kernels.sz_arrays import (
    FORMATS,
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

SHAPES = [
    (),
    (0,),
    (1,),
    (31,),
    (5000,),
    (0, 5),
    (3, 1),
    (40, 3),
    (100, 31),
    (3, 900),
    (9, 10, 11),
    (5, 37, 49),
    (1, 70, 1),
    (2, 3, 4, 5),
    (2, 3, 20, 35),
]


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return codec()


# ---- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_bound_holds_for_every_shape(
    kernel: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    for bound in (0.0, 1e-7, 1e-3, 0.1, 1e3):
        require_bound(kernel, smooth(shape, dtype), bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(3001,), (60, 100), (9, 40, 50)], ids=str)
def test_the_bound_holds_with_holes_for_every_prediction(
    kernel: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> None:
    tiles = kernel.tiles
    data = with_holes(shape, dtype)
    present = sum(4 >> axis for axis, n in enumerate(tiles.flattened(shape)) if n > 1)
    for mode in (tiles.LORENZO, tiles.LINEAR, tiles.CUBIC):
        for axes in range(mode != tiles.LORENZO, 8):
            if axes & ~present:
                continue
            monkeypatch.setattr(tiles, "choose", lambda *_, pair=(mode, axes): pair)

            require_bound(kernel, data, 1e-2)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_bound_holds_where_integers_wrap_around(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    limit = 2.0**22 if dtype == np.float32 else 2.0**30
    signs = np.where(np.random.default_rng(1).random((40, 64)) < 0.5, -1.0, 1.0)

    require_bound(kernel, np.asarray(signs * (limit - 1000.0), dtype), 0.5)


@law
@given(data=arrays(), bound=anyhow)
def test_the_bound_holds_for_anything(kernel: ModuleType, data: Values, bound: float) -> None:
    require_bound(kernel, data, bound)


@pytest.mark.slow
@settings(parent=law, max_examples=3000)
@given(data=arrays(), bound=anyhow)
def test_the_bound_holds_for_anything_thousands_of_times(
    kernel: ModuleType, data: Values, bound: float
) -> None:
    require_bound(kernel, data, bound)


def test_a_bound_of_zero_keeps_every_bit(kernel: ModuleType) -> None:
    for dtype in FORMATS:
        data = with_holes((30, 40), dtype)
        data[3, :4] = -0.0
        stream = kernel.compress(data.copy(), 0.0)

        assert kernel.decompress(stream, data.shape, dtype).tobytes() == data.tobytes()


def test_smooth_values_shrink_without_loss_and_noise_does_not_grow(kernel: ModuleType) -> None:
    ramp = np.arange(5000, dtype=np.float32)
    noise = np.random.default_rng(1).integers(0, 2**32, 5000, np.uint32).view(np.float32)

    assert kernel.compress(ramp, 0.0).size < ramp.nbytes / 2
    assert kernel.compress(noise, 0.0).size <= noise.nbytes + 64


@pytest.mark.parametrize("bound", [-1.0, math.nan])
def test_a_bound_that_is_none_is_refused(kernel: ModuleType, bound: float) -> None:
    with pytest.raises(ValueError, match="abs_bound"):
        kernel.compress(np.zeros(3, np.float32), bound)


def test_other_dtypes_are_refused_by_name(kernel: ModuleType) -> None:
    with pytest.raises(NotImplementedError, match="float32 and float64"):
        kernel.compress(np.zeros(3, np.int32), 1.0)


# ---- size ----------------------------------------------------------------------------------------

SZ3 = {
    ("uk_theta", 1e-2): 23.63,
    ("uk_theta", 1e-3): 11.57,
    ("uk_theta", 1e-4): 9.16,
    ("na_temperature", 1e-2): 19.64,
    ("na_temperature", 1e-3): 10.19,
    ("na_temperature", 1e-4): 5.10,
    ("sea_surface", 1e-2): 19.54,
    ("sea_surface", 1e-4): 4.99,
    ("valley_theta", 1e-3): 6.08,
    ("valley_pressure", 1e-3): 14.93,
    ("electron_density", 1e-3): 28.80,
}
"""Ratios of pysz 1.1.0 with szAlgorithm.LORENZO_REG at a value-range relative bound."""


@pytest.mark.parametrize(("name", "rel"), SZ3)
def test_real_fields_keep_their_bound_in_fewer_bytes_than_sz3s_lorenzo(
    kernel: ModuleType, name: str, rel: float
) -> None:
    field = fields.load(name)
    bound = bounds.derive(field.data, field.info.fill_value, "rel", rel).absolute

    size = require_bound(kernel, field.data, bound)

    assert field.data.nbytes / size > 0.95 * SZ3[name, rel]


def test_what_is_constant_but_for_a_mask_costs_almost_nothing(kernel: ModuleType) -> None:
    data = np.full((300, 400), 7e5, np.float32)
    data[100:200, 50:300] = 1e20

    assert require_bound(kernel, data, 1.0) < 500


# ---- memory and threads --------------------------------------------------------------------------


def test_the_number_of_threads_changes_nothing_in_the_stream(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = with_holes((21, 150, 180), FORMATS[0])
    streams = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(numba, "get_num_threads", lambda n=threads: n)
        stream = kernel.compress(data.copy(), 1e-3)
        assert compare(data, kernel.decompress(stream, data.shape, data.dtype), 1e-3).holds
        streams.append(stream.tobytes())

    assert len(kernel.tiles.cuts((21, 150, 180))) > 2
    assert streams[0] == streams[1] == streams[2]


@pytest.mark.parametrize("shape", [(1, 1, 10**9), (1, 46341, 46341), (7, 5, 10**8), (900,) * 3])
def test_tiles_cover_an_array_of_any_size_once_and_are_small(
    kernel: ModuleType, shape: tuple[int, int, int]
) -> None:
    tiles = kernel.tiles
    cuts = tiles.cuts(shape)
    sizes = [
        math.prod(len(range(n)[piece]) for n, piece in zip(shape, cut, strict=True)) for cut in cuts
    ]

    assert sum(sizes) == math.prod(shape)
    assert len(set(map(str, cuts))) == len(cuts)
    assert max(sizes) <= tiles.TILE < 8 * max(sizes)


@pytest.mark.parametrize("shape", [(1, 1, 2**20), (1, 2**18, 4), (2**16, 4, 4), (1, 31775, 33)])
def test_the_grids_of_the_largest_tiles_have_room(
    kernel: ModuleType, shape: tuple[int, int, int]
) -> None:
    tiles = kernel.tiles
    space = tiles.Space(np.dtype(np.float32))
    rooms = [tiles.interpolation.room(tiles.interpolation.grids(shape, axes)) for axes in range(8)]

    assert math.prod(shape) <= tiles.TILE
    assert max(rooms) <= space.work.size
    assert tiles.lorenzo.room(shape) <= space.q.size


def test_results_that_are_still_held_are_not_written_over(kernel: ModuleType) -> None:
    first, second = smooth((50, 100), FORMATS[0], 1), smooth((50, 100), FORMATS[0], 2)
    stream = kernel.compress(first, 1e-2)
    decoded = kernel.decompress(stream, first.shape, first.dtype)
    before = stream.tobytes(), decoded.tobytes()

    other = kernel.compress(second, 1e-2)
    kernel.decompress(other, second.shape, second.dtype)

    assert (stream.tobytes(), decoded.tobytes()) == before


# ---- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [0.0, 1e-2])
def test_every_flipped_bit_and_every_truncation_is_noticed(
    kernel: ModuleType, bound: float
) -> None:
    data = with_holes((5, 9, 20), FORMATS[0])[:, :, :7].copy()
    stream = kernel.compress(data.copy(), bound).copy()
    for bit in range(8 * stream.size):
        stream[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"damaged|bytes|holds"):
            kernel.decompress(stream, data.shape, data.dtype)
        stream[bit // 8] ^= 1 << bit % 8
    for length in range(stream.size):
        with pytest.raises(ValueError, match=r"damaged|bytes"):
            kernel.decompress(stream[:length].copy(), data.shape, data.dtype)
    longer = np.append(stream, np.uint8(0))
    with pytest.raises(ValueError, match="bytes"):
        kernel.decompress(longer, data.shape, data.dtype)


@pytest.mark.parametrize(("shape", "dtype"), [((41,), np.float32), ((40,), np.float64)])
def test_another_size_or_dtype_is_refused(
    kernel: ModuleType, shape: tuple[int, ...], dtype: type[np.generic]
) -> None:
    for bound in (0.0, 1e-3):
        stream = kernel.compress(smooth((40,), FORMATS[0]), bound)

        with pytest.raises(ValueError, match="the stream holds"):
            kernel.decompress(stream, shape, np.dtype(dtype))


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("bound", [0.0, 1e-2, 1e3])
def test_a_hostile_stream_with_right_check_sums_ends_in_a_refusal_or_an_array(
    kernel: ModuleType, dtype: np.dtype[Any], bound: float
) -> None:
    data = with_holes((6, 20, 30), dtype)
    stream = kernel.compress(data.copy(), bound)
    head = stream[: kernel.HEADER.size].tobytes()
    piece = stream[kernel.HEADER.size + kernel.ENTRY.itemsize :].copy()
    rng = np.random.default_rng(0)
    for _ in range(150):
        broken = piece.copy()
        places = rng.integers(0, broken.size, rng.integers(1, 9))
        places[: rng.integers(0, 2)] %= 24
        broken[places] = rng.integers(0, 256, places.size)
        if rng.random() < 0.3:
            broken = broken[: rng.integers(0, broken.size)].copy()
        if rng.random() < 0.1:
            broken = np.append(broken, broken[:9])

        require_refused_or_decoded(kernel, signed(kernel, head, broken), data)


def test_every_mode_byte_is_refused_or_decoded_safely(kernel: ModuleType) -> None:
    data = with_holes((6, 20, 30), FORMATS[0])
    stream = kernel.compress(data.copy(), 1e-2)
    head = stream[: kernel.HEADER.size].tobytes()
    piece = stream[kernel.HEADER.size + kernel.ENTRY.itemsize :].copy()
    for place in (0, 1):
        for value in range(256):
            broken = piece.copy()
            broken[place] = value

            require_refused_or_decoded(kernel, signed(kernel, head, broken), data)
