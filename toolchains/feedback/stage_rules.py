"""What it means that a stage's output is not the golden answer: from the particular on.

A place or a likeness means something else in every task, so most rules name those they speak of.
"""

from __future__ import annotations

from collections.abc import Callable

from kernels.error_pattern import ErrorPattern
from kernels.records import FailureKind

from .rules import Rule
from .task_rules import FALLBACKS

When = Callable[[ErrorPattern], bool]

_LORENZO = ("lorenzo",)
_FORWARD = ("lorenzo-1d", "lorenzo-2d", "lorenzo-3d")
_IN_ORDER = ("lorenzo", "bitunpack", "huffman-decode")
"""Element i of the output belongs to element i of the field."""
_BEGUN = 32
"""Values that are right before a place is lost, so that something happened there."""
_TELLING = 8
"""Fewer values than this look like anything."""


def _stage(
    name: str,
    texts: tuple[str, str],
    when: When | None = None,
    *,
    tasks: tuple[str, ...] = (),
    pattern: str = "",
) -> Rule:
    kinds = frozenset({FailureKind.BOUND})
    return Rule(name, kinds, pattern, *texts, "", when, tasks=tasks)


def _integers(pattern: ErrorPattern) -> bool:
    """Of a stage whose outputs are asked to be equal."""
    return pattern.task not in ("", "sz-open", "szp", "szx", "quantize")


def _of(condition: When) -> When:
    return lambda p: _integers(p) and p.checked >= _TELLING and condition(p)


def _like(*words: str) -> When:
    return _of(lambda p: any(word in p.resembles for word in words))


def _output(names: tuple[str, ...], condition: When) -> When:
    return _of(lambda p: p.output_name in names and condition(p))


def _inverse(pattern: ErrorPattern) -> bool:
    return pattern.task.endswith("inverse")


_RESEMBLANCES: tuple[Rule, ...] = (
    _stage(
        "stage-zeros",
        (
            "`{output_name}` is all zeros: it was allocated, but nothing was stored into it.",
            "Check that the loop runs, and that the result, not only a local copy, is written.",
        ),
        _like("zeros"),
    ),
    _stage(
        "stage-negative",
        (
            "The output is {resembles}.",
            "Subtract the other way round: the value minus its prediction.",
        ),
        _like("negative"),
        tasks=_LORENZO,
    ),
    _stage(
        "scan-offset",
        (
            "`{output_name}` is {resembles}: an exclusive scan where an inclusive one is asked or "
            "the reverse, or an index that is off by one.",
            "Inclusive: s += x[i]; out[i] = s. Exclusive: out[i] = s; s += x[i].",
        ),
        _of(
            lambda p: (
                (_inverse(p) or p.output_name == "offsets")
                and ("one place" in p.resembles or "exclusive" in p.resembles)
            )
        ),
    ),
    _stage(
        "histogram-bins",
        (
            "`counts` holds {resembles}: codes are counted in the bins of others.",
            "counts[b] is the number of codes equal to b: counts[code] += 1.",
        ),
        _like("one place", "order"),
        tasks=("histogram",),
    ),
    _stage(
        "stage-shifted",
        (
            "`{output_name}` is {resembles}: an index is off by one.",
            "Compare the index that is read with the one that is written, at the first element.",
        ),
        _like("one place"),
    ),
    _stage(
        "bit-order",
        (
            "`{output_name}` is {resembles}.",
            "Bit i of a plane word is value i of its block, counted from the least significant: "
            "word |= bit << i.",
        ),
        _like("bits reversed"),
        tasks=("bitpack",),
    ),
    _stage(
        "huffman-bit-order",
        (
            "`{output_name}` is {resembles}.",
            "Words are filled from bit 31, the most significant, down; so are the words of the "
            "code, most significant bit first.",
        ),
        _like("bits reversed"),
        tasks=("huffman-encode",),
    ),
    _stage(
        "byte-order",
        (
            "`{output_name}` is {resembles}.",
            "Words are little-endian uint32, as NumPy has them: build them with shifts, or view "
            "bytes in the order 0, 1, 2, 3.",
        ),
        _like("bytes reversed"),
    ),
    _stage(
        "some-axes",
        (
            "The output is {resembles}.",
            "All axes, one after the other: first along the last, then along the one before, and "
            "so on; each takes the result of the last. {task} has {axes_count} axes.",
        ),
        _like("along axis", "along axes"),
        tasks=_LORENZO,
    ),
    _stage(
        "over-row-ends",
        (
            "The output is {resembles}: the shape is ignored.",
            "At index 0 of an axis there is no neighbour: it counts as 0, and is not the last "
            "value of the row before.",
        ),
        _like("over row ends"),
        tasks=_LORENZO,
    ),
    _stage(
        "corners",
        (
            "The output is {resembles}: the neighbours across corners are missing.",
            "In 2-D: q[i,j] - q[i-1,j] - q[i,j-1] + q[i-1,j-1]; in 3-D seven neighbours, with sign "
            "- for an odd number of steps back and + for an even one.",
        ),
        _like("neighbour on each axis"),
        tasks=_LORENZO,
    ),
    _stage(
        "copied",
        (
            "The output is {resembles}.",
            "Store the result; on a copy, differences must be taken of the original values.",
        ),
        _like("the input itself"),
        tasks=_LORENZO,
    ),
    _stage(
        "another-order",
        (
            "`{output_name}` holds {resembles}.",
            "The page says which element belongs where, and in which order blocks, chunks, words "
            "and planes follow each other; arrays are in C order, the last axis fastest.",
        ),
        _of(lambda p: "order" in p.resembles and not (p.onward and p.first >= _BEGUN)),
    ),
)

