"""The golden szp codec against its vectors and against a plain second implementation."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.streams import szp
from kernels.streams.errors import StreamError
from kernels.streams.quantiser import quantise
from kernels.suite import SuiteCase, core_suite
from kernels.verify import compare
from tests.kernels import plain_szp

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("szp_*.npz"))
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def assert_matches_plain(data: Array, bound: float) -> Array:
    """Encode with both; the bytes agree, and both decoders agree on them. Returns the decoded."""
    stream = szp.encode(data, bound)
    assert stream.tobytes() == plain_szp.encode(data, bound)
    decoded = szp.decode(stream, data.shape, data.dtype)
    expected = plain_szp.decode(stream.tobytes(), data.shape, data.dtype)
    assert decoded.tobytes() == expected.tobytes()
    assert (decoded.shape, decoded.dtype) == (data.shape, data.dtype)
    assert compare(data, decoded, bound).holds
    assert stream.size <= szp.max_stream_bytes(data.size, data.itemsize)
    return decoded


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_vector_encodes_to_its_bytes_and_decodes_to_its_values(path: Path) -> None:
    with np.load(path) as vector:
        data, bound, stream = vector["data"], float(vector["bound"]), vector["stream"]
        decoded = vector["decoded"]

    assert szp.encode(data, bound).tobytes() == stream.tobytes()
    result = szp.decode(stream, data.shape, data.dtype)
    assert result.tobytes() == decoded.tobytes()
    assert (result.shape, result.dtype) == (data.shape, data.dtype)


def test_there_are_golden_vectors() -> None:
    assert len(GOLDEN) == 34


def test_example_a_of_the_specification() -> None:
    stream = szp.encode(np.array([0, 1, 2, 3.5, -1], np.float32), 0.5)

    assert stream.tobytes().hex(" ", 4).replace(" ", "") == (
        "535a5031522f116d01010100000000000500000000000000"
        "010000000000000001000000000000000100000000000000"
        "00000020fcffef3f0000000000000000eb01000000000000"
        "000000000300000010000000160000000800000010000000"
    )


def test_example_b_of_the_specification() -> None:
    stream = szp.encode(np.array([250, 1e20, 1e20, 251], np.float32), 0.5)

    assert stream[72:].tobytes().hex() == "fa00000021000000060000000000000008000000"
    assert struct.unpack_from("<Q", stream.tobytes(), 56) == (0x60AD78EC,)


@pytest.mark.parametrize("case", core_suite(), ids=lambda case: case.name)
def test_suite_case_matches_the_plain_codec(case: SuiteCase) -> None:
    data = case.data if case.data.ndim == 0 else case.data.reshape(-1)[-777:]

    for bound in (0.0, 1e-3, 0.37):
        assert_matches_plain(data, bound)


LIMITS = {
    F32: (2.0**-100, 2.0**100, 2.0**-24),
    F64: (2.0**-900, 2.0**900, 2.0**-53),
}


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("nudge", [-2, -1, -0.5, 0, 0.5, 1, 2, 4])
def test_bounds_beside_the_thresholds_match_the_plain_codec(
    dtype: np.dtype[np.generic], nudge: float
) -> None:
    floor, ceiling, unit = LIMITS[dtype]
    signs = np.array([1, -1, 0.3, 7, -1e-3, 0, 1e8])

    assert_matches_plain((signs * floor).astype(dtype), floor * (1 + nudge * unit))
    assert_matches_plain((signs * ceiling).astype(dtype), ceiling * (1 + nudge * unit))


def test_the_lossless_threshold_is_the_tolerance_not_the_bound() -> None:
    data = np.array([0.0, 2.0**-90], np.float32)
    step_at = 48

    exact = szp.encode(data, 2.0**-100)
    above = szp.encode(data, 2.0**-100 * (1 + 2.0**-24))

    assert struct.unpack_from("<d", exact.tobytes(), step_at) == (0.0,)
    assert struct.unpack_from("<d", above.tobytes(), step_at)[0] > 0.0


def test_the_tolerance_is_clamped_so_that_a_huge_bound_changes_nothing() -> None:
    data = np.array([1.0, -(2.0**101), 3e38, 2.0**99], np.float32)

    assert szp.encode(data, 2.0**101).tobytes() == szp.encode(data, 1e300).tobytes()


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_an_array_of_nan_is_whole_fill_blocks(dtype: np.dtype[np.generic]) -> None:
    data = np.full(5000, np.nan, dtype)

    stream = szp.encode(data, 0.1)

    blocks = -(-5000 // 32)
    assert stream[72 + 8 :][:blocks].tolist() == [254] * blocks
    assert stream.size == 72 + 8 + blocks + -blocks % 4
    assert_matches_plain(data, 0.1)


def test_a_chunk_that_starts_filled_takes_its_base_from_its_first_coded_element() -> None:
    data = np.full(8192, np.float32(1e20))
    data[4096 + 70 : 4096 + 90] = 321.0

    stream = szp.encode(data, 0.5)

    assert np.frombuffer(stream[72:80].tobytes(), np.int32).tolist() == [0, 321]
    assert_matches_plain(data[3000:7000].copy(), 0.5)


def test_four_dimensional_data_with_fill_matches_the_plain_codec() -> None:
    rng = np.random.default_rng(8)
    data = rng.standard_normal((3, 4, 5, 6)).astype(np.float32)
    data[rng.random(data.shape) < 0.2] = -np.inf

    decoded = assert_matches_plain(data, 1e-3)

    assert np.array_equal(np.isinf(decoded), np.isinf(data))


def test_a_value_at_the_very_reach_of_the_quantiser_is_the_fill() -> None:
    data = np.array([2.0**20 - 1, -(2.0**20), 3.0, 9e9], np.float32)
    bound = 0.5 + 2.0**-25  # T is 0.5, so that the reach is 2^20

    stream = szp.encode(data, bound)

    assert struct.unpack_from("<Q", stream.tobytes(), 56)[0] == data.view(np.uint32)[1]
    assert_matches_plain(data, bound)


def test_raw_blocks_in_the_middle_leave_the_running_value() -> None:
    data = np.full(160, 10.0, np.float32)
    data[70] = 9e9
    data[40] = 1e30

    stream = szp.encode(data, 0.5)

    assert stream[76:81].tolist() == [0, 32, 255, 0, 0]
    assert_matches_plain(data, 0.5)


def test_payloads_of_nan_are_kept_bit_for_bit() -> None:
    data = np.ones(64, np.float32)
    data.view(np.uint32)[[3, 40, 41]] = [0x7F800001, 0xFFC12345, 0x7F800001]

    decoded = assert_matches_plain(data, 0.1)

    places = [3, 40, 41]
    assert decoded.view(np.uint32)[places].tolist() == data.view(np.uint32)[places].tolist()


def test_magnitudes_of_31_bits_are_carried() -> None:
    # Beyond the reach of fill detection, yet exact multiples of the step: these still pass.
    step = 2.0 * math.nextafter(0.5, 0.0) * (1.0 - 2.0**-50)
    data = np.tile(np.array([2.0**30 - 1, -(2.0**30) + 1]) * step, 32)
    data[0] = np.nan

    stream = szp.encode(data, 0.5)

    assert stream[76:78].tolist() == [32 + 31, 31]
    assert_matches_plain(data, 0.5)


def test_a_field_longer_than_a_batch_equals_its_parts() -> None:
    rng = np.random.default_rng(9)
    data = rng.standard_normal(64 * 4096 + 4096 + 5).cumsum().astype(np.float32)
    data[rng.integers(0, data.size, 5000)] = np.nan
    stream = szp.encode(data, 0.01)

    decoded = szp.decode(stream, data.shape, data.dtype)
    # The step depends on the largest magnitude of all, so the parts are decoded, not encoded.
    expected = plain_szp.decode(stream.tobytes(), data.shape, data.dtype)

    assert decoded.tobytes() == expected.tobytes()
    assert compare(data, decoded, 0.01).holds


def test_fortran_order_and_strides_are_read_in_c_order() -> None:
    data = np.arange(60, dtype=np.float32).reshape(5, 12)

    assert szp.encode(data.T, 0.1).tobytes() == szp.encode(data.T.copy(), 0.1).tobytes()
    assert (
        szp.encode(data[:, ::-2], 0.1).tobytes() == szp.encode(data[:, ::-2].copy(), 0.1).tobytes()
    )


@pytest.mark.parametrize("dtype", ["f2", ">f4", "i4", "c8"])
def test_other_dtypes_have_no_stream(dtype: str) -> None:
    with pytest.raises(StreamError, match="float32 or float64"):
        szp.encode(np.zeros(3, dtype), 0.1)


@pytest.mark.parametrize("bound", [-1.0, float("nan"), float("inf")])
def test_impossible_bounds_are_refused(bound: float) -> None:
    with pytest.raises(StreamError, match="finite and ≥ 0"):
        szp.encode(np.zeros(3, np.float32), bound)


def test_too_many_values_or_dimensions_are_refused() -> None:
    with pytest.raises(StreamError, match="fewer than"):
        szp.encode(np.broadcast_to(np.float32(0), (2**31,)), 0.1)
    with pytest.raises(StreamError, match="0-D to 4-D"):
        szp.encode(np.zeros((1, 1, 1, 1, 1), np.float32), 0.1)


def test_quantise_marks_what_fails_with_zero_and_keeps_the_shape() -> None:
    q = quantise(np.array([[1.0, np.nan], [1e20, -3.0]], np.float32), 0.5)

    assert q.tolist() == [[1, 0], [0, -3]]
    assert q.dtype == np.int32
    assert not quantise(np.ones(5), 0.0).any()


@given(
    values=st.lists(st.floats(width=32), max_size=80),
    bound=st.one_of(st.just(0.0), st.floats(1e-45, 1e38)),
)
@settings(max_examples=150, deadline=None)
def test_any_float32_values_match_the_plain_codec(values: list[float], bound: float) -> None:
    assert_matches_plain(np.array(values, np.float32), bound)


@given(values=st.lists(st.floats(), max_size=80), bound=st.floats(0.0, 1e305))
@settings(max_examples=150, deadline=None)
def test_any_float64_values_match_the_plain_codec(values: list[float], bound: float) -> None:
    assert_matches_plain(np.array(values, np.float64), bound)


@given(
    seed=st.integers(0, 2**32),
    digits=st.integers(-7, 3),
    holes=st.floats(0, 1),
    n=st.integers(1, 300),
)
@settings(max_examples=100, deadline=None)
def test_walks_with_holes_match_the_plain_codec(
    seed: int, digits: int, holes: float, n: int
) -> None:
    rng = np.random.default_rng(seed)
    data = (285 + rng.standard_normal(n).cumsum()).astype(F32 if seed % 2 else F64)
    data[rng.random(n) < holes] = rng.choice([1e20, np.nan, np.inf])

    assert_matches_plain(data, 10.0**digits)


def free_stream(rng: np.random.Generator, n: int, dtype: np.dtype[np.generic]) -> bytes:
    """A legal stream that no canonical encoder writes: any rates, masks, bases, fill, tails."""
    blocks, chunks = -(-n // 32), -(-n // 4096)
    legal = np.array([*range(64), 254, 255])
    codes = rng.choice(legal, blocks).astype(np.uint8)
    words = 0
    for block, code in enumerate(codes.tolist()):
        count = min(32, n - 32 * block)
        if code == 255:
            words += count * dtype.itemsize // 4
        elif code < 64:
            words += (code >= 32) + (code % 32 + 1 if code % 32 else 0)
    body = rng.integers(0, 2**32, chunks, np.uint32).tobytes()
    body += (
        codes.tobytes() + bytes(-blocks % 4) + rng.integers(0, 2**32, words, np.uint32).tobytes()
    )
    step = float(np.float32(2.0 ** rng.uniform(-140, 120)))
    fill = int(rng.integers(0, 2**32)) if dtype == F32 else int(rng.integers(0, 2**63))
    checked = bool(rng.integers(0, 2))
    return with_header(body, (n,), dtype, step=step, fill=fill, flags=2 | checked)


def with_header(
    body: bytes,
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    *,
    step: float,
    fill: int,
    flags: int,
) -> bytes:
    """A header by hand, so that it can say anything."""
    words = np.frombuffer(body, np.uint32)
    check = sum((2 * i + 1) * int(w) for i, w in enumerate(words)) % 2**64 if flags & 1 else 0
    code = 1 if dtype == F32 else 2
    dims = (*shape, 1, 1, 1, 1)[:4]
    rest = struct.pack("<BBB5x4QdQQ", code, len(shape), flags, *dims, step, fill, check)
    return b"SZP1" + struct.pack("<I", zlib.crc32(rest)) + rest + body


@given(
    seed=st.integers(0, 2**32),
    n=st.one_of(st.integers(1, 200), st.just(4096 + 33)),
    dtype=st.sampled_from([F32, F64]),
)
@settings(max_examples=100, deadline=None)
def test_every_legal_stream_is_read(seed: int, n: int, dtype: np.dtype[np.generic]) -> None:
    stream = free_stream(np.random.default_rng(seed), n, dtype)

    decoded = szp.decode(np.frombuffer(stream, np.uint8), (n,), dtype)

    assert decoded.tobytes() == plain_szp.decode(stream, (n,), dtype).tobytes()


def test_a_fill_pattern_of_zero_is_legal() -> None:
    body = struct.pack("<iI", 7, 254)
    stream = with_header(body, (3,), F32, step=1.0, fill=0, flags=3)

    assert szp.decode(np.frombuffer(stream, np.uint8), (3,), F32).tolist() == [0.0, 0.0, 0.0]


def test_bits_of_absent_tail_elements_are_ignored() -> None:
    body = struct.pack("<iI3I", 5, 33, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFF)
    stream = with_header(body, (2,), F32, step=0.5, fill=0x7FC00000, flags=3)

    assert szp.decode(np.frombuffer(stream, np.uint8), (2,), F32).tolist() == [2.0, 2.5]
