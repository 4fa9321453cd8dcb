"""`|i, j|{N, M} -> A[i, j]`: its extents, strides and first element.

The indices are taken apart over the syntax tree, so that their coefficients may be anything: what
is known is computed as integers, the rest becomes code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Evaluator, Item, Live, Site
from toolchains.csl.source import CslError, Span, error
from toolchains.csl.types import COMPTIME_INT, I16, U16, Type
from toolchains.csl.values import Known

from .arguments import is_integer, wrap

MOST_VARIABLES = 4


@dataclass(frozen=True, eq=False)
class Access:
    """What a DSD of memory walks over."""

    base: Item
    """A pointer."""
    element: Type
    extents: tuple[Item, ...]
    """Outermost first."""
    strides: tuple[Item, ...]
    """In elements, outermost first."""
    offset: Item
    """In elements, of the first one."""
    span: Span


_Term = tuple[int, tuple[nodes.Expr, ...]]
"""A number times factors in which no variable stands."""
_Form = Mapping[str, tuple[_Term, ...]]
"""For each variable what it is multiplied by; for the empty name what is added."""


def take_apart(ev: Evaluator, node: nodes.TensorAccess, at: Site) -> Access:
    """The parts of a tensor access."""
    access = node.access
    names = node.variables
    if not isinstance(access, nodes.Index):
        message = "a tensor access ends in the element that it accesses"
        raise error(access.span, "tensor-access", message, "|i|{n} -> a[i]")
    if len(names) > MOST_VARIABLES:
        message = f"a tensor access has at most {MOST_VARIABLES} variables, not {len(names)}"
        raise error(node.span, "tensor-access", message)
    _check_variables(node)
    base, element, shape = _array(ev, access, at)
    forms = [_linear(one, frozenset(names)) for one in access.indices]
    extents = tuple(ev.value(one, at, U16) for one in node.extents)
    whole_array = math.prod(shape)
    for form, size, index in zip(forms, shape, access.indices, strict=True):
        if whole_array == 1:
            # A placeholder: DSDs of it are made first, and get their base later.
            break
        _check_bounds(ev, form, size, dict(zip(names, extents, strict=True)), index, at)
    whole = _flat(forms, shape)
    strides = tuple(_value(ev, whole.get(name, ()), at) for name in names)
    offset = _value(ev, whole.get("", ()), at)
    return Access(base, element, extents, strides, offset, node.span)


def _check_variables(node: nodes.TensorAccess) -> None:
    for position, name in enumerate(node.variables):
        if name in node.variables[:position]:
            message = f"the variable `{name}` is there twice"
            raise error(node.variable_spans[position], "tensor-access", message)


def _array(ev: Evaluator, access: nodes.Index, at: Site) -> tuple[Item, Type, tuple[int, ...]]:
    """A pointer to the first element, the type of elements, the shape (-1: not known)."""
    pointer = ev.item(access.base, at)
    kind = pointer.type
    if isinstance(kind, types.Array):
        pointer = ev.item(nodes.AddressOf(access.base.span, access.base), at)
    array = kind.target if isinstance(kind, types.Pointer) else kind
    shape: tuple[int, ...] = (-1,)
    if isinstance(array, types.Array):
        element, shape = array.element, array.shape
    elif isinstance(kind, types.Pointer) and kind.many:
        element = array
    else:
        message = f"a tensor access is of an array, not of a `{kind}`"
        raise error(access.base.span, "tensor-access", message, "|i|{n} -> a[i]")
    if len(access.indices) != len(shape):
        message = f"`{kind}` takes {len(shape)} indices, not {len(access.indices)}"
        raise error(access.span, "index-count", message)
    return pointer, element, shape


# --- linear forms --------------------------------------------------------------------------------


def _linear(node: nodes.Expr, names: frozenset[str]) -> _Form:
    if not _mentions(node, names):
        return {"": ((1, (node,)),)}
    match node:
        case nodes.Name():
            return {node.name: ((1, ()),)}
        case nodes.Unary(operator="-"):
            return _scaled(_linear(node.operand, names), -1, ())
        case nodes.Binary(operator="+" | "-"):
            left, right = _linear(node.left, names), _linear(node.right, names)
            return _sum(left, _scaled(right, -1 if node.operator == "-" else 1, ()))
        case nodes.Binary(operator="*") if not _mentions(node.right, names):
            return _scaled(_linear(node.left, names), 1, (node.right,))
        case nodes.Binary(operator="*") if not _mentions(node.left, names):
            return _scaled(_linear(node.right, names), 1, (node.left,))
        case nodes.BuiltinCall(name="@as") if len(node.arguments) == 2:
            return _linear(node.arguments[1], names)
        case _:
            raise _not_linear(node, names)


def _mentions(node: object, names: frozenset[str]) -> bool:
    if isinstance(node, nodes.Name):
        return node.name in names
    if isinstance(node, tuple):
        return any(_mentions(one, names) for one in node)
    if is_dataclass(node) and type(node).__module__ == nodes.__name__:
        return any(_mentions(getattr(node, one.name), names) for one in fields(node))
    return False


def _not_linear(node: nodes.Expr, names: frozenset[str]) -> CslError:
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    message = f"an index depends on {listed} only by products and sums"
    hint = "such as a[2 * i + n, m - j]: what a variable is multiplied by is fixed"
    return error(node.span, "not-affine", message, hint)


def _scaled(form: _Form, number: int, factors: tuple[nodes.Expr, ...]) -> _Form:
    return {
        name: tuple((number * sign, inside + factors) for sign, inside in terms)
        for name, terms in form.items()
    }


def _sum(left: _Form, right: _Form) -> _Form:
    return {
        name: (*left.get(name, ()), *right.get(name, ())) for name in dict.fromkeys((*left, *right))
    }


def _flat(forms: list[_Form], shape: tuple[int, ...]) -> _Form:
    """Of the element's number in the whole array."""
    whole: _Form = {}
    step = 1
    for form, size in zip(reversed(forms), reversed(shape), strict=True):
        whole = _sum(whole, _scaled(form, step, ()))
        step *= size
    return whole


