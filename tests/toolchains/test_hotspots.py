"""Addresses become loops, also where small functions were put in place of their calls."""

from __future__ import annotations

import pytest

from kernels.records import Submission
from toolchains.child.wire import MAP_LINE
from toolchains.hotspots import seen_in

SOURCE = """\
import numba
def small(x):
    return x + 1
def shared(x):
    return x + 2
def outer(x):
    y = 0
    for i in range(9):
        y += small(x)
        y += shared(x)
    for i in range(7):
        y += shared(x)
    return y
"""
SUBMISSION = Submission("sz-open", "numba", {"kernel.py": SOURCE})
FIRST, SECOND = ("kernel.py", 8), ("kernel.py", 11)


def told(name: str, *rows: tuple[int, int, int]) -> str:
    listed = ";".join(f"{delta},{file},{line}" for delta, file, line in rows)
    return f"{MAP_LINE}\t{name}\t1000\t100\tkernel.py,other.py\t{listed}\n"


# Bytes since the row before, file, line: at 0x1000, 0x100a, 0x1014, ...
CODE = told(
    "outer", (0, 0, 7), (10, 0, 8), (10, 0, 3), (10, 0, 5), (10, 0, 12), (10, 0, 5), (10, 1, 9)
)


@pytest.mark.parametrize(
    ("offset", "spot"),
    [
        (0, ("kernel.py", 7)),
        (9, ("kernel.py", 7)),
        (10, FIRST),
        (20, FIRST),
        (30, FIRST),
        (40, SECOND),
        (55, SECOND),
    ],
)
def test_an_address_is_of_the_loop_its_code_is_in(offset: int, spot: tuple[str, int]) -> None:
    seen = seen_in(SUBMISSION, CODE, {0x1000 + offset: 3})

    assert seen.spots == {spot: 3}
    assert seen.functions == {"outer": 3}


@pytest.mark.parametrize("address", [0, 0xFFF, 0x1000 + 60, 0x1000 + 100, 1 << 60])
def test_addresses_of_other_code_are_no_loops(address: int) -> None:
    assert seen_in(SUBMISSION, CODE, {address: 5}).spots == {}


def test_a_function_that_was_not_inlined_counts_for_the_one_loop_that_calls_it() -> None:
    seen = seen_in(SUBMISSION, told("small", (0, 0, 3)), {0x1001: 2})

    assert (seen.spots, seen.functions) == ({FIRST: 2}, {"small": 2})


def test_of_several_loops_that_call_it_none_is_claimed() -> None:
    seen = seen_in(SUBMISSION, told("shared", (0, 0, 5)), {0x1001: 2})

    assert seen.spots == {("kernel.py", 5): 2}


@pytest.mark.parametrize(
    "printed",
    [
        f"{MAP_LINE}\n",
        f"{MAP_LINE}\touter\tzz\t100\tkernel.py\t0,0,7\n",
        f"{MAP_LINE}\touter\t1000\t100\tkernel.py\t0,9,7\n",
        f"{MAP_LINE}\touter\t1000\t100\tkernel.py\t0,0\n",
    ],
)
def test_what_a_kernel_prints_can_not_confuse(printed: str) -> None:
    assert seen_in(SUBMISSION, printed, {0x1001: 1}).spots == {}
