"""Rows of compressors as tables for people and as JSON.

Speeds are MB (1e6 bytes) of original data per second. A compressor that breaks its bound is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from kernels.fields.dims import dims_text
from sz_mcp.peers.measure import Row

_COLUMNS = (
    "bound", "codec", "ratio >", "compress MB/s >", "best >", "decompress MB/s >", "best >",
    "error/bound >", "violations >", "PSNR dB >",
)  # fmt: skip
_SUITE_COLUMNS = ("codec", "held >", "broken >", "error >", "died >", "timeout >", "broken cases")
_NAMED = 3
"""Cases whose names are shown."""


def table(rows: Sequence[Row]) -> Table:
    """Of one field."""
    subject = rows[0].subject
    made = _table(_COLUMNS, f"{subject.name}, {dims_text(subject.data.shape)} {subject.data.dtype}")
    for before, row in zip((None, *rows), rows, strict=False):
        if before is not None and before.subject is not row.subject:
            made.add_section()
        made.add_row(*_cells(row), style=_style(row))
    return made


def suite_table(rows: Sequence[Row]) -> Table:
    """Of the suite of hard cases: one line per compressor."""
    made = _table(_SUITE_COLUMNS, "the suite of hard cases")
    for codec in dict.fromkeys(row.codec for row in rows):
        own = [row for row in rows if row.codec == codec]
        count = Counter(row.status for row in own)
        if count["missing"]:
            made.add_row(codec.name, *[""] * 5, "missing", style="dim")
            continue
        broken = [row.subject.name for row in own if row.status == "violates"]
        more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
        kinds = ("holds", "violates", "error", "died", "timeout")
        made.add_row(
            codec.name,
            *(str(count[kind]) if count[kind] else "" for kind in kinds),
            ", ".join(broken[:_NAMED]) + more,
            style="red" if broken else "",
        )
    return made


def troubles(rows: Sequence[Row]) -> Sequence[str]:
    """Why compressors have no result, once each."""
    found = (f"{row.codec.name}: {row.trouble.message}" for row in rows if row.trouble is not None)
    return tuple(dict.fromkeys(found))


def plain(row: Row) -> Mapping[str, Any]:
    """A row for JSON: no number in it is infinite or NaN."""
    subject, found = row.subject, row.comparison
    return {
        "field": subject.name,
        "shape": list(subject.data.shape),
        "dtype": str(subject.data.dtype),
        "mode": subject.bound.mode,
        "bound": subject.bound.value,
        "abs_bound": subject.bound.absolute,
        "codec": row.codec.name,
        "what": row.codec.what,
        "package": row.codec.package or None,
        "status": row.status,
        "message": row.trouble.message if row.trouble else None,
        "raw_bytes": subject.data.nbytes,
        "stream_bytes": row.passed[0].stream_bytes if row.passed else None,
        "ratio": row.ratio,
        "violations": found.violations if found else None,
        "checked": found.checked if found else None,
        "error_over_bound": row.error_share,
        "lossless": found.sum_squared_error == 0.0 and found.holds if found else None,
        "psnr": row.psnr,
        "zero_signs_changed": found.zero_signs_changed if found else None,
        **{
            f"{direction}_{key}": value
            for direction in ("compress", "decompress")
            for key, value in _speeds(row, direction).items()
        },
    }


def _speeds(row: Row, direction: str) -> Mapping[str, Any]:
    return {
        "mb_s": row.speed(direction),
        "mb_s_best": row.speed(direction, best=True),
        "seconds": list(row.seconds(direction)),
        "cpu_seconds": list(row.seconds(direction, cpu=True)),
    }


def _table(columns: Sequence[str], title: str) -> Table:
    """A column whose name ends in > is aligned to the right."""
    made = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        name = column.removesuffix(" >")
        made.add_column(name, justify="left" if name == column else "right", overflow="fold")
    return made


def _style(row: Row) -> str:
    if row.status == "violates":
        return "red"
    return "" if row.status == "holds" else "dim"


def _cells(row: Row) -> list[str]:
    bound = f"{row.subject.bound.mode} {row.subject.bound.value:g}"
    if row.trouble is not None:
        return [bound, row.codec.name, *[""] * 6, row.trouble.kind]
    found = row.comparison
    speeds = [
        _rounded(row.speed(direction, best=best))
        for direction in ("compress", "decompress")
        for best in (False, True)
    ]
    count = f"{found.violations:,} of {found.checked:,} ✗" if found and not found.holds else "0"
    return [
        bound,
        row.codec.name,
        "" if row.ratio is None else f"{row.ratio:.2f}",
        *speeds,
        "" if row.error_share is None else f"{row.error_share:.5f}",
        count,
        "" if row.psnr is None else f"{row.psnr:.1f}",
    ]


def _rounded(speed: float | None) -> str:
    return "" if speed is None else f"{speed:,.0f}"
