"""Tables that sort in the browser and read well without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sz_mcp.board.figures import shown
from sz_mcp.board.html import Child, Markup, element


@dataclass(frozen=True)
class Column:
    """One column; `meaning` is what a reader is told of it."""

    name: str
    number: bool = False
    meaning: str = ""
    wrap: bool = False
    """Whether it holds running text."""
    heads: bool = False
    """Whether its cells say what their rows are about; else the first column's do."""
    best: str = ""
    """`descending` if larger is better, and the first click shows the best first."""


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, and what it is sorted by; None comes last either way."""

    content: Child
    key: float | str | None = None


def number(value: float | None, digits: int = 3) -> Cell:
    """A number that sorts as one."""
    return Cell(shown(value, digits), value)


def words(value: str | None, content: Child = None) -> Cell:
    """A text that an agent may have chosen; content: what stands for it, such as a link."""
    if not value:
        return Cell("–")
    return Cell(content if content is not None else element("bdi", value), value.casefold())


def table(
    name: str, caption: Child, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> Markup:
    """A sortable table in a region that scrolls; name: its id."""
    head = [
        element(
            "th",
            element("span", column.name, title=column.meaning or None),
            scope="col",
            class_="number" if column.number else None,
            data_first=column.best or None,
        )
        for column in columns
    ]
    heads = next((column for column in columns if column.heads), columns[0])
    body = [
        element("tr", [_cell(column, cell, column is heads) for column, cell in pairs])
        for pairs in (zip(columns, row, strict=True) for row in rows)
    ]
    label = f"{name}-caption"
    return element(
        "div",
        element(
            "table",
            element("caption", element("span", caption), id=label),
            element("thead", element("tr", head)),
            element("tbody", body),
            id=name,
            data_sortable=True,
        ),
        class_="scroll",
        role="region",
        aria_labelledby=label,
        tabindex="0",
    )


def narrow(name: str) -> Markup:
    """A box that narrows a table to rows with a text; hidden where no script can work it."""
    box = element("input", type="search", data_narrows=name, autocomplete="off")
    return element("div", element("label", "Show rows with", box), class_="narrow", hidden=True)


def facts(pairs: Sequence[tuple[str, Child]]) -> Markup:
    """Names and values, such as the conditions of a run."""
    return element(
        "dl",
        [element("div", element("dt", name), element("dd", value)) for name, value in pairs],
        class_="facts",
    )


def _cell(column: Column, cell: Cell, heads: bool) -> Markup:
    key = f"{cell.key:.12g}" if isinstance(cell.key, int | float) else cell.key
    return element(
        "th" if heads else "td",
        cell.content,
        scope="row" if heads else None,
        class_="number" if column.number else "wrap" if column.wrap else None,
        data_key=key,
    )
