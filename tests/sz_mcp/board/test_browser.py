"""The pages in a real browser: sorting, narrowing, keyboard, both colour schemes, no script run.

Needs Playwright and a Chromium: `$SZ_MCP_CHROMIUM`, or one on the path (Debian: `apt-get install
chromium`).
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.applications import Starlette

from sz_mcp import edge
from sz_mcp.board.report.compose import report
from sz_mcp.board.report.document import write
from sz_mcp.board.report.measured import Scope
from sz_mcp.board.serve import Board
from sz_mcp.serving import security_of
from sz_mcp.settings import Http
from tests.sz_mcp.board.made import EVIL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Request

pytestmark = pytest.mark.slow
CHROMIUM = os.environ.get("SZ_MCP_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SCHEMES = ("light", "dark")
EVIL_KERNEL = "k_3_numba_0_1_szp"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: set SZ_MCP_CHROMIUM, or install one (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        # Tests of this project may run as root, where Chromium's own sandbox can't, and in
        # containers with a small /dev/shm.
        given = ["--no-sandbox", "--disable-dev-shm-usage"]
        try:
            made = started.chromium.launch(executable_path=CHROMIUM, args=given)
        except playwright.Error as error:
            pytest.skip(f"{CHROMIUM} does not start here: {str(error).splitlines()[0]}")
        yield made
        made.close()


@pytest.fixture(scope="module")
def address(ledger: Path) -> Iterator[str]:
    """Of the board, served as `sz-mcp board` does."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=Board(ledger).routes())
    server = uvicorn.Server(edge.configured(app, security_of(()), Http()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/board"
    server.should_exit = True
    thread.join()


class Visit:
    """A page that must stay without complaint: errors, dialogs and requests elsewhere are noted."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.page: Page = browser.new_page(**options)
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", lambda asked: self.asked.append(asked.url))
        self.asked: list[str] = []

    def _failed(self, asked: Request) -> None:
        # Whoever leaves a page aborts what it still loads.
        if asked.failure != "net::ERR_ABORTED":
            self.complaints.append(asked.url)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/overall",
        "/agents",
        "/reading",
        "/agent?name=claude",
        f"/attempt?kernel={EVIL_KERNEL}",
    ],
)
def test_pages_load_without_complaint_and_can_be_read_in_both_schemes(
    browser: Browser, address: str, path: str, scheme: str
) -> None:
    with Visit(browser, color_scheme=scheme) as visit:
        visit.page.goto(address + path)

        assert visit.complaints == []
        assert all(url.startswith(address) for url in visit.asked)
        names = {url.partition("?")[0].rsplit("/", 1)[-1] for url in visit.asked}
        assert {"board.css", "chart.css", "board.js"} <= names
        too_faint = visit.page.evaluate(FAINT)
        assert too_faint == []
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(_rgb(background)) < 150) == (scheme == "dark")


def _rgb(colour: str) -> list[int]:
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]


FAINT = """
() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b);
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    const svg = one instanceof SVGElement;
    if (svg && (one.localName === "title" || one.localName === "desc")) continue;
    if (svg && /on-(dark|light)/.test(one.getAttribute("class") || "")) continue;
    const a = light(parse(svg ? style.fill : style.color)), b = light(behind(one));
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const name = `${one.localName}.${one.getAttribute("class")} ${contrast.toFixed(2)}`;
    if (contrast < 4.5) found.add(name);
  }
  return [...found];
}
"""
"""Elements with text whose contrast is below 4.5 (WCAG 2.2, 1.4.3)."""


def test_no_script_of_an_agent_runs(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        for path in ("/", "/agents", f"/attempt?kernel={EVIL_KERNEL}"):
            visit.page.goto(address + path)
            assert visit.page.get_by_text("<script>alert('x')</script>").count() > 0
        visit.page.goto(f"{address}/agents")
        visit.page.get_by_role("link", name="<script>").click()
        assert EVIL[:8] in visit.page.get_by_role("heading", level=1).inner_text()
        assert visit.complaints == []


def test_the_policy_stops_a_script_that_got_into_a_page(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        visit.page.goto(f"{address}/reading")
        ran = visit.page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            " document.body.append(s); return window.ran === 1; }"
        )

    assert ran is False
    assert any("Content Security Policy" in one for one in visit.complaints)


def _column(table: Locator, place: int) -> list[str]:
    return table.locator(f"tbody tr > :nth-child({place})").all_inner_texts()


def test_a_click_on_a_heading_sorts_and_another_reverses(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        visit.page.goto(f"{address}/?task=szp&target=numba&bound=rel+0.001")
        table = visit.page.locator("#board-0")
        heading = table.get_by_role("columnheader", name="Ratio")
        name = table.get_by_role("columnheader", name="Agent")
        before = _column(table, 2)
        name.get_by_role("button").click()
        rising = _column(table, 2)
        assert name.get_attribute("aria-sort") == "ascending"
        assert visit.page.get_by_role("status").inner_text() == "Sorted by Agent, ascending"
        name.get_by_role("button").click()
        assert name.get_attribute("aria-sort") == "descending"
        assert _column(table, 2) == rising[::-1]
        heading.get_by_role("button").click()
        assert name.get_attribute("aria-sort") is None

        assert rising == sorted(before, key=str.casefold)
        assert len(before) == 4


def test_what_has_no_number_sorts_last_both_ways(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        visit.page.goto(f"{address}/agent?name=claude")
        table = visit.page.locator("#attempts")
        button = table.get_by_role("columnheader", name="Speed").get_by_role("button")
        for _ in range(2):
            button.click()
            speeds = _column(table, 9)
            count = sum(one != "–" for one in speeds)
            numbers = [float(one) for one in speeds[:count]]
            assert 0 < count < len(speeds)
            assert numbers in (sorted(numbers), sorted(numbers, reverse=True))


def test_a_table_narrows_to_rows_with_a_text(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        visit.page.goto(f"{address}/agent?name=claude")
        rows = visit.page.locator("#attempts tbody tr")
        every = rows.count()
        visit.page.get_by_label("Show rows with").fill("WAFER")
        left = visit.page.locator("#attempts tbody tr:not([hidden])")

        assert 0 < left.count() < every
        assert all("wafer" in text for text in left.all_inner_texts())
        said = visit.page.get_by_role("status").inner_text()
        assert said == f"{left.count()} of {every} rows shown"
        assert visit.complaints == []


def test_everything_works_by_keyboard_and_the_focus_is_seen(browser: Browser, address: str) -> None:
    with Visit(browser) as visit:
        page = visit.page
        page.goto(f"{address}/")
        page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        box = skip.bounding_box()
        assert skip.evaluate("one => one === document.activeElement")
        assert box is not None
        assert box["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        # From here every stop must be visible as such.
        stops: list[str] = []
        for _ in range(20):
            page.keyboard.press("Tab")
            stops.append(page.evaluate(STOP))
        assert [one for one in stops if not one.startswith("outlined")] == []
        assert {"outlined SELECT", "outlined BUTTON", "outlined A", "outlined DIV"} <= set(stops)
        page.locator("#filter-target").focus()
        page.keyboard.type("wafer")
        page.locator("form button").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**target=wafer**")
        page.locator("#board-0 thead button").first.focus()
        page.keyboard.press("Enter")
        head = page.locator("#board-0 thead th").first
        assert head.get_attribute("aria-sort") == "ascending"
        assert visit.complaints == []


STOP = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return `${seen ? "outlined" : "not outlined"} ${one.tagName}`;
}"""


