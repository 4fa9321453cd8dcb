"""Agents beside a named author: fast_p, wins, and the speed against the physical limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.html import Markup, element
from sz_mcp.board.layout import section
from sz_mcp.board.pages.agent import agent_link
from sz_mcp.board.tables import Cell, Column, number, table, words


@dataclass(frozen=True)
class BesideRow:
    """One agent; None where there is no number, or the reader may not see who it is."""

    agent: str | None
    solved: int
    conditions: int
    fast: tuple[float, ...]
    """Share of the author's conditions that are faster than each of `BesideTable.ps` times it."""
    wins: float
    ratio: float | None
    limit: float | None
    sol: float | None


@dataclass(frozen=True)
class BesideTable:
    """One execution and machine."""

    where: str
    author: str
    ps: tuple[float, ...]
    rows: tuple[BesideRow, ...]


def beside_section(tables: Sequence[BesideTable], author: str) -> Markup:
    """The tables, or why there is none."""
    if not tables:
        nothing = "No agent of this name, or none whose name you may see, has a speed here."
        return section(f"Beside {author}", element("p", nothing), name="beside")
    drawn = [_table(place, one) for place, one in enumerate(tables)]
    return section(f"Beside {author}", drawn, name="beside")


def _table(place: int, found: BesideTable) -> Markup:
    columns = (
        Column("Agent", heads=True),
        Column("Solved", True, "Conditions with a result that may be ranked, of all"),
        *(
            Column(f"fast_{p:g}", True, f"Share of the author's conditions: over {p:g}× as fast")
            for p in found.ps
        ),
        Column("Wins", True, "Share of all: faster, or solved where the author has nothing"),
        Column("Speed ratio", True, "Geometric mean over the author's, where both have one"),
        Column("Of memcpy", True, "Mean share of a copy's speed, 0 where not solved"),
        Column("SOL", True, "How much of the way from the author's speed to a copy's, mean"),
    )
    rows = [
        [
            words("another agent")
            if row.agent is None
            else Cell(agent_link(row.agent), row.agent.casefold()),
            Cell(f"{row.solved} of {row.conditions}", row.solved),
            *(number(share) for share in row.fast),
            number(row.wins), number(row.ratio), number(row.limit), number(row.sol),
        ]
        for row in found.rows
    ]  # fmt: skip
    return table(f"beside-{place}", f"{found.where}, beside {found.author}", columns, rows)
