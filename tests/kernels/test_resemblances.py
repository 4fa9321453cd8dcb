"""What a wrong array is recognised as, and that chance likenesses are not."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Array
from kernels.resemblances import real_resemblance, whole_resemblance

CUBE = np.random.default_rng(20321).integers(-90, 90, (5, 7, 11), np.int32)
WORDS = np.random.default_rng(20322).integers(0, 1 << 32, 400, np.uint32)
NOISE = np.random.default_rng(20323).uniform(-50, 50, (20, 30)).astype(np.float32)


def lorenzo(q: Array, *axes: int) -> Array:
    for axis in axes:
        q = np.diff(q, axis=axis, prepend=np.int32(0))
    return q


@pytest.mark.parametrize(
    ("got", "name"),
    [
        (CUBE, "the input itself"),
        (np.zeros_like(CUBE), "zeros"),
        (-lorenzo(CUBE, 0, 1, 2), "the negative of the right answer"),
        (lorenzo(CUBE, 2), "differences along axis 2 alone"),
        (lorenzo(CUBE, 0, 1), "differences along axes 0, 1 alone"),
        (lorenzo(CUBE.reshape(-1), 0).reshape(CUBE.shape), "differences along the flat array"),
        (np.cumsum(CUBE, axis=1, dtype=np.int32), "sums along axis 1 alone"),
    ],
)
def test_an_answer_to_another_question_is_recognised(got: Array, name: str) -> None:
    assert whole_resemblance(lorenzo(CUBE, 0, 1, 2), got, CUBE).startswith(name)


@pytest.mark.parametrize(
    ("got", "name"),
    [
        (WORDS.byteswap(), "the right words with their bytes reversed"),
        (WORDS[::-1], "the right answer in reverse order"),
        (np.roll(WORDS, 7), "the right values in another order"),
        (np.append(WORDS[1:], WORDS[-1:]), "the right answer one place early"),
        (np.insert(WORDS, 0, 0)[:-1], "the right answer one place late"),
        (WORDS + np.uint32(1), ""),
    ],
)
def test_right_values_in_the_wrong_form_are_recognised(got: Array, name: str) -> None:
    assert whole_resemblance(WORDS, got, None) == name


def test_reversed_bits_are_recognised() -> None:
    reversed_ = np.array([int(format(int(w), "032b")[::-1], 2) for w in WORDS], np.uint32)

    assert whole_resemblance(WORDS, reversed_, None) == "the right words with their bits reversed"


def test_what_looks_the_same_either_way_is_no_likeness() -> None:
    constant = np.zeros(50, np.uint32)
    got = constant.copy()
    got[3] = 1

    assert whole_resemblance(constant, got, None) == ""


@pytest.mark.parametrize(
    ("decoded", "name"),
    [
        (np.zeros_like(NOISE), "zeros"),
        (NOISE.reshape(-1, order="F"), "the values in Fortran order"),
        (NOISE.reshape(-1)[::-1], "the values in reverse order"),
        (np.roll(NOISE.reshape(-1), 1), "the values one place late"),
        (np.diff(NOISE.reshape(-1), prepend=np.float32(0)), "differences of neighbours"),
        (NOISE * np.float32(2), ""),
        (NOISE + np.float32(3), ""),
    ],
)
def test_real_values_in_the_wrong_place_are_recognised(decoded: Array, name: str) -> None:
    x, y = NOISE.reshape(-1), decoded.reshape(-1)

    assert real_resemblance(x, y, NOISE.shape, 0.1) == name


def test_smooth_data_is_not_taken_for_itself_one_place_late() -> None:
    smooth = np.linspace(0, 1, 1000, dtype=np.float32)
    decoded = smooth.copy()
    decoded[500] = 9

    assert real_resemblance(smooth, decoded, smooth.shape, 0.1) == ""
