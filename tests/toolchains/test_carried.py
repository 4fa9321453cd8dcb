"""What a loop carries from step to step, by its source."""

from __future__ import annotations

import ast
import textwrap

import pytest

from toolchains.carried import Carried, carried


def of(source: str) -> Carried:
    (loop,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(loop, ast.For | ast.While)
    return carried(loop)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("for i in r:\n    out[i] = x[i] * 2", Carried()),
        ("for i in r:\n    v = x[i]\n    out[i] = v + v", Carried()),
        ("for i in r:\n    total += x[i]", Carried(chain=("total",))),
        ("for i in r:\n    out[i] = x[i] - last\n    last = x[i]", Carried(last=("last",))),
        ("for i in r:\n    most = max(most, x[i])", Carried(extreme=("most",))),
        ("for i in r:\n    if x[i] > most:\n        most = x[i]", Carried(extreme=("most",))),
        ("for i in r:\n    at = x[at]", Carried(chain=("at",), steered=True)),
        (
            "for i in r:\n    entry = x[at >> 5]\n    at += entry",
            Carried(chain=("at",), steered=True),
        ),
        ("while i < n:\n    y[i] = x[i]\n    i += 1", Carried()),
        ("while i < n:\n    y[i] = x[i]\n    i += step", Carried()),
        ("while i < n:\n    step = x[i]\n    i += step", Carried(chain=("i",), steered=True)),
        ("while k > 3:\n    k = k // 3", Carried(chain=("k",), steered=True)),
        (
            "for i in r:\n    low = i if x[i] < x[low] else low\n    y[i] = 0",
            Carried(extreme=("low",)),
        ),
        (
            "for i in r:\n    if c[i]:\n        v = 1\n    else:\n        v = 2\n    y[i] = v",
            Carried(),
        ),
        ("for i in r:\n    if c[i]:\n        v = x[i]\n    y[i] = v", Carried(last=("v",))),
        ("for i in r:\n    a, b = b, a + x[i]", Carried(chain=("a", "b"))),
    ],
)
def test_a_loop_carries_what_a_step_reads_before_it_assigns_it(
    source: str, expected: Carried
) -> None:
    assert of(source) == expected
