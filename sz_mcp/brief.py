"""The structured content of a reply as it is sent: whole, or what an agent's next step needs.

The short form keeps every field that the contract names. It leaves out what does not apply, empty
entries of nested records, and digits of measured numbers that are noise.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sz_mcp.replies import DescribeReply, QueryReply, Reply

DIGITS = 4
"""Significant digits of a number that was measured."""
ROW_TOKENS = 600
"""About how much of a reply the rows of a query may take, in tokens."""
_TOKEN = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z0-9]{1,3}")
"""Finds about as many pieces of a text as tokenizers do."""
_MEASURED = frozenset({"samples", "metrics", "limits", "peaks", "hardware", "loops", "compared"})
"""Lists of measured numbers."""
RARE = frozenset(
    {
        "progress",
        "score",
        "case_count",
        "cycles",
        "projected_gbps",
        "projection_basis",
        "against",
        "compared",
        "feedback",
        "search",
        "damage",
        "achieved",
        "reached",
        "tries",
        "side_bytes",
        "cache_state",
        "null_round_trip_s",
        "metrics",
    }
)
"""Fields that most replies have no use for; the list of tools does not name them either."""
_SPARSE = frozenset({"cases", "fields", "loops", "targets"})
"""Lists of records of which most fields are often empty."""
_IF_ANY = RARE | {"tasks", "fields"}
_KEPT: dict[str, frozenset[str]] = {
    "targets": frozenset({"target", "execution", "available", "reason"}),
    # Simpler ones come first: the order says the rung.
    "tasks": frozenset({"name", "summary"}),
    "fields": frozenset({"name", "shape", "dtype", "fill_value"}),
    "limits": frozenset({"name", "value", "unit"}),
    "peaks": frozenset({"name", "value", "unit"}),
    "hardware": frozenset({"name", "value", "unit"}),
}
"""List → what is told of each of its records; of other lists everything."""


def structured(reply: Reply, *, detailed: bool) -> dict[str, Any]:
    """JSON values of a reply."""
    # A reply about all targets has no fields of one target, and the reverse.
    whole = reply.model_dump(mode="json", exclude_unset=isinstance(reply, DescribeReply))
    if detailed:
        return whole
    told = {
        name: value
        for name, value in whole.items()
        if value or value is False or name not in _IF_ANY
    }
    return {name: _brief(name, value) for name, value in told.items()}


def fitting(reply: QueryReply) -> QueryReply:
    """A query's reply with as many rows as keep it short, at least one."""
    kept, left = 0, ROW_TOKENS
    for row in reply.rows:
        left -= len(_TOKEN.findall(json.dumps(row)))
        if left < 0 and kept:
            break
        kept += 1
    if kept == len(reply.rows):
        return reply
    return reply.model_copy(update={"rows": reply.rows[:kept], "truncated": True})


def _brief(name: str, value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_record(name, one) for one in value]
    return value


def _record(name: str, record: dict[str, Any]) -> dict[str, Any]:
    kept = _KEPT.get(name, record.keys())
    told = {key: value for key, value in record.items() if key in kept}
    if name == "fields" and str(record["name"]).startswith("synthetic:"):
        return {"name": record["name"]}  # which says the rest
    if name in _SPARSE:
        told = {key: value for key, value in told.items() if value not in (None, "", [])}
    if name not in _MEASURED:
        return told
    return {k: _rounded(v) if isinstance(v, float) else v for k, v in told.items()}


def _rounded(value: float) -> float | int:
    if value.is_integer() and abs(value) < 1e15:
        return int(value)
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
