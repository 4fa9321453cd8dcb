"""`quantize`: reals to integers within a bound, and which of them can't be kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array
from kernels.streams.quantiser import Quantiser, batches
from kernels.tasks.base import Inputs, Outputs, Ruling, StageCase, StageTask

Singles = npt.NDArray[np.float32]

PAGE = """\
# quantize

Turn every value into a multiple of a step so that it comes back within an absolute bound, and flag
those that can't be kept. The bound must hold exactly, although everything is float32.

| | |
|---|---|
| call | `run(x, eb) -> q, ok, step` |
| `x` | float32[n], 1-D, C-contiguous; may hold NaN and ±Inf |
| `eb` | Python float >= 0, finite: the absolute bound, a float64 value |
| `q` | int32[n]; 0 where not ok |
| `ok` | uint8[n]: 1 kept, 0 flagged |
| `step` | float32 scalar (`np.float32`, or a 0-D array), finite |
| empty x | empty q and ok, step 0 or more |

An element comes back as `x' = float32(q) * step`, one multiplication rounded to float32.

## What is right

There is no single right answer. The rules:
1. ok = 1 requires |x - x'| <= eb exactly, the difference not rounded. NaN and ±Inf are never ok.
2. ok = 0 requires q = 0; ok is 0 or 1.
3. step >= 0.98 times the golden one: a small step wastes bits.
4. flagged <= 1.05 times the golden number + 16.

## The golden arithmetic

Once, in double: T = the largest float32 with T + (succ(T) - T)/2 <= eb, at most 2^100. If
T < 2^-100: flag everything, step 0. Else, with M = the largest |x| among |x| < T * 2^21, 0 if none,

    step = 2 * (T - 3.001 * 2^-24 * M) * (1 - 8 * 2^-24), rounded down to float32

Per element, in float32, each operation rounded, none fused: `r = 1 / step`,

    t = x * r + 12582912;  f = t - 12582912;  x' = f * step
    ok = |f| < 2^22 and |x - x'| <= T;  q = int(f) where ok, else 0

Adding 12582912 = 1.5 * 2^23 rounds to an integer. It is safe because a difference beyond eb lies
past the midpoint above T, so its float32 rounding is above T. M leaves room for the rounding of x':
with step = 2 * eb, up to half of the values fail where |x| / eb is large.

## Where it sits

First step of SZ-family codecs with "dual quantisation" (cuSZ, cuSZp, FZ-GPU, szp), and the only
lossy one. A flagged element is stored apart, as it is.

## Example

| array | value |
|---|---|
| `x` | `[0.0, 1.0, 2.0, 3.5, -1.0, 1e20]` |
| `eb` | `0.5` |
| `q` | `[0, 1, 2, 4, -1, 0]` |
| `ok` | `[1, 1, 1, 1, 1, 0]` |
| `step` | `0.999998152256012` |

## Score

Rung 1. The four rules must hold on the edge cases (NaN, Inf, huge, subnormal, half bins, eb 0, tiny
and huge, |x| / eb near 2^21) and on fields. Ranked by speed in bytes of the original field per
second.

Usual mistakes: int(x / step) of a huge value or NaN, which is undefined; 1 / step with step 0;
eb cast to float32, which may round up; checking x in double but x' not as float32; fastmath, or a
fused multiply-add; M taken over fill values such as 1e20, which makes the step 0 or negative.
"""

DECODED = "x' = q * step"
"""What the bound is about, named as messages name it."""
_STEP_SHARE = 0.98
"""Least part of the golden step that a kernel's may be."""


def quantised(x: Singles, eb: float) -> tuple[Array, ...]:
    """Golden answer: q, ok, step."""
    quantiser = Quantiser.of(x, eb)
    q = np.empty(x.size, np.int32)
    ok = np.empty(x.size, np.uint8)
    for part in batches(x):
        done = quantiser.apply(x[part])
        q[part] = np.where(done.ok, done.q, np.int32(0))
        ok[part] = done.ok
    return q, ok, np.array(quantiser.step, np.float32)


