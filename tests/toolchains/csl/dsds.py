"""What tests of DSDs share: descriptors of expressions, code of statements, mistakes in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from simulators.wafer.dsd import DsdField
from tests.toolchains.csl import trees
from tests.toolchains.csl.compiling import WSE2, WSE3, clean, tile_of
from toolchains.csl import tree
from toolchains.csl.evaluation import Options
from toolchains.csl.tile import Tile
from toolchains.csl.values import Absolute, Address, Dsd, Dsr, FifoValue, Known

NEW2 = replace(WSE2, dialect="2.10")
NEW3 = replace(WSE3, dialect="2.10")

AROUND = (
    "var a = @zeros([10]f32); var b = @zeros([10]f32); var h = @zeros([10]f16);"
    " var w = @zeros([10]i16); var x = @zeros([10]u32); var m = @zeros([4, 6]f32);"
    " var bytes = @zeros([10]u8); var one = @zeros([1]f32);"
    " const A = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> a[i] });"
    " const B = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> b[i] });"
    " const H = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> h[i] });"
    " const W = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> w[i] });"
    " const X = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> x[i] });"
    " const IN = @get_dsd(fabin_dsd, .{ .extent = 10, .fabric_color = @get_color(1),"
    " .input_queue = @get_input_queue(2) });"
    " const OUT = @get_dsd(fabout_dsd, .{ .extent = 10, .fabric_color = @get_color(2),"
    " .output_queue = @get_output_queue(3) });"
    " var s: f32 = 0.0; var k: f16 = 0.0; var n: i16 = 0; var u: u16 = 0; var l: u32 = 0;"
    " const id = @get_local_task_id(9); const D0 = @get_dsr(dsr_dest, 0);"
    " const S0 = @get_dsr(dsr_src0, 1); const S1 = @get_dsr(dsr_src1, 2);"
    " task t() void {} fn g() void {}"
)
END = "\ncomptime { @export_symbol(f); }"


def tile_with(statements: str, options: Options = WSE2, before: str = "") -> Tile:
    """The tile program of statements in a function `f`, without mistakes."""
    return clean(f"{AROUND}\n{before}\nfn f() void {{\n{statements}\n}}{END}", options)


def code(statements: str, options: Options = WSE2, before: str = "") -> str:
    """The tree of statements."""
    tile = tile_with(statements, options, before)
    (found,) = [one for one in tile.functions if one.name == "f"]
    return " ".join(_statement(one) for one in found.body)


def mistake(statements: str, options: Options = WSE2, before: str = "") -> str:
    """The only diagnostic, by its place in the statements."""
    _, said = tile_of(f"{AROUND}\n{before}\nfn f() void {{\n{statements}\n}}{END}", options)
    (found,) = said
    place, rest = found.split(" ", 1)
    line, column = place.split(":")
    return f"{int(line) - 3}:{column} {rest}"


def dsd(expression: str, options: Options = WSE2, before: str = "") -> str:
    """A known DSD as text."""
    text = code(f"const made = {expression}; used(made);", options, f"{before} {_USED}")
    return text.removeprefix("used(").removesuffix(");")


_USED = "fn used(dsd: anytype) void {}"


def operation(statement: str, options: Options = WSE2, before: str = "") -> tree.VectorOp:
    """The operation that a statement is."""
    tile = tile_with(statement, options, before)
    (found,) = [one for one in tile.functions if one.name == "f"]
    effect: Any = found.body[0]
    assert isinstance(effect.value, tree.VectorOp)
    return effect.value


def _statement(node: Any) -> str:
    if isinstance(node, tree.Effect):
        return f"{shown(node.value)};"
    if isinstance(node, tree.Declare):
        return f"{node.local.name} = {shown(node.value)};"
    if isinstance(node, tree.Assign):
        return f"{shown(node.place)} = {shown(node.value)};"
    return trees.statements([node])[0]


def _listed(nodes: Iterable[Any]) -> str:
    return ", ".join(map(shown, nodes))


def _made(node: tree.DsdMake) -> str:
    fields = "".join(f" {name.name}={shown(part)}" for name, part in node.fields)
    return f"make({value(node.start)},{fields})"


def _mapped(node: tree.Map) -> str:
    output = "" if node.output is None else f" -> {shown(node.output)}"
    return f"map {node.function.name}({_listed(node.inputs)}){output}"


_SHOWN: dict[type, Callable[[Any], str]] = {
    tree.Constant: lambda n: value(n.value),
    tree.DsdMake: _made,
    tree.DsdUpdate: lambda n: f"update({shown(n.dsd)}, {DsdField(n.field).name}={shown(n.value)})",
    tree.VectorOp: lambda n: f"{n.vector.name}({_listed((n.dest, *n.sources))})",
    tree.LoadDsr: lambda n: f"load({n.dsr.kind} {n.dsr.number}, {shown(n.dsd)})",
    tree.Map: _mapped,
    tree.System: lambda n: f"{n.call.name}({_listed(n.arguments)})",
    tree.Call: lambda n: f"{n.function.name.split('#')[0]}({_listed(n.arguments)})",
}


def shown(node: Any) -> str:
    """An expression, with what is about DSDs too."""
    write = _SHOWN.get(type(node))
    return write(node) if write else trees.expr(node)


def value(known: Known) -> str:
    """A known value, DSDs by their fields that matter."""
    data = known.data
    match data:
        case Dsr():
            return f"{data.kind} {data.number}"
        case FifoValue():
            return f"fifo {data.number}"
        case Dsd():
            return _dsd(data)
        case _:
            return f"{trees.data(data)}:{known.type}"


def _dsd(one: Dsd) -> str:
    if isinstance(one.base, Address):
        base = f"&{one.base.variable.name}+{one.base.offset}"
    else:
        base = str(one.base.address) if isinstance(one.base, Absolute) else "?"
    if one.kind.name.startswith("FABRIC"):
        base = f"q{one.queue} c{one.color} o{one.options}"
    sizes = ",".join(map(str, one.extents))
    steps = ",".join(map(str, one.strides))
    extra = f" index={one.index}" if one.index else ""
    return f"{one.kind.name} {base} {sizes} by {steps}{' wide' if one.wide else ''}{extra}"
