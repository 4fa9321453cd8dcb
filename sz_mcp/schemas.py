"""JSON schemas of the tools, in two sizes.

The brief form is what `tools/list` sends into every agent's context: arguments with a line each,
results by name and type. The full form, with the meaning and unit of every field, is the resource
`sz-mcp://tools/NAME`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kernels.modes.names import MEANINGS
from sz_mcp.brief import RARE

if TYPE_CHECKING:
    from sz_mcp.tools import Declared

Schema = dict[str, Any]

_NULL = {"type": "null"}


def description(declared: Declared) -> str:
    """What the body of a tool says of itself, without the indentation."""
    lines = (declared.body.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


def full_form(name: str, declared: Declared) -> dict[str, object]:
    """Everything there is to know about a tool."""
    modes = {"modes": MEANINGS} if "mode" in declared.arguments.model_fields else {}
    return {
        "name": name,
        "title": declared.title,
        "description": description(declared),
        **modes,
        "inputSchema": _full(declared.arguments),
        "outputSchema": _full(declared.reply),
    }


def arguments_schema(model: type[BaseModel]) -> Schema:
    """What a tool takes: every argument, its type, default and meaning."""
    whole = model.model_json_schema()
    schema: Schema = {
        "type": "object",
        "properties": {
            name: _argument(one, whole.get("$defs", {}))
            for name, one in whole["properties"].items()
        },
        "additionalProperties": False,
    }
    if whole.get("required"):
        schema["required"] = whole["required"]
    return schema


def result_schema(model: type[BaseModel], named: tuple[str, ...] = ()) -> Schema:
    """What a tool returns: its usual fields, or those `named`, by name and type."""
    whole = model.model_json_schema()
    usual = named or [name for name in whole["properties"] if name not in RARE]
    properties = {
        name: _result(one, whole.get("$defs", {}))
        for name, one in whole["properties"].items()
        if name in usual
    }
    required = {"required": whole["required"]} if whole.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _argument(node: Schema, definitions: Schema) -> Schema:
    """Null is as good as leaving an argument out, and need not be said."""
    plain, _ = _plain(node, definitions)
    kept = {key: value for key, value in plain.items() if key not in ("title", "default")}
    if node.get("default") is not None:
        kept["default"] = node["default"]
    if "enum" in kept:
        kept.pop("type", None)
    text = node.get("description")
    return kept | ({"description": " ".join(text.split())} if text else {})


def _result(node: Schema, definitions: Schema) -> Schema:
    plain, nullable = _plain(node, definitions)
    kind = plain.get("type", "object")
    return {"type": [kind, "null"] if nullable else kind}


def _resolved(node: Schema, definitions: Schema) -> Schema:
    """A node without the reference it may consist of."""
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Schema = definitions[reference.removeprefix("#/$defs/")]
    return found


def _plain(node: Schema, definitions: Schema) -> tuple[Schema, bool]:
    """What a node is beside null, and whether it may be null."""
    choices = node.get("anyOf")
    if choices is None or _NULL not in choices:
        return _resolved(node, definitions), False
    others = [_resolved(one, definitions) for one in choices if one != _NULL]
    return (others[0] if len(others) == 1 else {"anyOf": others}), True


def _full(model: type[BaseModel]) -> Schema:
    schema = _without_titles(model.model_json_schema())
    if not isinstance(schema, dict):
        raise TypeError(f"{model.__name__} has no object schema")
    return schema


def _without_titles(node: object) -> object:
    """Titles only repeat the names."""
    if isinstance(node, list):
        return [_without_titles(one) for one in node]
    if isinstance(node, dict):
        kept = {k: v for k, v in node.items() if not (k == "title" and isinstance(v, str))}
        return {key: _without_titles(value) for key, value in kept.items()}
    return node
