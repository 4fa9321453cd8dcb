"""Cases of a switch: their values, whether they cover everything, and which one is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes
from toolchains.csl.evaluation import Item, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import COMPTIME_INT, Enum, Int, Type
from toolchains.csl.values import Known

from .names import Engine


@dataclass(frozen=True)
class Cases:
    """Of a switch, checked."""

    scrutinee: Item
    valued: tuple[tuple[tuple[int, ...], nodes.Case], ...]
    otherwise: nodes.Case | None


def read_cases(ev: Engine, node: nodes.SwitchExpr, at: Site) -> Cases:
    """The cases with their values."""
    item = ev.item(node.scrutinee, at)
    kind = item.type
    if not isinstance(kind, Int | Enum) and kind != COMPTIME_INT:
        message = f"a switch is over an integer or an enum, not over a `{kind}`"
        raise error(node.scrutinee.span, "switch-type", message, "if … else …")
    seen: dict[int, Span] = {}
    valued: list[tuple[tuple[int, ...], nodes.Case]] = []
    otherwise: nodes.Case | None = None
    for case in node.cases:
        if not case.values:
            otherwise = _only(case, otherwise)
            continue
        numbers = tuple(_number(ev, value, kind, at, seen) for value in case.values)
        valued.append((numbers, case))
    if otherwise is None:
        _check_all(node, kind, set(seen))
    return Cases(item, tuple(valued), otherwise)


def _only(case: nodes.Case, before: nodes.Case | None) -> nodes.Case:
    if before is not None:
        raise error(case.span, "duplicate-case", "a switch has one `else`")
    return case


def _number(ev: Engine, node: nodes.Expr, kind: Type, at: Site, seen: dict[int, Span]) -> int:
    data: Any = ev.known(node, at, kind).data
    if data in seen:
        raise error(node.span, "duplicate-case", "this value has a case already")
    seen[data] = node.span
    return int(data)


def _check_all(node: nodes.SwitchExpr, kind: Type, seen: set[int]) -> None:
    if isinstance(kind, Enum):
        missing = [name for name, value in kind.members if value not in seen]
        if missing:
            message = f"no case for {', '.join(f'`{name}`' for name in missing)}"
            raise error(node.scrutinee.span, "not-exhaustive", message, "else => …")
    elif not isinstance(kind, Int) or len(seen) < 1 << kind.bits:
        message = f"not every value of `{kind}` has a case"
        raise error(node.scrutinee.span, "not-exhaustive", message, "else => {}")


def taken(cases: Cases, data: object) -> nodes.Case:
    """The case of a known value."""
    for numbers, case in cases.valued:
        if data in numbers:
            return case
    assert cases.otherwise is not None
    return cases.otherwise


def chosen(ev: Engine, node: nodes.SwitchExpr, at: Site) -> nodes.Case | None:
    """The case that is taken, if what is switched over is known."""
    cases = read_cases(ev, node, at)
    return taken(cases, cases.scrutinee.data) if isinstance(cases.scrutinee, Known) else None
