"""The frame of every page: head, skip link, navigation, footer; and its security headers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files

from sz_mcp.board.html import Child, Markup, address, element

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing but what this server has, and no script or style within a page."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PAGES = (
    ("./", "Leaderboard"),
    ("overall", "Overall"),
    ("agents", "Agents"),
    ("reading", "How to read this"),
)


@dataclass(frozen=True)
class Answered:
    """A page as it is sent."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Shell:
    """What every page of one server says of itself."""

    as_of: datetime | None = None
    """When the copy of the ledger that is shown was made."""
    sight: str = ""
    """Whose work the reader may see, in a sentence."""


def page(shell: Shell, title: str, here: str, *content: Child) -> str:
    """A whole page; here: its place in the navigation."""
    links = [
        element("li", element("a", name, href=to, aria_current="page" if to == here else None))
        for to, name in PAGES
    ]
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("a", "sz-mcp", element("span", " leaderboard"), href="./", class_="brand"),
            element("nav", element("ul", links), aria_label="Pages"),
        ),
        element("main", element("h1", title), *content, id="content", tabindex="-1"),
        element("p", id="said", role="status", class_="spoken"),
        element("footer", _as_of(shell), element("p", shell.sight)),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} – sz-mcp"),
        element("link", rel="icon", href=static("icon.svg"), type="image/svg+xml"),
        element("link", rel="stylesheet", href=static("chart.css")),
        element("link", rel="stylesheet", href=static("board.css")),
        element("script", src=static("board.js"), defer=True),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def static(name: str) -> str:
    """Where a file of the pages is, by a name that is another when its content is."""
    return address(f"static/{name}", v=version(name))


@lru_cache(maxsize=16)
def version(name: str) -> str:
    """Of a file of the pages."""
    return hashlib.sha256(static_file(name)).hexdigest()[:12]


def static_file(name: str) -> bytes:
    """Its content."""
    return files("sz_mcp.board").joinpath("static", name).read_bytes()


def section(heading: str, *content: Child, name: str = "") -> Markup:
    """A part of a page under its heading; name: its id."""
    return element("section", element("h2", heading), *content, id=name or None)


def figure(drawn: Markup, caption: Child, data: Markup | None = None) -> Markup:
    """A chart with its caption, and the table of what it shows."""
    behind = None
    if data is not None:
        behind = element("details", element("summary", "The numbers behind this"), data)
    return element(
        "figure",
        element("div", drawn, class_="plot"),
        element("figcaption", caption),
        behind,
    )


def note(*content: Child) -> Markup:
    """A remark that stands out."""
    return element("p", *content, class_="note")


def _as_of(shell: Shell) -> Markup | None:
    if shell.as_of is None:
        return None
    moment = shell.as_of
    told = element("time", f"{moment:%Y-%m-%d %H:%M:%S} UTC", datetime=moment.isoformat())
    return element("p", "From the ledger as of ", told)
