"""The fabric again, slowly: every router of every PE in every cycle, in plain Python.

Written from the rules in the docstrings of `fabric` and `fabric_step`, with none of their code or
layout, as the oracle that the fast one must equal. A cycle decides everything from the state at its
start and only then changes it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from simulators.wafer.control_wavelets import decode_commands, encode_commands
from simulators.wafer.costs import Profile
from simulators.wafer.program import Filter, FilterKind, PopMode, Port, Program, Route

NEVER = -1
OPPOSITE = {
    Port.NORTH: Port.SOUTH,
    Port.SOUTH: Port.NORTH,
    Port.EAST: Port.WEST,
    Port.WEST: Port.EAST,
}
MOVES = {Port.NORTH: (0, -1), Port.SOUTH: (0, 1), Port.EAST: (1, 0), Port.WEST: (-1, 0)}


@dataclass(frozen=True)
class Word:
    """A wavelet."""

    data: int
    control: bool
    color: int
    advance: bool = False


@dataclass
class Buffer:
    """Words that wait in a router, each with the cycle from which it may leave."""

    words: deque[tuple[int, Word]] = field(default_factory=deque)
    served: int = NEVER


@dataclass
class Queue:
    """A queue of a PE; `popped` counts this cycle's pops, whose places are still taken."""

    capacity: int
    words: deque[Word] = field(default_factory=deque)
    popped: int = 0


@dataclass
class Counter:
    """A filter at work."""

    rule: Filter
    count: int
    limit: int
    second: int
    off: bool

    def takes(self, word: Word) -> bool:
        """Whether the PE gets this word; it is counted."""
        if self.rule.kind == FilterKind.RANGE:
            index = word.data >> 16
            return word.control or self.rule.min_index <= index <= self.rule.max_index
        if self.off:
            return True
        before = self.count
        counts = self.rule.count_control if word.control else self.rule.count_data
        if counts:
            self.count += 1
            if before == self.limit:
                self.count = 0
                self.end_of_period()
        if word.control and self.rule.filter_control:
            return before == self.rule.max_counter
        return before <= self.rule.max_counter

    def end_of_period(self) -> None:
        """A sparse counter has one or two periods."""
        if self.rule.kind != FilterKind.SPARSE_COUNTER:
            return
        if self.second:
            self.limit, self.second = self.second, 0
        else:
            self.off = True


@dataclass
class Node:
    """A colour in a router."""

    route: Route
    position: int
    buffers: dict[Port, Buffer]
    queue: Queue | None = None
    host: Queue | None = None
    counter: Counter | None = None
    moved: int = NEVER
    ramped: int = NEVER
    source: Port | None = None
    word: Word | None = None
    pending: set[Port] = field(default_factory=set)
    action: int = 0
    stopped: bool = False

    def __post_init__(self) -> None:
        """Find the ports that some position receives from, by going to them."""
        self.inputs: set[Port] = set(Port) - {Port.HOST} if self.route.teardown else set()
        initial, seen = self.position, set[int]()
        waiting = [initial, 0]
        while waiting:
            self.position = waiting.pop()
            if self.position not in seen:
                seen.add(self.position)
                self.inputs |= self.sides()[0]
                waiting.append(self.following())
        self.position = initial

    def sides(self) -> tuple[set[Port], set[Port]]:
        """Where this position receives from and sends to."""
        receive, send = self.route.receive, self.route.send
        for switch in self.route.positions[: self.position]:
            receive = receive if switch.receive is None else switch.receive
            send = send if switch.send is None else switch.send
        return {p for p in Port if receive >> p & 1}, {p for p in Port if send >> p & 1}

    def following(self) -> int:
        """The position an advance leads to."""
        later = self.position + 1
        if later <= len(self.route.positions) and not self.route.positions[later - 1].invalid:
            return later
        return 0 if self.route.ring else self.position

    def start(self, t: int) -> None:
        """Make the next word current, if there is one."""
        if self.source is not None or self.stopped:
            return
        receive, send = self.sides()
        ready = [
            (buffer.served, port)
            for port, buffer in self.buffers.items()
            if port in receive and buffer.words and buffer.words[0][0] <= t
        ]
        if not ready:
            return
        self.source = min(ready)[1]
        self.pending = send
        word = self.buffers[self.source].words[0][1]
        self.action = 1 if word.advance else 0
        if self.counter and not self.counter.takes(word):
            self.pending -= {Port.RAMP}
        data = word.data
        if word.control:
            commands = decode_commands(word.data)
            self.action = commands[0] & 3
            if commands[0] & 4:
                self.pending -= {Port.RAMP}
            if self.pops():
                rest = (*commands[1:], commands[7] & 4)
                data = encode_commands(rest, word.data >> 16 & 63) | word.data & 0xC0000000
        self.word = Word(data, word.control, word.color)

    def pops(self) -> bool:
        """Whether the first command goes."""
        advances = self.action == 1 and self.following() != self.position
        return {
            PopMode.NO_POP: False,
            PopMode.ALWAYS_POP: True,
            PopMode.POP_ON_ADVANCE: advances,
            PopMode.POP_ON_ADVANCE_NOP: advances or self.action == 0,
        }[self.route.pop]

    def finish(self, t: int) -> int:
        """The current word has left; returns the switch's action."""
        assert self.source is not None
        buffer = self.buffers[self.source]
        buffer.words.popleft()
        buffer.served = t
        self.source = None
        action, self.action = self.action, 0
        if action == 1:
            self.position = self.following()
        elif action == 2:
            self.position = 0
        elif action == 3:
            self.stopped = True
        return action


