"""From a wrong array to its `ErrorPattern`: where the violations lie, what their errors look like.

Only computed when something is wrong. Of a large array a part around the first violation is looked
at, so that it takes a fraction of a second at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernels.borders import Border, border
from kernels.error_pattern import ErrorPattern
from kernels.records import Arg, Array, Comparison
from kernels.resemblances import real_resemblance, whole_resemblance

LOOKED_AT = 1 << 18
"""Most values looked at."""
PERIODS = (4096, 2048, 1024, 512, 256, 128, 64, 32)
_BLOCKS = (32, 128, 4096, 64, 256, 512, 1024)
"""Block lengths: of szp, of szx, of their chunks; then others that are usual."""
_NEARLY_ALL = 0.95
_PREDICTED = (32, 64, 128, 256, 1024, 4096)
"""Lengths of blocks in which one value may spoil the others."""
_FILL_RATIO = 1e6
"""A value so many times the median magnitude is taken for a fill value."""
_STEP_TOLERANCE = 1.01

Mask = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Scene:
    """The part that is looked at, flat."""

    start: int
    """Flat index of its first value: a multiple of every period."""
    shape: tuple[int, ...]
    """Of the whole array."""
    x: Array
    y: Array
    wrong: Mask
    at: npt.NDArray[np.int64]
    """Flat indices of the violations."""
    bound: float
    whole: bool
    """Whether it holds all violations."""

    @property
    def size(self) -> int:
        """Of the whole array."""
        return int(np.prod(self.shape))


def codec_pattern(
    task: str, original: Array, decoded: Array, comparison: Comparison
) -> ErrorPattern:
    """Of a decoded array that breaks the bound; `comparison` has violations."""
    scene = _scene(original, decoded, comparison)
    return _pattern(scene, task, 0, comparison)


def stage_pattern(
    task: str,
    inputs: tuple[Arg, ...],
    output: int,
    pair: tuple[Array, Array],
    comparison: Comparison,
    name: str = "",
) -> ErrorPattern:
    """Of output number `output` of a stage; pair: what was wanted, and what came."""
    wanted, got = pair
    scene = _scene(wanted, got, comparison)
    found = replace(_pattern(scene, task, output, comparison), output_name=name)
    if wanted.dtype.kind not in "iu":
        return found
    first = next((i for i in inputs if isinstance(i, np.ndarray)), None)
    found = _with_integers(found, scene, whole_resemblance(wanted, got, first))
    return replace(found, beyond_bins=task == "histogram" and _beyond_bins(inputs, scene))


def stage_task(task: str, tried: Sequence[tuple[Arg, ...]]) -> ErrorPattern:
    """What is known of a stage that gave nothing to compare: which it is, and what it was given."""
    beyond = task == "histogram" and any(map(_codes_beyond, tried))
    return ErrorPattern(task, 0, (), 0, 0, 0, 0, 0.0, beyond_bins=beyond)


def _scene(original: Array, decoded: Array, comparison: Comparison) -> _Scene:
    point = comparison.first
    if point is None:
        raise ValueError("nothing is wrong: there is no pattern of errors")
    size = original.size
    start = 0 if size <= LOOKED_AT else max(0, point.flat // PERIODS[0] - 1) * PERIODS[0]
    part = slice(start, start + LOOKED_AT)
    x, y = original.reshape(-1)[part], decoded.reshape(-1)[part]
    wrong = _wrong(x, y, comparison.abs_bound)
    # Exact in the comparison, rounded here: the first may be missing.
    wrong[point.flat - start] = True
    at = np.flatnonzero(wrong) + start
    whole = at.size >= comparison.violations
    return _Scene(start, original.shape, x, y, wrong, at, comparison.abs_bound, whole)


def _wrong(x: Array, y: Array, bound: float) -> Mask:
    if x.dtype.kind != "f":
        return np.asarray(x != y)
    with np.errstate(all="ignore"):
        return ~_close(x.astype(np.float64), y.astype(np.float64), bound)


def _pattern(scene: _Scene, task: str, output: int, comparison: Comparison) -> ErrorPattern:
    period, phase = _period(scene)
    places = ErrorPattern(
        task=task,
        output=output,
        shape=scene.shape,
        checked=comparison.checked,
        violations=comparison.violations,
        first=int(scene.at[0]),
        last=int(scene.at[-1]),
        abs_bound=scene.bound,
        period=period,
        phase=phase,
        tail=_tail(scene),
        onward=_onward(scene),
        edges=_edges(scene),
    )
    return _with_errors(places, scene) if scene.x.dtype.kind == "f" else places


def _period(scene: _Scene) -> tuple[int, int]:
    """The longest block at one place of which nearly all violations are; (0, 0) without one."""
    for period in PERIODS:
        phases, counts = np.unique(scene.at % period, return_counts=True)
        common = int(phases[counts.argmax()])
        if counts.max() >= max(3, _NEARLY_ALL * scene.at.size) and 2 * period <= scene.size:
            return period, common
    return 0, 0


def _tail(scene: _Scene) -> int:
    for block in _BLOCKS:
        rest = scene.size % block
        if scene.whole and block < scene.size and rest > 0 and scene.at[0] >= scene.size - rest:
            return block
    return 0


def _onward(scene: _Scene) -> bool:
    first = int(scene.at[0]) - scene.start
    after = scene.wrong[first:]
    return first > 0 and after.size >= 8 and bool(after.mean() >= _NEARLY_ALL)


def _edges(scene: _Scene) -> tuple[int, ...]:
    """Axes at whose index 0 the violations are; fewer axes are preferred."""
    if len(scene.shape) < 2 or scene.at.size < 2:
        return ()
    index = np.unravel_index(scene.at, scene.shape)
    at_start = {axis: index[axis] == 0 for axis, n in enumerate(scene.shape) if n > 1}
    for axis, mask in at_start.items():
        if mask.mean() >= 0.99:
            return (axis,)
    on_any = np.logical_or.reduce(list(at_start.values())) if at_start else np.zeros(1, bool)
    return tuple(at_start) if on_any.mean() >= 0.99 else ()


def _with_errors(places: ErrorPattern, scene: _Scene) -> ErrorPattern:
    """Adds what the errors of real numbers look like."""
    with np.errstate(all="ignore"):
        x, y = scene.x.astype(np.float64), scene.y.astype(np.float64)
        errors = y - x
        magnitude = np.abs(x)
        factor = _factor(x, y, scene)
        above = _above_all(magnitude, scene)
        jumps = _border(errors, scene)
        return ErrorPattern(
            **{
                **places.__dict__,
                **_special(x, scene, onward=places.onward),
                "times_bound": _times(errors, scene),
                "least_times": _least_times(magnitude, scene),
                "excess_ulps": _excess_ulps(errors, scene),
                "accumulates": not above and not factor and _accumulates(errors, scene),
                "above_all": above,
                "negative_only": _negative_only(x, scene),
                "direction": _direction(errors, x, scene),
                "wrapped_bits": _wrapped(errors, scene),
                "factor": factor,
                "resembles": real_resemblance(scene.x, scene.y, scene.shape, scene.bound),
                "narrowed": _narrowed(scene),
                "flushed": _flushed(magnitude, scene),
                "wide": _wide(scene),
                "border": jumps.length,
                "border_axis": jumps.axis,
            }
        )


def _narrowed(scene: _Scene) -> bool:
    if scene.x.dtype != np.float64:
        return False
    single = scene.x.astype(np.float32).astype(np.float64)
    if _close(scene.y, single, scene.bound)[scene.wrong].all():
        return True
    cut = scene.y.astype(np.float32).astype(np.float64)
    return bool(_close(scene.y, cut, 0.0).all() and not (cut == cut[0]).all())


def _close(x: Array, y: Array, bound: float) -> Mask:
    """Elementwise; NaN is close to NaN."""
    return np.asarray((np.abs(x - y) <= bound) | (x == y) | (np.isnan(x) & np.isnan(y)))


def _flushed(magnitude: Reals, scene: _Scene) -> bool:
    wrong = magnitude[scene.wrong]
    came_back = scene.y[scene.wrong]
    return bool((came_back == 0).all() and wrong.max() < np.finfo(scene.x.dtype).tiny)


def _wide(scene: _Scene) -> bool:
    finite = scene.x[np.isfinite(scene.x)]
    return bool(finite.size and np.isinf(finite.max() - finite.min()))


def _border(errors: Reals, scene: _Scene) -> Border:
    """Only told of a whole array: a part begins anywhere in its rows."""
    if scene.start or scene.x.size < scene.size or not scene.bound:
        return Border()
    return border(errors.reshape(scene.shape), scene.bound)


def _special(x: Reals, scene: _Scene, *, onward: bool) -> dict[str, float]:
    """Shares of the violations at or beside values that are not finite, or far from the rest."""
    finite = np.isfinite(x)
    sizes = np.abs(x[finite & (x != 0)])
    typical = float(np.median(sizes)) if sizes.size else 0.0
    odd = finite & (np.abs(x) > _FILL_RATIO * typical) & (typical > 0)
    beside, beside_fill = (_beside(mask, scene, onward=onward) for mask in (~finite, odd))
    return {
        "special": float((~finite)[scene.wrong].mean()),
        "beside_special": beside,
        "fill": float(odd[scene.wrong].mean()),
        "beside_fill": beside_fill,
    }


def _beside(special: Mask, scene: _Scene, *, onward: bool) -> float:
    """Share of the violations next to a special value, or in its block; all that follow one."""
    if not special.any():
        return 0.0
    share = 0.0
    for block in _PREDICTED:
        near = _dilated(special, scene, block)
        if near.mean() > 0.9:
            break
        first = int(scene.at[0]) - scene.start
        if onward and near[first] and not special[first]:
            return 1.0
        share = max(share, float((near & ~special)[scene.wrong].mean()))
    return share


def _dilated(special: Mask, scene: _Scene, block: int) -> Mask:
    near = special.copy()
    strides = {int(np.prod(scene.shape[axis + 1 :])) for axis in range(len(scene.shape))}
    for stride in strides:
        near[stride:] |= special[:-stride]
        near[:-stride] |= special[stride:]
    blocks = np.zeros(-(-special.size // block) * block, np.bool_)
    blocks[: special.size] = special
    near |= np.repeat(blocks.reshape(-1, block).any(axis=1), block)[: special.size]
    return near


def _times(errors: Reals, scene: _Scene) -> float:
    finite = np.abs(errors[scene.wrong & np.isfinite(errors)])
    return float(finite.max() / scene.bound) if finite.size and scene.bound else 0.0


def _least_times(magnitude: Reals, scene: _Scene) -> float:
    finite = magnitude[scene.wrong & np.isfinite(magnitude)]
    return float(finite.min() / scene.bound) if finite.size and scene.bound else 0.0


def _excess_ulps(errors: Reals, scene: _Scene) -> float:
    """`inf` where a value came back that is not finite, or is not what a bound is about."""
    if not scene.bound or not np.isfinite(errors[scene.wrong]).all():
        return float("inf")
    ulps = last_place(np.maximum(np.abs(scene.x), np.abs(scene.y)))
    excess = (np.abs(errors) - scene.bound) / ulps
    return float(max(excess[scene.wrong].max(), 0.0))


def last_place(magnitude: Array) -> Array:
    """Units in the last place, of the largest number too."""
    largest = np.finfo(magnitude.dtype).max
    return np.asarray(np.spacing(np.minimum(magnitude, np.nextafter(largest, 0))))


def _accumulates(errors: Reals, scene: _Scene) -> bool:
    """Each step adds an error within the bound, and the sum is beyond it.

    A predictor that reads originals where the decoder has only what it decoded does that, along the
    scan, be it from one value before or from several, or along all axes.
    """
    if not scene.bound or scene.wrong.all() or not np.isfinite(errors).all():
        return False
    if not 1.2 < float(np.abs(errors).max() / scene.bound) < 1e9:
        return False
    changes = [np.diff(errors, n=order) for order in (1, 2, 3)]
    row = int(np.prod(scene.shape[1:]))
    if len(scene.shape) > 1 and row and scene.start % row == 0 and errors.size >= 2 * row:
        block = errors[: errors.size // row * row].reshape(-1, *scene.shape[1:])
        for axis in range(block.ndim):
            block = np.diff(block, axis=axis)
        changes.append(block.reshape(-1))
    return any(_within_steps(c, scene.bound) for c in changes if c.size)


def _within_steps(changes: Reals, bound: float) -> bool:
    """Changes of one rounding each: none beyond the bound, and not mostly zero."""
    sizes = np.abs(changes)
    return bool((sizes <= _STEP_TOLERANCE * bound).mean() >= 0.99 and sizes.mean() >= 0.1 * bound)


def _above_all(magnitude: Reals, scene: _Scene) -> bool:
    right = magnitude[~scene.wrong & np.isfinite(magnitude)]
    wrong = magnitude[scene.wrong]
    return bool(right.size and np.isfinite(wrong).all() and wrong.min() > right.max() > 0)


def _negative_only(x: Reals, scene: _Scene) -> bool:
    negative = x < 0
    if scene.at.size < 4 or not 0.05 < float(negative.mean()) < 0.95:
        return False
    return bool(negative[scene.wrong].mean() >= 0.99 and scene.wrong[negative].mean() >= 0.5)


def _direction(errors: Reals, x: Reals, scene: _Scene) -> str:
    wrong, values = errors[scene.wrong], x[scene.wrong]
    if wrong.size < 4 or not np.isfinite(wrong).all():
        return ""
    if (wrong < 0).all():
        return "toward zero" if (values > 0).all() else "down"
    if (wrong > 0).all():
        return "toward zero" if (values < 0).all() else "up"
    return "toward zero" if (np.sign(wrong) == -np.sign(values)).all() else ""


def _wrapped(errors: Reals, scene: _Scene) -> int:
    steps = np.abs(errors[scene.wrong]) / (2 * scene.bound) if scene.bound else np.zeros(1)
    for bits in (8, 16, 32):
        share = ((steps > 0.88 * 2**bits) & (steps < 1.02 * 2**bits)).mean()
        if share >= 0.8:
            return bits
    return 0


def _factor(x: Reals, y: Reals, scene: _Scene) -> float:
    """One number by which everything was multiplied, or 0."""
    both = np.isfinite(x) & np.isfinite(y) & (x != 0)
    if both.sum() < 4 or scene.wrong.mean() < 0.3:
        return 0.0
    x, y = x[both], y[both]
    # Halved: the middle of two large values may overflow.
    large = np.abs(x) / 2 >= np.median(np.abs(x) / 2)
    factor = float(np.median(y[large] / x[large]))
    away = abs(factor - 1) * float(np.abs(x).max())
    tolerance = 1.05 * scene.bound * max(1.0, abs(factor)) + 1e-6 * abs(factor) * np.abs(x)
    if factor == 0 or away <= 2 * scene.bound or np.ptp(x) == 0:
        return 0.0
    return factor if (np.abs(y - factor * x) <= tolerance).mean() >= 0.99 else 0.0


def _with_integers(places: ErrorPattern, scene: _Scene, resembles: str) -> ErrorPattern:
    """Adds what wrong integers look like."""
    wanted, got = scene.x[scene.wrong], scene.y[scene.wrong]
    unsigned = scene.x.dtype.kind == "u"
    return ErrorPattern(
        **{
            **places.__dict__,
            "resembles": resembles,
            "low_bits": _cut_to(wanted, got),
            "extra_bits": unsigned and bool(((wanted & got) == wanted).all()),
            "lost_counts": unsigned and bool((got < wanted).all()),
            "shifted_down": unsigned and _shifted_down(wanted, got),
        }
    )


def _cut_to(wanted: Array, got: Array) -> int:
    """Of 8 and 16 the number of bits that the values were cut to; 0 if they were not."""
    if not got.any():
        return 0
    for signed, unsigned, bits in ((np.int8, np.uint8, 8), (np.int16, np.uint16, 16)):
        cut = (wanted.astype(dtype).astype(wanted.dtype) for dtype in (signed, unsigned))
        if bits < 8 * wanted.dtype.itemsize and any((one == got).all() for one in cut):
            return bits
    return 0


def _shifted_down(wanted: Array, got: Array) -> bool:
    lengths = [np.frexp(words.astype(np.float64))[1] for words in (wanted, got)]
    by = lengths[0] - lengths[1]
    if not got.all() or (by <= 0).any():
        return False
    return bool((wanted.astype(np.uint64) >> by.astype(np.uint64) == got).all())


def _beyond_bins(inputs: tuple[Arg, ...], scene: _Scene) -> bool:
    """Whether as many codes were counted too often as have no bin."""
    excess = int(scene.y.sum(dtype=np.int64)) - int(scene.x.sum(dtype=np.int64))
    return excess == _codes_beyond(inputs) > 0


def _codes_beyond(inputs: tuple[Arg, ...]) -> int:
    """Of a histogram's inputs: how many codes have no bin."""
    codes, nbins = inputs[0], inputs[-1]
    if not (isinstance(codes, np.ndarray) and isinstance(nbins, int)):
        return 0
    return int(np.count_nonzero(codes >= nbins))
