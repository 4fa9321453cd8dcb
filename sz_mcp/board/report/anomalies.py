"""What in the numbers asks for a second look, with its evidence and the measurement that decides.

An anomaly is no verdict: each names a cause that would be harmless beside the one that is not.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sz_mcp.board.figures import shown
from sz_mcp.board.report.log import CellEntry
from sz_mcp.board.report.measured import Board, Measured, Step

RATIO_SLACK = 0.005
"""By how much a ratio may fall when the bound loosens: streams have headers and padding."""
SPREAD = 0.10
"""Width of the quartiles over the median above which a speed is told to vary."""
DISTURBED = 0.25
"""Share of disturbed repetitions from which a run should be repeated."""
ULP = 2.0**-23
"""Relative spacing of float32: an error this near the bound keeps it by rounding alone."""
JUMP = 5.0
"""Factor over the best before it, in the same session, from which an attempt is a jump."""
FAST = 0.9
"""Share of a copy's speed above which one pass over the data can hardly be made."""
SIZE = 1.02
"""Factor between two streams of one fixed format: the size rule."""
UNFINISHED = {"started": "not ended", "failed": "failed", "skipped": "skipped"}
"""Last event of a cell → what became of it."""
MOST = 12
"""Anomalies of one kind that are told one by one."""


@dataclass(frozen=True)
class Anomaly:
    """One finding."""

    kind: str
    evidence: str
    next: str
    """What to measure, as a command where there is one."""


Finder = Callable[[Sequence[Measured]], Iterator[Anomaly]]


def anomalies(
    best: Sequence[Measured], steps: Iterable[Step] = (), cells: Iterable[CellEntry] = ()
) -> tuple[Anomaly, ...]:
    """All findings, by kind; of a kind with many the first, and how many more there are."""
    found: list[Anomaly] = []
    for finder in FINDERS:
        found += _first(list(finder(best)))
    found += _first([_jump(step) for step in steps])
    found += _first([_unfinished(one) for one in cells if one.event in UNFINISHED])
    return tuple(found)


def _first(found: Sequence[Anomaly]) -> Sequence[Anomaly]:
    if len(found) <= MOST:
        return found
    left = len(found) - MOST
    more = Anomaly(found[0].kind, f"{left} more of this kind.", found[0].next)
    return [*found[:MOST], more]


