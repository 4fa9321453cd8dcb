"""Random cases: new with each seed, the same from their names, small, of every character."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.random_cases import COUNT, random_case, random_cases
from kernels.suite import SuiteCase

MANY = [case for seed in range(30) for case in random_cases(seed)]


def same(one: SuiteCase, other: SuiteCase) -> bool:
    return (
        one.data.tobytes() == other.data.tobytes()
        and (one.data.shape, one.data.dtype) == (other.data.shape, other.data.dtype)
        and (one.name, one.core, one.fill_value, one.abs_bound)
        == (other.name, other.core, other.fill_value, other.abs_bound)
    )


def test_a_case_is_made_again_from_its_name() -> None:
    assert all(same(case, random_case(case.name)) for case in MANY[::7])


def test_the_bound_in_a_name_is_not_needed_to_find_its_case() -> None:
    case = next(case for case in MANY if case.abs_bound is not None)

    assert case.name.endswith(f"@{case.abs_bound!r}")
    assert same(case, random_case(case.name.partition("@")[0]))


@pytest.mark.parametrize("name", ["walk", "random:1", "random:x:1", "random:1:2:3", "random:-1:2"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a random case"):
        random_case(name)


def test_seeds_differ_and_the_first_cases_do_not_depend_on_how_many_there_are() -> None:
    first, other = random_cases(1), random_cases(2)

    pairs = zip(first, other, strict=True)
    assert not any(a.data.tobytes() == b.data.tobytes() for a, b in pairs)
    assert all(same(a, b) for a, b in zip(random_cases(1, 5), first, strict=False))


def test_the_cases_of_a_seed_are_few_and_small() -> None:
    assert 20 <= COUNT <= 30
    for seed in range(30):
        cases = random_cases(seed)
        assert len({case.name for case in cases}) == len(cases) == COUNT
        assert sum(case.data.nbytes for case in cases) < 1 << 20


def test_core_is_as_in_the_suite_and_never_has_a_bound_of_its_own() -> None:
    for case in MANY:
        plain = case.abs_bound is None
        assert case.core == (case.data.dtype == np.float32 and plain)
        assert 1 <= case.data.ndim <= 3
        # A kernel compiles per number of dimensions: not for three of doubles as well.
        assert case.data.ndim < 3 or case.data.dtype == np.float32
        assert not case.data.flags.writeable
        assert case.data.flags.c_contiguous


def test_values_shapes_and_bounds_of_every_kind_occur() -> None:
    values = np.concatenate([c.data.reshape(-1) for c in MANY if c.data.dtype == np.float32])
    finite = np.abs(values[np.isfinite(values)].astype(np.float64))
    bounds = [case.abs_bound for case in MANY if case.abs_bound is not None]

    assert np.isnan(values).any()
    assert {np.inf, -np.inf} <= set(values[np.isinf(values)].tolist())
    assert (np.signbit(values) & (values == 0)).any()
    assert finite.max() > 1e38
    assert 0 < finite[finite > 0].min() < np.finfo(np.float32).tiny
    assert {case.data.ndim for case in MANY} == {1, 2, 3}
    assert {case.data.dtype.name for case in MANY} == {"float32", "float64"}
    assert {1, 31, 33, 127, 129, 4097} <= {case.data.size for case in MANY}
    assert any(case.fill_value is not None for case in MANY)
    assert min(bounds) < 1e-30
    assert max(bounds) > 1e20
    assert all(0 < bound < np.inf for bound in bounds)
    assert 0.1 < len(bounds) / len(MANY) < 0.4
