"""Functions of the emulator's headers with what they give, by NumPy or exact fractions.

A case is a C++ expression of x, y and z, all of one type, and a function of three scalars of that
type. All cases of a type are compiled into one kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Scalar = Any
WORDS = {"u": np.uint32, "s": np.int32, "U": np.uint64, "S": np.int64, "f": np.float32,
         "d": np.float64, "h": np.uint16}  # fmt: skip
SPELLED = {"u": "unsigned", "s": "int", "U": "unsigned long long", "S": "long long", "f": "float",
           "d": "double", "h": "unsigned short"}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """An expression and its value."""

    text: str
    given: str
    """Letter of the type of x, y, z."""
    gives: str
    value: Callable[[Scalar, Scalar, Scalar], Scalar]


def inputs(letter: str) -> tuple[Array, Array, Array]:
    """Three arrays of 192 values with every hard one among them."""
    rng = np.random.default_rng(ord(letter))
    kind: Any = WORDS[letter]
    if letter in "fd":
        made = rng.standard_normal((3, 192)) * 10.0 ** rng.integers(-12, 12, (3, 192))
        hard = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan,
                2147483647.0, 2147483648.0, -2147483648.0, 4294967296.0, 9.3e18, -9.3e18, 1e30,
                65504.0, 65520.0, 6e-8, 3e-8, 1e-40]  # fmt: skip
        made[0, : len(hard)] = hard
        made[1, 30 : 30 + len(hard)] = hard
        return _three(made.astype(kind))
    limits: Any = np.iinfo(kind)
    low, high = limits.min, limits.max
    whole = rng.integers(low, high, (3, 192), dtype=kind, endpoint=True)
    whole[0, :6] = [0, 1, low, high, high // 2, high - 1]
    whole[1, 6:12] = [0, 1, low, high, high // 2, 31]
    whole[:, 100:140] = rng.integers(0, 40, (3, 40)).astype(kind)
    return _three(whole)


def _three(rows: Array) -> tuple[Array, Array, Array]:
    return rows[0].copy(), rows[1].copy(), rows[2].copy()


def rounded(value: Fraction, kind: type, direction: str) -> Scalar:
    """A number in a floating type, in the direction of CUDA's suffix."""
    near = kind(_nearest(value, kind))
    if not np.isfinite(near) and direction == "rn":
        return near
    exact = Fraction(float(near)) if np.isfinite(near) else None
    if direction == "rz":
        direction = "rd" if value > 0 else "ru"
    if direction == "rd" and (
        (exact is None and near > 0) or (exact is not None and exact > value)
    ):
        return np.nextafter(near, kind(-np.inf))
    if direction == "ru" and (
        (exact is None and near < 0) or (exact is not None and exact < value)
    ):
        return np.nextafter(near, kind(np.inf))
    return near


def _nearest(value: Fraction, kind: type) -> float:
    """To nearest even; floats from fractions are, doubles from those would round twice."""
    if kind is np.float64:
        try:
            return value.numerator / value.denominator
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    digits, least = (24, -149) if kind is np.float32 else (11, -24)
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = math.floor(math.log2(size.numerator)) - math.floor(math.log2(size.denominator))
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    return math.copysign(float(round(size / unit) * unit), value)


