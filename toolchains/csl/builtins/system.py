"""@wafer, by which modules of the library ask the machine for what CSL has no words for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simulators.wafer.opcodes import MathFunction, SystemCall
from simulators.wafer.program import COLORS
from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.floats import rounded
from toolchains.csl.source import error
from toolchains.csl.types import BOOL, F32, I16, U16, U32, U64, VOID, Float, Type
from toolchains.csl.values import Known

from .arguments import ANYWHERE, NOTHING, text


@dataclass(frozen=True)
class _Call:
    call: SystemCall
    arguments: tuple[Type | None, ...] = ()
    """None: as given; a literal is none of them."""
    result: Type = VOID


_CALLS: Mapping[str, _Call] = {
    "timestamp": _Call(SystemCall.TIMESTAMP, (), U64),
    "tsc_enable": _Call(SystemCall.TSC_ENABLE),
    "tsc_disable": _Call(SystemCall.TSC_DISABLE),
    "random16": _Call(SystemCall.RANDOM16, (), U16),
    "set_prng": _Call(SystemCall.SET_PRNG, (U16,)),
    "unblock_commands": _Call(SystemCall.UNBLOCK_COMMANDS),
    "get_x": _Call(SystemCall.GET_X, (), U16),
    "get_y": _Call(SystemCall.GET_Y, (), U16),
    "get_config": _Call(SystemCall.GET_CONFIG, (U16,), U16),
    "set_config": _Call(SystemCall.SET_CONFIG, (U16, U16)),
    "print": _Call(SystemCall.PRINT, (U16, None)),
    "trace": _Call(SystemCall.TRACE, (U16, None, U16)),
    "teardown_exit": _Call(SystemCall.TEARDOWN_EXIT, (U16,)),
    "switch": _Call(SystemCall.SWITCH, (U16, U16)),
    "color_route": _Call(SystemCall.COLOR_ROUTE, (U16, U16, U16)),
    "switch_position": _Call(SystemCall.SWITCH_POSITION, (U16, U16, U16, U16)),
    "switch_mode": _Call(SystemCall.SWITCH_MODE, (U16, U16, U16)),
    "queue_status": _Call(SystemCall.QUEUE_STATUS, (U16,), U16),
    "teardown_pending": _Call(SystemCall.TEARDOWN_PENDING, (), U32),
    "queue_color": _Call(SystemCall.QUEUE_COLOR, (U16, U16)),
    "filter": _Call(SystemCall.FILTER, (U16, U16, U16)),
    "timer": _Call(SystemCall.TIMER, (U16, U32)),
}
_MATH: Mapping[str, MathFunction] = {f"math_{one.name.lower()}": one for one in MathFunction}
_BINARY = (MathFunction.POW, MathFunction.ATAN2)


def _wafer(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@wafer("name", arguments…)."""
    if not node.span.source.library:
        raise error(node.name_span, "unknown-builtin", "there is no builtin `@wafer`")
    name = text(ev, node.arguments[0], at, "the name of a call").decode()
    if name == "text":
        content = text(ev, node.arguments[1], at, "a text")
        return Known(U16, ev.tile.text(content))
    if name == "stream":
        return _stream(ev, node, at)
    if name in _MATH:
        return _math(ev, node, at, _MATH[name])
    call = _CALLS.get(name)
    if call is None or len(call.arguments) != len(node.arguments) - 1:
        raise error(node.span, "unknown-call", f'the machine has no call "{name}" like this')
    values = []
    for wanted, argument in zip(call.arguments, node.arguments[1:], strict=True):
        item = ev.item(argument, at) if wanted is None else ev.value(argument, at, wanted)
        values.append(ev.live(item, argument.span))
    result = call.result
    return Live(result, tree.System(result, node.span, call.call, tuple(values)))


def _stream(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> Item:
    """A colour by which the host sends or receives, which of the two, and at which PE if one."""
    span = node.arguments[1].span
    item = ev.item(node.arguments[1], at)
    number = int(item.data) if isinstance(item, Known) and isinstance(item.data, int) else -1
    if not 0 <= number < COLORS:
        message = f"a stream of the host needs a colour from 0 to {COLORS - 1}"
        raise error(span, "bad-color", message, "--params=MEMCPYH2D_DATA_1_ID:0")
    to_host = bool(ev.known(node.arguments[2], at, BOOL).data)
    spot = (-1, -1)
    if len(node.arguments) == 5:
        spot = (_coordinate(ev, node.arguments[3], at), _coordinate(ev, node.arguments[4], at))
    if ev.placement.streams.setdefault((number, *spot), to_host) != to_host:
        message = f"colour {number} can't lead both to the host and from it"
        raise error(span, "duplicate-color", message)
    return NOTHING


def _coordinate(ev: Evaluator, node: nodes.Expr, at: Site) -> int:
    value = ev.known(node, at, U16).data
    assert isinstance(value, int)
    return value


def _math(ev: Evaluator, node: nodes.BuiltinCall, at: Site, function: MathFunction) -> Item:
    """A function of floats, in the type of its arguments."""
    count = 2 if function in _BINARY else 1
    if len(node.arguments) != count + 1:
        raise error(node.span, "argument-count", f"this function has {count} arguments")
    items = []
    kind = F32
    for position, argument in enumerate(node.arguments[1:]):
        item = ev.item(argument, at)
        kind = item.type if not position and isinstance(item.type, Float) else kind
        items.append(ev.coerce(item, kind, argument.span))
    known = [item.data for item in items if isinstance(item, Known)]
    if len(known) == count:
        return Known(kind, rounded(_computed(function, known), kind))
    values = [ev.live(item, node.span) for item in items]
    which = ev.live(Known(I16, int(function)), node.span)
    return Live(kind, tree.System(kind, node.span, SystemCall.MATH, (which, *values)))


def _computed(function: MathFunction, known: list[object]) -> float:
    """As the machine computes: in double, infinities and NaN included."""
    with np.errstate(all="ignore"):
        return float(_DOUBLE[function](*(np.float64(one) for one in known)))  # type: ignore[arg-type]


_DOUBLE: Mapping[MathFunction, Callable[..., np.float64]] = {
    MathFunction.SQRT: np.sqrt,
    MathFunction.INV_SQRT: lambda x: 1.0 / np.sqrt(x),
    MathFunction.SIN: np.sin,
    MathFunction.COS: np.cos,
    MathFunction.TAN: np.tan,
    MathFunction.EXP: np.exp,
    MathFunction.LOG: np.log,
    MathFunction.POW: np.power,
    MathFunction.TANH: np.tanh,
    MathFunction.SIGMOID: lambda x: 1.0 / (1.0 + np.exp(-x)),
    MathFunction.FLOOR: np.floor,
    MathFunction.CEIL: np.ceil,
    MathFunction.ATAN2: np.arctan2,
    MathFunction.ASIN: np.arcsin,
    MathFunction.ACOS: np.arccos,
    MathFunction.ATAN: np.arctan,
    MathFunction.SINH: np.sinh,
    MathFunction.COSH: np.cosh,
    MathFunction.LOG2: np.log2,
    MathFunction.EXP2: np.exp2,
    MathFunction.LOG10: np.log10,
    MathFunction.ROUND: np.round,
    MathFunction.TRUNC: np.trunc,
}


SYSTEM: dict[str, Builtin] = {"@wafer": Builtin(_wafer, ANYWHERE, (1, -1))}
