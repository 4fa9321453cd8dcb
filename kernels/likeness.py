"""A hash that programs share if they differ only in how they are written: files in, hex out.

Python is compared by its syntax tree: names of variables and functions, spellings of constants,
comments, docstrings, annotations, the order of functions, imports and the files they stand in don't
count; what is computed does. Whatever does not parse, is in another language or is a very long
file is compared by its tokens (`token_likeness`). Any text has a likeness; nothing here recurses.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kernels.token_likeness import token_text

PARSED_LIMIT = 64 << 10
"""Characters of a file up to which it is parsed: no other thread goes on meanwhile."""

ENTRY_POINTS = frozenset({"compress", "decompress", "run"})
"""Functions that are found by their names."""

_ROUNDS = 2
"""How far a function is told apart by the functions that it uses."""

_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""What `ast.parse` raises, given any text; ValueError for NUL and lone surrogates."""

_IGNORED = frozenset({"annotation", "returns", "type_comment", "type_params", "ctx", "kind"})
"""Fields of a syntax tree that decide nothing."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def likeness(files: Mapping[str, str]) -> str:
    """SHA-256 (hex) of the normalised program in `files`, name → text."""
    modules: dict[str, ast.Module] = {}
    pieces: list[str] = []
    for name, text in files.items():
        tree = _parsed(text) if name.endswith(".py") and len(text) <= PARSED_LIMIT else None
        if tree is None:
            pieces.append(_digest(token_text(text, python=name.endswith(".py"))))
        else:
            modules[name.removesuffix(".py")] = tree
    pieces += _program(modules)
    return hashlib.sha256("\n".join(sorted(pieces)).encode()).hexdigest()


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except _UNPARSABLE:
        return None


def _digest(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass
class _Imports:
    """What the imports at a module's top level call things by there."""

    outside: dict[str, str] = field(default_factory=dict)
    """Name here → its parts, as an attribute chain is written down."""
    own: dict[str, str] = field(default_factory=dict)
    """Name here → name in another file of the submission."""
    modules: set[str] = field(default_factory=set)
    """Names here of other files of the submission."""


@dataclass
class _Statement:
    """A statement at a module's top level, written down with its names left open."""

    imports: _Imports
    parts: list[str] = field(default_factory=list)
    names: list[tuple[int, str]] = field(default_factory=list)
    """Places in `parts` that stand for a name."""
    bound: set[str] = field(default_factory=set)
    """Names that are variables of this statement alone."""
    shared: set[str] = field(default_factory=set)
    """Names that it declares global."""
    defines: set[str] = field(default_factory=set)
    """Names of the program that it gives a meaning."""
    links: list[tuple[int, str]] = field(default_factory=list)
    """Places that stand for a name of the program."""

    def name(self, identifier: str) -> None:
        self.names.append((len(self.parts), identifier))
        self.parts.append("")

    def settle(self, program: set[str]) -> None:
        """Number the variables and find what is the program's, given all of its names."""
        numbers: dict[str, int] = {}
        imports = self.imports
        for place, identifier in self.names:
            known = imports.own.get(identifier, identifier)
            if identifier in self.bound:
                self.parts[place] = f"v{numbers.setdefault(identifier, len(numbers))}"
            elif known in program and known not in ENTRY_POINTS:
                self.links.append((place, known))
            else:
                self.parts[place] = imports.outside.get(identifier, f"n{identifier}")

    def digest(self, labels: Mapping[str, str]) -> str:
        for place, known in self.links:
            self.parts[place] = labels.get(known, "·")
        return _digest("\0".join(self.parts))


def _program(modules: Mapping[str, ast.Module]) -> list[str]:
    """A digest per statement at top level: which module it is in, and where, does not count."""
    statements = [
        statement for tree in modules.values() for statement in _statements(tree, modules.keys())
    ]
    program = {name for one in statements for name in one.defines}
    for one in statements:
        one.settle(program)
    labels: Mapping[str, str] = {}
    for _ in range(_ROUNDS):
        meanings: dict[str, list[str]] = defaultdict(list)
        for one in statements:
            found = one.digest(labels)
            for name in one.defines:
                meanings[name].append(found)
        labels = {name: "".join(sorted(found)) for name, found in meanings.items()}
    return [one.digest(labels) for one in statements]


def _statements(tree: ast.Module, modules: Iterable[str]) -> Iterator[_Statement]:
    body = [node for node in _effective(tree.body) if not _is_import(node)]
    imports = _imports(tree.body, frozenset(modules))
    times: Counter[str] = Counter()
    for node in body:
        statement = _Statement(imports)
        if isinstance(node, _DEFINITIONS):
            statement.defines = {node.name}
            _write(statement, node)
            # A function that calls itself means the program's name.
            statement.bound -= {node.name, *statement.shared}
        else:
            _write(statement, node)
            # Variables of a lambda are its own; all others are the module's.
            arguments = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
            statement.defines = statement.bound - arguments
            statement.bound = arguments
        # The later of two definitions counts, so their order does.
        statement.parts += sorted(str(times[name]) for name in statement.defines if times[name])
        times.update(statement.defines)
        yield statement


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) or (
        isinstance(node, ast.ImportFrom) and all(one.name != "*" for one in node.names)
    )


