"""`compact`: the golden answer against appending block by block, and every worked submission."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import fields
from kernels.records import Array
from kernels.streams.quantiser import quantise
from kernels.tasks.compact import TASK, compacted
from tests.kernels.stages import complaints, example, inputs_from, outputs_of
from tests.kernels.submissions import loaded


@st.composite
def filled(draw: st.DrawFn) -> tuple[Array, Array]:
    """Slots and sizes, any number of either, empty and full blocks among them."""
    cap = draw(st.integers(0, 40))
    sizes = draw(st.lists(st.one_of(st.just(0), st.just(cap), st.integers(0, cap)), max_size=50))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    slots = random.integers(0, 2**32, (len(sizes), cap), np.uint32)
    return slots, np.array(sizes, np.uint32)


def plain_compacted(slots: Array, sizes: Array) -> tuple[list[int], list[int]]:
    """Block by block, in Python."""
    offsets, packed = [0], list[int]()
    for slot, size in zip(slots.tolist(), sizes.tolist(), strict=True):
        packed += slot[:size]
        offsets.append(len(packed))
    return offsets, packed


def test_the_example_of_the_page_is_right() -> None:
    slots, sizes, *wanted = example(TASK).values()

    result = compacted(np.array(slots, np.uint32), np.array(sizes, np.uint32))

    assert [array.tolist() for array in result] == wanted


@given(filled())
@settings(max_examples=100, deadline=None)
def test_the_golden_answer_is_the_blocks_one_after_the_other(inputs: tuple[Array, Array]) -> None:
    offsets, packed = compacted(*inputs)

    assert (offsets.tolist(), packed.tolist()) == plain_compacted(*inputs)
    assert {array.dtype.name for array in (offsets, packed)} == {"uint32"}


def test_inputs_have_the_sizes_of_a_fixed_length_encoder() -> None:
    data = fields.load("ocean_temperature").data
    slots, sizes = TASK.inputs(data, 0.01)
    assert isinstance(slots, np.ndarray)
    assert isinstance(sizes, np.ndarray)

    differences = np.diff(quantise(data, 0.01).reshape(-1), prepend=0)
    for block in range(0, sizes.size, 97):
        part = differences[16 * block : 16 * block + 16].tolist()
        # Two's complement: a sign bit more than the magnitude, and 16 values of 2 bits are a word.
        bits = max(max(d, ~d).bit_length() + 1 for d in part) if any(part) else 0
        assert sizes[block] == (bits + 1) // 2
    assert slots.shape == (-(-data.size // 16), 16)
    assert slots.dtype == sizes.dtype == np.uint32
    assert len(set(sizes.tolist())) > 4


@pytest.mark.parametrize("differences", [[], [0], [2**31 - 1], [-(2**31), 2**31 - 1]])
def test_inputs_of_any_field_fit_their_slots(differences: list[int]) -> None:
    # Quantised at a bound of 1/2 these would be such differences; q itself stays below 2^22.
    slots, sizes = TASK.inputs(np.array(differences, np.float64), 0.5)

    assert (np.asarray(sizes) <= np.shape(slots)[1]).all()


def test_edge_cases_have_sizes_of_nothing_and_of_everything_and_no_room_at_all() -> None:
    cases = [tuple(np.asarray(value) for value in case.inputs) for case in TASK.edge_cases()]
    shapes = {slots.shape for slots, _ in cases}

    assert {0, 1, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097} <= {rows for rows, _ in shapes}
    assert {0, 1} <= {cap for _, cap in shapes}
    assert any(sizes.size > 1 and (sizes == slots.shape[1]).all() for slots, sizes in cases)
    assert any(sizes.size > 1 and slots.shape[1] and not sizes.any() for slots, sizes in cases)
    assert all((sizes <= slots.shape[1]).all() for slots, sizes in cases)


@pytest.fixture(scope="module", params=["naive", "tuned"])
def kernel(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """Compiled once for all tests of one submission."""
    with loaded("compact", request.param) as module:
        yield module


def test_a_submission_is_right_on_edge_cases_and_fields(kernel: ModuleType) -> None:
    cases = [(case.name, case.inputs) for case in TASK.edge_cases()]
    cases += [(name, inputs_from(name, TASK)) for name in ("ocean_temperature", "valley_theta")]

    for name, inputs in cases:
        assert complaints(TASK, inputs, outputs_of(kernel, inputs)) == [], name


def test_a_submission_is_right_on_any_blocks(kernel: ModuleType) -> None:
    @given(filled())
    @settings(max_examples=100, deadline=None)
    def check(inputs: tuple[Array, Array]) -> None:
        assert complaints(TASK, inputs, outputs_of(kernel, inputs)) == []

    check()