def _judge(inputs: Inputs, golden: Outputs, outputs: Outputs) -> tuple[Ruling, ...]:
    """The bound where ok, ok itself, q where flagged, and whether too much was given up."""
    x, eb = np.asarray(inputs[0]), inputs[1]
    q, ok, step = outputs
    kept = ok != 0
    with np.errstate(over="ignore", invalid="ignore"):
        back = np.where(kept, q.astype(np.float32) * step, x)
    assert isinstance(eb, float)
    return (
        Ruling(x, back, eb, _given_up(golden, outputs), DECODED),
        Ruling(kept.astype(np.uint8), ok, name="ok"),
        Ruling(np.where(kept, q, np.int32(0)), q, name="q"),
    )


def _given_up(golden: Outputs, outputs: Outputs) -> str:
    """What is wrong with the step or with the number of flags, with the figures."""
    problems = []
    step, best = float(outputs[2]), float(golden[2])
    if not (np.isfinite(step) and step >= _STEP_SHARE * best):
        problems.append(
            f"the step is {step!r}; golden is {best!r}, and a finite one of at least "
            f"{_STEP_SHARE * best!r} ({_STEP_SHARE} x golden) is asked"
        )
    flagged, fewest = (int(np.count_nonzero(ok == 0)) for ok in (outputs[1], golden[1]))
    most = (105 * fewest) // 100 + 16
    if flagged > most:
        problems.append(
            f"{flagged} of {outputs[1].size} elements are flagged; golden flags {fewest}, and at "
            f"most {most} (1.05 x golden + 16) are allowed"
        )
    return "; ".join(problems)


def _inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    with np.errstate(over="ignore"):
        return data.reshape(-1).astype(np.float32), float(abs_bound)


def _edge_cases() -> tuple[StageCase, ...]:
    groups = (_ordinary(), _not_kept(), _near_the_limit(), _bounds(), _lengths())
    cases = {name: inputs for group in groups for name, inputs in group.items()}
    return tuple(StageCase(name, inputs) for name, inputs in cases.items())


_Cases = dict[str, tuple[Singles, float]]


def _singles(values: npt.ArrayLike) -> Singles:
    with np.errstate(over="ignore"):
        return np.array(values).astype(np.float32)


def _walk() -> Singles:
    return _singles(np.random.default_rng(20264).standard_normal(9001).cumsum())


def _ordinary() -> _Cases:
    random = np.random.default_rng(20265)
    walk = _walk()
    return {
        "empty": (_singles([]), 0.1),
        "one": (_singles([-2.5]), 0.1),
        "walk": (walk, 1e-2),
        "walk_coarse": (walk, 50.0),
        "constant": (np.full(1000, 3.25, np.float32), 1e-3),
        "zeros": (np.zeros(1000, np.float32), 1e-3),
        "negative_zeros": (np.full(1000, -0.0, np.float32), 1e-3),
        "uniform": (random.random(20011, np.float32), 1e-3),
        "temperatures": (_singles(285 + 15 * random.random(20011)), 1e-3),
        "large_offset": (_singles(1e5 + 100 * random.standard_normal(20011)), 1e-2),
        "half_bins": (_singles(np.arange(-4000, 4001) / 2), 0.5),
        "eighths": (_singles(np.arange(-8000, 8001) / 8), 0.0625),
        "ramp": (np.arange(1, 10001, dtype=np.float32), 1e-2),
    }


def _not_kept() -> _Cases:
    """Values of every kind that no q can stand for, alone and in number."""
    walk = _walk()
    kinds = walk.copy()
    for first, value in enumerate((np.nan, np.inf, -np.inf, 1e20, -3e38)):
        kinds[first * 7 :: 61 + first] = value
    land = np.where(np.arange(walk.size) % 97 < 40, np.float32(1e20), walk)
    small_land = np.where(np.arange(walk.size) % 97 < 40, np.float32(-32768), walk)
    mostly_nan = np.where(np.arange(walk.size) % 50 == 0, walk, np.float32(np.nan))
    payloads = walk.copy()
    payloads.view(np.uint32)[::50] = 0x7F800001
    payloads.view(np.uint32)[1::50] = 0xFFC12345
    return {
        "every_kind": (kinds, 1e-2),
        "land": (land, 1e-3),
        "land_within_reach": (small_land, 0.5),
        "land_beyond_reach": (small_land, 1e-3),
        "mostly_nan": (mostly_nan, 1e-2),
        "nan_payloads": (payloads, 1e-2),
        "all_nan": (np.full(500, np.nan, np.float32), 1.0),
        "all_inf": (np.full(500, np.inf, np.float32), 1.0),
        "all_too_large": (np.full(500, 1e30, np.float32), 1.0),
        "one_nan_at_each_end": (_singles([np.nan, *walk[:100], np.nan]), 1e-2),
    }


