"""Where violations lie and what they look like: one fact each, and what is nearly so but is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.error_pattern import ErrorPattern
from kernels.patterns import LOOKED_AT, codec_pattern, stage_pattern
from kernels.records import Array
from kernels.verify import compare

BOUND = 0.125
NOISE = np.random.default_rng(20311).uniform(-50, 50, (61, 67)).astype(np.float32)
WORDS = np.random.default_rng(20312).integers(0, 1 << 32, 4001, np.uint32)


def seen(original: Array, decoded: Array) -> ErrorPattern:
    return codec_pattern("sz-open", original, decoded, compare(original, decoded, BOUND))


def shifted(at: Array | slice, by: float = 1.0, data: Array = NOISE) -> ErrorPattern:
    """Of data with an error at some flat indices."""
    decoded = data.copy()
    decoded.reshape(-1)[at] += np.float32(by)
    return seen(data, decoded)


def stage_seen(wanted: Array, got: Array, task: str = "bitpack") -> ErrorPattern:
    return stage_pattern(task, (wanted,), 0, (wanted, got), compare(wanted, got, 0.0))


@pytest.mark.parametrize(
    ("block", "place"), [(32, 0), (32, 31), (64, 5), (128, 0), (1024, 7), (2048, 0)]
)
def test_violations_at_one_place_of_every_block_have_its_period(block: int, place: int) -> None:
    data = np.tile(NOISE.reshape(-1), 3)

    pattern = shifted(slice(place, None, block), data=data)

    assert (pattern.period, pattern.phase) == (block, place)


def test_two_violations_make_no_period() -> None:
    assert shifted(np.array([32, 64])).period == 0


def test_violations_anywhere_have_no_place() -> None:
    anywhere = np.random.default_rng(20313).choice(NOISE.size, 300, replace=False)

    pattern = shifted(anywhere)

    assert (pattern.period, pattern.tail, pattern.onward, pattern.edges) == (0, 0, False, ())


@pytest.mark.parametrize(("block", "begin"), [(32, 4064), (128, 3970)])
def test_violations_in_the_last_shorter_block_are_in_its_tail(block: int, begin: int) -> None:
    assert shifted(slice(begin, None)).tail == block


def test_an_array_shorter_than_a_block_has_no_tail() -> None:
    assert shifted(slice(3, None), data=NOISE.reshape(-1)[:20]).tail == 0


def test_violations_from_one_place_on_are_told_from_those_from_the_beginning() -> None:
    assert shifted(slice(700, None)).onward
    assert not shifted(slice(0, None)).onward
    assert not shifted(slice(700, None, 2)).onward


def test_violations_on_the_border_of_an_axis_name_it() -> None:
    index = np.arange(NOISE.size).reshape(NOISE.shape)

    assert shifted(index[:, 0]).edges == (1,)
    assert shifted(index[0]).edges == (0,)
    assert shifted(np.concatenate((index[0], index[1:, 0]))).edges == (0, 1)


def test_a_value_beside_one_that_is_not_finite_is_told_from_that_one() -> None:
    data = NOISE.reshape(-1).copy()
    data[[100, 2000]] = np.nan, np.inf
    beside, lost = data.copy(), np.nan_to_num(data, posinf=0.0)
    beside[[101, 1999]] += np.float32(1)

    assert (seen(data, beside).special, seen(data, beside).beside_special) == (0.0, 1.0)
    assert (seen(data, lost).special, seen(data, lost).beside_special) == (1.0, 0.0)


def test_an_error_of_an_ulp_above_the_bound_is_told_from_a_larger_one() -> None:
    data = np.full(100, 1.0, np.float32)
    just, far = data.copy(), data.copy()
    just[7] = np.nextafter(np.float32(1.125), np.float32(2))
    far[7] = 1.126

    assert 0 < seen(data, just).excess_ulps <= 1
    assert seen(data, far).excess_ulps > 1000


def test_errors_that_add_up_are_told_from_a_constant_offset_and_from_a_jump() -> None:
    walk = np.random.default_rng(20314).standard_normal(5000).cumsum().astype(np.float32)
    steps = np.rint(np.diff(walk, prepend=np.float32(0)) / (2 * BOUND)) * 2 * BOUND
    jump = walk.copy()
    jump[3000:] += np.float32(0.4)

    assert seen(walk, np.cumsum(steps).astype(np.float32)).accumulates
    assert not seen(walk, walk + np.float32(0.4)).accumulates
    assert not seen(walk, jump).accumulates


def test_a_factor_is_told_from_a_constant_offset() -> None:
    assert seen(NOISE, NOISE * np.float32(0.5)).factor == pytest.approx(0.5)
    assert seen(NOISE, NOISE + np.float32(5)).factor == 0.0


def test_rounding_down_is_told_from_rounding_toward_zero() -> None:
    step = 2 * BOUND
    down, cut = (
        f(NOISE / step).astype(np.float32) * np.float32(step) for f in (np.floor, np.trunc)
    )

    assert (seen(NOISE, down).direction, seen(NOISE, cut).direction) == ("down", "toward zero")


@pytest.mark.parametrize("first", [0, LOOKED_AT + 12345, 3 * LOOKED_AT - 1])
def test_of_a_large_array_the_part_around_the_first_violation_is_looked_at(first: int) -> None:
    data = np.zeros(3 * LOOKED_AT, np.float32)
    decoded = data.copy()
    decoded[first:] = 1.0

    pattern = seen(data, decoded)

    assert (pattern.first, pattern.violations) == (first, data.size - first)
    assert first <= pattern.last < first + LOOKED_AT


def test_a_violation_that_only_an_exact_difference_shows_is_not_missed() -> None:
    data = np.array([1.0, 3.0], np.float64)
    decoded = np.array([-(2.0**-60), 3.0], np.float64)
    comparison = compare(data, decoded, 1.0)

    pattern = codec_pattern("sz-open", data, decoded, comparison)

    assert (comparison.violations, pattern.first, pattern.last) == (1, 0, 0)


def test_any_bits_may_come_back() -> None:
    bits = np.random.default_rng(20315).integers(0, 1 << 32, NOISE.shape, np.uint32)
    bits[3, 5:9] = 0x7F800001, 0xFF800001, 0x7FC00000, 0x80000000

    assert seen(NOISE, bits.view(np.float32)).violations > NOISE.size // 2


def test_an_array_that_is_right_has_no_pattern() -> None:
    with pytest.raises(ValueError, match="nothing is wrong"):
        seen(NOISE, NOISE)


@pytest.mark.parametrize(
    ("cut", "bits"), [(np.uint8, 8), (np.int8, 8), (np.uint16, 16), (np.int16, 16)]
)
def test_values_that_were_cut_to_a_narrower_type_are_told(cut: type[np.generic], bits: int) -> None:
    got = WORDS.astype(cut).astype(np.uint32)

    assert stage_seen(WORDS, got).low_bits == bits


def test_low_bits_that_are_right_beside_wrong_high_ones_are_not_a_narrower_type() -> None:
    assert stage_seen(WORDS, WORDS ^ np.uint32(1 << 18)).low_bits == 0


def test_words_whose_bits_lie_too_far_down_are_told() -> None:
    got, other = WORDS.copy(), WORDS.copy()
    got[[5, 90]] >>= np.uint32(7)
    other[5] ^= np.uint32(1)

    assert stage_seen(WORDS, got).shifted_down
    assert not stage_seen(WORDS, other).shifted_down


def test_added_bits_are_told_from_flipped_ones() -> None:
    added, flipped = WORDS.copy(), WORDS.copy()
    added[5:50] |= np.uint32(0xF0)
    flipped[5:50] ^= np.uint32(0xF0)

    assert stage_seen(WORDS, added).extra_bits
    assert not stage_seen(WORDS, flipped).extra_bits


def test_counts_that_are_only_too_small_are_lost() -> None:
    counts = np.arange(100, 200, dtype=np.uint32)
    fewer, other = counts - np.uint32(3), counts.copy()
    other[4], other[5] = 9, 900

    assert stage_seen(counts, fewer, "histogram").lost_counts
    assert not stage_seen(counts, other, "histogram").lost_counts


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_the_shortest_arrays_have_a_pattern_too(size: int, dtype: type[np.generic]) -> None:
    original = np.ones(size, dtype)
    decoded = np.zeros(size, dtype)
    comparison = replace(compare(original, decoded, 0.0))

    if original.dtype.kind == "f":
        assert codec_pattern("szp", original, decoded, comparison).violations == size
    assert stage_seen(original, decoded).violations == size


def test_a_number_without_dimensions_has_a_pattern_too() -> None:
    original, decoded = np.array(1.0, np.float32), np.array(2.0, np.float32)

    assert seen(original, decoded).violations == 1


def test_float64_that_went_through_float32_is_narrowed() -> None:
    data = np.random.default_rng(20313).uniform(1e7, 1e8, 200)

    assert seen(data, data.astype(np.float32).astype(np.float64)).narrowed
    assert not seen(data, np.rint(data / 3) * 3).narrowed
    assert not seen(data, np.zeros(200)).narrowed


def test_subnormals_that_came_back_as_0_are_flushed() -> None:
    tiny = np.full(9, 1e-310)
    pattern = codec_pattern("szp", tiny, tiny * 0, compare(tiny, tiny * 0, 1e-320))
    kept = codec_pattern("szp", tiny, tiny * 2, compare(tiny, tiny * 2, 1e-320))

    assert (pattern.flushed, kept.flushed) == (True, False)


def test_a_range_beyond_the_type_is_wide() -> None:
    data = np.array([3e38, -3e38, 0], np.float32)
    wide = codec_pattern("szp", data, data * 0, compare(data, data * 0, 1e30))

    assert wide.wide
    assert not shifted(slice(0, 3)).wide


def test_an_error_that_jumps_at_blocks_only_has_a_border() -> None:
    data = NOISE.reshape(-1)[:4000]
    decoded = data + np.repeat(np.arange(125) % 2 * np.float32(5), 32).astype(np.float32)

    assert seen(data, decoded).border == 32
    assert shifted(np.array([5, 70, 133, 999])).border == 0


def test_errors_that_add_up_twice_over_accumulate() -> None:
    steps = np.random.default_rng(20314).uniform(-BOUND, BOUND, 400)
    data = np.zeros(400)

    assert seen(data, np.cumsum(np.cumsum(steps))).accumulates
    assert not seen(data, steps * 9).accumulates


def test_a_block_of_64_that_a_nan_spoils_is_beside_it() -> None:
    data = np.arange(1, 1281, dtype=np.float32)
    data[::128] = np.nan
    decoded = data.copy()
    decoded.reshape(-1, 64)[::2] = np.nan

    assert seen(data, decoded).beside_special == 1.0
