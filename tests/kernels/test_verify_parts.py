"""The check over many parts: threads, mapped files, byte order, strides, memory, squares."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.parts import PART, Effort, Pair, in_order, over_parts
from kernels.records import Array, Comparison
from kernels.verify import compare, compare_pointwise, counterexample, value_range


def pair(shape: tuple[int, ...], dtype: str = "float32", seed: int = 5) -> tuple[Array, Array]:
    """Noise, and the same with errors of which some exceed 1e-3."""
    rng = np.random.default_rng(seed)
    original = rng.standard_normal(shape).astype(dtype)
    decoded = original + (1e-3 * rng.standard_normal(shape)).astype(dtype)
    return original, decoded


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_result_is_the_same_for_any_number_of_threads(dtype: str) -> None:
    original, decoded = pair((7, 300, 411), dtype)

    results = [compare(original, decoded, 1e-3, threads=n) for n in (1, 2, 3, 7)]

    assert original.size > 3 * PART
    assert results[0].violations > 0
    assert all(result == results[0] for result in results)
    again = [compare_pointwise(original, decoded, 1e-2, threads=n) for n in (1, 2, 3)]
    assert again[0].violations > 0
    assert all(result == again[0] for result in again)


def test_every_part_is_worked_on_once_and_told_in_order() -> None:
    x = np.arange(5 * PART + 17, dtype=np.int64)
    told: list[tuple[int, int]] = []
    effort = Effort(3, lambda done, total: told.append((done, total)))

    sums = list(over_parts(lambda part: (part.start, int(part.x.sum())), x, x, effort))

    assert [start for start, _ in sums] == [0, PART, 2 * PART, 3 * PART, 4 * PART, 5 * PART]
    assert sum(total for _, total in sums) == int(x.sum())
    assert told == [*((i * PART, x.size) for i in range(1, 6)), (x.size, x.size)]


def test_work_is_not_begun_far_ahead_of_what_is_taken() -> None:
    begun = 0

    def endless() -> Iterator[int]:
        nonlocal begun
        while True:
            begun += 1
            yield begun

    results = in_order(lambda item: item, endless(), 2)

    assert [next(results) for _ in range(5)] == [1, 2, 3, 4, 5]
    assert begun < 30
    results.close()  # type: ignore[attr-defined]


def test_what_work_raises_is_raised() -> None:
    def fail(_: Pair) -> int:
        raise RuntimeError("a part")

    x = np.zeros(2 * PART)
    for threads in (1, 2):
        with pytest.raises(RuntimeError, match="a part"):
            list(over_parts(fail, x, x, Effort(threads)))


def places(result: Comparison) -> tuple[object, ...]:
    """What does not depend on the order in which elements are gone through."""
    return (
        result.violations,
        result.first,
        result.max_abs_error,
        result.value_range,
        result.checked,
        result.zero_signs_changed,
    )


def odd_views(original: Array) -> dict[str, Array]:
    """The same values, lying otherwise."""
    unaligned = np.frombuffer(b"x" + original.tobytes(), original.dtype, offset=1)
    spread = np.zeros((*original.shape[:-1], 2 * original.shape[-1]), original.dtype)
    spread[..., ::2] = original
    return {
        "big-endian": original.astype(original.dtype.newbyteorder(">")),
        "Fortran": np.asfortranarray(original),
        "big-endian Fortran": np.asfortranarray(original.astype(original.dtype.newbyteorder(">"))),
        "unaligned": unaligned.reshape(original.shape),
        "strided": spread[..., ::2],
        "reversed": original[::-1].copy()[::-1],
        "axes swapped": original.swapaxes(0, 1).copy().swapaxes(0, 1),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_layout_and_byte_order_change_nothing(dtype: str) -> None:
    original, decoded = pair((65, 70, 83), dtype)
    if dtype == "int32":
        decoded = original + np.random.default_rng(1).integers(-2, 3, original.shape, np.int32)
    bound = 1.0 if dtype == "int32" else 1e-3
    plain = compare(original, decoded, bound)
    ones, others = odd_views(original), odd_views(decoded)
    assert plain.violations > 0
    for name, view in ones.items():
        assert np.array_equal(view, original), name
        for other in (decoded, others[name]):
            result = compare(view, other, bound)

            assert places(result) == places(plain), name
            assert result.sum_squared_error == pytest.approx(plain.sum_squared_error, rel=1e-15)
        assert value_range(view) == plain.value_range, name


def test_in_fortran_order_the_first_violation_is_the_first_in_c_order() -> None:
    original = np.asfortranarray(np.ones((64, 80, 90)))
    decoded = original.copy(order="F")
    decoded[3, 70, 1] = decoded[50, 0, 0] = decoded[9, 9, 89] = 2.0
    decoded[40, 40, 40] = 3.0

    for result in (compare(original, decoded, 0.5), compare_pointwise(original, decoded, 0.5)):
        assert result.violations == 4
        assert result.first is not None
        assert result.worst is not None
        assert (result.first.index, result.worst.index) == ((3, 70, 1), (40, 40, 40))
        assert result.first.flat == (3 * 80 + 70) * 90 + 1


def test_mapped_files_are_checked_where_they_lie(tmp_path: Path) -> None:
    original, decoded = pair((3, 400, 333))
    plain = compare(original, decoded, 1e-3)
    original.tofile(tmp_path / "original.f32")
    np.save(tmp_path / "decoded.npy", np.asfortranarray(decoded))
    decoded.astype(">f4").tofile(tmp_path / "decoded.big")
    first = np.memmap(tmp_path / "original.f32", np.float32, "r", shape=original.shape)

    fortran = compare(first, np.load(tmp_path / "decoded.npy", mmap_mode="r"), 1e-3)
    big = compare(first, np.memmap(tmp_path / "decoded.big", ">f4", "r", shape=first.shape), 1e-3)

    assert places(fortran) == places(big) == places(plain)
    assert big.sum_squared_error == plain.sum_squared_error


def test_a_counterexample_of_a_strided_array_shows_its_neighbourhood() -> None:
    original = np.arange(4000, dtype=np.float32).reshape(40, 100).T
    decoded = original.copy(order="F")
    decoded[50, 20] += 1

    shown = counterexample("turned", original, decoded, compare(original, decoded, 0.5))

    assert shown.values[50 * 40 + 20 - shown.start] == "2050.0"
    assert shown.decoded[50 * 40 + 20 - shown.start] == "2051.0"


def test_what_was_written_to_a_private_map_stays(tmp_path: Path) -> None:
    # Large enough for pages of a read-only map to be let go.
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 28)
    private = np.memmap(tmp_path / "zeros", np.float32, "c")
    private[: 1 << 20] = 3.0
    other = np.memmap(tmp_path / "zeros", np.float32, "r")

    found = compare(private, other, 1.0)

    assert found.violations == 1 << 20
    assert np.all(private[: 1 << 20] == 3.0)
    assert other.sum() == 0.0


_CHILD = """
import sys
import numpy as np
from kernels.verify import compare

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

