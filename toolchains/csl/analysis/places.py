"""Places that can be read, written and pointed to, of the program and of the compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.builtins.structs import field_member
from toolchains.csl.evaluation import Context, Item, Live, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import CslError, Span, error
from toolchains.csl.types import Anonymous, Array, Pointer, Struct, Tuple, Type
from toolchains.csl.values import Known

from .coercion import coerce
from .data import element_data, field_names, flat, part_type, replaced
from .names import (
    Cell,
    Engine,
    Instance,
    Runtime,
    Slot,
    no_member,
    predeclared,
    scope_of,
    undefined,
)
from .numbers import is_integer

# --- of the program ------------------------------------------------------------------------------


def place(ev: Engine, node: nodes.Expr, at: Site) -> tree.Expr:
    """The storage that an expression names."""
    handler = _PLACES.get(type(node))
    if handler is None:
        raise not_a_place(node.span)
    return handler(ev, node, at)


def not_a_place(span: Span) -> CslError:
    """An error for what has no storage."""
    return error(span, "not-a-place", "this is a value, not a variable", "put it in a var first")


def _name(ev: Engine, node: Any, at: Site) -> tree.Expr:
    scope = scope_of(at)
    entry = scope.entry(node.name)
    match entry:
        case Runtime():
            return tree.LocalRef(entry.local.type, node.span, entry.local)
        case Cell():
            message = f"`{node.name}` exists only while compiling: it has no address"
            raise error(node.span, "not-a-place", message)
        case Known():
            variable = ev.constant_variable(entry, node, at)
            return tree.GlobalRef(variable.type, node.span, variable)
    if node.name not in scope.instance.slots:
        if predeclared(node.name, ev.options.dialect, node.span) is not None:
            raise not_a_place(node.span)
        raise undefined(scope, node.name, node.span)
    slot = ev.slot(scope.instance, node.name, node.span)
    return global_place(ev, scope.instance, slot, node.span)


def global_place(ev: Engine, instance: Instance, slot: Slot, span: Span) -> tree.Expr:
    """The memory of a global."""
    if slot.value is not None and isinstance(slot.value.type, types.Function):
        raise not_a_place(span)
    variable = ev.slot_variable(instance, slot)
    return tree.GlobalRef(variable.type, span, variable)


def _member(ev: Engine, node: Any, at: Site) -> tree.Expr:
    base = ev.item(node.base, at)
    if isinstance(base, Known) and isinstance(base.data, Instance):
        if node.name not in base.data.slots:
            raise no_member(base.data, node.name, node.name_span)
        slot = ev.slot(base.data, node.name, node.name_span)
        return global_place(ev, base.data, slot, node.span)
    position, kind = field_of(base.type, node)
    return tree.FieldOf(kind, node.span, place(ev, node.base, at), position)


def _index(ev: Engine, node: Any, at: Site) -> tree.Expr:
    base = ev.item(node.base, at)
    if isinstance(base.type, Tuple):
        position, kind = tuple_position(ev, node, base.type, at)
        return tree.FieldOf(kind, node.span, place(ev, node.base, at), position)
    element, indices = index_items(ev, node, base.type, at)
    if isinstance(base.type, Pointer):
        start = ev.live(base, node.base.span)
    else:
        start = place(ev, node.base, at)
    return tree.Element(element, node.span, start, index_trees(ev, node, indices))


def _dereference(ev: Engine, node: Any, at: Site) -> tree.Expr:
    pointer = ev.item(node.pointer, at)
    target = pointed(pointer.type, node)
    return tree.Deref(target, node.span, ev.live(pointer, node.pointer.span))


def _builtin(ev: Engine, node: Any, at: Site) -> tree.Expr:
    if node.name != "@field":
        raise not_a_place(node.span)
    return place(ev, field_member(ev, node, at), at)


_PLACES: dict[type, Callable[[Engine, Any, Site], tree.Expr]] = {
    nodes.Name: _name,
    nodes.Member: _member,
    nodes.Index: _index,
    nodes.Dereference: _dereference,
    nodes.BuiltinCall: _builtin,
}


def read_only(ev: Engine, expr: tree.Expr) -> str:
    """Why a place can't be written to; empty if it can."""
    match expr:
        case tree.LocalRef():
            return f"`{expr.local.name}` is constant" if expr.local in ev.constants else ""
        case tree.GlobalRef():
            name = expr.variable.name.rpartition(".")[2]
            return "" if expr.variable.mutable else f"`{name}` is constant"
        case tree.Deref():
            return _through(expr.pointer.type)
        case tree.Element() if isinstance(expr.base.type, Pointer):
            return _through(expr.base.type)
        case tree.Element() | tree.FieldOf():
            return read_only(ev, expr.base)
        case _:
            return "this is a value, not a variable"


