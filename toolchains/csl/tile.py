"""What the analysis of one tile's program yields: reached code, memory, bindings, configuration."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulators.wafer.program import FifoAction, Route, TaskKind

from . import tree
from .source import Span
from .types import Type
from .values import Address, FifoValue, FunctionValue, Variable


@dataclass(frozen=True, eq=False)
class Binding:
    """@bind_local_task and its relatives."""

    kind: TaskKind
    id: int
    value: FunctionValue
    function: tree.Function
    span: Span


@dataclass(frozen=True, eq=False)
class QueueInit:
    """@initialize_queue, or a queue that a fabric DSD of WSE-2 names with its colour."""

    output: bool
    id: int
    color: int
    priority: int
    control_table: int
    span: Span
    explicit: bool = True


@dataclass(frozen=True, eq=False)
class FifoInit:
    """@allocate_fifo."""

    value: FifoValue
    name: str
    buffer: Address
    elements: int
    activate_push: int
    activate_pop: int
    empty_action: FifoAction
    full_action: FifoAction
    span: Span
    push_task: FunctionValue | None = None
    """Instead of an id: the task that is bound to it."""
    pop_task: FunctionValue | None = None


@dataclass(frozen=True, eq=False)
class NamedTask:
    """A task that stands where an id could: something activates or unblocks it."""

    value: FunctionValue
    operation: str
    """`activate` or `unblock`."""
    span: Span


@dataclass(frozen=True, eq=False)
class SymbolExport:
    """@export_symbol of a variable or a function."""

    name: str
    variable: Variable | None
    function: tree.Function | None
    type: Type
    span: Span


@dataclass(frozen=True, eq=False)
class ColorConfig:
    """@set_local_color_config, or @set_color_config of a PE."""

    color: int
    route: Route
    span: Span


@dataclass(eq=False)
class Tile:
    """A tile program in the making; comptime blocks and reached code add to it."""

    file: str
    arch: str
    functions: list[tree.Function] = field(default_factory=list)
    """Those reached, in the order of the first mention."""
    variables: list[Variable] = field(default_factory=list)
    """Those that reached code or exports name, in that order."""
    bindings: list[Binding] = field(default_factory=list)
    queues: list[QueueInit] = field(default_factory=list)
    fifos: list[FifoInit] = field(default_factory=list)
    used_fifos: set[int] = field(default_factory=set)
    """Numbers of those that reached code names: only they get memory."""
    exports: list[SymbolExport] = field(default_factory=list)
    color_configs: list[ColorConfig] = field(default_factory=list)
    active: list[tuple[int, Span]] = field(default_factory=list)
    blocked: list[tuple[int, Span]] = field(default_factory=list)
    unblocked: list[tuple[int, Span]] = field(default_factory=list)
    """By @unblock in a comptime block."""
    teardown_handlers: dict[int, tree.Function] = field(default_factory=dict)
    empty_handlers: dict[int, tree.Function] = field(default_factory=dict)
    control_table: tuple[int, int] | None = None
    config_words: list[tuple[int, int, Span]] = field(default_factory=list)
    """@set_config in a comptime block: word address, value."""
    texts: list[bytes] = field(default_factory=list)
    """Of assertions, simprint and debug, by number."""
    dsrs: dict[tuple[str, int], Span] = field(default_factory=dict)
    """Named by @get_dsr."""
    named_tasks: list[NamedTask] = field(default_factory=list)
    queue_uses: list[QueueInit] = field(default_factory=list)
    """Queues that DSDs name with a colour."""
    queue_loads: list[QueueInit] = field(default_factory=list)
    """Input queues of DSDs that are loaded to DSRs."""

    def text(self, content: bytes) -> int:
        """The number of a text."""
        if content not in self.texts:
            self.texts.append(content)
        return self.texts.index(content)

    def use(self, variable: Variable) -> None:
        """Reached code names it: it gets memory."""
        if all(variable is not other for other in self.variables):
            self.variables.append(variable)
