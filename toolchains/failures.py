"""What a child reported, or did not, as a `Failure` with the place in the agent's own files."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from kernels.records import Diagnostic, Failure, FailureKind, Status, Submission
from kernels.tasks import TASKS
from kernels.tasks.base import StageTask
from toolchains.child import wire
from toolchains.gist import gist

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
_COMPILER = "/numba/core/"
_STACK = re.compile(r'^ {2}File "[^"]*/src/([^"/]+)", line (\d+) in ', re.M)
"""A line of faulthandler's: innermost first."""
_LINE_END = re.compile(r"\r\n|\r|\n")
"""As Python counts lines; str.splitlines ends some more."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_LIBRARY = re.compile(r" \((?:/[\w.-]+)+\.(?:py|so)\)")
"""Where a module of the child lies: Python adds it to a failed import."""
_PLACE = re.compile(r'File "(?:[^"]*/)?src/([^"/]+)", line (\d+)')
"""How numba names a line; the submission lies in a folder `src` (toolchains/child/runner.py)."""
_RAISED_FROM = re.compile(r"Raised from (\S+) \((\d+)\)")
"""How numba names the line of what its front end does not take."""
_UNIFIED = re.compile(r"Cannot unify .* for '([^\W\d]\w*)(?:\.\d+)*'")
_PASSED = re.compile(r"^- argument \d+: Cannot determine", re.MULTILINE | re.IGNORECASE)
_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
_COMPILED = re.compile(r"jit|vectorize|stencil")
_DEFINE = re.compile(r"\s*def \w")
_CALLEE = re.compile(r"CPUDispatcher\(<function (\w+)")
_ITEM = re.compile(r"\brun returned a tuple whose item (\d+)")
_FLOAT_PLACE = re.compile(
    r"no `a\[i\].*\bi: float|no version of (?:range|zeros|ones|empty|full)\([^)]*float"
    r"|only integers, slices|slice indices must be|'float' object cannot be interpreted"
    r"|sequence of integers or a sin"
)
"""A float stands for an index or a count."""
_NOT_CALLED = re.compile(r"defines no function")
_MOST_READ = 12_000
"""Characters of a message that are searched. A child can send any text, and for a few of the
patterns the time grows with its square: a second at this length."""
_DEVICE = re.compile(
    r"(?P<file>[\w.-]+)(:(?P<line>\d{1,6}): \w+, block |\((?P<of_code>\d{1,6})\): error: )"
)
"""How an emulated launch, or the compiler of device code, says where something is wrong."""
_STOPPED = "StoppedError"
"""Of an emulated launch that would not end (toolchains/child/shims/simt/errors.py)."""
_LONGEST = 2000
_LONGEST_COMPILE = 600


@dataclass(frozen=True)
class _Place:
    file: str
    line: int
    column: int = 0
    """From 1; 0 if not known."""
    said: str = "called from here"
    """What a note at this place says."""


def raised_failure(
    fault: wire.Fault, submission: Submission, stage: Status, printed: str
) -> Failure:
    """An exception, a compile error, a contract mistake or a refusal."""
    status, kind = _KINDS[fault.kind]
    if fault.type_name == _STOPPED:
        kind = FailureKind.TIMEOUT
    full = _readable(_ANSI.sub("", fault.message).strip())
    text = _plain(full, submission)
    name = "" if kind is FailureKind.CONTRACT else fault.type_name
    places = (*_device_places(text, submission), *_places(fault, text, full, submission))
    if kind is FailureKind.COMPILE:
        essence = gist(text)
        message = _shortened(_titled(name, essence.text), _LONGEST_COMPILE)
        places = _pointed(places, essence.needles, submission)
    else:
        message = _shortened(_titled(name, _item_named(text, submission.task)))
    if _FLOAT_PLACE.search(message):
        places = (*places[:1], *_divided(places[:1], submission), *places[1:])
    return Failure(
        status=status,
        stage=_reached(fault, stage),
        kind=kind,
        message=message,
        diagnostics=_diagnostics(message, places, submission),
        output=printed,
        details=full if kind is FailureKind.COMPILE and full not in message else "",
    )


def gone_failure(reason: str, detail: str, stage: Status, printed: str) -> Failure:
    """A child that gave no reply: too slow, ended, killed, or talking nonsense."""
    kind = _GONE[reason]
    texts = {
        FailureKind.TIMEOUT: f"it did not finish before its deadline and was killed ({detail})",
        FailureKind.CRASH: f"the kernel's process ended: {detail}",
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
    message = failure.message
    if failure.kind is FailureKind.TIMEOUT and _COMPILER in failure.output:
        message += ", while numba was compiling"
    elif failure.kind is FailureKind.TIMEOUT and _in_python_loop(places[0], submission):
        message += ", in a loop of plain Python"
    diagnostics = _diagnostics(message, places[:4], submission)
    return replace(failure, message=message, diagnostics=diagnostics)


def _in_python_loop(place: _Place, submission: Submission) -> bool:
    """Whether a line is in a loop of a function that is not compiled."""
    tree = ast.parse(submission.files[place.file])
    around = [n for n in ast.walk(tree) if _spans(n, place.line)]
    decorators = (ast.unparse(d) for n in around for d in getattr(n, "decorator_list", ()))
    compiled = any(_COMPILED.search(d) for d in decorators)
    return not compiled and any(isinstance(n, ast.For | ast.While) for n in around)


def _spans(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)


def lying_failure(detail: str, stage: Status) -> Failure:
    """A reply that the child program can't have made by itself, or that nobody is left to give."""
    if "No such process" in detail:
        return gone_failure("exit", "it died after its reply, before it was read", stage, "")
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
    # From where a path begins only: tried from each of its letters, a long one would take a minute.
    path = rf"(?<![\w./-])[\w./-]*\bsrc/({names})\b"
    return re.sub(path, r"\1", _LIBRARY.sub("", _ADDRESS.sub("", text)))


