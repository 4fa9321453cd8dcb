"""Random routes and traffic, run on the fast fabric and on the dense one side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from simulators.wafer import fabric
from simulators.wafer.costs import Profile
from simulators.wafer.fabric_build import build_fabric
from simulators.wafer.fabric_layout import H_TABLE, N_POSITION, P_LINKS
from simulators.wafer.fabric_step import fabric_step
from simulators.wafer.program import (
    Filter,
    FilterKind,
    PopMode,
    Port,
    Program,
    Queue,
    Route,
    Switch,
)

from .dense_fabric import DenseFabric, Word
from .fabric_programs import EAST, NORTH, RAMP, SOUTH, WEST, fabric_program, profile

LINKS = (NORTH, SOUTH, EAST, WEST)
QUEUES = 6


@dataclass(frozen=True)
class Sender:
    """Words that one PE sends by one queue, a word every `gap` cycles at most."""

    pe: int
    queue: int
    words: tuple[Word, ...]
    gap: int


@dataclass(frozen=True)
class Workload:
    """A program, its profile, and what its PEs send and how slowly they read."""

    program: Program
    profile: Profile
    senders: tuple[Sender, ...]
    slow: dict[int, int]
    """PE → it reads a word only every so many cycles."""
    cycles: int


def chaos(seed: int, cycles: int = 120) -> Workload:
    """Routes, switches and filters at random: dead ends, loops and several drivers included."""
    random = Random(seed)
    size = (random.randint(1, 4), random.randint(1, 4))
    colors = sorted(random.sample(range(24), random.randint(1, 5)))
    routes = {
        (x, y, color): _any_route(random, colors)
        for x in range(size[0])
        for y in range(size[1])
        for color in colors
        if random.random() < 0.95
    }
    return _traffic(random, size, routes, cycles=cycles, chance_control=0.2)


def trees(seed: int, cycles: int = 400) -> Workload:
    """Sensible routes: each colour from one PE to several, along x, then y; links are shared."""
    random = Random(seed)
    size = (random.randint(2, 5), random.randint(1, 5))
    routes: dict[tuple[int, int, int], Route] = {}
    for color in random.sample(range(24), random.randint(2, 8)):
        masks: dict[tuple[int, int], list[int]] = {}
        source = (random.randrange(size[0]), random.randrange(size[1]))
        for _ in range(random.randint(1, 4)):
            _grow(masks, source, (random.randrange(size[0]), random.randrange(size[1])))
        for (x, y), (receive, send) in masks.items():
            rule = _any_filter(random) if send & RAMP and random.random() < 0.3 else None
            routes[x, y, color] = Route(receive, send, filter=rule)
    return _traffic(random, size, routes, cycles=cycles, chance_control=0.05)


def _grow(
    masks: dict[tuple[int, int], list[int]], source: tuple[int, int], sink: tuple[int, int]
) -> None:
    x, y = source
    masks.setdefault(source, [RAMP, 0])
    while (x, y) != sink:
        if x != sink[0]:
            out, back, step = (EAST, WEST, (1, 0)) if sink[0] > x else (WEST, EAST, (-1, 0))
        else:
            out, back, step = (SOUTH, NORTH, (0, 1)) if sink[1] > y else (NORTH, SOUTH, (0, -1))
        masks[x, y][1] |= out
        x, y = x + step[0], y + step[1]
        masks.setdefault((x, y), [back, 0])
    masks[sink][1] |= RAMP


def _any_route(random: Random, colors: list[int]) -> Route:
    def mask(count: int) -> int:
        ramp = RAMP if random.random() < 0.6 else 0
        return ramp or sum(random.sample(LINKS, count))

    positions = tuple(
        Switch(
            receive=random.choice((None, mask(1))),
            send=random.choice((None, mask(random.randint(1, 2)))),
            invalid=random.random() < 0.15,
        )
        for _ in range(random.choice((0, 0, 1, 2, 3)))
    )
    return Route(
        receive=mask(1) | (mask(1) if random.random() < 0.3 else 0),
        send=mask(random.choice((1, 1, 2))) | mask(1),
        positions=positions,
        position=random.randint(0, len(positions)),
        ring=random.random() < 0.5,
        pop=random.choice(list(PopMode)),
        filter=_any_filter(random) if random.random() < 0.3 else None,
        swap_x=random.choice(colors) if random.random() < 0.1 else -1,
        swap_y=random.choice(colors) if random.random() < 0.1 else -1,
        teardown=random.random() < 0.01,
    )


def _any_filter(random: Random) -> Filter:
    kind = random.choice((FilterKind.COUNTER, FilterKind.SPARSE_COUNTER, FilterKind.RANGE))
    low = random.randint(0, 3)
    return Filter(
        kind=kind,
        count_data=random.random() < 0.8,
        count_control=random.random() < 0.4,
        init_counter=random.randint(0, 3),
        limit1=random.randint(0, 5),
        limit2=random.randint(0, 3),
        max_counter=random.randint(0, 4),
        filter_control=random.random() < 0.3,
        min_index=low,
        max_index=low + random.randint(0, 3),
    )


def _traffic(
    random: Random,
    size: tuple[int, int],
    routes: dict[tuple[int, int, int], Route],
    *,
    cycles: int,
    chance_control: float,
) -> Workload:
    arch = random.choice(("wse2", "wse3"))
    queues: dict[tuple[int, int], list[Queue]] = {}
    senders = []
    for x in range(size[0]):
        for y in range(size[1]):
            here = [color for (a, b, color) in routes if (a, b) == (x, y)]
            random.shuffle(here)
            queues[x, y] = [Queue(False, q, color) for q, color in enumerate(here[:QUEUES])]
            for q, color in enumerate(here[:QUEUES]):
                if not routes[x, y, color].receive & RAMP and random.random() < 0.6:
                    continue
                queues[x, y].append(Queue(True, q, color))
                mixed = here if random.random() < 0.2 else [color]
                words = tuple(
                    _any_word(random, random.choice(mixed), chance_control)
                    for _ in range(random.randint(5, 40))
                )
                gap = random.choice((1, 1, 2, 7))
                senders.append(Sender(y * size[0] + x, q, words, gap))
    pes = range(size[0] * size[1])
    slow = {pe: random.choice((1, 1, 2, 5)) for pe in pes}
    machine = profile(
        hop=random.choice((1, 2)),
        input_depths=random.choice(((8, 8, 4, 4, 4, 4), (6, 6, 4, 4, 2, 2))),
        output_depths=random.choice(((8,) * 6, (2, 2, 6, 6, 2, 2))),
    )
    program = fabric_program(size, routes, queues, arch=arch)
    return Workload(program, machine, tuple(senders), slow, cycles)


def _any_word(random: Random, color: int, chance_control: float) -> Word:
    data = random.getrandbits(32) if random.random() < 0.5 else random.randint(0, 5) << 16
    control = random.random() < chance_control
    if control and random.random() < 0.95:
        data &= ~(3 << 22) | 1 << random.choice((22, 23, 40))  # teardowns stop everything
    return Word(data & 0xFFFFFFFF, control, color, not control and random.random() < 0.05)


@dataclass(frozen=True)
class Outcome:
    """What a run did: every pop as (cycle, pe, channel, word), and where it ended."""

    pops: tuple[tuple[int, int, int, Word], ...]
    rooms: tuple[tuple[int, int, int], ...]
    """The room of the senders' queues, as (cycle, sender, room)."""
    links: dict[tuple[int, Port], int]
    positions: dict[tuple[int, int], int]
    teardowns: tuple[tuple[int, int, int], ...]


