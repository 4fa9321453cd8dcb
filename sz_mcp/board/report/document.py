"""The parts of a report, and how they become HTML or Markdown.

Both hold the same parts in the same order; in Markdown a figure is a file of its own, and what
agents chose is escaped so that it is text there too.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from sz_mcp.board.html import Child, Markup, element, visible
from sz_mcp.board.layout import figure
from sz_mcp.board.tables import Cell, Column, table


@dataclass(frozen=True)
class Heading:
    """Begins a section."""

    words: str
    name: str


@dataclass(frozen=True)
class Subheading:
    """Begins a part of a section."""

    words: str


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    words: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Text of a program or a file, as it is."""

    words: str


@dataclass(frozen=True)
class Numbers:
    """A table."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A chart with its caption and the numbers that it shows."""

    name: str
    drawn: Markup
    caption: str
    numbers: Numbers


Part = Heading | Subheading | Paragraph | Bullets | Listing | Numbers | Figure


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    lead: str
    parts: tuple[Part, ...]


def html(document: Document) -> str:
    """One file that needs nothing else; its policy lets only its own style and script work."""
    style, script = _static("chart.css") + _static("board.css"), _static("board.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    contents = [
        element("li", element("a", part.words, href=f"#{part.name}"))
        for part in document.parts
        if isinstance(part, Heading)
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", document.title),
        Markup(f"<style>{style}</style>"),
    )
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "main",
            element("h1", document.title),
            element("p", document.lead, class_="lead"),
            element("nav", element("ul", contents), aria_label="Contents"),
            _all_html(document.parts),
            id="content",
            tabindex="-1",
        ),
        element("p", id="said", role="status", class_="spoken"),
        Markup(f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def markdown(document: Document, folder: str = "figures") -> str:
    """The same as Markdown; folder: where the figures lie beside it."""
    parts = [f"# {plain(document.title)}", plain(document.lead)]
    parts += [_markdown(part, folder) for part in document.parts]
    return "\n\n".join(parts) + "\n"


def alone(drawn: Markup) -> str:
    """A chart as an SVG file that carries its own colours."""
    style = _static("chart.css")
    head, rest = drawn.split(">", 1)
    return f"{head}><style>{style}</style>{rest}\n"


def write(document: Document, out: Path) -> tuple[Path, ...]:
    """Write report.html, report.md and figures/*.svg into a folder. Raises OSError."""
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    written = [out / "report.html", out / "report.md"]
    written[0].write_text(html(document), encoding="utf-8", errors="replace")
    written[1].write_text(markdown(document), encoding="utf-8", errors="replace")
    for part in document.parts:
        if isinstance(part, Figure):
            path = figures / f"{part.name}.svg"
            path.write_text(alone(part.drawn), encoding="utf-8", errors="replace")
            written.append(path)
    return tuple(written)


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$-])")


def plain(words: str) -> str:
    """Text that Markdown takes for text: on one line, its special characters escaped."""
    shown = visible(" ".join(words.split()))
    return _SPECIAL.sub(r"\\\1", shown).replace("&", "&amp;")


def _all_html(parts: Sequence[Part]) -> list[Child]:
    """Parts in order, figures that follow one another side by side."""
    made: list[Child] = []
    for is_figure, run in itertools.groupby(parts, lambda part: isinstance(part, Figure)):
        drawn = [_html(part) for part in run]
        made.append(element("div", drawn, class_="charts") if is_figure else drawn)
    return made


def _html(part: Part) -> Child:
    match part:
        case Heading():
            return element("h2", part.words, id=part.name)
        case Subheading():
            return element("h3", part.words)
        case Paragraph():
            return element("p", part.words)
        case Bullets():
            return element("ul", [element("li", item) for item in part.items])
        case Listing():
            lines = [element("span", line) for line in part.words.splitlines()]
            return element("pre", lines, tabindex="0")
        case Numbers():
            return table(part.name, part.caption, part.columns, part.rows)
        case Figure():
            return figure(part.drawn, part.caption, _html_table(part.numbers))


def _html_table(numbers: Numbers) -> Markup:
    return table(numbers.name, numbers.caption, numbers.columns, numbers.rows)


def _markdown(part: Part, folder: str) -> str:
    match part:
        case Heading():
            return f"## {plain(part.words)}"
        case Subheading():
            return f"### {plain(part.words)}"
        case Paragraph():
            return plain(part.words)
        case Bullets():
            return "\n".join(f"- {plain(item)}" for item in part.items)
        case Listing():
            fence = "`" * (_longest_run(part.words) + 3)
            return f"{fence}text\n{visible(part.words.rstrip())}\n{fence}"
        case Numbers():
            return _markdown_table(part)
        case Figure():
            caption = plain(part.caption)
            return f"![{caption}]({folder}/{part.name}.svg)\n\n{_markdown_table(part.numbers)}"


def _markdown_table(numbers: Numbers) -> str:
    head = "| " + " | ".join(plain(column.name) for column in numbers.columns) + " |"
    rule = "|" + "|".join(" ---: " if column.number else " --- " for column in numbers.columns)
    rows = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in numbers.rows]
    return "\n".join([f"*{plain(numbers.caption)}*", "", head, f"{rule}|", *rows])


def _cell(cell: Cell) -> str:
    content = cell.content
    if isinstance(content, Markup):
        # Cells of reports hold text or one element around it.
        return plain(_untagged(content))
    return plain(str(content)) if isinstance(content, str | int) else ""


def _untagged(content: Markup) -> str:
    bare = re.sub(r"<[^>]*>", "", content)
    for shown, escaped in (("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        bare = bare.replace(escaped, shown)
    return bare.replace("&amp;", "&")


def _longest_run(words: str) -> int:
    return max((len(run) for run in re.findall("`+", words)), default=0)


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _static(name: str) -> str:
    return files("sz_mcp.board").joinpath("static", name).read_text(encoding="utf-8")
