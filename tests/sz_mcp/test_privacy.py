"""What one agent may learn of another: nothing but scores, through any door.

Everything that Bob sends, prints and gets back holds a mark, and so does a row of his in every
table; Ada then reads all that there is, in whatever way, and must not meet a mark. Doors and tables
are found by asking the server, so that one that is added is tried too.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ResourceUpdatedNotification,
    TextResourceContents,
)
from typer.testing import CliRunner

from results_db.ledger import Ledger
from results_db.queries import query
from results_db.rows import ROWS, HostRow, Row
from results_db.viewing import Shared
from sz_mcp.app import App
from sz_mcp.cli import app as command_line
from sz_mcp.tokens import FileTokens
from tests.results_db import records
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import Era, call, compiled
from tests.sz_mcp.doors import all_that_is_readable
from tests.sz_mcp.fakes import GOOD, FakePipeline
from tests.sz_mcp.over_http import connected, http_app_of, served, token

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

MARK = "zzmark"
"""In everything that is Bob's."""
ADA, BOB, CAROL, CHIEF = (f"{name}-secret-0123456789" for name in ("ada", "bob", "carol", "chief"))
WAIT_S = 20
MARKED = {"kernel.py": f"x = 1  # {MARK}\n", f"{MARK}.txt": MARK}


def tokens() -> FileTokens:
    return FileTokens(
        {
            "ada": token(ADA, "ada"),
            "ada-2": token(CAROL, "ada", session="second", sees="session"),
            f"{MARK}-token": token(
                BOB, f"{MARK}-agent", model=f"{MARK}-model", prompt_tier=f"{MARK}-tier"
            ),
            "chief": token(CHIEF, "chief", sees="all"),
        }
    )


@dataclass
class Bobs:
    """What Bob left, that must be found nowhere."""

    kernel_ids: list[str] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)

    @property
    def traces(self) -> tuple[str, ...]:
        return (MARK, *self.kernel_ids, *self.run_ids)


@asynccontextmanager
async def world(home: Path, answer_s: float = 45.0) -> AsyncIterator[tuple[str, App, FakePipeline]]:
    pipeline, known = FakePipeline(), tokens()
    app = http_app_of(home, pipeline, known, answer_s)
    try:
        async with served(app, known) as url:
            yield url, app, pipeline
    finally:
        pipeline.release.set()
        app.close()


async def leave_marks(url: str, home: Path) -> Bobs:
    """Bob uses every tool, well and badly; then he has a row in every table."""
    bobs = Bobs()
    async with connected(url, BOB) as client:
        for source in ("x = 1", "BROKEN = 1", "WRONG = 1", "CRASH = 1", "RAISES = 1"):
            files = {**MARKED, "kernel.py": f"{source}  # {MARK}\n"}
            told = await call(client, "compile_kernel", task="szp", target="numba", files=files)
            bobs.kernel_ids += [told.data["kernel_id"]] if told.data else []
        for kernel_id in bobs.kernel_ids:
            for tool, more in (
                ("verify_bounds", {}),
                ("run_compress", {"field": "uk_theta"}),
                ("profile", {"field": "uk_theta"}),
            ):
                told = await call(client, tool, kernel_id=kernel_id, **more)
                bobs.run_ids += [told.data["run_id"]] if told.data.get("run_id") else []
        await call(client, "query_results", sql=f"SELECT {MARK}")
        await call(client, MARK, **{MARK: MARK})
        await call(client, "describe_arch", target=MARK)
        with pytest.raises(MCPError):
            await client.read_resource(f"sz-mcp://fields/{MARK}")
        with pytest.raises(MCPError):
            await client.get_prompt("port", {"task": MARK})
    ledger = Ledger(home, writer="http")
    bob = records.kernel(f"k_{MARK}", agent=f"{MARK}-agent", session=f"{MARK}-session")
    records.record_ranked(ledger, bob, records.run_result(gbps=3.25))
    records.record_verdict(ledger, f"r_{MARK}", f"k_{MARK}-broken", records.broken_verdict())
    for row in ROWS:
        if row is not HostRow:
            ledger._append(marked(row))
    ledger.close()
    assert bobs.kernel_ids
    assert bobs.run_ids
    return bobs


