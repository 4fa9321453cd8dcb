"""How far a kernel got, where it ran and what stopped it: the words that all records share."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How far a kernel got (the ladder, in order), or why it is not on the ladder."""

    RECEIVED = "received"
    PARSED = "parsed"
    COMPILED = "compiled"
    LOADS = "loads"
    TERMINATES = "terminates"
    ROUNDTRIPS = "roundtrips"
    BOUND_OK = "bound_ok"
    TIMED = "timed"

    RUNNING = "running"
    REJECTED = "rejected"
    REFUSED = "refused"
    ERROR = "error"
    SUSPECT = "suspect"
    INCONCLUSIVE = "inconclusive"


class Execution(StrEnum):
    """How a target runs here. Results of different executions are never ranked together."""

    HARDWARE = "hardware"
    EMULATED = "emulated"
    SIMULATED = "simulated"


class FailureKind(StrEnum):
    """What stopped a kernel; the causes that feedback and the `failure_modes` view tell apart."""

    SYNTAX = "syntax"
    """The source does not parse."""
    COMPILE = "compile"
    """The target's compiler refused it (for numba: a typing or lowering error)."""
    TRIPWIRE = "tripwire"
    """A static check refused it before it ran."""
    CONTRACT = "contract"
    """It ran but broke the calling contract: entry points, types, shapes, sizes."""
    EXCEPTION = "exception"
    """It raised."""
    TIMEOUT = "timeout"
    """It did not finish before its deadline."""
    BUSY = "busy"
    """Other work on the machine disturbed the measurement; nothing is wrong with the kernel."""
    PEER = "peer"
    """The kernel that it was to be compared with failed; nothing is known to be wrong with it."""
    CRASH = "crash"
    """Its process ended without replying."""
    MEMORY = "memory"
    """It asked for more memory than it may have, or compiled code went outside an array."""
    BOUND = "bound"
    """The error bound does not hold, or a stage's output differs from the golden answer."""
    ORDER = "order"
    """Its result depends on the order in which threads run: a race."""
    FORMAT = "format"
    """The stream is not the specified format, or the kernel can't read the golden stream."""
    UNSUPPORTED = "unsupported"
    """It refused by raising NotImplementedError."""
    INTEGRITY = "integrity"
    """A physical limit or an integrity check was broken; the result is `suspect`."""
    CANCELLED = "cancelled"
    """The caller went away."""
