"""The tuned numba `sz-open`: keeps every bound on every kind of array, smaller than `szp`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import bounds, fields
from kernels.streams import szp
from kernels.verify import compare
from tests.kernels.submissions import loaded

Values = npt.NDArray[Any]

FORMATS: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
SHAPES = [
    (),
    (0,),
    (1,),
    (31,),
    (32,),
    (33,),
    (5000,),
    (0, 5),
    (3, 1),
    (40, 3),
    (100, 31),
    (100, 32),
    (70, 33),
    (3, 900),
    (9, 10, 11),
    (5, 37, 49),
    (3, 64, 64),
    (2, 3, 4, 5),
    (2, 3, 20, 35),
]

law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def kernel() -> Iterator[ModuleType]:
    with loaded("sz-open", "tuned") as module:
        yield module


def smooth(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> Values:
    """Waves along every axis, a little noise."""
    total = np.full(shape, 280.0)
    for axis, length in enumerate(shape):
        wave = np.sin(np.arange(length) * (axis + 3) / 40.0)
        total += wave.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(total + 1e-3 * noise, dtype)


def require_bound(kernel: ModuleType, data: Values, bound: float) -> int:
    """Round trip and exact check; the stream's bytes."""
    stream = kernel.compress(data.copy(), bound)
    decoded = kernel.decompress(stream, data.shape, data.dtype)
    comparison = compare(data, decoded, bound)
    assert comparison.holds, comparison
    return int(stream.size)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bound", [0.0, 1e-7, 1e-3, 0.1, 1e3])
def test_the_bound_holds_for_every_shape(
    kernel: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...], bound: float
) -> None:
    require_bound(kernel, smooth(shape, dtype), bound)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(3 * 4096 + 17,), (120, 100), (9, 40, 50)], ids=str)
def test_the_bound_holds_with_fills_and_non_finite_values_at_every_kind_of_place(
    kernel: ModuleType, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    data = smooth(shape, dtype)
    flat = data.reshape(-1)
    flat[:40] = flat[100:132] = flat[4096:4200] = flat[8000] = flat[-20:] = dtype.type(1e20)
    flat[9000:9500] = dtype.type(1e20)
    flat[9100:9110] = np.inf
    flat[[50, 2000]] = np.nan
    flat[3000] = -np.inf

    require_bound(kernel, data, 1e-2)


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_the_bound_holds_where_integers_wrap_around(
    kernel: ModuleType, dtype: np.dtype[Any]
) -> None:
    limit = 2.0**22 if dtype == np.float32 else 2.0**30
    signs = np.where(np.random.default_rng(1).random((40, 64)) < 0.5, -1.0, 1.0)
    data = np.asarray(signs * (limit - 1000.0), dtype)

    require_bound(kernel, data, 0.5)


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
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12))
    shape = (*shape[:-1], shape[-1] * draw(st.sampled_from([1, 7]))) if shape else shape
    pool = np.array(draw(st.lists(special(dtype), min_size=1, max_size=6)), dtype)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = smooth(shape, dtype, seed=int(rng.integers(1 << 30)))
    rare = rng.random(shape) < draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    return np.asarray(np.where(rare, rng.choice(pool, shape), data), dtype)


anyhow = st.one_of(
    st.just(0.0),
    st.sampled_from([1e-12, 1e-6, 1e-3, 0.1, 1.0, 1e30, 1e-45, 1e300]),
    st.floats(0, 8),
)


@law
@given(data=arrays(), bound=anyhow)
def test_the_bound_holds_for_anything(kernel: ModuleType, data: Values, bound: float) -> None:
    require_bound(kernel, data, bound)


@pytest.mark.parametrize("name", [name for name in fields.names() if name != "synthetic-256"])
@pytest.mark.parametrize("rel", [1e-2, 1e-4])
def test_real_fields_keep_their_bound_in_fewer_bytes_than_szp(
    kernel: ModuleType, name: str, rel: float
) -> None:
    field = fields.load(name)
    bound = bounds.derive(field.data, field.info.fill_value, "rel", rel).absolute

    size = require_bound(kernel, field.data, bound)

    assert size <= 1.01 * szp.encode(field.data, bound).size


