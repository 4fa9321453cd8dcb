"""Which loops of a submission its compiler vectorised, and why it left the others as they are.

What an explaining child printed (toolchains/child/explain.py) and the submission's source flow in,
`Loop` records flow out. LLVM names the line of a loop, not its function; the source tells that.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from kernels.records import Loop, Metric, Submission
from toolchains.base import Phase
from toolchains.child.wire import CODE_LINE

MAX_LOOPS = 64
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
        "carried",
        r"could not be identified as reduction",
        "carries a value from one step to the next: the last value, a running position, a maximum "
        "of floats",
        "Compute it from the input (x[i] - x[i-1], not a variable that holds the last x); take a "
        "maximum over integers, or bits as integers; do what is independent in a loop before.",
    ),
    Reason(
        "scattered",
        r"cannot identify array bounds",
        "reads or writes at positions that data decide: a table, a histogram, a packed place",
        "Make positions a plain function of the counter: fixed room per block, compacted "
        "afterwards in whole blocks.",
    ),
    Reason(
        "types",
        r"return type cannot|Store instruction cannot",
        "handles values that have no wider form: whole vectors already, tuples, pointers",
        "",
    ),
    Reason(
        "branches",
        r"[Cc]ontrol flow|switch",
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


@dataclass(frozen=True)
class _Place:
    """A loop in the source."""

    file: str
    line: int
    end: int
    depth: int
    function: str
    source: str


@dataclass
class _Found:
    """What was said of one loop, in all versions of it."""

    place: _Place
    width: int = 1
    texts: list[str] = field(default_factory=list)


def loops(submission: Submission, printed: str) -> tuple[Loop, ...]:
    """The innermost loops of compiled functions, in the order of the source."""
    places = [place for file in submission.files for place in _places(submission, file)]
    found: dict[tuple[str, int], _Found] = {}
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
        place = _place_of(places, submission, file, line)
        one = found.setdefault((place.file, place.line), _Found(place))
        one.width = max(one.width, int(width.group(1)) if width else 1)
        one.texts += pending
        pending = []
    ordered = sorted(found.items())
    return tuple(_loop(one) for _, one in ordered[:MAX_LOOPS])


def reason_of(loop: Loop) -> Reason | None:
    """The entry of the table that a loop's reason is from."""
    return next((reason for reason in REASONS if reason.meaning == loop.reason), None)


def left_scalar(loop: Loop) -> bool:
    """Whether it takes one value at a time and something can be done about it."""
    reason = reason_of(loop)
    return loop.width == 1 and (reason is None or bool(reason.remedy))


def ranked(
    submission: Submission, found: Iterable[Loop], phases: Sequence[Phase]
) -> tuple[Loop, ...]:
    """With each loop's share of the profiled time; hottest first, the vectorised ones last."""
    shares = _shares(submission, phases)
    depths = {
        (place.file, place.line): place.depth
        for file in submission.files
        for place in _places(submission, file)
    }
    timed = [replace(loop, share=shares.get(loop.function)) for loop in found]

    def heat(loop: Loop) -> tuple[bool, float, int, str, int]:
        depth = depths.get((loop.file, loop.line), 0)
        return (not left_scalar(loop), -(loop.share or 0.0), -depth, loop.file, loop.line)

    return tuple(sorted(timed, key=heat))


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
    reason = "" if found.width > 1 else _reason(found.texts)
    return Loop(place.function, place.file, place.line, place.source, found.width, reason)


def _reason(texts: Sequence[str]) -> str:
    for reason in REASONS:
        if any(re.search(reason.pattern, text) for text in texts):
            return reason.meaning
    told = texts[0].removeprefix(f"{_NOT}: ")[:200] if texts else "no reason given"
    return f"(as LLVM says) {told}"


def _place_of(places: Sequence[_Place], submission: Submission, file: str, line: int) -> _Place:
    """The innermost loop around a line; a line outside any is an array expression."""
    around = [p for p in places if p.file == file and p.line <= line <= p.end]
    inner = max(around, key=lambda p: p.line, default=None)
    if inner is not None and inner.depth:
        return inner
    function = inner.function if inner is not None else ""
    return _Place(file, line, line, 0, function, _source(submission, file, line))


def _places(submission: Submission, file: str) -> Iterator[_Place]:
    """The loops of a file, and as places of depth 0 its functions."""
    pending: list[tuple[ast.AST, str, int]] = [(tree, "", 0) for tree in _parsed(submission, file)]
    while pending:
        node, function, depth = pending.pop()
        if isinstance(node, ast.FunctionDef):
            function, depth = node.name, 0
        elif isinstance(node, ast.For | ast.While):
            depth += 1
        if isinstance(node, ast.FunctionDef | ast.For | ast.While):
            line, end = node.lineno, node.end_lineno or node.lineno
            yield _Place(file, line, end, depth, function, _source(submission, file, line))
        pending += [(child, function, depth) for child in ast.iter_child_nodes(node)]


def _parsed(submission: Submission, file: str) -> Iterator[ast.Module]:
    """The file's syntax tree; none if Python can't parse it, as files beside kernel.py may be."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        yield ast.parse(submission.files[file])


def _source(submission: Submission, file: str, line: int) -> str:
    lines = submission.files[file].splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _shares(submission: Submission, phases: Sequence[Phase]) -> Mapping[str, float]:
    """Function → its share of the time, or that of the slowest function that calls it."""
    total = sum(phase.seconds for phase in phases)
    shares: dict[str, float] = {}
    if total <= 0:
        return shares
    calls = _calls(submission)
    pending = [(phase.name, phase.seconds / total) for phase in phases if phase.compiled]
    while pending:
        name, share = pending.pop()
        if share > shares.get(name, -1.0):
            shares[name] = share
            pending += [(other, share) for other in calls.get(name, ())]
    return shares


def _calls(submission: Submission) -> Mapping[str, frozenset[str]]:
    """Function → names it calls."""
    calls: dict[str, frozenset[str]] = {}
    trees = (tree for file in submission.files for tree in _parsed(submission, file))
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            called = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
            names = (getattr(f, "id", getattr(f, "attr", "")) for f in called)
            calls[node.name] = calls.get(node.name, frozenset()) | frozenset(names)
    return calls
