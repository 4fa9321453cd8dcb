"""The tuned `szp` and `szx` with one thread and with several: the same bytes, every bound kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels.baselines import read
from kernels.bounds import derive
from kernels.suite import SuiteCase, core_suite
from kernels.verify import compare
from tests.kernels.tuned_codecs import FORMATS, Tuned, Values, tuned_codecs, walk, with_holes

GOLDEN = Path(__file__).parents[1] / "golden"
law = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(params=["szp", "szx"])
def codec(request: pytest.FixtureRequest) -> Tuned:
    return tuned_codecs()[request.param]


@pytest.fixture(params=[1, 2], ids=["serial", "two threads"])
def threads(request: pytest.FixtureRequest, codec: Tuned) -> Iterator[int]:
    with codec.with_threads(request.param):
        yield request.param


def test_both_have_the_same_team() -> None:
    szp, szx = read("szp", "tuned").files, read("szx", "tuned").files

    for name in ("team.py", "kept.py", "tolerance.py"):
        assert szp[name] == szx[name]


# ---- the same bytes ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("bound", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("count", [4096, 40_000, 131_072 + 17])
def test_the_bytes_do_not_depend_on_the_threads(
    codec: Tuned, dtype: np.dtype[np.generic], bound: float, count: int
) -> None:
    plain = walk(count, dtype)
    for data in (plain, with_holes(plain.copy())):
        expected, values = codec.roundtrip(data, bound)
        for threads in (2, 3, 8):
            with codec.with_threads(threads):
                stream, decoded = codec.roundtrip(data, bound)

            assert stream.tobytes() == expected.tobytes()
            assert decoded.tobytes() == values.tobytes()


def test_whoever_comes_first_or_late_the_bytes_are_the_same(codec: Tuned) -> None:
    data = with_holes(walk(9_000, np.float32))
    expected, values = codec.roundtrip(data, 1e-2)

    with codec.with_threads(4):
        for _ in range(300):
            stream, decoded = codec.roundtrip(data, 1e-2)

            assert stream.tobytes() == expected.tobytes()
            assert decoded.tobytes() == values.tobytes()


def test_the_first_fill_of_all_is_the_fill_whichever_slab_is_first(codec: Tuned) -> None:
    data = walk(300_000, np.float32)
    data[250_000:] = np.inf
    data[150_000] = 1e20
    data[40_000] = np.nan
    expected, _ = codec.roundtrip(data, 1e-3)

    for _ in range(20):
        with codec.with_threads(4):
            stream, decoded = codec.roundtrip(data, 1e-3)

        assert stream.tobytes() == expected.tobytes()
        assert compare(data, decoded, 1e-3).holds


def test_a_fill_that_only_the_last_slab_has_is_found(codec: Tuned, threads: int) -> None:
    data = walk(300_000, np.float32)
    data[-3:] = 1e20

    stream, decoded = codec.roundtrip(data, 1e-3)

    assert np.frombuffer(stream[56:60].tobytes(), np.float32)[0] == np.float32(1e20)
    assert compare(data, decoded, 1e-3).holds


def test_golden_vectors_are_matched_both_ways(codec: Tuned, threads: int) -> None:
    paths = sorted(GOLDEN.glob(f"{codec.name}_*.npz"))
    assert len(paths) >= 30

    for path in paths:
        with np.load(path) as vector:
            stream, decoded = codec.roundtrip(vector["data"], float(vector["bound"]))

            assert stream.tobytes() == vector["stream"].tobytes(), path.stem
            assert decoded.tobytes() == vector["decoded"].tobytes(), path.stem


def test_read_only_data_are_compressed(codec: Tuned, threads: int) -> None:
    data = walk(20_000, np.float32)
    data.flags.writeable = False

    stream = codec.kernel.compress(data, 1e-2)

    assert stream.tobytes() == codec.encode(data, 1e-2).tobytes()


# ---- every bound ---------------------------------------------------------------------------------


def bounds_for(case: SuiteCase) -> list[float]:
    """From none to above the range, below an ulp, subnormal and huge."""
    finite = case.data[np.isfinite(case.data)].astype(np.float64)
    largest = float(np.abs(finite).max()) if finite.size else 1.0
    ulp = largest * float(np.finfo(case.data.dtype).eps)
    asked = [0.0, 5e-324, 1e-310, ulp / 3, ulp, 1e-2, 3 * min(largest, 1e300), 1e300]
    for value in (1e-2, 1e-4, 1e-6):
        derived = derive(case.data, case.fill_value, "rel", value).absolute
        asked.append(derived if math.isfinite(derived) else 0.0)
    return asked


def test_every_bound_holds_on_every_case_of_the_suite(codec: Tuned, threads: int) -> None:
    for case in core_suite():
        for bound in bounds_for(case):
            _, decoded = codec.roundtrip(case.data, bound)

            assert compare(case.data, decoded, bound).holds, (case.name, bound)


@st.composite
def arrays(draw: st.DrawFn) -> Values:
    """Any bit patterns, or patterns that repeat as real fields' values do, in 0 to 4 dimensions."""
    dtype = draw(st.sampled_from(FORMATS))
    integer = np.dtype(f"u{dtype.itemsize}")
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12))
    patterns = hnp.arrays(integer, shape, elements=st.integers(0, 2 ** (8 * dtype.itemsize) - 1))
    if draw(st.booleans()):
        return np.asarray(draw(patterns).view(dtype)).reshape(shape)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    exponent = draw(st.integers(-140, 120) if dtype.itemsize == 4 else st.integers(-1060, 1000))
    size = math.prod(shape) * draw(st.sampled_from([1, 1, 40]))
    with np.errstate(over="ignore"):
        values = np.ldexp(np.cumsum(rng.standard_normal(size)), exponent).astype(dtype)
    pool = draw(st.lists(st.integers(0, 2 ** (8 * dtype.itemsize) - 1), min_size=1, max_size=4))
    odd = rng.random(size) < draw(st.sampled_from([0.0, 0.01, 0.6]))
    values[odd] = rng.choice(np.array(pool, integer), int(odd.sum())).view(dtype)
    return np.asarray(values if size != math.prod(shape) else values.reshape(shape))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Values, float]:
    """An array, and a bound that is about as large as its values, their ulps, or anything."""
    data = draw(arrays())
    finite = np.abs(data[np.isfinite(data)]).astype(np.float64)
    typical = float(np.median(finite)) if finite.size else 1.0
    near = typical * 2.0 ** draw(st.integers(-60, 8)) if typical else 0.0
    special = [0.0, 5e-324, 2.0**-1000, 2.0**-149, 2.0**-100, 1.0, 2.0**100, 1e38, 1e308]
    bound = draw(
        st.one_of(
            st.just(near if math.isfinite(near) else 1e308),
            st.sampled_from(special),
            st.floats(0, 1e308, allow_subnormal=True),
        )
    )
    return data, bound


