"""Things that break under a real server: it says so, loses nothing it acknowledged, and goes on."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from results_db.files import LedgerFiles
from results_db.queries import query
from sz_mcp.app import App
from sz_mcp.server import create_server
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.test_serving import (
    WAIT_S,
    descendants,
    hear,
    lives,
    running,
    say,
    tool_call,
    url_of,
)
from tests.sz_mcp.test_shutdown import Http, called, opened

FIELD = "uk_theta"
CODEC = """\
{head}
def compress(data, abs_bound):
    {pack}
    return data.reshape(-1).view('u1').copy()


def decompress(stream, shape, dtype):
    {unpack}
    return stream.view(dtype).reshape(shape)
"""
LARGE = "while {}.size > 20000: pass"
GOOD = CODEC.format(head="", pack="pass", unpack="pass")
ENDLESS = {
    "compile": CODEC.format(head="while True: pass", pack="pass", unpack="pass"),
    "compress": CODEC.format(head="", pack=LARGE.format("data"), unpack="pass"),
    "decompress": CODEC.format(head="", pack="pass", unpack=LARGE.format("stream")),
}
"""Phase → a kernel that never leaves it."""
BUSY_TICKS = 150
"""CPU time, in hundredths of a second, that a child does not take to start."""


def ticks(pid: int) -> int:
    """CPU time of a process; 0 of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def kill_the_busiest(server: int) -> None:
    """Kill the child that works, as the kernel's own out-of-memory killer would."""
    before = {pid: ticks(pid) for pid in descendants(server)}
    while True:
        spent = {
            pid: ticks(pid) - before.setdefault(pid, ticks(pid)) for pid in descendants(server)
        }
        busiest = max(spent, key=lambda pid: spent[pid], default=server)
        if spent.get(busiest, 0) > BUSY_TICKS:
            os.kill(busiest, signal.SIGKILL)
            return


def files(source: str) -> dict[str, Any]:
    return {"task": "sz-open", "target": "numba", "files": {"kernel.py": source}}


@contextmanager
def stdio(home: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    with running("--home", str(home), *more) as process:
        opened(process)
        yield process


def assert_works(process: subprocess.Popen[str]) -> None:
    """A good kernel goes all the way."""
    kernel = called(process, 90, "compile_kernel", **files(GOOD))
    assert kernel["status"] == "compiled", kernel
    verdict = called(process, 91, "verify_bounds", kernel_id=kernel["kernel_id"], field=FIELD)
    assert verdict["status"] == "bound_ok", verdict


@pytest.mark.parametrize(
    ("phase", "tool"),
    [
        ("compress", "verify_bounds"),
        pytest.param("compile", "", marks=pytest.mark.slow),
        pytest.param("decompress", "run_compress", marks=pytest.mark.slow),
    ],
)
def test_a_child_that_is_killed_fails_its_call_and_no_other(
    tmp_path: Path, phase: str, tool: str
) -> None:
    with stdio(tmp_path) as process:
        if tool:
            kernel = called(process, 2, "compile_kernel", **files(ENDLESS[phase]))
            wanted = {"kernel_id": kernel["kernel_id"], "field": FIELD}
            say(process, tool_call(3, tool, wanted))
        else:
            say(process, tool_call(3, "compile_kernel", files(ENDLESS[phase])))
        kill_the_busiest(process.pid)
        told = hear(process, "result")["result"]["structuredContent"]
        assert_works(process)

    assert told["status"] == "error"
    assert told["message"]


@pytest.mark.slow
def test_children_that_are_killed_while_they_wait_are_replaced(tmp_path: Path) -> None:
    with stdio(tmp_path) as process:
        assert_works(process)
        for pid in descendants(process.pid):
            os.kill(pid, signal.SIGKILL)
        assert_works(process)


def calls_until_killed(client: Http, notes: list[str], source: str) -> None:
    """Compile and verify until the server is gone; what it acknowledged."""
    try:
        while True:
            kernel = client.call("compile_kernel", **files(f"{source}# {len(notes)}\n"))
            notes.append(kernel["kernel_id"])
            told = client.call("verify_bounds", kernel_id=kernel["kernel_id"], field=FIELD)
            notes.append(told["run_id"])
    except (httpx2.HTTPError, ValueError):
        return


@pytest.mark.slow
def test_a_server_that_is_killed_lost_nothing_it_acknowledged_and_starts_again(
    tmp_path: Path,
) -> None:
    notes: list[list[str]] = [[], [], []]
    with running("--http", "0", "--home", str(tmp_path)) as process:
        url = url_of(process)
        threads = [
            threading.Thread(target=calls_until_killed, args=(Http(url), own, f"{GOOD}# {number}"))
            for number, own in enumerate(notes)
        ]
        for thread in threads:
            thread.start()
        while min(map(len, notes)) < 4:
            pass
        children = descendants(process.pid)
        process.kill()
        for thread in threads:
            thread.join(WAIT_S)
        process.wait()
        while any(lives(pid) for pid in children):
            pass

    with stdio(tmp_path) as again:
        (first, *_), *_ = notes
        told = called(again, 5, "verify_bounds", kernel_id=first, field=FIELD)
        sql = (
            "SELECT kernel_id FROM kernels UNION SELECT run_id FROM runs WHERE status <> 'running'"
        )
        rows = called(again, 6, "query_results", sql=sql, max_rows=1000)["rows"]
        (unfinished,) = called(
            again, 7, "query_results", sql="SELECT count(*) FROM runs WHERE status = 'running'"
        )["rows"]

    assert told["status"] == "bound_ok"
    assert {one for own in notes for one in own} <= {row[0] for row in rows}
    assert unfinished == [0]


@pytest.mark.slow
def test_a_journal_that_can_not_grow_refuses_calls_and_goes_on_when_it_can(tmp_path: Path) -> None:
    with stdio(tmp_path) as process:
        assert_works(process)
        soft, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100, hard))
        say(process, tool_call(5, "compile_kernel", files(f"{GOOD}# new\n")))
        refused = hear(process, "error")["error"]
        say(process, tool_call(6, "describe_arch", {}))
        unlogged = hear(process, "error")["error"]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        assert_works(process)
        sql = "SELECT count(*) FROM calls WHERE tool = 'describe_arch'"
        rows = called(process, 7, "query_results", sql=sql)["rows"]

    for error in (refused, unlogged):
        assert "File too large" in error["message"]
        assert "INTERNAL" not in error["message"]
    assert rows == [[0]]
    assert query(tmp_path, "SELECT count(*) FROM kernels").rows == ((2,),)