def _places(fault: wire.Fault, text: str, full: str, submission: Submission) -> tuple[_Place, ...]:
    """Where it happened, innermost first, then the callers."""
    traced = [_Place(f.file, f.line, f.column) for f in reversed(fault.frames)]
    if fault.kind is not wire.FaultKind.COMPILE:
        return tuple(traced)
    # Numba prints the cause first and then who called it, each place up to twice.
    found = [m for m in _PLACE.finditer(full) if m[1] in submission.files]
    own = [_Place(m[1], int(m[2])) for m in found]
    own += [_Place(file, int(n)) for file, n in _RAISED_FROM.findall(text)]
    if _PASSED.search(text):
        # What is wrong is the call: numba points at the function that was called.
        return tuple(traced)
    unified, undefined = _UNIFIED.search(text), _UNDEFINED.search(text)
    if unified and own:
        return (*_set_at(unified[1], own[0], submission), *own, *traced)
    if undefined is None:
        return (*own, *traced)
    before = full[: found[0].start()] if found else full
    callee = _CALLEE.search(before)
    used = _used(undefined[1], callee[1] if callee else "", submission)
    return (*used, *own, *traced)


def _device_places(text: str, submission: Submission) -> tuple[_Place, ...]:
    """Where in device code an emulated launch went wrong, if that is what is told."""
    found = _DEVICE.match(text)
    if found is None or found["file"] not in submission.files:
        return ()
    return (_Place(found["file"], int(found["line"] or found["of_code"])),)


def _readable(message: str) -> str:
    """Its beginning and its end."""
    return _shortened(message, _MOST_READ)


def _item_named(message: str, task_name: str) -> str:
    """With the name of the output that an item of a stage's tuple is."""
    task, found = TASKS.get(task_name), _ITEM.search(message)
    if found is None or not isinstance(task, StageTask) or int(found[1]) >= len(task.outputs):
        return message
    return f"{message[: found.end()]} (`{task.outputs[int(found[1])]}`){message[found.end() :]}"


def _divided(places: tuple[_Place, ...], submission: Submission) -> list[_Place]:
    """Where the variables of a line became floats by `/`, in its function and above it."""
    for place in places:
        source = submission.files.get(place.file, "")
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return []
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        around = [n for n in functions if _spans(n, place.line)]
        body = list(ast.walk(max(around, key=lambda n: n.lineno) if around else tree))
        line = [n for n in body if getattr(n, "lineno", 0) == place.line]
        indices: list[ast.AST] = [n.slice for n in line if isinstance(n, ast.Subscript)]
        counts: list[ast.AST] = [a for n in line if isinstance(n, ast.Call) for a in n.args]
        names = (n for part in indices or counts for n in ast.walk(part))
        return _divisions(body, {n.id for n in names if isinstance(n, ast.Name)}, place)
    return []


def _divisions(body: list[ast.AST], used: set[str], place: _Place) -> list[_Place]:
    found: dict[str, _Place] = {}
    for node in body:
        if not isinstance(node, ast.Assign | ast.AugAssign) or node.lineno >= place.line:
            continue
        operators = [n.op for n in ast.walk(node) if isinstance(n, ast.BinOp | ast.AugAssign)]
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)} & used
        for name in names:
            if any(isinstance(operator, ast.Div) for operator in operators):
                said = f"`{name}` becomes a float here: / gives one even of integers, // does not"
                found[name] = _Place(place.file, node.lineno, said=said)
    return list(found.values())


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


def _set_at(name: str, where: _Place, submission: Submission) -> list[_Place]:
    """Where a variable is set in the function around `where`, the last place first."""
    lines = _LINE_END.split(submission.files.get(where.file, ""))
    begin = max((n for n in range(where.line) if _DEFINE.match(lines[n : n + 1][0])), default=0)
    end = next((n for n in range(where.line, len(lines)) if _DEFINE.match(lines[n])), len(lines))
    sets = re.compile(rf"\s*(?:.*, *)?{name}(?:, *\w+)*\s*(?:[-+*/%&|^]|<<|>>|//)?=(?!=)")
    found = [n + 1 for n in range(begin, end) if sets.match(lines[n])]
    said = f"`{name}` is set here too"
    return [_Place(where.file, n, said=said) for n in reversed(found)]


def _pointed(
    places: tuple[_Place, ...], needles: tuple[str, ...], submission: Submission
) -> tuple[_Place, ...]:
    """The first place with its column, if what the message is about stands there once."""
    if not places or places[0].column:
        return places
    first = places[0]
    lines = _LINE_END.split(submission.files.get(first.file, ""))
    line = lines[first.line - 1] if 1 <= first.line <= len(lines) else ""
    for needle in needles:
        found = [m.start() for m in re.finditer(needle, line.partition("#")[0])]
        if len(found) == 1:
            return (replace(first, column=found[0] + 1), *places[1:])
    return places


def _diagnostics(
    message: str, places: tuple[_Place, ...], submission: Submission
) -> tuple[Diagnostic, ...]:
    if not places:
        return (Diagnostic("error", message),)
    distinct = {(place.file, place.line): place for place in reversed(places)}
    first, *callers = reversed(distinct.values())
    notes = (_at(place, place.said, "note", submission) for place in callers[:3])
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