@pytest.mark.parametrize("name", ["szp", "szx"])
@law
@given(case=cases(), threads=st.sampled_from([1, 2]))
def test_any_array_is_taken_and_its_bound_holds(
    name: str, case: tuple[Values, float], threads: int
) -> None:
    (data, bound), codec = case, tuned_codecs()[name]

    with codec.with_threads(threads):
        stream, decoded = codec.roundtrip(data, bound)

    assert compare(data, decoded, bound).holds
    assert stream.tobytes() == codec.encode(data, bound).tobytes()


# ---- helpers -------------------------------------------------------------------------------------


def test_results_that_are_still_held_are_not_written_over_by_threads(codec: Tuned) -> None:
    first, second = walk(60_000, np.float32, seed=1), walk(60_000, np.float32, seed=2)
    with codec.with_threads(2):
        stream = codec.kernel.compress(first, 1e-2)
        decoded = codec.kernel.decompress(stream, first.shape, first.dtype)
        before = stream.tobytes(), decoded.tobytes()
        codec.roundtrip(second, 1e-2)

    assert (stream.tobytes(), decoded.tobytes()) == before


def test_a_buffer_serves_again_once_its_result_is_let_go(codec: Tuned) -> None:
    data = walk(60_000, np.float32)
    with codec.with_threads(2):
        places = {codec.kernel.compress(data, 1e-2).ctypes.data for _ in range(5)}

    assert len(places) == 1


def test_helpers_sleep_and_hold_nothing_between_calls(codec: Tuned) -> None:
    data = walk(60_000, np.float32)
    team = codec.kernel.team
    with codec.with_threads(3):
        codec.roundtrip(data, 1e-2)
        team.settle()

    assert len(team._helpers) >= 2
    assert all(helper.daemon and helper.job is None for helper in team._helpers)


def test_an_error_of_the_work_comes_from_the_calling_thread(codec: Tuned) -> None:
    def work() -> None:
        raise RuntimeError("no work")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no work"):
            codec.kernel.team.together(2, work)
