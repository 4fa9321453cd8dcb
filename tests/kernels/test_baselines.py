"""Every worked submission goes through the same checks: its oracle, the suite, its stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kernels import baselines, fields
from kernels.baselines import UnknownBaselineError
from kernels.bounds import derive
from kernels.suite import core_suite
from kernels.tasks import TASKS, CodecTask, StageTask, StreamFormat
from kernels.verify import compare
from tests.kernels.submissions import loaded

ALL = [(task, style) for task in TASKS for style in baselines.styles(task)]
CODECS = [pair for pair in ALL if isinstance(TASKS[pair[0]], CodecTask)]
STAGES = [pair for pair in ALL if isinstance(TASKS[pair[0]], StageTask)]
GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Loaded:
    task: str
    module: ModuleType


@pytest.fixture(scope="module")
def kernel(request: pytest.FixtureRequest) -> Iterator[Loaded]:
    """Compiled once for all tests of one submission."""
    task, style = request.param
    with loaded(task, style) as module:
        yield Loaded(task, module)


def each(pairs: list[tuple[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kernel", pairs, indirect=True, ids="-".join)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_naive_and_a_tuned_submission(task: str) -> None:
    assert baselines.styles(task)[:2] == ("naive", "tuned")


def test_the_open_task_has_a_reference_codec_too() -> None:
    assert baselines.styles("sz-open") == ("naive", "tuned", "sz")


@pytest.mark.parametrize(("task", "style"), ALL)
def test_a_submission_is_read_with_all_its_files(task: str, style: str) -> None:
    submission = baselines.read(task, style)

    assert (submission.task, submission.target) == (task, "numba")
    assert "kernel.py" in submission.files
    for function in TASKS[task].functions:
        assert f"def {function}(" in submission.files["kernel.py"]


def test_an_unknown_style_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UnknownBaselineError, match="naive"):
        baselines.read("szp", "fastest")
    with pytest.raises(UnknownBaselineError, match="none"):
        baselines.read("nope", "naive")
    assert baselines.styles("szp", "abacus") == ()


@each(STAGES)
def test_a_stage_equals_its_golden_answer(kernel: Loaded) -> None:
    stage = TASKS[kernel.task]
    assert isinstance(stage, StageTask)
    field = fields.load("uk_theta").data

    for given in [case.inputs for case in stage.edge_cases()] + [stage.inputs(field, 0.01)]:
        expected = stage.golden(*given)
        result = kernel.module.run(*(a.copy() if isinstance(a, np.ndarray) else a for a in given))
        outputs = result if isinstance(result, tuple) else (result,)
        # A NumPy scalar counts as an array without dimensions.
        outputs = tuple(np.asarray(output) for output in outputs)

        assert [a.dtype for a in outputs] == [a.dtype for a in expected]
        assert [a.shape for a in outputs] == [a.shape for a in expected]
        for ruling in stage.rulings(given, expected, outputs):
            assert not ruling.problem
            assert compare(ruling.wanted, ruling.got, ruling.abs_bound).holds


@each(CODECS)
def test_a_codec_holds_its_bound_on_the_whole_suite(kernel: Loaded) -> None:
    for case in core_suite():
        for mode, value in (("rel", 1e-3), ("abs", 1e-2), ("rel", 1e-6)):
            bound = derive(case.data, case.fill_value, mode, value).absolute
            stream = kernel.module.compress(case.data.copy(), bound)
            decoded = kernel.module.decompress(stream.copy(), case.data.shape, case.data.dtype)

            assert (stream.dtype, stream.ndim) == (np.uint8, 1), case.name
            assert compare(case.data, decoded, bound).holds, case.name


@each(CODECS)
def test_a_codec_is_lossless_at_a_bound_of_zero(kernel: Loaded) -> None:
    for case in core_suite():
        stream = kernel.module.compress(case.data.copy(), 0.0)
        decoded = kernel.module.decompress(stream.copy(), case.data.shape, case.data.dtype)

        assert compare(case.data, decoded, 0.0).holds, case.name


@pytest.mark.parametrize("name", [name for name in fields.names() if name != "synthetic-256"])
@each(CODECS)
def test_a_codec_holds_its_bound_and_compresses_a_real_field(kernel: Loaded, name: str) -> None:
    field = fields.load(name)

    for value in (1e-2, 1e-4):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        stream = kernel.module.compress(field.data.copy(), bound)
        decoded = kernel.module.decompress(stream.copy(), field.data.shape, field.data.dtype)

        assert compare(field.data, decoded, bound).holds
        assert stream.size < field.data.nbytes


def form(task: str) -> StreamFormat | None:
    """The stream that a codec must write, if it is specified."""
    codec = TASKS[task]
    return codec.stream_format if isinstance(codec, CodecTask) else None


SPECIFIED = [pair for pair in CODECS if form(pair[0])]


@each(SPECIFIED)
def test_a_decoder_reads_the_golden_streams(kernel: Loaded) -> None:
    paths = sorted(GOLDEN.glob(f"{kernel.task}_*.npz"))
    assert len(paths) >= 30

    for path in paths:
        with np.load(path) as vector:
            data, stream, decoded = vector["data"], vector["stream"], vector["decoded"]
        result = kernel.module.decompress(stream, data.shape, data.dtype)

        assert np.array_equal(result, decoded, equal_nan=True), path.stem


@each(SPECIFIED)
def test_the_golden_decoder_reads_an_encoder(kernel: Loaded) -> None:
    golden = form(kernel.task)
    assert golden is not None

    for case in core_suite():
        stream = kernel.module.compress(case.data.copy(), 0.01)
        own = kernel.module.decompress(stream.copy(), case.data.shape, case.data.dtype)
        wanted = golden.decode(stream, case.data.shape, case.data.dtype)

        assert np.array_equal(own, wanted, equal_nan=True), case.name


@pytest.mark.parametrize("name", ["uk_theta", "sea_surface", "ocean_temperature"])
@each([pair for pair in SPECIFIED if pair != ("szp", "naive")])
def test_a_stream_is_within_the_size_that_is_ranked(kernel: Loaded, name: str) -> None:
    golden, field = form(kernel.task), fields.load(name)
    assert golden is not None

    for value in (1e-2, 1e-3):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        stream = kernel.module.compress(field.data.copy(), bound)

        assert stream.size <= 1.02 * golden.encode(field.data, bound).size + 64


@each(SPECIFIED)
def test_a_decoder_refuses_a_damaged_stream(kernel: Loaded) -> None:
    golden = form(kernel.task)
    assert golden is not None
    data = np.linspace(0, 9, 500, dtype=np.float32)
    stream = golden.encode(data, 0.01)

    for at in range(4, stream.size, 7):
        damaged = stream.copy()
        damaged[at] ^= 0x10
        with pytest.raises(ValueError):  # noqa: PT011 - a kernel words its errors as it likes
            kernel.module.decompress(damaged, data.shape, data.dtype)
