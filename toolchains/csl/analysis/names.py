"""What names mean: globals of an instance of a module, names of blocks and of the language.

A module's globals are slots that are evaluated when they are first needed. In a block a name is a
value (`Known`), a variable of the compilation (`Cell`) or one of the program (`Runtime`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Context, Evaluator, Item, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.tile import Tile
from toolchains.csl.types import Type
from toolchains.csl.values import DIRECTIONS, FunctionValue, Known, Variable

ANYTYPE = types.Simple("anytype")
"""Stands for a parameter's type where that depends on the call."""


# --- modules -----------------------------------------------------------------------------------


class State(IntEnum):
    """Of a slot's evaluation."""

    FRESH = 0
    ACTIVE = 1
    DONE = 2
    FAILED = 3


@dataclass(eq=False)
class Slot:
    """A global of an instance."""

    node: nodes.Param | nodes.Global | nodes.FunctionDecl
    state: State = State.FRESH
    value: Known | None = None
    """Of a constant, parameter or function."""
    variable: Variable | None = None
    """Of a `var`; of a constant once it needs memory."""
    problem: CslError | None = None

    @property
    def span(self) -> Span:
        """Of its name."""
        return self.node.name_span

    def waits(self, bound: dict[str, Known]) -> bool:
        """Whether it is looked at only when something needs it.

        That a parameter has no value is no mistake as long as nothing uses it: examples of the
        vendor's are like that.
        """
        match self.node:
            case nodes.FunctionDecl():
                return True
            case nodes.Param():
                return self.node.default is None and self.node.name not in bound
            case _:
                return self.node.linkage == "extern"


@dataclass(eq=False)
class Instance:
    """A module with its parameters bound."""

    file: str
    path: str
    """Of names, to here: empty for the program itself, else ending in a point."""
    module: nodes.Module
    bound: dict[str, Known]
    span: Span | None
    """Of the import."""
    slots: dict[str, Slot] = field(default_factory=dict)
    children: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        for item in self.module.items:
            if isinstance(item, nodes.Param | nodes.Global | nodes.FunctionDecl):
                self.slots.setdefault(item.name, Slot(item))

    def __str__(self) -> str:
        """For messages."""
        return self.file


# --- blocks ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Cell:
    """A variable of code that runs while compiling."""

    type: Type
    data: object
    shared: bool = True
    """Its array is also held by a value, so that writing means copying."""


@dataclass(frozen=True, eq=False)
class Runtime:
    """A variable or constant of code that runs on a PE."""

    local: tree.Local
    mutable: bool


Entry = Known | Cell | Runtime


@dataclass(eq=False)
class Jump:
    """What a `break` or `continue` of live code may name."""

    label: str
    loop: bool
    target: tree.Target
    again: tree.Target | None
    """For `continue`; None: `target` itself."""
    expected: Type | None = None
    """Of a block's value."""
    values: list[tuple[Item, Span]] = field(default_factory=list)
    outer: Jump | None = None


@dataclass(eq=False)
class Frame:
    """A function's code in the making, or a call that is put in line."""

    result: Type
    declaration: nodes.FunctionDecl | None
    function: tree.Function | None
    target: tree.Target | None = None
    """In line: what a return leaves."""
    values: list[tuple[Item, Span]] = field(default_factory=list)
    depth: int = 0


class Scope:
    """Names of a block."""

    __slots__ = ("frame", "instance", "jump", "names", "outer", "spans")

    def __init__(
        self,
        instance: Instance,
        outer: Scope | None = None,
        frame: Frame | None = None,
        jump: Jump | None = None,
    ) -> None:
        self.instance = instance
        self.outer = outer
        self.names: dict[str, Entry] = {}
        self.spans: dict[str, Span] = {}
        """Of declarations."""
        self.frame: Frame | None = frame
        self.jump: Jump | None = jump
        if outer is not None:
            self.frame = frame or outer.frame
            self.jump = jump or outer.jump

    def entry(self, name: str) -> Entry | None:
        """What a name is in this block or those around it."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def visible(self) -> Iterator[str]:
        """All names that may be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.outer
        yield from self.instance.slots
        yield from PREDECLARED

    def add(self, name: str, entry: Entry, span: Span) -> None:
        """Declare; a local name can't hide a local one."""
        if name != "_" and self.entry(name) is not None:
            raise error(
                span,
                "redeclared",
                f"`{name}` is already declared in this function",
                "choose another name: only globals can be hidden",
            )
        self.names[name] = entry
        self.spans[name] = span

    def declared(self, name: str) -> tuple[Note, ...]:
        """Where a name of this block, or of those around it, or of the module is declared."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                span = scope.spans.get(name)
                return () if span is None else (Note(f"`{name}` is declared here", span),)
            scope = scope.outer
        slot = self.instance.slots.get(name)
        return () if slot is None else (Note(f"`{name}` is declared here", slot.span),)


@dataclass(frozen=True)
class Literal:
    """A struct or tuple literal that was evaluated."""

    node: nodes.Expr
    """Held, so that its id stays its own."""
    value: Known | None
    """None if it depends on more than itself."""


class Engine(Evaluator, Protocol):
    """The evaluator, as the parts of the analysis see each other."""

    literals: dict[int, Literal]
    """By the id of their node."""
    results: dict[object, Known]
    """Of calls of pure functions with simple values, by function and arguments."""
    pure: dict[FunctionValue, bool]
    """Those that were looked at: see `purity`."""

    constants: set[tree.Local]
    """Locals that can't be assigned to."""
    naming: list[str]
    """Names of declarations whose initial values are being evaluated, innermost last."""
    steps: int
    """Rounds of loops that ran while compiling."""
    inline_depth: int

    @property
    def tile(self) -> Tile:
        """The tile program being made."""
        ...

    def slot(self, instance: Instance, name: str, span: Span) -> Slot:
        """A global of an instance, evaluated."""
        ...

    def slot_variable(self, instance: Instance, slot: Slot) -> Variable:
        """The memory of a global."""
        ...

    def use(self, variable: Variable) -> None:
        """Reached code names it."""
        ...

    def constant_variable(self, value: Known, node: nodes.Node, at: Site) -> Variable:
        """Memory for a constant of a block."""
        ...

    def function_type(self, value: FunctionValue) -> types.Function:
        """Its type; `ANYTYPE` for what depends on the call."""
        ...

    def specialised(
        self, value: FunctionValue, fixed: dict[str, Known], kinds: list[Type], span: Span
    ) -> tree.Function:
        """The code of a function for known arguments and types of the others; it is reached now."""
        ...

    def reach(self, data: object, span: Span) -> None:
        """What the pointers in known data point to is in memory, or has code."""
        ...

    def exported(self, name: str) -> Variable | None:
        """The variable that some module exports by this name."""
        ...

    def mark(self, value: FunctionValue) -> None:
        """It was run while compiling, or put in line."""
        ...


