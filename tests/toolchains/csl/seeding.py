"""Single-edit type errors: every edit of a text that must make a compiler speak at its line.

Used on files that compile without a word: `edits` lists what can be done to one of them, `Seeds`
compiles a program with one file edited and says whether something is reported at that line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes as n
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options
from toolchains.csl.parser import parse
from toolchains.csl.source import Diagnostic, Source

NUMBERS = frozenset({"i16", "u16", "f32", "i32", "u32", "f16", "i8", "u8", "i64", "u64"})
COMPARISONS = frozenset({"==", "<", ">", "<=", ">=", "!="})


@dataclass(frozen=True)
class Edit:
    """Replace a range of a text."""

    kind: str
    start: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        """The text with the mistake."""
        return text[: self.start] + self.new + text[self.end :]

    def lines(self, text: str) -> range:
        """Where it is."""
        first = text.count("\n", 0, self.start) + 1
        return range(first, first + text.count("\n", self.start, self.end) + 1)


Path = tuple[Any, ...]


def _walk(node: Any, path: Path = ()) -> Iterator[tuple[Any, Path]]:
    if isinstance(node, tuple):
        for one in node:
            yield from _walk(one, path)
    elif dataclasses.is_dataclass(node) and hasattr(node, "span"):
        yield node, path
        for field in dataclasses.fields(node):
            yield from _walk(getattr(node, field.name), (*path, node))


def edits(text: str, dialect: str) -> list[Edit]:
    """All single edits that make a type error of a text."""
    module, _ = parse(Source("seeded.csl", "seeded.csl", text), dialect)
    found: list[Edit] = []
    for node, path in _walk(module.items if module is not None else ()):
        rule = _RULES.get(type(node))
        if rule is not None:
            found += rule(node, path, text)
    return found


def parses(text: str, dialect: str) -> bool:
    """Whether nothing but its types can be wrong with a text."""
    _, said = parse(Source("seeded.csl", "seeded.csl", text), dialect)
    return all(one.severity != "error" for one in said)


def _inside(path: Path) -> bool:
    """In the body of a function."""
    return any(isinstance(one, n.FunctionDecl) for one in path)


def _replace(kind: str, node: Any, new: str) -> Edit:
    return Edit(kind, node.span.start, node.span.end, new)


def _number(node: Any) -> bool:
    return isinstance(node, n.Name) and node.name in NUMBERS


def _binary(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if node.operator in COMPARISONS:
        yield _replace("compared", node.right, '"a"')
    elif node.operator in "+-*/" and _inside(path):
        yield _replace("operand", node.left, "true")
        yield _replace("operand", node.right, "true")
        if isinstance(node.right, n.Name) and isinstance(node.left, n.Name | n.Index):
            yield _replace("mixed types", node.right, f"@as(u64, {node.right.name})")


def _call(node: Any, _: Path, __: str) -> Iterator[Edit]:
    end = node.span.end - 1
    yield Edit("one argument more", end, end, ", 1" if node.arguments else "1")
    if node.arguments:
        last = node.arguments[-1].span
        start = node.arguments[-2].span.end if len(node.arguments) > 1 else last.start
        yield Edit("one argument less", start, last.end, "")
        if not isinstance(node.arguments[-1], n.StringLiteral):
            yield _replace("argument", node.arguments[-1], '"s"')


def _builtin(node: Any, _: Path, __: str) -> Iterator[Edit]:
    start = node.name_span.end
    yield Edit("builtin's name", start, start, "x")
    yield Edit("builtin's argument", start + 1, start + 1, "true, " if node.arguments else "true")
    if node.name in _FIRST_IS_NUMBER and node.arguments:
        yield _replace("builtin's argument", node.arguments[0], '"s"')


_FIRST_IS_NUMBER = frozenset(
    {"@get_color", "@get_local_task_id", "@get_input_queue", "@get_output_queue", "@set_rectangle"}
)


def _name(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if not isinstance(path[-1] if path else None, n.FunctionDecl):
        yield Edit("undefined name", node.span.end, node.span.end, "_zz")


def _member(node: Any, _: Path, __: str) -> Iterator[Edit]:
    yield Edit("field", node.name_span.end, node.name_span.end, "_zz")


def _condition(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if _inside(path):
        yield _replace("condition", node.condition, "1")


def _local(node: Any, path: Path, text: str) -> Iterator[Edit]:
    if not _inside(path) or node.value is None:
        return
    if node.type is not None and _number(node.type):
        yield _replace("type of a local", node.type, "bool")
        if node.type.name[0] in "iu" and isinstance(node.value, n.IntLiteral):
            yield _replace("float for int", node.value, "1.5")
    if node.mutable and text.startswith("var", node.span.start):
        body = next((one for one in reversed(path) if isinstance(one, n.Block)), None)
        if body is not None and _assigned(body, node.name):
            yield Edit("const that is assigned", node.span.start, node.span.start + 3, "const")


def _assigned(block: Any, name: str) -> bool:
    return any(
        isinstance(one, n.Assign) and isinstance(one.target, n.Name) and one.target.name == name
        for one, _ in _walk(block.statements)
    )


def _index(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if _inside(path):
        yield _replace("index", node.indices[0], "1.5")


def _return(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if node.value is not None and _inside(path):
        yield _replace("returned value", node.value, '"s"')
        yield Edit("return without value", node.value.span.start - 1, node.value.span.end, "")


def _address(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if _inside(path):
        yield Edit("no address", node.span.start, node.span.start + 1, "")


def _pointed(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if _inside(path):
        yield Edit("no dereference", node.pointer.span.end, node.span.end, "")


def _assign(node: Any, path: Path, _: str) -> Iterator[Edit]:
    if _inside(path):
        yield _replace("assigned value", node.value, '"s"')
        yield Edit("dereference", node.target.span.end, node.target.span.end, ".*")


def _global(node: Any, _: Path, __: str) -> Iterator[Edit]:
    if node.value is not None and node.type is not None:
        if _number(node.type) or (isinstance(node.type, n.Name) and node.type.name == "bool"):
            yield _replace("value of a global", node.value, '"s"')
        if _number(node.type) and node.type.name[0] in "iu":
            yield _replace("float for int", node.value, "1.5")


def _function(node: Any, _: Path, __: str) -> Iterator[Edit]:
    last = node.body.statements[-1] if node.body is not None and node.body.statements else None
    if isinstance(last, n.Return) and last.value is not None:
        yield _replace("missing return", last, "")
        if _number(node.result):
            yield _replace("type of the result", node.result, "bool")


_RULES: Mapping[type, Callable[[Any, Path, str], Iterator[Edit]]] = {
    n.Binary: _binary,
    n.Call: _call,
    n.BuiltinCall: _builtin,
    n.Name: _name,
    n.Member: _member,
    n.If: _condition,
    n.While: _condition,
    n.LocalDecl: _local,
    n.Index: _index,
    n.Return: _return,
    n.AddressOf: _address,
    n.Dereference: _pointed,
    n.Assign: _assign,
    n.Global: _global,
    n.FunctionDecl: _function,
}


@dataclass(frozen=True)
class Build:
    """One compilation of a program."""

    main: str
    options: Options


class Seeds:
    """Programs, the files that each compilation reads, and whether mistakes in them are seen."""

    def __init__(self, builds: Sequence[Build], read: Callable[[str], str]) -> None:
        self.read = read
        self.loud: list[tuple[Build, Diagnostic]] = []
        """What is said, as an error or a warning, of programs without mistakes."""
        self.users: dict[tuple[str, str], list[Build]] = {}
        """By file and dialect; of builds without errors."""
        self._noted: dict[Build, frozenset[str]] = {}
        """What is noted of a build without mistakes: of functions that nothing calls."""
        for build in builds:
            self._take(build)

    def _take(self, build: Build) -> None:
        files: dict[str, None] = {}

        def noted(path: str) -> str:
            files[path] = None
            return self.read(path)

        said = compile_program(build.main, build.options, noted).diagnostics
        self.loud += [(build, one) for one in said if one.severity != "note"]
        self._noted[build] = frozenset(_brief(one) for one in said if one.severity == "note")
        if all(one.severity != "error" for one in said):
            for file in files:
                self.users.setdefault((file, build.options.dialect), []).append(build)

    def seen(self, file: str, dialect: str, edit: Edit) -> tuple[bool, list[str]]:
        """Whether one of the builds with an edited file speaks of its line, and what is said."""
        text = self.read(file)
        changed, lines = edit.apply(text), edit.lines(text)
        texts: list[str] = []
        archs = {one.options.arch: one for one in self.users[file, dialect]}
        for build in archs.values():
            said = compile_program(
                build.main, build.options, lambda path: changed if path == file else self.read(path)
            ).diagnostics
            texts += [str(one).split("\n", 1)[0] for one in said]
            known = self._noted[build]
            if any(_at(one, file, lines) for one in said if _brief(one) not in known):
                return True, texts
        return False, texts


def _brief(one: Diagnostic) -> str:
    """What is said and of which text, wherever that has moved to."""
    return f"{one.code} {one.message}"


def _at(one: Diagnostic, file: str, lines: range) -> bool:
    """Whether it, or what it points at beside, is at one of the lines.

    A number that is no bool is an error where it is used; that the declaration was changed can only
    be pointed at.
    """
    spans = [one.span, *(note.span for note in one.notes)]
    return any(
        span is not None and span.source.path == file and span.line in lines for span in spans
    )
