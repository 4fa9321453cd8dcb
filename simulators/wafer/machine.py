"""The machine as the host sees it: memory, launches, streams, and running until something holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from . import schedule, wheel
from . import state_layout as at
from .costs import Profile
from .dsd import Vector
from .fabric_build import build_fabric, with_streams
from .fabric_layout import H_NOW as FABRIC_NOW
from .halts import TEXTS, Halt, HaltKind
from .hangs import Blocked, HangReport, Held, Reader, explain
from .program import Place, Program, Region
from .state import build_state

Words = npt.NDArray[np.int64]
Wanted = Mapping[tuple[int, int, int], int]
"""Words by x, y and colour."""

BUDGET = 2_000_000_000
"""Instructions that one task may run."""
_ENDLESS = 1 << 60
_NONE = np.zeros(0, np.int64)


class Ended(IntEnum):
    """How a run ended."""

    DONE = schedule.DONE
    REST = schedule.REST
    HALTED = schedule.HALTED
    LIMIT = schedule.LIMIT


@dataclass(frozen=True)
class Outcome:
    """Of a run."""

    ended: Ended
    cycle: int
    halt: Halt | None = None
    hang: HangReport | None = None
    """Why nothing moves, where something was waited for."""

    @property
    def text(self) -> str:
        """What went wrong; empty if nothing did."""
        if self.halt is not None:
            return str(self.halt)
        return self.hang.text if self.hang is not None else ""


@dataclass(frozen=True)
class Logged:
    """A value that a program printed (simprint) or traced (debug)."""

    cycle: int
    x: int
    y: int
    kind: int
    value: int
    buffer: int
    """Of debug; -1: simprint's."""


@dataclass
class _Stream:
    """Words for one PE's port, or from it."""

    words: list[int] = field(default_factory=list)
    done: int = 0


class Machine:
    """A program on a rectangle of PEs, at cycle 0 until it is run."""

    def __init__(
        self, program: Program, profile: Profile, *, budget: int = BUDGET, profiled: bool = False
    ) -> None:
        """budget: instructions that one task may run before it is taken for an endless loop.

        profiled: count cycles by cause, for `profiling.profile_of`.
        """
        self.program = with_streams(program)
        self.profile = profile
        self._state = build_state(self.program, profile, budget, profiled=profiled)
        self.fabric = build_fabric(self.program, profile)
        self._sends: dict[tuple[int, int, int], _Stream] = {}
        self._received: dict[tuple[int, int, int], list[int]] = {}
        schedule.start_all(self._state.words, 0)

    # --- memory ----------------------------------------------------------------------------

    @property
    def cycle(self) -> int:
        """The current cycle."""
        return int(self._state.words[at.H_NOW])

    def _block(self, x: int, y: int) -> int:
        words = self._state.words
        if not (0 <= x < self.program.width and 0 <= y < self.program.height):
            raise IndexError(f"there is no PE ({x}, {y})")
        pe = y * self.program.width + x
        return int(words[at.H_BLOCKS] + pe * words[at.H_BLOCK])

    def _bytes(self, x: int, y: int) -> npt.NDArray[np.uint8]:
        words = self._state.words
        block = self._block(x, y)
        first = int(words[block + at.P_MEMORY])
        extent = int(words[words[block + at.P_CLASS] + at.K_EXTENT])
        return self._state.memory.view(np.uint8)[2 * first : 2 * first + extent]

    def read(self, x: int, y: int, address: int, count: int) -> bytes:
        """Bytes of a PE's memory. Raises IndexError outside of it."""
        memory = self._bytes(x, y)
        if address < 0 or count < 0 or address + count > memory.size:
            raise IndexError(f"bytes {address} to {address + count} are not in PE ({x}, {y})")
        return memory[address : address + count].tobytes()

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Change a PE's memory. Raises IndexError outside of it."""
        memory = self._bytes(x, y)
        if address < 0 or address + len(data) > memory.size:
            raise IndexError(f"bytes {address} to {address + len(data)} are not in PE ({x}, {y})")
        memory[address : address + len(data)] = np.frombuffer(data, np.uint8)

    # --- what the host asks ----------------------------------------------------------------

    def launch(self, name: str, arguments: Sequence[int] = ()) -> None:
        """Start an exported function on every PE that has it; arguments as register values.

        Raises:
            KeyError: no PE exports it.
        """
        words = self._state.words
        functions = [(c.exported_functions or {}).get(name, -1) for c in self.program.classes]
        if all(function < 0 for function in functions):
            raise KeyError(name)
        waiting = 0
        for pe, kind in enumerate(self.program.class_of.reshape(-1)):
            function = functions[kind]
            if function < 0:
                continue
            block = int(words[at.H_BLOCKS] + pe * words[at.H_BLOCK])
            words[block + at.P_COMMAND] = function
            words[block + at.P_READY] = 0
            words[block + at.P_LOOK] = 1
            first = block + at.P_ARGUMENTS
            words[first : first + len(arguments)] = arguments
            wheel.schedule(words, pe, block, self.cycle + 1)
            waiting += 1
        words[at.H_WAITING] = waiting

    def send(self, color: int, x: int, y: int, data: Sequence[int]) -> None:
        """Queue words of 32 bits that enter at a PE while the program runs."""
        self._block(x, y)
        stream = self._sends.setdefault((x, y, color), _Stream())
        stream.words.extend(int(word) & 0xFFFFFFFF for word in data)

    def received(self, color: int, x: int, y: int) -> list[int]:
        """Words that came so far from a PE, in order; the caller may take them out."""
        return self._received.setdefault((x, y, color), [])

    def unsent(self) -> int:
        """Words that have not entered yet."""
        return sum(len(stream.words) - stream.done for stream in self._sends.values())

    def run_ready(self, limit: int = _ENDLESS, wanted: Wanted | None = None) -> Outcome:
        """Run until every PE of the last launch lets the host's next command pass.

        wanted: how many words in all the host takes meanwhile, by PE and colour.
        """
        return self._run(schedule.READY, wanted or {}, limit)

    def run_quiet(self, limit: int = _ENDLESS, wanted: Wanted | None = None) -> Outcome:
        """Run until nothing moves by itself."""
        return self._run(schedule.QUIET, wanted or {}, limit)

    def run_received(self, wanted: Wanted, limit: int = _ENDLESS) -> Outcome:
        """Run until so many words in all have come from these PEs by these colours."""
        return self._run(schedule.RECEIVED, wanted, limit)

    def run_sent(self, limit: int = _ENDLESS) -> Outcome:
        """Run until every queued word has entered, or nothing moves any more."""
        outcome = Outcome(Ended.DONE, self.cycle)
        while self.unsent():
            outcome = self._run(schedule.QUIET, {}, min(limit, self.cycle + 4096))
            if outcome.ended in (Ended.HALTED, Ended.REST) or self.cycle >= limit:
                break
        return outcome

    def _run(self, until: int, wanted: Mapping[tuple[int, int, int], int], limit: int) -> Outcome:
        state = self._state
        live = {key: s for key, s in self._sends.items() if s.done < len(s.words)}
        sends, send_words = _send_tables(live, self.program.width)
        receives, receive_words, keys = self._receive_tables(wanted)
        self.fabric[FABRIC_NOW] = state.words[at.H_NOW]
        ended = Ended(
            schedule.run(
                state.words, state.code, state.memory, self.fabric,
                sends, send_words, receives, receive_words, until, limit,
            )
        )  # fmt: skip
        for index, (key, stream) in enumerate(live.items()):
            stream.done += int(sends[4 * index + 2]) - self._first(live, key)
        self._take(keys, receives, receive_words)
        return self._outcome(ended, until)

    def _first(
        self, live: Mapping[tuple[int, int, int], _Stream], key: tuple[int, int, int]
    ) -> int:
        """Where a stream's words begin in the table of words."""
        at_ = 0
        for other, stream in live.items():
            if other == key:
                return at_
            at_ += len(stream.words) - stream.done
        raise KeyError(key)

    def _receive_tables(
        self, wanted: Mapping[tuple[int, int, int], int]
    ) -> tuple[Words, Words, list[tuple[int, int, int]]]:
        keys = list(wanted)
        rows, position = [], 0
        for x, y, color in keys:
            missing = max(0, wanted[x, y, color] - len(self.received(color, x, y)))
            rows += [y * self.program.width + x, color, position, position + missing]
            position += missing
        return np.array(rows, np.int64), np.zeros(position, np.int64), keys

    def _take(self, keys: Sequence[tuple[int, int, int]], receives: Words, received: Words) -> None:
        start = 0
        for index, (x, y, color) in enumerate(keys):
            end = int(receives[4 * index + 2])
            self.received(color, x, y).extend(int(word) for word in received[start:end])
            start = int(receives[4 * index + 3])

    def _outcome(self, ended: Ended, until: int) -> Outcome:
        if ended is Ended.HALTED:
            return Outcome(ended, self.cycle, self._halt())
        if ended is Ended.LIMIT:
            text = TEXTS[HaltKind.CYCLE_LIMIT].format(a=self.cycle)
            halt = Halt(HaltKind.CYCLE_LIMIT, -1, -1, "", None, text, self.cycle)
            return Outcome(ended, self.cycle, halt)
        if ended is Ended.REST and until != schedule.QUIET:
            return Outcome(ended, self.cycle, None, explain(self))
        return Outcome(ended, self.cycle)

    def _halt(self) -> Halt:
        words = self._state.words
        kind = HaltKind(int(words[at.H_HALT]))
        pe = int(words[at.H_HALT_PE])
        y, x = divmod(pe, self.program.width)
        block = self._block(x, y)
        a, b = int(words[at.H_HALT_A]), int(words[at.H_HALT_B])
        text = TEXTS[kind].format(a=a, b=b)
        one = self.program.classes[self.program.class_of[y, x]]
        if kind is HaltKind.ASSERT and 0 <= a < len(one.texts):
            text += f": {one.texts[a].decode(errors='replace')}"
        if kind is HaltKind.FIFO_FAULT:
            text = TEXTS[kind].format(a=("empty", "full")[a & 1])
        if kind is HaltKind.DSD_RANGE:
            text += self._beside(one.regions, a)
        place = self._place(x, y, int(words[at.H_HALT_PC]))
        return Halt(
            kind, x, y, self._task(x, y, int(words[block + at.P_TASK])), place, text, self.cycle
        )

    @staticmethod
    def _beside(regions: Sequence[Region], address: int) -> str:
        for region in regions:
            if region.address <= address < region.address + region.bytes:
                end = region.address + region.bytes
                return f": {region.name} {region.type} is bytes {region.address} to {end}"
        return ""

    def _place(self, x: int, y: int, pc: int) -> Place | None:
        one = self.program.classes[self.program.class_of[y, x]]
        number = int(one.places[pc]) if 0 <= pc < len(one.places) else -1
        return self.program.places[number] if number >= 0 else None

    def _task(self, x: int, y: int, number: int) -> str:
        one = self.program.classes[self.program.class_of[y, x]]
        if number == at.COMMAND:
            return "of the host's command"
        for task in one.tasks:
            if task.id == number:
                return str(one.functions[task.function].name)
        return ""

    # --- what is known afterwards ----------------------------------------------------------

    def logged(self) -> list[Logged]:
        """What was printed and traced since the last call, by cycle and PE."""
        words = self._state.words
        count = int(words[at.H_LOGGED])
        first = int(words[at.H_LOG])
        rows = words[first : first + 5 * count].reshape(count, 5).copy()
        words[at.H_LOGGED] = 0
        width = self.program.width
        found = [
            Logged(
                int(cycle), int(pe) % width, int(pe) // width, int(kind), int(value), int(buffer)
            )
            for cycle, pe, kind, value, buffer in rows
        ]
        return sorted(found, key=lambda one: (one.cycle, one.y, one.x))

    def _column(self, column: int) -> npt.NDArray[np.int64]:
        words = self._state.words
        begin, end = int(words[at.H_BLOCKS]), int(words[at.H_EVENTS])
        blocks = words[begin:end].reshape(-1, int(words[at.H_BLOCK]))
        return blocks[:, column].reshape(self.program.height, self.program.width).copy()

    def compute_cycles(self) -> npt.NDArray[np.int64]:
        """Per PE, shape (height, width): cycles in which its main thread computed."""
        return self._column(at.P_COMPUTE)

    def tasks_run(self) -> npt.NDArray[np.int64]:
        """Per PE: tasks started."""
        return self._column(at.P_TASKS_RUN)

    @property
    def state(self) -> npt.NDArray[np.int64]:
        """All counters where `state_layout` says; for `profiling`."""
        return self._state.words

    # --- for `hangs` -----------------------------------------------------------------------

    def blocked(self) -> Sequence[Blocked]:
        """See `hangs.AtRest`."""
        words = self._state.words
        found = []
        for y in range(self.program.height):
            for x in range(self.program.width):
                block = self._block(x, y)
                mask = int(words[block + at.P_UTS])
                for number in range(9):
                    if mask >> number & 1:
                        found += self._waiting(x, y, block + at.P_LIVE + number * at.U_SIZE, number)
        return found

    def _waiting(self, x: int, y: int, u: int, number: int) -> list[Blocked]:
        words = self._state.words
        missing = int(words[u + at.U_TOTAL] - words[u + at.U_DONE])
        common = {
            "x": x,
            "y": y,
            "task": self._task(x, y, int(words[u + at.U_TASK]) & 127),
            "place": self._place(x, y, int(words[u + at.U_PC])),
            "operation": f"@{Vector(int(words[u + at.U_OP])).name.lower()}",
            "missing": missing,
            "microthread": number if number < 8 else -1,
        }
        found = []
        one = self.program.classes[self.program.class_of[y, x]]
        for index in range(int(words[u + at.U_COUNT])):
            operand = u + at.U_OPERANDS + index * at.X_SIZE
            kind = int(words[operand + at.X_KIND])
            if kind not in (at.X_IN, at.X_OUT):
                continue
            queue = int(words[operand + at.X_BASE])
            named = [
                q.color for q in one.queues if q.output == (kind == at.X_OUT) and q.id == queue
            ]
            color = next((c for c in named if c >= 0), int(words[operand + at.X_COLOR]))
            found.append(
                Blocked(sends=kind == at.X_OUT, queue=queue, color=color, **common)  # type: ignore[arg-type]
            )
        return found

    def held(self) -> Sequence[Held]:
        """See `hangs.AtRest`."""
        words = self._state.words
        found = []
        for y in range(self.program.height):
            for x in range(self.program.width):
                block = self._block(x, y)
                mask = int(words[block + at.P_ACTIVE] & words[block + at.P_BLOCKED])
                found += [
                    Held(x, y, self._task(x, y, number), number)
                    for number in range(64)
                    if mask >> number & 1
                ]
        return found

    def reader(self, x: int, y: int, channel: int) -> Reader:
        """See `hangs.AtRest`."""
        words = self._state.words
        block = self._block(x, y)
        klass = int(words[block + at.P_CLASS])
        for index in range(int(words[klass + at.K_CHANNEL_COUNT])):
            row = int(words[klass + at.K_CHANNELS]) + 3 * index
            if words[row] == channel and words[row + 1] >= 0:
                blocked = bool(int(words[block + at.P_BLOCKED]) >> int(words[row + 2]) & 1)
                return Reader(self._task(x, y, int(words[row + 1])), blocked)
        return Reader()

    def silent(self) -> Sequence[tuple[int, int]]:
        """See `hangs.AtRest`."""
        if self._state.words[at.H_WAITING] <= 0:
            return []
        ready = self._column(at.P_READY)
        return [(int(x), int(y)) for y, x in np.argwhere(ready == 0)]


def _send_tables(live: Mapping[tuple[int, int, int], _Stream], width: int) -> tuple[Words, Words]:
    rows: list[int] = []
    words: list[int] = []
    for (x, y, color), stream in live.items():
        first = len(words)
        words += stream.words[stream.done :]
        rows += [y * width + x, color, first, len(words)]
    if not rows:
        return _NONE.copy(), _NONE.copy()
    return np.array(rows, np.int64), np.array(words, np.int64)
