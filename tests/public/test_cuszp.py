"""cuSZp (szcompressor/cuSZp): its three modes for fields of one to three axes, float32 and float64.

What is expected: its streams of the modes `fixed` and `plain`, written here from what its kernels
do, byte by byte; of `outlier` the values that come back, and that no stream is longer than a plain
one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from kernels.records import Array
from tests.public.checkouts import ORDERS, File, Program, check_engines, described, on_device
from tests.simulators.simt.launching import needs_clang

pytestmark = [pytest.mark.slow, needs_clang]
MODES = ("fixed", "plain", "outlier")
KINDS = {"f32": np.float32, "f64": np.float64}
BOUND = 1e-3
THREADS = 32
TILES = {1: (32,), 2: (8, 8), 3: (4, 4, 4)}
"""What is predicted and packed together."""
TILES_OF_A_BLOCK = {1: 32 * 32, 2: 32 * 16, 3: 32 * 16}
SHAPES = {
    1: ((70_000,), (2 * 32_768 + 37,)),
    2: ((200, 184), (3, 131, 140)),
    3: ((40, 40, 48), (33, 35, 36)),
}
"""Of whole tiles, and not; rows are of whole vectors of four, as its kernels want it."""


@dataclass(frozen=True)
class Codec:
    """Its kernels for one mode, number of axes and type."""

    axes: int
    kind: str
    mode: str

    @property
    def file(self) -> File:
        """Where they are."""
        names = [self.kernel(way, mode) for mode in MODES for way in ("compress", "decompress")]
        return File(
            "szcompressor/cuSZp",
            f"src/cuSZp_kernels_{self.axes}D_{self.kind}.cu",
            ("include/cuSZp",),
            tuple((name, (THREADS, 1, 1)) for name in names),
        )

    def kernel(self, way: str, mode: str = "") -> str:
        """A name."""
        vectors = "" if self.axes == 1 else "vec4_"
        return f"cuSZp_{way}_kernel_{self.axes}D_{mode or self.mode}_{vectors}{self.kind}"

    def grid(self, tiles: int) -> int:
        """Blocks."""
        return -(-tiles // TILES_OF_A_BLOCK[self.axes])

    def run(self, order: str, way: str, field: Array, stream: Array) -> Array:
        """Compress or decompress; returns where the blocks' parts of a stream begin."""
        tiles = count_of_tiles(field.shape, self.axes)
        grid = self.grid(tiles)
        # As its host does: offsets, sums and flags of the look-back.
        chain = [on_device(np.zeros(grid + 1, kind)) for kind in (np.uint32, np.uint32, np.int32)]
        bound = KINDS[self.kind](BOUND)
        if self.axes == 1:
            rest: tuple[object, ...] = (bound, np.uint64(field.size))
        else:
            sizes = (*field.shape[::-1], 1)[:3]
            rest = (np.uint32(tiles), np.asarray(sizes, np.uint32).tobytes(), bound)
        program = Program(self.file, ORDERS[order])
        program.run(self.kernel(way), grid, field, stream, *chain, *rest, shared=8)  # type: ignore[arg-type]
        return chain[0]

    def rates(self, tiles: int) -> int:
        """Bytes at the start of a stream: one for each tile, 1-D for each of whole blocks."""
        return self.grid(tiles) * 1024 if self.axes == 1 else -(-tiles // 4) * 4


def count_of_tiles(shape: tuple[int, ...], axes: int) -> int:
    """Tiles of a field; more axes than those of a tile are slices."""
    tile = (1,) * (len(shape) - axes) + TILES[axes]
    return math.prod(-(-n // side) for n, side in zip(shape, tile, strict=True))


def smooth(shape: tuple[int, ...], kind: str) -> Array:
    """A field that is zero somewhere and rough elsewhere, away from zero."""
    axes = np.meshgrid(*(np.linspace(0, 4, n) for n in shape), indexing="ij")
    noise = np.random.default_rng(len(shape)).normal(0, 0.02, shape)
    field = 3 * np.sin(axes[0] + axes[-1]) + noise * (axes[0] > 3) + 5 * (axes[-1] > 3)
    return np.where(axes[0] < 0.7, 0, field).astype(KINDS[kind])


def quantised(field: Array) -> Array:
    """Bins of twice the bound, in the arithmetic of the field's type."""
    kind = field.dtype.type
    scaled = field * (kind(0.5) / kind(BOUND))
    bins: Array = (scaled + kind(0.5)).astype(np.int32) - (scaled < kind(-0.5))
    return bins


def restored(bins: Array, kind: str) -> Array:
    """Values in the middle of bins."""
    values: Array = bins.astype(KINDS[kind]) * KINDS[kind](BOUND) * KINDS[kind](2)
    return values


def tiled(bins: Array, axes: int) -> Array:
    """A row per tile, padded with zeros."""
    tile = (1,) * (bins.ndim - axes) + TILES[axes]
    padded = np.pad(bins, [(0, -n % side) for n, side in zip(bins.shape, tile, strict=True)])
    parts = [v for n, side in zip(padded.shape, tile, strict=True) for v in (n // side, side)]
    order = (*range(0, 2 * bins.ndim, 2), *range(1, 2 * bins.ndim, 2))
    return padded.reshape(parts).transpose(order).reshape(-1, math.prod(tile))


def predicted(tiles: Array, axes: int) -> Array:
    """Each bin less the one before it in its row; a row's first less that of the row before."""
    side = TILES[axes][-1]
    whole = tiles.reshape(-1, *TILES[axes])
    deltas = np.diff(whole, axis=-1, prepend=0)
    if axes > 1:
        deltas[..., 0] = np.diff(whole[..., 0], axis=-1, prepend=0)
    if axes > 2:
        deltas[..., 0, 0] = np.diff(whole[..., 0, 0], axis=-1, prepend=0)
    return deltas.reshape(-1, side**axes)


def written(values: Array, rates: int) -> tuple[Array, int]:
    """A stream, and the bytes after its rates: per tile signs and planes of bits, lowest first."""
    sizes = np.abs(values)
    widths = np.ceil(np.log2(sizes.max(1) + 1.0)).astype(int)
    head = np.zeros(rates, np.uint8)
    head[: widths.size] = widths
    parts = [head]
    for row, size, width in zip(values < 0, sizes, widths, strict=True):
        if width:
            planes = size >> np.arange(width)[:, None] & 1
            parts += [np.packbits(row), np.packbits(planes.astype(np.uint8))]
    stream = np.concatenate(parts)
    return stream, stream.size - rates


CODECS = [Codec(axes, kind, mode) for axes in TILES for kind in KINDS for mode in MODES]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("codec", CODECS, ids=lambda one: f"{one.axes}D-{one.mode}-{one.kind}")
def test_streams_are_as_expected_and_come_back(codec: Codec, order: str) -> None:
    for shape in SHAPES[codec.axes]:
        field = on_device(smooth(shape, codec.kind))
        bins = quantised(field)
        tiles = tiled(bins, codec.axes)
        if codec.mode != "fixed":
            # What pads a tile has no difference.
            tiles = predicted(tiles, codec.axes) * tiled(np.ones_like(bins), codec.axes)
        stream = on_device(np.zeros(codec.rates(len(tiles)) + field.nbytes * 2, np.uint8))
        offsets = codec.run(order, "compress", field, stream)
        wanted, most = written(tiles, codec.rates(len(tiles)))
        if codec.mode == "outlier":
            assert 0 < offsets[-1] < most
        else:
            assert offsets[-1] == most
            np.testing.assert_array_equal(stream[: wanted.size], wanted)
            assert not stream[wanted.size :].any()
        # A tile of zeros is not written: hosts clear the memory.
        back = on_device(np.zeros_like(field))
        codec.run(order, "decompress", back, stream)
        np.testing.assert_array_equal(back, restored(bins, codec.kind))
        assert np.abs(back.astype(np.float64) - field).max() <= BOUND * 1.001


def test_all_of_its_kernels_are_looped() -> None:
    files = list(dict.fromkeys(one.file for one in CODECS))
    for one in files:
        assert {each.name for each in described(one).kernels} == {name for name, _ in one.blocks}
    check_engines(files, {})
