"""Which page is made of what: the ledger is opened, what the reader may see is read, and rendered.

Imported when the first page is asked for, in a thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from results_db.blobs import BlobStore
from results_db.errors import BlobError, QueryError
from sz_mcp.board import agents as reading
from sz_mcp.board import attempts
from sz_mcp.board.attempts import Attempt, Owner
from sz_mcp.board.copy import Copy, opened, stamp
from sz_mcp.board.html import Child, element
from sz_mcp.board.layout import Answered, Shell, note, page
from sz_mcp.board.overall import beside_author, overall_rankings
from sz_mcp.board.pages.agent import SPENT, agents_page, attempts_section, charts
from sz_mcp.board.pages.attempt import Places, Shown, Work, attempt_page
from sz_mcp.board.pages.beside import beside_section
from sz_mcp.board.pages.leaderboard import leaderboard_page, overall_page
from sz_mcp.board.pages.reading import reading_page
from sz_mcp.board.rankings import rankings
from sz_mcp.board.sight import Sight

__all__ = ["answered", "stamp"]
_LOG = logging.getLogger(__name__)


class NoPageError(Exception):
    """There is no such page, or not for this reader; the two are told alike."""


@dataclass(frozen=True)
class Visit:
    """One reader at one page."""

    copy: Copy
    home: Path
    sight: Sight
    asked: Mapping[str, str]

    def given(self, name: str) -> str:
        """A parameter that the page can't do without. Raises NoPageError."""
        if not self.asked.get(name):
            raise NoPageError(f"this page needs ?{name}=…")
        return self.asked[name]

    @property
    def start(self) -> int:
        """Number of the first attempt of a list. Raises NoPageError."""
        asked = self.asked.get("start") or "0"
        if not (asked.isascii() and asked.isdigit() and len(asked) < 12):
            raise NoPageError("?start= is a whole number")
        return int(asked)

    @property
    def against(self) -> str:
        """What budget curves are drawn against. Raises NoPageError."""
        asked = self.asked.get("against") or SPENT[0]
        if asked not in SPENT:
            raise NoPageError(f"?against= is one of {', '.join(SPENT)}")
        return asked


def answered(home: Path, sight: Sight, wanted: tuple[str, Mapping[str, str]]) -> Answered:
    """A page, or one that says why there is none. wanted: its name and parameters."""
    name, asked = wanted
    try:
        with opened(home) as copy:
            title, here, content = PAGES[name](Visit(copy, home, sight, asked))
            shell = Shell(copy.as_of, sight.level.value)
            return Answered(200, page(shell, title, here, content).encode("utf-8", "replace"))
    except NoPageError as error:
        return _failed(404, "Not found", str(error))
    except QueryError as error:
        return _failed(503, "No ledger yet", str(error))
    except duckdb.Error:
        _LOG.exception("the page %r can't be made", name)
        return _failed(503, "The ledger can't be read", "See the server's log.")


Content = tuple[str, str, Child]
"""Title, place in the navigation, content."""


def attempt(visit: Visit) -> Content:
    """One attempt, with what it changed."""
    kernel_id, copy, sight = visit.given("kernel"), visit.copy, visit.sight
    owner = attempts.owner(copy, kernel_id)
    if owner is None or not _visible(sight, kernel_id, owner):
        raise NoPageError(f"there is no attempt {kernel_id!r} that you may see")
    named = sight.names(owner.agent) or kernel_id in sight.shared
    parent = None if owner.parent is None else attempts.owner(copy, owner.parent)
    places = Places(
        agent=owner.agent if named else None,
        before=_if_visible(sight, owner.before, owner),
        after=_if_visible(sight, owner.after, owner),
        parent=_if_visible(sight, owner.parent, parent),
    )
    found = attempts.attempts_named(copy, [kernel_id, *filter(None, [places.before])])
    one = found[kernel_id]
    earlier = None if places.before is None else _shown(visit, found[places.before])
    number = "" if one.number is None else f" {one.number}"
    title = f"Attempt{number}: {one.task} on {one.target}"
    return title, "attempt", attempt_page(_shown(visit, one), earlier, places)


def leaderboard(visit: Visit) -> Content:
    """The tables that the filters let through."""
    boards, every, choice = rankings(visit.copy, visit.sight, visit.asked)
    return "Leaderboard", "./", leaderboard_page(boards, every, choice)


def overall(visit: Visit) -> Content:
    """Agents over all that they tried."""
    bench, author = visit.asked.get("bench", ""), visit.asked.get("beside", "")
    boards, refused = overall_rankings(visit.copy, visit.sight, bench)
    content = overall_page(boards, refused, (bench, author))
    if author and not refused:
        found = beside_author(visit.copy, visit.sight, bench, author)
        content.append(beside_section(found, author))
    return "Overall", "overall", content


def reading_help(_visit: Visit) -> Content:
    """How to read the pages."""
    return "How to read this", "reading", reading_page()


def agents(visit: Visit) -> Content:
    """All agents whose name the reader may see."""
    listed = [one for one in reading.agents(visit.copy) if visit.sight.names(one.name)]
    return "Agents", "agents", agents_page(listed, visit.sight.level)


def agent(visit: Visit) -> Content:
    """One agent."""
    name, sight = visit.given("name"), visit.sight
    sessions = reading.sessions(visit.copy, name)
    open_ones = [one for one in sessions if sight.results(name, one)]
    if not sessions or not sight.names(name):
        raise NoPageError(f"there is no agent {name!r} that you may see")
    session, start = visit.asked.get("session", ""), visit.start
    chosen = None if len(open_ones) == len(sessions) else open_ones
    listed = attempts.attempts_of(visit.copy, name, [session] if session else chosen, start)
    listed = tuple(one for one in listed if _visible(sight, one.kernel_id, one))
    drawn = None
    if chosen is None and not session:
        drawn = charts(reading.charts_of(visit.copy, name, visit.against), name)
    content = [
        drawn,
        attempts_section(listed, name, start, session),
    ]
    return f"Agent {name}", "agent", content


def _visible(sight: Sight, kernel_id: str, owner: Owner | Attempt) -> bool:
    return sight.results(owner.agent, owner.session) or kernel_id in sight.shared


def _if_visible(sight: Sight, kernel_id: str | None, owner: Owner | None) -> str | None:
    """A kernel, if there is one and the reader may see how far it came."""
    if kernel_id is None or owner is None:
        return None
    return kernel_id if _visible(sight, kernel_id, owner) else None


def _shown(visit: Visit, one: Attempt) -> Shown:
    if not visit.sight.work(one.kernel_id, one.agent, one.session):
        return Shown(one, None)
    copy, name = visit.copy, one.kernel_id
    try:
        files = dict(BlobStore(visit.home).get_kernel(name).submission.files)
    except BlobError:
        files = {}
    return Shown(
        one,
        Work(
            files=files,
            metrics=attempts.metrics_of(copy, name),
            bottleneck=attempts.bottleneck_of(copy, name),
            messages=attempts.messages_of(copy, name),
            guidance=attempts.guidance_of(copy, name),
        ),
    )


def _failed(status: int, title: str, told: str) -> Answered:
    content = note(element("bdi", told))
    return Answered(status, page(Shell(), title, "", content).encode("utf-8", "replace"))


PAGES: Mapping[str, Callable[[Visit], Content]] = {
    "": leaderboard,
    "overall": overall,
    "agents": agents,
    "reading": reading_help,
    "agent": agent,
    "attempt": attempt,
}
