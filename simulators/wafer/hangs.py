"""Why a machine that is at rest goes no further: what waits, for whom, and where words are stuck.

`explain` reads the fabric and, through `AtRest`, the processing elements. The report's text has the
most useful first: a cycle of PEs that wait for each other, what blocks the fabric, the operations,
tasks and data that wait, and the PEs that haven't let the host's next command pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from .fabric_view import (
    Cause,
    Flat,
    Stuck,
    Waiting,
    channel_of,
    senders_to,
    stuck_words,
    waiting_inputs,
)
from .program import Place, Port, Program
from .rectangles import rectangles
from .routing import trace

LINES = 40
"""Of text, at most."""
PART_LINES = 6
"""Of one part of it."""
QUEUES = 8
SEARCHED = 500
"""PEs from which a shortest cycle is searched."""

FOLLOWED = 4000
"""Operations whose wavelets are followed to other PEs."""

Spot = tuple[int, int]


@dataclass(frozen=True)
class Blocked:
    """An operation that can't go on."""

    x: int
    y: int
    task: str
    """Of which it is part, or which started it."""
    place: Place | None
    operation: str
    """As CSL names it: @fmovs."""
    sends: bool
    """Whether it waits for room to send; otherwise for data."""
    queue: int
    """Input channel, or output queue."""
    color: int
    missing: int
    """Wavelets that it has still to receive or to send."""
    microthread: int = -1
    """-1: the operation is synchronous and holds its task."""


@dataclass(frozen=True)
class Held:
    """A task that is activated but blocked."""

    x: int
    y: int
    task: str
    id: int
    place: Place | None = None


@dataclass(frozen=True)
class Reader:
    """What takes the words of an input channel when no operation does."""

    task: str = ""
    """The data or control task; empty: none is bound."""
    blocked: bool = False


class AtRest(Protocol):
    """What the report has to know of the processing elements."""

    @property
    def program(self) -> Program:
        """What runs."""

    @property
    def fabric(self) -> Flat:
        """The fabric's state."""

    def blocked(self) -> Sequence[Blocked]:
        """All operations that wait for the fabric, by row and column."""

    def held(self) -> Sequence[Held]:
        """All tasks that are activated but blocked, by row and column."""

    def reader(self, x: int, y: int, channel: int) -> Reader:
        """Which task takes words from an input channel."""

    def silent(self) -> Sequence[Spot]:
        """PEs that haven't unblocked the command stream since the last launch; empty: no host."""


@dataclass(frozen=True)
class Edge:
    """A PE that waits for another one."""

    waits: Spot
    on: Spot
    reason: str


@dataclass(frozen=True)
class Unread:
    """Words in an input channel that no operation reads."""

    waiting: Waiting
    reader: Reader


@dataclass(frozen=True)
class HangReport:
    """Why nothing moves."""

    cycle: tuple[Edge, ...]
    """A shortest circle of PEs that wait for each other; empty: there is none."""
    blocked: tuple[Blocked, ...]
    held: tuple[Held, ...]
    stuck: tuple[Stuck, ...]
    unread: tuple[Unread, ...]
    silent: tuple[Spot, ...]
    edges: tuple[Edge, ...]
    text: str


def explain(machine: AtRest) -> HangReport:
    """The report of a machine at rest."""
    blocked = tuple(machine.blocked())
    held = tuple(machine.held())
    stuck = stuck_words(machine.fabric)
    unread = _unread(machine, blocked)
    edges = tuple(_edges(machine, blocked[:FOLLOWED], stuck))
    cycle = shortest_cycle(edges)
    silent = tuple(machine.silent())
    parts = (
        _cycle_lines(cycle),
        _silent_lines(silent, machine.program),
        _blocked_lines(machine, blocked),
        _stuck_lines(stuck, unread, blocked),
        _held_lines(held),
        _unread_lines(unread),
    )
    text = _text(parts)
    return HangReport(cycle, blocked, held, stuck, unread, silent, edges, text)


def _unread(machine: AtRest, blocked: Sequence[Blocked]) -> tuple[Unread, ...]:
    reading = {(one.x, one.y, one.queue) for one in blocked if not one.sends}
    return tuple(
        Unread(one, machine.reader(one.x, one.y, one.channel))
        for one in waiting_inputs(machine.fabric)
        if (one.x, one.y, one.channel) not in reading
    )


