"""What the functions of one tile share while they are lowered: numbers, symbols, templates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simulators.wafer.dsd import DsrConfig, Operation
from toolchains.csl import tree, values
from toolchains.csl.source import Reports, Span, error
from toolchains.csl.tile import Tile
from toolchains.csl.types import Type, size_of

from .places import PlaceTable
from .symbols import Naming, Symbol, alignment_of


@dataclass(eq=False)
class Unit:
    """State of one tile's lowering."""

    tile: Tile
    places: PlaceTable
    reports: Reports
    symbols: list[Symbol] = field(default_factory=list)
    """All that need memory, in the order of their first mention."""
    functions: list[tree.Function] = field(default_factory=list)
    """By number; those that code mentions are added."""
    operations: dict[tuple[Operation, int], int] = field(default_factory=dict)
    """With the place; the number of each."""
    configs: dict[DsrConfig, int] = field(default_factory=dict)
    addressed_functions: set[tree.Function] = field(default_factory=set)
    """Those that pointers may name."""
    naming: Naming = field(init=False)
    _variables: dict[values.Variable, Symbol] = field(default_factory=dict)
    _constants: dict[values.Known, Symbol] = field(default_factory=dict)
    _numbers: dict[tree.Function, int] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.naming = Naming(self.variable, self.function_value)

    def variable(self, variable: values.Variable) -> Symbol:
        """The symbol of a variable; its content too, when first named."""
        symbol = self._variables.get(variable)
        if symbol is None:
            span = variable.node.span
            symbol = self.memory(variable.name, variable.type, span, variable.alignment)
            self._variables[variable] = symbol
            self.naming.fill(symbol, variable.initial)
        return symbol

    def constant(self, expr: tree.Constant, name: str) -> Symbol:
        """The symbol of a constant in memory, one per value that the analysis made."""
        symbol = self._constants.get(expr.value)
        if symbol is None:
            symbol = self._constants[expr.value] = self.memory(name, expr.type, expr.span)
            self.naming.fill(symbol, expr.value.data)
        return symbol

    def memory(self, name: str, kind: Type, span: Span | None, alignment: int = 0) -> Symbol:
        """A new symbol; a name that is taken gets a number."""
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}#{count}"
        self._names.add(unique)
        try:
            size = size_of(kind)
        except ValueError as problem:
            raise error(span, "no-memory-layout", f"`{name}`: {problem}") from problem
        symbol = Symbol(unique, kind, size, alignment_of(kind, alignment), span)
        self.symbols.append(symbol)
        return symbol

    def number(self, function: tree.Function) -> int:
        """Of a function."""
        number = self._numbers.get(function)
        if number is None:
            number = self._numbers[function] = len(self.functions)
            self.functions.append(function)
        return number

    def function_value(self, value: values.FunctionValue) -> int:
        """The number of the function that a pointer value in memory names."""
        for function in self._candidates():
            if function.name == value.path:
                self.addressed_functions.add(function)
                return self.number(function)
        raise error(
            value.node.span,
            "function-not-reached",
            f"a pointer names `{value.path}`, of which no code was made",
            "call it, or take its address in code that is reached",
        )

    def _candidates(self) -> Iterable[tree.Function]:
        for binding in self.tile.bindings:
            yield binding.function
        yield from self.tile.functions
        yield from self.functions

    def task_id(self, number: int, task: values.FunctionValue | None) -> int:
        """An id, or the one that a task is bound to."""
        for binding in self.tile.bindings:
            if binding.value is task:
                return binding.id
        return number

    def operation(self, operation: Operation, span: Span) -> int:
        """The number of a template, one per place."""
        return self.operations.setdefault(
            (operation, self.places.number(span)), len(self.operations)
        )

    def config(self, config: DsrConfig) -> int:
        """The number of a DSR's configuration."""
        return self.configs.setdefault(config, len(self.configs))
