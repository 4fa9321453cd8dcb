"""Scan, histogram, transpose and sorting of NVIDIA/cuda-samples."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Array
from simulators.simt.exchange import Request
from simulators.simt.records import Rejected
from tests.public.checkouts import (
    ORDERS,
    File,
    Program,
    answered,
    check_engines,
    described,
    on_device,
)
from tests.simulators.simt.launching import needs_clang

pytestmark = [pytest.mark.slow, needs_clang, pytest.mark.parametrize("order", ORDERS)]
CONCEPTS = "Samples/2_Concepts_and_Techniques"


def sample(path: str, blocks: dict[str, tuple[int, int, int]]) -> File:
    """A file of the samples."""
    return File("NVIDIA/cuda-samples", path, ("Common",), tuple(blocks.items()))


SCAN = sample(
    f"{CONCEPTS}/scan/scan.cu",
    dict.fromkeys(("scanExclusiveShared", "scanExclusiveShared2", "uniformUpdate"), (256, 1, 1)),
)
SHUFFLES = sample(
    f"{CONCEPTS}/shfl_scan/shfl_scan.cu",
    {
        "shfl_scan_test": (256, 1, 1),
        "uniform_add": (256, 1, 1),
        "shfl_intimage_rows": (120, 1, 1),
        "shfl_vertical_shfl": (32, 8, 1),
    },
)
HISTOGRAMS = {
    64: sample(
        f"{CONCEPTS}/histogram/histogram64.cu",
        {"histogram64Kernel": (64, 1, 1), "mergeHistogram64Kernel": (256, 1, 1)},
    ),
    256: sample(
        f"{CONCEPTS}/histogram/histogram256.cu",
        {"histogram256Kernel": (192, 1, 1), "mergeHistogram256Kernel": (256, 1, 1)},
    ),
}
TRANSPOSES = (
    "copy", "copySharedMem", "transposeNaive", "transposeCoalesced", "transposeNoBankConflicts",
    "transposeDiagonal", "transposeFineGrained", "transposeCoarseGrained",
)  # fmt: skip
TRANSPOSE = sample(
    "Samples/6_Performance/transpose/transpose.cu", dict.fromkeys(TRANSPOSES, (32, 16, 1))
)
BITONIC = sample(
    f"{CONCEPTS}/sortingNetworks/bitonicSort.cu",
    {
        "bitonicSortShared": (512, 1, 1),
        "bitonicSortShared1": (512, 1, 1),
        "bitonicMergeGlobal": (256, 1, 1),
        "bitonicMergeShared": (512, 1, 1),
    },
)
ODD_EVEN = sample(
    f"{CONCEPTS}/sortingNetworks/oddEvenMergeSort.cu",
    {"oddEvenMergeSortShared": (512, 1, 1), "oddEvenMergeGlobal": (256, 1, 1)},
)
MERGE = sample(
    "Samples/0_Introduction/mergeSort/mergeSort.cu",
    {
        "mergeRanksAndIndicesKernel": (256, 1, 1),
        "mergeSortSharedKernel<1U>": (512, 1, 1),
        "mergeSortSharedKernel<0U>": (512, 1, 1),
        "generateSampleRanksKernel<1U>": (256, 1, 1),
        "generateSampleRanksKernel<0U>": (256, 1, 1),
        "mergeElementaryIntervalsKernel<1U>": (128, 1, 1),
        "mergeElementaryIntervalsKernel<0U>": (128, 1, 1),
    },
)
MERGE_BITONIC = sample(
    "Samples/0_Introduction/mergeSort/bitonic.cu",
    {
        "bitonicSortSharedKernel": (512, 1, 1),
        "bitonicMergeElementaryIntervalsKernel<1U>": (128, 1, 1),
        "bitonicMergeElementaryIntervalsKernel<0U>": (128, 1, 1),
    },
)
GRID_SYNC = sample(f"{CONCEPTS}/reductionMultiBlockCG/reductionMultiBlockCG.cu", {})
FILES = (SCAN, SHUFFLES, *HISTOGRAMS.values(), TRANSPOSE, BITONIC, ODD_EVEN, MERGE, MERGE_BITONIC)


def random(size: int, most: int = 1 << 32) -> Array:
    """Numbers below `most`."""
    return on_device(np.random.default_rng(size).integers(0, most, size).astype(np.uint32))


def unset(like: Array) -> Array:
    """Memory that nothing has been written to."""
    return on_device(np.full(like.shape, 0xA5A5A5A5, np.uint32).view(like.dtype))


def u32(*values: int) -> tuple[np.uint32, ...]:
    """Arguments."""
    return tuple(np.uint32(one) for one in values)


def exclusive(rows: Array) -> Array:
    """Sums of what is before each element of a row."""
    return np.cumsum(rows, axis=1, dtype=np.uint32) - rows


def test_scans_of_rows_that_fit_a_block_and_of_longer_ones(order: str) -> None:
    program = Program(SCAN, ORDERS[order])
    data = random(16 * 1024)
    short = unset(data)
    program.run("scanExclusiveShared", 16, short, data, *u32(256))
    np.testing.assert_array_equal(short.reshape(-1, 256), exclusive(data.reshape(-1, 256)))
    long, sums = unset(data), unset(data[:16])
    program.run("scanExclusiveShared", 16, long, data, *u32(1024))
    program.run("scanExclusiveShared2", 1, sums, long, data, *u32(16, 8))
    program.run("uniformUpdate", 16, long, sums)
    np.testing.assert_array_equal(long.reshape(2, -1), exclusive(data.reshape(2, -1)))


def test_a_scan_by_shuffles_and_the_sums_of_an_image(order: str) -> None:
    program = Program(SHUFFLES, ORDERS[order])
    data = random(256 * 256, 1000).view(np.int32)
    scanned, sums = on_device(data), unset(data[:256])
    program.run("shfl_scan_test", 256, scanned, np.int32(32), sums, shared=32)
    program.run("shfl_scan_test", 1, sums, np.int32(32), np.uint64(0), shared=32)
    program.run("uniform_add", 255, scanned[256:], sums, np.int32(data.size))
    np.testing.assert_array_equal(scanned, np.cumsum(data))
    width, height = 1920, 1080
    pixels = random(width * height, 256).astype(np.uint8)
    image, rows = on_device(pixels), unset(random(width * height))
    program.run("shfl_intimage_rows", height, image, rows)
    wanted = np.cumsum(pixels.reshape(height, width), axis=1, dtype=np.uint32)
    np.testing.assert_array_equal(rows.reshape(height, width), wanted)
    program.run("shfl_vertical_shfl", width // 32, rows, np.int32(width), np.int32(height))
    wanted = np.cumsum(wanted, axis=0, dtype=np.uint32)
    np.testing.assert_array_equal(rows.reshape(height, width), wanted)


@pytest.mark.parametrize("bins", HISTOGRAMS)
def test_histograms_count_every_byte(bins: int, order: str) -> None:
    program = Program(HISTOGRAMS[bins], ORDERS[order])
    words = random(50_000) & random(50_000, 1 << 31)
    data = on_device(words)
    # A thread of the small one counts in bytes, 15 times 16 of them.
    blocks, unit = (240, 1) if bins == 256 else (-(-data.nbytes // (64 * 240)), 4)
    parts, counts = unset(random(blocks * bins)), unset(random(bins))
    program.run(f"histogram{bins}Kernel", blocks, parts, data, *u32(data.size // unit))
    program.run(f"mergeHistogram{bins}Kernel", bins, counts, parts, *u32(blocks))
    wanted = np.bincount(words.view(np.uint8) // (256 // bins), minlength=bins)
    np.testing.assert_array_equal(counts, wanted)


def test_transposes_and_copies(order: str) -> None:
    program, side = Program(TRANSPOSE, ORDERS[order]), 128
    data = random(side * side).astype(np.float32).reshape(side, side)
    tiles = data.reshape(4, 32, 4, 32)
    wanted = dict.fromkeys(TRANSPOSES, data.T)
    wanted["copy"] = wanted["copySharedMem"] = data
    wanted["transposeFineGrained"] = tiles.transpose(0, 3, 2, 1).reshape(side, side)
    wanted["transposeCoarseGrained"] = tiles.transpose(2, 1, 0, 3).reshape(side, side)
    for name in TRANSPOSES:
        out, lengths = on_device(np.zeros_like(data)), (np.int32(side), np.int32(side))
        program.run(name, (4, 4, 1), out, on_device(data), *lengths)
        np.testing.assert_array_equal(out, wanted[name], err_msg=name)


def check_sorted(keys: Array, found: tuple[Array, Array], length: int, up: int) -> None:
    """That rows of `length` keys are in order, and that values went with them.

    found: keys, and where each was.
    """
    rows = np.sort(keys.reshape(-1, length), axis=1)
    np.testing.assert_array_equal(found[0].reshape(-1, length), rows if up else rows[:, ::-1])
    np.testing.assert_array_equal(np.sort(found[1]), np.arange(keys.size))
    np.testing.assert_array_equal(keys[found[1]], found[0])


@pytest.mark.parametrize("up", [0, 1])
def test_bitonic_sort(up: int, order: str) -> None:
    program, length = Program(BITONIC, ORDERS[order]), 4096
    keys = random(2 * length, 5000)
    source, out = (keys, on_device(np.arange(keys.size, dtype=np.uint32))), None
    blocks = keys.size // 1024
    for short in (64, 1024):
        out = (unset(keys), unset(keys))
        program.run("bitonicSortShared", blocks, *out, *source, *u32(short, up))
        check_sorted(keys, out, short, up)
    out = (unset(keys), unset(keys))
    program.run("bitonicSortShared1", blocks, *out, *source)
    for size in (2048, 4096):
        stride = size // 2
        while stride >= 1024:
            steps = u32(length, size, stride, up)
            program.run("bitonicMergeGlobal", keys.size // 512, *out, *out, *steps)
            stride //= 2
        program.run("bitonicMergeShared", blocks, *out, *out, *u32(length, size, up))
    check_sorted(keys, out, length, up)


@pytest.mark.parametrize("up", [0, 1])
def test_odd_even_merge_sort(up: int, order: str) -> None:
    program, length = Program(ODD_EVEN, ORDERS[order]), 4096
    keys = random(2 * length, 5000)
    values, out = on_device(np.arange(keys.size, dtype=np.uint32)), (unset(keys), unset(keys))
    program.run("oddEvenMergeSortShared", 8, *out, keys, values, *u32(1024, up))
    check_sorted(keys, out, 1024, up)
    for size in (2048, 4096):
        stride = size // 2
        while stride:
            steps = u32(length, size, stride, up)
            program.run("oddEvenMergeGlobal", keys.size // 512, *out, *out, *steps)
            stride //= 2
    check_sorted(keys, out, length, up)


@pytest.mark.parametrize("bitonic", [False, True])
@pytest.mark.parametrize("up", [0, 1])
def test_merge_sort(up: int, bitonic: bool, order: str) -> None:
    program, size, step = Program(MERGE, ORDERS[order]), 4096, 128
    merging = Program(MERGE_BITONIC, ORDERS[order]) if bitonic else program
    keys = random(size, 3000)
    source = (keys, on_device(np.arange(size, dtype=np.uint32)))
    here, there = (unset(keys), unset(keys)), (unset(keys), unset(keys))
    if bitonic:
        merging.run("bitonicSortSharedKernel", 4, *here, *source, *u32(1024, up))
    else:
        program.run(f"mergeSortSharedKernel<{up}U>", 4, *here, *source, *u32(1024))
    check_sorted(keys, here, 1024, up)
    prefix = "bitonicMerge" if bitonic else "merge"
    for stride in (1024, 2048):
        ranks, limits = ([unset(keys[: size // step]) for _ in "ab"] for _ in range(2))
        threads = size // (2 * step)
        sizes = u32(stride, size)
        program.run(f"generateSampleRanksKernel<{up}U>", 1, *ranks, here[0], *sizes, *u32(threads))
        for each, limit in zip(ranks, limits, strict=True):
            program.run("mergeRanksAndIndicesKernel", 1, limit, each, *sizes, *u32(threads))
        name = f"{prefix}ElementaryIntervalsKernel<{up}U>"
        merging.run(name, size // step, *there, *here, *limits, *sizes)
        here, there = there, here
    check_sorted(keys, here, size, up)


def test_all_of_their_kernels_are_looped(order: str) -> None:
    for one in FILES:
        assert {each.name for each in described(one).kernels} == {name for name, _ in one.blocks}
    check_engines(FILES, {}, descending=ORDERS[order])


def test_a_barrier_of_the_grid_is_refused_by_name(order: str) -> None:
    made = answered(Request(GRID_SYNC.source()))
    assert isinstance(made, Rejected)
    (error,) = (one for one in made.diagnostics if one.severity == "error")
    assert "no barrier of the grid" in error.message
    assert (error.source or "").strip() == "cg::sync(grid);"