def marked(row: type[Row]) -> Row:
    """A row whose every text is a mark."""
    hints = get_type_hints(row)
    return row(**{one.name: _marked(hints[one.name]) for one in dataclasses.fields(row)})


def _marked(kind: Any) -> Any:
    if get_origin(kind) is UnionType:
        kind = next(one for one in get_args(kind) if one is not type(None))
    if kind is str:
        return MARK
    origin = get_origin(kind) or kind
    if origin is tuple:
        return (MARK,) if get_args(kind)[0] is str else ()
    if kind in (int, float, bool):
        return kind(1)
    return {MARK: MARK} if "Mapping" in str(origin) else records.call("x").started_at


@pytest.mark.parametrize("era", ["2026-07-28", pytest.param("legacy", marks=pytest.mark.slow)])
async def test_an_agent_meets_no_trace_of_another_anywhere(tmp_path: Path, era: Era) -> None:
    async with world(tmp_path) as (url, _, _):
        bobs = await leave_marks(url, tmp_path)
        async with connected(url, ADA, era) as client:
            own = await compiled(client)
            await call(client, "run_compress", kernel_id=own, field="uk_theta")
            found = await all_that_is_readable(
                client, (bobs.kernel_ids[0], bobs.run_ids[-1], f"run-k_{MARK}", f"k_{MARK}", "szp")
            )

    leaks = {
        door: [trace for trace in bobs.traces if trace in text]
        for door, text in found.items()
        if any(trace in text for trace in bobs.traces)
    }
    assert leaks == {}
    assert own in found["tables"]
    assert own in found["completion kernel_id "]
    # What Ada did not meet was there to be met, in every table.
    tables = [row.table for row in ROWS if row is not HostRow]
    everything = (f"SELECT list(t)::VARCHAR FROM {table} t" for table in tables)
    rows = query(tmp_path, " UNION ALL ".join(everything)).rows
    assert [
        table for table, (text,) in zip(tables, rows, strict=True) if MARK not in str(text)
    ] == []


async def test_whoever_sees_all_sees_the_others(tmp_path: Path) -> None:
    async with world(tmp_path) as (url, _, _):
        bobs = await leave_marks(url, tmp_path)
        async with connected(url, CHIEF) as client:
            source = await client.read_resource(f"sz-mcp://kernels/{bobs.kernel_ids[0]}")
            rows = await call(client, "query_results", sql="SELECT DISTINCT agent FROM kernels")

    assert MARK in str(source)
    assert MARK in str(rows.data)


@pytest.mark.parametrize("secret", [ADA, CAROL])
async def test_the_leaderboard_shows_the_scores_of_others_and_nothing_else(
    tmp_path: Path, secret: str
) -> None:
    async with world(tmp_path) as (url, _, _):
        await leave_marks(url, tmp_path)
        async with connected(url, secret) as client:
            (page,) = (await client.read_resource("sz-mcp://leaderboard")).contents
            told = await call(client, "query_results", sql="SELECT * FROM leaderboard")

    assert isinstance(page, TextResourceContents)
    (row,) = json.loads(page.text)["rows"]
    shown = {name for name, value in row.items() if value is not None}
    assert row["score"] == pytest.approx(3.25)
    assert shown <= {
        "rank", "task", "target", "execution", "host", "threads", "field", "mode", "bound",
        "score", "score_unit",
    }  # fmt: skip
    assert told.data["rows"] == [list(row.values())]


async def test_a_kernel_of_another_is_as_unknown_as_one_that_never_was(tmp_path: Path) -> None:
    never = {"k": f"k_{'0' * 32}", "r": f"r_{'0' * 32}"}
    async with world(tmp_path) as (url, _, _):
        bobs = await leave_marks(url, tmp_path)
        theirs = {"k": bobs.kernel_ids[0], "r": bobs.run_ids[0]}
        async with connected(url, ADA) as client:
            own = await compiled(client)
            answers = [await refusals(client, ids, own) for ids in (theirs, never)]

    told, expected = (
        [text.replace(ids["k"], "ID").replace(ids["r"], "ID") for text in texts]
        for ids, texts in zip((theirs, never), answers, strict=True)
    )
    assert told == expected
    assert all("ID" in text for text in told)


