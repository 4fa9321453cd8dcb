"""The tuned numba `szx`: canonical to the byte, reads every legal stream, keeps to its memory."""

from __future__ import annotations

import ctypes
import math
import mmap
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels.streams import szx as golden
from kernels.verify import compare
from tests.kernels.test_szx import free_stream
from tests.kernels.tuned_codecs import tuned_codecs

Values = npt.NDArray[Any]

VECTORS = sorted((Path(__file__).parents[1] / "golden").glob("szx_*.npz"))
FORMATS: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
EDGES = [1, 2, 3, 4, 5, 31, 126, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097, 4224, 8193]

law = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return tuned_codecs()["szx"].kernel


def same_bits(a: Values, b: Values) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def smooth(count: int, dtype: np.dtype[Any], seed: int = 0) -> Values:
    noise = np.random.default_rng(seed).standard_normal(count)
    return np.asarray(np.cumsum(noise) + 300.0, dtype)


def assert_canonical(kernel: ModuleType, data: Values, bound: float) -> None:
    """Both ways as the golden codec does."""
    expected = golden.encode(data, bound)

    stream = kernel.compress(data.copy(), bound)

    assert stream.tobytes() == expected.tobytes()
    decoded = kernel.decompress(stream, data.shape, data.dtype)
    assert same_bits(decoded, golden.decode(expected, data.shape, data.dtype))
    assert compare(data, decoded, bound).holds


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_golden_vectors_are_matched_both_ways(kernel: ModuleType, path: Path) -> None:
    with np.load(path) as vector:
        data, bound = vector["data"], float(vector["bound"])
        stream, decoded = vector["stream"], vector["decoded"]

    assert kernel.compress(data.copy(), bound).tobytes() == stream.tobytes()
    assert same_bits(kernel.decompress(stream, data.shape, data.dtype), decoded)


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_golden_vectors_are_read_past_the_cache_too(
    kernel: ModuleType, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "STREAMED", 0)
    with np.load(path) as vector:
        data, stream, decoded = vector["data"], vector["stream"], vector["decoded"]

    assert same_bits(kernel.decompress(stream, data.shape, data.dtype), decoded)


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
    st.sampled_from([1e-12, 1e-6, 1e-3, 0.1, 1.0, 1e30, 1e-45, 1e300, 2.0**-100, 2.0**-900]),
    st.floats(0, 8),
)


@law
@given(data=arrays(), bound=bounds)
def test_streams_equal_the_golden_ones_and_keep_the_bound(
    kernel: ModuleType, data: Values, bound: float
) -> None:
    assert_canonical(kernel, data, bound)


@law
@given(values=st.lists(st.floats(width=32), max_size=200), bound=st.floats(0, 1e38))
def test_any_float32_values_equal_the_golden_stream(
    kernel: ModuleType, values: list[float], bound: float
) -> None:
    assert_canonical(kernel, np.array(values, np.float32), bound)


