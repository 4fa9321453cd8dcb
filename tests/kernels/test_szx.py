"""The golden szx codec against its vectors and against a plain second implementation."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.streams import szx
from kernels.streams.errors import StreamError
from kernels.suite import SuiteCase, core_suite
from kernels.verify import compare
from tests.kernels import plain_szx

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("szx_*.npz"))
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
FORMATS: list[np.dtype[np.generic]] = [F32, F64]


def assert_matches_plain(data: Array, bound: float) -> Array:
    """Encode with both; the bytes agree, and both decoders agree on them. Returns the decoded."""
    stream = szx.encode(data, bound)
    assert stream.tobytes() == plain_szx.encode(data, bound)
    decoded = szx.decode(stream, data.shape, data.dtype)
    expected = plain_szx.decode(stream.tobytes(), data.shape, data.dtype)
    assert decoded.tobytes() == expected.tobytes()
    assert (decoded.shape, decoded.dtype) == (data.shape, data.dtype)
    assert compare(data, decoded, bound).holds
    assert stream.size <= szx.max_stream_bytes(data.size, data.itemsize)
    return decoded


def codes_of(data: Array, bound: float) -> list[int]:
    blocks = -(-data.size // 128)
    return list(szx.encode(data, bound)[72:][:blocks])


def drops_of(data: Array, bound: float) -> list[int]:
    blocks = -(-data.size // 128)
    return list(szx.encode(data, bound)[72 + blocks + -blocks % 4 :][:blocks])


# ---- the golden vectors and the specification ----------------------------------------------------


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_vector_encodes_to_its_bytes_and_decodes_to_its_values(path: Path) -> None:
    with np.load(path) as vector:
        data, bound, stream = vector["data"], float(vector["bound"]), vector["stream"]
        decoded = vector["decoded"]

    assert szx.encode(data, bound).tobytes() == stream.tobytes()
    result = szx.decode(stream, data.shape, data.dtype)
    assert result.tobytes() == decoded.tobytes()
    assert (result.shape, result.dtype) == (data.shape, data.dtype)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_vector_is_what_the_plain_codec_makes(path: Path) -> None:
    with np.load(path) as vector:
        data, bound, stream = vector["data"], float(vector["bound"]), vector["stream"]

    assert plain_szx.encode(data, bound) == stream.tobytes()


def test_there_are_golden_vectors() -> None:
    assert len(GOLDEN) == 34


def test_the_example_of_the_specification() -> None:
    stream = szx.encode(np.array([1, 1.25, 1.5, 2, -3, 1, 1, 1], np.float32), 0.1)

    assert stream[72:].tobytes().hex() == (
        "0200000013000000f8070000f8fc000800f8f8f80f0f1010000f0f0f"
    )
    assert stream[:4].tobytes() == b"SZX1"


def test_the_example_with_a_mask_of_the_page() -> None:
    stream = szx.encode(np.array([100, 1e20, 101, 104, 96, 110, 99, 90], np.float32), 0.5)

    assert stream[72:].tobytes().hex() == (
        "2100000011000000020000000000000000000000000000005a6100000a000b0e06140900"
    )
    assert struct.unpack_from("<Q", stream.tobytes(), 56) == (0x60AD78EC,)


@pytest.mark.parametrize("case", core_suite(), ids=lambda case: case.name)
def test_suite_case_matches_the_plain_codec(case: SuiteCase) -> None:
    data = case.data if case.data.ndim == 0 else case.data.reshape(-1)[-777:]

    for bound in (0.0, 1e-42, 1e-3, 0.37):
        assert_matches_plain(data, bound)


# ---- thresholds ----------------------------------------------------------------------------------

LIMITS = {
    F32: (2.0**-100, 2.0**100, 2.0**-24),
    F64: (2.0**-900, 2.0**900, 2.0**-53),
}


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("nudge", [-2, -1, -0.5, 0, 0.5, 1, 2, 4])
def test_bounds_beside_the_thresholds_match_the_plain_codec(
    dtype: np.dtype[np.generic], nudge: float
) -> None:
    floor, ceiling, unit = LIMITS[dtype]
    signs = np.array([1, -1, 0.3, 7, -1e-3, 0, 1e8])

    for scale in (floor, ceiling):
        assert_matches_plain((signs * scale).astype(dtype), scale * (1 + nudge * unit))


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("bound", [5e-324, 1e-300, 1e-45, 1e-30, 1e30, 1e38, 1e100, 1.7e308])
def test_bounds_of_any_size_match_the_plain_codec(
    dtype: np.dtype[np.generic], bound: float
) -> None:
    walk = np.random.default_rng(11).standard_normal(300).cumsum()

    for scale in (1e-44, 1e-30, 1.0, 1e30):
        assert_matches_plain((walk * scale).astype(dtype), bound)


def test_below_the_threshold_there_is_no_fill_and_no_middle_but_bits_are_dropped() -> None:
    data = np.array([1e-30, 1.1e-30, np.nan, 3e-30], np.float32)
    close = np.array([1.0, 1.0 + 2.0**-23], np.float32) * np.float32(2.0**-102)

    stream = szx.encode(data, 2.0**-101)

    assert stream[10] == 1
    assert codes_of(close, 2.0**-101) == [0]  # one of the two: what is left after the drop is equal
    assert drops_of(np.array([1, 2] * 64, np.float32) * np.float32(2.0**-95), 2.0**-105) == [13]
    assert_matches_plain(data, 2.0**-101)
    assert_matches_plain(close, 2.0**-101)


def test_a_bound_of_zero_drops_nothing_and_still_compresses() -> None:
    data = (1.0 + np.arange(128) * 2.0**-23).astype(np.float32)

    stream = szx.encode(data, 0.0)

    assert stream.size == 72 + 8 + 4 + 128
    assert drops_of(data, 0.0) == [0]
    assert assert_matches_plain(data, 0.0).tobytes() == data.tobytes()


@pytest.mark.parametrize(("dtype", "most"), [(F32, 23), (F64, 52)], ids=str)
def test_no_block_drops_more_than_the_mantissa(dtype: np.dtype[np.generic], most: int) -> None:
    data = np.geomspace(1e-30, 1e3, 128).astype(dtype)

    assert drops_of(data, 400.0) == [most]
    assert_matches_plain(data, 400.0)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_top_finite_exponent_is_kept_whole_and_the_one_below_is_not(
    dtype: np.dtype[np.generic],
) -> None:
    largest = float(np.finfo(np.float32 if dtype == F32 else np.float64).max)
    top = np.linspace(largest * 0.6, largest, 128).astype(dtype)
    bound = largest * 2.0**-12

    assert drops_of(top, bound) == [0]
    assert drops_of(top / 2, bound) != [0]
    assert np.isfinite(assert_matches_plain(top, bound)).all()
    assert_matches_plain(top / 2, bound)
    assert_matches_plain(-top, bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_middle_is_taken_at_the_tolerance_and_not_beyond(dtype: np.dtype[np.generic]) -> None:
    tol = plain_szx.tolerance(0.25, plain_szx.KINDS[dtype])
    at = np.array([-tol, tol], dtype)
    beyond = at + np.array([0.0, tol * 2.0**-20], dtype)

    assert codes_of(np.tile(at, 64), 0.25) == [0]
    assert codes_of(np.tile(beyond, 64), 0.25) != [0]
    assert_matches_plain(at, 0.25)
    assert_matches_plain(beyond, 0.25)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_a_middle_of_zero_has_no_sign_but_equal_bits_keep_theirs(
    dtype: np.dtype[np.generic],
) -> None:
    both = assert_matches_plain(np.array([0.0, -0.0, -0.0], dtype), 0.1)
    cancelled = assert_matches_plain(np.array([-0.01, 0.01], dtype), 0.1)
    negative = assert_matches_plain(np.array([-0.0, -0.0], dtype), 0.1)

    assert not np.signbit(both).any()
    assert not np.signbit(cancelled).any()
    assert np.signbit(negative).all()


# ---- masks, fill, raw ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_an_array_of_nan_is_whole_fill_blocks(dtype: np.dtype[np.generic]) -> None:
    data = np.full(1000, np.nan, dtype)

    assert codes_of(data, 0.1) == [254] * 8
    assert szx.encode(data, 0.1).size == 72 + 8 + 8
    assert_matches_plain(data, 0.1)


def test_only_the_first_far_value_is_the_fill() -> None:
    data = np.full(384, 7.0, np.float32)
    data[[3, 200]] = 1e30
    data[[5, 300]] = np.nan

    stream = szx.encode(data, 0.1)

    assert stream[72:75].tolist() == [255, 32, 255]
    assert struct.unpack_from("<I", stream.tobytes(), 56)[0] == np.float32(1e30).view(np.uint32)
    assert_matches_plain(data, 0.1)


def test_a_value_at_the_very_reach_of_the_quantiser_is_the_fill() -> None:
    data = np.array([2.0**20 - 1, -(2.0**20), 3.0, 9e9], np.float32)
    bound = 0.5 + 2.0**-25  # T is 0.5, so that the reach is 2^20

    stream = szx.encode(data, bound)

    assert struct.unpack_from("<Q", stream.tobytes(), 56)[0] == data.view(np.uint32)[1]
    assert_matches_plain(data, bound)


def test_a_masked_constant_is_kept_even_where_raw_is_shorter() -> None:
    data = np.array([1e30, 4.0], np.float32)

    stream = szx.encode(data, 0.1)

    assert stream[72] == 32
    assert stream.size == 72 + 8 + 16 + 4 > 72 + 8 + data.nbytes
    assert_matches_plain(data, 0.1)


def test_planes_as_long_as_the_values_are_stored_raw() -> None:
    # Three planes and a base are 4 + 3·4 bytes for four values, as many as the values have.
    four = np.array([1.0, 1.5, 1.25, 1.75], np.float32)
    five = np.array([1.0, 1.5, 1.25, 1.75, 1.125, 1.0, 1.0, 1.0], np.float32)

    assert codes_of(four, 2.0**-20) == [255]
    assert codes_of(five, 2.0**-20) == [3]
    assert_matches_plain(four, 2.0**-20)
    assert_matches_plain(five, 2.0**-20)


def test_payloads_of_nan_are_kept_bit_for_bit() -> None:
    data = np.ones(300, np.float32)
    data.view(np.uint32)[[3, 40, 41, 299]] = [0x7F800001, 0xFFC12345, 0x7F800001, 0xFFFFFFFF]

    decoded = assert_matches_plain(data, 0.1)

    places = [3, 40, 41, 299]
    assert decoded.view(np.uint32)[places].tolist() == data.view(np.uint32)[places].tolist()


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("count", range(1, 130))
def test_tails_of_every_length_match_the_plain_codec(
    dtype: np.dtype[np.generic], count: int
) -> None:
    data = (285 + np.random.default_rng(count).standard_normal(128 + count)).astype(dtype)
    holes = data.copy()
    holes[::5] = 1e20

    for bound in (1e-3, 0.3, 3.0):
        assert_matches_plain(data, bound)
        assert_matches_plain(holes, bound)


def test_every_number_of_planes_occurs_and_matches_the_plain_codec() -> None:
    for dtype in FORMATS:
        data = np.random.default_rng(4).uniform(1, 2, 256).astype(dtype)
        seen = set()
        for digits in range(18):
            seen |= set(codes_of(data, 10.0**-digits))
            assert_matches_plain(data, 10.0**-digits)
        assert seen >= set(range(1, dtype.itemsize))


def test_four_dimensional_data_with_fill_matches_the_plain_codec() -> None:
    rng = np.random.default_rng(8)
    data = rng.standard_normal((3, 4, 5, 6)).astype(np.float32)
    data[rng.random(data.shape) < 0.2] = -np.inf

    decoded = assert_matches_plain(data, 1e-3)

    assert np.array_equal(np.isinf(decoded), np.isinf(data))


def test_a_field_longer_than_a_batch_equals_its_parts() -> None:
    rng = np.random.default_rng(9)
    data = rng.standard_normal(64 * 4096 + 4096 + 5).cumsum().astype(np.float32)
    data[rng.integers(100_000, data.size, 5000)] = np.nan
    stream = szx.encode(data, 0.01)

    decoded = szx.decode(stream, data.shape, data.dtype)

    assert decoded.tobytes() == plain_szx.decode(stream.tobytes(), data.shape, F32).tobytes()
    assert stream.tobytes() == plain_szx.encode(data, 0.01)
    assert compare(data, decoded, 0.01).holds


# ---- what it takes and refuses -------------------------------------------------------------------


def test_fortran_order_and_strides_are_read_in_c_order() -> None:
    data = np.arange(60, dtype=np.float32).reshape(5, 12)

    assert szx.encode(data.T, 0.1).tobytes() == szx.encode(data.T.copy(), 0.1).tobytes()
    assert (
        szx.encode(data[:, ::-2], 0.1).tobytes() == szx.encode(data[:, ::-2].copy(), 0.1).tobytes()
    )


@pytest.mark.parametrize("dtype", ["f2", ">f4", "i4", "c8"])
def test_other_dtypes_have_no_stream(dtype: str) -> None:
    with pytest.raises(StreamError, match="float32 or float64"):
        szx.encode(np.zeros(3, dtype), 0.1)


@pytest.mark.parametrize("bound", [-1.0, float("nan"), float("inf")])
def test_impossible_bounds_are_refused(bound: float) -> None:
    with pytest.raises(StreamError, match="finite and ≥ 0"):
        szx.encode(np.zeros(3, np.float32), bound)


def test_too_many_values_or_dimensions_are_refused() -> None:
    with pytest.raises(StreamError, match="fewer than"):
        szx.encode(np.broadcast_to(np.float32(0), (2**31,)), 0.1)
    with pytest.raises(StreamError, match="0-D to 4-D"):
        szx.encode(np.zeros((1, 1, 1, 1, 1), np.float32), 0.1)


# ---- laws ----------------------------------------------------------------------------------------


@given(
    values=st.lists(st.floats(width=32), max_size=150),
    bound=st.one_of(st.just(0.0), st.floats(1e-45, 1e38), st.floats(0, 4)),
)
@settings(max_examples=200, deadline=None)
def test_any_float32_values_match_the_plain_codec(values: list[float], bound: float) -> None:
    assert_matches_plain(np.array(values, np.float32), bound)


@given(
    values=st.lists(st.floats(), max_size=150),
    bound=st.one_of(st.floats(0.0, 1e305), st.floats(0, 4)),
)
@settings(max_examples=200, deadline=None)
def test_any_float64_values_match_the_plain_codec(values: list[float], bound: float) -> None:
    assert_matches_plain(np.array(values, np.float64), bound)


@given(
    seed=st.integers(0, 2**32),
    digits=st.floats(-9, 3),
    holes=st.floats(0, 1),
    n=st.integers(1, 400),
)
@settings(max_examples=150, deadline=None)
def test_walks_with_holes_match_the_plain_codec(
    seed: int, digits: float, holes: float, n: int
) -> None:
    rng = np.random.default_rng(seed)
    data = (285 + rng.standard_normal(n).cumsum()).astype(F32 if seed % 2 else F64)
    data[rng.random(n) < holes] = rng.choice([1e20, np.nan, np.inf])

    assert_matches_plain(data, 10.0**digits)


@given(seed=st.integers(0, 2**32), dtype=st.sampled_from(FORMATS), width=st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_neighbouring_bit_patterns_match_the_plain_codec(
    seed: int, dtype: np.dtype[np.generic], width: int
) -> None:
    rng = np.random.default_rng(seed)
    integer = np.uint32 if dtype == F32 else np.uint64
    start = rng.integers(0, 2 ** (8 * dtype.itemsize), 1, np.uint64)
    patterns = start + rng.integers(0, 2**width, 200, np.uint64)
    data = patterns.astype(integer).view(dtype)
    finite = np.abs(data[np.isfinite(data)].astype(np.float64))
    scale = float(finite.max(initial=1.0)) * 2.0 ** rng.uniform(-30, 0)

    assert_matches_plain(data, scale if np.isfinite(scale) else 1.0)


def free_stream(rng: np.random.Generator, n: int, dtype: np.dtype[np.generic]) -> bytes:
    """A legal stream that no canonical encoder writes: any codes, drops, masks, bases, fill."""
    blocks, most = -(-n // 128), 23 if dtype == F32 else 52
    plane_counts = np.arange(dtype.itemsize)
    codes = rng.choice([*plane_counts, *(32 + plane_counts), 254, 255], blocks).astype(np.uint8)
    drops = np.zeros(blocks, np.uint8)
    payload = b""
    for block, code in enumerate(codes.tolist()):
        count = min(128, n - 128 * block)
        if code == 255:
            payload += rng.bytes(count * dtype.itemsize)
        elif code < 64:
            payload += rng.bytes(dtype.itemsize + (16 if code >= 32 else 0))
            for _ in range(code % 32):
                payload += rng.bytes(count) + bytes(-count % 4)
                drops[block] = rng.integers(0, most + 1)
    pads = bytes(-blocks % 4)
    body = codes.tobytes() + pads + drops.tobytes() + pads + payload
    fill = int(rng.integers(0, 2**32)) if dtype == F32 else int(rng.integers(0, 2**63))
    return with_header(body, (n,), dtype, fill=fill, flags=2 | int(rng.integers(0, 2)))


def with_header(
    body: bytes, shape: tuple[int, ...], dtype: np.dtype[np.generic], *, fill: int, flags: int
) -> bytes:
    """A header by hand, so that it can say anything."""
    words = np.frombuffer(body, np.uint32)
    check = sum((2 * i + 1) * int(w) for i, w in enumerate(words)) % 2**64 if flags & 1 else 0
    code = 1 if dtype == F32 else 2
    dims = (*shape, 1, 1, 1, 1)[:4]
    rest = struct.pack("<BBB5x4QdQQ", code, len(shape), flags, *dims, 0.0, fill, check)
    return b"SZX1" + struct.pack("<I", zlib.crc32(rest)) + rest + body


@given(
    seed=st.integers(0, 2**32),
    n=st.one_of(st.integers(1, 600), st.just(4096 + 33)),
    dtype=st.sampled_from(FORMATS),
)
@settings(max_examples=100, deadline=None)
def test_every_legal_stream_is_read(seed: int, n: int, dtype: np.dtype[np.generic]) -> None:
    stream = free_stream(np.random.default_rng(seed), n, dtype)

    decoded = szx.decode(np.frombuffer(stream, np.uint8), (n,), dtype)

    assert decoded.tobytes() == plain_szx.decode(stream, (n,), dtype).tobytes()


def test_a_fill_pattern_of_zero_is_legal() -> None:
    stream = with_header(struct.pack("<II", 254, 0), (3,), F32, fill=0, flags=3)

    assert szx.decode(np.frombuffer(stream, np.uint8), (3,), F32).tolist() == [0.0, 0.0, 0.0]


def test_mask_bits_of_absent_elements_and_planes_under_the_mask_are_ignored() -> None:
    base = (0x3F800000 | 1 << 31) >> 20
    body = struct.pack("<II4II4B", 33, 20, 0xFFFFFFFE, *[2**32 - 1] * 3, base, 4, 99, 0, 0)
    stream = with_header(body, (2,), F32, fill=0x7FC00000, flags=3)

    decoded = szx.decode(np.frombuffer(stream, np.uint8), (2,), F32)

    assert decoded[0] == 1.5
    assert np.isnan(decoded[1])