def _through(kind: Type) -> str:
    constant = isinstance(kind, Pointer) and kind.constant
    return f"a `{kind}` points to what is constant" if constant else ""


def mark_addressed(expr: tree.Expr) -> None:
    """Something points into it: a local variable needs memory."""
    match expr:
        case tree.LocalRef():
            expr.local.addressed = True
        case tree.Element() if isinstance(expr.base.type, Array):
            mark_addressed(expr.base)
        case tree.FieldOf():
            mark_addressed(expr.base)


# --- parts ---------------------------------------------------------------------------------------


def field_of(kind: Type, node: nodes.Member) -> tuple[int, Type]:
    """Position and type of a field."""
    names = field_names(kind)
    if node.name in names:
        position = names.index(node.name)
        assert isinstance(kind, Struct | Anonymous)
        return position, kind.fields[position][1]
    if names:
        hint = suggestion(node.name, names) or f"its fields: {', '.join(names)}"
        raise error(node.name_span, "unknown-field", f"`{kind}` has no field `{node.name}`", hint)
    hint = ""
    if isinstance(kind, Pointer) and field_names(kind.target):
        hint = f"what it points to has fields: ….*.{node.name}"
    message = f"a value of type `{kind}` has no members"
    raise error(node.name_span, "no-members", message, hint)


def pointed(kind: Type, node: nodes.Dereference) -> Type:
    """The type of what a pointer points to."""
    if not isinstance(kind, Pointer):
        message = f"`.*` takes a pointer, not a `{kind}`"
        raise error(node.pointer.span, "not-a-pointer", message, "leave `.*` out")
    if kind.many:
        message = f"a `{kind}` points to many elements"
        raise error(node.span, "many-pointer", message, "the first one is p[0]")
    if kind.target == types.ANYOPAQUE or isinstance(kind.target, types.Function):
        raise error(node.span, "not-a-pointer", f"nothing can be read through a `{kind}`")
    return kind.target


def index_items(ev: Engine, node: nodes.Index, kind: Type, at: Site) -> tuple[Type, list[Item]]:
    """The type of an element and the indices, checked."""
    if isinstance(kind, Pointer) and kind.many:
        shape: tuple[int, ...] = (-1,)
        element = kind.target
    elif isinstance(kind, Array):
        shape, element = kind.shape, kind.element
    else:
        raise _not_indexable(node, kind)
    if len(node.indices) != len(shape):
        message = f"`{kind}` takes {len(shape)} indices, not {len(node.indices)}"
        raise error(node.span, "index-count", message)
    items = []
    for part, size in zip(node.indices, shape, strict=True):
        items.append(_index_item(ev, part, size, at))
    return element, items


