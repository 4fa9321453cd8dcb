"""Computed fields: what their names mean, the same bits everywhere, and their character."""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import pytest

from kernels.bounds import derive
from kernels.fields import Catalogue, UnknownFieldError, synthetic
from kernels.fields.patterns import OCTAVES, generate
from kernels.records import Array


def computed(name: str) -> Array:
    return synthetic.compute(synthetic.parse(name))


@pytest.mark.parametrize("name", synthetic.READY)
def test_a_ready_field_is_listed_small_and_as_described(name: str) -> None:
    catalogue = Catalogue()

    field = catalogue.load(name)

    assert name in catalogue.names()
    assert catalogue.problem(name) is None
    assert field.info.name == catalogue.info(name).name == name
    assert (field.data.shape, field.data.dtype.name) == (field.info.shape, field.info.dtype)
    assert field.data.nbytes <= 4_000_000
    assert not field.data.flags.writeable
    assert np.isfinite(field.data).all()
    assert derive(field.data, field.info.fill_value, "rel", 1e-3).absolute < 1.0


def test_one_ready_field_of_each_character_is_listed() -> None:
    assert {synthetic.parse(name).character for name in synthetic.READY} == set(
        synthetic.CHARACTERS
    )


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("synthetic:smooth:7x20x33", "ce3d160b272ec75b"),
        ("synthetic:turbulent:5x6x7x8:f64:seed=9", "822a38bc43dbe05b"),
        ("synthetic:particle:3x5000:seed=2", "4b850c6f2aa7963f"),
        ("synthetic:steps:40x50:fill", "88c83e831529411a"),
        ("synthetic:noise:10001:f64", "36506752fb21af0a"),
    ],
)
def test_the_bits_are_the_same_on_every_machine(name: str, digest: str) -> None:
    assert hashlib.sha256(computed(name).tobytes()).hexdigest()[:16] == digest


def test_what_is_computed_does_not_depend_on_how_long_the_rows_are_worked_on() -> None:
    waves = np.array([[64.0, 1.0], [4.0, 0.5]])
    none = np.empty((0, 2))
    long = np.empty((1, 1, 1, 10_000))
    generate(long, OCTAVES, waves, 0.0, 3, none, 0.0)

    for length in (1, 4095, 4096, 4097, 8193):
        short = np.empty((1, 1, 1, length))
        generate(short, OCTAVES, waves, 0.0, 3, none, 0.0)
        assert np.array_equal(short[0, 0, 0], long[0, 0, 0, :length])


def test_options_may_come_in_any_order_and_one_spelling_is_recorded() -> None:
    catalogue = Catalogue()

    info = catalogue.info("synthetic:steps:30x40:seed=7:fill:f64")

    assert info.name == "synthetic:steps:30x40:f64:fill:seed=7"
    assert catalogue.info("synthetic:steps:30x40").name == "synthetic:steps:30x40:seed=1"
    first = catalogue.load("synthetic:steps:30x40:seed=7:fill:f64")
    assert catalogue.load("synthetic:steps:30x40:f64:fill:seed=7") is first


def test_seeds_differ_and_a_single_precision_field_is_the_double_one_rounded() -> None:
    for character in synthetic.CHARACTERS:
        one = computed(f"synthetic:{character}:50x60")
        two = computed(f"synthetic:{character}:50x60:seed=2")
        double = computed(f"synthetic:{character}:50x60:f64")
        assert not np.array_equal(one, two)
        assert np.array_equal(one, double.astype(np.float32))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("synthetic:", "a character and dims are needed"),
        ("synthetic:rough:10", "no character 'rough'"),
        ("synthetic:smooth", "a character and dims are needed"),
        ("synthetic:smooth:10x0", "whole numbers above 0"),
        ("synthetic:smooth:10 x 10", "whole numbers above 0"),
        ("synthetic:smooth:-5", "whole numbers above 0"),
        ("synthetic:smooth:1x2x3x4x5", "5 axes"),
        ("synthetic:smooth:2147483648", "8,192 MiB is more"),
        ("synthetic:smooth:1024x1024x257", "1,028 MiB is more"),
        ("synthetic:smooth:1024x1024x129:f64", "1,032 MiB is more"),
        ("synthetic:turbulent:100000000x2", "put the longest axis last"),
        ("synthetic:smooth:10:f32", "no option 'f32'"),
        ("synthetic:smooth:10:seed=-1", "no option 'seed=-1'"),
        ("synthetic:smooth:10:seed=4294967296", "no option 'seed=4294967296'"),
        ("synthetic:smooth:10:seed=١", "no option 'seed=١'"),
        ("synthetic:smooth:10:fill=3", "no option 'fill=3'"),
        ("synthetic:smooth:10:fill:fill", "option fill is there twice"),
    ],
)
def test_a_name_that_can_not_be_computed_says_why_and_what_is_valid(name: str, why: str) -> None:
    catalogue = Catalogue()

    problem = catalogue.problem(name)

    assert problem is not None
    assert why in problem
    assert "smooth, turbulent, particle, steps, noise" in problem
    assert len(problem) < 700
    with pytest.raises(UnknownFieldError):
        catalogue.load(name)