def _near_the_limit() -> _Cases:
    """|x| around eb·2^21, where rounding eats up the bound, and above, where q leaves its range.

    Where golden keeps a value above eb·2^21 by luck, a kernel whose step is a little smaller must
    not depend on the same luck: such values are few, or spread over all sizes.
    """
    random = np.random.default_rng(20266)
    exponents = random.uniform(10, 26, 20011)
    signs = random.choice([-1.0, 1.0], 20011)
    steps = np.arange(-3000, 3001) * 0.5
    return {
        "all_sizes": (_singles(signs * 2.0**exponents), 1.0),
        "below_2_17": (_singles(signs * 2.0 ** random.uniform(15, 17, 20011)), 1.0),
        "below_2_20": (_singles(signs * 2.0 ** random.uniform(18, 20, 20011)), 1.0),
        "below_2_21": (_singles(signs * 2.0 ** random.uniform(20, 21, 20011)), 1.0),
        "above_2_21": (_singles(signs * 2.0 ** random.uniform(21, 23, 20011)), 1.0),
        "around_2_21": (_singles(2.0**21 + steps), 1.0),
        "around_minus_2_22": (_singles(-(2.0**22) + steps), 2.5),
        "around_2_23": (_singles(2.0**23 + steps), 0.25),
    }


def _bounds() -> _Cases:
    """Bounds that float32 can't hold, that ask for everything or for nothing."""
    random = np.random.default_rng(20267)
    walk = _walk()
    subnormal = _singles(random.integers(-5000, 5000, 5003) * 2.0**-149)
    largest = float(np.finfo(np.float32).max)
    wide = _singles(random.uniform(-1, 1, 5003) * largest)
    return {
        "lossless": (walk, 0.0),
        "lossless_zeros": (np.zeros(3000, np.float32), 0.0),
        "just_lossless": (_singles(walk * 2.0**-110), float(np.nextafter(2.0**-100, 0))),
        "just_not_lossless": (_singles(walk * 2.0**-95), 2.0**-100 * (1 + 2.0**-20)),
        "smallest_double": (walk, 5e-324),
        "tiny": (walk, 1e-300),
        "subnormal": (subnormal, 2.0**-130),
        "subnormal_to_zero": (subnormal, 1e-3),
        "below_an_ulp": (walk, 1e-8),
        "between_singles": (walk, 0.1),
        "just_below_a_single": (walk, float(np.nextafter(2.0**-6, 0))),
        "just_above_a_single": (walk, float(np.nextafter(2.0**-6, 1))),
        "wide": (wide, 1e36),
        "wider_than_all": (wide, 1e39),
        "huge": (walk, 1e300),
        "ceiling": (_singles(walk * 2.0**100), 2.0**100),
        "above_the_ceiling": (_singles(walk * 2.0**110), 2.0**103),
    }


def _lengths() -> _Cases:
    random = np.random.default_rng(20268)
    cases: _Cases = {}
    for length in (2, 3, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097):
        values = random.standard_normal(length, np.float32)
        values[length // 2] = np.nan
        cases[f"length_{length}"] = (values, 1e-3)
    return cases


TASK = StageTask(
    name="quantize",
    summary="float32 to int32 within an absolute bound, with what can't be kept flagged",
    page=PAGE,
    rung=1,
    arguments="(x: float32[n], eb: float) -> q: int32[n], ok: uint8[n], step: float32",
    outputs=("q", "ok", "step"),
    inputs=_inputs,
    golden=quantised,
    edge_cases=_edge_cases,
    elementwise=True,
    judge=_judge,
)
