"""The entropy stage of the reference codec `sz`: exact, near the entropy, and safe on any bytes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.kernels import plain_words
from tests.kernels.submissions import BASELINES, loaded

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

FOLDER = BASELINES / "numba" / "sz-open" / "sz"
LOWEST, HIGHEST = -(2**31), 2**31 - 1
MARGIN = 64
"""Elements on both sides of what may be written, which must stay as they are."""
SIZES = [1, 2, 3, 31, 32, 33, 95, 96, 97, 255, 256, 257, 2047, 2048, 2049, 32767, 32768, 32769]

law = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def entropy() -> Iterator[ModuleType]:
    with loaded("sz-open", "sz"):
        yield importlib.import_module("entropy")


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    return plain_words.plain_entropy(Path(FOLDER))


@pytest.fixture(autouse=True)
def _addresses_end_with_a_test() -> Iterator[None]:
    yield
    plain_words.forget()


def packed(entropy: ModuleType, codes: Codes, at: int = 0) -> Bytes:
    """The slab from a place on, in an array that ends with it; nothing else is written."""
    space = np.full(at + entropy.bound(codes.size) + MARGIN, 0xA5, np.uint8)
    end = entropy.encode(codes, space, at)
    assert at <= end <= space.size - MARGIN
    assert (space[:at] == 0xA5).all()
    assert (space[-MARGIN:] == 0xA5).all()
    return space[:end].copy()


def unpacked(entropy: ModuleType, data: Bytes, at: int, n: int) -> tuple[int, Codes]:
    """The new place and the codes; nothing else is written."""
    space = np.full(n + 2 * MARGIN, 7, np.int32)
    end = entropy.decode(data, at, n, space[MARGIN : MARGIN + n])
    assert (space[:MARGIN] == 7).all()
    assert (space[MARGIN + n :] == 7).all()
    return int(end), space[MARGIN : MARGIN + n]


def require_round_trip(entropy: ModuleType, codes: Codes, at: int = 0) -> int:
    """The slab's bytes."""
    data = packed(entropy, codes, at)
    end, decoded = unpacked(entropy, data, at, codes.size)
    assert end == data.size
    np.testing.assert_array_equal(decoded, codes)
    return data.size - at


def normal(n: int, spread: float, seed: int = 0) -> Codes:
    values = np.rint(np.random.default_rng(seed).standard_normal(n) * spread)
    codes: Codes = np.clip(values, LOWEST, HIGHEST).astype(np.int32)
    return codes


def geometric(n: int, mean: float, seed: int = 0) -> Codes:
    """Two-sided: what prediction usually leaves."""
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(1.0 / (1.0 + mean), n) - 1
    codes: Codes = (sizes * rng.choice([-1, 1], n)).astype(np.int32)
    return codes