async def refusals(client: Client, ids: dict[str, str], own: str) -> list[str]:
    """What is said to calls that name a kernel or run, through every door that takes one."""
    kernel_id, run_id = ids["k"], ids["r"]
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("compile_kernel", {"task": "szp", "target": "numba", "files": GOOD, "parent": kernel_id}),
        ("verify_bounds", {"kernel_id": kernel_id}),
        ("run_compress", {"kernel_id": kernel_id, "field": "uk_theta"}),
        ("run_compress", {"kernel_id": own, "field": "uk_theta", "against": kernel_id}),
        ("profile", {"kernel_id": kernel_id, "field": "uk_theta"}),
        ("get_result", {"run_id": run_id}),
        ("get_result", {"run_id": run_id, "cancel": True}),
    )  # fmt: skip
    told = [await call(client, tool, **arguments) for tool, arguments in calls]
    assert all(one.error for one in told)
    texts = [one.text for one in told]
    for uri in (
        f"sz-mcp://kernels/{kernel_id}",
        f"sz-mcp://runs/{run_id}",
        f"sz-mcp://runs/{run_id}/profile.png",
    ):
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        texts.append(refused.value.error.message)
    for prompt, arguments in (
        ("diagnose", {"kernel_id": kernel_id}),
        ("optimise", {"kernel_id": kernel_id, "field": "uk_theta"}),
    ):
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(prompt, arguments)
        texts.append(refused.value.error.message)
    return texts


