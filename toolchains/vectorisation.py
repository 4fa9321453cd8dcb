"""Which loops of a submission its compiler vectorised, and why it left the others as they are.

What an explaining child printed (toolchains/child/explain.py) and the submission's source flow in,
`Loop` records flow out. LLVM names the line of a loop, not its function; the source tells that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from kernels.records import KeptCall, Loop, Metric, Submission
from toolchains.base import Phase, Shares
from toolchains.child.wire import CODE_LINE, COUNTED_LINE, KEPT_LINE, VECTOR_LINE

from .carried import Carried, carried
from .places import Place, Places, Spot

CARRYING = ("chain", "last-value", "extreme", "carried")
"""Reasons that are about variables carried from step to step."""
_REMAINS = {KEPT_LINE: 7, COUNTED_LINE: 2, VECTOR_LINE: 2}
"""Kinds of lines that a child prints → their fields."""
MAX_LOOPS = 64
HOT = 0.1
"""Share of the time from which on a loop is worth a word."""
CALL_SHARE = 0.05
"""Share of the time in a function, from which on it matters that it was not inlined."""
ONLY = "the only loop"
"""How `Loop.among` begins where the time of a function can only be the loop's."""
_LONGEST_LINE = 1000
_REMARK = re.compile(r"remark: (?P<file>.*?):(?P<line>\d+):\d+: (?P<text>.*)")
_WIDTH = re.compile(r"vectorized loop \(vectorization width: (?:vscale x )?(\d{1,4})\b")
_NOT = "loop not vectorized"
_DONE_BEFORE = "explicitly disabled, or the loop has already been vectorized"
_UNPROFITABLE = "cost-model indicates that vectorization is not beneficial"


@dataclass(frozen=True)
class Reason:
    """One entry of the table: what LLVM says → what it means → what to change."""

    name: str
    pattern: str
    """Regular expression searched in a remark."""
    meaning: str
    """Ends the sentence "the loop …"."""
    remedy: str
    """Empty where there is none: the loop may well be vector code by hand."""


_BY_SYNTAX = r"(?!)"
"""Matches nothing: LLVM does not tell these apart, the source does."""
REASONS: tuple[Reason, ...] = (
    Reason(
        "steps",
        r"number of loop iterations|[Uu]ncountable|induction variable",
        "has a number of steps that is not known when it begins",
        "Use range with a count computed before, without changing it inside.",
    ),
    Reason(
        "calls",
        r"call instruction cannot|: instruction cannot be",
        "calls something that has no vector form: a list, an allocation, a slice that is made "
        "anew, or a function that was not inlined",
        "Allocate arrays before the loop and index them; use arrays instead of lists; keep small "
        "functions in @njit, so that they are inlined.",
    ),
    Reason(
        "early-exit",
        r"[Ee]arly exit|faulting load",
        "can leave early: break, return, raise, or a division, which raises on zero",
        "Divide under @njit(error_model='numpy') or multiply by the reciprocal; count what fails "
        "instead of leaving, and look at the count after the loop.",
    ),
    Reason(
        "float-order",
        r"reorder floating-point",
        "adds floating-point numbers one after the other; another order would round differently",
        "Keep 8 or 16 independent sums and add them at the end, or sum integers.",
    ),
    Reason(
        "dependence",
        r"unsafe dependent memory|data dependence",
        "reads what an earlier step of it has written, or might have",
        "Read inputs and write another array; where a running value is needed, do everything else "
        "in a loop before it, or run several independent pieces side by side.",
    ),
    Reason(
        "chain",
        _BY_SYNTAX,
        "decides in each step where the next reads, or whether there is one, so that each waits "
        "for the one before",
        "Read several independent chunks in turn in one loop, each with variables of its own, so "
        "that their waits overlap; or do more in a step: one look-up that gives several symbols.",
    ),
    Reason(
        "last-value",
        _BY_SYNTAX,
        "keeps a value of the step before",
        "Compute it from the input: x[i] - x[i-1], not a variable that holds the last x.",
    ),
    Reason(
        "extreme",
        _BY_SYNTAX,
        "keeps a maximum or minimum, of floats or with its place",
        "Take it over integers, or the bits of the floats as integers; find its place afterwards; "
        "or keep 8 or 16 of them side by side.",
    ),
    Reason(
        "carried",
        r"could not be identified as reduction",
        "carries a value from one step to the next, as a running total",
        "Do what is independent in a loop before it; advance several independent pieces in turn "
        "in one loop.",
    ),
    Reason(
        "scattered",
        r"cannot identify array bounds",
        "reads or writes at positions that data decide: a table, a histogram, a packed place",
        "Where the format lets you, make positions a plain function of the counter: fixed room per "
        "block, compacted afterwards. A table: as small as the nearest cache, several look-ups "
        "under way at once. A histogram: several, added at the end.",
    ),
    Reason(
        "kept-call",
        _BY_SYNTAX,
        "calls functions of the submission that were not inlined",
        "",
    ),
    Reason(
        "outer",
        _BY_SYNTAX,
        "holds other loops, or was unrolled",
        "",
    ),
    Reason(
        "types",
        r"return type cannot|Store instruction cannot",
        "handles values that have no wider form: whole vectors already, tuples, pointers",
        "",
    ),
    Reason(
        "branches",
        r"(?i)control flow|switch",
        "has branches that are more than a choice between two values",
        "Write choices as values (x if c else y) with both sides computed; move rare cases into a "
        "second loop.",
    ),
    Reason(
        "not-worth",
        _UNPROFITABLE,
        "would not be faster so: few steps, or operations without a vector form, as a division of "
        "integers",
        "Give it more steps of plain arithmetic; divide by a constant power of two, or multiply.",
    ),
)
"""The most telling first: LLVM often gives several for one loop."""


