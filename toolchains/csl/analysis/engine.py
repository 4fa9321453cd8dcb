"""The evaluator: one object per compilation, with the tile program that is being made."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from toolchains.csl import builtins, nodes, tree, types
from toolchains.csl.evaluation import Context, Item, Live, Options, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.placement import Placement
from toolchains.csl.source import CslError, Diagnostic, Note, Reader, Reports, Span, error
from toolchains.csl.tile import Tile
from toolchains.csl.types import IMPORTED_MODULE, TYPE, Function, Type
from toolchains.csl.values import Active, Address, Dsd, FifoValue, FunctionValue, Known, Variable

from . import calls, choices, coercion, globals, operands, operators, places, statements, typenames
from .execution import execute, outside
from .files import Files, Library
from .keys import key_of
from .names import (
    ANYTYPE,
    Frame,
    Instance,
    Literal,
    Runtime,
    Scope,
    Slot,
    State,
    comptime,
    scope_of,
)

_RECURSION = 30_000
"""Python's frames: a call while compiling takes about a dozen."""
_MOST_FUNCTIONS = 10_000
"""Of a tile program."""


def _tensor_access(_: Any, node: nodes.TensorAccess, _at: Site, _expected: Type | None) -> Item:
    message = "a tensor access stands only in @get_dsd, as .tensor_access = …"
    raise error(node.span, "tensor-access", message)


def _asm(_: Any, node: nodes.Asm, _at: Site, _expected: Type | None) -> Item:
    raise error(node.span, "asm", "machine instructions in text can't be simulated")


_HANDLERS: dict[type, Callable[..., Item]] = {
    nodes.IntLiteral: operands.int_literal,
    nodes.FloatLiteral: operands.float_literal,
    nodes.StringLiteral: operands.string_literal,
    nodes.BoolLiteral: operands.bool_literal,
    nodes.VoidLiteral: operands.void_literal,
    nodes.Name: operands.name,
    nodes.Unary: operators.unary,
    nodes.AddressOf: operands.take_address,
    nodes.Comptime: operands.comptime_value,
    nodes.Binary: operators.binary,
    nodes.Call: calls.call,
    nodes.BuiltinCall: builtins.evaluate,
    nodes.Index: operands.index,
    nodes.Member: operands.member,
    nodes.Dereference: operands.dereference,
    nodes.StructLiteral: operands.struct_literal,
    nodes.TupleLiteral: operands.tuple_literal,
    nodes.ArrayType: typenames.array_type,
    nodes.ArrayLiteral: operands.array_literal,
    nodes.PointerType: typenames.pointer_type,
    nodes.FunctionType: typenames.function_type,
    nodes.EnumType: typenames.enum_type,
    nodes.StructType: typenames.struct_type,
    nodes.TensorAccess: _tensor_access,
    nodes.IfExpr: choices.if_expr,
    nodes.SwitchExpr: choices.switch_expr,
    nodes.BlockExpr: choices.block_expr,
    nodes.Asm: _asm,
}


@dataclass(frozen=True, eq=False)
class Pending:
    """A function whose body is still to be analysed."""

    value: FunctionValue
    function: tree.Function
    fixed: dict[str, Known]