compare(np.zeros(9, "f4"), np.zeros(9, "f4"), 1e-3, threads=2)
original, decoded = (np.memmap(path, sys.argv[3], "r") for path in sys.argv[1:3])
start, most = anonymous(), 0

def progress(done, total):
    global most
    most = max(most, anonymous() - start)

found = compare(original, decoded, 1e-3, threads=2, progress=progress)
print(found.checked, found.violations, found.first.flat, most)
"""


@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_memory_does_not_grow_with_mapped_files(tmp_path: Path, dtype: str) -> None:
    # Holes read as zeros and need no disk: 160 MB each, to be copied if the byte order is foreign.
    count = 40_000_000
    paths = tmp_path / "original", tmp_path / "decoded"
    for path in paths:
        with path.open("wb") as file:
            file.truncate(4 * count)
    with paths[1].open("r+b") as file:
        file.seek(4 * (count - 1))
        file.write(np.array([1], dtype).tobytes())

    told = subprocess.run(
        [sys.executable, "-c", _CHILD, *map(str, paths), dtype],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    checked, wrong, first, grown_kb = map(int, told.split())

    assert (checked, wrong, first) == (count, 1, count - 1)
    assert grown_kb < 64 * 1024


def exact_squares(x: Array, y: Array) -> Fraction:
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs) or Fraction(0)


@given(
    st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150)), min_size=1, max_size=30)
)
@settings(max_examples=200, deadline=None)
def test_sums_of_squares_are_those_of_exact_arithmetic(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T.copy()

    squares = compare(x, y, 0.0).sum_squared_error

    exact = exact_squares(x, y)
    # Below the least normal double its spacing is what can be asked for.
    assert abs(Fraction(squares) - exact) <= exact * Fraction(1, 10**15) + Fraction(5e-324)


@pytest.mark.parametrize("scale", [1.0, 1e-120, 1e-155, 1e-162, 1e-170, 1e-300, 5e-324])
def test_tiny_errors_are_not_lost_from_the_sum_of_squares(scale: float) -> None:
    rng = np.random.default_rng(6)
    x = np.round(rng.uniform(1, 100, 5000)) * scale
    y = np.zeros(5000)

    for found in (compare(x, y, 0.0), compare_pointwise(x, y, 0.0)):
        exact = exact_squares(x, y)
        assert abs(Fraction(found.sum_squared_error) - exact) <= exact / 10**15 + Fraction(5e-324)
        assert found.sum_squared_error > 0


def test_a_sum_of_many_squares_is_right_to_an_ulp() -> None:
    # Every square is 1 + 2⁻⁵² rounded from 1 + 2⁻⁵³·…: added one by one in double, 4 million of
    # them would be 1e-10 off.
    error = 1.0 + 2.0**-30
    x, y = np.full(4_000_001, error), np.zeros(4_000_001)

    squares = compare(x, y, 2.0).sum_squared_error

    assert squares == pytest.approx(x.size * (error * error), rel=2**-52)
    assert Fraction(squares) >= x.size * Fraction(error) ** 2 * (1 - Fraction(4, 2**52))


def test_one_large_error_does_not_swallow_many_small_ones() -> None:
    x = np.full(2_000_000, 1e-8)
    x[0] = 1.0

    squares = compare(x, np.zeros_like(x), 2.0).sum_squared_error

    assert abs(Fraction(squares) - (1 + 1_999_999 * Fraction(1e-8) ** 2)) <= Fraction(1, 10**15)


def test_squares_that_overflow_are_infinite() -> None:
    assert compare(np.array([1e200, 1.0]), np.zeros(2), 1.0).sum_squared_error == math.inf
    assert compare(np.array([1e200, 0.0] * PART), np.zeros(2 * PART), 1.0).sum_squared_error == (
        math.inf
    )
