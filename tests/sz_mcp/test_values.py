"""Values as a person reads them."""

from __future__ import annotations

import numpy as np
import pytest

from sz_mcp.values import listed


@pytest.mark.parametrize(
    ("values", "dtype", "told"),
    [
        (["0"] * 64, "int32", "0 ×64"),
        (["1", "1", "2", "2", "2", "1"], "uint8", "1, 1, 2 ×3, 1"),
        (["nan"] * 3, "float32", "nan ×3"),
        (["1.0000000200408773e+20"] * 4, "float32", "1e+20 ×4"),
        (
            ["0.1", "0.10000000149011612", "-0.0", "-inf"],
            "float64",
            "0.1, 0.10000000149011612, -0.0, -inf",
        ),
        ([], "float32", ""),
    ],
)
def test_runs_are_told_once_and_float32_with_its_digits(
    values: list[str], dtype: str, told: str
) -> None:
    assert listed(values, dtype) == told


def test_what_is_told_of_a_float32_is_that_float32() -> None:
    values = np.random.default_rng(3).standard_normal(99).astype(np.float32)

    told = listed([repr(float(value)) for value in values], "float32")

    assert np.array_equal(np.array(told.split(", "), np.float32), values)