@dataclass
class _Found:
    """What was said of one loop, in all versions of it."""

    place: Place
    width: int = 1
    texts: list[str] = field(default_factory=list)
    calls: dict[tuple[str, int, int], KeptCall] = field(default_factory=dict)
    counts: bool = False
    outer: bool = False
    vectors: bool = False


def loops(submission: Submission, printed: str) -> tuple[Loop, ...]:
    """The innermost loops of compiled functions, in the order of the source."""
    places = Places(submission)
    found: dict[Spot, _Found] = {}
    pending: list[str] = []
    for file, line, text in _remarks(printed):
        if file not in submission.files or _DONE_BEFORE in text:
            continue
        width = _WIDTH.match(text)
        ends = width is not None or text == _NOT or _UNPROFITABLE in text
        if not width and text != _NOT:
            pending.append(text)
        if not ends:
            continue
        place = places.loop(places.home(file, line)) or places.of(file, line)
        one = found.setdefault(place.spot, _Found(place))
        one.width = max(one.width, int(width.group(1)) if width else 1)
        one.texts += pending
        pending = []
    _add_remains(found, places, submission, printed)
    ordered = sorted(found.items())
    return tuple(_loop(one) for _, one in ordered[:MAX_LOOPS])


def _add_remains(
    found: dict[Spot, _Found], places: Places, submission: Submission, printed: str
) -> None:
    """What a child found in loops: calls, counted references, vector code."""
    for kind, *parts in (line.split("\t") for line in printed.splitlines()):
        known = _REMAINS.get(kind) == len(parts)
        if not known or parts[0] not in submission.files or not _are_numbers(parts[1:2]):
            continue
        place = places.loop(places.home(parts[0], int(parts[1])))
        if place is None:
            continue
        if kind == VECTOR_LINE:
            if place.spot in found:
                found[place.spot].vectors = True
            continue
        one = found.setdefault(place.spot, _Found(place))
        if kind == COUNTED_LINE:
            one.counts = True
        elif _are_numbers(parts[4:]):
            line, arguments, arrays = map(int, parts[4:])
            call = KeptCall(parts[2][:64], parts[3][:64], line, arguments, arrays)
            one.calls[call.function, arguments, arrays] = call


def _are_numbers(parts: Sequence[str]) -> bool:
    return all(part.isdecimal() and len(part) < 10 for part in parts)


def reason_of(loop: Loop) -> Reason | None:
    """The entry of the table that a loop's reason is from."""
    return next((reason for reason in REASONS if reason.meaning == loop.reason), None)


def waits(loop: Loop) -> bool:
    """Whether each of its steps waits for the one before."""
    reason = reason_of(loop)
    if reason is not None and reason.name == "kept-call":
        return bool(loop.carried)
    return reason is not None and reason.name in ("chain", "carried")


def left_scalar(loop: Loop) -> bool:
    """Whether it takes one value at a time and something can be done about it."""
    reason = reason_of(loop)
    return loop.width == 1 and (reason is None or bool(reason.remedy))


def matters(loop: Loop) -> bool:
    """Whether enough of the time is known to be spent in it."""
    return loop.among.startswith(ONLY) if loop.share is None else loop.share >= HOT


def ranked(
    submission: Submission,
    found: Iterable[Loop],
    phases: Sequence[Phase],
    shares: Shares | None = None,
) -> tuple[Loop, ...]:
    """Hottest first, the vectorised ones last.

    shares: of the profiled time that each loop takes; None if nobody looked. Then it is only said
    how many loops there are in a function that Python called, and what that took.
    """
    places = Places(submission)
    if shares is None:
        return _ranked_by_function(places, tuple(found), phases)
    timed = [_timed(loop, shares) for loop in found]
    listed = {(loop.file, loop.line) for loop in timed}
    for spot, share in shares.spots.items():
        place = places.loop(spot)
        if share >= HOT and place is not None and spot not in listed:
            timed.append(replace(_loop(_Found(place, outer=True)), share=share))

    def heat(loop: Loop) -> tuple[bool, float, str, int]:
        return (loop.width > 1, -(loop.share or 0.0), loop.file, loop.line)

    return tuple(sorted(timed, key=heat))


def _timed(loop: Loop, shares: Shares) -> Loop:
    calls = (replace(c, share=shares.functions.get(c.function, 0.0)) for c in loop.calls)
    return replace(loop, share=shares.spots.get((loop.file, loop.line), 0.0), calls=tuple(calls))


