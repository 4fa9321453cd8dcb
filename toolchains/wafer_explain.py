"""What a profiled call of a wafer submission says: metrics, the bottleneck, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernels.records import HeatMap, Metric
from toolchains.base import Explanation

_SHOWN = 5
"""Tasks and operations, and steps of the critical path, that are told."""
_CAUSES = {
    "compute": "compute",
    "words": "waiting for data",
    "room": "back-pressure",
    "idle": "idle",
}

Counted = Mapping[str, Any]


def explained(function: str, profiles: Sequence[Counted]) -> Explanation:
    """Of the program that ran longest in a call (`simulators.wafer.profiling.as_json`)."""
    if not profiles:
        return Explanation()
    one = max(profiles, key=lambda profile: int(profile["cycles"]))
    return Explanation(
        metrics=(*_shares(function, one), *_counts(function, one)),
        notes=tuple(_notes(function, one)),
        maps=_maps(function, one),
        bottleneck=_bottleneck(function, one),
    )


def _total(one: Counted, cause: str) -> int:
    return sum(map(sum, one[cause]))


def _shares(function: str, one: Counted) -> list[Metric]:
    return [
        *(
            Metric(f"{function}_{cause}_cycles", _total(one, cause), "PE-cycles", "modelled")
            for cause in _CAUSES
        ),
        Metric(f"{function}_busiest_link", _busiest(one)[0], "words", "modelled"),
    ]


def _busiest(one: Counted) -> tuple[int, int, int]:
    """Words on the busiest link of all, and the PE whose router it leaves: (words, x, y)."""
    return max(
        (int(words), x, y) for y, row in enumerate(one["traffic"]) for x, words in enumerate(row)
    )


def _counts(function: str, one: Counted) -> list[Metric]:
    """The longest tasks and operations, as NAME[FUNCTION PLACE]."""
    return [
        Metric(
            f"cycles[{function}: {row['name']} {row['place']}]", row["cycles"], "cycles", "modelled"
        )
        for kind in ("tasks", "operations")
        for row in one[kind][:_SHOWN]
    ]


def _maps(function: str, one: Counted) -> tuple[HeatMap, ...]:
    """Shares of the cycles per PE, by cause, and in which its busiest link moved a word."""
    cycles = max(1, int(one["cycles"]))
    drawn = {**_CAUSES, "traffic": "words on the busiest link of its router"}
    return tuple(
        HeatMap(
            f"{function}: {text}",
            tuple(tuple(value / cycles for value in row) for row in one[kind]),
        )
        for kind, text in drawn.items()
    )


def _bottleneck(function: str, one: Counted) -> str:
    total = sum(_total(one, cause) for cause in _CAUSES)
    if not total:
        return ""
    split = ", ".join(f"{_total(one, c) / total:.0%} {text}" for c, text in _CAUSES.items())
    x, y = one["slowest"]
    cycles = int(one["cycles"])
    busy = int(one["compute"][y][x])
    return (
        f"{function}: PEs spend {split}; the slowest is PE ({x}, {y}), which computes in {busy} of "
        f"{cycles} cycles"
    )


def _notes(function: str, one: Counted) -> list[str]:
    notes = []
    rows = one["operations"][:_SHOWN]
    if rows:
        text = "; ".join(
            f"{row['name']} {row['place']} {row['cycles']} cycles, "
            f"{row['waited']} of them waiting, {row['runs']} runs"
            for row in rows
        )
        notes.append(f"{function}, operations over all PEs: {text}")
    rows = one["tasks"][:_SHOWN]
    if rows:
        text = "; ".join(
            f"{row['name']} {row['place']} {row['cycles']} cycles in {row['runs']} runs"
            for row in rows
        )
        notes.append(f"{function}, tasks over all PEs: {text}")
    words, x, y = _busiest(one)
    if words:
        share = words / max(1, int(one["cycles"]))
        notes.append(
            f"{function}, fabric: the busiest link leaves the router of PE ({x}, {y}) and moved "
            f"{words} words, in {share:.0%} of the cycles"
        )
    if one["path"]:
        steps = " < ".join(_step(step) for step in one["path"][:_SHOWN])
        rest = len(one["path"]) - _SHOWN
        more = f" < and {rest} steps before" if rest > 0 else ""
        cut = " (some waits were not kept)" if one["truncated"] else ""
        notes.append(f"{function}, critical path from the end back{cut}: {steps}{more}")
    return notes


def _step(step: Counted) -> str:
    text = f"PE ({step['x']}, {step['y']}) cycles {step['begin']} to {step['end']}"
    if not step["cause"]:
        return text
    color = f" of colour {step['color']}" if step["color"] >= 0 else ""
    place = f" at {step['place']}" if step["place"] else ""
    return f"{text}, after {step['waited']} waiting for {step['cause']}{color}{place}"
