"""Bit-plane stages: the layout against a plain definition, and every worked submission."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import fields
from kernels.bounds import derive
from kernels.records import Array
from kernels.streams.quantiser import quantise
from kernels.tasks import bitpack
from kernels.tasks.bitpack import folded, pack, unpack
from tests.kernels.submissions import loaded

FIELDS = ("uk_theta", "valley_pressure")


def plain_pack(values: list[int]) -> tuple[list[int], list[int]]:
    """Rates and words, by the rule as the page states it."""
    rates, words = [], []
    for at in range(0, len(values), 32):
        block = values[at : at + 32]
        rates.append(max(block).bit_length())
        words += [
            sum((value >> k & 1) << i for i, value in enumerate(block)) for k in range(rates[-1])
        ]
    return rates, words


@st.composite
def blocks(draw: st.DrawFn) -> Array:
    """Values whose blocks have any rates, runs of 0 among them, with any tail."""
    rates = draw(st.lists(st.one_of(st.just(0), st.integers(0, 32)), max_size=60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = [random.integers(0, 1 << rate, 32, np.uint32) for rate in rates]
    values = np.concatenate([np.zeros(0, np.uint32), *parts])
    return values[: max(values.size - draw(st.integers(0, 31)), 0)]


# ---- the golden answers --------------------------------------------------------------------------


def test_the_worked_example_of_the_page() -> None:
    rates, words = pack(np.array([5, 0, 3, 4], np.uint32))

    assert (rates.tolist(), words.tolist()) == ([3], [0b0101, 0b0100, 0b1001])
    for page in (bitpack.PACK_PAGE, bitpack.UNPACK_PAGE):
        assert "| 5, 0, 3, 4 | 3 | 0b0101, 0b0100, 0b1001 |" in page


def test_the_rate_is_the_bit_length_of_the_largest_value() -> None:
    for largest, rate in ((0, 0), (1, 1), (7, 3), (8, 4), (2**31 - 1, 31), (2**31, 32)):
        rates, words = pack(np.array([0, largest], np.uint32))

        assert (rates.tolist(), words.size) == ([rate], rate)


@given(values=blocks())
@settings(max_examples=80, deadline=None)
def test_golden_packing_is_the_plain_definition_and_is_undone(values: Array) -> None:
    rates, words = pack(values)
    (back,) = unpack(rates, words, values.size)

    assert [a.dtype.name for a in (rates, words, back)] == ["uint8", "uint32", "uint32"]
    assert (rates.tolist(), words.tolist()) == plain_pack(values.tolist())
    assert np.array_equal(back, values)


def test_edge_cases_meet_what_the_pages_promise() -> None:
    packing, unpacking = bitpack.PACK.edge_cases(), bitpack.UNPACK.edge_cases()
    sizes = {np.asarray(case.inputs[0]).size for case in packing}
    rates = {case.name: np.asarray(case.inputs[0]) for case in unpacking}

    assert {0, 1, 2, 31, 32, 33, 4095, 4096, 4097} <= sizes
    assert set(rates["every_rate"].tolist()) == set(range(33))
    assert rates["one_value_per_rate"].tolist() == list(range(33))
    assert rates["bit_in_the_tail"].tolist() == [0] * 32 + [1]
    assert rates["all_ones"].tolist() == [32] * 4
    for one, other in zip(packing, unpacking, strict=True):
        (values,) = bitpack.UNPACK.golden(*other.inputs)
        assert np.array_equal(values, np.asarray(one.inputs[0])), one.name


@pytest.mark.parametrize("name", FIELDS)
def test_inputs_are_folded_differences_of_a_field(name: str) -> None:
    field = fields.load(name)
    bound = derive(field.data, field.info.fill_value, "rel", 1e-3).absolute
    q = quantise(field.data, bound).reshape(-1).astype(np.int64)
    differences = np.diff(q, prepend=0)
    expected = np.where(differences < 0, -2 * differences - 1, 2 * differences)

    (values,) = bitpack.PACK.inputs(field.data, bound)

    assert isinstance(values, np.ndarray)
    assert values.dtype == np.uint32
    assert np.array_equal(values, expected)
    assert expected.any()
    wanted = (*bitpack.PACK.golden(values), values.size)
    for given_, want in zip(bitpack.UNPACK.inputs(field.data, bound), wanted, strict=True):
        assert np.array_equal(np.asarray(given_), np.asarray(want))


# ---- submissions ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["naive", "tuned"])
def packer(request: pytest.FixtureRequest) -> ModuleType:
    with loaded("bitpack", request.param) as module:
        return module


@pytest.fixture(scope="module", params=["naive", "tuned"])
def unpacker(request: pytest.FixtureRequest) -> ModuleType:
    with loaded("bitunpack", request.param) as module:
        return module


def packs(module: ModuleType, values: Array) -> bool:
    rates, words = module.run(values.copy())
    wanted = pack(values)
    return (
        (rates.dtype, words.dtype) == (np.uint8, np.uint32)
        and np.array_equal(rates, wanted[0])
        and np.array_equal(words, wanted[1])
    )


def unpacks(module: ModuleType, values: Array) -> bool:
    rates, words = pack(values)
    back = module.run(rates, words.copy(), values.size)
    return back.dtype == np.uint32 and np.array_equal(back, values)


def every_case() -> list[tuple[str, Array]]:
    return [(case.name, np.asarray(case.inputs[0])) for case in bitpack.PACK.edge_cases()]


def test_a_packer_equals_the_golden_answer_on_edge_cases(packer: ModuleType) -> None:
    for name, values in every_case():
        assert packs(packer, values), name


def test_an_unpacker_equals_the_golden_answer_on_edge_cases(unpacker: ModuleType) -> None:
    for name, values in every_case():
        assert unpacks(unpacker, values), name


@pytest.mark.parametrize("name", FIELDS)
def test_a_packer_equals_the_golden_answer_on_fields(packer: ModuleType, name: str) -> None:
    field = fields.load(name)
    for value in (1e-2, 1e-4):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        assert packs(packer, folded(field.data, bound))


@pytest.mark.parametrize("name", FIELDS)
def test_an_unpacker_equals_the_golden_answer_on_fields(unpacker: ModuleType, name: str) -> None:
    field = fields.load(name)
    for value in (1e-2, 1e-4):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        assert unpacks(unpacker, folded(field.data, bound))


@given(values=blocks())
@settings(max_examples=80, deadline=None)
def test_a_packer_equals_the_golden_answer_on_any_blocks(packer: ModuleType, values: Array) -> None:
    assert packs(packer, values)


@given(values=blocks())
@settings(max_examples=80, deadline=None)
def test_an_unpacker_equals_the_golden_answer_on_any_blocks(
    unpacker: ModuleType, values: Array
) -> None:
    assert unpacks(unpacker, values)