def _edges(machine: AtRest, blocked: Sequence[Blocked], stuck: Sequence[Stuck]) -> Iterator[Edge]:
    """Who waits for whom: a receiver for every possible sender, a sender for what is full."""
    ends = [one for one in stuck if one.cause == Cause.INPUT_FULL]
    for one in blocked:
        here = (one.x, one.y)
        what = f"{one.operation} in {one.task}"
        if one.sends:
            for full in _full_ends(machine, one, ends):
                reason = (
                    f"{what} has {_wavelets(one.missing)} of colour {one.color} to send, and input"
                    f" {_channel(full.channel)} of ({full.x},{full.y}) is full"
                )
                yield Edge(here, (full.x, full.y), reason)
            continue
        pe = one.y * machine.program.width + one.x
        for sender, by_host in senders_to(machine.fabric, pe, one.color):
            if not by_host:
                on = (sender % machine.program.width, sender // machine.program.width)
                reason = f"{what} needs {_wavelets(one.missing)} of colour {one.color}"
                yield Edge(here, on, reason)


def _full_ends(machine: AtRest, one: Blocked, ends: Sequence[Stuck]) -> Iterator[Stuck]:
    """Sinks of a sender's colour whose input queue is full."""
    path = trace(machine.program, one.x, one.y, one.color, every_position=True)
    sinks = {(hop.x, hop.y, hop.color) for hop in path.hops if Port.RAMP in hop.send}
    return (end for end in ends if (end.x, end.y, end.color) in sinks)


def shortest_cycle(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The first of the shortest circles; searched from the first PEs only if there are many."""
    onward: dict[Spot, list[Edge]] = {}
    for edge in edges:
        onward.setdefault(edge.waits, []).append(edge)
    best: tuple[Edge, ...] = ()
    for start in sorted(onward, key=lambda spot: (spot[1], spot[0]))[:SEARCHED]:
        found = _way_back(start, onward)
        if found and (not best or len(found) < len(best)):
            best = found
        if len(best) == 1:
            break
    return best


def _way_back(start: Spot, onward: dict[Spot, list[Edge]]) -> tuple[Edge, ...]:
    """The shortest way from a PE to itself; breadth first."""
    came: dict[Spot, Edge] = {}
    waiting = deque([start])
    while waiting and start not in came:
        for edge in onward.get(waiting.popleft(), ()):
            if edge.on not in came:
                came[edge.on] = edge
                waiting.append(edge.on)
    way: list[Edge] = []
    spot = start
    while spot in came and start in came:
        way.insert(0, came[spot])
        spot = way[0].waits
        if spot == start:
            break
    return tuple(way)


def _wavelets(count: int) -> str:
    return f"{count} more wavelet{'' if count == 1 else 's'}"


def _channel(channel: int) -> str:
    return f"queue {channel}" if channel < QUEUES else f"of colour {channel - QUEUES}"


def _place(place: Place | None) -> str:
    return f" ({place.file}:{place.line}:{place.column})" if place else ""


def _cycle_lines(cycle: Sequence[Edge]) -> list[str]:
    if not cycle:
        return []
    count = len({edge.waits for edge in cycle})
    title = "A PE waits for itself:" if count == 1 else f"{count} PEs wait for each other:"
    return [title] + [
        f"  ({edge.waits[0]},{edge.waits[1]}) waits for ({edge.on[0]},{edge.on[1]}): {edge.reason}"
        for edge in cycle
    ]


def _silent_lines(silent: Sequence[Spot], program: Program) -> list[str]:
    if not silent:
        return []
    count = len(silent)
    every = " (all)" if count == program.width * program.height else ""
    return [
        f"{count} PE{'' if count == 1 else 's'}{every} did not call unblock_cmd_stream():"
        f" {rectangles(silent)}. The host's next command waits for all of them."
    ]


def _grouped(lines: Iterable[tuple[str, Spot]]) -> list[str]:
    """One line per text, with all the PEs that share it; {} is where they go."""
    groups: dict[str, list[Spot]] = {}
    for text, spot in lines:
        groups.setdefault(text, []).append(spot)
    return ["  " + text.replace("{}", rectangles(spots), 1) for text, spots in groups.items()]


def _blocked_lines(machine: AtRest, blocked: Sequence[Blocked]) -> list[str]:
    if not blocked:
        return []
    says = ((_blocked_text(machine, one), (one.x, one.y)) for one in blocked)
    return ["Operations that wait:", *_grouped(says)]


def _blocked_text(machine: AtRest, one: Blocked) -> str:
    how = f"microthread {one.microthread}" if one.microthread >= 0 else "synchronous"
    start = f"{{}}: {one.operation} in {one.task}{_place(one.place)}, {how}, "
    if one.sends:
        return (
            start + f"has {_wavelets(one.missing)} of colour {one.color} to send; output queue"
            f" {one.queue} is full"
        )
    pe = one.y * machine.program.width + one.x
    text = start + f"needs {_wavelets(one.missing)} of colour {one.color} in {_channel(one.queue)}"
    senders = senders_to(machine.fabric, pe, one.color)
    if not senders:
        return text + "; no PE sends this colour here"
    if any(by_host for _, by_host in senders):
        return text + "; the host sends them"
    if channel_of(machine.fabric, pe, one.color) != one.queue:
        return text + "; the colour's words don't enter this queue"
    return text


def _stuck_lines(
    stuck: Sequence[Stuck], unread: Sequence[Unread], blocked: Sequence[Blocked]
) -> list[str]:
    """What holds words in routers; those that only wait for the next router are counted."""
    roots = [one for one in stuck if one.cause != Cause.NEXT_FULL]
    behind = sum(one.words for one in stuck if one.cause == Cause.NEXT_FULL)
    readers = {(one.waiting.x, one.waiting.y, one.waiting.channel): one.reader for one in unread}
    reading = {(one.x, one.y, one.queue): one for one in blocked if not one.sends}
    lines = []
    for one in roots:
        cause = str(one.cause)
        key = (one.x, one.y, one.channel)
        if one.cause == Cause.INPUT_FULL:
            cause = f"input {_channel(one.channel)} is full: {_why_full(key, readers, reading)}"
        elif one.cause == Cause.SWITCH:
            cause = f"the switch, at position {one.position}, doesn't receive from there"
        many = f"{one.words} wavelet{' is' if one.words == 1 else 's are'}"
        text = f"{many} stuck at {{}} colour {one.color}: {one.way}, {cause}"
        lines.append((text, (one.x, one.y)))
    if not lines:
        return []
    more = [f"  {behind} more wavelets are in routers behind them"] if behind else []
    return ["Wavelets that can't go on:", *_grouped(lines), *more]


def _why_full(
    key: tuple[int, int, int],
    readers: dict[tuple[int, int, int], Reader],
    reading: dict[tuple[int, int, int], Blocked],
) -> str:
    if key in reading:
        return f"{reading[key].operation} in {reading[key].task} reads it but waits for others"
    reader = readers.get(key, Reader())
    if not reader.task:
        return "no operation reads it"
    return f"its task {reader.task} is blocked" if reader.blocked else f"its task is {reader.task}"


def _held_lines(held: Sequence[Held]) -> list[str]:
    if not held:
        return []
    says = ((f"{{}}: {one.task}, id {one.id}{_place(one.place)}", (one.x, one.y)) for one in held)
    return ["Tasks that are activated but blocked:", *_grouped(says)]


def _unread_lines(unread: Sequence[Unread]) -> list[str]:
    if not unread:
        return []
    says = ((_unread_text(one), (one.waiting.x, one.waiting.y)) for one in unread)
    return ["Wavelets in input queues that nothing takes:", *_grouped(says)]


def _unread_text(one: Unread) -> str:
    waiting, reader = one.waiting, one.reader
    why = "no task is bound to it and no operation reads it"
    if reader.task:
        why = f"its task {reader.task} is {'blocked' if reader.blocked else 'not started'}"
    of = f"{waiting.words} of {waiting.capacity}"
    return f"{{}}: {of} in {_channel(waiting.channel)}; {why}"


def _text(parts: Sequence[list[str]]) -> str:
    """All parts, each cut to its share; a title counts as one of its lines."""
    lines: list[str] = []
    for part in parts:
        cut = part[:PART_LINES]
        if len(part) > PART_LINES:
            cut[-1] = f"  ... and {len(part) - PART_LINES + 1} more"
        lines += cut
    if not lines:
        lines = ["Nothing waits: every task and operation has ended."]
    return "\n".join(lines[:LINES])
