"""Rows → one journal line: ASCII JSON without a newline inside, that DuckDB reads back unchanged.

NaN and infinities become the strings that DuckDB casts back to DOUBLE. Lone surrogates, which JSON
readers refuse, become visible escapes. Over-long texts are cut and say so: a ledger row must stay
small enough to be written at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

TEXT_LIMIT = 65536
"""Characters of one text that a row keeps."""

DEPTH_LIMIT = 32
"""Levels of lists and objects that a row keeps."""

LINE_VERSION = 1
"""Shape of a line: {"v": 1, "rows": [{"table": …, "id": …, column: value, …}, …]}."""


def line(rows: Sequence[Mapping[str, object]]) -> bytes:
    """One event: several rows that are kept or lost together."""
    return (_ordinary(rows) or _dump([plain(row) for row in rows])).encode("ascii") + b"\n"


def _ordinary(rows: Sequence[Mapping[str, object]]) -> str | None:
    """The line if nothing in it needs care; seven times faster than looking at every value."""
    try:
        text = _dump(rows)
    except (ValueError, TypeError, RecursionError):
        return None
    # A surrogate escape may be half of a pair or a lone one; nesting is at most as deep as there
    # are brackets.
    careful = len(text) > TEXT_LIMIT or "\\ud" in text or text.count("[") + text.count("{") > 100
    return None if careful else text


def _dump(rows: object) -> str:
    event = {"v": LINE_VERSION, "rows": rows}
    return json.dumps(event, allow_nan=False, separators=(",", ":"), default=_ordinary_value)


def _ordinary_value(value: object) -> object:
    if isinstance(value, datetime):
        return _timestamp(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {column.name: getattr(value, column.name) for column in fields(value)}
    raise TypeError


def plain(value: object, depth: int = DEPTH_LIMIT) -> Json:
    """`value` as JSON types; what has no JSON form becomes its text."""
    match value:
        case None | bool():
            return value
        case str():
            return _text(value)
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else _non_finite(value)
        case datetime():
            return _timestamp(value)
        case Mapping() | list() | tuple():
            return _nested(value, depth)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {column.name: plain(getattr(value, column.name)) for column in fields(value)}
        case _:
            return _text(str(value))


def _nested(value: Mapping[object, object] | Sequence[object], depth: int) -> Json:
    if depth == 0:
        return "… [nested deeper than a row keeps]"
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(item, depth - 1) for key, item in value.items()}
    return [plain(item, depth - 1) for item in value]


def _text(value: str) -> str:
    if len(value) > TEXT_LIMIT:
        value = f"{value[:TEXT_LIMIT]}… [{len(value) - TEXT_LIMIT} characters cut]"
    if value.isascii():
        return str.__str__(value)
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _non_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _timestamp(value: datetime) -> str:
    """UTC without an offset: the database's timestamps are UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return value.isoformat(timespec="microseconds")