class DenseFabric:
    """All routers and queues; `pe` and the queues' numbers as in `fabric`."""

    def __init__(self, program: Program, profile: Profile) -> None:
        self.program = program
        self.profile = profile
        self.now = 0
        self.inputs: dict[tuple[int, int], Queue] = {}
        self.outputs: dict[tuple[int, int], Queue] = {}
        self.nodes: dict[tuple[int, int], Node] = {}
        self.teardowns: list[tuple[int, int, int]] = []
        self.links: dict[tuple[int, Port], int] = {}
        for pe in range(program.width * program.height):
            self.build(pe)

    def build(self, pe: int) -> None:
        """Queues and nodes of a PE."""
        y, x = divmod(pe, self.program.width)
        of_color: dict[int, Queue] = {}
        for queue in self.program.classes[self.program.class_of[y, x]].queues:
            if queue.output:
                self.outputs[pe, queue.id] = Queue(self.profile.output_depths[queue.id])
            else:
                made = Queue(self.profile.input_depths[queue.id])
                of_color.setdefault(queue.color, made)
                self.inputs[pe, queue.id] = made
        for color, index in enumerate(self.program.route_of[y, x]):
            if index >= 0:
                route = self.program.routes[index]
                if color not in of_color and self.program.arch == "wse2":
                    of_color[color] = Queue(min(self.profile.input_depths))
                    self.inputs[pe, 8 + color] = of_color[color]
                rule = route.filter
                counter = None
                if rule:
                    off = rule.kind == FilterKind.SPARSE_COUNTER and rule.limit1 == 0
                    counter = Counter(rule, rule.init_counter, rule.limit1, rule.limit2, off)
                node = Node(route, route.position, {port: Buffer() for port in Port})
                node.queue, node.host, node.counter = of_color.get(color), Queue(16), counter
                node.stopped = route.teardown
                self.nodes[pe, color] = node

    def positions(self) -> dict[tuple[int, int], int]:
        """The switches' positions by PE and colour."""
        return {key: node.position for key, node in self.nodes.items()}

    def length(self, pe: int, q: int) -> int:
        """Words in an input channel."""
        return len(self.inputs[pe, q].words) if (pe, q) in self.inputs else 0

    def pop(self, pe: int, q: int) -> Word:
        """Take the oldest word of an input channel."""
        queue = self.inputs[pe, q]
        queue.popped += 1
        return queue.words.popleft()

    def room(self, pe: int, q: int) -> int:
        """Free places of an output queue."""
        queue = self.outputs[pe, q]
        return queue.capacity - len(queue.words)

    def push(self, pe: int, q: int, word: Word) -> None:
        """Send a word."""
        self.outputs[pe, q].words.append(word)

    def target(self, pe: int, color: int, port: Port) -> tuple[Buffer, int] | None:
        """The buffer that a link leads to, and the colour as which words get there."""
        route = self.nodes[pe, color].route
        swap = route.swap_x if port in (Port.EAST, Port.WEST) else route.swap_y
        y, x = divmod(pe, self.program.width)
        x, y = x + MOVES[port][0], y + MOVES[port][1]
        after = swap if swap >= 0 else color
        if not (0 <= x < self.program.width and 0 <= y < self.program.height):
            return None
        node = self.nodes.get((y * self.program.width + x, after))
        if node is None or not self.can_receive(node, OPPOSITE[port]):
            return None
        return node.buffers[OPPOSITE[port]], after

    @staticmethod
    def can_receive(node: Node, port: Port) -> bool:
        """Whether a position that the switch can get to receives from a port."""
        return port in node.inputs

    def ready(self, pe: int, color: int, port: Port, rooms: dict[int, int]) -> bool:
        """Whether an output can take a word of this colour, by the room at the cycle's start."""
        node = self.nodes[pe, color]
        if port == Port.RAMP:
            queue = node.queue
            return queue is not None and rooms[id(queue)] > 0
        if port == Port.HOST:
            return node.host is not None and rooms[id(node.host)] > 0
        target = self.target(pe, color, port)
        return target is not None and rooms[id(target[0])] > 0

    def step(self, t: int) -> None:
        """Move words in cycle t."""
        rooms = self.rooms()
        for node in self.nodes.values():
            node.start(t)
        ramps = self.choose_ramps(rooms)
        winners: list[tuple[int, int, Port]] = []
        dropped = [key for key, n in self.nodes.items() if n.source is not None and not n.pending]
        for pe in range(self.program.width * self.program.height):
            for port in Port:
                waiting = [
                    (node.moved, color)
                    for (at, color), node in self.nodes.items()
                    if at == pe
                    and node.source is not None
                    and port in node.pending
                    and self.ready(pe, color, port, rooms)
                ]
                if waiting:
                    winners.append((pe, min(waiting)[1], port))
        self.apply(t, ramps, winners)
        for pe, color in dropped:
            self.finish(t, pe, color)
        for queue in (*self.inputs.values(), *(n.host for n in self.nodes.values() if n.host)):
            queue.popped = 0
        self.now = t + 1

    def finish(self, t: int, pe: int, color: int) -> None:
        """A word has left by all its outputs, or is dropped."""
        if self.nodes[pe, color].finish(t) == 3:
            self.teardowns.append((t, pe, color))

    def rooms(self) -> dict[int, int]:
        """Free places of everything at the start of the cycle."""
        rooms = {id(q): q.capacity - len(q.words) - q.popped for q in self.inputs.values()}
        for node in self.nodes.values():
            if node.host:
                rooms[id(node.host)] = node.host.capacity - len(node.host.words) - node.host.popped
            for buffer in node.buffers.values():
                rooms[id(buffer)] = self.profile.router_depth - len(buffer.words)
        return rooms

    def choose_ramps(self, rooms: dict[int, int]) -> list[tuple[int, int]]:
        """(pe, output queue) of every word that enters a router."""
        best: dict[int, tuple[int, int, int]] = {}
        for (pe, q), queue in self.outputs.items():
            if not queue.words:
                continue
            color = queue.words[0].color
            node = self.nodes.get((pe, color))
            if node is None or not self.can_receive(node, Port.RAMP):
                continue
            if rooms[id(node.buffers[Port.RAMP])] > 0:
                key = (node.ramped, color, q)
                best[pe] = min(best.get(pe, key), key)
        return [(pe, q) for pe, (_, _, q) in best.items()]

    def apply(
        self, t: int, ramps: list[tuple[int, int]], winners: list[tuple[int, int, Port]]
    ) -> None:
        """Do what was decided."""
        arrivals: list[tuple[Buffer, int, Word]] = []
        for pe, q in ramps:
            word = self.outputs[pe, q].words.popleft()
            node = self.nodes[pe, word.color]
            node.ramped = t
            arrivals.append((node.buffers[Port.RAMP], t + 2, word))
        for pe, color, port in winners:
            node = self.nodes[pe, color]
            assert node.word is not None
            node.moved = t
            node.pending = node.pending - {port}
            self.links[pe, port] = self.links.get((pe, port), 0) + 1
            if port == Port.RAMP:
                assert node.queue is not None
                node.queue.words.append(node.word)
            elif port == Port.HOST:
                assert node.host is not None
                node.host.words.append(node.word)
            else:
                target = self.target(pe, color, port)
                assert target is not None
                sent = Word(node.word.data, node.word.control, target[1])
                arrivals.append((target[0], t + self.profile.hop, sent))
            if not node.pending:
                self.finish(t, pe, color)
        for buffer, ready, word in arrivals:
            buffer.words.append((ready, word))
