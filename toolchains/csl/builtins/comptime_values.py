"""@import_comptime_value: a value from a file of JSON."""

from __future__ import annotations

import json

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Evaluator, Item, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import BOOL, COLOR, COMPTIME_FLOAT, COMPTIME_INT, COMPTIME_STRING, Type
from toolchains.csl.values import Known

from .arguments import text
from .arrays import array_data

_NAMES: dict[str, Type] = {
    "bool": BOOL,
    "color": COLOR,
    "comptime_int": COMPTIME_INT,
    "comptime_float": COMPTIME_FLOAT,
    "comptime_string": COMPTIME_STRING,
    "f16": types.F16,
    "f32": types.F32,
    **{f"{sign}{bits}": types.Int(bits, sign == "i") for sign in "iu" for bits in (8, 16, 32, 64)},
}


def import_comptime_value(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@import_comptime_value(T, "file.json"): scalars, strings, flat arrays, objects."""
    kind = ev.type(node.arguments[0], at)
    where = node.arguments[1].span
    path = text(ev, node.arguments[1], at, "the path of a file").decode("utf-8", "replace")
    content = ev.read(ev.resolve(path, where), where)
    try:
        value = json.loads(content)
    except json.JSONDecodeError as problem:
        raise error(where, "bad-json", f"{path} is no JSON: {problem}") from problem
    return _value(ev, value, kind, where)


def _value(ev: Evaluator, value: object, kind: Type, span: Span) -> Known:
    if isinstance(value, dict):
        return _struct(ev, value, span)
    if isinstance(kind, types.Array):
        return _array(ev, value, kind, span)
    literal = _literal(value, kind, span)
    result = ev.coerce(literal, kind, span)
    assert isinstance(result, Known)
    return result


def _literal(value: object, kind: Type, span: Span) -> Known:
    match value:
        case bool():
            return Known(BOOL, value)
        case int():
            return Known(COLOR if kind == COLOR else COMPTIME_INT, value)
        case float():
            return Known(COMPTIME_FLOAT, value)
        case str():
            return Known(COMPTIME_STRING, value.encode())
    raise error(span, "bad-json", f"{json.dumps(value)[:40]} is no value of type `{kind}`")


def _array(ev: Evaluator, value: object, kind: types.Array, span: Span) -> Known:
    if not isinstance(value, list) or len(value) != kind.count:
        message = f"the file has no list of {kind.count} values, which `{kind}` needs"
        raise error(span, "bad-json", message)
    return Known(kind, array_data(kind, [_value(ev, x, kind.element, span).data for x in value]))


def _struct(ev: Evaluator, value: dict[str, object], span: Span) -> Known:
    parts: list[tuple[str, Known]] = []
    for key, content in value.items():
        name, _, written = key.partition(":")
        kind = _named(written.strip(), content, span)
        parts.append((name.strip(), _value(ev, content, kind, span)))
    kind = types.Anonymous(tuple((name, part.type) for name, part in parts))
    return Known(kind, tuple(part.data for _, part in parts))


def _named(written: str, content: object, span: Span) -> Type:
    if written.startswith("["):
        length, _, element = written[1:].partition("]")
        if length.strip().isdigit() and element.strip() in _NAMES:
            return types.Array((int(length),), _NAMES[element.strip()])
    elif written in _NAMES or isinstance(content, dict):
        return _NAMES.get(written, types.VOID)
    message = f'a name in the file is written "name:type"; there is no type "{written}"'
    raise error(span, "bad-json", message)