def converted(bits: int, signed: bool, how: Callable[[float], float]) -> Callable[..., Scalar]:
    """A float to an integer: rounded, then to the nearest that there is; NaN is 0."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def value(x: Scalar, *_: Scalar) -> int:
        if np.isnan(x):
            return 0
        if np.isinf(x):
            return high if x > 0 else low
        return min(max(int(how(float(x))), low), high)

    return value


def _rint(x: float) -> float:
    return float(np.rint(x))


_HOW: dict[str, Callable[[float], float]] = {
    "rn": _rint, "rz": math.trunc, "ru": math.ceil, "rd": math.floor,
}  # fmt: skip
_OPERATIONS: Sequence[tuple[str, str, int, Callable[..., Fraction]]] = (
    ("add", "+", 2, lambda x, y, _: x + y),
    ("sub", "-", 2, lambda x, y, _: x - y),
    ("mul", "*", 2, lambda x, y, _: x * y),
    ("div", "/", 2, lambda x, y, _: x / y),
    ("rcp", "1/", 1, lambda x, *_: 1 / x),
)


def _directed(letter: str, direction: str, exact: Callable[..., Fraction]) -> Callable[..., Scalar]:
    kind = WORDS[letter]

    def value(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        try:
            numbers = [Fraction(float(one)) for one in (x, y, z)]
            result = exact(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
        # The sign of an exact zero depends on the direction: not looked at.
        return rounded(result, kind, direction) if result else None

    return value


def _rounding_cases() -> list[Case]:
    made = []
    for letter, start in (("f", "__f"), ("d", "__d")):
        for direction in ("rn", "rz", "ru", "rd"):
            for name, _, count, exact in _OPERATIONS:
                text = f"{start}{name}_{direction}({', '.join('xyz'[:count])})"
                made.append(Case(text, letter, letter, _directed(letter, direction, exact)))
            text = f"{start}sqrt_{direction}(x)"
            made.append(Case(text, letter, letter, _root(letter, direction)))
            fused = "__fmaf" if letter == "f" else "__fma"
            exact = lambda x, y, z: x * y + z  # noqa: E731
            text = f"{fused}_{direction}(x, y, z)"
            made.append(Case(text, letter, letter, _directed(letter, direction, exact)))
    return [*made, *_conversion_cases()]


def _conversion_cases() -> list[Case]:
    made = []
    for name, letter, bits, signed in (
        ("__float2int", "f", 32, True), ("__float2uint", "f", 32, False),
        ("__float2ll", "f", 64, True), ("__float2ull", "f", 64, False),
        ("__double2int", "d", 32, True), ("__double2uint", "d", 32, False),
        ("__double2ll", "d", 64, True), ("__double2ull", "d", 64, False),
    ):  # fmt: skip
        to = {(32, True): "s", (32, False): "u", (64, True): "S", (64, False): "U"}[bits, signed]
        for direction, how in _HOW.items():
            made.append(Case(f"{name}_{direction}(x)", letter, to, converted(bits, signed, how)))
    for name, letter, to in (
        ("__int2float", "s", "f"), ("__uint2float", "u", "f"), ("__ll2float", "S", "f"),
        ("__ull2float", "U", "f"), ("__ll2double", "S", "d"), ("__ull2double", "U", "d"),
        ("__double2float", "d", "f"),
    ):  # fmt: skip
        for direction in ("rn", "rz", "ru", "rd"):
            value = _from_number(WORDS[to], direction)
            made.append(Case(f"{name}_{direction}(x)", letter, to, value))
    for direction in ("rn", "rz", "ru", "rd"):
        value = _from_number(np.float16, direction)
        text = f"__half_as_ushort(__float2half_{direction}(x))"
        made.append(Case(text, "f", "h", _bits_of_half(value)))
    return made


def _root(letter: str, direction: str, *, inverse: bool = False) -> Callable[..., Scalar]:
    kind = WORDS[letter]

    def value(x: Scalar, *_: Scalar) -> Scalar:
        if not np.isfinite(x) or x <= 0:
            return None
        # 200 bits of the root, with a last one that says whether it goes on.
        number = Fraction(float(x))
        exact = (1 / number if inverse else number) * Fraction(4) ** 1200
        root = math.isqrt(exact.numerator // exact.denominator)
        more = Fraction(root) ** 2 != exact
        return rounded(
            (root + (Fraction(1, 2) if more else 0)) / Fraction(2) ** 1200, kind, direction
        )

    return value


def _from_number(kind: type, direction: str) -> Callable[..., Scalar]:
    def value(x: Scalar, *_: Scalar) -> Scalar:
        if not np.isfinite(x) or x == 0:
            return None
        exact = Fraction(float(x)) if isinstance(x, np.floating) else Fraction(int(x))
        return rounded(exact, kind, direction)

    return value


def _bits_of_half(value: Callable[..., Scalar]) -> Callable[..., Scalar]:
    def bits(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        half = value(x, y, z)
        return None if half is None else half.view(np.uint16)

    return bits


def _bytes(x: int, y: int, s: int) -> int:
    source = (int(y) << 32 | int(x)).to_bytes(8, "little")
    out = bytearray()
    for at in range(0, 16, 4):
        pick = int(s) >> at & 15
        one = source[pick & 7]
        out.append((255 if one & 128 else 0) if pick & 8 else one)
    return int.from_bytes(out, "little")


def _reversed(x: int, bits: int) -> int:
    return int(f"{int(x):0{bits}b}"[::-1], 2)


def _signed24(x: int) -> int:
    return ((int(x) & 0xFFFFFF) ^ 0x800000) - 0x800000


def _parts(x: int, signed: bool) -> list[int]:
    kind = np.int8 if signed else np.uint8
    raw = (int(x) & 0xFFFFFFFF).to_bytes(4, "little")
    return [int(one) for one in np.frombuffer(raw, kind)]


def _dot(signed: bool) -> Callable[..., int]:
    def value(x: Scalar, y: Scalar, z: Scalar) -> int:
        pairs = zip(_parts(x, signed), _parts(y, signed), strict=True)
        return int(z) + sum(a * b for a, b in pairs)

    return value


def _integer_cases() -> list[Case]:
    return [
        Case("__clz(x)", "s", "s", lambda x, *_: 32 - (int(x) & 0xFFFFFFFF).bit_length()),
        Case("__clzll(x)", "S", "s", lambda x, *_: 64 - (int(x) & (1 << 64) - 1).bit_length()),
        Case("__ffs(x)", "s", "s", lambda x, *_: (int(x) & -int(x)).bit_length()),
        Case("__ffsll(x)", "S", "s", lambda x, *_: (int(x) & -int(x)).bit_length()),
        Case("__popc(x)", "u", "s", lambda x, *_: int(x).bit_count()),
        Case("__popcll(x)", "U", "s", lambda x, *_: int(x).bit_count()),
        Case("__brev(x)", "u", "u", lambda x, *_: _reversed(x, 32)),
        Case("__brevll(x)", "U", "U", lambda x, *_: _reversed(x, 64)),
        Case("__byte_perm(x, y, z)", "u", "u", _bytes),
        Case("__funnelshift_l(x, y, z)", "u", "u",
             lambda x, y, z: (int(y) << 32 | int(x)) << (int(z) & 31) >> 32),
        Case("__funnelshift_lc(x, y, z)", "u", "u",
             lambda x, y, z: (int(y) << 32 | int(x)) << min(int(z), 32) >> 32),
        Case("__funnelshift_r(x, y, z)", "u", "u",
             lambda x, y, z: (int(y) << 32 | int(x)) >> (int(z) & 31)),
        Case("__funnelshift_rc(x, y, z)", "u", "u",
             lambda x, y, z: (int(y) << 32 | int(x)) >> min(int(z), 32)),
        Case("__mul24(x, y)", "s", "s", lambda x, y, _: _signed24(x) * _signed24(y)),
        Case("__umul24(x, y)", "u", "u", lambda x, y, _: (int(x) % 2**24) * (int(y) % 2**24)),
        Case("__mulhi(x, y)", "s", "s", lambda x, y, _: int(x) * int(y) >> 32),
        Case("__umulhi(x, y)", "u", "u", lambda x, y, _: int(x) * int(y) >> 32),
        Case("__mul64hi(x, y)", "S", "S", lambda x, y, _: int(x) * int(y) >> 64),
        Case("__umul64hi(x, y)", "U", "U", lambda x, y, _: int(x) * int(y) >> 64),
        Case("__sad(x, y, (unsigned)z)", "s", "u",
             lambda x, y, z: abs(int(x) - int(y)) + int(z)),
        Case("__usad(x, y, z)", "u", "u", lambda x, y, z: abs(int(x) - int(y)) + int(z)),
        Case("__hadd(x, y)", "s", "s", lambda x, y, _: (int(x) + int(y)) >> 1),
        Case("__rhadd(x, y)", "s", "s", lambda x, y, _: (int(x) + int(y) + 1) >> 1),
        Case("__dp4a(x, y, z)", "s", "s", _dot(signed=True)),
        Case("__dp4a(x, y, z)", "u", "u", _dot(signed=False)),
        Case("min(x, y)", "s", "s", lambda x, y, _: min(x, y)),
        Case("max(x, y)", "u", "u", lambda x, y, _: max(x, y)),
        Case("max(x, y)", "S", "S", lambda x, y, _: max(x, y)),
        Case("abs(x)", "s", "s", lambda x, *_: abs(int(x))),
        Case("__double_as_longlong(__longlong_as_double(x))", "S", "S", lambda x, *_: x),
        Case("__float_as_uint(__uint_as_float(x))", "u", "u", lambda x, *_: x),
        Case("__float_as_int(__int_as_float(x))", "s", "s", lambda x, *_: x),
    ]  # fmt: skip


def _float_cases() -> list[Case]:
    made = [
        Case("__saturatef(x)", "f", "f",
             lambda x, *_: np.float32(0) if np.isnan(x) else np.clip(x, 0, 1) + np.float32(0)),
        Case("__frsqrt_rn(x)", "f", "f", _root("f", "rn", inverse=True)),
        Case("rsqrtf(x)", "f", "f", lambda x, *_: np.float32(1) / np.sqrt(x)),
        Case("fminf(x, y)", "f", "f", lambda x, y, _: np.fmin(x, y) if x != y else None),
        Case("max(x, y)", "d", "d", lambda x, y, _: np.fmax(x, y) if x != y else None),
        Case("fmod(x, y)", "d", "d", lambda x, y, _: np.fmod(x, y)),
        Case("copysign(x, y)", "d", "d", lambda x, y, _: np.copysign(x, y)),
        Case("ldexpf(x, 3)", "f", "f", lambda x, *_: np.ldexp(x, 3)),
        Case("(float)isnan(x)", "f", "f", lambda x, *_: np.isnan(x)),
        Case("(float)isinf(x)", "d", "f", lambda x, *_: np.isinf(x)),
        Case("(int)x", "f", "s", converted(32, True, math.trunc)),
        Case("__hiloint2double(__double2hiint(x), __double2loint(x))", "d", "d",
             lambda x, *_: x),
        Case("__half2float(__ushort_as_half((unsigned short)x))", "u", "f",
             lambda x, *_: np.uint16(int(x) & 0xFFFF).view(np.float16).astype(np.float32)),
    ]  # fmt: skip
    for name in ("sqrt", "floor", "ceil", "trunc", "rint", "fabs"):
        made += [
            Case(f"{name}f(x)", "f", "f", lambda x, *_, name=name: getattr(np, name)(x)),
            Case(f"{name}(x)", "d", "d", lambda x, *_, name=name: getattr(np, name)(x)),
        ]
    for name, symbol in (("hadd", "add"), ("hsub", "subtract"), ("hmul", "multiply"),
                         ("hdiv", "divide")):  # fmt: skip
        text = f"__half_as_ushort(__{name}(__float2half(x), __float2half(y)))"
        made.append(Case(text, "f", "h", _half(symbol)))
    text = "__half_as_ushort(__hfma(__float2half(x), __float2half(y), __float2half(z)))"
    made.append(Case(text, "f", "h", _half_fma))
    return made


def _half(symbol: str) -> Callable[..., Scalar]:
    def value(x: Scalar, y: Scalar, _: Scalar) -> Scalar:
        got = getattr(np, symbol)(np.float16(x), np.float16(y))
        return None if np.isnan(got) else got.view(np.uint16)

    return value


def _half_fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    given = [np.float16(one) for one in (x, y, z)]
    if not all(np.isfinite(given)):
        return None
    exact = Fraction(float(given[0])) * Fraction(float(given[1])) + Fraction(float(given[2]))
    return rounded(exact, np.float16, "rn").view(np.uint16) if exact else None


def cases() -> list[Case]:
    """All of them."""
    return [*_integer_cases(), *_float_cases(), *_rounding_cases()]
