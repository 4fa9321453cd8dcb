"""Globals of an instance: parameters, constants, variables, functions, each when first needed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Context, Item, Live, Site
from toolchains.csl.source import Note, error
from toolchains.csl.types import Function, Type
from toolchains.csl.values import Known, Variable

from .coercion import coerce
from .names import ANYTYPE, Engine, Instance, Scope, Slot
from .places import unknown


def site_of(instance: Instance, context: Context = Context.COMPTIME) -> Site:
    """Outside of all blocks of a module."""
    return Site(Scope(instance), context)


def evaluate(ev: Engine, instance: Instance, slot: Slot) -> None:
    """Fill the slot of a parameter or a global."""
    node = slot.node
    if isinstance(node, nodes.Param):
        slot.value = _param(ev, instance, node)
    elif isinstance(node, nodes.Global):
        _global(ev, instance, slot, node)


def _param(ev: Engine, instance: Instance, node: nodes.Param) -> Known:
    at = site_of(instance)
    bound = instance.bound.get(node.name)
    kind = None if node.type is None else ev.type(node.type, at)
    note = Note(f"the parameter `{node.name}` is declared here", node.name_span)
    if bound is not None:
        if kind is None:
            return bound
        span = instance.span or node.name_span
        return _known(coerce(ev, bound, kind, span, (note,)), node)
    if node.default is None:
        notes = (note,) if instance.span else ()
        message = f"`{instance.file}` needs a value for its parameter `{node.name}`"
        hint = f".{{ .{node.name} = … }}"
        raise error(instance.span or node.name_span, "missing-param", message, hint, notes)
    if kind is None:
        return ev.known(node.default, at)
    return ev.known(node.default, at, kind)


def _known(item: Item, node: nodes.Param) -> Known:
    if isinstance(item, Live):
        raise unknown(item, node.span)
    return item


def _global(ev: Engine, instance: Instance, slot: Slot, node: nodes.Global) -> None:
    at = site_of(instance)
    kind = None if node.type is None else ev.type(node.type, at)
    value = None if node.value is None else ev.known(node.value, at, kind)
    if node.linkage == "extern":
        slot.variable = _extern(ev, node, kind)
        return
    if not node.mutable:
        if value is None:
            message = f"`{node.name}` is constant and has no value"
            raise error(node.name_span, "missing-value", message, f"const {node.name} = …;")
        slot.value = value
        return
    kind = kind if value is None else value.type
    if kind is None:
        message = f"`{node.name}` has neither type nor value"
        raise error(node.name_span, "missing-type", message, f"var {node.name}: u16 = …;")
    check_storable(node, kind)
    initial = None if value is None else value.data
    slot.variable = _variable(ev, instance, node, kind, initial, mutable=True)


def check_storable(node: nodes.Global, kind: Type) -> None:
    """Variables have a type that exists on a PE."""
    if not types.comptime_only(kind):
        return
    integer = kind == types.COMPTIME_INT
    message = f"`{node.name}` can't be a variable of type `{kind}`"
    hint = f"const {node.name} = …"
    if integer or kind == types.COMPTIME_FLOAT:
        hint = f"var {node.name}: {'i16' if integer else 'f32'} = …"
    raise error(node.name_span, "comptime-only", message, hint)


def _variable(
    ev: Engine,
    instance: Instance,
    node: nodes.Global,
    kind: Type,
    initial: object,
    *,
    mutable: bool,
) -> Variable:
    alignment: Any = 0
    if node.attributes.align is not None:
        alignment = ev.known(node.attributes.align, site_of(instance), types.U16).data
    return Variable(instance.path + node.name, kind, initial, mutable, node, alignment)


def memory(ev: Engine, instance: Instance, slot: Slot) -> Variable:
    """The memory of a global; of a constant it is made when first asked for."""
    if slot.variable is None:
        value = slot.value
        assert value is not None
        if types.comptime_only(value.type):
            message = f"`{slot.node.name}` is a `{value.type}`, which exists only while compiling"
            hint = "give it a type: const x: i16 = …"
            raise error(slot.span, "comptime-only", message, hint)
        if isinstance(slot.node, nodes.Global):
            made = _variable(ev, instance, slot.node, value.type, value.data, mutable=False)
        else:
            path = instance.path + slot.node.name
            made = Variable(path, value.type, value.data, False, slot.node)
        slot.variable = made
    return slot.variable


def _extern(ev: Engine, node: nodes.Global, kind: Type | None) -> Variable:
    found = ev.exported(node.name)
    if found is None:
        message = f"no module of this program exports `{node.name}`"
        raise error(node.name_span, "extern-missing", message, f"export var {node.name}: …")
    if kind is not None and found.type != kind:
        message = f"`{node.name}` is exported as `{found.type}`, not `{kind}`"
        raise error(node.name_span, "type-mismatch", message)
    return found


# --- functions -----------------------------------------------------------------------------------


def signature(ev: Engine, instance: Instance, node: nodes.FunctionDecl) -> Function:
    """The type of a function; `ANYTYPE` where that depends on the call."""
    at = site_of(instance)
    names: set[str] = set()
    parameters: list[Type] = []
    for formal in node.formals:
        if formal.type is None or mentions(formal.type, names):
            parameters.append(ANYTYPE)
        else:
            parameters.append(ev.type(formal.type, at))
        names.add(formal.name)
    result = ANYTYPE if mentions(node.result, names) else ev.type(node.result, at)
    return Function(tuple(parameters), result, node.task)


def mentions(node: object, names: set[str]) -> bool:
    """Whether a name stands in an expression."""
    if not names:
        return False
    if isinstance(node, nodes.Name):
        return node.name in names
    if isinstance(node, tuple):
        return any(mentions(one, names) for one in node)
    if is_dataclass(node) and type(node).__module__ == nodes.__name__:
        return any(mentions(getattr(node, one.name), names) for one in fields(node))
    return False
