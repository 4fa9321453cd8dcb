"""Where errors jump is told by the length of blocks and the axis, and never by chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kernels.borders import Border, border

BOUND = 0.5
RNG = np.random.default_rng(7)

Reals = npt.NDArray[np.float64]


def noise(*shape: int) -> Reals:
    """Errors of a codec that is right."""
    return RNG.uniform(-BOUND, BOUND, shape)


def offsets(*shape: int) -> Reals:
    """One per block, each far from the others."""
    return 10 * RNG.permutation(int(np.prod(shape))).reshape(shape).astype(float)


@pytest.mark.parametrize("length", [4, 8, 32, 128])
def test_offsets_of_blocks_are_told_by_their_length(length: int) -> None:
    errors = noise(20 * length) + np.repeat(offsets(20), length)

    assert border(errors, BOUND) == Border(length, -1)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_offsets_along_one_axis_are_told_by_it(axis: int) -> None:
    shape = [5, 6, 7]
    shape[axis] = 64
    blocks = np.repeat(offsets(8), 8)
    errors = noise(*shape) + blocks.reshape([-1 if a == axis else 1 for a in range(3)])

    assert border(errors, BOUND) == Border(8, axis)


def test_tiles_jump_along_every_axis() -> None:
    errors = noise(48, 48) + offsets(6, 6).repeat(8, axis=0).repeat(8, axis=1)

    assert border(errors, BOUND).length == 8


@pytest.mark.parametrize("errors", [noise(999), noise(20, 30), 9 * noise(999), np.zeros(5)])
def test_what_jumps_nowhere_or_anywhere_has_no_border(errors: Reals) -> None:
    assert border(errors, BOUND) == Border(0, -1)


def test_one_jump_may_be_at_a_border_by_chance() -> None:
    errors = noise(99)
    errors[8:] += 10

    assert border(errors, BOUND) == Border(0, -1)


def test_what_is_not_finite_counts_as_a_jump() -> None:
    errors = noise(640)
    errors[::64] = np.inf

    assert border(errors, BOUND) == Border(0, -1)
