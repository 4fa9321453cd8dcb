"""Tables of `sz-mcp standings --detail` and `--against`: help, economy, fronts, an author."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import duckdb
from rich.table import Table

from results_db.comparing import (
    Beside,
    Economy,
    Front,
    Gain,
    beside,
    economies,
    fronts,
    gains,
)
from results_db.measures.uncertainty import LEAST_SESSIONS
from results_db.standings import Scope


@dataclass(frozen=True)
class Detail:
    """What is told beside the standings of a scope."""

    gains: tuple[Gain, ...] = ()
    economies: tuple[Economy, ...] = ()
    fronts: tuple[Front, ...] = ()
    beside: tuple[Beside, ...] = ()
    author: str = ""

    def plain(self) -> dict[str, object]:
        """As JSON has it; the keys of `fast` are texts there."""
        return asdict(self)


def detail(
    connection: duckdb.DuckDBPyConnection, scope: Scope, author: str, *, whole: bool
) -> Detail:
    """Read it; `author` may be empty. Where the author has no speed, nothing is beside it."""
    try:
        rows = beside(connection, scope, author) if author else ()
    except ValueError:
        rows = ()
    if not whole:
        return Detail(beside=rows, author=author)
    return Detail(
        gains(connection, scope),
        economies(connection, scope),
        fronts(connection, scope),
        rows,
        author,
    )


def tables(found: Detail) -> Iterable[Table]:
    """Those that have a row."""
    if found.gains:
        yield _table(
            "what help gains, in worth, paired by conditions",
            ("agent", "from", "to", "conditions", "gain", "95%", ""),
            [
                (
                    g.agent,
                    g.before,
                    g.after,
                    f"{g.conditions}",
                    f"{g.gain:+.3f}",
                    _range(g),
                    "" if g.sessions >= LEAST_SESSIONS else "too few sessions",
                )
                for g in found.gains
            ],
        )
    if found.economies:
        yield _table(
            "mean best so far over a budget, in worth",
            ("agent", "spent", "budget", "area", "95%"),
            [
                (e.agent, e.spent, f"{e.budget:.4g}", f"{e.area:.3f}", _range(e))
                for e in found.economies
            ],
        )
    if found.fronts:
        yield _table(
            "fronts of ratio and speed: log2 ratio x log2 speed, mean over conditions",
            ("agent", "conditions", "volume"),
            _volumes(found.fronts),
        )
    if found.beside:
        yield _author(found)


def _volumes(found: Sequence[Front]) -> list[tuple[str, ...]]:
    per_agent: dict[str, list[float]] = defaultdict(list)
    for one in found:
        per_agent[one.agent].append(one.volume)
    return [
        (agent, f"{len(own)}", f"{statistics.fmean(own):.2f}") for agent, own in per_agent.items()
    ]


def _author(found: Detail) -> Table:
    ps = list(found.beside[0].fast)
    return _table(
        f"beside {found.author}: fast_p of its conditions, wins of all",
        ("agent", "solved", *(f"fast_{p:g}" for p in ps), "wins", "ratio", "of memcpy", "SOL"),
        [
            (
                row.agent,
                f"{row.solved}/{row.conditions}",
                *(f"{share:.2f}" for share in row.fast.values()),
                f"{row.wins:.2f}",
                *("" if n is None else f"{n:.3f}" for n in (row.ratio, row.limit, row.sol)),
            )
            for row in found.beside
        ],
    )


def _range(one: Gain | Economy) -> str:
    return f"{one.low:.3f} to {one.high:.3f}"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for name in columns:
        table.add_column(name, justify="left" if name in ("agent", "from", "to") else "right")
    for row in rows:
        table.add_row(*row)
    return table
