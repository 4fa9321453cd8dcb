"""`histogram`: the golden answer against counting one by one, and every worked submission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import fields
from kernels.records import Array
from kernels.tasks.histogram import TASK, centred, counts
from tests.kernels.stages import complaints, example, inputs_from, outputs_of
from tests.kernels.submissions import loaded

FEW = st.integers(0, 9)
ANY = st.integers(0, 65535)
CODES = st.one_of(
    hnp.arrays(np.uint16, st.integers(0, 300), elements=FEW),
    hnp.arrays(np.uint16, st.integers(0, 300), elements=ANY),
)
BINS = st.one_of(st.integers(1, 12), st.integers(1, 65536))


def plain_counts(codes: Array, nbins: int) -> list[int]:
    """One by one, in Python."""
    seen = Counter(codes.tolist())
    return [seen[b] for b in range(nbins)]


def test_the_example_of_the_page_is_right() -> None:
    codes, nbins, wanted = example(TASK).values()

    (result,) = counts(np.array(codes, np.uint16), int(str(nbins)))

    assert result.tolist() == wanted


@given(CODES, BINS)
@settings(max_examples=100, deadline=None)
def test_the_golden_answer_counts_every_code_below_nbins(codes: Array, nbins: int) -> None:
    (result,) = counts(codes, nbins)

    assert result.tolist() == plain_counts(codes, nbins)
    assert (result.dtype.name, result.shape) == ("uint32", (nbins,))


def test_codes_are_centred_and_what_does_not_fit_is_an_outlier() -> None:
    differences = np.array([0, 1, -1, 511, -511, 512, -512, 2**31 - 1, -(2**31)], np.int32)

    codes = centred(differences, 1024)

    assert codes.tolist() == [512, 513, 511, 1023, 1, 0, 0, 0, 0]
    assert codes.dtype == np.uint16


@pytest.mark.parametrize("name", ["uk_theta", "ocean_temperature", "electron_density"])
def test_inputs_are_a_code_stream_of_the_whole_field(name: str) -> None:
    codes, nbins = inputs_from(name, TASK)

    assert isinstance(codes, np.ndarray)
    assert nbins == 1024
    assert (codes.dtype.name, codes.shape) == ("uint16", (fields.load(name).data.size,))
    assert codes.max() < 1024
    # A smooth field: most differences are small.
    assert np.mean(np.abs(codes.astype(int) - 512) < 64) > 0.5


def test_edge_cases_have_the_extremes_of_nbins_and_of_codes() -> None:
    inputs = [case.inputs for case in TASK.edge_cases()]
    pairs = [(np.asarray(codes), int(str(nbins))) for codes, nbins in inputs]

    assert {1, 65535, 65536} <= {nbins for _, nbins in pairs}
    assert any((codes >= nbins).any() for codes, nbins in pairs)
    assert any((codes >= nbins).all() for codes, nbins in pairs if codes.size)
    assert any(nbins == 65536 and (codes == 65535).any() for codes, nbins in pairs)
    # Partial counts of 16 bits, even in eight tables, would overflow.
    assert max(counts(*pair)[0].max() for pair in pairs) > 65535


@pytest.fixture(scope="module", params=["naive", "tuned"])
def kernel(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """Compiled once for all tests of one submission."""
    with loaded("histogram", request.param) as module:
        yield module


def test_a_submission_is_right_on_edge_cases_and_fields(kernel: ModuleType) -> None:
    cases = [(case.name, case.inputs) for case in TASK.edge_cases()]
    cases += [(name, inputs_from(name, TASK)) for name in ("ocean_temperature", "valley_theta")]

    for name, inputs in cases:
        assert complaints(TASK, inputs, outputs_of(kernel, inputs)) == [], name


def test_a_submission_is_right_on_any_codes(kernel: ModuleType) -> None:
    @given(CODES, BINS)
    @settings(max_examples=100, deadline=None)
    def check(codes: Array, nbins: int) -> None:
        assert complaints(TASK, (codes, nbins), outputs_of(kernel, (codes, nbins))) == []

    check()