def ratio_against_bound(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """A looser bound can always be met by the stream of a tighter one."""
    for tight, loose in _neighbours(best):
        if tight.ratio and loose.ratio and loose.ratio < tight.ratio * (1 - RATIO_SLACK):
            yield Anomaly(
                "ratio falls when the bound loosens",
                f"{loose.agent}, {loose.board.words}, {loose.field}: ratio {shown(tight.ratio)} at "
                f"{tight.mode} {tight.bound:g} but {shown(loose.ratio)} at {loose.bound:g} (runs "
                f"{tight.run_id}, {loose.run_id}).",
                f"Run kernel {tight.kernel_id} at {loose.bound:g} too: if its ratio is larger, the "
                "kernel of the looser bound is the cause, else the field is.",
            )


def psnr_against_bound(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """PSNR follows the bound but for luck of a few dB."""
    for tight, loose in _neighbours(best):
        if tight.psnr is not None and loose.psnr is not None and loose.psnr > tight.psnr + 1:
            yield Anomaly(
                "PSNR rises when the bound loosens",
                f"{loose.agent}, {loose.board.words}, {loose.field}: {shown(tight.psnr)} dB at "
                f"{tight.bound:g} but {shown(loose.psnr)} dB at {loose.bound:g}.",
                f"sz-mcp runs reproduce {loose.run_id}",
            )


def varying(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """A median of what varies says little."""
    for one in best:
        wide = {name: speed for name, speed in one.speeds.items() if speed.spread > SPREAD}
        for name, speed in wide.items():
            yield Anomaly(
                f"speed varies by more than {SPREAD:.0%}",
                f"{one.agent}, {one.where}: {name} {shown(speed.median)} GB/s, quartiles "
                f"{shown(speed.low)} to {shown(speed.high)} ({speed.spread:.0%} of the median).",
                f"sz-mcp runs reproduce {one.run_id} --repeats 30, on a quiet machine",
            )


def disturbed(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """Other work was on the machine."""
    for one in best:
        requests = (one.repetitions or 0) * max(len(one.speeds), 1)
        share = (one.disturbed or 0) / requests if requests else 0.0
        if share > DISTURBED:
            yield Anomaly(
                f"more than {DISTURBED:.0%} of the timed requests were disturbed",
                f"{one.agent}, {one.where}: {one.disturbed} of {requests} (run {one.run_id}).",
                f"sz-mcp runs reproduce {one.run_id}, with nothing else on the machine",
            )


def near_the_bound(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """Harmless of a quantiser that is right to the last bit; a change of rounding breaks it."""
    for one in best:
        if one.worst_over_bound is not None and 1 - ULP <= one.worst_over_bound <= 1:
            yield Anomaly(
                "error within an ulp of the bound",
                f"{one.agent}, {one.where}: largest error / bound is 1 − "
                f"{1 - one.worst_over_bound:.1e} (run {one.run_id}).",
                f"verify_bounds of {one.kernel_id} on the suite and on other fields at this bound",
            )


def faster_than_a_copy(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """Reading all of the data takes as long as half a copy."""
    for one in best:
        if not one.copy_peak_gbps:
            continue
        for name, speed in one.speeds.items():
            if speed.median > FAST * one.copy_peak_gbps:
                yield Anomaly(
                    "speed near that of a copy",
                    f"{one.agent}, {one.where}: {name} {shown(speed.median)} GB/s, a copy on one "
                    f"core {shown(one.copy_peak_gbps)} GB/s.",
                    f"Profile {one.kernel_id}: does it read every byte? Run it on a field of "
                    "another size",
                )


def sizes_of_one_format(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """Streams of a fixed format are alike, whoever writes them."""
    groups: dict[tuple[object, ...], list[Measured]] = defaultdict(list)
    for one in best:
        if one.board.task in ("szp", "szx") and one.ratio:
            groups[one.board.task, one.field, one.mode, one.bound].append(one)
    for group in groups.values():
        small = max(group, key=lambda one: one.ratio or 0)
        large = min(group, key=lambda one: one.ratio or 0)
        if small.ratio and large.ratio and small.ratio > SIZE * large.ratio:
            yield Anomaly(
                "ratios of one fixed format differ",
                f"{small.field}, {small.mode} {small.bound:g}, {small.board.task}: "
                f"{shown(small.ratio)} by {small.agent} on {small.board.target}, "
                f"{shown(large.ratio)} by {large.agent} on {large.board.target}.",
                f"Compare the streams of {small.kernel_id} and {large.kernel_id}: same field, same "
                "harness?",
            )


def harnesses(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """Scores of two harnesses may differ for that reason alone."""
    groups: dict[Board, set[str]] = defaultdict(set)
    for one in best:
        if one.harness:
            groups[one.board].add(one.harness)
    for board, digests in groups.items():
        if len(digests) > 1:
            yield Anomaly(
                "results of several harnesses in one table",
                f"{board.words}: {', '.join(sorted(digest[:12] for digest in digests))}.",
                "Repeat the best runs of each agent with the present one: sz-mcp runs reproduce",
            )


def missing(best: Sequence[Measured]) -> Iterator[Anomaly]:
    """What others were measured at and an agent was not."""
    boards: dict[Board, list[Measured]] = defaultdict(list)
    for one in best:
        boards[one.board].append(one)
    for board, group in boards.items():
        cells = {(one.field, one.mode, one.bound) for one in group}
        for agent in sorted({one.agent for one in group}):
            had = {(one.field, one.mode, one.bound) for one in group if one.agent == agent}
            lacking = sorted(cells - had)
            if lacking:
                told = "; ".join(f"{field}, {mode} {bound:g}" for field, mode, bound in lacking[:6])
                more = f" and {len(lacking) - 6} more" if len(lacking) > 6 else ""
                yield Anomaly(
                    "missing cells",
                    f"{agent}, {board.words}: no eligible run at {told}{more}.",
                    "run_compress of its best kernel there, or the bench again: finished cells are "
                    "kept",
                )


def _jump(step: Step) -> Anomaly:
    return Anomaly(
        f"a jump by more than {JUMP:g} times in one attempt",
        f"{step.agent}, {step.board.words}, {step.field}, {step.mode} {step.bound:g}: "
        f"{shown(step.before)} → {shown(step.score)} GB/s at attempt {step.attempt} of session "
        f"{step.session} (kernel {step.kernel_id}).",
        f"Read the difference from the attempt before, then sz-mcp runs reproduce {step.run_id} "
        "--field with another field",
    )


def _unfinished(one: CellEntry) -> Anomaly:
    reasons = f" ({'; '.join(one.reasons)})" if one.reasons else ""
    return Anomaly(
        "cells of a bench without a result",
        f"{one.agent}, bench {one.bench_id}: {one.cells} {UNFINISHED[one.event]}{reasons}.",
        "sz-mcp bench with the same specification: finished cells are kept, others begin anew",
    )


def _neighbours(best: Sequence[Measured]) -> Iterator[tuple[Measured, Measured]]:
    """Pairs of one agent, board, field and mode that are next to each other in bound."""
    series: dict[tuple[object, ...], list[Measured]] = defaultdict(list)
    for one in best:
        # The larger a target of these modes, the better the data: no bound that loosens.
        if one.mode in ("abs", "rel", "pw_rel"):
            series[one.board, one.agent, one.field, one.mode].append(one)
    for group in series.values():
        ordered = sorted(group, key=lambda one: one.bound)
        yield from itertools.pairwise(ordered)


FINDERS: tuple[Finder, ...] = (
    ratio_against_bound,
    psnr_against_bound,
    varying,
    disturbed,
    near_the_bound,
    faster_than_a_copy,
    sizes_of_one_format,
    harnesses,
    missing,
)