def _index_item(ev: Engine, node: nodes.Expr, size: int, at: Site) -> Item:
    item = ev.item(node, at)
    if not is_integer(item.type):
        message = f"an index is an integer, not a `{item.type}`"
        hint = "@as(u16, …)" if isinstance(item.type, types.Float | types.Enum) else ""
        raise error(node.span, "index-type", message, hint)
    if isinstance(item, Known) and size >= 0:
        value: Any = item.data
        if not 0 <= value < size:
            message = f"index {value} is outside of {size} elements"
            raise error(node.span, "out-of-bounds", message, f"0 to {size - 1}" if size else "")
    return item


def _not_indexable(node: nodes.Index, kind: Type) -> CslError:
    hint = ""
    if isinstance(kind, Pointer) and isinstance(kind.target, Array):
        hint = "what it points to: (p.*)[i], or a pointer of type [*]T"
    elif isinstance(kind, Pointer):
        hint = "a pointer to many elements is of type [*]T"
    elif isinstance(kind, types.Function):
        hint = "a call takes parentheses"
    message = f"a value of type `{kind}` can't be indexed"
    return error(node.base.span, "not-indexable", message, hint)


def index_trees(ev: Engine, node: nodes.Index, items: list[Item]) -> tuple[tree.Expr, ...]:
    """Indices as code."""
    found = []
    for part, item in zip(node.indices, items, strict=True):
        if isinstance(item, Known) and not isinstance(item.type, types.Int):
            value: Any = item.data
            kind = types.U16 if value >= 0 else types.I16
            item = coerce(ev, item, kind, part.span)
        found.append(ev.live(item, part.span))
    return tuple(found)


def tuple_position(ev: Engine, node: nodes.Index, kind: Tuple, at: Site) -> tuple[int, Type]:
    """Position and type of a tuple's item."""
    if len(node.indices) != 1:
        raise error(node.span, "index-count", f"`{kind}` takes 1 index, not {len(node.indices)}")
    item = ev.known(node.indices[0], at)
    position: Any = item.data
    if not is_integer(item.type):
        message = f"an index is an integer, not a `{item.type}`"
        raise error(node.indices[0].span, "index-type", message)
    if not 0 <= position < len(kind.items):
        message = f"index {position} is outside of {len(kind.items)} items"
        raise error(node.indices[0].span, "out-of-bounds", message)
    return position, kind.items[position]


# --- of the compilation --------------------------------------------------------------------------


def root_cell(node: nodes.Expr, at: Site) -> Cell | None:
    """The variable of the compilation that an expression is a part of."""
    while isinstance(node, nodes.Member | nodes.Index):
        node = node.base
    if not isinstance(node, nodes.Name):
        return None
    entry = scope_of(at).entry(node.name)
    return entry if isinstance(entry, Cell) else None


def reference(ev: Engine, node: nodes.Expr, at: Site) -> tuple[Cell, tuple[int, ...], Type]:
    """A part of a variable of the compilation: the way to it, and its type."""
    match node:
        case nodes.Name():
            return _cell(ev, node, at)
        case nodes.Member():
            cell, steps, kind = reference(ev, node.base, at)
            position, part = field_of(kind, node)
            return cell, (*steps, position), part
        case nodes.Index():
            return _indexed(ev, node, at)
        case nodes.BuiltinCall(name="@field"):
            return reference(ev, field_member(ev, node, at), at)
    raise error(
        node.span,
        "assign-at-comptime",
        "this can't be assigned to while compiling",
        "only local variables can",
    )


def _indexed(ev: Engine, node: nodes.Index, at: Site) -> tuple[Cell, tuple[int, ...], Type]:
    cell, steps, kind = reference(ev, node.base, at)
    if isinstance(kind, Tuple):
        position, part = tuple_position(ev, node, kind, at)
        return cell, (*steps, position), part
    element, items = index_items(ev, node, kind, at)
    numbers: list[Any] = []
    for part_node, item in zip(node.indices, items, strict=True):
        if isinstance(item, Live):
            raise unknown(item, part_node.span)
        numbers.append(item.data)
    if not isinstance(kind, Array):
        raise error(node.span, "assign-at-comptime", "memory can't be written while compiling")
    return cell, (*steps, flat(kind.shape, numbers)), element


