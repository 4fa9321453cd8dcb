"""What it means that a stage's output is not the golden answer: from the particular on."""

from __future__ import annotations

from collections.abc import Callable

from kernels.error_pattern import ErrorPattern
from kernels.records import FailureKind

from .rules import Rule

When = Callable[[ErrorPattern], bool]


def _stage(
    name: str, explanation: str, suggestion: str, when: When | None = None, pattern: str = ""
) -> Rule:
    return Rule(name, frozenset({FailureKind.BOUND}), pattern, explanation, suggestion, "", when)


def _integers(pattern: ErrorPattern) -> bool:
    """Of a stage whose outputs are asked to be equal."""
    return pattern.task not in ("", "sz-open", "szp", "szx", "quantize")


def _of(condition: When) -> When:
    return lambda pattern: _integers(pattern) and condition(pattern)


def _like(*words: str) -> When:
    return _of(lambda p: any(word in p.resembles for word in words))


def _task(*names: str) -> When:
    return lambda p: p.task.startswith(names)


def _both(first: When, second: When) -> When:
    return lambda p: first(p) and second(p)


_QUANTIZE: tuple[Rule, ...] = (
    _stage(
        "quantize-bound",
        "An element is marked ok, but f32(f32(q) * step) is farther from x than eb: it was checked "
        "in other arithmetic than it is decoded with.",
        "In float32: xr = np.float32(np.float32(q) * step); ok only if abs(np.float64(x) - "
        "np.float64(xr)) <= eb; else ok = 0 and q = 0.",
        _task("quantize"),
        r"with absolute bound",
    ),
    _stage(
        "quantize-rule",
        "The quantised values are usable, but a rule of the task's page is broken; the message "
        "says which.",
        "step as a float32 just below 2 * eb, at least 0.98 of the golden one; q = 0 wherever ok "
        "is 0; ok = 0 only where the bound can't be kept.",
        pattern=r"\b(step|ok|flag)",
    ),
)

_RESEMBLANCES: tuple[Rule, ...] = (
    _stage(
        "stage-zeros",
        "The output is all zeros: it was allocated, but nothing was stored into it.",
        "Check that the loop runs, and that the result, not only a local copy, is written.",
        _like("zeros"),
    ),
    _stage(
        "stage-negative",
        "The output is {resembles}.",
        "Subtract the other way round: the value minus its prediction.",
        _like("negative"),
    ),
    _stage(
        "scan-offset",
        "The output is {resembles}: an exclusive scan where an inclusive one is asked or the "
        "reverse, or an index that is off by one.",
        "Inclusive: s += x[i]; out[i] = s. Exclusive: out[i] = s; s += x[i].",
        _like("one place late", "one place early", "exclusive"),
    ),
    _stage(
        "bit-order",
        "The output is {resembles}.",
        "The page says which bit comes first. Bit i of a plane word is element i: word |= bit << "
        "i. Huffman words fill every u32 from bit 31 down.",
        _like("bits reversed"),
    ),
    _stage(
        "byte-order",
        "The output is {resembles}.",
        "Words are little-endian uint32, as NumPy has them: build them with shifts, or view bytes "
        "in the order 0, 1, 2, 3.",
        _like("bytes reversed"),
    ),
    _stage(
        "some-axes",
        "The output is {resembles}.",
        "All axes, one after the other: first along the last, then along the one before, and so "
        "on; each takes the result of the last. {task} has {axes_count} axes.",
        _like("along axis", "along axes"),
    ),
    _stage(
        "over-row-ends",
        "The output is {resembles}: the shape is ignored.",
        "At index 0 of an axis there is no neighbour: it counts as 0, and is not the last value of "
        "the row before.",
        _like("over row ends"),
    ),
    _stage(
        "corners",
        "The output is {resembles}: the neighbours across corners are missing.",
        "In 2-D: q[i,j] - q[i-1,j] - q[i,j-1] + q[i-1,j-1]; in 3-D seven neighbours, with sign - "
        "for an odd number of steps back and + for an even one.",
        _like("neighbour on each axis"),
    ),
    _stage(
        "copied",
        "The output is {resembles}.",
        "Store the result; on a copy, differences must be taken of the original values.",
        _like("the input itself"),
    ),
    _stage(
        "another-order",
        "The output holds {resembles}.",
        "C order, the last axis fastest: index i * columns + j; blocks, words and planes in the "
        "order of the page.",
        _like("order"),
    ),
)

