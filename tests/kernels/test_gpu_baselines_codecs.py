"""Worked codecs for CUDA and ROCm on the emulator: their streams are the golden ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kernels import baselines, fields
from kernels.bounds import derive
from kernels.records import Array
from kernels.suite import bound_suite, core_suite
from kernels.tasks import TASKS, CodecTask, StreamFormat
from kernels.verify import compare
from tests.kernels.emulated import Case, OnDevice, on_device
from toolchains.emulation import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
GOLDEN = Path(__file__).parents[1] / "golden"
SINGLES = [
    Case("cuda", "szp", "naive"),
    Case("cuda", "szp", "tuned"),
    Case("rocm", "szx", "naive", warp=64),
]
"""Half of the vectors only, as each data type has kernels of its own to compile."""


def codec_cases() -> Iterator[Case]:
    for family, warps in (("cuda", (32,)), ("rocm", (32, 64))):
        for task in ("szp", "szx"):
            for style in baselines.styles(task, family):
                yield from (Case(family, task, style, warp) for warp in warps)
                yield Case(family, task, style, warps[-1], descending=True)


@pytest.fixture(scope="module")
def kernel(request: pytest.FixtureRequest) -> Iterator[tuple[StreamFormat, OnDevice]]:
    """Loaded once for all tests of one submission."""
    task = TASKS[request.param.task]
    assert isinstance(task, CodecTask)
    assert task.stream_format is not None
    with on_device(request.param) as module:
        yield task.stream_format, module


Kernel = tuple[StreamFormat, OnDevice]
ALL = pytest.mark.parametrize("kernel", list(codec_cases()), indirect=True, ids=str)


def assert_golden(kernel: Kernel, data: Array, bound: float, name: str) -> None:
    """The stream is the canonical one, and what comes back is what golden code makes of it."""
    form, module = kernel
    stream = module.compress(data, bound)
    decoded = module.decompress(stream, data.shape, data.dtype)

    assert np.array_equal(stream, form.encode(data, bound)), name
    assert np.array_equal(decoded, form.decode(stream, data.shape, data.dtype), equal_nan=True), (
        name
    )
    assert compare(data, decoded, bound).holds, name


def assert_vectors(kernel: Kernel, dtypes: tuple[str, ...]) -> None:
    form, module = kernel
    paths = sorted(GOLDEN.glob(f"{form.name}_*.npz"))
    assert len(paths) >= 30

    for path in paths:
        with np.load(path) as vector:
            data, bound, stream = vector["data"], float(vector["bound"]), vector["stream"]
            decoded = vector["decoded"]
        if data.dtype.name in dtypes:
            assert np.array_equal(module.compress(data, bound), stream), path.stem
            own = module.decompress(stream, data.shape, data.dtype)
            assert np.array_equal(own, decoded, equal_nan=True), path.stem


@pytest.mark.parametrize("kernel", SINGLES, indirect=True, ids=str)
def test_float32_streams_are_the_golden_vectors(kernel: Kernel) -> None:
    assert_vectors(kernel, ("float32",))


@pytest.mark.slow
@ALL
def test_streams_are_the_golden_vectors(kernel: Kernel) -> None:
    assert_vectors(kernel, ("float32", "float64"))


@pytest.mark.slow
@ALL
def test_streams_of_the_suite_are_golden(kernel: Kernel) -> None:
    for case in core_suite():
        for mode, value in (("rel", 1e-3), ("abs", 1e-2), ("rel", 1e-6)):
            bound = derive(case.data, case.fill_value, mode, value).absolute
            assert_golden(kernel, case.data, bound, f"{case.name} {mode} {value}")
        assert_golden(kernel, case.data, 0.0, case.name)


@pytest.mark.slow
@ALL
def test_streams_at_bounds_of_every_size_are_golden(kernel: Kernel) -> None:
    for case in bound_suite():
        assert case.abs_bound is not None
        assert_golden(kernel, case.data, case.abs_bound, case.name)


@pytest.mark.slow
@ALL
def test_the_stream_of_a_real_field_is_golden(kernel: Kernel) -> None:
    field = fields.load("sea_surface")
    bound = derive(field.data, field.info.fill_value, "rel", 1e-3).absolute
    assert_golden(kernel, field.data, bound, "sea_surface")


@pytest.mark.parametrize("kernel", SINGLES, indirect=True, ids=str)
def test_a_damaged_stream_is_refused(kernel: Kernel) -> None:
    form, module = kernel
    data = np.linspace(0, 9, 500, dtype=np.float32)
    data[100:140], data[200] = 1e20, np.nan
    stream = form.encode(data, 0.01)

    for at in range(4, stream.size, 7):
        damaged = stream.copy()
        damaged[at] ^= 0x10
        with pytest.raises(ValueError):  # noqa: PT011 - a kernel words its errors as it likes
            module.decompress(damaged, data.shape, data.dtype)
    longer = np.concatenate([stream, np.zeros(4, np.uint8)])
    for wrong in (stream[:60], stream[:72], stream[:-4], stream[:-1], longer):
        with pytest.raises(ValueError):  # noqa: PT011
            module.decompress(wrong, data.shape, data.dtype)
