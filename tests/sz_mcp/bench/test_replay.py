"""Replays of worked submissions, of folders, and of a session that a ledger has."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import baselines
from results_db import queries
from sz_mcp.bench.agents import replay
from sz_mcp.bench.errors import CellFailed, CellStopped
from sz_mcp.bench.spec import Budget, ReplayAgent
from tests.sz_mcp import fakes
from tests.sz_mcp.bench.desks import SESSION, calls, cell, desk

ATTEMPT = [["compile_kernel", "compiled"], ["verify_bounds", "bound_ok"], ["run_compress", "timed"]]


@pytest.mark.slow
@pytest.mark.anyio
async def test_worked_submissions_are_sent_in_order(tmp_path: Path) -> None:
    agent = ReplayAgent(kind="replay", styles=("naive", "tuned"))
    async with desk(tmp_path, cell("replay"), Budget()) as at:
        assert await replay.work(agent, at) == "6 calls replayed"
    assert calls(tmp_path) == ATTEMPT * 2
    statement = "SELECT content_hash, parent IS NOT NULL FROM kernels ORDER BY attempt"
    sent = queries.query(tmp_path, statement).rows
    hashes = [baselines.read("lorenzo-1d", one).content_hash for one in ("naive", "tuned")]
    assert [list(row) for row in sent] == [[hashes[0], False], [hashes[1], True]]


@pytest.mark.anyio
async def test_a_recorded_session_is_made_again(tmp_path: Path) -> None:
    recorded, again = tmp_path / "recorded", tmp_path / "again"
    worked = ReplayAgent(kind="replay", styles=("naive", "tuned"))
    async with desk(recorded, cell("replay"), Budget()) as at:
        await replay.work(worked, at)
    agent = ReplayAgent(kind="replay", session=SESSION, home=recorded)
    async with desk(again, cell("replay"), Budget()) as at:
        assert await replay.work(agent, at) == "6 calls replayed"
    statement = (
        "SELECT c.tool, c.status, k.content_hash, r.field, r.mode, r.bound, r.repeats "
        "FROM calls c JOIN kernels k USING (kernel_id) LEFT JOIN runs r USING (run_id) "
        "ORDER BY c.attempt"
    )
    assert queries.query(again, statement).rows == queries.query(recorded, statement).rows


@pytest.mark.slow
@pytest.mark.anyio
async def test_what_does_not_compile_is_not_run(tmp_path: Path) -> None:
    folders = []
    for name, files in (("broken", fakes.BROKEN), ("wrong", fakes.WRONG)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        (folders[-1] / "kernel.py").write_text(files["kernel.py"])
    agent = ReplayAgent(kind="replay", folders=tuple(folders))
    async with desk(tmp_path / "home", cell("replay"), Budget()) as at:
        await replay.work(agent, at)
    assert calls(tmp_path / "home") == [
        ["compile_kernel", "error"],
        ["compile_kernel", "compiled"],
        ["verify_bounds", "error"],
        ["run_compress", "timed"],
    ]


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_replay_stops_at_its_budget(tmp_path: Path) -> None:
    agent = ReplayAgent(kind="replay", styles=("naive",))
    async with desk(tmp_path, cell("replay"), Budget(calls=2)) as at:
        with pytest.raises(BaseExceptionGroup) as raised:
            await replay.work(agent, at)
    assert raised.group_contains(CellStopped)
    assert calls(tmp_path) == ATTEMPT[:2]


@pytest.mark.anyio
async def test_the_server_keeps_the_budget_too(tmp_path: Path) -> None:
    agent = ReplayAgent(kind="replay", styles=("naive",))
    async with desk(tmp_path, cell("replay"), Budget(), attempts=2) as at:
        assert await replay.work(agent, at) == "3 calls replayed, 1 of them refused"
    assert calls(tmp_path) == ATTEMPT[:2]
    told = queries.query(tmp_path, "SELECT error FROM calls WHERE outcome = 'tool_error'").rows
    assert "budget spent: this session has made all 2 calls on kernels" in str(told)
    assert queries.query(tmp_path, "SELECT budget_attempts FROM sessions").rows == ((2,),)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (ReplayAgent(kind="replay", styles=("best",)), "nothing to replay for lorenzo-1d on numba"),
        (ReplayAgent(kind="replay", session="unheard"), "nothing to replay|can't be replayed"),
        (ReplayAgent(kind="replay", folders=(Path("/nowhere"),)), "can't be replayed"),
    ],
)
async def test_a_replay_without_a_source_fails(
    tmp_path: Path, agent: ReplayAgent, said: str
) -> None:
    async with desk(tmp_path, cell("replay"), Budget()) as at:
        with pytest.raises(CellFailed, match=said):
            await replay.work(agent, at)
