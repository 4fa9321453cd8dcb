"""The pages beside /mcp in a real server: an agent meets no trace of another there either."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from results_db.drain import drain
from results_db.viewing import Shared
from sz_mcp.settings import Http
from tests.sz_mcp.conftest import compiled
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.over_http import connected, http_app_of, served
from tests.sz_mcp.test_privacy import ADA, BOB, CHIEF, MARK, leave_marks, tokens, world

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]


async def everything(http: httpx2.AsyncClient, root: str, first: list[str]) -> dict[str, str]:
    """Address → text of every page that can be reached from some of the board."""
    found: dict[str, str] = {}
    waiting = [f"{root}/board/", *(f"{root}/board/{page}" for page in first)]
    while waiting and len(found) < 60:
        address = waiting.pop()
        if address in found:
            continue
        answer = await http.get(address)
        found[address] = answer.text
        links = re.findall(r'href="([^#"][^"]*)"', answer.text) if answer.status_code == 200 else []
        waiting += [
            f"{root}/board/{link.removeprefix('./')}".replace("&amp;", "&")
            for link in links
            if not link.startswith("static/")
        ]
    return found


async def test_a_holder_meets_no_trace_of_another_on_any_page(tmp_path: Path) -> None:
    async with world(tmp_path) as (url, _, _):
        bobs = await leave_marks(url, tmp_path)
        async with connected(url, ADA) as client:
            own = await compiled(client)
        drain(tmp_path)
        root = url.removesuffix("/mcp")
        asked = [f"attempt?kernel={name}" for name in (*bobs.kernel_ids, f"k_{MARK}")]
        asked += [f"agent?name={MARK}-agent", "agent?name=ada"]
        async with httpx2.AsyncClient(auth=("", ADA)) as http:
            pages = await everything(http, root, asked)
        async with httpx2.AsyncClient(auth=("", CHIEF)) as http:
            all_of_it = await everything(http, root, asked)

    leaks = {
        address: [trace for trace in bobs.traces if trace in text]
        for address, text in pages.items()
        # Whoever asks for a name may get that name back.
        if not any(trace in address for trace in bobs.traces)
    }
    assert {address for address, traces in leaks.items() if traces} == set()
    for address, text in pages.items():
        if any(trace in address for trace in bobs.traces):
            assert "that you may see" in text
            assert MARK not in text.replace(f"{MARK}-agent", "").replace(f"k_{MARK}", "")
    assert own in pages[f"{root}/board/agent?name=ada"]
    assert "3.25" in pages[f"{root}/board/"]
    # What was not met was there to be met.
    seen = "".join(all_of_it.values())
    assert all(trace in seen for trace in (MARK, f"{MARK}-agent", bobs.kernel_ids[0]))


async def test_mcp_and_pages_answer_side_by_side(tmp_path: Path) -> None:
    app = http_app_of(tmp_path, FakePipeline(), known := tokens())
    try:
        async with served(app, known) as url, connected(url, BOB) as client:
            kernel_id = await compiled(client)
            Shared(tmp_path).add(kernel_id)
            drain(tmp_path)
            root = url.removesuffix("/mcp")
            async with httpx2.AsyncClient() as http:
                refused = await http.get(f"{root}/board/")
                strange = await http.get(f"{root}/board/", headers={"Host": "evil.example"})
            async with httpx2.AsyncClient(auth=("me", ADA)) as http:
                page = await http.get(f"{root}/board/attempt?kernel={kernel_id}")
    finally:
        app.close()

    assert refused.status_code == 401
    assert strange.status_code == 421
    assert page.status_code == 200
    assert "Source" in page.text


async def test_a_public_board_has_scores_and_names_but_no_work(tmp_path: Path) -> None:
    app = http_app_of(tmp_path, FakePipeline(), known := tokens())
    try:
        async with served(app, known, Http(board="scores")) as url:
            bobs = await leave_marks(url, tmp_path)
            drain(tmp_path)
            root = url.removesuffix("/mcp")
            async with httpx2.AsyncClient() as http:
                pages = await everything(http, root, [f"attempt?kernel={bobs.kernel_ids[0]}"])
    finally:
        app.close()

    assert f"{MARK}-agent" in pages[f"{root}/board/agents"]
    for address, text in pages.items():
        # Names of agents, models, sessions and kernels are shown; sources and messages are not.
        assert f"x = 1  # {MARK}" not in text, address
        assert f"{MARK}.txt" not in text, address
