"""Faults of other compressors that were reported, as cases that our reference codecs must pass.

Numbers and issues are those of a survey of the SZ family's trackers; those that test a verifier are
in `test_published_verifier_cases`. Each codec is a worked submission, called as a child calls it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import numpy.typing as npt
import pytest

from kernels import baselines
from kernels.bounds import derive
from kernels.modes.pointwise import log_bound, restore, transform
from kernels.records import Array
from kernels.verify import compare, compare_pointwise
from tests.kernels.submissions import loaded

CODECS = [
    (task, style) for task in ("szp", "szx", "sz-open") for style in baselines.styles(task)[1:]
]
"""All but those written to be read."""
QUICK = ("szp", "tuned")
"""Of one codec every case runs every time."""
KINDS = ("float32", "float64")


UNCHECKED = ("sz-open", "tuned")
"""Its streams carry no check: it shows agents how to be fast, and `sz` how to be safe as well."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one, id="-".join(one), marks=() if one == QUICK else pytest.mark.slow)
        for one in CODECS
    ],
)
def codec(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    with loaded(*request.param) as module:
        yield module


@pytest.fixture
def checked(codec: ModuleType) -> ModuleType:
    if Path(str(codec.__file__)).parts[-3:-1] == UNCHECKED:
        pytest.skip("its streams carry no check")
    return codec


def round_trip(codec: ModuleType, data: Array, bound: float) -> tuple[Array, int]:
    """What comes back, within the bound, of the same shape and type; and the stream's bytes."""
    stream = codec.compress(data.copy(), bound)
    decoded: Array = codec.decompress(stream, data.shape, data.dtype)
    comparison = compare(data, decoded, bound)
    assert comparison.holds, comparison
    assert (decoded.shape, decoded.dtype) == (data.shape, data.dtype)
    return decoded, int(stream.size)


def same_bits(a: Array, b: Array) -> bool:
    return a.tobytes() == b.tobytes()


def uniform(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def smooth(*shape: int) -> npt.NDArray[np.float64]:
    axes = np.meshgrid(*(np.arange(n) / 16 for n in shape), indexing="ij", sparse=True)
    return np.asarray(sum(np.sin(axis * (k + 1) + k) for k, axis in enumerate(axes)))


@pytest.mark.parametrize("kind", ["linear", "random"])
def test_case_2_float64_of_two_dimensions_at_1e_minus_5(codec: ModuleType, kind: str) -> None:
    """SZ2#10: 10000×1000; here a tenth along each axis, the whole below."""
    round_trip(codec, _plane(kind, 1000, 100), 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear", "random"])
def test_case_2_float64_of_10_million_values(codec: ModuleType, kind: str) -> None:
    """SZ2#10."""
    round_trip(codec, _plane(kind, 10000, 1000), 1e-5)


def _plane(kind: str, *shape: int) -> Array:
    size = math.prod(shape)
    if kind == "random":
        return np.random.default_rng(2).random(shape)
    return np.linspace(0, 1, size).reshape(shape)


@pytest.mark.parametrize("shape", [(16, 16), (16, 17), (17, 17)])
def test_case_3_small_random_planes_do_not_crash(codec: ModuleType, shape: tuple[int, int]) -> None:
    """SZ2#9."""
    round_trip(codec, np.random.default_rng(3).random(shape), 1e-5)


def test_case_4_four_values_at_1(codec: ModuleType) -> None:
    """SZ3#48."""
    data = [-364.52299570321952, 335.00858999457955, 468.86777112423135, -278.96595701729507]

    round_trip(codec, np.array(data), 1.0)


@pytest.mark.parametrize(("mode", "bound"), [("abs", 1e-6), ("rel", 1e-16)])
def test_case_5_bounds_far_below_a_last_place_in_four_dimensions(
    codec: ModuleType, mode: str, bound: float
) -> None:
    """SZ3#61: 32^4 float32 of range 70.4; runs that finished showed an error of 370."""
    data = 70.4 * uniform(32, 32, 32, 32, seed=5)

    round_trip(codec, data, derive(data, None, mode, bound).absolute)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("case", "value"), [("6", math.nan), ("7", math.inf), ("7", -math.inf)])
def test_cases_6_and_7_what_is_not_finite_comes_back_and_its_neighbours_are_bounded(
    codec: ModuleType, case: str, value: float, dtype: str
) -> None:
    """SZ3 PR#91: NaN every 97th. zfp FAQ Q6: ±Inf likewise."""
    data = smooth(40, 50).astype(dtype)
    data.reshape(-1)[::97] = value

    decoded, _ = round_trip(codec, data, 1e-3)

    assert np.array_equal(np.isfinite(decoded), np.isfinite(data)), case


def test_case_8_uniform_noise_of_three_dimensions(codec: ModuleType) -> None:
    """SZ2#108, hdf5plugin#267: U(0,1) of seed 0, (1000, 25, 25) at 0.01."""
    np_random = np.random.RandomState(0)  # the generator of the report

    round_trip(codec, np_random.rand(1000, 25, 25).astype(np.float32), 0.01)


def test_case_9_three_dimensions_are_as_good_as_one(codec: ModuleType) -> None:
    """SZ2#70: randn of seed 123, 100^3 at 0.1: an error of 1.8e11 in 3-D, none in 1-D."""
    data = np.random.RandomState(123).randn(100, 100, 100).astype(np.float32)

    _, cube = round_trip(codec, data, 0.1)
    _, line = round_trip(codec, data.reshape(-1), 0.1)

    assert cube < 1.3 * line


@pytest.mark.parametrize("dtype", KINDS)
def test_case_10_a_bound_of_0_is_bit_exact(codec: ModuleType, dtype: str) -> None:
    """SZ2#28, #118; MGARD#32."""
    data = smooth(30, 41).astype(dtype)
    data[0, :3] = -0.0, math.nan, math.inf

    decoded, _ = round_trip(codec, data, 0.0)

    assert same_bits(decoded, data)


def test_case_11_lossless_at_a_bound_that_is_not_0_still_stores_the_data(
    codec: ModuleType,
) -> None:
    """SZ3 PR#69. Ours store lossless where a bound is below 2^-100."""
    data = smooth(999).astype(np.float32)

    decoded, size = round_trip(codec, data, 1e-35)

    assert same_bits(decoded, data)
    assert size > 1000


def test_case_12_all_ones_in_many_shapes(codec: ModuleType) -> None:
    """MGARD#33: 10..999 × 10..99 float64 at 1e-8; here every 41st by every 13th."""
    for rows in [*range(10, 1000, 41), 999]:
        for columns in [*range(10, 100, 13), 99]:
            round_trip(codec, np.ones((rows, columns)), 1e-8)


@pytest.mark.parametrize("bound", [0.0, 1e-45, 1e-42, 1e-3])
def test_case_14_blocks_of_subnormals(codec: ModuleType, bound: float) -> None:
    """zfp#119."""
    steps = np.random.default_rng(14).integers(-9000, 9000, 4000)

    round_trip(codec, (steps * 1e-45).astype(np.float32), bound)


@pytest.mark.parametrize("sentinel", [1e30, 1e35])
def test_case_16_the_bound_holds_beside_sentinels(codec: ModuleType, sentinel: float) -> None:
    """zfp FAQ Q7."""
    data = (285 + 10 * smooth(60, 70)).astype(np.float32)
    data[np.random.default_rng(16).random(data.shape) < 0.05] = sentinel

    round_trip(codec, data, 0.01)


def test_case_17_the_cast_of_the_output_is_within_the_bound(codec: ModuleType) -> None:
    """SPERR#78: 128^3 float32 at 0.01, decoded in double and then cast. Here 64^3, large values."""
    data = (3e5 * smooth(64, 64, 64)).astype(np.float32)

    round_trip(codec, data, 0.01)


def test_case_22_a_ramp_to_100000(codec: ModuleType) -> None:
    """cuSZp#6: 1..100000 at 1e-2."""
    round_trip(codec, np.arange(1, 100001, dtype=np.float32), 1e-2)


@pytest.mark.parametrize("dtype", KINDS)
def test_case_24_threads_change_neither_bound_nor_size(codec: ModuleType, dtype: str) -> None:
    """SZ3#64: the ratio fell from 97 to 1.0; #103: a crash at 16 threads."""
    data = smooth(70, 90, 60).astype(dtype)
    most = numba.get_num_threads()
    sizes = []
    try:
        for threads in sorted({1, most}):
            numba.set_num_threads(threads)
            sizes.append(round_trip(codec, data, 1e-3)[1])
    finally:
        numba.set_num_threads(most)

    assert max(sizes) < 1.02 * min(sizes)


def test_case_25_lossless_with_threads_on_a_small_cube(codec: ModuleType) -> None:
    """SZ3#136: 8×8×128."""
    data = uniform(8, 8, 128)

    decoded, _ = round_trip(codec, data, 0.0)

    assert same_bits(decoded, data)


def test_case_27_a_stream_that_is_cut_or_changed_is_an_error(checked: ModuleType) -> None:
    """SZ3 PR#135."""
    data = smooth(25, 40).astype(np.float32)
    stream = checked.compress(data.copy(), 1e-3)
    places = np.random.default_rng(27).integers(0, 8 * stream.size, 60)

    for length in (*range(0, stream.size, max(1, stream.size // 40)), stream.size - 1):
        with pytest.raises(ValueError, match=r"\w"):
            checked.decompress(stream[:length].copy(), data.shape, data.dtype)
    for place in places.tolist():
        broken = stream.copy()
        broken[place // 8] ^= 1 << place % 8
        with pytest.raises(ValueError, match=r"\w"):
            checked.decompress(broken, data.shape, data.dtype)


@pytest.mark.parametrize("dtype", KINDS)
def test_case_29_pointwise_zeros_are_exact_and_signs_are_kept(
    codec: ModuleType, dtype: str
) -> None:
    """SZ2#16: PW_REL 1e-2 with zeros and changes of sign."""
    data = smooth(50, 60).astype(dtype) * np.logspace(-9, 9, 60).astype(dtype)
    data[np.random.default_rng(29).random(data.shape) < 0.1] = 0.0
    logarithms = transform(data, 1e-2)

    decoded, _ = round_trip(codec, logarithms.values, log_bound(data.dtype, 1e-2))

    restored = restore(decoded, logarithms.side, data)
    assert compare_pointwise(data, restored, 1e-2).holds
    assert np.array_equal(np.sign(restored), np.sign(data))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((40, 25), "float32"), ((1000,), "float32"), ((25, 41), "float32"), ((25, 40), "float64")],
)
def test_case_33_other_dims_or_another_type_are_refused(
    checked: ModuleType, shape: tuple[int, ...], dtype: str
) -> None:
    """MGARD#85, ADIOS2#1848."""
    stream = checked.compress(smooth(25, 40).astype(np.float32), 1e-3)

    with pytest.raises(ValueError, match=r"\w"):
        checked.decompress(stream, shape, np.dtype(dtype))


SPECIAL: dict[str, Array] = {
    "minus zero": np.tile(np.array([-0.0, 0.0, 1.0], np.float32), 50),
    "range overflow": np.tile(np.array([3e38, -3e38, 0.0], np.float32), 50),
    "constant": np.full((7, 9), 7.5, np.float32),
    "0-D": np.array(2.5, np.float32),
    "0-D float64": np.array(-1e300),
    "empty": np.zeros(0, np.float32),
    "empty plane": np.zeros((0, 5)),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("bound", [0.0, 1e-3, 1.0])
def test_values_and_shapes_that_others_refuse_or_break_on(
    codec: ModuleType, name: str, bound: float
) -> None:
    """No issue number, measured: an empty array killed zfpy, and pysz refused it and 0-D."""
    round_trip(codec, SPECIAL[name], bound)


def test_a_constant_under_a_relative_bound_is_bit_exact(codec: ModuleType) -> None:
    data = SPECIAL["constant"]

    decoded, _ = round_trip(codec, data, derive(data, None, "rel", 1e-3).absolute)

    assert same_bits(decoded, data)


@pytest.mark.slow
@pytest.mark.parametrize("values", [768**3, (4 << 30) // 4 + 4097], ids=["768^3", "over 4 GiB"])
def test_case_21_no_tail_of_zeros_in_what_is_very_large(values: int) -> None:
    """zfp#121: more than 2^27 values; zfp#105: more than 4 GB. szp alone: by memory."""
    needed = 11 * values
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < needed:
        pytest.skip(f"{needed / 1e9:.0f} GB of free memory are needed")
    data = np.resize(uniform(1 << 20) + np.float32(1), values)

    with loaded(*QUICK) as szp:
        stream = szp.compress(data, 1e-3)
        decoded = szp.decompress(stream, data.shape, data.dtype)

    assert compare(data, decoded, 1e-3).holds
    assert decoded[-(1 << 20) :].min() > 0.99
