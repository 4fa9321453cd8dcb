"""`quantize`: golden against exact fractions, its judge, and every worked submission."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from hypothesis import example as sample
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import fields
from kernels.records import Array
from kernels.tasks.base import Outputs
from kernels.tasks.quantize import TASK, quantised
from tests.kernels.stages import complaints, example, inputs_from, outputs_of
from tests.kernels.submissions import loaded

F = np.float32
WALK = np.random.default_rng(7).standard_normal(3000).cumsum().astype(F)
WALK[::100] = np.nan

BOUNDS = st.one_of(
    st.floats(0, 1e3),
    st.floats(1e-6, 10.0),
    st.floats(0, 1e300),
    st.integers(-140, 130).map(lambda k: 2.0**k),
    st.just(0.0),
)
VALUES = st.one_of(st.floats(width=32), st.floats(-1000, 1000, width=32))
ARRAYS = hnp.arrays(F, st.integers(0, 70), elements=VALUES)


def keeps(x: F, q: int, step: F, eb: float) -> bool:
    """Whether |x − f32(f32(q)·step)| ≤ eb, in fractions."""
    back = F(F(q) * step)
    if not (math.isfinite(x) and math.isfinite(back)):
        return False
    return abs(Fraction(float(x)) - Fraction(float(back))) <= Fraction(eb)


def plain_tolerance(eb: float) -> float:
    """T as the page defines it, found from above; 0 is lossless."""
    t = np.nextafter(F(min(eb, 2.0**102)), F(np.inf))
    while t > 0:
        gap = Fraction(float(np.nextafter(t, F(np.inf)))) - Fraction(float(t))
        if Fraction(float(t)) + gap / 2 <= Fraction(eb):
            break
        t = np.nextafter(t, F(0))
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


def plain_quantised(x: Array, eb: float) -> tuple[list[int], list[int], float]:
    """The page's arithmetic, one element at a time."""
    t = plain_tolerance(eb)
    if t == 0.0 or x.size == 0:
        return [0] * x.size, [0] * x.size, 0.0
    largest = max([abs(float(v)) for v in x if abs(float(v)) < t * 2.0**21], default=0.0)
    ideal = 2.0 * (t - 3.001 * 2.0**-24 * largest) * (1.0 - 8.0 * 2.0**-24)
    step = F(ideal)
    if float(step) > ideal:
        step = np.nextafter(step, F(0))
    magic, r = F(12582912), F(1) / step
    q, ok = [], []
    for value in x:
        with np.errstate(all="ignore"):
            f = F(F(value * r) + magic) - magic
            good = abs(f) < 2.0**22 and abs(F(value - F(f * step))) <= t
        ok.append(int(good))
        q.append(int(f) if good else 0)
    return q, ok, float(step)


# ---- the golden answer ---------------------------------------------------------------------------


def test_the_example_of_the_page_is_right() -> None:
    x, eb, *wanted = example(TASK).values()

    q, ok, step = quantised(np.array(x, F), float(str(eb)))

    assert [q.tolist(), ok.tolist(), float(step)] == wanted


@given(ARRAYS, BOUNDS)
@sample(np.array([0.5, -0.5, 1.5], F), 0.5)
@sample(np.array([1.0], F), 1e30)
@settings(max_examples=200, deadline=None)
def test_the_golden_answer_is_the_arithmetic_of_the_page(x: Array, eb: float) -> None:
    q, ok, step = quantised(x, eb)

    wanted_q, wanted_ok, wanted_step = plain_quantised(x, eb)
    assert (q.tolist(), ok.tolist(), float(step)) == (wanted_q, wanted_ok, wanted_step)
    assert [a.dtype for a in (q, ok, step)] == [np.int32, np.uint8, np.float32]
    assert step.shape == ()


@given(ARRAYS, BOUNDS)
@settings(max_examples=200, deadline=None)
def test_what_the_golden_answer_keeps_is_within_the_bound(x: Array, eb: float) -> None:
    q, ok, step = quantised(x, eb)

    for value, integer, good in zip(x, q.tolist(), ok.tolist(), strict=True):
        assert keeps(value, integer, F(step), eb) if good else integer == 0


