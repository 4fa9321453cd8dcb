"""Candidates are smaller, in a fixed order, and hold what they must hold."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Array
from kernels.shrink import (
    LARGEST,
    alike,
    cost,
    fewer_dimensions,
    lone,
    plainer,
    rounder,
    run_starts,
    windows,
    without,
)

WALK = np.random.default_rng(1).standard_normal(9000).cumsum().astype(np.float32)
CUBE = np.arange(7 * 11 * 13, dtype=np.float32).reshape(7, 11, 13)


@pytest.mark.parametrize("flat", [0, 1, 4096, 8999])
def test_windows_hold_the_element_and_grow(flat: int) -> None:
    sizes = []
    for window in windows(WALK, flat):
        assert WALK[flat] in window
        sizes.append(window.size)

    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] < WALK.size


def test_one_window_has_a_whole_block_before_the_element() -> None:
    assert any(w.size == 33 and w[32] == WALK[4096] for w in windows(WALK, 4096))


def test_windows_of_a_cube_are_boxes_too() -> None:
    flat = int(np.ravel_multi_index((3, 5, 6), CUBE.shape))
    boxes = [w for w in windows(CUBE, flat) if w.ndim == 3]

    assert (1, 1, 1) in {w.shape for w in boxes}
    assert (2, 2, 2) in {w.shape for w in boxes}
    assert all(CUBE[3, 5, 6] in w for w in boxes)


def test_windows_of_a_huge_array_stay_small() -> None:
    data = np.zeros(3 * LARGEST, np.float32)

    assert max(w.size for w in windows(data, 2 * LARGEST)) <= LARGEST


def test_without_leaves_out_every_piece_once_or_twice() -> None:
    data = np.arange(6, dtype=np.float32)

    assert [one.tolist() for one in without(data, 3)] == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
    assert [one.shape for one in without(CUBE[:2, :1, :3], 1)].count((1, 1, 3)) == 3


def test_a_cube_is_flattened_first() -> None:
    assert next(fewer_dimensions(CUBE)).shape == (CUBE.size,)
    assert list(fewer_dimensions(WALK)) == []


def test_plainer_values_are_0_or_those_beside() -> None:
    data = np.array([5, 6, 7], np.float32)

    assert [one.tolist() for one in plainer(data, 2)] == [
        [0, 0, 7],
        [7, 7, 7],
        [5, 6, 0],
        [5, 6, 6],
    ]


def test_alike_keeps_one_kind_of_value_nan_among_them() -> None:
    data = np.array([np.nan, 2, np.nan, 3], np.float32)
    kept = [one.tolist() for one in alike(data)]

    assert [0, 2, 0, 0] in kept
    assert [str(v) for v in kept[0]] == ["nan", "0.0", "nan", "0.0"]


def test_a_lone_element_is_zeros_but_for_it_and_the_one_before() -> None:
    data = np.array([[1, 2], [3, 4]], np.float32)

    assert [one.tolist() for one in lone(data, 2)] == [[[0, 0], [3, 0]], [[0, 2], [3, 0]]]
    assert [one.tolist() for one in lone(data, 0)] == [[[1, 0], [0, 0]]] * 2


def test_a_rounder_number_replaces_every_equal_one_and_never_overflows() -> None:
    largest = float(np.finfo(np.float32).max)
    data = np.array([largest, 1.234567, largest], np.float32)

    tried = [one.tolist() for one in rounder(data)]

    assert [largest, np.float32(1.2), largest] in tried
    assert all(np.isfinite(one).all() for one in tried)
    assert [0.0, data[1], 0.0] in tried


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ([1.25, 7], [0, 0, 0]),
        ([0, 0, 0], [0, 1, 0]),
        ([1, 1, 1], [1.5, 1.5, 1.5]),
        ([0.5], [-0.5]),
        ([0.0], [-0.0]),
        ([100], [123]),
        ([1e5], [1e30]),
    ],
)
def test_what_costs_less_is_shorter_or_easier_to_read(
    smaller: list[float], larger: list[float]
) -> None:
    assert cost(np.array(smaller, np.float32)) < cost(np.array(larger, np.float32))


def test_fewer_dimensions_cost_less() -> None:
    assert cost(CUBE.reshape(-1)) < cost(CUBE)


@pytest.mark.parametrize(
    ("values", "starts"),
    [
        ([], []),
        ([1], [0]),
        ([1, 1, 2], [0, 2]),
        ([np.nan, np.nan, 0.0, -0.0], [0, 2, 3]),
    ],
)
def test_runs_are_of_equal_bits_or_nans(values: list[float], starts: list[int]) -> None:
    data: Array = np.array(values, np.float32)
    data[np.isnan(data)] *= -1

    assert run_starts(data).tolist() == starts
