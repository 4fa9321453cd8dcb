"""Static checks before anything of a submission runs: what a kernel has no business with.

They explain early what would fail later, and are a convenience, not the defence: whoever hides a
name from them (getattr, importlib, exec) meets the sandbox, the clock and the checks of what is
returned. So there are few rules, on what honest kernels do not do; the table is `tripwire_table`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from kernels.records import Diagnostic, Failure, FailureKind, Status, Submission
from toolchains import tripwire_table as table
from toolchains.tripwire_table import Topic

_Looked = (
    ast.Import
    | ast.ImportFrom
    | ast.Attribute
    | ast.Call
    | ast.Subscript
    | ast.List
    | ast.Tuple
    | ast.Set
    | ast.Constant
)
_SHOWN = 8
"""Diagnostics of one submission: what is wrong shows in the first few."""
_LONGEST_LINE = 200
_LINE_END = re.compile(r"\r\n|\r|\n")
"""As Python counts lines."""


@dataclass(frozen=True)
class _Hit:
    topic: Topic
    what: str
    line: int
    byte: int
    """Of the line, in UTF-8, from 0: as `ast` counts."""


def tripped(submission: Submission) -> Failure | None:
    """Why the submission is not run; None if nothing in it is refused, or where it does not parse.

    What does not parse is told by the child that compiles it, with the caret.
    """
    own = {name.removesuffix(".py") for name in submission.files if name.endswith(".py")}
    found = tuple(
        islice(
            (
                _diagnostic(hit, name, text)
                for name, text in sorted(submission.files.items())
                if name.endswith(".py")
                for hit in _hits(text, own)
            ),
            _SHOWN,
        )
    )
    if not found:
        return None
    return Failure(
        Status.REJECTED,
        Status.COMPILED,
        FailureKind.TRIPWIRE,
        f"rejected before anything ran: {found[0].message}",
        found,
    )


def _diagnostic(hit: _Hit, file: str, text: str) -> Diagnostic:
    line = _LINE_END.split(text)[hit.line - 1]
    column = 1 + len(line.encode()[: hit.byte].decode(errors="replace"))
    message = f"{hit.what}: a kernel has no business with {hit.topic}"
    return Diagnostic("error", message, file, hit.line, column, line[:_LONGEST_LINE])


def _hits(text: str, own: set[str]) -> Iterator[_Hit]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = [node for node in ast.walk(tree) if isinstance(node, _Looked)]
    names = _imported(nodes, own)
    for node in nodes:
        for topic, what in _found(node, names, own):
            yield _Hit(topic, what, node.lineno, node.col_offset)


def _imported(nodes: list[_Looked], own: set[str]) -> dict[str, str]:
    """Local name → dotted name of what it stands for, of modules that are not the submission's."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                root = one.name.partition(".")[0]
                names[one.asname or root] = one.name if one.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update(
                {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            )
    return {name: whole for name, whole in names.items() if whole.partition(".")[0] not in own}


def _found(node: _Looked, names: Mapping[str, str], own: set[str]) -> Iterator[tuple[Topic, str]]:
    """What of one node is refused: usually nothing."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from _import(node, own)
        case ast.Attribute():
            yield from _attribute(node, names)
        case ast.Call():
            yield from _call(node, names, own)
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            if _dotted(node.value, names) == "sys.modules":
                yield Topic.PATCHING, "a write to sys.modules"
        case ast.List() | ast.Tuple() | ast.Set() if _is_large(node.elts):
            yield Topic.EMBEDDED, f"a literal of {len(node.elts)} elements"
        case ast.Constant(value=str() | bytes() as value) if _is_data(value):
            yield Topic.EMBEDDED, f"a literal of {len(value)} characters"


def _module(name: str, own: set[str]) -> Iterator[tuple[Topic, str]]:
    root = name.partition(".")[0]
    topic = table.MODULES.get(root)
    if topic is not None and root not in own:
        yield topic, f"import of {name}"


def _import(node: ast.Import | ast.ImportFrom, own: set[str]) -> Iterator[tuple[Topic, str]]:
    if isinstance(node, ast.Import):
        for one in node.names:
            yield from _module(one.name, own)
    elif node.module and not node.level and node.module not in own:
        yield from _module(node.module, own)
        for one in node.names:
            whole = f"{node.module}.{one.name}"
            if whole in table.NAMES:
                yield table.NAMES[whole], f"import of {whole}"


def _attribute(node: ast.Attribute, names: Mapping[str, str]) -> Iterator[tuple[Topic, str]]:
    if node.attr in table.FRAME_ATTRIBUTES:
        yield Topic.FRAMES, f"use of .{node.attr}"
        return
    whole = _dotted(node, names)
    if whole in table.NAMES:
        yield table.NAMES[whole], f"use of {whole}"
    elif whole and not isinstance(node.ctx, ast.Load) and _is_foreign(whole):
        yield Topic.PATCHING, f"an assignment to {whole}"


def _call(node: ast.Call, names: Mapping[str, str], own: set[str]) -> Iterator[tuple[Topic, str]]:
    called = _called(node.func, names)
    first = node.args[0] if node.args else None
    text = first.value if isinstance(first, ast.Constant) else None
    if called in table.IMPORTERS and isinstance(text, str):
        yield from _module(text, own)
    elif called in table.OPENERS and isinstance(text, str) and _lies_outside(text):
        yield Topic.FILES, f"{called} of {text[:80]!r}"
    elif called in ("setattr", "delattr") and first is not None:
        target = _dotted(first, names)
        if target and _is_foreign(f"{target}."):
            yield Topic.PATCHING, f"{called} on {target}"
    elif called in ("exec", "eval", "compile") and first is not None:
        decoders = (_called(n.func, names) for n in ast.walk(first) if isinstance(n, ast.Call))
        decoder = next((one for one in decoders if one in table.DECODERS), None)
        if decoder:
            yield Topic.DECODED, f"{called} of what {decoder} returns"


def _called(function: ast.expr, names: Mapping[str, str]) -> str:
    """Dotted name of what is called; of a method on anything else its name after a dot."""
    if isinstance(function, ast.Name):
        return names.get(function.id, function.id)
    if isinstance(function, ast.Attribute):
        return _dotted(function, names) or f".{function.attr}"
    return ""


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """`numpy.random.seed` of `np.random.seed`; empty if it does not begin with an imported name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join((names[node.id], *reversed(parts)))


def _is_foreign(whole: str) -> bool:
    """Whether `whole` is of a module that other code relies on."""
    return whole.partition(".")[0] in table.RELIED_ON and not whole.startswith(table.SETTABLE)


def _lies_outside(path: str) -> bool:
    return path.startswith("/") and path not in table.HARMLESS_FILES


def _is_large(elements: list[ast.expr]) -> bool:
    """Whether it is a list of more numbers than an honest table has."""
    return len(elements) > table.MOST_ELEMENTS and all(
        isinstance(one.operand if isinstance(one, ast.UnaryOp) else one, ast.Constant)
        for one in elements
    )


def _is_data(value: str | bytes) -> bool:
    """Whether a long text is neither prose nor source: those have blanks."""
    if len(value) <= table.LONGEST_LITERAL:
        return False
    return isinstance(value, bytes) or len(value) > table.LONGEST_WORDS * len(value.split())