def kinds(n: int) -> dict[str, Codes]:
    rng = np.random.default_rng(n)
    runs = np.repeat(normal(n, 3.0), 1 + rng.integers(0, 400, n))[:n]
    sparse = np.where(rng.random(n) < 0.002, normal(n, 9.0), 0)
    few = rng.choice([0, 0, 0, 15, -30, 45, 7000, -123456], n)
    return {
        "zeros": np.zeros(n, np.int32),
        "ones": np.ones(n, np.int32),
        "a constant": np.full(n, -77, np.int32),
        "the lowest": np.full(n, LOWEST, np.int32),
        "the highest": np.full(n, HIGHEST, np.int32),
        "alternating": (np.arange(n) % 2 * 2 - 1).astype(np.int32),
        "alternating extremes": np.where(np.arange(n) % 2, LOWEST, HIGHEST).astype(np.int32),
        "all distinct": (np.arange(n) - n // 2).astype(np.int32),
        "anything": rng.integers(LOWEST, HIGHEST, n, np.int32, endpoint=True),
        "long runs": runs.astype(np.int32),
        "nearly all zero": sparse.astype(np.int32),
        "few large ones": few.astype(np.int32),
        "a list and one more": np.append(few[1:], 99).astype(np.int32),
        "geometric": geometric(n, 1.5),
        "broad": normal(n, 300.0),
        "huge": normal(n, 1e9),
        "powers of two": (1 << rng.integers(0, 31, n)).astype(np.int32) * rng.choice([-1, 1], n),
    }


@pytest.mark.parametrize("kind", list(kinds(1)))
def test_codes_come_back_at_every_size_around_a_border(entropy: ModuleType, kind: str) -> None:
    for n in SIZES:
        require_round_trip(entropy, np.asarray(kinds(n)[kind], np.int32))


def test_codes_of_many_chunks_come_back(entropy: ModuleType) -> None:
    for codes in kinds(200_001).values():
        require_round_trip(entropy, np.asarray(codes, np.int32))


def test_no_codes_are_no_bytes(entropy: ModuleType) -> None:
    assert require_round_trip(entropy, np.zeros(0, np.int32), at=5) == 0


def test_slabs_follow_each_other_from_any_place(entropy: ModuleType) -> None:
    parts = [geometric(999, 1.0), np.zeros(0, np.int32), normal(5000, 40.0), geometric(1, 3.0)]
    space, at = np.zeros(3 + sum(entropy.bound(part.size) for part in parts), np.uint8), 3
    for part in parts:
        at = entropy.encode(part, space, at)
    data, at = space[:at].copy(), 3

    for part in parts:
        at, decoded = unpacked(entropy, data, at, part.size)
        np.testing.assert_array_equal(decoded, part)

    assert at == data.size


@law
@given(
    codes=hnp.arrays(
        np.int32,
        st.integers(0, 300),
        elements=st.one_of(
            st.integers(-3, 3),
            st.integers(-200, 200),
            st.sampled_from([LOWEST, HIGHEST, 1 << 28, -(1 << 28)]),
            st.integers(LOWEST, HIGHEST),
        ),
        fill=st.just(0),
    ),
    at=st.integers(0, 9),
)
def test_any_codes_come_back(entropy: ModuleType, codes: Codes, at: int) -> None:
    require_round_trip(entropy, codes, at)


# ---- sizes ---------------------------------------------------------------------------------------


def entropy_bits(codes: Codes) -> float:
    counts = np.unique(codes, return_counts=True)[1]
    return float(-(counts * np.log2(counts / codes.size)).sum())


@pytest.mark.parametrize(
    ("mean", "allowed"),
    [(0.02, 1.07), (0.1, 1.05), (0.3, 1.03), (0.8, 1.03), (2.0, 1.03), (6.0, 1.03), (40.0, 1.03)],
)
def test_geometric_codes_take_little_more_than_their_entropy(
    entropy: ModuleType, mean: float, allowed: float
) -> None:
    codes = geometric(1 << 18, mean)

    assert 8 * require_round_trip(entropy, codes) <= allowed * entropy_bits(codes)


def test_zeros_alone_take_next_to_nothing(entropy: ModuleType) -> None:
    assert require_round_trip(entropy, np.zeros(1 << 20, np.int32)) <= 100


def test_runs_of_zeros_are_used(entropy: ModuleType) -> None:
    rng = np.random.default_rng(5)
    codes = np.where(np.repeat(rng.random(1 << 11) < 0.05, 1 << 7), geometric(1 << 18, 1.0), 0)
    codes = codes.astype(np.int32)

    assert 8 * require_round_trip(entropy, codes) <= 0.6 * entropy_bits(codes)


def test_what_comes_before_is_used(entropy: ModuleType) -> None:
    rng = np.random.default_rng(6)
    scale = np.repeat(rng.choice([0.5, 30.0], 1 << 10), 1 << 8)
    codes = np.rint(rng.standard_normal(scale.size) * scale).astype(np.int32)

    assert 8 * require_round_trip(entropy, codes) <= 0.9 * entropy_bits(codes)


def test_few_large_codes_cost_no_more_than_few_small_ones(entropy: ModuleType) -> None:
    places = np.random.default_rng(7).integers(0, 60, 1 << 18)
    small, large = (places - 30).astype(np.int32), ((places - 30) * 1009).astype(np.int32)

    assert require_round_trip(entropy, large) <= 1.01 * require_round_trip(entropy, small)


def test_noise_takes_hardly_more_than_its_own_bytes(entropy: ModuleType) -> None:
    codes = np.random.default_rng(8).integers(LOWEST, HIGHEST, 10_000, np.int32, endpoint=True)

    assert require_round_trip(entropy, codes) <= codes.nbytes + 1


# ---- damage --------------------------------------------------------------------------------------

DAMAGED = {
    "quads": geometric(700, 0.8),
    "zeros": np.where(np.arange(3000) % 500 < 20, geometric(3000, 2.0), 0).astype(np.int32),
    "tokens": normal(300, 90.0),
    "a list": np.random.default_rng(2).choice([0, 0, 99, -5000, 3], 900).astype(np.int32),
    "stored": np.random.default_rng(3).integers(LOWEST, HIGHEST, 40, np.int32),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_every_truncation_is_refused(entropy: ModuleType, name: str) -> None:
    codes = DAMAGED[name]
    data = packed(entropy, codes)

    for length in range(data.size):
        assert unpacked(entropy, data[:length].copy(), 0, codes.size)[0] == -1


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_refused_or_decoded_in_bounds(entropy: ModuleType, name: str) -> None:
    codes, rng = DAMAGED[name], np.random.default_rng(9)
    data = packed(entropy, codes)

    for _ in range(3000):
        broken = data.copy()
        many = rng.integers(1, 6)
        broken[rng.integers(0, data.size, many)] = rng.integers(0, 256, many)
        end, _ = unpacked(entropy, broken, 0, codes.size)
        assert end == -1 or 0 < end <= data.size


@law
@given(
    data=st.binary(min_size=0, max_size=400),
    kind=st.integers(0, 7),
    n=st.integers(0, 70_000),
)
def test_any_bytes_are_refused_or_decoded_in_bounds(
    entropy: ModuleType, data: bytes, kind: int, n: int
) -> None:
    array = np.frombuffer(bytes([kind]) + data, np.uint8).copy()

    assert -1 <= unpacked(entropy, array, 0, n)[0] <= array.size


def test_a_place_or_a_size_that_cannot_be_is_refused(entropy: ModuleType) -> None:
    codes = geometric(100, 1.0)
    data, space = packed(entropy, codes), np.zeros(100, np.int32)

    for at, n in ((-1, 100), (data.size, 100), (data.size + 9, 100), (0, 101), (0, -1)):
        assert entropy.decode(data, at, n, space) == -1


# ---- the same code on checked memory -------------------------------------------------------------


@pytest.mark.parametrize("name", DAMAGED)
def test_compiled_and_plain_write_the_same_bytes_and_only_where_they_may(
    entropy: ModuleType, plain: ModuleType, name: str
) -> None:
    codes = DAMAGED[name]
    data = packed(entropy, codes)

    np.testing.assert_array_equal(packed(plain, codes), data)
    end, decoded = unpacked(plain, data, 0, codes.size)

    assert end == data.size
    np.testing.assert_array_equal(decoded, codes)


@pytest.mark.parametrize("name", DAMAGED)
def test_the_encoder_keeps_to_its_memory_for_every_size_of_a_tail(
    plain: ModuleType, name: str
) -> None:
    for n in (1, 15, 16, 17, 31, 32, 33, 40):
        codes = DAMAGED[name][:n].copy()
        space = np.zeros(plain.bound(n), np.uint8)
        end = plain.encode(codes, space, 0)
        assert plain.decode(space[:end].copy(), 0, n, np.zeros(n, np.int32)) == end


@pytest.mark.parametrize("name", DAMAGED)
def test_no_damage_leads_the_decoder_outside_of_its_arrays(plain: ModuleType, name: str) -> None:
    codes, rng = DAMAGED[name], np.random.default_rng(10)
    space = np.zeros(plain.bound(codes.size), np.uint8)
    data = space[: plain.encode(codes, space, 0)].copy()
    for trial in range(60):
        broken = data.copy()
        many = rng.integers(1, 4)
        # Most of them near the head, where lengths and counts are.
        places = rng.integers(0, min(data.size, 60 if trial % 3 else data.size), many)
        broken[places] = rng.integers(0, 256, many)
        end = plain.decode(broken, 0, codes.size, np.zeros(codes.size, np.int32))
        assert end == -1 or 0 < end <= data.size
        plain_words.forget()


@pytest.mark.parametrize("name", DAMAGED)
def test_no_truncation_leads_the_decoder_outside_of_its_arrays(
    plain: ModuleType, name: str
) -> None:
    codes = DAMAGED[name]
    space = np.zeros(plain.bound(codes.size), np.uint8)
    data = space[: plain.encode(codes, space, 0)].copy()

    for length in range(0, data.size, 1 + data.size // 40):
        target = np.zeros(codes.size, np.int32)
        assert plain.decode(data[:length].copy(), 0, codes.size, target) == -1
        plain_words.forget()
