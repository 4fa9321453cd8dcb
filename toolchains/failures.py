"""What a child reported, or did not, as a `Failure` with the place in the agent's own files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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
_STACK = re.compile(r'^ {2}File "[^"]*/src/([^"/]+)", line (\d+) in ', re.M)
"""A line of faulthandler's: innermost first."""
_LINE_END = re.compile(r"\r\n|\r|\n")
"""As Python counts lines; str.splitlines ends some more."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PLACE = re.compile(r'File "(?:[^"]*/)?src/([^"/]+)", line (\d+)')
"""How numba names a line; the submission lies in a folder `src` (toolchains/child/runner.py)."""
_BOILERPLATE = re.compile(r"Failed in \w+ mode pipeline")
_CONTEXT = re.compile(r'\s*(File "|During: |There are \d+ candidate|This error m|Enable logging)')
"""Where numba goes on from what is wrong to where it was, and to what else it tried."""
_ARGUMENT = re.compile(r"^- (argument \d+: .*)", re.MULTILINE)
_REJECTED = re.compile(r"raised a specific error:\n((?:.*\n?){1,3})")
_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
_CALLEE = re.compile(r"CPUDispatcher\(<function (\w+)")
_NOT_CALLED = re.compile(r"defines no function")
_LONGEST = 2000
_LONGEST_COMPILE = 600


@dataclass(frozen=True)
class _Place:
    file: str
    line: int
    column: int = 0
    """From 1; 0 if not known."""


def raised_failure(
    fault: wire.Fault, submission: Submission, stage: Status, printed: str
) -> Failure:
    """An exception, a compile error, a contract mistake or a refusal."""
    status, kind = _KINDS[fault.kind]
    full = _ANSI.sub("", fault.message).strip()
    text = _plain(full, submission)
    name = "" if kind is FailureKind.CONTRACT else fault.type_name
    if kind is FailureKind.COMPILE:
        message = _shortened(_titled(name, _headline(text)), _LONGEST_COMPILE)
    else:
        message = _shortened(_titled(name, text))
    return Failure(
        status=status,
        stage=_reached(fault, stage),
        kind=kind,
        message=message,
        diagnostics=_diagnostics(message, _places(fault, text, full, submission), submission),
        output=printed,
        details=full if kind is FailureKind.COMPILE and full not in message else "",
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


def placed(failure: Failure, submission: Submission) -> Failure:
    """The failure with the places of a stack that the child left in its output, if it did."""
    found = _STACK.findall(failure.output)
    places = tuple(_Place(f, int(n)) for f, n in found if f in submission.files)
    if not places or failure.kind is FailureKind.CANCELLED:
        return failure
    diagnostics = _diagnostics(failure.message, places[:4], submission)
    return replace(failure, diagnostics=diagnostics)


def lying_failure(detail: str, stage: Status) -> Failure:
    """A reply that the child program can't have made by itself."""
    message = f"the reply of the kernel's process is inconsistent: {detail}"
    return Failure(Status.ERROR, stage, FailureKind.INTEGRITY, message)


def _reached(fault: wire.Fault, stage: Status) -> Status:
    """A kernel whose result is not what the contract asks for has terminated, but for a result."""
    broken = fault.kind in (wire.FaultKind.CONTRACT, wire.FaultKind.OVERLAP)
    returned = broken and not _NOT_CALLED.search(fault.message)
    return Status.ROUNDTRIPS if returned and stage is Status.TERMINATES else stage


def _titled(name: str, text: str) -> str:
    return f"{name}: {text}" if name and text else name or text


def _plain(text: str, submission: Submission) -> str:
    """Without addresses, and with the submission's files by their names alone."""
    names = "|".join(re.escape(name) for name in submission.files)
    return re.sub(rf"[\w./-]*\bsrc/({names})\b", r"\1", _ADDRESS.sub("", text))


def _headline(text: str) -> str:
    """What numba says is wrong, and for which types; not where, nor every candidate it tried."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and _CONTEXT.match(line):
            break
        if line.strip() and not _BOILERPLATE.search(line):
            lines.append(line.strip())
    rejected = [
        line.strip()
        for reason in _REJECTED.findall(text)
        for line in reason.splitlines()[:2]
        if line.strip() and not _BOILERPLATE.search(line)
    ]
    return "\n".join(dict.fromkeys((*lines, *_ARGUMENT.findall(text), *rejected[:2])))


def _places(fault: wire.Fault, text: str, full: str, submission: Submission) -> tuple[_Place, ...]:
    """Where it happened, innermost first, then the callers."""
    traced = [_Place(f.file, f.line, f.column) for f in reversed(fault.frames)]
    if fault.kind is not wire.FaultKind.COMPILE:
        return tuple(traced)
    # Numba prints the cause first and then who called it, each place up to twice.
    found = [m for m in _PLACE.finditer(full) if m[1] in submission.files]
    own = [_Place(m[1], int(m[2])) for m in found]
    undefined = _UNDEFINED.search(text)
    if undefined is None:
        return (*own, *traced)
    before = full[: found[0].start()] if found else full
    callee = _CALLEE.search(before)
    used = _used(undefined[1], callee[1] if callee else "", submission)
    return (*used, *own, *traced)


def _used(name: str, function: str, submission: Submission) -> list[_Place]:
    """Where a name first stands in a function: numba does not tell the line of an unknown name."""
    define = re.compile(rf"\s*def {function or '.*'}\b")
    word = re.compile(rf"(?<![\w.]){name}\b")
    for file, source in submission.files.items():
        within = False
        for number, line in enumerate(_LINE_END.split(source), start=1):
            within = within or define.match(line) is not None
            found = word.search(line.partition("#")[0]) if within else None
            if found:
                return [_Place(file, number, found.start() + 1)]
    return []


def _diagnostics(
    message: str, places: tuple[_Place, ...], submission: Submission
) -> tuple[Diagnostic, ...]:
    if not places:
        return (Diagnostic("error", message),)
    distinct = {(place.file, place.line): place for place in reversed(places)}
    first, *callers = reversed(distinct.values())
    notes = (_at(place, "called from here", "note", submission) for place in callers[:3])
    return (_at(first, message, "error", submission), *notes)


def _at(place: _Place, message: str, severity: str, submission: Submission) -> Diagnostic:
    lines = _LINE_END.split(submission.files.get(place.file, ""))
    if not 1 <= place.line <= len(lines):
        return Diagnostic(severity, message, place.file or None, place.line or None)
    source = lines[place.line - 1].rstrip()
    indented = len(source) - len(source.lstrip()) + 1
    column = place.column if 1 <= place.column <= len(source) + 1 else indented
    return Diagnostic(severity, message, place.file, place.line, column, source)


def _shortened(message: str, limit: int = _LONGEST) -> str:
    """Both ends matter most: what it is, and what it was about."""
    text = message.strip()
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[…]\n{text[-limit // 3 :]}"
