"""FZ-GPU (hipdac-lab/FZ-GPU): prediction, bit shuffle with removal of zeros, and their inverses."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Array
from tests.public.checkouts import ORDERS, File, Program, check_engines, described
from tests.simulators.simt.launching import needs_clang

pytestmark = [pytest.mark.slow, needs_clang]
BOUND = 1e-3
C1, X1 = (
    "c_lorenzo_1d1l<float, unsigned short, float, 256, 4>",
    "x_lorenzo_1d1l<float, unsigned short, float, 256, 8>",
)
C2, X2 = (f"{way}_lorenzo_2d1l_16x16data_mapto16x2<float, unsigned short, float>" for way in "cx")
C3, X3 = (
    f"{way}_lorenzo_3d1l_32x8x8data_mapto32x1x8<float, unsigned short, float>" for way in "cx"
)
FILE = File(
    "hipdac-lab/FZ-GPU",
    "src/fz.cu",
    ("include", "include/kernel", "include/utils"),
    (
        ("compressionFusedKernel", (32, 32, 1)),
        ("decompressionFusedKernel", (32, 32, 1)),
        (C1, (64, 1, 1)),
        (X1, (32, 1, 1)),
        (C2, (16, 2, 1)),
        (X2, (16, 2, 1)),
        (C3, (32, 1, 8)),
        (X3, (32, 1, 8)),
    ),
)
# Kernels there and back, the part of the field that a block does, and the tile that it predicts in.
STAGES = {
    1: (C1, X1, (256,), (256,)),
    2: (C2, X2, (16, 16), (16, 16)),
    3: (C3, X3, (8, 8, 32), (8, 8, 8)),
}
SHAPES = {1: (5000,), 2: (50, 70), 3: (11, 20, 45)}


def smooth(shape: tuple[int, ...]) -> Array:
    """A field that is rough in places."""
    axes = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    noise = np.random.default_rng(5).normal(0, 0.01, shape)
    return (np.sin(sum(axes)) + noise * (axes[0] > 2)).astype(np.float32)


def rounded(x: Array) -> Array:
    """To whole numbers, halves away from zero."""
    wide = x.astype(np.float64)
    return np.copysign(np.floor(np.abs(wide) + 0.5), wide)


def predicted(whole: Array, tile: tuple[int, ...]) -> Array:
    """Differences along every axis, none across the borders of tiles."""
    for axis, side in enumerate(tile):
        before = np.roll(whole, 1, axis)
        first = np.arange(whole.shape[axis]) % side == 0
        shape = [-1 if other == axis else 1 for other in range(whole.ndim)]
        whole = whole - np.where(first.reshape(shape), 0, before)
    return whole


def lengths(*sizes: int) -> bytes:
    """A dim3."""
    return np.asarray(sizes, np.uint32).tobytes()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("axes", STAGES)
def test_prediction_and_its_inverse_are_those_of_numpy(axes: int, order: str) -> None:
    program = Program(FILE, ORDERS[order])
    there, back, part, tile = STAGES[axes]
    field = smooth(SHAPES[axes])
    sizes = (*field.shape[::-1], 1, 1)[:3]
    size, leap = lengths(*sizes), lengths(1, sizes[0], sizes[0] * sizes[1])
    grid = (*(-(-n // p) for n, p in zip(field.shape, part, strict=True)),)[::-1]
    grid = (*grid, 1, 1)[:3]
    # The last block of the 1-D inverse reads and writes whole tiles.
    room = field.size + 256
    codes, signs = np.zeros(room, np.uint16), np.zeros(room, np.bool_)
    back_again = np.zeros(room, np.float32)
    program.run(there, grid, field, codes, signs, size, leap, np.float32(1 / (2 * BOUND)))
    whole = rounded(field * np.float32(1 / (2 * BOUND)))
    deltas = predicted(whole, tile)
    wanted = np.abs(deltas).astype(np.uint16) | ((deltas < 0).astype(np.uint16) << 15)
    np.testing.assert_array_equal(codes[: field.size].reshape(field.shape), wanted)
    program.run(back, grid, signs, codes, back_again, size, leap, np.float32(2 * BOUND))
    restored = back_again[: field.size].reshape(field.shape)
    np.testing.assert_array_equal(restored, whole.astype(np.float32) * np.float32(2 * BOUND))
    assert np.abs(restored - field).max() <= BOUND * 1.01


@pytest.mark.parametrize("order", ORDERS)
def test_the_bit_shuffle_keeps_what_is_not_zero_and_comes_back(order: str) -> None:
    program, chunks = Program(FILE, ORDERS[order]), 7
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 1 << rng.integers(0, 12, chunks)[:, None], (chunks, 2048))
    words = codes.astype(np.uint16).view(np.uint32)
    out, again = np.zeros_like(words), np.full_like(words, 77)
    counter, flags = np.zeros(1, np.uint32), np.zeros((chunks, 8), np.uint32)
    starts, sizes = np.zeros(chunks, np.uint32), np.zeros(chunks, np.uint32)
    program.run("compressionFusedKernel", chunks, words, out, counter, flags, starts, sizes)
    for chunk in range(chunks):
        kept, flagged = shuffled(words[chunk])
        np.testing.assert_array_equal(flags[chunk], flagged)
        assert sizes[chunk] * 4 == kept.size
        np.testing.assert_array_equal(out.ravel()[starts[chunk] :][: kept.size], kept)
    assert counter[0] == 4 * sizes.sum()
    in_order = np.argsort(starts, kind="stable")
    ends = np.cumsum(4 * sizes[in_order])
    assert ((starts + 4 * sizes)[in_order] == ends).all()
    program.run("decompressionFusedKernel", chunks, out, again, flags, starts)
    np.testing.assert_array_equal(again, words)


def shuffled(words: Array) -> tuple[Array, Array]:
    """Bit planes of 1024 words, four words at a time unless all are zero; which ones, as bits."""
    bits = (words.reshape(32, 1, 32) >> np.arange(32, dtype=np.uint32)[:, None]) & np.uint32(1)
    weights = np.uint32(1) << np.arange(32, dtype=np.uint32)
    planes = (bits * weights).sum(2, dtype=np.uint32).T.reshape(256, 4)
    some = planes.any(1)
    return planes[some].ravel(), (some.reshape(8, 32) * weights).sum(1, dtype=np.uint32)


def test_all_of_its_kernels_are_looped() -> None:
    assert {one.name for one in described(FILE).kernels} == {name for name, _ in FILE.blocks}
    check_engines([FILE], {})
