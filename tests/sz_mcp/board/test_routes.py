"""The pages over HTTP: what they hold, to whom, with which headers."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from results_db.comparing import beside
from results_db.files import LedgerFiles
from results_db.standings import Scope
from results_db.viewing import Shared
from sz_mcp.board.layout import POLICY
from sz_mcp.board.serve import Board
from sz_mcp.settings import Openness
from sz_mcp.tokens import FileTokens
from tests.sz_mcp.board.made import AGENTS, EVIL
from tests.sz_mcp.board.test_html import parsed
from tests.sz_mcp.over_http import token

CLAUDE, CODEX, CHIEF = (f"{name}-secret-0123456789" for name in ("claude", "codex", "chief"))
KERNEL, OTHERS = "k_0_numba_0_0_szp", "k_1_numba_0_0_szp"
EVERY = (
    "/board/", "/board/overall", "/board/agents", "/board/reading", "/board/agent?name=claude",
    "/board/agent?name=claude&against=tokens",
    f"/board/attempt?kernel={KERNEL}",
)  # fmt: skip


def client(
    home: Path, tokens: FileTokens | None = None, openness: Openness = "tokens"
) -> TestClient:
    return TestClient(Starlette(routes=Board(home, tokens, openness).routes()))


def known() -> FileTokens:
    return FileTokens(
        {
            "claude": token(CLAUDE, "claude"),
            "codex": token(CODEX, "codex"),
            "chief": token(CHIEF, "chief", sees="all"),
        }
    )


def holding(secret: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'me:{secret}'.encode()).decode()}"}


@pytest.fixture(scope="module")
def open_board(ledger: Path) -> Iterator[TestClient]:
    with client(ledger) as made:
        yield made


@pytest.mark.parametrize("path", EVERY)
def test_every_page_is_whole_and_loads_nothing_from_elsewhere(
    open_board: TestClient, path: str
) -> None:
    answer = open_board.get(path)

    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    found = parsed(answer.text)
    assert found.tags.count("h1") == found.tags.count("main") == 1
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    urls = [str(value) for name, value in found.attributes if name in ("href", "src", "action")]
    assert urls
    assert not [url for url in urls if re.match(r"[a-z]+:|//", url)]
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("path", EVERY)
def test_links_of_a_page_lead_somewhere(open_board: TestClient, path: str) -> None:
    found = parsed(open_board.get(path).text)
    links = {str(value) for name, value in found.attributes if name in ("href", "src")}

    for link in sorted(one for one in links if not one.startswith("#"))[::7]:
        assert open_board.get(f"/board/{link}".replace("/./", "/")).status_code == 200, link


def test_what_an_agent_chose_is_text_on_every_page(open_board: TestClient) -> None:
    pages = [
        open_board.get("/board/").text,
        open_board.get("/board/agents").text,
        open_board.get("/board/agent", params={"name": EVIL}).text,
        open_board.get("/board/attempt", params={"kernel": "k_3_numba_0_1_szp"}).text,
    ]

    for page in pages:
        found = parsed(page)
        assert found.tags.count("script") == 1
        assert "b" not in found.tags
        assert "<script>alert" in "".join(found.texts)
        assert "\u202e" not in page


def test_what_is_asked_for_comes_back_as_text(open_board: TestClient) -> None:
    for path, name in (("agent", "name"), ("attempt", "kernel"), ("", "task")):
        answer = open_board.get(f"/board/{path}", params={name: "<script>alert(1)</script>"})
        assert parsed(answer.text).tags.count("script") == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/board", 200), ("/board/agent", 404), ("/board/agent?name=nobody", 404),
        ("/board/attempt?kernel=nothing", 404), ("/board/static/../serve.py", 404),
        ("/board/static/serve.py", 404), ("/board/nothing", 404),
        ("/board/agent?name=claude&start=x", 404), ("/board/agent?name=claude&against=luck", 404),
        ("/board/agent?name=claude&start=-1", 404),
        ("/board/?task=" + "x" * 500, 400), ("/board/?task=nothing", 200),
    ],
)  # fmt: skip
def test_wrong_addresses_are_told(open_board: TestClient, path: str, status: int) -> None:
    assert open_board.get(path).status_code == status


def test_nothing_can_be_written(open_board: TestClient) -> None:
    for path in EVERY:
        assert open_board.post(path).status_code == 405


def test_a_page_that_is_known_is_not_sent_again(open_board: TestClient) -> None:
    first = open_board.get("/board/")
    again = open_board.get("/board/", headers={"If-None-Match": first.headers["ETag"]})

    assert (again.status_code, again.content) == (304, b"")


def test_files_of_a_page_are_kept_under_the_name_of_their_version(open_board: TestClient) -> None:
    found = parsed(open_board.get("/board/").text)
    links = {str(value) for name, value in found.attributes if "static/" in str(value)}

    assert len(links) == 4
    for link in links:
        assert "immutable" in open_board.get(f"/board/{link}").headers["Cache-Control"]
        for other in (link.partition("?")[0], f"{link}0"):
            assert open_board.get(f"/board/{other}").headers["Cache-Control"] == "no-cache"


def test_filters_leave_the_tables_that_fit(open_board: TestClient) -> None:
    page = open_board.get("/board/", params={"target": "wafer", "bound": "rel 0.001"}).text

    captions = re.findall(r"<caption[^>]*><span><strong>(.*?)</strong>", page)
    assert captions == ["szp on wafer, na_temperature, rel 0.001"]
    assert '<option value="wafer" selected>' in page


def test_agents_are_compared_over_all_that_they_tried(open_board: TestClient) -> None:
    every = open_board.get("/board/overall").text
    bench = open_board.get("/board/overall", params={"bench": "no such bench"}).text

    assert every.count("<table") == 3
    assert every.count("too few to rank") == 1
    assert "All tasks, targets, fields and bounds" in every
    assert "<table" not in bench


def test_an_empty_ledger_says_so(tmp_path: Path) -> None:
    with client(tmp_path) as made:
        answer = made.get("/board/")

    assert answer.status_code == 503
    assert "no ledger was published" in answer.text


def test_without_a_token_there_is_no_page_where_tokens_are_asked_for(ledger: Path) -> None:
    with client(ledger, known()) as made:
        for path in EVERY:
            answer = made.get(path)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Basic ")
        for header in ("Basic !", "Basic bm8=", "Bearer nobody-0123456789", "Digest x", "Basic"):
            assert made.get("/board/", headers={"Authorization": header}).status_code == 401


def test_a_holder_sees_itself_and_of_others_scores_without_names(ledger: Path) -> None:
    with client(ledger, known()) as made:
        pages = [made.get(path, headers=holding(CLAUDE)).text for path in EVERY]
        theirs = made.get("/board/agent?name=codex", headers=holding(CLAUDE))
        kernel = made.get(f"/board/attempt?kernel={OTHERS}", headers=holding(CLAUDE))
        never = made.get("/board/attempt?kernel=k_never", headers=holding(CLAUDE))

    assert "claude" in pages[0]
    assert "another agent" in pages[0]
    for page in pages:
        for name in ("codex", "climber", "alert", "model-b", "k_1_", "k_2_", "k_3_"):
            assert name not in page
    assert theirs.status_code == kernel.status_code == never.status_code == 404
    assert kernel.text == never.text.replace("k_never", OTHERS)
    assert "Source" in pages[-1]


def test_a_bearer_token_works_as_the_password_does(ledger: Path) -> None:
    with client(ledger, known()) as made:
        answer = made.get("/board/", headers={"Authorization": f"Bearer {CLAUDE}"})

    assert answer.status_code == 200
    assert "codex" not in answer.text


def test_whoever_sees_all_sees_all(ledger: Path) -> None:
    with client(ledger, known()) as made:
        page = made.get(f"/board/attempt?kernel={OTHERS}", headers=holding(CHIEF)).text

    assert "Kernel of codex" in page


def test_one_readers_page_is_never_given_to_another(ledger: Path) -> None:
    with client(ledger, known()) as made:
        for _ in range(2):
            for secret, name, other in ((CLAUDE, "claude", "codex"), (CODEX, "codex", "claude")):
                page = made.get("/board/", headers=holding(secret)).text
                assert name in page
                assert other not in page
        assert made.get("/board/").status_code == 401


def test_the_public_sees_scores_with_names_and_no_source(ledger: Path) -> None:
    with client(ledger, known(), "scores") as made:
        board = made.get("/board/").text
        page = made.get(f"/board/attempt?kernel={KERNEL}")
        broken = made.get("/board/agent?name=codex")
        wrong = made.get("/board/", headers=holding("nobody-0123456789"))

    for agent in AGENTS[:3]:
        assert agent.name in board
    assert page.status_code == broken.status_code == 200
    assert "their owner does not share them" in page.text
    for trace in ("Kernel of claude", "it does not parse", "memory of claude"):
        assert trace not in page.text + broken.text
    assert wrong.status_code == 401


def test_a_shared_kernel_is_seen_by_holders_and_the_public(ledger: Path) -> None:
    shared = Shared(ledger)
    shared.add(OTHERS)
    try:
        with client(ledger, known(), "scores") as made:
            seen = [
                made.get(f"/board/attempt?kernel={OTHERS}").text,
                made.get(f"/board/attempt?kernel={OTHERS}", headers=holding(CLAUDE)).text,
            ]
            board = made.get("/board/", headers=holding(CLAUDE)).text
            shared.remove(OTHERS)
            gone = made.get(f"/board/attempt?kernel={OTHERS}", headers=holding(CLAUDE))
    finally:
        shared.remove(OTHERS)

    for page in seen:
        assert "Kernel of codex" in page
    # Its neighbours are not shared: a holder must not learn of them.
    assert "k_1_numba_0_1" not in seen[1]
    assert "k_1_" not in board
    assert gone.status_code == 404


def test_the_board_can_be_turned_off(ledger: Path) -> None:
    with client(ledger, known(), "off") as made:
        for path in (*EVERY, "/board", "/board/static/board.css"):
            assert made.get(path).status_code == 404


def test_agents_are_shown_beside_an_author(ledger: Path, open_board: TestClient) -> None:
    page = open_board.get("/board/overall", params={"beside": "climber"}).text

    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{LedgerFiles(ledger).snapshot}' AS ledger (READ_ONLY)")
        connection.execute("USE ledger")
        (found,) = [
            one for one in beside(connection, Scope("hardware"), "climber") if one.agent == "claude"
        ]
    (row,) = re.findall(r"<tr>(?:(?!<tr>).)*fast(?:(?!<tr>).)*</tr>", page, re.S)[:1]
    assert all(f"fast_{p:g}" in row for p in found.fast)
    (own,) = [
        one for one in re.findall(r"<tr>.*?</tr>", page.split('id="beside')[-1], re.S)
        if "name=claude" in one
    ]  # fmt: skip
    cells = [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", own, re.S)]
    assert cells[1] == f"{found.solved} of {found.conditions}"
    assert [float(cell) for cell in cells[2:7]] == pytest.approx(
        [*found.fast.values(), found.wins], rel=1e-2
    )


@pytest.mark.parametrize("author", ["nobody", EVIL + "x", "codex"])
def test_nobody_is_shown_beside_an_author_that_may_not_be_seen(ledger: Path, author: str) -> None:
    with client(ledger, known()) as made:
        page = made.get("/board/overall", params={"beside": author}, headers=holding(CLAUDE))

    assert page.status_code == 200
    assert "has a speed here" in page.text
    assert "fast_1" not in page.text
