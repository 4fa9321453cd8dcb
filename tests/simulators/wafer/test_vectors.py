"""Every vector operation on memory against references of numpy and exact rational numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from simulators.wafer.dsd import DsdField, DsdKind, Operand, Vector, pack_dsd
from simulators.wafer.program import Pattern
from tests.simulators.wafer.assembling import Pe, const, machine, memory

Array = npt.NDArray[np.generic]
H, S, W, D = np.float16, np.float32, np.uint16, np.uint32
N = 512

_SPECIAL = {
    H: [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00],
    S: [0, 1 << 31, 1, (1 << 31) + 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0xFF7FFFFF,
        0x7F800000, 0xFF800000, 0x7FC00000],
}  # fmt: skip


def _values(kind: type[np.generic], seed: int) -> Array:
    """Numbers of all sizes, and near each other; the first ones are each special with each."""
    random = np.random.default_rng(seed)
    if kind in (W, D):
        found = random.integers(0, np.iinfo(kind).max, N, dtype=kind, endpoint=True)
        found[:32] = np.arange(32)
        return found
    scale = random.integers(-24, 15, N) if kind is H else random.integers(-140, 120, N)
    with np.errstate(all="ignore"):
        found = np.ldexp(random.uniform(-2, 2, N), scale * random.integers(0, 2, N)).astype(kind)
    bits = np.array(_SPECIAL[kind], np.uint16 if kind is H else np.uint32).view(kind)
    count = len(bits)
    order = np.arange(count * count)
    place = order % count if seed & 1 else order // count
    found[: count * count] = bits[place]
    return np.asarray(found)


def _rounded(exact: Fraction, kind: type[np.generic]) -> float:
    """To nearest even, by integers alone."""
    digits, least, most = (10, -14, 15) if kind is H else (23, -126, 127)
    power = math.floor(math.log2(abs(exact)))
    while Fraction(2) ** power > abs(exact):
        power -= 1
    while Fraction(2) ** (power + 1) <= abs(exact):
        power += 1
    unit = Fraction(2) ** (max(power, least) - digits)
    value = round(exact / unit) * unit
    if abs(value) >= Fraction(2) ** (most + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(value), exact)


def _fused(kind: type[np.generic]) -> Callable[..., Array]:
    def each(x: Array, y: Array, z: Array) -> Array:
        found = []
        for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True):
            total = a + b * c
            if math.isfinite(a) and math.isfinite(b) and math.isfinite(c):
                exact = Fraction(a) + Fraction(b) * Fraction(c)
                total = _rounded(exact, kind) if exact else total
            found.append(total)
        with np.errstate(all="ignore"):
            return np.array(found).astype(kind)

    return each


def _wide(operation: Callable[..., Array], kind: type[np.generic]) -> Callable[..., Array]:
    """In double, then rounded: exact for sums and products of what has half the digits."""
    return lambda *sources: operation(*(s.astype(np.float64) for s in sources)).astype(kind)


def _larger(x: Array, y: Array) -> Array:
    return np.where(x == y, x, np.fmax(x, y))


def _whole(x: Array) -> Array:
    return np.array([int(v) & 0xFFFF if math.isfinite(v) else 0 for v in x.tolist()], W)


def _norm(kind: type[np.generic]) -> Callable[..., Array]:
    def each(x: Array) -> Array:
        mantissa, _ = np.frexp(x.astype(np.float64))
        plain = (x == 0) | ~np.isfinite(x.astype(np.float64))
        return np.where(plain, x, (2 * mantissa).astype(kind))

    return each


def _scaled(kind: type[np.generic]) -> Callable[..., Array]:
    return lambda x, y: np.ldexp(
        x.astype(np.float64), np.clip(y.view(np.int16), -400, 400).astype(np.int32)
    ).astype(kind)


def _shift(x: Array, y: Array, how: str) -> Array:
    found = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        number = a - 65536 if how == "sar" and a > 32767 else a
        found.append((number << b if how == "sll" else number >> b) & 0xFFFF)
    return np.array(found, W)


def _bits(x: Array, rule: Callable[[str], int]) -> Array:
    return np.array([rule(format(v, "016b")) for v in x.tolist()], W)


Rule = tuple[type[np.generic], tuple[type[np.generic], ...], Callable[..., Array]]
_RULES: dict[Vector, Rule] = {
    Vector.ADD16: (W, (W, W), lambda x, y: x + y),
    Vector.AND16: (W, (W, W), lambda x, y: x & y),
    Vector.OR16: (W, (W, W), lambda x, y: x | y),
    Vector.XOR16: (W, (W, W), lambda x, y: x ^ y),
    Vector.SAR16: (W, (W, W), lambda x, y: _shift(x, y, "sar")),
    Vector.SLL16: (W, (W, W), lambda x, y: _shift(x, y, "sll")),
    Vector.SLR16: (W, (W, W), lambda x, y: _shift(x, y, "slr")),
    Vector.SUB16: (W, (W, W), lambda x, y: x - y),
    Vector.CLZ: (W, (W,), lambda x: _bits(x, lambda s: len(s) - len(s.lstrip("0")))),
    Vector.CTZ: (W, (W,), lambda x: _bits(x, lambda s: len(s) - len(s.rstrip("0")))),
    Vector.POPCNT: (W, (W,), lambda x: _bits(x, lambda s: s.count("1"))),
    Vector.MOV16: (W, (W,), lambda x: x),
    Vector.MOV32: (D, (D,), lambda x: x),
    Vector.FABSH: (H, (H,), np.abs),
    Vector.FNEGH: (H, (H,), np.negative),
    Vector.FABSS: (S, (S,), np.abs),
    Vector.FNEGS: (S, (S,), np.negative),
    Vector.FMOVH: (H, (H,), lambda x: x),
    Vector.FMOVS: (S, (S,), lambda x: x),
    Vector.FADDH: (H, (H, H), _wide(np.add, H)),
    Vector.FSUBH: (H, (H, H), _wide(np.subtract, H)),
    Vector.FMULH: (H, (H, H), _wide(np.multiply, H)),
    Vector.FMAXH: (H, (H, H), _larger),
    Vector.FADDS: (S, (S, S), np.add),
    Vector.FSUBS: (S, (S, S), np.subtract),
    Vector.FMULS: (S, (S, S), np.multiply),
    Vector.FMAXS: (S, (S, S), _larger),
    Vector.FADDHS: (S, (H, S), lambda x, y: x.astype(S) + y),
    Vector.FMACH: (H, (H, H, H), _fused(H)),
    Vector.FMACHS: (S, (S, H, H), _fused(S)),
    Vector.FMACS: (S, (S, S, S), _fused(S)),
    Vector.FH2S: (S, (H,), lambda x: x.astype(S)),
    Vector.FS2H: (H, (S,), lambda x: x.astype(H)),
    Vector.FH2XP16: (W, (H,), _whole),
    Vector.FS2XP16: (W, (S,), _whole),
    Vector.XP162FH: (H, (W,), lambda x: x.view(np.int16).astype(H)),
    Vector.XP162FS: (S, (W,), lambda x: x.view(np.int16).astype(S)),
    Vector.FNORMH: (H, (H,), _norm(H)),
    Vector.FNORMS: (S, (S,), _norm(S)),
    Vector.FSCALEH: (H, (H, W), _scaled(H)),
    Vector.FSCALES: (S, (S, W), _scaled(S)),
}
_SCALAR_LAST = {Vector.FMACH, Vector.FMACHS, Vector.FMACS, Vector.FSCALEH, Vector.FSCALES}
"""Those whose last source is always a scalar."""
_OTHERS = {Vector.ADDC16, Vector.DFILT}
"""Of the carry there is a test of its own; @dfilt is of the fabric."""


def _same(got: Array, want: Array) -> None:
    assert got.dtype == want.dtype
    if got.dtype.kind == "f":
        both = np.isnan(got.astype(float)) & np.isnan(want.astype(float))
        got, want = np.where(both, 0, got), np.where(both, 0, want)
    unsigned = np.dtype(f"u{got.dtype.itemsize}")
    np.testing.assert_array_equal(got.view(unsigned), want.view(unsigned))


def test_every_operation_has_a_reference() -> None:
    assert set(_RULES) | _OTHERS == set(Vector)


def _run(vector: Vector, sources: list[Array], dest: type[np.generic], scalar: int = -1) -> Array:
    """The result; source number `scalar` is given as the register of its first element."""
    pe = Pe()
    to = pe.variable("to", N * np.dtype(dest).itemsize)
    code = [const(0, memory(to, N))]
    operands = [(Operand.DSD, 0)]
    for i, source in enumerate(sources):
        if i == scalar:
            bits = int(source.view(f"u{source.dtype.itemsize}")[0])
            code.append(const(i + 1, bits))
            operands.append((Operand.SCALAR, i + 1))
        else:
            at = pe.variable(f"from{i}", source)
            code.append(const(i + 1, memory(at, N)))
            operands.append((Operand.DSD, i + 1))
    pe.function("f", *code, pe.operate(vector, *operands))
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    return np.frombuffer(one.read(0, 0, to, N * np.dtype(dest).itemsize), dest)


@pytest.mark.parametrize("vector", list(_RULES), ids=lambda v: v.name.lower())
def test_an_operation_rounds_and_wraps_as_its_reference(vector: Vector) -> None:
    dest, kinds, rule = _RULES[vector]
    sources = [_values(kind, 10 * vector + i) for i, kind in enumerate(kinds)]
    last = len(kinds) - 1
    if vector not in _SCALAR_LAST:
        with np.errstate(all="ignore"):
            want = rule(*sources)
        _same(_run(vector, sources, dest), want.astype(dest))
        return
    for factor in sources[last][10:30]:
        sources[last] = np.full(N, factor, kinds[last])
        with np.errstate(all="ignore"):
            want = rule(*sources)
        _same(_run(vector, sources, dest, last), want.astype(dest))


@pytest.mark.parametrize("vector", [Vector.FSUBS, Vector.FMULH, Vector.SUB16], ids=lambda v: v.name)
def test_a_scalar_stands_for_every_element(vector: Vector) -> None:
    dest, kinds, rule = _RULES[vector]
    sources = [_values(kind, 5 + i) for i, kind in enumerate(kinds)]
    for place in range(2):
        sources[place][0] = 3
        with np.errstate(all="ignore"):
            filled = [np.full(N, 3, s.dtype) if i == place else s for i, s in enumerate(sources)]
            want = rule(*filled)
        _same(_run(vector, sources, dest, place), want.astype(dest))


def test_a_fused_multiply_add_rounds_once() -> None:
    x = np.full(N, -1.0, S)
    y = np.full(N, 1.0 + 2.0**-12, S)
    got = _run(Vector.FMACS, [x, y, y], S, 2)
    assert float(got.astype(float)[0]) == 2.0**-11 + 2.0**-24  # rounded twice it is 2^-11


def _one(pe: Pe, to: int, count: int, *code: tuple[int, int, int, int]) -> Array:
    pe.function("f", *code)
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    return np.frombuffer(one.read(0, 0, to, 2 * count), W)


def test_carries_go_from_element_to_element_and_from_operation_to_operation() -> None:
    random = np.random.default_rng(3)
    words = 40
    x, y = (random.integers(0, 65536, words, dtype=W) for _ in range(2))
    x[5:20], y[5:20] = 0xFFFF, 0
    x[4], y[4] = 0xFFFF, 1
    pe = Pe()
    to, a, b = pe.variable("to", 2 * words), pe.variable("a", x), pe.variable("b", y)
    code = []
    for part in range(2):
        offset = part * words
        first = 3 * part
        code += [const(first + i, memory(v + offset, words // 2)) for i, v in enumerate((to, a, b))]
        operands = [(Operand.DSD, first + i) for i in range(3)]
        code.append(pe.operate(Vector.ADDC16, *operands))
    got = _one(pe, to, words, *code)
    number = sum(int(v) << (16 * i) for i, v in enumerate(x))
    number += sum(int(v) << (16 * i) for i, v in enumerate(y))
    want = [(number >> (16 * i)) & 0xFFFF for i in range(words)]
    assert got.tolist() == want


@pytest.mark.parametrize("stride", [0, 1, 3, -1, -7])
def test_strides_of_source_and_destination(stride: int) -> None:
    data = np.arange(100, 164, dtype=W)
    pe = Pe()
    to, at = pe.variable("to", 16), pe.variable("from", data)
    first = 63 if stride < 0 else 0
    code = [const(0, memory(to + 14, 8, -1)), const(1, memory(at + 2 * first, 8, stride))]
    got = _one(pe, to, 8, *code, pe.operate(Vector.MOV16, (Operand.DSD, 0), (Operand.DSD, 1)))
    want = [int(data[first + stride * i]) for i in range(8)]
    assert got.tolist() == want[::-1]


def test_four_dimensions_go_by_row() -> None:
    data = np.arange(300, dtype=W)
    extents, strides = (2, 3, 2, 4), (100, -7, 20, 2)
    pe = Pe()
    pe.patterns.append(Pattern(extents, strides))
    to, at = pe.variable("to", 96), pe.variable("from", data)
    packed = pack_dsd(DsdKind.MEMORY_4D, {DsdField.BASE: at + 40, DsdField.EXTENT: 0})
    code = [const(0, memory(to, 48)), const(1, packed)]
    got = _one(pe, to, 48, *code, pe.operate(Vector.MOV16, (Operand.DSD, 0), (Operand.DSD, 1)))
    places = np.indices(extents).reshape(4, -1).T @ np.array(strides) + 20
    np.testing.assert_array_equal(got, data[places])


def test_a_circular_buffer_turns() -> None:
    data = np.arange(5, dtype=W)
    pe = Pe()
    to, at = pe.variable("to", 24), pe.variable("from", data)
    packed = pack_dsd(DsdKind.CIRCULAR, {DsdField.BASE: at, DsdField.EXTENT: 12, DsdField.INDEX: 5})
    code = [const(0, memory(to, 12)), const(1, packed)]
    got = _one(pe, to, 12, *code, pe.operate(Vector.MOV16, (Operand.DSD, 0), (Operand.DSD, 1)))
    assert got.tolist() == [i % 5 for i in range(12)]


def test_a_pointer_is_one_element_that_stays_where_it_is() -> None:
    data = np.arange(1, 11, dtype=W)
    pe = Pe()
    to, at = pe.variable("to", 4), pe.variable("from", data)
    code = [const(0, to), const(1, memory(at, 10))]
    add = pe.operate(Vector.ADD16, (Operand.POINTER, 0), (Operand.POINTER, 0), (Operand.DSD, 1))
    assert _one(pe, to, 2, *code, add).tolist() == [55, 0]