def scope_of(at: Site) -> Scope:
    """The scope of a site."""
    names = at.names
    assert isinstance(names, Scope)
    return names


def inner(at: Site, jump: Jump | None = None, frame: Frame | None = None) -> Site:
    """A site in a new block at a site."""
    outer = scope_of(at)
    return Site(Scope(outer.instance, outer, frame, jump), at.context, at.function, at.extra)


def comptime(at: Site) -> Site:
    """The same place, but everything has to be known."""
    if at.context is not Context.RUNTIME:
        return at
    return Site(at.names, Context.COMPTIME, at.function, at.extra)


def undefined(scope: Scope, name: str, span: Span) -> CslError:
    """An error for a name that nothing declares."""
    hint = suggestion(name, set(scope.visible()))
    return error(span, "undefined-name", f"`{name}` is not declared", hint)


def no_member(instance: Instance, name: str, span: Span) -> CslError:
    """An error for a name that a module doesn't have."""
    hint = suggestion(name, set(instance.slots))
    message = f"module `{instance.file}` has no `{name}`"
    return error(span, "unknown-member", message, hint)


# --- the language's own names --------------------------------------------------------------------

_SIMPLE = (
    types.VOID,
    types.BOOL,
    types.TYPE,
    types.COLOR,
    types.DIRECTION,
    types.COMPTIME_INT,
    types.COMPTIME_FLOAT,
    types.COMPTIME_STRING,
    types.COMPTIME_STRUCT,
    types.IMPORTED_MODULE,
    types.INPUT_QUEUE,
    types.OUTPUT_QUEUE,
    types.DATA_TASK_ID,
    types.LOCAL_TASK_ID,
    types.CONTROL_TASK_ID,
    types.UT_ID,
    types.ANYOPAQUE,
    types.F16,
    types.BF16,
    types.CB16,
    types.F32,
    types.I8,
    types.I16,
    types.I32,
    types.I64,
    types.U8,
    types.U16,
    types.U32,
    types.U64,
    types.Simple("range"),
    *types.DSD_TYPES.values(),
    *types.DSR_TYPES.values(),
)

PREDECLARED: dict[str, Known] = {
    **{str(kind): Known(types.TYPE, kind) for kind in _SIMPLE},
    **{name: Known(types.DIRECTION, number) for number, name in enumerate(DIRECTIONS)},
}
_OF_ONE_DIALECT = {
    "comptime_struct": "1.4",
    "circbuf_dsd": "2.10",
    "sr": "2.10",
    "anyopaque": "2.10",
}
_INTEGER = re.compile(r"([iu])(0|[1-9][0-9]{0,7})\Z")
_WIDEST = 16777215


def predeclared(name: str, dialect: str, span: Span) -> Known | None:
    """A name of the language; an error if it is of the other dialect only."""
    only = _OF_ONE_DIALECT.get(name)
    if only is not None and only != dialect and not span.source.library:
        hint = "leave the type out" if name == "comptime_struct" else f"--sdk-dialect {only}"
        raise error(span, "other-dialect", f"`{name}` is not in SDK {dialect}", hint)
    found = PREDECLARED.get(name)
    if found is not None:
        return found
    match = _INTEGER.match(name)
    if match is None or int(match[2]) > _WIDEST:
        return None
    if dialect == "1.4":
        hint = "1.4 has integers of 8, 16, 32 and 64 bits"
        raise error(span, "undefined-name", f"`{name}` is not a type in SDK 1.4", hint)
    return Known(types.TYPE, types.Int(int(match[2]), match[1] == "i"))
