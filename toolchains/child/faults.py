"""Exceptions of a submission as `Fault` records: kind, message, and the lines in its own files."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path

from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.ir import Loc

from .wire import Fault, FaultKind, Frame


class ContractError(Exception):
    """The kernel ran, but what it returned is not what the contract asks for."""


class OverlapError(Exception):
    """Results of one request share memory, so they can't stay where they are."""


def fault_of(error: BaseException, item: int, sources: Path, *, importing: bool) -> Fault:
    """Describe `error`, which escaped from the submission in `sources`."""
    try:
        return _described(error, item, sources, importing)
    except BaseException:  # noqa: BLE001
        # Its class may lie about anything: name, traceback, position.
        text = "an exception that can't be described"
        return Fault(FaultKind.EXCEPTION, item, "Exception", text, ())


def _described(error: BaseException, item: int, sources: Path, importing: bool) -> Fault:
    message = _text(error)
    if isinstance(error, SystemExit):
        message = f"the kernel called sys.exit({message})"
    kind = _kind(error, sources, importing)
    frames = _frames(error, sources)
    if kind is FaultKind.COMPILE:
        frames = (*frames, *_compiled(error, sources))
    return Fault(
        kind=kind,
        item=item,
        type_name=type(error).__name__,
        message=message,
        frames=frames,
    )


def _text(error: BaseException) -> str:
    # An exception class of the submission may fail even at being printed.
    try:
        return str.__str__(str(error))
    except BaseException as inner:  # noqa: BLE001
        return f"(its message could not be read: {type(inner).__name__})"


def _kind(error: BaseException, sources: Path, importing: bool) -> FaultKind:
    match error:
        case SyntaxError() if _is_own(error.filename, sources):
            return FaultKind.SYNTAX
        case MemoryError():
            return FaultKind.MEMORY
        case ContractError():
            return FaultKind.CONTRACT
        case OverlapError():
            return FaultKind.OVERLAP
        # The latter, strangely, is no NumbaError.
        case NumbaError() | UnsupportedBytecodeError():
            return FaultKind.COMPILE
        case _ if _while_compiling(error):
            return FaultKind.COMPILE
        case NotImplementedError():
            return FaultKind.UNSUPPORTED
    return FaultKind.IMPORT if importing else FaultKind.EXCEPTION


def _compiled(error: BaseException, sources: Path) -> list[Frame]:
    """The line that numba was at work on, which many of its exceptions do not tell.

    Its passes keep it as `loc`, of themselves or of the instruction in hand.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        for name in ("inst", "expr", "stmt", "self"):
            place = getattr(frame.f_locals.get(name), "loc", None)
            if isinstance(place, Loc) and _is_own(place.filename, sources):
                return [Frame(Path(place.filename).name, _count(place.line), "", 0)]
    return []


def _while_compiling(error: BaseException) -> bool:
    """Whether numba's compiler raised it: it lets through what its own parts raise."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__") == "numba.core.dispatcher" for frame in frames)


def _frames(error: BaseException, sources: Path) -> tuple[Frame, ...]:
    found = [
        Frame(Path(frame.filename).name, frame.lineno or 0, frame.name, _column(frame))
        for frame in traceback.extract_tb(error.__traceback__)
        if _is_own(frame.filename, sources)
    ]
    if isinstance(error, SyntaxError) and _is_own(error.filename, sources):
        name = Path(str(error.filename)).name
        found.append(Frame(name, _count(error.lineno), "", _count(error.offset)))
    return tuple(found)


def _column(frame: traceback.FrameSummary) -> int:
    """Where the failing expression begins; Python counts UTF-8 bytes from 0."""
    if frame.colno is None or frame.lineno is None:
        return 0
    line = linecache.getline(frame.filename, frame.lineno).encode()
    return len(line[: frame.colno].decode("utf-8", "ignore")) + 1


def _is_own(filename: object, sources: Path) -> bool:
    """Whether a file is one of the submission's, which has no subfolders."""
    return isinstance(filename, str) and Path(filename).parent == sources


def _count(value: object) -> int:
    # A submission can raise a SyntaxError that holds anything.
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0