def _ranked_by_function(
    places: Places, found: Sequence[Loop], phases: Sequence[Phase]
) -> tuple[Loop, ...]:
    total = sum(phase.seconds for phase in phases)
    reached = {p.name: places.reached(p.name) for p in phases if p.compiled}
    longest = sorted((p for p in phases if p.compiled), key=lambda p: -p.seconds)
    timed = []
    for loop in found:
        phase = next((p for p in longest if loop.function in reached[p.name]), None)
        if phase is None or total <= 0:
            timed.append((0.0, loop))
            continue
        share = phase.seconds / total
        count = sum(other.function in reached[phase.name] for other in found)
        only = ONLY if share >= HOT else "a loop"
        which = only if count == 1 else f"one of {count} loops"
        among = f"{which} in `{phase.name}` ({share:.0%} of the time)"
        timed.append((share, replace(loop, among=among)))

    def heat(one: tuple[float, Loop]) -> tuple[bool, float, bool, int, str, int]:
        share, loop = one
        reason, place = reason_of(loop), places.loop((loop.file, loop.line))
        # A search that ends early is most often the rare case.
        rare = reason is not None and reason.name in ("early-exit", "steps")
        depth = place.depth if place is not None else 0
        return (loop.width > 1, -share, rare, -depth, loop.file, loop.line)

    return tuple(loop for _, loop in sorted(timed, key=heat))


def code_metrics(submission: Submission, printed: str) -> tuple[Metric, ...]:
    """Per compiled function: width of its widest vector arithmetic, share of such instructions."""
    widest: dict[str, int] = {}
    counts: dict[str, tuple[int, int]] = {}
    for name, bits, vector, total in _code_lines(submission, printed):
        widest[name] = max(bits, widest.get(name, 0))
        before = counts.get(name, (0, 0))
        counts[name] = (before[0] + vector, before[1] + total)
    metrics = []
    for name, (vector, total) in counts.items():
        metrics.append(Metric(f"vector_bits.{name}", float(widest[name]), "bits", "reported"))
        share = vector / total if total else 0.0
        metrics.append(Metric(f"vector_instructions.{name}", share, "of its code", "reported"))
    return tuple(metrics[: 2 * MAX_LOOPS])


def _code_lines(submission: Submission, printed: str) -> Iterator[tuple[str, int, int, int]]:
    for line in printed.splitlines():
        parts = line.split("\t")
        if parts[0] != CODE_LINE or len(parts) != 7 or parts[2] not in submission.files:
            continue
        if all(part.isdecimal() and len(part) < 10 for part in parts[3:]):
            yield parts[1][:64], int(parts[4]), int(parts[5]), int(parts[6])


def _remarks(printed: str) -> Iterator[tuple[str, int, str]]:
    """File, line and text of every remark that has a place."""
    for line in printed.splitlines():
        found = _REMARK.match(line[:_LONGEST_LINE])
        if found is not None and len(found["line"]) < 10:
            yield PurePath(found["file"]).name, int(found["line"]), found["text"]


def _loop(found: _Found) -> Loop:
    place = found.place
    what = carried(place.node) if place.node is not None else Carried()
    reason = "" if found.width > 1 else _reason_by_syntax(found, what)
    return Loop(
        place.function,
        place.file,
        place.line,
        place.source,
        found.width,
        reason,
        carried=_named(reason, what),
        calls=tuple(found.calls.values()),
        counts_references=found.counts,
    )


def _named(reason: str, what: Carried) -> tuple[str, ...]:
    """Variables to name with a reason."""
    if reason == _meaning("kept-call"):
        return what.chain
    return what.names if reason in map(_meaning, CARRYING) else ()


def _reason_by_syntax(found: _Found, what: Carried) -> str:
    """What the source and the code tell of a loop, where that is more than LLVM's remarks do."""
    told = _reason(found.texts)
    calls = told == _meaning("calls")
    if found.calls and (calls or not found.texts):
        return _meaning("kept-call")
    if found.outer or not found.texts:
        return _meaning("outer") if found.outer or found.counts else told
    if found.vectors and calls:
        return _meaning("types")
    if told in map(_meaning, ("carried", "steps", "early-exit")):
        return _carried_reason(told, what)
    return told


def _carried_reason(told: str, what: Carried) -> str:
    if what.chain and what.steered:
        return _meaning("chain")
    if told == _meaning("carried") and what.extreme:
        return _meaning("extreme")
    if told == _meaning("carried") and what.last and not what.chain:
        return _meaning("last-value")
    return told


def _meaning(name: str) -> str:
    return next(reason.meaning for reason in REASONS if reason.name == name)


def _reason(texts: Sequence[str]) -> str:
    for reason in REASONS:
        if any(re.search(reason.pattern, text) for text in texts):
            return reason.meaning
    told = texts[0].removeprefix(f"{_NOT}: ")[:200] if texts else "no reason given"
    return f"(as LLVM says) {told}"
