"""The way from an array on which a bound breaks to the smallest one, on decoders that go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kernels.error_pattern import Smallest
from kernels.records import Array, Point
from kernels.shrink import LARGEST
from kernels.verify import compare
from sz_mcp.pipeline.experiments import Broken, Probe, seen
from sz_mcp.pipeline.shrinking import smallest

BOUND = 0.25
STEP = 2 * BOUND
RNG = np.random.default_rng(3)
WALK = RNG.standard_normal(9000).cumsum().astype(np.float32)
CUBE = RNG.uniform(-9, 9, (12, 13, 14)).astype(np.float32)

Decoder = Callable[[Array], Array]
"""An original → what came back of it."""


def rounded(x: Array) -> Array:
    """What a right codec makes of finite values."""
    return np.where(np.isfinite(x), np.rint(x / STEP) * STEP, x).astype(x.dtype)


def asking(decode: Decoder) -> Probe:
    def probe(arrays: Sequence[Array]) -> list[Broken | None]:
        found = []
        for x in arrays:
            with np.errstate(all="ignore"):
                y = decode(x.copy())
            comparison = compare(x, y, BOUND)
            found.append(None if comparison.holds else Broken(x, y, comparison))
        return found

    return probe


def shrunk(decode: Decoder, data: Array, going: Callable[[], bool] = lambda: True) -> Broken | None:
    probe = asking(decode)
    (broken,) = probe([data])
    assert broken is not None
    return smallest(probe, data, (broken.worst, BOUND), going)


def large_lost(x: Array) -> Array:
    return np.where(np.abs(x) > 20, 0, rounded(x)).astype(x.dtype)


def border_of_32(x: Array) -> Array:
    y = rounded(x).reshape(-1)
    y[32::32] = y[31:-1:32]
    return y.reshape(x.shape)


def border_of_a_row(x: Array) -> Array:
    y = rounded(x)
    if x.ndim == 3 and x.shape[1] > 1:
        y[:, 1:, 0] = y[:, :-1, -1]
    return y


def nan_spoils_the_next(x: Array) -> Array:
    y = rounded(x)
    y[1:][np.isnan(y[:-1]) & np.isfinite(y[1:])] = 7
    return y


def adds_up(x: Array) -> Array:
    return np.cumsum(np.rint(np.diff(x, prepend=0) / STEP) * STEP).astype(x.dtype)


def wraps_at_8_bits(x: Array) -> Array:
    d = np.rint(np.diff(np.rint(x / STEP), prepend=0))
    return (np.cumsum(d.astype(np.int64).astype(np.int8)) * STEP).astype(x.dtype)


def every_16th_checked(x: Array) -> Array:
    y = np.where(np.isfinite(x), rounded(x), 0).astype(x.dtype)
    y[::16] = x[::16]
    return y


def odd_places_checked(x: Array) -> Array:
    y = np.where(np.isfinite(x), rounded(x), 0).astype(x.dtype)
    y[1::2] = x[1::2]
    return y


def some_places_checked(x: Array) -> Array:
    y = np.where(np.isfinite(x), rounded(x), 0).astype(x.dtype)
    places = np.random.default_rng(5).random(x.size) < 0.3
    y[places] = x[places]
    return y


def index_5_lost(x: Array) -> Array:
    y = rounded(x)
    y[5:6] += 7
    return y


def too_wide(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(np.isinf(x.max() - x.min()), 0, rounded(x)).astype(x.dtype)


def only_1000_checked(x: Array) -> Array:
    y = np.where(np.isfinite(x), rounded(x), 0).astype(x.dtype).reshape(-1)
    y[:1000] = x.reshape(-1)[:1000]
    return y.reshape(x.shape)


def tail_of_32_lost(x: Array) -> Array:
    y = rounded(x)
    y[x.size // 32 * 32 :] = 0
    return y


def positive(x: Array) -> Array:
    return np.abs(rounded(x))


def holes() -> Array:
    data = WALK.copy()
    data[[100, 4000, 8000]] = np.nan
    return data


def runs(found: Broken) -> list[float]:
    return [float(v) for v in found.original.reshape(-1)]


def test_a_value_that_is_wrong_by_itself_is_all_that_is_left() -> None:
    found = shrunk(large_lost, WALK)

    assert found is not None
    assert found.original.shape == (1,)
    assert len(f"{found.original[0]:g}") <= 3
    assert float(found.worst.error) > 20


def test_what_needs_a_block_keeps_it_as_one_run_of_zeros() -> None:
    found = shrunk(border_of_32, WALK)

    assert found is not None
    assert runs(found) == [0.0] * 32 + [1.0]
    assert found.worst.flat == 32


def test_a_fault_of_three_dimensions_keeps_as_many_as_it_needs() -> None:
    found = shrunk(border_of_a_row, CUBE)

    assert found is not None
    assert found.original.ndim == 3
    assert found.original.size == 2


def test_the_neighbour_that_does_it_stays() -> None:
    found = shrunk(nan_spoils_the_next, holes())

    assert found is not None
    assert [str(v) for v in runs(found)] == ["nan", "0.0"]


def test_errors_that_add_up_need_a_few_values() -> None:
    found = shrunk(adds_up, WALK)

    assert found is not None
    assert 2 <= found.original.size <= 4


def test_an_error_of_another_kind_is_not_taken_for_the_one_that_was_found() -> None:
    def lost_and_slight(x: Array) -> Array:
        return np.where(np.isnan(x), 0, rounded(x) + np.float32(0.001)).astype(x.dtype)

    found = shrunk(lost_and_slight, holes())

    assert found is not None
    assert np.isnan(found.original).all()


def test_nothing_is_told_of_a_fault_that_does_not_come_back() -> None:
    broken = compare(WALK, WALK + 1, BOUND).worst
    assert broken is not None

    assert smallest(asking(rounded), WALK, (broken, BOUND), lambda: True) is None


def test_a_caller_who_has_gone_gets_the_best_so_far() -> None:
    calls = iter(range(1000))

    found = shrunk(border_of_32, WALK, lambda: next(calls) < 4)

    assert found is not None
    assert found.original.size < WALK.size


def test_the_best_so_far_stands_when_the_kernel_dies() -> None:
    dead: list[bool] = []

    def dying(x: Array) -> Array:
        if dead:
            return x
        dead.extend([True] * (x.size == 33))
        return border_of_32(x)

    found = shrunk(dying, WALK, lambda: not dead)

    assert found is not None
    assert found.original.size == 33


def test_the_way_is_the_same_every_time() -> None:
    first, second = (shrunk(adds_up, WALK) for _ in range(2))

    assert first is not None
    assert second is not None
    assert np.array_equal(first.original, second.original)


def test_an_array_that_can_not_be_made_smaller_is_the_smallest() -> None:
    found = shrunk(large_lost, np.array([100.0], np.float32))

    assert found is not None
    assert runs(found) == [100.0]


def test_nothing_is_told_of_a_large_array_of_which_no_small_part_is_wrong() -> None:
    data = np.zeros(3 * LARGEST, np.float32)

    assert shrunk(lambda x: x + np.float32(x.size > LARGEST), data) is None


def told(decode: Decoder, data: Array) -> Smallest:
    found = shrunk(decode, data)
    assert found is not None
    return seen(asking(decode), found, lambda: True)


@pytest.mark.parametrize(
    ("decode", "data", "fact", "value"),
    [
        (large_lost, WALK, "alone", True),
        (large_lost, WALK, "value_limit", 5),
        (border_of_32, WALK, "at", 32),
        (border_of_32, WALK, "alone", False),
        (nan_spoils_the_next, holes(), "beside_special", True),
        (adds_up, WALK, "grows", True),
        (wraps_at_8_bits, WALK * 40, "value_limit", 7),
        (wraps_at_8_bits, WALK * 40, "grows", False),
        (every_16th_checked, holes(), "spared_period", 16),
        (every_16th_checked, holes(), "alone", False),
        (odd_places_checked, holes(), "spared_period", 2),
        (some_places_checked, holes(), "spared_period", 0),
        (large_lost, WALK, "spared", 0.0),
        (border_of_32, WALK, "in_place", False),
        (index_5_lost, WALK, "in_place", True),
        (too_wide, np.array([1, 3e38, 4, -3e38, 9], np.float32), "too_wide", True),
        (only_1000_checked, holes(), "from_on", True),
        (only_1000_checked, holes(), "at", 1000),
        (border_of_32, WALK, "from_on", False),
        (tail_of_32_lost, WALK, "in_tail", 3),
        (large_lost, WALK, "in_tail", 0),
        (positive, -np.abs(WALK), "mirrored", True),
    ],
)
def test_the_smallest_array_tells_a_cause(
    decode: Decoder, data: Array, fact: str, value: object
) -> None:
    assert getattr(told(decode, data), fact) == value


def test_a_random_sample_that_is_checked_is_told_by_its_share() -> None:
    assert 0.2 < told(some_places_checked, holes()).spared < 0.4


def test_an_excess_of_a_rounding_is_told_in_last_places() -> None:
    def one_ulp_more(x: Array) -> Array:
        y = x - np.float32(BOUND)
        return np.nextafter(y, np.float32(-np.inf)).astype(x.dtype)

    assert 0 < told(one_ulp_more, WALK).excess_ulps <= 2


def test_nothing_is_tried_once_it_is_late() -> None:
    probe = asking(every_16th_checked)
    found = shrunk(every_16th_checked, holes())
    assert found is not None

    late = seen(probe, found, lambda: False)

    assert (late.spared_period, late.value_limit, late.jump_limit) == (0, 0, 0)


def test_the_worst_of_an_empty_array_is_a_mistake() -> None:
    empty = np.zeros(0, np.float32)

    with pytest.raises(ValueError, match="empty"):
        _: Point = Broken(empty, empty, compare(empty, empty, 1.0)).worst
