"""DSD operations: which operands each takes, in one table, and the calls of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulators.wafer.dsd import DsdKind, Vector
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Evaluator, Handler, Item, Live, Site
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.types import (
    BOOL,
    F32,
    FIFO,
    I16,
    I32,
    U16,
    U32,
    VOID,
    Float,
    Int,
    Pointer,
    Simple,
    Type,
)
from toolchains.csl.values import Address, Dsd, FifoValue, Known

from . import behaviours
from .arguments import RUNTIME, is_integer
from .operands import (
    bits_of_element,
    element_of,
    is_configuration,
    is_dsr,
    is_structure,
    parts_of,
)

# --- the table -----------------------------------------------------------------------------------
#
# A form is a list of operands: D destination, S source, a scalar (h of the 16-bit float type, s
# f32, n i16 or u16, m i32 or u32, i i16), or p and the scalar that a pointer points to (SDK
# documentation, builtins for DSD operations).

_BINARY16 = "D,S,S D,n,S D,S,n"
_H = "D,S,S D,h,S D,S,h p(h),h,S"
_S = "D,S,S D,s,S D,S,s p(s),s,S"


@dataclass(frozen=True)
class Operation:
    """What an operation takes."""

    vector: Vector
    forms: tuple[tuple[str, ...], ...]
    bits: tuple[int, ...]
    """Of the elements of destination and sources, 0: any; the last one stands for the rest."""


def _rows(names: str, forms: str, *bits: int) -> dict[str, Operation]:
    taken = tuple(tuple(form.split(",")) for form in forms.split())
    return {f"@{name}": Operation(Vector[name.upper()], taken, bits) for name in names.split()}


OPERATIONS_TABLE: Mapping[str, Operation] = {
    **_rows("add16 addc16 and16 or16 xor16 sar16 sll16 slr16", _BINARY16, 16),
    **_rows("sub16", "D,S,S D,S,n", 16),
    **_rows("clz ctz popcnt", "D,S D,n", 16),
    **_rows("mov16", "D,S p(n),S D,n", 16),
    **_rows("mov32", "D,S p(m),S D,m", 32),
    **_rows("fabsh fnegh", "D,S D,h", 16),
    **_rows("fabss fnegs", "D,S D,s", 32),
    **_rows("fmovh", "D,S p(h),S D,h", 16),
    **_rows("fmovs", "D,S p(s),S D,s", 32),
    **_rows("faddh fsubh fmulh fmaxh", _H, 16),
    **_rows("fadds fsubs fmuls fmaxs", _S, 32),
    **_rows("faddhs", "D,S,S D,h,S D,S,h p(s),s,S", 32, 0),
    **_rows("fmach", "D,S,S,h", 16),
    **_rows("fmachs", "D,S,S,h", 32, 0, 0),
    **_rows("fmacs", "D,S,S,s", 32),
    **_rows("fh2s", "D,S D,h", 32, 16),
    **_rows("fs2h", "D,S D,s", 16, 32),
    **_rows("fh2xp16", "D,S D,h p(i),h", 16),
    **_rows("fs2xp16", "D,S D,s p(i),s", 16, 32),
    **_rows("xp162fh", "D,S D,n", 16),
    **_rows("xp162fs", "D,S D,n", 32, 16),
    **_rows("fnormh", "p(h),h", 16),
    **_rows("fnorms", "p(s),s", 32),
    **_rows("fscaleh", "p(h),h,i", 16),
    **_rows("fscales", "p(s),s,i", 32),
}
"""By name, with its `@`; @dfilt is apart."""

_DESTINATIONS = frozenset({"mem1d_dsd", "mem4d_dsd", "fabout_dsd", "fifo", "dsr_dest", "dsr_src0"})
_SOURCES = frozenset({"mem1d_dsd", "mem4d_dsd", "fabin_dsd", "fifo", "dsr_src0", "dsr_src1"})
_FABRIC = frozenset({"fabin_dsd", "fabout_dsd", "fifo"})
_ORDINAL = ("destination", "first source", "second source", "third source")


@dataclass(frozen=True, eq=False)
class _Operand:
    item: Item
    span: Span

    @property
    def type(self) -> Type:
        """Of its value."""
        return self.item.type


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of an operation."""

    ev: Evaluator
    name: str
    operation: Operation
    operands: list[_Operand]
    span: Span