@pytest.mark.slow
def test_a_query_whose_process_is_killed_is_an_error_that_says_so(tmp_path: Path) -> None:
    sql = "SELECT count(*) FROM range(100000000000) AS r(i) WHERE hash(i) = 7"
    with stdio(tmp_path) as process:
        called(process, 2, "describe_arch")
        say(process, tool_call(3, "query_results", {"sql": sql}))
        kill_the_busiest(process.pid)
        told = hear(process, "result")["result"]
        assert called(process, 4, "query_results", sql="SELECT 1")["rows"] == [[1]]

    assert told["isError"] is True
    assert "more memory or time than it may have" in told["content"][0]["text"]


def test_a_server_with_a_damaged_database_evaluates_and_names_the_damage(tmp_path: Path) -> None:
    with stdio(tmp_path) as process:
        assert_works(process)
        called(process, 2, "query_results", sql="SELECT 1")
    with LedgerFiles(tmp_path).database.open("r+b") as file:
        file.write(os.urandom(16384))

    with stdio(tmp_path) as process:
        assert_works(process)
        damaged = called(process, 3, "query_results", sql="SELECT count(*) FROM kernels")
        LedgerFiles(tmp_path).database.unlink()
        mended = called(process, 4, "query_results", sql="SELECT count(*) FROM kernels")

    assert damaged["rows"] == [[1]]
    assert "The file is damaged. Move ledger.duckdb away" in damaged["warning"]
    assert (mended["rows"], mended.get("warning", "")) == ([[2]], "")


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["changed", "removed"])
async def test_a_stored_source_that_is_damaged_is_named_and_can_be_sent_again(
    app: App, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    async with Client(create_server(app)) as client:
        kernel_id = await compiled(client)
        (path,) = tmp_path.glob("blobs/sources/*/*.json")
        if damage == "changed":
            path.write_text(path.read_text().replace("compress", "compresz"))
        else:
            path.unlink()
        app._kernels.clear()
        told = await call(client, "verify_bounds", kernel_id=kernel_id)
        again = await compiled(client)
        verdict = await call(client, "verify_bounds", kernel_id=again)

    assert told.error
    assert "send its source with compile_kernel" in told.text
    assert f"kernel {kernel_id} can't be had: stored source" in caplog.text
    assert verdict.data["status"] == "bound_ok"


@pytest.mark.anyio
async def test_a_picture_that_can_not_be_kept_costs_no_profile(
    app: App, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pictures").write_text("in the way")
    async with Client(create_server(app)) as client:
        kernel_id = await compiled(client)
        told = await call(client, "profile", kernel_id=kernel_id, field=FIELD)

    assert (told.data["status"], told.images) == ("timed", 1)
    assert "can't be kept" in caplog.text
    sql = "SELECT status FROM runs WHERE tool = 'profile'"
    assert query(tmp_path, sql).rows == (("timed",),)


@pytest.mark.slow
def test_folders_that_somebody_removed_are_made_again(tmp_path: Path) -> None:
    with stdio(tmp_path) as process:
        parts = ("archive", "blobs", "attempts", "pictures", "journal")
        for count, part in enumerate(parts, 1):
            assert_works(process)
            sql = "SELECT count(*) FROM kernels"
            # What was in the database when its journal was removed is kept.
            rows = called(process, 3, "query_results", sql=sql)["rows"]
            assert rows == [[count]]
            subprocess.run(["rm", "-rf", str(tmp_path / part)], check=True)
        assert_works(process)