@pytest.mark.parametrize("shape", [(300, 70), (20, 64, 64), (4, 9, 50, 50)], ids=str)
def test_neighbours_along_other_axes_are_used_where_they_help(
    kernel: ModuleType, shape: tuple[int, ...]
) -> None:
    data = smooth(shape, FORMATS[0])
    alone = require_bound(kernel, data.reshape(-1), 5e-3)

    assert require_bound(kernel, data, 5e-3) < 0.75 * alone


def test_neighbours_are_not_used_where_they_are_no_help(kernel: ModuleType) -> None:
    starts = np.random.default_rng(3).uniform(-1e3, 1e3, (100, 1))
    data = np.asarray(starts + np.arange(200) * 1e-2, np.float32)
    alone = require_bound(kernel, data.reshape(-1), 5e-3)

    assert require_bound(kernel, data, 5e-3) <= alone


def test_every_truncation_is_refused(kernel: ModuleType) -> None:
    data = smooth((9, 40), FORMATS[0])
    data[3, 5:20] = 1e20
    stream = kernel.compress(data, 1e-3).copy()

    for length in range(stream.size):
        with pytest.raises(ValueError, match=r"bytes|payloads"):
            kernel.decompress(stream[:length].copy(), (9, 40), FORMATS[0])


@law
@given(seed=st.integers(0, 2**32 - 1), changes=st.integers(1, 8))
def test_a_damaged_stream_ends_in_a_refusal_or_an_array(
    kernel: ModuleType, seed: int, changes: int
) -> None:
    data = smooth((9, 40), FORMATS[0])
    data[3, 5:20] = 1e20
    broken = kernel.compress(data, 1e-3).copy()
    rng = np.random.default_rng(seed)
    broken[rng.integers(0, broken.size, changes)] = rng.integers(0, 256, changes)

    try:
        decoded = kernel.decompress(broken, (9, 40), FORMATS[0])
    except ValueError:
        return
    assert decoded.shape == (9, 40)


@pytest.mark.parametrize("step", [-1.0, math.nan, math.inf, 1e300])
def test_a_step_that_is_no_step_is_refused(kernel: ModuleType, step: float) -> None:
    stream = kernel.compress(smooth((40,), FORMATS[0]), 1e-3).copy()
    stream[16:24] = np.frombuffer(np.float64(step).tobytes(), np.uint8)

    with pytest.raises(ValueError, match="step"):
        kernel.decompress(stream, (40,), FORMATS[0])


@pytest.mark.parametrize(("shape", "dtype"), [((41,), np.float32), ((40,), np.float64)])
def test_another_size_or_dtype_is_refused(
    kernel: ModuleType, shape: tuple[int, ...], dtype: type[np.generic]
) -> None:
    for bound in (0.0, 1e-3):
        stream = kernel.compress(smooth((40,), FORMATS[0]), bound)

        with pytest.raises(ValueError, match="the stream holds"):
            kernel.decompress(stream, shape, np.dtype(dtype))


def test_other_dtypes_are_refused_by_name(kernel: ModuleType) -> None:
    with pytest.raises(NotImplementedError, match="float32 and float64"):
        kernel.compress(np.zeros(3, np.int32), 1.0)


def test_results_that_are_still_held_are_not_written_over(kernel: ModuleType) -> None:
    first, second = smooth((50, 100), FORMATS[0], 1), smooth((50, 100), FORMATS[0], 2)
    stream = kernel.compress(first, 1e-2)
    decoded = kernel.decompress(stream, first.shape, first.dtype)
    before = stream.tobytes(), decoded.tobytes()

    other = kernel.compress(second, 1e-2)
    kernel.decompress(other, second.shape, second.dtype)

    assert (stream.tobytes(), decoded.tobytes()) == before
