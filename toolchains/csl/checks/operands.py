"""Operands of vector operations that are of the fabric: their queues, colours and lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simulators.wafer.dsd import DsdKind
from toolchains.csl import tree
from toolchains.csl.tile import Tile
from toolchains.csl.types import FIFO
from toolchains.csl.values import Dsd, Dsr

from .trees import Code


@dataclass(frozen=True)
class Fabric:
    """An operand that sends or receives."""

    output: bool
    queue: int
    color: int
    """-1: not known."""
    extent: int
    """In wavelets; 0: not known, or none."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A vector operation with the fabric."""

    node: tree.VectorOp
    output: Fabric | None
    inputs: tuple[Fabric, ...]
    asynchronous: bool
    microthread: int
    """Of an asynchronous one; -1: not known."""

    @property
    def operands(self) -> tuple[Fabric, ...]:
        """All of them."""
        return self.inputs if self.output is None else (self.output, *self.inputs)

    @property
    def name(self) -> str:
        """As CSL names it."""
        return f"@{self.node.vector.name.lower()}"


class Operands:
    """Reads the operands of one tile's operations."""

    def __init__(self, tile: Tile, code: Code, arch: str) -> None:
        self.wse3 = arch == "wse3"
        self.colors = {(one.output, one.id): one.color for one in tile.queues if one.color >= 0}
        self.loads: dict[tuple[str, int], list[tree.LoadDsr]] = {}
        for node in code.all():
            if isinstance(node, tree.LoadDsr):
                self.loads.setdefault((node.dsr.kind, node.dsr.number), []).append(node)

    def stream(self, node: tree.VectorOp) -> Stream | None:
        """The operation; None if no operand is known to be of the fabric."""
        output = self.fabric(node.dest)
        inputs = [one for source in node.sources if (one := self.fabric(source)) is not None]
        if output is None and not inputs:
            return None
        return Stream(
            node, output, tuple(inputs), self._asynchronous(node), self._microthread(node, output)
        )

    def fabric(self, expr: tree.Expr) -> Fabric | None:
        """An operand; None if it isn't of the fabric, or not for certain."""
        dsd, certain = self._dsd(expr)
        if dsd is None or dsd.kind not in (DsdKind.FABRIC_IN, DsdKind.FABRIC_OUT):
            return None
        return self.of(dsd, certain)

    def of(self, dsd: Dsd, certain: bool = True) -> Fabric:
        """A DSD of the fabric with its colour: that of its queue, if it has one."""
        output = dsd.kind is DsdKind.FABRIC_OUT
        color = dsd.color
        if color < 0 or self.wse3:
            color = self.colors.get((output, dsd.queue), color)
        return Fabric(output, dsd.queue, color, dsd.extents[0] if certain else 0)

    def _dsd(self, expr: tree.Expr) -> tuple[Dsd | None, bool]:
        """The DSD, and whether its extent is known too."""
        match expr:
            case tree.Constant() if isinstance(expr.value.data, Dsd):
                return expr.value.data, True
            case tree.Constant() if isinstance(expr.value.data, Dsr):
                return self._loaded(expr.value.data)
            case tree.DsdMake() if isinstance(expr.start.data, Dsd):
                return expr.start.data, False
            case tree.DsdUpdate():
                return self._dsd(expr.dsd)[0], False
            case _:
                return None, False

    def _loaded(self, dsr: Dsr) -> tuple[Dsd | None, bool]:
        """What a DSR holds, if it is always loaded with one DSD."""
        found = [self._dsd(one.dsd) for one in self.loads.get((dsr.kind, dsr.number), ())]
        if len({id(dsd) if dsd is None else dsd for dsd, _ in found}) != 1:
            return None, False
        return found[0]

    def _behaviours(self, node: tree.VectorOp) -> Iterator[tree.Behaviour]:
        yield node.behaviour
        for operand in (node.dest, *node.sources):
            if isinstance(operand, tree.Constant) and isinstance(operand.value.data, Dsr):
                dsr = operand.value.data
                for load in self.loads.get((dsr.kind, dsr.number), ()):
                    yield load.behaviour

    def _asynchronous(self, node: tree.VectorOp) -> bool:
        return any(how.asynchronous for how in self._behaviours(node))

    def _microthread(self, node: tree.VectorOp, output: Fabric | None) -> int:
        """Which one an asynchronous operation takes (SDK documentation, microthreads)."""
        given = {how.microthread for how in self._behaviours(node)} - {-1}
        if given or any(operand.type == FIFO for operand in (node.dest, *node.sources)):
            return given.pop() if len(given) == 1 else -1
        if output is not None:
            return output.queue
        for source in node.sources:
            one = self.fabric(source)
            if one is not None:
                return one.queue
        return -1


def mentioned(tile: Tile, code: Code) -> Iterator[Dsd]:
    """Every DSD of the fabric that code or a variable of the tile names."""
    for node in code.all():
        if isinstance(node, tree.Constant):
            yield from _within(node.value.data)
        elif isinstance(node, tree.DsdMake):
            yield from _within(node.start.data)
    for variable in tile.variables:
        yield from _within(variable.initial)


def _within(data: object) -> Iterator[Dsd]:
    if isinstance(data, Dsd):
        if data.kind in (DsdKind.FABRIC_IN, DsdKind.FABRIC_OUT):
            yield data
    elif isinstance(data, tuple):
        for part in data:
            yield from _within(part)
