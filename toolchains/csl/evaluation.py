"""What evaluates expressions, as builtins see it, and where an evaluation stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from . import nodes, tree
from .placement import Placement
from .source import Reports, Span
from .tile import Tile
from .types import F16, Float, Type
from .values import FunctionValue, Known, Variable


class Context(StrEnum):
    """When code is evaluated; decides which builtins may stand there."""

    LAYOUT = "layout"
    """The layout block, and functions it calls."""
    COMPTIME_BLOCK = "comptime block"
    """A module's comptime block, and functions it calls."""
    COMPTIME = "comptime"
    """A global's initial value, a type, `comptime x`."""
    RUNTIME = "runtime"
    """Code of a function that runs on a PE."""


@dataclass(frozen=True, eq=False)
class Live:
    """A value that is not known while compiling."""

    type: Type
    tree: tree.Expr


Item = Known | Live


@dataclass(frozen=True)
class Options:
    """Of a compilation."""

    arch: str
    """`wse2` or `wse3`."""
    dialect: str = "1.4"
    """Or `2.10`."""
    fp16: Float = F16
    fabric: tuple[int, int] = (0, 0)
    """Width and height of the fabric; 0: just what the program needs."""
    offset: tuple[int, int] = (4, 1)
    max_inlined_iterations: int = 100000
    memcpy: bool = True
    channels: int = 1
    params: tuple[tuple[str, str], ...] = ()
    colors: tuple[tuple[str, int], ...] = ()


@dataclass(eq=False)
class Site:
    """Where an expression is evaluated: what names mean, and what may be done."""

    names: object
    """The analysis's scope."""
    context: Context
    function: tree.Function | None = None
    """Whose body this is; None while nothing runs on a PE."""
    extra: dict[str, object] = field(default_factory=dict)
    """The analysis's own."""


class Evaluator(Protocol):
    """Evaluates expressions at a site. Mistakes are raised as `source.CslError`."""

    options: Options
    reports: Reports

    @property
    def tile(self) -> Tile:
        """The tile program being made; error where there is none (in a layout)."""
        ...

    @property
    def placement(self) -> Placement:
        """What the layout says so far, or said if a tile program is being made."""
        ...

    def import_module(self, path: str, params: Known | None, call: nodes.BuiltinCall) -> Known:
        """A new instance of a module: `params` (an anonymous struct) bound, comptime blocks run."""
        ...

    def resolve(self, path: str, span: Span) -> str:
        """The file that a source names, as a key of files; error `no-such-file`."""
        ...

    def read(self, file: str, span: Span) -> str:
        """The text of a resolved file."""
        ...

    def item(self, node: nodes.Expr, at: Site, expected: Type | None = None) -> Item:
        """Its value; `expected` only helps literals and struct values, nothing is checked."""
        ...

    def known(self, node: nodes.Expr, at: Site, expected: Type | None = None) -> Known:
        """Its value, coerced to `expected`; error if it isn't known while compiling."""
        ...

    def value(self, node: nodes.Expr, at: Site, expected: Type) -> Item:
        """Its value, coerced to `expected`."""
        ...

    def type(self, node: nodes.Expr, at: Site) -> Type:
        """The type that the expression names."""
        ...

    def place(self, node: nodes.Expr, at: Site) -> tree.Expr:
        """The storage that it names (a `LocalRef`, `GlobalRef`, `Deref`, `Element`, `FieldOf`)."""
        ...

    def coerce(self, item: Item, target: Type, span: Span) -> Item:
        """As the language converts without being asked; error `type-mismatch` otherwise."""
        ...

    def live(self, item: Item, span: Span) -> tree.Expr:
        """As code; a literal without a type of its own is an error."""
        ...

    def specialise(self, value: FunctionValue, span: Span) -> tree.Function:
        """The code of a function or task without comptime parameters; it is reached now."""
        ...

    def specialised(
        self, value: FunctionValue, fixed: dict[str, Known], kinds: list[Type], span: Span
    ) -> tree.Function:
        """The code of a function for known arguments and types of the others; it is reached now."""
        ...

    def variable(self, node: nodes.Expr, at: Site) -> Variable | None:
        """The module variable that an expression names, through members too; None if none."""
        ...


Handler = Callable[[Evaluator, nodes.BuiltinCall, Site, Type | None], Item]


@dataclass(frozen=True)
class Builtin:
    """An entry of the table of builtins."""

    handler: Handler
    contexts: frozenset[Context]
    arguments: tuple[int, int]
    """How many it takes, at least and at most (-1: any number)."""
    dialects: tuple[str, ...] = ("1.4", "2.10")
    archs: tuple[str, ...] = ("wse2", "wse3")
