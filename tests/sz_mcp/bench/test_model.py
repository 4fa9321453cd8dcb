"""A model behind an OpenAI-compatible endpoint: a script of ours that speaks the protocol."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sz_mcp.bench.agents import model
from sz_mcp.bench.agents.model import dollars_of
from sz_mcp.bench.endpoint import Call, completion, next_move, scripted_endpoint
from sz_mcp.bench.errors import CellFailed, CellStopped
from sz_mcp.bench.prompting import prompt_for
from sz_mcp.bench.spec import Budget, ModelAgent, Prices
from tests.sz_mcp.bench.desks import Told, calls, cell, desk

AGENT = ModelAgent(
    kind="model",
    model="scripted",
    endpoint="scripted",
    prices=Prices(input=2.0, cached=0.5, output=10.0),
)
KERNEL = "k_" + "1" * 32


def conversation(*results: str) -> list[dict[str, Any]]:
    """After so many results of tools."""
    prompt = prompt_for(cell("model", task="szp"), Budget())
    return [
        {"role": "user", "content": prompt},
        *({"role": "tool", "content": text} for text in results),
    ]


@pytest.mark.anyio
async def test_a_model_works_until_it_is_done(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    told = Told()
    async with desk(tmp_path, cell("model", task="szp"), Budget(calls=10), told) as at:
        said = await model.work(AGENT, at)
    assert said == "said: I sent naive, tuned: memory limits the last."
    assert [tool for tool, _ in calls(tmp_path)] == [
        "compile_kernel",
        "verify_bounds",
        "run_compress",
    ] * 2
    # describe, six calls, the last words.
    assert len(told.used) == 8
    assert all(one.input_tokens > 0 and one.source == "endpoint" for one in told.used)
    first = told.used[0]
    wanted = (2.0 * first.input_tokens + 10.0 * first.output_tokens) / 1e6
    assert first.dollars == pytest.approx(wanted)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_model_stops_at_its_tokens(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    async with desk(tmp_path, cell("model", task="szp"), Budget(tokens=1500)) as at:
        with pytest.raises(CellStopped, match=r"budget: .*total_tokens_limit"):
            await model.work(AGENT, at)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_model_whose_calls_are_spent_is_told_so(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    async with desk(tmp_path, cell("model", task="szp"), Budget(calls=2), attempts=2) as at:
        assert await model.work(AGENT, at) == "said: My calls are spent."
    assert len(calls(tmp_path)) == 2


@pytest.mark.slow
@pytest.mark.anyio
async def test_an_endpoint_that_is_not_there_fails_the_cell(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    gone = AGENT.model_copy(update={"endpoint": "http://127.0.0.1:9/v1"})
    async with desk(tmp_path, cell("model", task="szp"), Budget()) as at:
        with pytest.raises(CellFailed, match="Connection error"):
            await model.work(gone, at)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_key_that_is_not_set_fails_the_cell(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    keyless = AGENT.model_copy(update={"endpoint": "http://127.0.0.1:9", "key_env": "NO_SUCH_KEY"})
    async with desk(tmp_path, cell("model", task="szp"), Budget()) as at:
        with pytest.raises(CellFailed, match="the environment has no NO_SUCH_KEY"):
            await model.work(keyless, at)


def test_dollars_are_of_tokens_by_their_prices() -> None:
    prices = Prices(input=2.0, cached=0.5, output=10.0)
    assert dollars_of(prices, 1_000_000, 0, 0) == 2.0
    assert dollars_of(prices, 1_000_000, 100_000, 400_000) == pytest.approx(1.2 + 0.2 + 1.0)
    assert dollars_of(Prices(input=2.0), 1_000_000, 0, 500_000) == 2.0


def test_the_script_waits_for_what_is_running() -> None:
    run = "r_" + "2" * 32
    move = next_move(conversation("described", f'{{"status":"running","run_id":"{run}"}}'))
    assert move == Call("get_result", {"run_id": run, "wait_s": 20})


def test_the_script_uses_the_kernel_it_was_given() -> None:
    move = next_move(conversation("described", f'{{"kernel_id":"{KERNEL}"}}'))
    assert move == Call("verify_bounds", {"kernel_id": KERNEL, "mode": "rel", "bound": 0.001})


def test_the_endpoint_speaks_the_protocol() -> None:
    request = {"model": "m", "messages": conversation()}
    with scripted_endpoint() as url:
        sent = urllib.request.Request(
            f"{url}/chat/completions",
            json.dumps(request).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(sent) as answer:
            reply = json.load(answer)
    assert reply == completion(request)
    (choice,) = reply["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "describe_arch"
    usage = reply["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