class Evaluation:
    """`evaluation.Evaluator`, for the tile program or layout at hand."""

    def __init__(self, options: Options, read: Reader, reports: Reports, library: Library) -> None:
        self.options = options
        self.reports = reports
        self.files = Files(read, library, options.dialect)
        self.placement = Placement()
        self.reached: set[FunctionValue] = set()
        """Functions that were run, called or bound."""
        self.ever_reached: set[int] = set()
        """By the identity of their declarations, in all tile programs and the layout."""
        self.unreached: dict[nodes.FunctionDecl, tuple[Diagnostic, ...]] = {}
        """What is wrong with functions that nothing had reached when they were looked at."""
        self.start("")

    def start(self, file: str) -> None:
        """Forget all that belongs to one tile program."""
        self._tile = Tile(file, self.options.arch)
        self.constants: set[tree.Local] = set()
        self.naming: list[str] = []
        self.steps = 0
        self.inline_depth = 0
        self.keep_reached()
        self.reached = set()
        self.instances: list[Instance] = []
        """In the order in which they were made."""
        self.pending: list[Pending] = []
        self._used: set[Variable] = set()
        self._active: list[Instance] = []
        self._functions: dict[object, tree.Function] = {}
        self._signatures: dict[FunctionValue, Function] = {}
        self._memory: dict[Known, Variable] = {}
        self.literals: dict[int, Literal] = {}
        self.results: dict[object, Known] = {}
        """Of calls of pure functions, by function and arguments."""
        self.pure: dict[FunctionValue, bool] = {}

    def keep_reached(self) -> None:
        """Remember which functions the last tile program reached."""
        self.ever_reached.update(id(one.node) for one in self.reached)

    @property
    def tile(self) -> Tile:
        """The tile program being made; of a layout, one that nobody looks at."""
        return self._tile

    # --- expressions ---------------------------------------------------------------------------

    def item(self, node: nodes.Expr, at: Site, expected: Type | None = None) -> Item:
        """The value of an expression; `expected` only helps literals and struct values."""
        return _HANDLERS[type(node)](self, node, at, expected)

    def known(self, node: nodes.Expr, at: Site, expected: Type | None = None) -> Known:
        """Its value, coerced to `expected`; error if it isn't known while compiling."""
        item = _HANDLERS[type(node)](self, node, comptime(at), expected)
        if expected is not None:
            item = coercion.coerce(self, item, expected, node.span)
        if isinstance(item, Live):
            raise places.unknown(item, node.span)
        return item

    def value(self, node: nodes.Expr, at: Site, expected: Type) -> Item:
        """Its value, coerced to `expected`."""
        item = _HANDLERS[type(node)](self, node, at, expected)
        return coercion.coerce(self, item, expected, node.span)

    def type(self, node: nodes.Expr, at: Site) -> Type:
        """The type that the expression names."""
        item = _HANDLERS[type(node)](self, node, comptime(at), None)
        if item.type != TYPE or isinstance(item, Live):
            message = f"a type has to stand here, not a value of type `{item.type}`"
            raise error(node.span, "not-a-type", message)
        kind: Any = item.data
        return kind  # type: ignore[no-any-return]

    def place(self, node: nodes.Expr, at: Site) -> tree.Expr:
        """The storage that it names."""
        return places.place(self, node, at)

    def coerce(self, item: Item, target: Type, span: Span) -> Item:
        """As the language converts without being asked."""
        return coercion.coerce(self, item, target, span)

    def live(self, item: Item, span: Span) -> tree.Expr:
        """As code; a literal without a type of its own is an error."""
        return coercion.as_code(self, item, span)

    # --- globals -------------------------------------------------------------------------------

    def slot(self, instance: Instance, name: str, span: Span) -> Slot:
        """A global of an instance, evaluated."""
        slot = instance.slots[name]
        if slot.state is State.DONE:
            return slot
        if slot.problem is not None:
            raise slot.problem
        if slot.state is State.ACTIVE:
            raise error(span, "cycle", f"`{name}` depends on its own value")
        slot.state = State.ACTIVE
        self.naming.append(name)
        self._active.append(instance)
        try:
            self._fill(instance, slot)
        except CslError as problem:
            slot.state, slot.problem = State.FAILED, problem
            raise
        finally:
            self.naming.pop()
            self._active.pop()
        slot.state = State.DONE
        return slot

    def _fill(self, instance: Instance, slot: Slot) -> None:
        node = slot.node
        if isinstance(node, nodes.FunctionDecl):
            value = FunctionValue(instance, instance.path + node.name, node)
            kind = self._signatures[value] = globals.signature(self, instance, node)
            slot.value = Known(kind, value)
        else:
            globals.evaluate(self, instance, slot)

    def slot_variable(self, instance: Instance, slot: Slot) -> Variable:
        """The memory of a global."""
        return globals.memory(self, instance, slot)

    def variable(self, node: nodes.Expr, at: Site) -> Variable | None:
        """The module variable that an expression names, through members too; None if none."""
        if isinstance(node, nodes.Name):
            scope = scope_of(at)
            if scope.entry(node.name) is not None or node.name not in scope.instance.slots:
                return None
            instance, name = scope.instance, node.name
        elif isinstance(node, nodes.Member):
            base = self.item(node.base, at)
            if not isinstance(base, Known) or not isinstance(base.data, Instance):
                return None
            instance, name = base.data, node.name
            if name not in instance.slots:
                return None
        else:
            return None
        slot = self.slot(instance, name, node.span)
        if slot.value is not None and types.comptime_only(slot.value.type):
            return None
        return globals.memory(self, instance, slot)

    def use(self, variable: Variable) -> None:
        """Reached code names it."""
        if variable not in self._used:
            self._used.add(variable)
            self._tile.variables.append(variable)
            self.reach(variable.initial, variable.node.span)

    def reach(self, data: object, span: Span) -> None:
        """What the pointers in known data point to is in memory, or has code."""
        match data:
            case Address():
                self.use(data.variable)
            case FunctionValue() if not data.node.inline:
                self.specialise(data, span)
            case Active():
                self.reach(data.data, span)
            case Dsd():
                self.reach(data.base, span)
            case FifoValue():
                self._tile.used_fifos.add(data.number)
            case tuple():
                for part in data:
                    self.reach(part, span)

    def exported(self, name: str) -> Variable | None:
        """The variable that some module exports by this name."""
        for instance in self.instances:
            slot = instance.slots.get(name)
            if slot is None or not isinstance(slot.node, nodes.Global):
                continue
            if slot.node.linkage == "export":
                return globals.memory(self, instance, self.slot(instance, name, slot.span))
        return None

    def constant_variable(self, value: Known, node: nodes.Node, at: Site) -> Variable:
        """Memory for a constant of a block."""
        found = self._memory.get(value)
        if found is None:
            if types.comptime_only(value.type):
                message = f"a value of type `{value.type}` exists only while compiling"
                raise error(node.span, "comptime-only", message, "give it a type: const x: i16 = …")
            name = node.name if isinstance(node, nodes.Name) else "constant"
            path = f"{at.function.name}.{name}" if at.function is not None else name
            found = Variable(path, value.type, value.data, False, node)
            self._memory[value] = found
        return found

    # --- functions -----------------------------------------------------------------------------

    def function_type(self, value: FunctionValue) -> Function:
        """Its type; `ANYTYPE` for what depends on the call."""
        return self._signatures[value]

    def mark(self, value: FunctionValue) -> None:
        """It was run while compiling, or put in line."""
        self.reached.add(value)

    def specialise(self, value: FunctionValue, span: Span) -> tree.Function:
        """The code of a function or task without comptime parameters; it is reached now."""
        kind = self.function_type(value)
        if ANYTYPE in kind.parameters or any(one.comptime for one in value.node.formals):
            message = f"`{value.node.name}` depends on how it is called"
            hint = "a function without comptime and anytype parameters"
            raise error(span, "generic-function", message, hint)
        if types.comptime_only(kind.result):
            message = f"`{value.node.name}` returns a `{kind.result}`: it runs only while compiling"
            raise error(span, "comptime-only", message)
        return self.specialised(value, {}, list(kind.parameters), span)

    def specialised(
        self, value: FunctionValue, fixed: dict[str, Known], kinds: list[Type], span: Span
    ) -> tree.Function:
        """The code of a function for known arguments and types of the others; it is reached now."""
        constants = tuple((name, key_of(one)) for name, one in fixed.items())
        key = (value, constants, tuple(kinds))
        function = self._functions.get(key)
        if function is None:
            if len(self._functions) >= _MOST_FUNCTIONS:
                message = f"more than {_MOST_FUNCTIONS} functions for different arguments"
                raise error(span, "too-many-functions", message, "parameters without comptime")
            function = self._functions[key] = self._declare(value, fixed, kinds, span)
            self.reached.add(value)
            self._tile.functions.append(function)
            self.pending.append(Pending(value, function, fixed))
        return function

    def _declare(
        self, value: FunctionValue, fixed: dict[str, Known], kinds: list[Type], span: Span
    ) -> tree.Function:
        node = value.node
        if node.body is None:
            message = f"`{node.name}` has no body in this program"
            raise error(span, "extern-function", message)
        formals = [one for one in node.formals if one.name not in fixed]
        parameters = tuple(
            tree.Local(one.name, kind, one.span) for one, kind in zip(formals, kinds, strict=True)
        )
        self.constants.update(parameters)
        result = self.function_type(value).result
        if result is ANYTYPE:
            result = self.type(node.result, self._site(value, parameters, fixed, None))
        name = value.path
        if fixed or ANYTYPE in self.function_type(value).parameters:
            count = sum(1 for one in self._tile.functions if one.name.startswith(f"{name}#"))
            name = f"{name}#{count + 1}"
        return tree.Function(name, parameters, result, node.task, node.span)

    def _site(
        self,
        value: FunctionValue,
        parameters: tuple[tree.Local, ...],
        fixed: dict[str, Known],
        frame: Frame | None,
    ) -> Site:
        instance = value.instance
        assert isinstance(instance, Instance)
        scope = Scope(instance, None, frame)
        scope.names.update(fixed)
        scope.names.update({one.name: Runtime(one, False) for one in parameters})
        function = frame.function if frame else None
        return Site(scope, Context.RUNTIME, function)

    def drain(self) -> None:
        """Analyse what is reached, and what is reached from there."""
        while self.pending:
            self._analyse(self.pending.pop(0))

    def _analyse(self, one: Pending) -> None:
        frame = Frame(one.function.result, one.value.node, one.function)
        at = self._site(one.value, one.function.parameters, one.fixed, frame)
        try:
            body = statements.function_body(self, one.value.node, frame, at)
            one.function.body = tuple(body)
        except CslError as problem:
            self.reports.add(problem.diagnostic)
        self.naming.clear()

    # --- modules -------------------------------------------------------------------------------

    def resolve(self, path: str, span: Span | None) -> str:
        """The file that a path means where it is written."""
        return self.files.resolve(path, span)

    def read(self, file: str, span: Span | None) -> str:
        """The text of a file that was resolved."""
        return self.files.text(file, span)

    def import_module(self, path: str, params: Known | None, call: nodes.BuiltinCall) -> Known:
        """A new instance of a module, its comptime blocks run."""
        file = self.resolve(path, call.span)
        outer = self._active[-1].path if self._active else ""
        name = self.naming[-1] if self.naming else "module"
        child = self.instance(file, params, f"{outer}{name}.", call.span)
        if self._active:
            self._active[-1].children.append(child)
        return Known(IMPORTED_MODULE, child)

    def instance(
        self, file: str, params: Known | None, path: str = "", span: Span | None = None
    ) -> Instance:
        """A module with its parameters bound, its globals evaluated, its comptime blocks run."""
        if not file.startswith("<") and not self.files.root:
            self.files.root = posixpath.dirname(file)
        module = self.files.module(file, span, self.reports)
        bound = _bound(params)
        taken = {one.path for one in self.instances}
        unique, count = path, 1
        while unique in taken and unique:
            count += 1
            unique = f"{path[:-1]}#{count}."
        made = Instance(self.files.shown(file), unique, module, bound, span)
        self.instances.append(made)
        self._check_names(made)
        self._warn_unknown(made)
        self._prepare(made)
        return made

    def _check_names(self, instance: Instance) -> None:
        for item in instance.module.items:
            if isinstance(item, nodes.ComptimeBlock | nodes.LayoutBlock):
                continue
            first = instance.slots[item.name]
            if first.node is not item:
                message = f"`{item.name}` is declared twice"
                notes = (Note("first here", first.span),)
                problem = error(item.name_span, "redeclared", message, "", notes)
                self.reports.add(problem.diagnostic)

    def _warn_unknown(self, instance: Instance) -> None:
        for name in instance.bound:
            slot = instance.slots.get(name)
            if slot is None or not isinstance(slot.node, nodes.Param):
                params = [
                    key for key, one in instance.slots.items() if isinstance(one.node, nodes.Param)
                ]
                message = f"`{instance.file}` has no parameter `{name}`"
                hint = suggestion(name, params)
                self.reports.warn(instance.span, "unknown-param", message, hint)

    def _prepare(self, instance: Instance) -> None:
        for name, slot in instance.slots.items():
            if slot.waits(instance.bound):
                continue
            try:
                self.slot(instance, name, slot.span)
            except CslError as problem:
                self.reports.add(problem.diagnostic)
        for item in instance.module.items:
            if isinstance(item, nodes.ComptimeBlock):
                self.run_block(instance, item.body, Context.COMPTIME_BLOCK)
        self._exports(instance)

    def _exports(self, instance: Instance) -> None:
        for name, slot in instance.slots.items():
            if isinstance(slot.node, nodes.Param) or slot.node.linkage != "export":
                continue
            try:
                slot = self.slot(instance, name, slot.span)
                if slot.value is not None and isinstance(slot.value.data, FunctionValue):
                    self.specialise(slot.value.data, slot.span)
                else:
                    self.use(globals.memory(self, instance, slot))
            except CslError as problem:
                self.reports.add(problem.diagnostic)

    def run_block(self, instance: Instance, block: nodes.Block, context: Context) -> None:
        """A comptime or layout block; a mistake in a statement hides those that depend on it."""
        at = globals.site_of(instance, context)
        self._active.append(instance)
        try:
            for statement in block.statements:
                try:
                    outside(execute(self, statement, at))
                except CslError as problem:
                    self.reports.add(problem.diagnostic)
                    if context is Context.LAYOUT or isinstance(statement, nodes.LocalDecl):
                        return
        finally:
            self._active.pop()


def _bound(params: Known | None) -> dict[str, Known]:
    if params is None or not isinstance(params.type, types.Anonymous | types.Struct):
        return {}
    data: Any = params.data
    return {
        name: Known(kind, part) for (name, kind), part in zip(params.type.fields, data, strict=True)
    }


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Calls while compiling may be as deep as `calls` allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
