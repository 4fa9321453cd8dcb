"""Short ways to write typed trees by hand, and to run what they are lowered to."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulators.wafer.program import CodeClass
from tests.simulators.wafer.reference_core import Core
from toolchains.csl import tree as t
from toolchains.csl import types as ty
from toolchains.csl.evaluation import Options
from toolchains.csl.lower import PlaceTable, lower_tile
from toolchains.csl.nodes import Node
from toolchains.csl.source import Reports, Source, Span
from toolchains.csl.tile import SymbolExport, Tile
from toolchains.csl.values import Known, Variable

SOURCE = Source("code.csl", "", "\n".join(f"line {n}" for n in range(1, 40)))
HERE = Span(SOURCE, 0, 4)
NODE = Node(HERE)


def line(number: int) -> Span:
    """A span on a line of the source."""
    start = sum(len(f"line {n}") + 1 for n in range(1, number))
    return Span(SOURCE, start, start + 4)


def const(kind: ty.Type, data: object) -> t.Constant:
    return t.Constant(kind, HERE, Known(kind, data))


def i16(value: int) -> t.Constant:
    return const(ty.I16, value)


def local(name: str, kind: ty.Type, addressed: bool = False) -> t.Local:
    return t.Local(name, kind, HERE, addressed)


def ref(what: t.Local | Variable) -> t.LocalRef | t.GlobalRef:
    if isinstance(what, t.Local):
        return t.LocalRef(what.type, HERE, what)
    return t.GlobalRef(what.type, HERE, what)


def variable(name: str, kind: ty.Type, initial: object = None) -> Variable:
    return Variable(name, kind, initial, True, NODE)


def op(operator: str, left: t.Expr, right: t.Expr) -> t.Binary:
    kind = ty.BOOL if operator in ("==", "!=", "<", "<=", ">", ">=") else left.type
    return t.Binary(kind, HERE, operator, left, right)


def put(place: t.Expr, value: t.Expr) -> t.Assign:
    return t.Assign(HERE, place, value)


def at(base: t.Expr, *indices: t.Expr) -> t.Element:
    kind = base.type
    assert isinstance(kind, ty.Array | ty.Pointer)
    element = kind.element if isinstance(kind, ty.Array) else kind.target
    return t.Element(element, HERE, base, indices)


def give(value: t.Expr | None = None) -> t.Return:
    return t.Return(HERE, value)


def let(name: t.Local, value: t.Expr | None) -> t.Declare:
    return t.Declare(HERE, name, value)


def count(  # the parts of a counting loop, in the order in which CSL writes them
    name: t.Local, start: t.Expr, stop: t.Expr, step: int, *body: t.Stmt
) -> t.Count:
    return t.Count(HERE, t.Target(), name, start, stop, step, body)


def function(
    name: str, parameters: tuple[t.Local, ...], result: ty.Type, *body: t.Stmt
) -> t.Function:
    return t.Function(name, parameters, result, False, HERE, body)


@dataclass
class Lowered:
    """A code class with what was said about it."""

    code: CodeClass
    reports: Reports
    places: PlaceTable = field(default_factory=PlaceTable)

    def core(self) -> Core:
        return Core(self.code)

    def call(self, name: str, *arguments: int) -> int:
        """Run an exported function on a new core."""
        exported = self.code.exported_functions
        assert exported is not None
        return self.core().run(exported[name], *arguments)

    def address(self, name: str) -> int:
        """Of a region."""
        return next(region.address for region in self.code.regions if region.name == name)


def lower(
    *functions: t.Function, variables: tuple[Variable, ...] = (), tile: Tile | None = None
) -> Lowered:
    """Lower functions, all of them exported."""
    tile = tile or Tile("code.csl", "wse3")
    tile.variables += variables
    for one in functions:
        tile.functions.append(one)
        tile.exports.append(SymbolExport(one.name, None, one, ty.VOID, HERE))
    reports, places = Reports(), PlaceTable()
    code = lower_tile(tile, Options(tile.arch), "code", places, reports)
    _check_registers(code)
    return Lowered(code, reports, places)


def _check_registers(code: CodeClass) -> None:
    """Every function stays within the frame that it asks for."""
    entries = [one.entry for one in code.functions] + [len(code.code)]
    assert entries == sorted(entries)
    for one, end in zip(code.functions, entries[1:], strict=True):
        assert one.registers <= code.registers
        rows = code.code[one.entry : end]
        assert rows[:, 1].max() < one.registers
        assert rows[:, 1].min() >= 0
