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
import numpy.typing as npt

from .halts import Halt, HaltKind
from .program import Program

Spot = tuple[int, int]
Words = npt.NDArray[np.uint32]


class Stopped(Protocol):
    """How a machine's run ended."""

    @property
    def halt(self) -> Halt | None:
        """The program's mistake, if it was one."""


class Device(Protocol):
    """The machine, as its host uses it."""

    @property
    def program(self) -> Program:
        """What runs."""

    @property
    def cycles(self) -> int:
        """Since the start."""

    @property
    def printed(self) -> Sequence[tuple[int, int, int, int, int]]:
        """By <simprint>: cycle, x, y, kind, value."""

    @property
    def traced(self) -> Sequence[tuple[int, int, int, int, int, int]]:
        """By <debug>: cycle, x, y, kind, value, number of the key."""

    def read(self, x: int, y: int, address: int, count: int) -> bytes:
        """Bytes of a PE's memory."""

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Set bytes of a PE's memory."""

    def launch(self, name: str, args: Sequence[int]) -> None:
        """Start an exported function at every PE."""

    def run(self, until: str) -> Stopped:
        """Until it is `ready` for the next command, or `quiet`."""

    def send(self, color: int, x: int, y: int, words: Sequence[int]) -> None:
        """Queue what a PE is to get from the host."""

    def received(self, color: int, x: int, y: int) -> Sequence[int]:
        """All that the host got from a PE so far."""

    def run_until_received(self, color: int, wanted: Mapping[Spot, int]) -> Stopped:
        """Until the host got so many words of each PE."""


class ProgramHaltedError(Exception):
    """The program stopped by a mistake of its own, or goes no further."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(str(halt))
        self.halt = halt


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
        _checked(self.device.run("ready"))
        halt = self.device.run("quiet").halt
        if halt is not None and halt.kind not in (HaltKind.DEADLOCK, HaltKind.CYCLE_LIMIT):
            raise ProgramHaltedError(halt)

    def _next(self) -> None:
        command = self._pending[0]
        if not command.stream:
            halt = self.device.run("ready").halt
            later = next((one for one in self._pending if one.stream), None)
            if halt is not None:
                if halt.kind is not HaltKind.DEADLOCK or later is None:
                    raise ProgramHaltedError(halt)
                command = later
        self._pending.remove(command)
        self._results[command.ticket] = command.act()

    def _received(self, receipt: Receipt) -> bytes:
        ends = [start + receipt.count for start in receipt.first]
        wanted = dict(zip(receipt.spots, ends, strict=True))
        _checked(self.device.run_until_received(receipt.color, wanted))
        words = np.empty((len(receipt.spots), receipt.count), "<u4")
        for row, (x, y) in enumerate(receipt.spots):
            got = self.device.received(receipt.color, x, y)
            words[row] = got[receipt.first[row] : ends[row]]
        return words.tobytes()


def _checked(outcome: Stopped) -> None:
    if outcome.halt is not None:
        raise ProgramHaltedError(outcome.halt)