def test_no_value_of_moderate_size_is_flagged_for_rounding() -> None:
    random = np.random.default_rng(8)
    for reach in (2.0**10, 2.0**16, 2.0**20):
        x = random.uniform(-reach, reach, 100_000).astype(F)

        _, ok, _ = quantised(x, 1.0)

        assert ok.all()


# ---- its inputs ----------------------------------------------------------------------------------


def test_inputs_are_the_field_in_float32_and_the_bound() -> None:
    data = fields.load("electron_density").data.copy()
    data[3, 4, 5:8] = (np.nan, np.inf, -1e300)

    x, eb = TASK.inputs(data, 0.125)

    assert isinstance(x, np.ndarray)
    assert isinstance(eb, float)
    assert (x.dtype.name, x.shape, eb) == ("float32", (data.size,), 0.125)
    special = x.reshape(data.shape)[3, 4, 5:8]
    assert np.isnan(special[0])
    assert special[1:].tolist() == [np.inf, -np.inf]


def test_edge_cases_have_everything_and_nothing_to_flag() -> None:
    shares = {}
    for case in TASK.edge_cases():
        _, ok, _ = TASK.golden(*case.inputs)
        shares[case.name] = float(ok.mean()) if ok.size else 1.0

    assert shares["lossless"] == shares["all_nan"] == shares["just_lossless"] == 0.0
    assert shares["walk"] == shares["huge"] == shares["just_not_lossless"] == 1.0
    assert 0.5 < shares["every_kind"] < 1.0
    assert 0.5 < shares["all_sizes"] < 1.0
    assert sum(share < 0.9 for share in shares.values()) >= 10


# ---- the judge -----------------------------------------------------------------------------------


def judged(change: Callable[[Outputs], Outputs], x: Array = WALK, eb: float = 0.01) -> list[str]:
    """Complaints about the golden answer after a change."""
    golden = quantised(x, eb)
    copies: Outputs = tuple(a.copy() for a in golden)
    return complaints(TASK, (x, eb), change(copies))


def test_the_judge_accepts_the_golden_answer() -> None:
    assert judged(lambda outputs: outputs) == []


def test_the_judge_refuses_to_flag_everything_and_says_the_figures() -> None:
    (message,) = judged(lambda o: (np.zeros_like(o[0]), np.zeros_like(o[1]), o[2]))

    assert message == (
        "3000 of 3000 elements are flagged; golden flags 30, and at most 47 "
        "(1.05 x golden + 16) are allowed"
    )


def test_the_judge_allows_a_few_flags_more_and_no_others() -> None:
    def flagging(more: int) -> Callable[[Outputs], Outputs]:
        def change(o: Outputs) -> Outputs:
            where = np.flatnonzero(o[1])[:more]
            o[0][where] = 0
            o[1][where] = 0
            return o

        return change

    assert judged(flagging(17)) == []
    assert len(judged(flagging(18))) == 1


def test_the_judge_refuses_half_the_step_although_the_bound_holds() -> None:
    (message,) = judged(lambda o: (o[0] * 2, o[1], np.array(o[2] / 2)))

    step = float(quantised(WALK, 0.01)[2])
    assert message.startswith(f"the step is {step / 2!r}; golden is {step!r}")
    assert repr(0.98 * step) in message


@pytest.mark.parametrize("step", [np.nan, np.inf, -1.0])
def test_the_judge_refuses_a_step_that_is_no_step(step: float) -> None:
    nothing = np.full(20, np.nan, F)

    # Were it not for the step, NaN · 0 would be the NaN that is asked for.
    found = judged(lambda o: (o[0], np.ones_like(o[1]), np.array(step, F)), nothing)

    assert any("step is" in message for message in found)


def test_the_judge_refuses_one_element_beyond_the_bound() -> None:
    def change(o: Outputs) -> Outputs:
        o[0][1234] += 1
        return o

    (message,) = judged(change)

    assert "flat=1234" in message