_VALUES: tuple[Rule, ...] = (
    _stage(
        "histogram-beyond",
        (
            "This case has codes >= nbins, and as many counts too much: those codes were counted.",
            "codes >= nbins must be ignored: if c < nbins: counts[c] += 1.",
        ),
        lambda p: p.beyond_bins,
        tasks=("histogram",),
    ),
    _stage(
        "narrow",
        (
            "Wrong values of `{output_name}` are the right ones cut to {low_bits} bits: somewhere "
            "a type of {low_bits} bits is used.",
            "Use int32 or uint32 for every intermediate result and every array.",
        ),
        _of(lambda p: p.low_bits > 0),
    ),
    _stage(
        "lost-counts",
        (
            "No count is too large, and some are too small: codes or bins are skipped, or threads "
            "add to the same bin at once and lose counts.",
            "Loop over all n codes, the last, shorter group too, and all nbins bins; one histogram "
            "per thread, added up at the end.",
        ),
        lambda p: p.lost_counts,
        tasks=("histogram",),
    ),
    _stage(
        "huffman-low-bits",
        (
            "Wrong words hold the right bits too far down: a word that is not full was stored "
            "without moving its bits up.",
            "The first code begins at bit 31. Where a chunk ends with `used` bits in its last "
            "word, store word << (32 - used): the rest is zeros.",
        ),
        _output(("words",), lambda p: p.shifted_down),
        tasks=("huffman-encode",),
    ),
    _stage(
        "padding",
        (
            "In the last words every wanted bit is set, and others too: absent elements of the "
            "last block are not zero.",
            "Take 0 for elements beyond n; memory from np.empty is not zero.",
        ),
        _output(("words",), lambda p: p.extra_bits and p.first >= p.checked - 32 > 0),
        tasks=("bitpack",),
    ),
    _stage(
        "extra-bits",
        (
            "Every wanted bit of `{output_name}` is set, and others too: a word was not cleared, "
            "or bits of a neighbour were not masked away.",
            "Begin with np.zeros, or mask before or-ing in: (v & mask) << shift.",
        ),
        _output(("words", "values"), lambda p: p.extra_bits and p.violations > 1),
        tasks=("bitpack", "bitunpack", "huffman-encode"),
    ),
)

_PLACES: tuple[Rule, ...] = (
    _stage(
        "stage-first",
        (
            "Only the first element is wrong.",
            "Before the first element there is nothing, which counts as 0: out[0] = x[0].",
        ),
        _of(lambda p: p.violations == 1 and p.first == 0),
        tasks=_LORENZO,
    ),
    _stage(
        "stage-last",
        (
            "Only the last element is wrong.",
            "Check the end of the loop, range(n) and not range(n - 1), and totals that belong at "
            "the end.",
        ),
        _of(
            lambda p: (
                p.violations == 1
                and p.first == p.checked - 1
                and p.output_name not in ("counts", "words")
            )
        ),
    ),
    _stage(
        "stage-tail",
        (
            "All wrong values lie in the last, shorter block of {tail}.",
            "Loop to min({tail}, n - start) there, and take 0 for what is absent.",
        ),
        _of(lambda p: p.tail > 0),
        tasks=_IN_ORDER,
    ),
    _stage(
        "stage-edges",
        (
            "All wrong values lie at index 0 of axis {axes}.",
            "Neighbours outside the array count as 0; do not read the last value of the row or "
            "plane before.",
        ),
        _of(lambda p: bool(p.edges)),
        tasks=_LORENZO,
    ),
    _stage(
        "stage-period",
        (
            "All wrong values are at place {phase} of blocks of {period}: something restarts there "
            "that should not, or the reverse.",
            "Whole array, no reset at tiles, unless the page names blocks; then at each of them.",
        ),
        _of(lambda p: p.period > 0),
        tasks=_IN_ORDER,
    ),
    _stage(
        "stage-onward",
        (
            "From index {first} on (block {block} of 32, chunk {chunk} of 4096) nearly all is "
            "wrong: a position or a running sum is lost there.",
            "Look at what is special before {first}: the end of a block, chunk, row or thread's "
            "part, a sum that wraps, a block or code of another length than the rest.",
        ),
        _of(lambda p: p.onward and p.first >= _BEGUN),
        tasks=_IN_ORDER,
    ),
    _stage(
        "stage-place-lost",
        (
            "From index {first} of `{output_name}` on nearly all is wrong: the position at which "
            "the next block or chunk is written is lost there.",
            "Look at what the block or chunk before {first} had that those before it had not: no "
            "words at all, a full last word, a last word that is not full.",
        ),
        _output(("words", "packed", "offsets"), lambda p: p.onward and p.first >= _BEGUN),
    ),
)

_GENERAL: tuple[Rule, ...] = (
    *FALLBACKS,
    _stage(
        "stage-differs",
        (
            "Stages are integer arithmetic modulo 2^32 and must equal the golden answer bit for "
            "bit.",
            "Compare wanted and got in the counterexample. Work on int32 or uint32 throughout "
            "(uint64 beside int64 becomes float64, a shift by 32 or less than 0 is undefined); in "
            "prange no two iterations may write the same element.",
        ),
        _integers,
    ),
    _stage(
        "stage-fresh",
        (
            "The stage is right on the field but not on other content of the same shape: it "
            "remembers a result, or a branch that the field never takes is wrong.",
            "Compute everything from the arguments of each call; verify_bounds on the suite shows "
            "more.",
        ),
        pattern=r"differs from the golden answer",
    ),
)

RULES: tuple[Rule, ...] = (*_RESEMBLANCES, *_VALUES, *_PLACES, *_GENERAL)
