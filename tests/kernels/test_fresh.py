"""Fresh content: unlike anything seen, yet as compressible, and deterministic by seed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kernels import fields
from kernels.bounds import derive
from kernels.fresh import ROLL, fresh_variant
from kernels.records import Array
from kernels.streams import szp
from kernels.suite import SuiteCase, core_suite


def variant(data: Array, fill: float | None, bound: float, seed: int) -> npt.NDArray[np.float64]:
    """As double, whatever the data."""
    out = np.empty_like(data)
    fresh_variant(data, fill, bound, seed, out)
    return out.astype(np.float64)


def test_most_elements_are_further_than_the_bound_from_the_unrolled_field() -> None:
    data = np.full(200_000, 100.0, np.float32)

    away = np.concatenate([np.abs(variant(data, None, 0.1, seed)) - 100 for seed in range(6)])

    assert 0.75 < (np.abs(away) > 0.1).mean() < 0.85
    assert 0.35 < away.std() < 0.45


def test_the_walk_is_slow_and_without_trend() -> None:
    data = np.full(400_000, 50.0)

    walk = np.abs(variant(data, None, 1.0, 4)) - 50

    assert np.abs(np.diff(walk)).max() < 0.05
    assert abs(walk.mean()) < 1.0
    assert np.abs(walk).max() < 25.0


@pytest.mark.parametrize("name", ["uk_theta", "sea_surface", "valley_pressure"])
@pytest.mark.parametrize("seed", [1, 2])
def test_size_stays_within_a_percent_on_real_fields(name: str, seed: int) -> None:
    field = fields.load(name)
    bound = derive(field.data, field.info.fill_value, "rel", 1e-3).absolute
    out = np.empty_like(field.data)

    fresh_variant(field.data, field.info.fill_value, bound, seed, out)

    assert szp.encode(out, bound).size == pytest.approx(
        szp.encode(field.data, bound).size, rel=0.01
    )


def test_a_seed_gives_the_same_content_and_another_seed_other_content() -> None:
    data = fields.load("ocean_temperature").data

    first, again, other = (variant(data, 9.96921e36, 0.03, seed) for seed in (7, 7, 8))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_both_signs_and_many_rolls_occur() -> None:
    data = np.ones(64 * ROLL, np.float32)
    data[0] = 1e20

    outs = [variant(data, 1e20, 1e-3, seed) for seed in range(40)]

    places = [int(np.flatnonzero(out == np.float32(1e20))[0]) for out in outs]
    assert all(place % ROLL == 0 for place in places)
    assert len(set(places)) > 20
    assert {float(np.sign(out[out < 1e19].mean())) for out in outs} == {-1.0, 1.0}


def test_zeros_fill_and_non_finite_values_keep_their_bits() -> None:
    data = np.linspace(1, 2, 4096).astype(np.float32)
    kept = np.array([0x7F800001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 0], np.uint32)
    data.view(np.uint32)[100:106] = kept
    data[200] = -999.0
    out = np.empty_like(data)

    fresh_variant(data, -999.0, 0.01, 3, out)

    bits = out.view(np.uint32)
    at = int(np.flatnonzero(bits == kept[0])[0])
    assert bits[at : at + 6].tolist() == kept.tolist()
    assert (out == -999.0).sum() == 1


@pytest.mark.parametrize("case", core_suite(), ids=lambda case: case.name)
def test_what_is_finite_stays_finite_and_what_is_not_stays(case: SuiteCase) -> None:
    for bound in (0.0, 1e-3, 1e36):
        out = np.empty_like(case.data)

        fresh_variant(case.data, case.fill_value, bound, 5, out)

        assert np.isfinite(out).sum() == np.isfinite(case.data).sum()
        assert np.isnan(out).sum() == np.isnan(case.data).sum()
        assert (out == 0).sum() >= (case.data == 0).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bound", [0.0, 1e-300])
def test_a_lossless_bound_still_changes_the_content(dtype: type[np.float32], bound: float) -> None:
    data = np.linspace(200, 300, 60_000).astype(dtype)

    changed = np.sort(np.abs(variant(data, None, bound, 11)))

    assert (changed != data).mean() > 0.5
    assert np.abs(changed - data).max() < 100 * np.spacing(dtype(300))


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 511, 512, 513, 1025])
def test_every_length_is_a_roll_plus_a_walk(n: int) -> None:
    data = np.arange(1, n + 1, dtype=np.float32) * 1000

    out = np.abs(variant(data, None, 1.0, n))

    nearest = np.sort(np.round(out / 1000)).astype(int)
    assert nearest.tolist() == list(range(1, n + 1))


def test_the_original_is_not_touched() -> None:
    data = np.ones((4, 5))
    data.flags.writeable = False

    variant(data, None, 0.1, 0)

    assert (data == 1).all()


@pytest.mark.parametrize(
    "out",
    [np.empty(5, np.float32), np.empty(6), np.empty((6, 2), np.float32)[:, 0]],
    ids=["shape", "dtype", "strided"],
)
def test_an_output_that_does_not_fit_is_an_error(out: Array) -> None:
    with pytest.raises(ValueError, match="C-contiguous"):
        fresh_variant(np.zeros(6, np.float32), None, 0.1, 0, out)