# --- their values --------------------------------------------------------------------------------


def _value(ev: Evaluator, terms: tuple[_Term, ...], at: Site) -> Item:
    """The sum of terms: a known integer, or code that computes an i16."""
    total = 0
    code: tree.Expr | None = None
    for number, factors in terms:
        product: tree.Expr | None = None
        for factor in factors:
            item = _integer(ev, factor, at)
            if isinstance(item, Known):
                data: Any = item.data
                number *= data
            else:
                short = _short(item.tree)
                product = short if product is None else _binary("*", product, short)
        if product is None:
            total += number
        else:
            code = _added(code, product, number)
    if code is None:
        return Known(COMPTIME_INT, total)
    if total:
        code = _binary("+", code, _constant(total, code.span))
    return Live(I16, code)


def _added(code: tree.Expr | None, product: tree.Expr, number: int) -> tree.Expr:
    if code is not None and number == -1:
        return _binary("-", code, product)
    if number == -1:
        product = tree.Unary(I16, product.span, "-", product)
    elif number != 1:
        product = _binary("*", product, _constant(number, product.span))
    return product if code is None else _binary("+", code, product)


def _integer(ev: Evaluator, node: nodes.Expr, at: Site) -> Item:
    item = ev.item(node, at)
    if not is_integer(item.type):
        message = f"an index is an integer, not a `{item.type}`"
        raise error(node.span, "index-type", message)
    return item


def _short(expr: tree.Expr) -> tree.Expr:
    if expr.type == I16:
        return expr
    if expr.type == U16:
        return tree.Bitcast(I16, expr.span, expr)
    return tree.Convert(I16, expr.span, expr)


def _binary(operator: str, left: tree.Expr, right: tree.Expr) -> tree.Expr:
    return tree.Binary(I16, left.span, operator, left, right)


def _constant(number: int, span: Span) -> tree.Expr:
    return tree.Constant(I16, span, Known(I16, wrap(number, I16)))


def _check_bounds(
    ev: Evaluator,
    form: _Form,
    size: int,
    extents: Mapping[str, Item],
    node: nodes.Expr,
    at: Site,
) -> None:
    """Whether all elements are within a dimension, if that is known."""
    if size < 0:
        return
    low = high = _known_number(_value(ev, form.get("", ()), at))
    for name, extent in extents.items():
        count, step = _known_number(extent), _known_number(_value(ev, form.get(name, ()), at))
        if count is None or step is None or low is None or high is None or count == 0:
            return
        reach = (count - 1) * step
        low, high = low + min(0, reach), high + max(0, reach)
    if low is None or high is None or (low >= 0 and high < size):
        return
    wrong = low if low < 0 else high
    message = f"this index reaches {wrong}, outside of {size} elements"
    raise error(node.span, "out-of-bounds", message, f"0 to {size - 1}" if size else "")


def _known_number(item: Item) -> int | None:
    data = item.data if isinstance(item, Known) else None
    return data if isinstance(data, int) else None