async def test_a_session_that_sees_itself_alone_does_not_see_its_agents_others(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as (url, _, _):
        async with connected(url, ADA) as first:
            kernel_id = await compiled(first)
        async with connected(url, CAROL) as second:
            told = await call(second, "verify_bounds", kernel_id=kernel_id)
            mine = await compiled(second)
            rows = await call(second, "query_results", sql="SELECT kernel_id FROM kernels")
        async with connected(url, ADA) as first:
            both = await call(first, "verify_bounds", kernel_id=mine)

    assert told.error
    assert rows.data["rows"] == [[mine]]
    assert not both.error


async def test_a_shared_kernel_is_seen_with_its_owners_results_and_nothing_more(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as (url, app, _):
        async with connected(url, BOB) as bob:
            parent = await compiled(bob, MARKED)
            told = await call(
                bob, "compile_kernel", task="szp", target="numba", files=MARKED, parent=parent
            )
            shared = str(told.data["kernel_id"])
            await call(bob, "run_compress", kernel_id=shared, field="uk_theta")
            await call(
                bob, "run_compress", kernel_id=shared, field="uk_theta", against=parent, repeats=6
            )
            await call(bob, "run_compress", kernel_id=parent, field="uk_theta")
        app.shared.add(shared)
        async with connected(url, CHIEF) as chief:
            await call(chief, "run_compress", kernel_id=shared, field="uk_theta")
        async with connected(url, ADA) as ada:
            source = await ada.read_resource(f"sz-mcp://kernels/{shared}")
            kernels = await call(ada, "query_results", sql="SELECT kernel_id, parent FROM kernels")
            runs = await call(
                ada, "query_results", sql="SELECT kernel_id, agent, against FROM runs"
            )
            tried = await call(ada, "run_compress", kernel_id=shared, field="uk_theta")
            app.shared.remove(shared)
            gone = await call(ada, "run_compress", kernel_id=shared, field="uk_theta")
        async with connected(url, BOB) as bob:
            seen_by_bob = await call(bob, "query_results", sql="SELECT DISTINCT agent FROM runs")

    assert MARK in str(source)
    assert parent not in str(source)
    assert kernels.data["rows"] == [[shared, None]]
    assert runs.data["rows"] == [[shared, f"{MARK}-agent", None]]
    assert not tried.error
    assert gone.error
    assert seen_by_bob.data["rows"] == [[f"{MARK}-agent"]]


async def test_what_a_sharing_token_sends_is_shared(tmp_path: Path) -> None:
    known = FileTokens({"a": token(ADA, "a", share=True), "b": token(BOB, "b")})
    app = http_app_of(tmp_path, FakePipeline(), known)
    try:
        async with served(app, known) as url:
            async with connected(url, ADA) as client:
                kernel_id = await compiled(client)
            async with connected(url, BOB) as client:
                told = await call(client, "verify_bounds", kernel_id=kernel_id)
    finally:
        app.close()

    assert not told.error


async def test_nobody_hears_of_the_runs_of_another(tmp_path: Path) -> None:
    heard: dict[str, list[str]] = {ADA: [], BOB: []}

    async def listen_to(client: Client, uris: list[str], hear: Callable[[str], None]) -> None:
        async with client.listen(resource_subscriptions=uris) as news:
            ready.set()
            async for event in news:
                hear(event.uri)  # type: ignore[union-attr]

    async with (
        world(tmp_path, answer_s=0.0) as (url, _, pipeline),
        anyio.create_task_group() as tg,
        connected(url, BOB) as bob,
        connected(url, ADA) as ada,
    ):
        pipeline.release.set()
        kernel_id = await compiled(bob, fakes.SLOW)
        pipeline.release.clear()
        told = await call(bob, "run_compress", kernel_id=kernel_id, field="uk_theta")
        uris = ["sz-mcp://runs", f"sz-mcp://runs/{told.data['run_id']}"]
        for client, secret in ((ada, ADA), (bob, BOB)):
            ready = anyio.Event()
            tg.start_soon(listen_to, client, uris, heard[secret].append)
            await ready.wait()
        pipeline.release.set()
        with anyio.fail_after(WAIT_S):
            while "sz-mcp://runs" not in heard[BOB]:
                await anyio.sleep(0.01)
        tg.cancel_scope.cancel()

    assert set(heard[BOB]) == set(uris)
    assert heard[ADA] == []


async def test_a_legacy_subscriber_hears_nothing_of_another_either(tmp_path: Path) -> None:
    heard: dict[str, list[str]] = {ADA: [], BOB: []}

    async def follow(secret: str) -> None:
        async def hear(message: Any) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                heard[secret].append(str(message.params.uri))

        async with connected(url, secret, "legacy", hear) as client:
            await client.subscribe_resource("sz-mcp://runs")
            ready[secret].set()
            await done.wait()

    async with world(tmp_path, answer_s=0.0) as (url, _, pipeline), anyio.create_task_group() as tg:
        ready, done = {ADA: anyio.Event(), BOB: anyio.Event()}, anyio.Event()
        for secret in heard:
            tg.start_soon(follow, secret)
            await ready[secret].wait()
        pipeline.release.set()
        async with connected(url, BOB) as bob:
            await compiled(bob)
        with anyio.fail_after(WAIT_S):
            while not heard[BOB]:
                await anyio.sleep(0.01)
        done.set()

    assert heard[ADA] == []


async def test_roots_are_for_those_who_see_all(tmp_path: Path) -> None:
    async with world(tmp_path) as (url, app, _):
        root = tmp_path / "root"
        root.mkdir()
        (root / "kernel.py").write_text(MARK)
        object.__setattr__(app.settings, "roots", (root,))
        async with connected(url, ADA) as client:
            told = await call(client, "compile_kernel", task="szp", target="numba", path=str(root))
        async with connected(url, CHIEF) as client:
            allowed = await call(
                client, "compile_kernel", task="szp", target="numba", path=str(root)
            )

    assert told.error
    assert str(root) not in told.text.replace(f"path={root}", "")
    assert not allowed.error


def test_an_operator_shares_a_kernel_by_a_beginning_of_its_id(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, writer="http")
    ledger.kernel(records.kernel("k_one"), "c1")
    ledger.close()

    def share(*arguments: str) -> int:
        done = CliRunner().invoke(command_line, ["share", *arguments, "--home", str(tmp_path)])
        return done.exit_code

    assert share("k_o") == 0
    assert Shared(tmp_path).all() == ["k_one"]
    assert share("k_one", "--undo") == 0
    assert Shared(tmp_path).all() == []
    assert share("k_two") == 1
