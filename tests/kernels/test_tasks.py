"""Tasks: names, pages, golden answers, and edge cases that can tell right from wrong."""

from __future__ import annotations

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
CODECS = [task for task in TASKS.values() if isinstance(task, CodecTask)]


def stage(name: str) -> StageTask:
    task = TASKS[name]
    assert isinstance(task, StageTask)
    return task


def test_the_tasks_are_those_of_this_version() -> None:
    assert list(TASKS) == ["lorenzo-1d", "lorenzo-1d-inverse", "szp", "sz-open"]
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


def test_only_szp_has_a_specified_stream() -> None:
    assert {task.name: task.stream_format is not None for task in CODECS} == {
        "szp": True,
        "sz-open": False,
    }


def test_the_stream_format_of_szp_is_the_golden_codec() -> None:
    szp = TASKS["szp"]
    assert isinstance(szp, CodecTask)
    assert szp.stream_format is not None
    data = np.linspace(0, 1, 100).reshape(4, 25)

    stream = szp.stream_format.encode(data, 0.01)
    decoded = szp.stream_format.decode(stream, data.shape, data.dtype)

    assert bytes(stream[:4]) == b"SZP1"
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


def only_input(task: StageTask) -> list[Array]:
    """The array of each edge case."""
    return [np.asarray(case.inputs[0]) for case in task.edge_cases()]


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_edge_cases_are_distinct_deterministic_and_cover_sizes(task: StageTask) -> None:
    arrays, again = only_input(task), only_input(task)

    assert len({case.name for case in task.edge_cases()}) == len(arrays)
    assert all(np.array_equal(one, other) for one, other in zip(arrays, again, strict=True))
    assert {0, 1, 2, 31, 32, 33, 4095, 4096, 4097} <= {array.size for array in arrays}


@pytest.mark.parametrize("task", STAGES, ids=lambda task: task.name)
def test_edge_cases_expose_arithmetic_that_does_not_wrap(task: StageTask) -> None:
    wide = [array.astype(np.int64) for array in only_input(task)]
    unwrapped = [
        np.diff(array, prepend=0) if task.name == "lorenzo-1d" else array.cumsum() for array in wide
    ]
    golden = [task.golden(array)[0] for array in only_input(task)]

    assert any(not np.array_equal(a, b) for a, b in zip(golden, unwrapped, strict=True))
