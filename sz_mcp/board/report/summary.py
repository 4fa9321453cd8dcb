"""Sentences over what was measured: every number in them is computed here, none is a judgement."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from sz_mcp.board.figures import finite, shown
from sz_mcp.board.report.measured import Board, Measured

ALIKE = 1.005
"""Factor below which ratios are told as one."""


def sentences(best: Sequence[Measured]) -> tuple[str, ...]:
    """What stands out, one sentence or two per board."""
    if not best:
        return ("Nothing was measured that may be ranked.",)
    return (_covered(best), *filter(None, (_of(board, group) for board, group in boards(best))))


def boards(best: Sequence[Measured]) -> tuple[tuple[Board, tuple[Measured, ...]], ...]:
    """Runs by what they have in common; hardware first, then by name."""
    groups: dict[Board, list[Measured]] = defaultdict(list)
    for one in best:
        groups[one.board].append(one)
    order = ("hardware", "simulated", "emulated")
    ordered = sorted(
        groups.items(),
        key=lambda item: (
            order.index(item[0].execution) if item[0].execution in order else len(order),
            item[0].task, item[0].target, item[0].host, item[0].threads,
        ),
    )  # fmt: skip
    return tuple((board, tuple(group)) for board, group in ordered)


def _covered(best: Sequence[Measured]) -> str:
    counts = (
        (len({one.agent for one in best}), "agent"),
        (len({one.board.task for one in best}), "task"),
        (len({one.board.target for one in best}), "target"),
        (len({one.field for one in best}), "field"),
        (len({(one.mode, one.bound) for one in best}), "bound"),
    )
    told = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)
    return f"{len(best)} best eligible runs: {told}."


def _of(board: Board, group: Sequence[Measured]) -> str:
    found = [_smallest(group), _loosening(group)]
    match board.execution:
        case "hardware":
            found.insert(0, _fastest(group))
        case "simulated":
            found.insert(0, _fewest(group))
    told = " ".join(line for line in found if line)
    return f"{board.words}. {told}" if told else ""


def _fastest(group: Sequence[Measured]) -> str:
    """The best score, and how far the second best agent is behind at the same conditions."""
    scored = [one for one in group if one.score is not None]
    if not scored:
        return ""
    first = max(scored, key=lambda one: one.score or 0)
    rivals = [
        one
        for one in scored
        if one.agent != first.agent
        and (one.field, one.mode, one.bound) == (first.field, first.mode, first.bound)
    ]
    told = (
        f"The highest score is {shown(first.score)} {first.unit}, by {first.agent} "
        f"on {first.field} at {first.mode} {first.bound:g}"
    )
    if not rivals:
        return f"{told}; nobody else was measured there."
    second = max(rivals, key=lambda one: one.score or 0)
    if first.unit == "GB/s" and first.score and second.score:
        behind = f"{shown(first.score / second.score)} times that of {second.agent}"
        told = f"{told}, {behind} ({shown(second.score)})"
    else:
        told = f"{told}; {second.agent} has {shown(second.score)}"
    copy = first.copy_peak_gbps
    if copy and first.throughput:
        told += f"; both ways it is {first.throughput / copy:.0%} of a copy ({shown(copy)} GB/s)"
    return f"{told}."


def _fewest(group: Sequence[Measured]) -> str:
    """The fewest cycles at the conditions that most agents were measured at."""
    places: dict[tuple[str, str, float], list[Measured]] = defaultdict(list)
    for one in group:
        if one.cycles:
            places[one.field, one.mode, one.bound].append(one)
    if not places:
        return ""
    field, mode, bound = min(places, key=lambda place: (-len(places[place]), place))
    first, *others = sorted(places[field, mode, bound], key=lambda one: one.cycles or 0)
    told = f"On {field} at {mode} {bound:g} {first.agent} needs the fewest cycles, "
    told += shown(first.cycles, 6)
    if others:
        told += f"; {others[0].agent} needs {shown(others[0].cycles, 6)}"
    return f"{told}."


def _smallest(group: Sequence[Measured]) -> str:
    """Ratios over fields at the bound that most were measured at, and who has the largest mean."""
    with_ratio = [one for one in group if one.ratio]
    if not with_ratio:
        return ""
    bounds: dict[tuple[str, float], list[Measured]] = defaultdict(list)
    for one in with_ratio:
        bounds[one.mode, one.bound].append(one)
    (mode, bound), most = max(bounds.items(), key=lambda item: (len(item[1]), item[0]))
    means = {
        agent: _geometric([one.ratio for one in most if one.agent == agent])
        for agent in sorted({one.agent for one in most})
    }
    first = max(means, key=lambda agent: means[agent])
    spread = f"from {shown(min(means.values()))} to {shown(max(means.values()))}"
    if len(means) == 1:
        return f"At {mode} {bound:g} the ratio of {first} is {shown(means[first])}."
    if max(means.values()) < min(means.values()) * ALIKE:
        return f"At {mode} {bound:g} all have the ratio {shown(means[first])}."
    return (
        f"At {mode} {bound:g} mean ratios (geometric, over fields) go {spread}; the largest is "
        f"that of {first}."
    )


def _loosening(group: Sequence[Measured]) -> str:
    """How much the ratio gains per tenfold bound, as a slope over all agents and fields."""
    pairs: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for one in group:
        if one.ratio and one.mode in ("abs", "rel", "pw_rel"):
            pairs[one.agent, one.field, one.mode].append((one.bound, one.ratio))
    slopes = []
    for points in pairs.values():
        ordered = sorted(points)
        (low, small), (high, large) = ordered[0], ordered[-1]
        if high > low:
            slopes.append(math.log10(large / small) / math.log10(high / low))
    if not slopes:
        return ""
    mean = sum(slopes) / len(slopes)
    return f"A ten times looser bound multiplies the ratio by {shown(10**mean)}."


def _geometric(values: Sequence[float | None]) -> float:
    known = [value for value in finite(values) if value > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan
