"""The order of what a program's host asks of one machine: commands, streams, and what waits.

A command (copy, launch) starts when every PE has let the commands before it pass. What the host
sends by a stream has its place among the commands, unless a command waits for a program that waits
for it: then it goes first. What the host receives is kept until it is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .halts import Halt, HaltKind
from .hangs import HangReport
from .program import Program

Spot = tuple[int, int]
Wanted = Mapping[tuple[int, int, int], int]
"""Words in all by x, y and colour."""


class Stopped(Protocol):
    """How a machine's run ended."""

    @property
    def halt(self) -> Halt | None:
        """The program's mistake, if it was one."""

    @property
    def hang(self) -> HangReport | None:
        """Why nothing moves, if something was waited for."""

    @property
    def text(self) -> str:
        """What went wrong; empty if nothing did."""


class Entry(Protocol):
    """What a program printed or traced."""

    @property
    def cycle(self) -> int:
        """When."""

    @property
    def x(self) -> int:
        """Of the PE."""

    @property
    def y(self) -> int:
        """Of the PE."""

    @property
    def kind(self) -> int:
        """`trace.Printed` or `trace.Traced`."""

    @property
    def value(self) -> int:
        """As a register holds it."""

    @property
    def buffer(self) -> int:
        """The number of <debug>'s key; -1: <simprint>."""


class Device(Protocol):
    """The machine, as its host uses it: `machine.Machine`."""

    @property
    def program(self) -> Program:
        """What runs."""

    @property
    def cycle(self) -> int:
        """Since the start."""

    def read(self, x: int, y: int, address: int, count: int) -> bytes:
        """Bytes of a PE's memory."""

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Set bytes of a PE's memory."""

    def launch(self, name: str, arguments: Sequence[int] = ()) -> None:
        """Start an exported function at every PE."""

    def run_ready(self, *, wanted: Wanted | None = None) -> Stopped:
        """Until every PE lets the next command pass; `wanted` is received meanwhile."""

    def run_quiet(self, *, wanted: Wanted | None = None) -> Stopped:
        """Until nothing moves."""

    def run_received(self, wanted: Wanted) -> Stopped:
        """Until the host has got all it wants."""

    def send(self, color: int, x: int, y: int, data: Sequence[int]) -> None:
        """Queue what a PE is to get from the host."""

    def received(self, color: int, x: int, y: int) -> Sequence[int]:
        """All that the host got from a PE so far."""

    def logged(self) -> Sequence[Entry]:
        """What was printed and traced since the last call."""


class ProgramHaltedError(Exception):
    """The program stopped by a mistake of its own, or goes no further."""

    def __init__(self, outcome: Stopped) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


@dataclass(frozen=True)
class Command:
    """What is done when its turn comes."""

    ticket: int
    act: Callable[[], bytes]
    stream: bool
    """Whether it sends by a stream, which needn't wait for the program."""


@dataclass(frozen=True)
class Receipt:
    """Words that the host is to get: of each PE in the order of a rectangle."""

    color: int
    spots: tuple[Spot, ...]
    first: tuple[int, ...]
    """Of each PE's words, those from here on."""
    count: int


@dataclass
class Session:
    """One machine and what its host has asked of it."""

    device: Device
    _pending: deque[Command] = field(default_factory=deque)
    _receipts: dict[int, Receipt] = field(default_factory=dict)
    _results: dict[int, bytes] = field(default_factory=dict)
    _taken: dict[tuple[int, Spot], int] = field(default_factory=dict)
    _tickets: int = 0
    _streamed: bool = False
    """Whether words were sent since the program was last at rest."""

    def submit(self, act: Callable[[], bytes], *, stream: bool = False) -> int:
        """Queue a command; its ticket."""
        self._tickets += 1
        self._pending.append(Command(self._tickets, act, stream))
        return self._tickets

    def receive(self, color: int, spots: Sequence[Spot], count: int) -> int:
        """Reserve the next `count` words of each PE; the ticket."""
        self._tickets += 1
        first = tuple(self._taken.get((color, spot), 0) for spot in spots)
        for spot, start in zip(spots, first, strict=True):
            self._taken[color, spot] = start + count
        self._receipts[self._tickets] = Receipt(color, tuple(spots), first, count)
        return self._tickets

    def wait(self, ticket: int) -> bytes:
        """What a ticket's command gives, after all before it. Raises ProgramHaltedError."""
        while self._pending and self._pending[0].ticket <= ticket:
            self._next()
        receipt = self._receipts.pop(ticket, None)
        if receipt is not None:
            return self._received(receipt)
        return self._results.pop(ticket, b"")

    def stop(self) -> None:
        """All that was asked for, and then until nothing moves. Raises ProgramHaltedError.

        What nobody has waited for stays to be had by its ticket.
        """
        while self._pending:
            self._next()
        for ticket in sorted(self._receipts):
            self._results[ticket] = self._received(self._receipts.pop(ticket))
        _checked(self.device.run_ready())
        outcome = self.device.run_quiet()
        # A program need not come to an end of its own.
        if outcome.halt is not None and outcome.halt.kind is not HaltKind.CYCLE_LIMIT:
            raise ProgramHaltedError(outcome)

    def _next(self) -> None:
        command = self._pending[0]
        if command.stream:
            self._streamed = True
        else:
            if self._streamed:
                # A copy takes the host far longer than the PEs need for what they were sent.
                self._streamed = False
                self.device.run_quiet(wanted=self._wanted())
            outcome = self.device.run_ready(wanted=self._wanted())
            if outcome.text:
                later = next((one for one in self._pending if one.stream), None)
                if outcome.halt is not None or later is None:
                    raise ProgramHaltedError(outcome)
                command = later
        self._pending.remove(command)
        self._results[command.ticket] = command.act()

    def _wanted(self) -> Wanted:
        """All that the host waits for."""
        return {
            (x, y, one.color): one.first[row] + one.count
            for _, one in sorted(self._receipts.items())
            for row, (x, y) in enumerate(one.spots)
        }

    def _received(self, receipt: Receipt) -> bytes:
        ends = [start + receipt.count for start in receipt.first]
        own = {(x, y, receipt.color): end for (x, y), end in zip(receipt.spots, ends, strict=True)}
        outcome = self.device.run_received({**own, **self._wanted()})
        got = [self.device.received(receipt.color, x, y) for x, y in receipt.spots]
        if any(len(words) < end for words, end in zip(got, ends, strict=True)):
            raise ProgramHaltedError(outcome)
        rows = [
            words[start:end] for words, start, end in zip(got, receipt.first, ends, strict=True)
        ]
        return np.array(rows, "<u4").tobytes()


def _checked(outcome: Stopped) -> None:
    if outcome.text:
        raise ProgramHaltedError(outcome)
