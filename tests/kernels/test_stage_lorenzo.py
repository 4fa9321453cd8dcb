"""The Lorenzo stages: golden answers against their definition, and every worked submission."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import fields
from kernels.records import Array
from kernels.streams.quantiser import quantise
from kernels.tasks import StageTask
from kernels.tasks.lorenzo import TASKS, difference, folded, running_sum
from tests.kernels.stages import complaints, example, inputs_from, outputs_of, stage
from tests.kernels.submissions import loaded

SUBMISSIONS = [(task.name, style) for task in TASKS for style in ("naive", "tuned")]


def wrapped(value: int) -> int:
    """As int32, modulo 2^32."""
    return (value + 2**31) % 2**32 - 2**31


def plain_difference(q: Array) -> Array:
    """The product over the axes of (1 − shift), written out, in unbounded integers."""
    codes = np.zeros_like(q)
    for index in np.ndindex(q.shape):
        total = 0
        for shift in product((0, 1), repeat=q.ndim):
            place = tuple(i - s for i, s in zip(index, shift, strict=True))
            if min(place) >= 0:
                total += (-1) ** sum(shift) * int(q[place])
        codes[index] = wrapped(total)
    return codes


def plain_sum(codes: Array) -> Array:
    """The sum of all codes at indices no larger, written out, in unbounded integers."""
    q = np.zeros_like(codes)
    for index in np.ndindex(codes.shape):
        places = product(*(range(i + 1) for i in index))
        q[index] = wrapped(sum(int(codes[place]) for place in places))
    return q


def integers(ndim: int, side: int) -> st.SearchStrategy[Array]:
    shapes = hnp.array_shapes(min_dims=ndim, max_dims=ndim, min_side=0, max_side=side)
    return hnp.arrays(np.int32, shapes)


# ---- the golden answers --------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_example_of_a_page_is_right(task: StageTask) -> None:
    given_, wanted = (np.array(value, np.int32) for value in example(task).values())

    (result,) = task.golden(given_)

    assert result.tolist() == wanted.tolist()
    assert given_.ndim == task.rung


@pytest.mark.parametrize(("ndim", "side"), [(1, 40), (2, 6), (3, 4)])
def test_the_golden_answers_follow_their_definitions(ndim: int, side: int) -> None:
    @given(integers(ndim, side))
    @settings(max_examples=60, deadline=None)
    def check(array: Array) -> None:
        assert np.array_equal(difference(array)[0], plain_difference(array))
        assert np.array_equal(running_sum(array)[0], plain_sum(array))

    check()


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_inverse_undoes_the_difference_on_every_edge_case(ndim: int) -> None:
    for case in stage(f"lorenzo-{ndim}d").edge_cases():
        (codes,) = stage(f"lorenzo-{ndim}d").golden(*case.inputs)
        (back,) = stage(f"lorenzo-{ndim}d-inverse").golden(codes)

        assert np.array_equal(back, np.asarray(case.inputs[0])), case.name
        assert {array.dtype.name for array in (codes, back)} == {"int32"}


def test_a_golden_answer_leaves_its_input_alone() -> None:
    q = np.arange(24, dtype=np.int32).reshape(2, 3, 4)

    difference(q)
    running_sum(q)

    assert q.reshape(-1).tolist() == list(range(24))


# ---- inputs from fields --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "ndim", "wanted"),
    [
        ((), 1, (1,)),
        ((), 2, (1, 1)),
        ((), 3, (1, 1, 1)),
        ((12,), 1, (12,)),
        ((12,), 2, (3, 4)),
        ((13,), 2, (4, 4)),
        ((27,), 3, (3, 3, 3)),
        ((31,), 3, (2, 4, 4)),
        ((0,), 2, (0, 0)),
        ((0,), 3, (0, 0, 0)),
        ((5, 7), 1, (35,)),
        ((5, 7), 2, (5, 7)),
        ((5, 7), 3, (1, 5, 7)),
        ((3, 5, 7), 2, (15, 7)),
        ((3, 5, 7), 3, (3, 5, 7)),
        ((2, 3, 5, 7), 2, (30, 7)),
        ((2, 3, 5, 7), 3, (6, 5, 7)),
        ((0, 5, 7), 2, (0, 7)),
        ((3, 5, 0), 1, (0,)),
    ],
)
def test_a_field_of_any_dimensions_is_folded_without_losing_a_value(
    shape: tuple[int, ...], ndim: int, wanted: tuple[int, ...]
) -> None:
    q = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)

    array = folded(q, ndim)

    flat = array.reshape(-1)
    assert array.shape == wanted
    assert flat[: q.size].tolist() == q.reshape(-1).tolist()
    assert not flat[q.size :].any()
    assert array.flags.c_contiguous


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("name", ["ocean_temperature", "sea_surface", "electron_density"])
def test_inputs_are_the_quantised_field_and_its_differences(ndim: int, name: str) -> None:
    data = fields.load(name).data

    (q,) = stage(f"lorenzo-{ndim}d").inputs(data, 0.01)
    (codes,) = stage(f"lorenzo-{ndim}d-inverse").inputs(data, 0.01)

    assert isinstance(q, np.ndarray)
    assert isinstance(codes, np.ndarray)
    assert q.ndim == codes.ndim == ndim
    assert np.array_equal(q.reshape(-1), quantise(data, 0.01).reshape(-1))
    assert np.array_equal(running_sum(codes)[0], q)


# ---- the edge cases ------------------------------------------------------------------------------


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_edge_cases_have_flat_thin_and_empty_arrays_of_every_direction(ndim: int) -> None:
    shapes = {np.shape(case.inputs[0]) for case in stage(f"lorenzo-{ndim}d").edge_cases()}

    for axis in range(ndim):
        thin = tuple(4097 if i == axis else 1 for i in range(ndim))
        assert thin in shapes
        assert any(shape[axis] == 0 for shape in shapes)
    assert (1,) * ndim in shapes


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_edge_cases_tell_a_predictor_of_fewer_dimensions_from_the_right_one(
    task: StageTask,
) -> None:
    along_x = _sums_along_x if "inverse" in task.name else _differences_along_x
    wrong = [
        not np.array_equal(task.golden(*case.inputs)[0], along_x(np.asarray(case.inputs[0])))
        for case in task.edge_cases()
    ]

    assert any(wrong) == (task.rung > 1)


def _differences_along_x(q: Array) -> Array:
    return np.diff(q, axis=-1, prepend=np.int32(0))


def _sums_along_x(codes: Array) -> Array:
    return np.cumsum(codes, axis=-1, dtype=np.int32)


# ---- the worked submissions ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel(request: pytest.FixtureRequest) -> Iterator[tuple[StageTask, ModuleType]]:
    """Compiled once for all tests of one submission."""
    name, style = request.param
    with loaded(name, style) as module:
        yield stage(name), module


each = pytest.mark.parametrize("kernel", SUBMISSIONS, indirect=True, ids="-".join)


@each
def test_a_submission_is_right_on_edge_cases_and_fields(
    kernel: tuple[StageTask, ModuleType],
) -> None:
    task, module = kernel
    cases = [(case.name, case.inputs) for case in task.edge_cases()]
    cases += [(name, inputs_from(name, task)) for name in ("ocean_temperature", "valley_pressure")]

    for name, inputs in cases:
        assert complaints(task, inputs, outputs_of(module, inputs)) == [], name


@each
def test_a_submission_is_right_on_any_integers(kernel: tuple[StageTask, ModuleType]) -> None:
    task, module = kernel

    @given(integers(task.rung, 200 // task.rung**2))
    @settings(max_examples=80, deadline=None)
    def check(array: Array) -> None:
        assert complaints(task, (array,), outputs_of(module, (array,))) == []

    check()