def _channels(program: Program, pe: int) -> list[int]:
    """The input queues of a PE, and 8 + colour for colours without one."""
    y, x = divmod(pe, program.width)
    queues = [q for q in program.classes[program.class_of[y, x]].queues if not q.output]
    colors = {q.color for q in queues}
    return [q.id for q in queues] + [8 + c for c in range(24) if c not in colors]


class FastFabric:
    """The fabric under test with the methods of the oracle."""

    def __init__(self, program: Program, machine: Profile) -> None:
        self.flat = build_fabric(program, machine)
        self.pes = program.width * program.height
        self.teardowns: list[tuple[int, int, int]] = []

    def length(self, pe: int, q: int) -> int:
        """Words in an input channel."""
        return int(fabric.input_length(self.flat, pe, q))

    def pop(self, pe: int, q: int) -> Word:
        """Take the oldest word of an input channel."""
        head = int(fabric.input_head(self.flat, pe, q))
        assert head == fabric.input_pop(self.flat, pe, q)
        return Word(head & 0xFFFFFFFF, bool(head >> 32 & 1), head >> 33)

    def room(self, pe: int, q: int) -> int:
        """Free places of an output queue."""
        return int(fabric.output_room(self.flat, pe, q))

    def push(self, pe: int, q: int, word: Word) -> None:
        """Send a word."""
        flags = (int(word.control), int(word.advance))
        fabric.output_push(self.flat, pe, q, word.color, word.data, *flags)

    def step(self, t: int) -> None:
        """Move words in cycle t; skips cycles in which the fabric says it is at rest."""
        if fabric.fabric_busy(self.flat):
            fabric_step(self.flat, t)
            for pe in range(self.pes):
                mask = int(fabric.take_teardown(self.flat, pe))
                self.teardowns += [(t, pe, color) for color in range(24) if mask >> color & 1]
        fabric.set_time(self.flat, t + 1)

    @property
    def links(self) -> dict[tuple[int, Port], int]:
        """Words that left each router by each port."""
        records = self.flat[self.flat[H_TABLE] + np.arange(self.pes)]
        counts = {(pe, p): int(self.flat[records[pe] + P_LINKS + p]) for pe, p in self.each_port()}
        return {key: count for key, count in counts.items() if count}

    def each_port(self) -> Iterator[tuple[int, Port]]:
        """All ports of all PEs."""
        return ((pe, port) for pe in range(self.pes) for port in Port)

    def positions(self) -> dict[tuple[int, int], int]:
        """The switches' positions by PE and colour."""
        nodes = {
            (pe, color): int(fabric.node_of(self.flat, pe, color))
            for pe in range(self.pes)
            for color in range(24)
        }
        return {key: int(self.flat[at + N_POSITION]) for key, at in nodes.items() if at}


