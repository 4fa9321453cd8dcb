"""The tuned numba `szp`: canonical to the byte, reads every legal stream, refuses the rest."""

from __future__ import annotations

import ctypes
import math
import mmap
import re
import struct
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels.streams import szp as golden
from kernels.streams.errors import StreamError
from kernels.verify import compare
from tests.kernels.tuned_codecs import tuned_codecs

Stream = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]

VECTORS = sorted((Path(__file__).parents[1] / "golden").glob("szp_*.npz"))
FORMATS: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
EDGES = [1, 31, 32, 33, 63, 64, 65, 4064, 4095, 4096, 4097, 4128, 8191, 8192, 8193]

law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return tuned_codecs()["szp"].kernel


def same_bits(a: Values, b: Values) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def smooth(count: int, dtype: np.dtype[Any], seed: int = 0) -> Values:
    noise = np.random.default_rng(seed).standard_normal(count)
    return np.asarray(np.cumsum(noise) + 300.0, dtype)


def fixed_up(stream: Stream) -> Stream:
    """The stream with its check and CRC made right for what it now holds."""
    fixed = stream.copy()
    words = fixed[72:].view(np.uint32).astype(object)
    check = sum(int((2 * i + 1) * w) for i, w in enumerate(words)) % 2**64
    fixed[64:72] = np.frombuffer(struct.pack("<Q", check), np.uint8)
    crc = zlib.crc32(fixed[8:72].tobytes())
    fixed[4:8] = np.frombuffer(struct.pack("<I", crc), np.uint8)
    return fixed


# ---- the golden vectors --------------------------------------------------------------------------


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_golden_vectors_are_encoded_to_the_byte(kernel: ModuleType, path: Path) -> None:
    with np.load(path) as vector:
        stream = kernel.compress(vector["data"].copy(), float(vector["bound"]))

        assert stream.tobytes() == vector["stream"].tobytes()


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_golden_vectors_are_decoded_within_the_bound(kernel: ModuleType, path: Path) -> None:
    with np.load(path) as vector:
        data, bound, stream = vector["data"], float(vector["bound"]), vector["stream"]

    decoded = kernel.decompress(stream, data.shape, data.dtype)

    assert same_bits(decoded, golden.decode(stream, data.shape, data.dtype))
    assert compare(data, decoded, bound).holds


def test_there_are_golden_vectors() -> None:
    assert len(VECTORS) >= 30


# ---- laws ----------------------------------------------------------------------------------------


def special(dtype: np.dtype[Any]) -> st.SearchStrategy[float]:
    edge = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e20, -1e20, 1e-40, 3e38, 2.0**21, 0.5]
    any_float = st.floats(width=32) if dtype == np.float32 else st.floats(width=64)
    return st.one_of(
        st.sampled_from([float(np.asarray(v, dtype)) for v in edge]),
        st.floats(-4, 4, width=32),
        any_float,
    )


@st.composite
def arrays(draw: st.DrawFn) -> Values:
    dtype = draw(st.sampled_from(FORMATS))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9))
    pool = np.array(draw(st.lists(special(dtype), min_size=1, max_size=6)), dtype)
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.standard_normal(shape).reshape(-1)).astype(dtype)
    rare = rng.random(walk.size) < draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    return np.asarray(np.where(rare, rng.choice(pool, walk.size), walk).reshape(shape), dtype)


bounds = st.one_of(
    st.just(0.0),
    st.sampled_from([1e-12, 1e-6, 1e-3, 0.1, 1.0, 1e30, 1e-45, 1e300]),
    st.floats(0, 8),
)


@law
@given(data=arrays(), bound=bounds)
def test_streams_equal_the_golden_ones_and_keep_the_bound(
    kernel: ModuleType, data: Values, bound: float
) -> None:
    expected = golden.encode(data, bound)

    stream = kernel.compress(data.copy(), bound)

    assert stream.tobytes() == expected.tobytes()
    decoded = kernel.decompress(stream, data.shape, data.dtype)
    assert same_bits(decoded, golden.decode(expected, data.shape, data.dtype))
    assert compare(data, decoded, bound).holds


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("count", EDGES)
@pytest.mark.parametrize("bound", [0.0, 1e-6, 1e-2, 3.0])
def test_sizes_around_blocks_and_chunks_equal_the_golden_streams(
    kernel: ModuleType, dtype: np.dtype[Any], count: int, bound: float
) -> None:
    data = smooth(count, dtype)

    stream = kernel.compress(data.copy(), bound)

    assert stream.tobytes() == golden.encode(data, bound).tobytes()
    assert compare(data, kernel.decompress(stream, data.shape, dtype), bound).holds


def test_errors_of_exactly_the_tolerance_are_accepted_as_the_golden_encoder_does(
    kernel: ModuleType,
) -> None:
    sixteenths = np.random.default_rng(5).integers(1 << 24, 1 << 25, 4096)
    data = (sixteenths / 16.0).astype(np.float32)

    stream = kernel.compress(data.copy(), 0.5 + 2.0**-25)

    assert stream.tobytes() == golden.encode(data, 0.5 + 2.0**-25).tobytes()