@pytest.mark.parametrize("path", ["/", "/agent?name=claude", f"/attempt?kernel={EVIL_KERNEL}"])
def test_a_narrow_screen_scrolls_tables_and_not_the_page(
    browser: Browser, address: str, path: str
) -> None:
    with Visit(browser, viewport={"width": 360, "height": 700}) as visit:
        visit.page.goto(address + path)
        wide = visit.page.evaluate("document.documentElement.scrollWidth")

    assert wide <= 360


def test_without_script_everything_is_there_but_sorting(browser: Browser, address: str) -> None:
    with Visit(browser, java_script_enabled=False) as visit:
        visit.page.goto(f"{address}/?target=wafer")

        assert visit.page.locator("table").count() == 3
        assert visit.page.locator("thead button").count() == 0
        assert not visit.page.locator(".narrow").first.is_visible()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_report_is_one_file_that_sorts_and_complains_of_nothing(
    browser: Browser, ledger: Path, tmp_path: Path, scheme: str
) -> None:
    write(report(ledger, Scope()), tmp_path)
    with Visit(browser, color_scheme=scheme) as visit:
        visit.page.goto((tmp_path / "report.html").as_uri())
        table = visit.page.locator("#results-table")
        table.get_by_role("columnheader", name="Ratio").get_by_role("button").click()
        ratios = [float(one) for one in _column(table, 9)]

        assert ratios == sorted(ratios)
        assert visit.complaints == []
        assert len(visit.asked) == 1
        assert visit.page.evaluate(FAINT) == []