def test_the_judge_refuses_an_error_that_only_exact_arithmetic_sees() -> None:
    # 1 − (−2⁻⁶⁰) rounds to 1 even in double.
    x = np.array([1.0], F)
    outputs = (np.array([-1], np.int32), np.array([1], np.uint8), np.array(2.0**-60, F))

    found = complaints(TASK, (x, 1.0), outputs)

    assert any("first wrong" in message for message in found)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_the_judge_refuses_to_keep_what_no_integer_stands_for(value: float) -> None:
    x = np.array([1.0, value, 2.0], F)

    found = judged(lambda o: (o[0], np.ones_like(o[1]), o[2]), x)

    assert len(found) == 1


def test_the_judge_refuses_an_integer_where_an_element_is_flagged() -> None:
    def change(o: Outputs) -> Outputs:
        o[0][100] = 7
        return o

    assert quantised(WALK, 0.01)[1][100] == 0
    (message,) = judged(change)
    assert "flat=100" in message


def test_the_judge_refuses_an_ok_of_2() -> None:
    def change(o: Outputs) -> Outputs:
        o[1][55] = 2
        return o

    (message,) = judged(change)

    assert "flat=55" in message


def test_the_judge_refuses_another_dtype() -> None:
    assert judged(lambda o: (o[0].astype(np.int64), o[1], o[2]))
    assert judged(lambda o: (o[0], o[1], o[2].reshape(1)))


@pytest.mark.parametrize("share", [1.0, 0.981])
def test_an_honest_kernel_with_other_arithmetic_is_right_on_every_edge_case(share: float) -> None:
    for case in TASK.edge_cases():
        x, eb = case.inputs
        assert isinstance(x, np.ndarray)
        assert isinstance(eb, float)
        assert complaints(TASK, (x, eb), _divided(x, eb, share)) == [], case.name


def _divided(x: Array, eb: float, share: float) -> Outputs:
    """In double: x / step rounded, checked against a bound a little smaller."""
    step = F(float(quantised(x, eb)[2]) * share)
    if step == 0.0:
        return quantised(x, eb)
    with np.errstate(all="ignore"):
        k = np.rint(x.astype(np.float64) / np.float64(step))
        ok = np.abs(k) < 2.0**22
        q = np.where(ok, k, 0).astype(np.int32)
        back = (q.astype(F) * step).astype(np.float64)
        ok &= np.abs(x.astype(np.float64) - back) <= eb * (1 - 2.0**-50)
    return np.where(ok, q, np.int32(0)), ok.astype(np.uint8), np.array(step, F)


# ---- the worked submissions ----------------------------------------------------------------------


@pytest.fixture(scope="module", params=["naive", "tuned"])
def kernel(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """Compiled once for all tests of one submission."""
    with loaded("quantize", request.param) as module:
        yield module


def test_a_submission_is_right_on_edge_cases_and_fields(kernel: ModuleType) -> None:
    cases = [(case.name, case.inputs) for case in TASK.edge_cases()]
    for name in ("ocean_temperature", "electron_density", "valley_pressure"):
        cases += [(name, inputs_from(name, TASK, bound)) for bound in (1e-2, 1e-4, 1e-6)]

    for name, inputs in cases:
        assert complaints(TASK, inputs, outputs_of(kernel, inputs)) == [], name


def test_a_submission_is_right_on_any_values_and_bounds(kernel: ModuleType) -> None:
    @given(ARRAYS, BOUNDS)
    @settings(max_examples=200, deadline=None)
    def check(x: Array, eb: float) -> None:
        outputs = outputs_of(kernel, (x, eb))

        assert complaints(TASK, (x, eb), outputs) == []
        q, ok, step = outputs
        for value, integer, good in zip(x, q.tolist(), ok.tolist(), strict=True):
            assert keeps(value, integer, F(step), eb) if good else integer == 0

    check()


def test_a_submission_is_right_where_the_bound_is_a_tie(kernel: ModuleType) -> None:
    x = (np.arange(-5000, 5001) / 2).astype(F)

    for eb in (0.5, 0.25, math.nextafter(0.25, 0), math.nextafter(0.25, 1)):
        assert complaints(TASK, (x, eb), outputs_of(kernel, (x, eb))) == []