@pytest.mark.parametrize(
    ("dtype", "limit"), [(FORMATS[0], 2.0**22), (FORMATS[1], 2.0**30)], ids=str
)
def test_values_around_the_largest_integer_equal_the_golden_stream(
    kernel: ModuleType, dtype: np.dtype[Any], limit: float
) -> None:
    near = limit + np.arange(-200.0, 200.0)
    data = np.concatenate([[1e30], near, -near]).astype(dtype)

    stream = kernel.compress(data.copy(), 0.5)

    assert stream.tobytes() == golden.encode(data, 0.5).tobytes()
    assert compare(data, kernel.decompress(stream, data.shape, dtype), 0.5).holds


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_fills_at_every_kind_of_place_equal_the_golden_stream(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    data = smooth(3 * 4096 + 17, dtype)
    data[:40] = data[100:132] = data[4096:4200] = data[8000] = data[-20:] = dtype.type(1e20)
    data[8192:] = dtype.type(1e20)
    data[50] = np.nan

    stream = kernel.compress(data.copy(), 1e-2)

    assert stream.tobytes() == golden.encode(data, 1e-2).tobytes()
    assert same_bits(
        kernel.decompress(stream, data.shape, dtype), golden.decode(stream, data.shape, dtype)
    )


@st.composite
def free_streams(draw: st.DrawFn) -> tuple[Stream, tuple[int, ...], np.dtype[Any]]:
    """Any legal stream: codes, bases and payloads that no canonical encoder would write."""
    dtype = draw(st.sampled_from(FORMATS))
    count = draw(st.sampled_from([1, 31, 32, 33, 100, 1000, 4096, 4100, 9000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    fill = draw(st.booleans())
    legal = [*range(32), 255, *([*range(32, 64), 254] if fill else [])]
    palette = draw(st.lists(st.sampled_from(legal), min_size=1, max_size=8))
    blocks, chunks, item = -(-count // 32), -(-count // 4096), dtype.itemsize // 4
    codes = rng.choice(palette, blocks)
    payload = sum(
        32 * item if c == 255 else 0 if c == 254 else (c >= 32) + (c % 32 + 1) * (c % 32 > 0)
        for c in codes
    )
    if codes[-1] == 255:
        payload -= -count % 32 * item
    body = np.zeros(chunks + -(-blocks // 4) + int(payload), np.uint32)
    body[:] = rng.integers(0, 2**32, body.size, np.uint32)
    packed = np.zeros(-(-blocks // 4) * 4, np.uint8)
    packed[:blocks] = codes
    body[chunks : chunks + packed.size // 4] = packed.view(np.uint32)
    shape = draw(st.sampled_from([(count,), (1, count), (count, 1, 1)]))
    head = struct.pack(
        "<BBB5s4QdQQ",
        item,
        len(shape),
        3 if fill else 1,
        bytes(5),
        *shape,
        *([1] * (4 - len(shape))),
        draw(st.sampled_from([1.0, 0.125, 2.0**-60, 2.0**90])),
        draw(st.sampled_from([0, 0x7FC00001, 0x60AD78EC])) if fill else 0,
        0,
    )
    raw = b"SZP1" + bytes(4) + head + body.tobytes()
    return fixed_up(np.frombuffer(raw, np.uint8)), shape, dtype


@law
@given(case=free_streams())
def test_every_legal_stream_decodes_as_the_golden_decoder_does(
    kernel: ModuleType, case: tuple[Stream, tuple[int, ...], np.dtype[Any]]
) -> None:
    stream, shape, dtype = case

    decoded = kernel.decompress(stream, shape, dtype)

    assert same_bits(decoded, golden.decode(stream, shape, dtype))


# ---- refusals ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(kernel: ModuleType) -> Stream:
    """Bases, codes with padding, a masked block, planes, and a raw tail."""
    data = smooth(80, FORMATS[0])
    data[5:9] = 1e20
    data[70] = np.nan
    return np.asarray(kernel.compress(data, 1e-2)).copy()


def test_every_changed_header_byte_is_refused(kernel: ModuleType, small: Stream) -> None:
    for position in range(72):
        for flip in (1, 0x80, 0xFF):
            broken = small.copy()
            broken[position] ^= flip

            with pytest.raises(ValueError, match=r".+"):
                kernel.decompress(broken, (80,), FORMATS[0])


def test_every_truncation_is_refused(kernel: ModuleType, small: Stream) -> None:
    for length in range(small.size):
        with pytest.raises(ValueError, match=r".+"):
            kernel.decompress(small[:length].copy(), (80,), FORMATS[0])


def test_every_truncation_to_whole_words_with_a_right_check_is_refused(
    kernel: ModuleType, small: Stream
) -> None:
    for length in range(72, small.size, 4):
        with pytest.raises(ValueError, match=r"words"):
            kernel.decompress(fixed_up(small[:length]), (80,), FORMATS[0])


def test_trailing_words_are_refused(kernel: ModuleType, small: Stream) -> None:
    longer = fixed_up(np.concatenate([small, np.zeros(4, np.uint8)]))

    with pytest.raises(ValueError, match="words"):
        kernel.decompress(longer, (80,), FORMATS[0])


def test_every_changed_body_byte_is_refused(kernel: ModuleType, small: Stream) -> None:
    for position in range(72, small.size):
        broken = small.copy()
        broken[position] ^= 0x10

        with pytest.raises(ValueError, match=r".+"):
            kernel.decompress(broken, (80,), FORMATS[0])


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((81,), np.float32), ((8, 10), np.float32), ((80, 1), np.float32), ((80,), np.float64)],
)
def test_another_shape_or_dtype_is_refused(
    kernel: ModuleType, small: Stream, shape: tuple[int, ...], dtype: type[np.generic]
) -> None:
    with pytest.raises(ValueError, match="the stream holds"):
        kernel.decompress(small, shape, np.dtype(dtype))


@law
@given(seed=st.integers(0, 2**32 - 1), changes=st.integers(1, 6), front=st.booleans())
def test_corruption_with_a_right_check_ends_as_the_golden_decoder_says(
    kernel: ModuleType, small: Stream, seed: int, changes: int, front: bool
) -> None:
    rng = np.random.default_rng(seed)
    broken = small.copy()
    places = rng.integers(72, 80 if front else small.size, changes)
    broken[places] = rng.integers(0, 256, changes)
    broken = fixed_up(broken)

    try:
        expected = golden.decode(broken, (80,), FORMATS[0])
    except StreamError:
        with pytest.raises(ValueError, match=r".+"):
            kernel.decompress(broken, (80,), FORMATS[0])
    else:
        assert same_bits(kernel.decompress(broken, (80,), FORMATS[0]), expected)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.complex64, np.dtype(">f4")])
def test_other_dtypes_are_refused_by_name(kernel: ModuleType, dtype: npt.DTypeLike) -> None:
    with pytest.raises(NotImplementedError, match=r"float32 and float64"):
        kernel.compress(np.zeros(3, dtype), 1.0)


@pytest.mark.parametrize("bound", [-1.0, math.nan])
def test_a_bound_that_is_no_bound_is_refused(kernel: ModuleType, bound: float) -> None:
    with pytest.raises(ValueError, match="abs_bound"):
        kernel.compress(np.zeros(3, np.float32), bound)


# ---- memory --------------------------------------------------------------------------------------


def test_results_that_are_still_held_are_not_written_over(kernel: ModuleType) -> None:
    first, second = smooth(5000, FORMATS[0], seed=1), smooth(5000, FORMATS[0], seed=2)
    stream = kernel.compress(first, 1e-2)
    decoded = kernel.decompress(stream, first.shape, first.dtype)
    before = stream.tobytes(), decoded.tobytes()

    other = kernel.compress(second, 1e-2)
    kernel.decompress(other, second.shape, second.dtype)

    assert (stream.tobytes(), decoded.tobytes()) == before


def test_a_stream_at_an_odd_address_is_read(kernel: ModuleType, small: Stream) -> None:
    memory = np.zeros(small.size + 1, np.uint8)
    memory[1:] = small

    decoded = kernel.decompress(memory[1:], (80,), FORMATS[0])

    assert same_bits(decoded, golden.decode(small, (80,), FORMATS[0]))


def test_nothing_is_read_behind_the_end_of_a_stream(kernel: ModuleType) -> None:
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 4 * page)
    guarded = np.frombuffer(memory, np.uint8)
    none = 0
    libc = ctypes.CDLL(None, use_errno=True)
    last = ctypes.c_void_p(guarded.ctypes.data + 3 * page)
    assert libc.mprotect(last, ctypes.c_size_t(page), none) == 0
    for count in (32, 64, 100, 4100):
        stream = golden.encode(smooth(count, FORMATS[0]), 0.5)
        place = guarded[3 * page - stream.size : 3 * page]
        place[:] = stream

        decoded = kernel.decompress(place, (count,), FORMATS[0])

        assert same_bits(decoded, golden.decode(stream, (count,), FORMATS[0]))


def test_streams_are_no_longer_than_the_format_allows(kernel: ModuleType) -> None:
    for dtype in FORMATS:
        for count in EDGES:
            noise = np.random.default_rng(count).standard_normal(count).astype(dtype)
            for bound in (0.0, 1e-6, 1e-9):
                stream = kernel.compress(noise.copy(), bound)

                assert stream.size <= golden.max_stream_bytes(count, dtype.itemsize)


def test_the_bounds_check_is_not_fused(kernel: ModuleType) -> None:
    kernel.compress(smooth(100, FORMATS[0]), 1e-2)

    assemblies = [
        text
        for signature, text in kernel.coder.encode.inspect_asm().items()
        if signature[0].dtype.bitwidth == 32
    ]

    assert assemblies
    for assembly in assemblies:
        assert re.search(r"\bv?mulps\b|\bfmul\b", assembly)
        assert not re.search(r"fn?madd|fn?msub|fml[as]", assembly)