def _imports(body: Sequence[ast.stmt], modules: frozenset[str]) -> _Imports:
    found = _Imports()
    for node in body:
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name in modules:
                    found.modules.add(one.asname or one.name)
                else:
                    whole = one.name if one.asname else one.name.partition(".")[0]
                    found.outside[one.asname or whole] = _chain(whole)
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                here = one.asname or one.name
                if node.module in modules:
                    found.own[here] = one.name
                else:
                    found.outside[here] = _chain(f"{node.module or ''}.{one.name}")
    return found


def _chain(dotted: str) -> str:
    """As an attribute of a module is written down: `njit` of numba like `numba.njit`."""
    first, *others = dotted.split(".")
    return "\0".join([f"m{first}", *(f".{name}" for name in others)])


_Item = ast.AST | str
"""What is still to be written down."""


def _write(statement: _Statement, node: ast.stmt) -> None:
    """Write a statement down, its nodes in order."""
    pending: list[_Item] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            statement.parts.append(item)
            continue
        items = _WRITERS.get(type(item), _any)(statement, item)
        pending.extend(reversed(items))


def _any(statement: _Statement, node: ast.AST) -> list[_Item]:
    del statement
    items: list[_Item] = [type(node).__name__]
    for name in node._fields:
        if name not in _IGNORED:
            items += _value(getattr(node, name, None))
    return items


def _value(value: object) -> list[_Item]:
    match value:
        case ast.AST():
            return [value]
        case list():
            inner = [item for one in _effective(value) for item in _value(one)]
            return ["[", *inner, "]"]
        case _:
            return [f"={value}"]


def _effective(nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings and other constants that stand alone."""
    return [
        node
        for node in nodes
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def _constant(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, ast.Constant)
    value = node.value
    # Decimal digits of a huge integer take quadratic time, and are refused.
    text = f"{value:x}" if type(value) is int else value if type(value) is str else repr(value)
    statement.parts.append(f"{type(value).__name__}{len(text)}:{text}")
    return []


def _name(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, ast.Name)
    if not isinstance(node.ctx, ast.Load):
        statement.bound.add(node.id)
    statement.name(node.id)
    return []


def _argument(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, ast.arg)
    statement.bound.add(node.arg)
    statement.name(node.arg)
    return []


def _attribute(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, ast.Attribute)
    if isinstance(node.value, ast.Name) and node.value.id in statement.imports.modules:
        statement.name(node.attr)
        return []
    return [node.value, f".{node.attr}"]


def _definition(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, _DEFINITIONS)
    if statement.parts:
        statement.bound.add(node.name)
        statement.name(node.name)
    else:
        statement.parts.append(node.name if node.name in ENTRY_POINTS else "")
    return [item for item in _any(statement, node) if item != f"={node.name}"]


def _annotated(statement: _Statement, node: ast.AST) -> list[_Item]:
    """With a value like an assignment, without one nothing."""
    assert isinstance(node, ast.AnnAssign)
    del statement
    return [] if node.value is None else ["Assign", "[", node.target, "]", node.value]


def _renaming(statement: _Statement, node: ast.AST) -> list[_Item]:
    """An import within a function."""
    assert isinstance(node, ast.alias)
    here = node.asname or node.name.partition(".")[0]
    statement.bound.add(here)
    statement.parts.append(node.name)
    statement.name(here)
    return []


def _declaration(statement: _Statement, node: ast.AST) -> list[_Item]:
    assert isinstance(node, ast.Global | ast.Nonlocal)
    statement.parts.append(type(node).__name__)
    for identifier in node.names:
        statement.name(identifier)
    if isinstance(node, ast.Global):
        statement.shared.update(node.names)
    return []


def _captured(statement: _Statement, node: ast.AST) -> list[_Item]:
    """A name that is a field of something else: of an exception, of a pattern."""
    identifier = getattr(node, "name", None) or getattr(node, "rest", None)
    if identifier is not None:
        statement.bound.add(identifier)
        statement.name(identifier)
    return [item for item in _any(statement, node) if item != f"={identifier}"]


_WRITERS: Mapping[type[ast.AST], Callable[[_Statement, ast.AST], list[_Item]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.arg: _argument,
    ast.Attribute: _attribute,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.AnnAssign: _annotated,
    ast.alias: _renaming,
    ast.Global: _declaration,
    ast.Nonlocal: _declaration,
    ast.ExceptHandler: _captured,
    ast.MatchAs: _captured,
    ast.MatchStar: _captured,
    ast.MatchMapping: _captured,
}