_PLACES: tuple[Rule, ...] = (
    _stage(
        "stage-first",
        "Only the first element is wrong.",
        "Before the first element there is nothing, which counts as 0: out[0] = x[0].",
        _of(lambda p: p.violations == 1 and p.first == 0),
    ),
    _stage(
        "padding",
        "In the last block every wanted bit is set, and others too: absent elements are not zero.",
        "Take 0 for elements beyond n; memory from np.empty is not zero.",
        _of(lambda p: p.extra_bits and p.first >= p.checked - 64),
    ),
    _stage(
        "stage-last",
        "Only the last element is wrong.",
        "Check the end of the loop, range(n) and not range(n - 1), and totals that belong at the "
        "end.",
        _of(lambda p: p.violations == 1 and p.first == p.checked - 1),
    ),
    _stage(
        "stage-tail",
        "All wrong values lie in the last, shorter block of {tail}.",
        "Loop to min({tail}, n - start) there, and take 0 for what is absent.",
        _of(lambda p: p.tail > 0),
    ),
    _stage(
        "stage-edges",
        "All wrong values lie at index 0 of axis {axes}.",
        "Neighbours outside the array count as 0; do not read the last value of the row or plane "
        "before.",
        _of(lambda p: bool(p.edges)),
    ),
    _stage(
        "stage-period",
        "All wrong values are at place {phase} of blocks of {period}: something restarts there "
        "that should not, or the reverse.",
        "Whole array, no reset at tiles, unless the page names blocks; then at each of them.",
        _of(lambda p: p.period > 0),
    ),
    _stage(
        "lost-counts",
        "No count is too large, and some are too small: codes are skipped, or threads add to the "
        "same bin at once and lose counts.",
        "One histogram per thread, added up at the end; loop over all n codes, the last block too.",
        _both(_task("histogram"), lambda p: p.lost_counts),
    ),
    _stage(
        "narrow",
        "The lowest {low_bits} bits are right everywhere, and those above are not: somewhere a "
        "type of {low_bits} bits is used, or a shift lost the rest.",
        "Use int32 or uint32 for every intermediate: np.uint32(x) << np.uint32(k).",
        _of(lambda p: p.low_bits > 0),
    ),
    _stage(
        "extra-bits",
        "Every wanted bit is set, and others too: a word was not cleared, or bits of a neighbour "
        "were not masked away.",
        "Begin with np.zeros, or mask before or-ing in: (v & mask) << shift.",
        _of(lambda p: p.extra_bits and p.violations > 1),
    ),
    _stage(
        "stage-onward",
        "From index {first} on (block {block} of 32, chunk {chunk} of 4096) nearly all is wrong: a "
        "position or a running sum is lost there.",
        "Look at what is special before {first}: a rate of 0 or 32, a chunk that does not fill its "
        "last word, a length of 0, a sum that wraps.",
        _of(lambda p: p.onward),
    ),
    _stage(
        "stage-differs",
        "Stages are integer arithmetic modulo 2^32 and must equal the golden answer bit for bit.",
        "Compare input, wanted and got in the counterexample. Work on int32 or uint32 throughout "
        "(uint64 beside int64 becomes float64, a shift by 32 or less than 0 is undefined); in "
        "prange no two iterations may write the same element.",
        _integers,
    ),
    _stage(
        "stage-fresh",
        "The stage is right on the field but not on other content of the same shape: it remembers "
        "a result, or a branch that the field never takes is wrong.",
        "Compute everything from the arguments of each call; verify_bounds on the suite shows "
        "more.",
        pattern=r"differs from the golden answer",
    ),
)

RULES: tuple[Rule, ...] = (*_QUANTIZE, *_RESEMBLANCES, *_PLACES)