def _cell(ev: Engine, node: nodes.Name, at: Site) -> tuple[Cell, tuple[int, ...], Type]:
    scope = scope_of(at)
    entry = scope.entry(node.name)
    if isinstance(entry, Cell):
        return entry, (), entry.type
    if entry is None and node.name not in scope.instance.slots:
        raise undefined(scope, node.name, node.span)
    if isinstance(entry, Known):
        message = f"`{node.name}` is constant"
        hint = f"var {node.name} = …"
        raise error(node.span, "assign-const", message, hint, scope.declared(node.name))
    if entry is None:
        slot = ev.slot(scope.instance, node.name, node.span)
        if slot.variable is None or not slot.variable.mutable:
            message, notes = f"`{node.name}` is constant", scope.declared(node.name)
            raise error(node.span, "assign-const", message, "", notes)
    message = f"`{node.name}` is a variable of the program: it has no value while compiling"
    raise error(node.span, "assign-at-comptime", message)


def write(cell: Cell, steps: tuple[int, ...], value: object) -> None:
    """Change a part of a variable of the compilation."""
    if not steps:
        cell.data, cell.shared = value, True
        return
    if len(steps) == 1 and isinstance(cell.type, Array):
        _write_element(cell, steps[0], value)
        return
    cell.data, cell.shared = replaced(cell.type, cell.data, steps, value), False


def _write_element(cell: Cell, position: int, value: object) -> None:
    data: Any = cell.data
    if isinstance(data, tuple):
        data = list(data)
        data[position] = value
        cell.data = tuple(data)
        return
    if cell.shared:
        data = data.copy()
        cell.data, cell.shared = data, False
    data.flags.writeable = True
    data[position] = value


def read(cell: Cell, steps: tuple[int, ...]) -> object:
    """A part of a variable of the compilation."""
    kind, data = cell.type, cell.data
    if not steps:
        cell.shared = True
        _freeze(data)
    for step in steps:
        whole: Any = data
        kind, data = part_type(kind, step), element_data(whole, step)
    return data


def _freeze(data: Any) -> None:
    if hasattr(data, "flags"):
        data.flags.writeable = False


def unknown(item: Live, span: Span) -> CslError:
    """An error for a value that isn't known while compiling."""
    culprit = _culprit(item.tree)
    match culprit:
        case tree.LocalRef():
            message = f"`{culprit.local.name}` is not known while compiling"
        case tree.GlobalRef():
            name = culprit.variable.name.rpartition(".")[2]
            message = f"`{name}` is a variable: its value is not known while compiling"
        case tree.Call():
            message = f"the result of `{culprit.function.name}` is not known while compiling"
        case _:
            message = "this is not known while compiling"
    place = culprit.span if culprit is not None and culprit.span.source is span.source else span
    return error(place, "not-comptime", message, "a const, a param, or a literal")


def _culprit(expr: tree.Expr) -> tree.Expr | None:
    match expr:
        case tree.LocalRef() | tree.GlobalRef() | tree.Call() | tree.CallPointer():
            return expr
        case tree.Binary() | tree.Logical():
            return _culprit(expr.left) or _culprit(expr.right)
        case tree.Unary() | tree.Convert() | tree.Bitcast():
            return _culprit(expr.operand)
        case tree.Element():
            return _first((expr.base, *expr.indices))
        case tree.FieldOf():
            return _culprit(expr.base)
        case tree.Deref():
            return _culprit(expr.pointer)
        case tree.Aggregate():
            return _first(expr.parts)
        case _:
            return None


def _first(exprs: tuple[tree.Expr, ...]) -> tree.Expr | None:
    for one in exprs:
        found = _culprit(one)
        if found is not None:
            return found
    return None


def runtime(at: Site) -> bool:
    """Whether code is made here."""
    return at.context is Context.RUNTIME