@law
@given(values=st.lists(st.floats(), max_size=200), bound=st.floats(0, 1e305))
def test_any_float64_values_equal_the_golden_stream(
    kernel: ModuleType, values: list[float], bound: float
) -> None:
    assert_canonical(kernel, np.array(values, np.float64), bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("count", EDGES)
@pytest.mark.parametrize("bound", [0.0, 1e-6, 1e-2, 3.0])
def test_sizes_around_blocks_equal_the_golden_streams(
    kernel: ModuleType, dtype: np.dtype[Any], count: int, bound: float
) -> None:
    assert_canonical(kernel, smooth(count, dtype), bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_every_number_of_planes_equals_the_golden_stream(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    data = np.random.default_rng(3).uniform(1, 2, 300).astype(dtype)
    seen: set[int] = set()
    for digits in range(18):
        seen |= set(golden.encode(data, 10.0**-digits)[72:75].tolist())
        assert_canonical(kernel, data, 10.0**-digits)

    assert seen >= set(range(1, dtype.itemsize))


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_fills_at_every_kind_of_place_equal_the_golden_stream(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    data = smooth(3 * 4096 + 17, dtype)
    data[300:340] = data[500:632] = data[4096:4200] = data[8000] = dtype.type(1e20)
    data[8192:9000] = data[-20:] = dtype.type(1e20)
    data[350] = data[5000] = np.nan
    data[640:768] = -np.inf

    assert_canonical(kernel, data, 1e-2)
    assert_canonical(kernel, data[:-10].copy(), 1e-2)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_a_mask_over_any_part_of_a_tail_equals_the_golden_stream(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    for count in (1, 2, 5, 64, 127):
        for masked in {0, 1, count // 2, count - 1, count}:
            data = smooth(128 + count, dtype)
            data[128 + count - masked :] = np.nan

            assert_canonical(kernel, data, 1e-2)
            data[128:] = data[128:][::-1].copy()
            assert_canonical(kernel, data, 1e-2)


@law
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.one_of(st.integers(1, 400), st.sampled_from([4096, 4100, 9000])),
    dtype=st.sampled_from(FORMATS),
)
def test_every_legal_stream_decodes_as_the_golden_decoder_does(
    kernel: ModuleType, seed: int, count: int, dtype: np.dtype[Any]
) -> None:
    stream = np.frombuffer(free_stream(np.random.default_rng(seed), count, dtype), np.uint8)

    decoded = kernel.decompress(stream, (count,), dtype)

    assert same_bits(decoded, golden.decode(stream, (count,), dtype))


# ---- refusals: those of streams are in test_szx_refusals -----------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.complex64, np.dtype(">f4")])
def test_other_dtypes_are_refused_by_name(kernel: ModuleType, dtype: npt.DTypeLike) -> None:
    with pytest.raises(NotImplementedError, match=r"float32 and float64"):
        kernel.compress(np.zeros(3, dtype), 1.0)


@pytest.mark.parametrize("bound", [-1.0, math.nan, math.inf])
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


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_nothing_is_read_behind_the_end_of_data_or_stream(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 16 * page)
    guarded = np.frombuffer(memory, np.uint8)
    none = 0
    libc = ctypes.CDLL(None, use_errno=True)
    last = ctypes.c_void_p(guarded.ctypes.data + 15 * page)
    assert libc.mprotect(last, ctypes.c_size_t(page), none) == 0
    for count in (1, 127, 128, 129, 1000, 4100):
        data = guarded[15 * page - count * dtype.itemsize : 15 * page].view(dtype)
        data[:] = smooth(count, dtype)
        expected = golden.encode(data, 0.5)
        assert kernel.compress(data, 0.5).tobytes() == expected.tobytes()

        place = guarded[15 * page - expected.size : 15 * page]
        place[:] = expected
        decoded = kernel.decompress(place, (count,), dtype)

        assert same_bits(decoded, golden.decode(expected, (count,), dtype))


def test_nothing_is_written_behind_the_room_of_a_stream(kernel: ModuleType) -> None:
    for dtype in FORMATS:
        for count in EDGES:
            noise = np.random.default_rng(count).standard_normal(count).astype(dtype)
            masked = noise.copy()
            masked[0] = 1e20
            for data in (noise, masked):
                for bound in (0.0, 1e-6, 1e-2):
                    kernel.kept._kept.clear()
                    stream = kernel.compress(data.copy(), bound)
                    kept, start = kernel.kept._kept["stream"]

                    most = golden.max_stream_bytes(count, dtype.itemsize)
                    assert stream.size <= most
                    assert kept.size - start >= most + 128 * dtype.itemsize


def test_the_test_for_a_constant_is_not_fused(kernel: ModuleType) -> None:
    kernel.compress(smooth(100, FORMATS[0]), 1e-2)

    assemblies = [
        text
        for signature, text in kernel.coder.encode.inspect_asm().items()
        if signature[0].dtype.bitwidth == 32
    ]

    assert assemblies
    for assembly in assemblies:
        assert re.search(r"\bv?mulss\b|\bfmul\b", assembly)
        assert not re.search(r"fn?madd|fn?msub|fml[as]", assembly)
