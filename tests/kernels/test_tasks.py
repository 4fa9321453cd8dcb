"""Tasks: names, pages, golden answers, and edge cases that can tell right from wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import fields
from kernels.bounds import derive
from kernels.records import Array
from kernels.streams.quantiser import Quantiser
from kernels.tasks import TASKS, CodecTask, StageTask, Task

STAGES = [task for task in TASKS.values() if isinstance(task, StageTask)]
LORENZO = [task for task in STAGES if task.name.startswith("lorenzo")]
CODECS = [task for task in TASKS.values() if isinstance(task, CodecTask)]


def stage(name: str) -> StageTask:
    task = TASKS[name]
    assert isinstance(task, StageTask)
    return task


def test_the_tasks_are_those_of_this_version() -> None:
    assert list(TASKS) == [
        "lorenzo-1d",
        "lorenzo-1d-inverse",
        "lorenzo-2d",
        "lorenzo-2d-inverse",
        "lorenzo-3d",
        "lorenzo-3d-inverse",
        "quantize",
        "histogram",
        "huffman-encode",
        "huffman-decode",
        "bitpack",
        "bitunpack",
        "compact",
        "szp",
        "szx",
        "sz-open",
    ]
    assert all(name == task.name for name, task in TASKS.items())


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_a_page_names_its_task_its_functions_and_its_score(task: Task) -> None:
    assert task.page.startswith(f"# {task.name}\n")
    for function in task.functions:
        assert f"{function}(" in task.page
        assert f"{function}(" in task.signature
    assert "cored" in task.page or "## Score" in task.page
    assert f"Rung {task.rung}" in task.page
    assert task.summary


def test_codecs_compress_and_decompress_and_stages_run() -> None:
    assert {task.functions for task in CODECS} == {("compress", "decompress")}
    assert {task.functions for task in STAGES} == {("run",)}


def test_szp_and_szx_have_a_specified_stream_and_sz_open_has_none() -> None:
    assert {task.name: task.stream_format is not None for task in CODECS} == {
        "szp": True,
        "szx": True,
        "sz-open": False,
    }


@pytest.mark.parametrize(("name", "magic"), [("szp", b"SZP1"), ("szx", b"SZX1")])
def test_the_stream_format_of_a_codec_is_the_golden_codec(name: str, magic: bytes) -> None:
    task = TASKS[name]
    assert isinstance(task, CodecTask)
    assert task.stream_format is not None
    data = np.linspace(0, 1, 100).reshape(4, 25)

    stream = task.stream_format.encode(data, 0.01)
    decoded = task.stream_format.decode(stream, data.shape, data.dtype)

    assert bytes(stream[:4]) == magic
    assert np.abs(decoded.astype(np.float64) - data).max() <= 0.01


def test_lorenzo_is_the_difference_from_the_value_before() -> None:
    (codes,) = stage("lorenzo-1d").golden(np.array([5, 7, 7, -1], np.int32))

    assert codes.tolist() == [5, 2, 0, -8]
    assert codes.dtype == np.int32


def test_lorenzo_wraps() -> None:
    ends = np.iinfo(np.int32)
    q = np.array([ends.min, ends.max, ends.min], np.int32)

    (codes,) = stage("lorenzo-1d").golden(q)
    (back,) = stage("lorenzo-1d-inverse").golden(codes)

    assert codes.tolist() == [ends.min, -1, 1]
    assert back.tolist() == q.tolist()


@given(q=hnp.arrays(np.int32, st.integers(0, 200)))
@settings(max_examples=100, deadline=None)
def test_the_inverse_undoes_lorenzo(q: Array) -> None:
    (codes,) = stage("lorenzo-1d").golden(q)
    (back,) = stage("lorenzo-1d-inverse").golden(codes)

    assert np.array_equal(back, q)
    assert back.dtype == codes.dtype == np.int32


@pytest.mark.parametrize("name", ["uk_theta", "ocean_temperature", "electron_density"])
def test_stage_inputs_come_from_a_field_by_golden_quantisation(name: str) -> None:
    field = fields.load(name)
    bound = derive(field.data, field.info.fill_value, "rel", 1e-3).absolute

    (q,) = stage("lorenzo-1d").inputs(field.data, bound)
    (codes,) = stage("lorenzo-1d-inverse").inputs(field.data, bound)

    assert isinstance(q, np.ndarray)
    assert isinstance(codes, np.ndarray)
    assert q.shape == codes.shape == (field.data.size,)
    assert q.dtype == codes.dtype == np.int32
    assert np.array_equal(np.cumsum(codes, dtype=np.int32), q)
    step = Quantiser.of(field.data.reshape(-1), bound).step
    near = np.abs(q * step - field.data.reshape(-1)) <= 1.001 * bound
    filled = field.data.reshape(-1) == field.info.fill_value
    assert (near | filled).all()
    assert (q[filled] == 0).all()


def edge_inputs(task: StageTask) -> list[list[Array]]:
    """The inputs of each edge case, scalars as arrays without dimensions."""
    return [[np.asarray(value) for value in case.inputs] for case in task.edge_cases()]


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_edge_cases_are_distinct_and_deterministic(task: StageTask) -> None:
    cases, again = edge_inputs(task), edge_inputs(task)

    assert len({case.name for case in task.edge_cases()}) == len(cases)
    contents = [tuple(a.tobytes() + str(a.shape).encode() for a in case) for case in cases]
    assert contents == [tuple(a.tobytes() + str(a.shape).encode() for a in c) for c in again]
    assert len(set(contents)) == len(contents)


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_edge_cases_cover_sizes_around_those_of_blocks_and_chunks(task: StageTask) -> None:
    # A decoder is told its size, or how many blocks there are; all others by their input.
    sizes = {
        case[-1].item() if task.name in COUNTED else case[0].size for case in edge_inputs(task)
    }
    if task.name == "compact":
        sizes = {sizes.size for _, sizes in edge_inputs(task)}

    assert {0, 1, 2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097} <= sizes


COUNTED = ("huffman-decode", "bitunpack")
"""Stages whose last input is the number of elements to make."""


@pytest.mark.parametrize("task", LORENZO, ids=lambda task: task.name)
def test_edge_cases_expose_arithmetic_that_does_not_wrap(task: StageTask) -> None:
    arrays = [array for (array,) in edge_inputs(task)]

    golden = [task.golden(array)[0] for array in arrays]

    unwrapped = [_unwrapped(array, inverse="inverse" in task.name) for array in arrays]
    assert any(not np.array_equal(a, b) for a, b in zip(golden, unwrapped, strict=True))
    narrowed = [array.astype(np.int32) for array in unwrapped]
    assert all(np.array_equal(a, b) for a, b in zip(golden, narrowed, strict=True))


def _unwrapped(array: Array, *, inverse: bool) -> Array:
    """In 64 bits, where nothing wraps: a sum of fewer than 2^31 elements of 32 bits fits."""
    wide = array.astype(np.int64)
    for axis in range(array.ndim):
        wide = wide.cumsum(axis) if inverse else np.diff(wide, axis=axis, prepend=0)
    return wide


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_a_page_of_a_stage_names_its_types_and_is_short(task: StageTask) -> None:
    told = set(re.findall(r"\b(?:u?int(?:8|16|32)|float32)\b", task.page))

    for dtype in re.findall(r"(?:u?int(?:8|16|32)|float32)(?=\[|$|,)", task.arguments):
        assert dtype in told
    assert len(task.page.split()) <= 600


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_the_golden_answer_of_a_stage_leaves_its_inputs_alone(task: StageTask) -> None:
    for case in task.edge_cases():
        before = [np.array(value) for value in case.inputs]

        task.golden(*case.inputs)

        for value, kept in zip(case.inputs, before, strict=True):
            assert np.array_equal(np.asarray(value), kept, equal_nan=kept.dtype.kind == "f")