def _handler(name: str, operation: Operation) -> Handler:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        """@name(destination, sources…, configuration)."""
        operands, configuration = _arguments(ev, node, at)
        call = _Call(ev, name, operation, operands, node.span)
        form = _form(call)
        exprs = tuple(
            _converted(call, token, operand)
            for token, operand in zip(form, call.operands, strict=True)
        )
        _check_widths(call)
        _check_fifos(call)
        _check_fabric(call)
        found = _configured(call, configuration, at)
        fifo = any(operand.type == FIFO for operand in operands)
        result = BOOL if fifo and not found.asynchronous else VOID
        made = tree.VectorOp(result, node.span, operation.vector, exprs[0], exprs[1:], found)
        return Live(result, made)

    return handler


def _arguments(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site
) -> tuple[list[_Operand], nodes.Expr | None]:
    """The operands, and the configuration if there is one: that is decided by its type."""
    found: list[_Operand] = []
    last = len(node.arguments) - 1
    for position, argument in enumerate(node.arguments):
        if position == last and isinstance(argument, nodes.StructLiteral | nodes.TupleLiteral):
            return found, argument
        item = ev.item(argument, at)
        if position == last and is_configuration(item.type):
            return found, argument
        found.append(_Operand(item, argument.span))
    return found, None


def _configured(call: _Call, configuration: nodes.Expr | None, at: Site) -> tree.Behaviour:
    name = call.name
    simd = max((_simd(operand.item) for operand in call.operands), default=-1)
    if configuration is None:
        return tree.Behaviour(simd=simd)
    parts = parts_of(call.ev, configuration, at, f"the configuration of {name}")
    found = behaviours.of_operation(call.ev, parts, name, simd)
    if found.asynchronous and not any(_from_fabric(operand) for operand in call.operands):
        message = f"{name} can't be asynchronous: none of its operands is of the fabric"
        hint = "operations on memory are done at once: leave .async out"
        raise error(parts["async"].span, "async-operands", message, hint)
    return found


def _simd(item: Item) -> int:
    data = item.data if isinstance(item, Known) else None
    return data.simd if isinstance(data, Dsd) else -1


def _from_fabric(operand: _Operand) -> bool:
    return is_dsr(operand.type) or str(operand.type) in _FABRIC


# --- forms ---------------------------------------------------------------------------------------


def _form(call: _Call) -> tuple[str, ...]:
    """The form that the operands have, or an error with the nearest one."""
    count = len(call.operands)
    fitting = [form for form in call.operation.forms if len(form) == count]
    if not fitting:
        counts = sorted({len(form) for form in call.operation.forms})
        wanted = " or ".join(map(str, counts))
        message = f"{call.name} takes {wanted} operands, not {count}"
        raise error(call.span, "argument-count", message, _accepted(call, call.operation.forms))
    wrong = [_misfits(call, form) for form in fitting]
    best = min(range(len(fitting)), key=lambda one: len(wrong[one]))
    if not wrong[best]:
        return fitting[best]
    position = wrong[best][0]
    operand = call.operands[position]
    message = f"the {_ordinal(position)} of {call.name} can't be {_described(operand.item)}"
    near = [one for one, bad in zip(fitting, wrong, strict=True) if len(bad) == len(wrong[best])]
    raise error(operand.span, "operand", message, _accepted(call, tuple(near)))


def _misfits(call: _Call, form: tuple[str, ...]) -> list[int]:
    pairs = zip(form, call.operands, strict=True)
    return [n for n, (token, one) in enumerate(pairs) if not _fits(call.ev, token, one.type)]


def _fits(ev: Evaluator, token: str, kind: Type) -> bool:
    match token:
        case "D":
            return isinstance(kind, Simple) and kind.name in _DESTINATIONS
        case "S":
            return isinstance(kind, Simple) and kind.name in _SOURCES
        case "h" | "s":
            return isinstance(kind, Float | Int) or _literal(kind)
        case "n" | "m" | "i":
            return is_integer(kind)
        case _:
            targets = _scalars(ev, token[2])
            return isinstance(kind, Pointer) and not kind.many and kind.target in targets