def slope_of_spectrum(data: Array) -> float:
    """Of power against wave number, both logarithmic, along the last axis."""
    n = data.shape[-1]
    waves = np.fft.rfft((data - data.mean()) * np.hanning(n))
    power = np.square(np.abs(waves)).reshape(-1, n // 2 + 1).mean(axis=0)
    part = slice(6, n // 5)
    return float(np.polyfit(np.log(np.arange(n // 2 + 1)[part]), np.log(power[part]), 1)[0])


def test_a_turbulent_field_has_kolmogorovs_spectrum_and_a_smooth_one_falls_faster() -> None:
    assert -2.0 < slope_of_spectrum(computed("synthetic:turbulent:64x8192:f64")) < -1.5
    assert slope_of_spectrum(computed("synthetic:smooth:64x8192:f64")) < -4.0


def test_steps_are_few_values_with_jumps_and_nothing_between() -> None:
    data = computed("synthetic:steps:200x300:f64")

    assert 4 < np.unique(data).size < 40
    assert np.mean(np.diff(data, axis=-1) == 0) > 0.9


def test_noise_is_nearly_normal_and_without_memory() -> None:
    data = computed("synthetic:noise:200000:f64")

    assert abs(data.mean()) < 0.01
    assert abs(data.std() - 1.0) < 0.01
    assert abs(np.corrcoef(data[1:], data[:-1])[0, 1]) < 0.01


def test_particles_are_sorted_by_cell_only_and_stay_in_their_box() -> None:
    data = computed("synthetic:particle:200000:f64")
    coarse = data[: 200000 // 512 * 512].reshape(-1, 512).mean(axis=1)

    assert data.min() > -0.1
    assert data.max() < 256.1
    assert 0.3 < np.mean(np.diff(data) > 0) < 0.7
    assert np.mean(np.diff(coarse) > 0) > 0.95


def test_particles_move_little_from_one_time_to_the_next_and_stay_near_their_place() -> None:
    times = computed("synthetic:particle:500x1000:f64")

    step = np.abs(np.diff(times, axis=0)).mean()
    assert 0.0 < step < 0.02 * np.ptp(times)
    assert step < np.abs(times - times.mean(axis=0)).max() < 0.04 * np.ptp(times)


@pytest.mark.parametrize("character", synthetic.CHARACTERS)
def test_fill_covers_regions_that_are_the_same_on_every_level(character: str) -> None:
    name = f"synthetic:{character}:3x2x60x80:fill:seed=4"
    info = Catalogue().info(name)
    data = computed(name)

    filled = data == np.float32(info.fill_value)
    assert 0.05 < filled.mean() < 0.9
    assert (filled == filled[:1, :1]).all()
    assert np.abs(data[~filled]).max() < 1e3
    plain = computed(name.replace(":fill", ""))
    assert np.array_equal(plain[~filled], data[~filled])


def test_a_computed_field_is_made_once_by_threads_that_ask_at_the_same_time() -> None:
    catalogue = Catalogue()
    found = []

    def ask() -> None:
        found.append(catalogue.load("synthetic:turbulent:60x70x80:seed=3"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert all(one is found[0] for one in found)
