"""What a child reported, or did not, as a `Failure` with the place in the agent's own files."""

from __future__ import annotations

import re

from kernels.records import Diagnostic, Failure, FailureKind, Status, Submission
from toolchains.child import wire

_KINDS: dict[wire.FaultKind, tuple[Status, FailureKind]] = {
    wire.FaultKind.SYNTAX: (Status.ERROR, FailureKind.SYNTAX),
    wire.FaultKind.IMPORT: (Status.ERROR, FailureKind.EXCEPTION),
    wire.FaultKind.COMPILE: (Status.ERROR, FailureKind.COMPILE),
    wire.FaultKind.EXCEPTION: (Status.ERROR, FailureKind.EXCEPTION),
    wire.FaultKind.CONTRACT: (Status.ERROR, FailureKind.CONTRACT),
    wire.FaultKind.MEMORY: (Status.ERROR, FailureKind.MEMORY),
    wire.FaultKind.OVERLAP: (Status.ERROR, FailureKind.CONTRACT),
    wire.FaultKind.UNSUPPORTED: (Status.REFUSED, FailureKind.UNSUPPORTED),
}
_GONE: dict[str, FailureKind] = {
    "timeout": FailureKind.TIMEOUT,
    "exit": FailureKind.CRASH,
    "closed": FailureKind.CANCELLED,
    "protocol": FailureKind.INTEGRITY,
}
_NUMBA_PLACE = re.compile(r'File "(?:[^"]*/)?([^"/]+)", line (\d+)')
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def raised_failure(
    fault: wire.Fault, submission: Submission, stage: Status, printed: str
) -> Failure:
    """An exception, a compile error, a contract mistake or a refusal."""
    status, kind = _KINDS[fault.kind]
    text = _ANSI.sub("", fault.message)
    message = text if kind is FailureKind.CONTRACT else f"{fault.type_name}: {text}"
    return Failure(
        status=status,
        stage=stage,
        kind=kind,
        message=_shortened(message),
        diagnostics=_diagnostics(fault, text, submission),
        output=printed,
    )


def gone_failure(reason: str, detail: str, stage: Status, printed: str) -> Failure:
    """A child that gave no reply: too slow, ended, killed, or talking nonsense."""
    kind = _GONE[reason]
    texts = {
        FailureKind.TIMEOUT: "it did not finish before its deadline and was killed",
        FailureKind.CRASH: f"the kernel's process ended before it replied: {detail}",
        FailureKind.CANCELLED: "the call was cancelled; the kernel's processes were killed",
        FailureKind.INTEGRITY: f"the kernel's process sent {detail}",
    }
    return Failure(Status.ERROR, stage, kind, texts[kind], output=printed)


def lying_failure(detail: str, stage: Status) -> Failure:
    """A reply that the child program can't have made by itself."""
    message = f"the reply of the kernel's process is inconsistent: {detail}"
    return Failure(Status.ERROR, stage, FailureKind.INTEGRITY, message)


def _diagnostics(fault: wire.Fault, text: str, submission: Submission) -> tuple[Diagnostic, ...]:
    places = [(f.file, f.line) for f in reversed(fault.frames)]
    if fault.kind is wire.FaultKind.COMPILE:
        own = [(f, int(n)) for f, n in _NUMBA_PLACE.findall(text) if f in submission.files]
        # Numba reports from the outermost call inwards; the last place is where it hurts.
        places = own[::-1] + places
    message = _shortened(f"{fault.type_name}: {text}")
    first = _at(places[0], message, "error", submission) if places else None
    if first is None:
        return (Diagnostic("error", message),)
    notes = (_at(p, "called from here", "note", submission) for p in _distinct(places)[1:4])
    return (first, *(n for n in notes if n is not None))


def _distinct(places: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return list(dict.fromkeys(places))


def _at(
    place: tuple[str, int], message: str, severity: str, submission: Submission
) -> Diagnostic | None:
    file, line = place
    text = submission.files.get(file)
    lines = text.splitlines() if text is not None else []
    if not 1 <= line <= len(lines):
        return Diagnostic(severity, message, file or None, line or None)
    source = lines[line - 1]
    column = len(source) - len(source.lstrip()) + 1
    return Diagnostic(severity, message, file, line, column, source.strip())


def _shortened(message: str, limit: int = 2000) -> str:
    """Numba's messages run to pages; both ends matter, the middle is candidates."""
    text = message.strip()
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[…]\n{text[-limit // 3 :]}"