def _literal(kind: Type) -> bool:
    return kind in (types.COMPTIME_INT, types.COMPTIME_FLOAT)


def _scalars(ev: Evaluator, token: str) -> tuple[Type, ...]:
    """The types that a scalar may have."""
    table: dict[str, tuple[Type, ...]] = {
        "h": (ev.options.fp16,),
        "s": (F32,),
        "n": (I16, U16),
        "m": (I32, U32),
        "i": (I16,),
    }
    return table[token]


def _ordinal(position: int) -> str:
    return _ORDINAL[position] if position < len(_ORDINAL) else "operand"


def _described(item: Item) -> str:
    kind = item.type
    if is_structure(kind):
        return f"a `{kind}`"
    return f"a value of type `{kind}`"


def _accepted(call: _Call, forms: tuple[tuple[str, ...], ...]) -> str:
    words = {
        "D": "destination",
        "S": "source",
        "h": str(call.ev.options.fp16),
        "s": "f32",
        "n": "i16 or u16",
        "m": "i32 or u32",
        "i": "i16",
    }
    listed = []
    for form in forms:
        names = [f"pointer to {words[t[2]]}" if t[0] == "p" else words[t] for t in form]
        listed.append(f"{call.name}({', '.join(names)})")
    return " or ".join(listed)


# --- operands ------------------------------------------------------------------------------------


def _converted(call: _Call, token: str, operand: _Operand) -> tree.Expr:
    """An operand as code: scalars become what the operation takes, by the rules for literals."""
    ev, item, span = call.ev, operand.item, operand.span
    if token == "D":
        _check_writable(item, span)
    if token[0] == "p":
        kind = item.type
        if isinstance(kind, Pointer) and kind.constant:
            raise error(span, "constant", f"a `{kind}` points to what is constant")
    if token in ("D", "S") or token[0] == "p":
        return ev.live(item, span)
    return ev.live(_scalar(call, item, _scalars(ev, token), span), span)


def _scalar(call: _Call, item: Item, kinds: tuple[Type, ...], span: Span) -> Item:
    if item.type in kinds:
        return item
    problem: CslError | None = None
    for kind in kinds:
        try:
            return call.ev.coerce(item, kind, span)
        except CslError as found:
            problem = problem or found
    if isinstance(item, Known) and problem is not None:
        raise problem
    names = " or ".join(f"`{kind}`" for kind in kinds)
    message = f"a scalar of {call.name} is {names}, not a `{item.type}`"
    raise error(span, "type-mismatch", message, f"@as({kinds[0]}, …)")


def _check_writable(item: Item, span: Span) -> None:
    data = item.data if isinstance(item, Known) else None
    base = data.base if isinstance(data, Dsd) else None
    if isinstance(base, Address) and not base.variable.mutable:
        name = base.variable.name.rpartition(".")[2]
        note = Note("declared here", base.variable.node.span)
        message = f"the destination is in `{name}`, which is constant"
        raise error(span, "constant", message, f"var {name}", (note,))