def run(work: Workload, on: FastFabric | DenseFabric) -> Outcome:
    """Send and read as the workload says, and note all that the PEs can see."""
    pops: list[tuple[int, int, int, Word]] = []
    rooms: list[tuple[int, int, int]] = []
    left = [list(reversed(sender.words)) for sender in work.senders]
    channels = [
        (pe, q)
        for pe in range(work.program.width * work.program.height)
        for q in _channels(work.program, pe)
    ]
    for t in range(work.cycles):
        for pe, q in channels:
            if (t + q) % work.slow[pe] == 0 and on.length(pe, q):
                pops.append((t, pe, q, on.pop(pe, q)))
        for i, sender in enumerate(work.senders):
            room = on.room(sender.pe, sender.queue)
            rooms.append((t, i, room))
            if room and left[i] and t % sender.gap == 0:
                on.push(sender.pe, sender.queue, left[i].pop())
        on.step(t)
    teardowns = tuple(sorted(on.teardowns))
    return Outcome(tuple(pops), tuple(rooms), on.links, on.positions(), teardowns)


def run_fast(work: Workload) -> Outcome:
    """The run on the fabric under test."""
    return run(work, FastFabric(work.program, work.profile))


def run_dense(work: Workload) -> Outcome:
    """The same on the oracle."""
    return run(work, DenseFabric(work.program, work.profile))
