"""Exceptions of a submission as `Fault` records: kind, message, and the lines in its own files."""

from __future__ import annotations

import traceback
from pathlib import Path

from numba.core.errors import NumbaError

from .wire import Fault, FaultKind, Frame


class ContractError(Exception):
    """The kernel ran, but what it returned is not what the contract asks for."""


class OverlapError(Exception):
    """Results of one request share memory, so they can't stay where they are."""


def fault_of(error: BaseException, item: int, sources: Path, *, importing: bool) -> Fault:
    """Describe `error`, which escaped from the submission in `sources`."""
    message = _text(error)
    if isinstance(error, SystemExit):
        message = f"the kernel called sys.exit({message})"
    return Fault(
        kind=_kind(error, importing),
        item=item,
        type_name=type(error).__name__,
        message=message,
        frames=_frames(error, sources),
        line=(error.lineno or -1) if isinstance(error, SyntaxError) else -1,
    )


def _text(error: BaseException) -> str:
    # An exception class of the submission may fail even at being printed.
    try:
        return str(error)
    except BaseException as inner:  # noqa: BLE001
        return f"(its message could not be read: {type(inner).__name__})"


def _kind(error: BaseException, importing: bool) -> FaultKind:
    match error:
        case SyntaxError():
            return FaultKind.SYNTAX
        case NumbaError():
            return FaultKind.COMPILE
        case MemoryError():
            return FaultKind.MEMORY
        case ContractError():
            return FaultKind.CONTRACT
        case OverlapError():
            return FaultKind.OVERLAP
        case NotImplementedError():
            return FaultKind.UNSUPPORTED
    return FaultKind.IMPORT if importing else FaultKind.EXCEPTION


def _frames(error: BaseException, sources: Path) -> tuple[Frame, ...]:
    root = str(sources)
    found = [
        Frame(frame.filename[len(root) + 1 :], frame.lineno or 0, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(root + "/")
    ]
    if isinstance(error, SyntaxError) and error.filename:
        found.append(Frame(Path(error.filename).name, error.lineno or 0, ""))
    return tuple(found)
