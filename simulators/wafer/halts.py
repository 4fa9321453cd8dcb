"""Why a program stops where it should not: data, not exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .program import Place


class HaltKind(IntEnum):
    """The causes."""

    NONE = 0
    INDEX = 1
    ADDRESS = 2
    DIVIDE = 3
    ASSERT = 4
    RUNAWAY = 5
    DSD_RANGE = 6
    DSD_KIND = 7
    MICROTHREAD_BUSY = 8
    QUEUE_BUSY = 9
    STACK = 10
    FIFO_FAULT = 11
    DEADLOCK = 12
    CYCLE_LIMIT = 13
    NO_COLOR = 14
    NOT_ASYNC = 15
    UNBOUND = 16
    FUNCTION = 17


TEXTS: dict[HaltKind, str] = {
    HaltKind.INDEX: "index {a} is outside an array of {b} elements",
    HaltKind.ADDRESS: "address {a} is not in this PE's memory of {b} bytes, or not even",
    HaltKind.DIVIDE: "division by zero",
    HaltKind.ASSERT: "@assert failed",
    HaltKind.RUNAWAY: "a task ran {a} instructions without an end: an infinite loop",
    HaltKind.DSD_RANGE: "a DSD goes from byte {a} to byte {b}, which is not inside one variable",
    HaltKind.DSD_KIND: "an operand can't stand here: DSD kind {a}, in place {b}",
    HaltKind.MICROTHREAD_BUSY: "microthread {a} still runs an operation when another starts on it",
    HaltKind.QUEUE_BUSY: "queue {a} is in use by another operation",
    HaltKind.STACK: "functions call each other deeper than the frames that there are",
    HaltKind.FIFO_FAULT: "a FIFO whose action is `fault` was {a}",
    HaltKind.NO_COLOR: "output queue {a} has no colour, or the colour has no route at this PE",
    HaltKind.NOT_ASYNC: "an asynchronous operation needs a fabric operand or a FIFO",
    HaltKind.UNBOUND: "task id {a} is activated, but nothing is bound to it",
    HaltKind.FUNCTION: "a pointer to a function holds {a}, which is none",
    HaltKind.CYCLE_LIMIT: "the limit of {a} cycles was reached",
}


@dataclass(frozen=True)
class Halt:
    """A program's end by its own mistake."""

    kind: HaltKind
    x: int
    y: int
    task: str
    place: Place | None
    text: str
    cycle: int

    def __str__(self) -> str:
        """One line, the place first."""
        at = f"{self.place.file}:{self.place.line}:{self.place.column}: " if self.place else ""
        where = f" [PE ({self.x}, {self.y}), task {self.task or '-'}, cycle {self.cycle}]"
        return f"{at}{self.text}{where if self.x >= 0 else ''}"
