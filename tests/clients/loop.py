"""The whole loop of an agent, whatever client makes the calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from kernels import baselines
from results_db.queries import query
from tests.clients.servers import AGENT

Call = Callable[..., Awaitable[Mapping[str, Any]]]
"""(tool, **arguments) → structured content; `running` is followed until it is done."""

TASK, FIELD = "lorenzo-1d", "uk_theta"
STEPS = [
    "describe_arch",
    "compile_kernel",
    "verify_bounds",
    "run_compress",
    "profile",
    "query_results",
]


async def complete_loop(call: Call, *, same_server: bool = True) -> None:
    """Make every step of the loop and check what comes back.

    same_server: whether the calls reach one process; only that one remembers results.
    """
    target = await call("describe_arch", target="numba")
    assert target["execution"] == "hardware"
    assert "kernel.py" in target["example"]

    files = dict(baselines.read(TASK, "naive").files)
    kernel = await call("compile_kernel", task=TASK, target="numba", files=files)
    assert kernel["status"] == "compiled", kernel["message"]
    kernel_id = kernel["kernel_id"]

    verdict = await call("verify_bounds", kernel_id=kernel_id)
    assert verdict["holds"] is True, verdict["message"]

    run = await call("run_compress", kernel_id=kernel_id, field=FIELD, repeats=1)
    assert run["run_id"].startswith("r_")
    # A busy machine may leave it without a speed, but not without an answer.
    assert run["status"] in ("timed", "inconclusive"), run["message"]

    profile = await call("profile", kernel_id=kernel_id, field=FIELD)
    assert profile["metrics"], profile["message"]
    assert profile["bottleneck"]

    sql = f"SELECT tool FROM runs WHERE kernel_id = '{kernel_id}' ORDER BY started_at"
    rows = await call("query_results", sql=sql)
    assert rows["rows"] == [["verify_bounds"], ["run_compress"], ["profile"]]

    if same_server:
        again = await call("get_result", run_id=verdict["run_id"])
        assert (again["holds"], again["checked_values"]) == (True, verdict["checked_values"])


def assert_in_ledger(home: Path) -> None:
    """Every step is there, under the agent's name."""
    rows = query(home, "SELECT DISTINCT tool, agent, outcome FROM calls").rows
    assert {(step, AGENT, "ok") for step in STEPS} <= set(rows)