def _check_widths(call: _Call) -> None:
    """Elements of known DSDs and FIFOs against those of the operation.

    Both ways of differing occur in examples of the vendor's (fft-1d-2d moves pairs of f16 as 32
    bits, topic-14 the lower halves of u32), so that only what leaves the array is an error.
    """
    bits = call.operation.bits
    for position, operand in enumerate(call.operands):
        element = element_of(operand.item)
        wanted = bits[min(position, len(bits) - 1)]
        if element is None or wanted in (0, bits_of_element(element)):
            continue
        place = _ordinal(position)
        message = f"the {place} of {call.name} has elements of {wanted} bits, not `{element}`"
        hint = _other(call, element)
        if wanted < bits_of_element(element) and operand.type != FIFO:
            if any(str(one.type) == "fabout_dsd" for one in call.operands):
                continue
            call.ev.reports.warn(operand.span, "element-width", message, hint)
        elif operand.type == FIFO or _leaves(operand.item, wanted // 8):
            raise error(operand.span, "element-width", message, hint)


def _leaves(item: Item, step: int) -> bool:
    """Whether a DSD that is known reaches behind its array with elements of `step` bytes."""
    dsd = item.data if isinstance(item, Known) else None
    if not isinstance(dsd, Dsd) or not isinstance(dsd.base, Address) or len(dsd.extents) != 1:
        return False
    last = dsd.base.offset + (dsd.extents[0] - 1) * dsd.strides[0] * step
    return not 0 <= last <= types.size_of(dsd.base.variable.type) - step


_COUNTERPARTS = {"@mov16": "@mov32", "@mov32": "@mov16"}


def _other(call: _Call, element: Type) -> str:
    """The operation of the same kind for another width."""
    name = call.name
    if len(call.operation.bits) > 1:
        return ""
    other = _COUNTERPARTS.get(name) or name[:-1] + {"s": "h", "h": "s"}.get(name[-1], "")
    return f"{other} is for `{element}`" if other in OPERATIONS_TABLE else ""


def _check_fifos(call: _Call) -> None:
    sources = [n for n, one in enumerate(call.operands) if one.type == FIFO and n]
    for operand in call.operands:
        known = isinstance(operand.item, Known) and isinstance(operand.item.data, FifoValue)
        if operand.type == FIFO and not known:
            message = "which FIFO this is has to be known while compiling"
            raise error(operand.span, "not-comptime", message)
    if len(sources) > 1:
        message = f"{call.name} reads from at most one FIFO"
        raise error(call.operands[sources[1]].span, "operand", message)
    several = sum(1 for one in call.operands[1:] if is_structure(one.type)) > 1
    if sources and several and sources[0] == 1:
        message = f"a FIFO can't be the first of two sources of {call.name}"
        hint = "swap the sources, if the operation allows it"
        raise error(call.operands[1].span, "operand", message, hint)


def _check_fabric(call: _Call) -> None:
    """On wse3 at most one operand arrives from the fabric (release notes of SDK 2.10)."""
    if call.ev.options.arch != "wse3":
        _check_colors(call)
        return
    if call.ev.options.dialect == "1.4":
        return
    arriving = [one for one in call.operands if str(one.type) == "fabin_dsd"]
    if len(arriving) > 1:
        message = f"on wse3, {call.name} takes at most one operand from the fabric"
        hint = "@mov32 or @fmovs one of them to memory first"
        raise error(arriving[1].span, "fabric-operands", message, hint)


def _check_colors(call: _Call) -> None:
    for operand in call.operands:
        data = operand.item.data if isinstance(operand.item, Known) else None
        if isinstance(data, Dsd) and data.kind is DsdKind.FABRIC_OUT and data.color < 0:
            message = "this DSD has no colour: its .fabric_color is void"
            raise error(operand.span, "missing-color", message)


# --- @dfilt --------------------------------------------------------------------------------------


def _dfilt(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@dfilt(fabin_dsd or dsr_src1, .{ .async = true }): drops data up to control wavelets."""
    operands, configuration = _arguments(ev, node, at)
    if len(operands) != 1 or str(operands[0].type) not in ("fabin_dsd", "dsr_src1"):
        span = operands[0].span if operands else node.span
        what = _described(operands[0].item) if operands else "nothing"
        message = f"@dfilt takes a `fabin_dsd` or a `dsr_src1`, not {what}"
        raise error(span, "operand", message, "@dfilt(source, .{ .async = true })")
    found = tree.Behaviour()
    if configuration is not None:
        parts = parts_of(ev, configuration, at, "the configuration of @dfilt")
        found = behaviours.of_operation(ev, parts, "@dfilt", -1)
    if not found.asynchronous:
        message = "@dfilt is always asynchronous"
        raise error(node.span, "async-operands", message, "@dfilt(source, .{ .async = true })")
    source = ev.live(operands[0].item, operands[0].span)
    made = tree.VectorOp(VOID, node.span, Vector.DFILT, source, (source,), found)
    return Live(VOID, made)


OPERATIONS: dict[str, Builtin] = {
    **{
        name: Builtin(_handler(name, operation), RUNTIME, (1, 5))
        for name, operation in OPERATIONS_TABLE.items()
    },
    "@dfilt": Builtin(_dfilt, RUNTIME, (1, 2)),
}
