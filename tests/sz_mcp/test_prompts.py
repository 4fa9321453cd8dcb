"""Ready-made requests: what they say of a codec and of a stage, and of wrong arguments."""

from __future__ import annotations

import re

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextContent

from results_db.queries import query
from sz_mcp.app import App
from sz_mcp.server import create_server
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled

pytestmark = pytest.mark.anyio


async def said(client: Client, prompt: str, **arguments: str) -> str:
    (message,) = (await client.get_prompt(prompt, arguments)).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_a_tier_explains_more_than_the_one_before(client: Client) -> None:
    async with client:
        user, knowledgeable, expert = [
            await said(client, "port", task="szp", tier=tier)
            for tier in ("user", "knowledgeable", "expert")
        ]

    assert "describe_arch first" in user
    assert "sz-mcp://tasks/szp" not in user
    assert "sz-mcp://tasks/szp" in knowledgeable
    assert "|x − x'| ≤ bound" in knowledgeable
    assert "no error feedback" in expert
    assert len(user) < len(knowledgeable) < len(expert)


async def test_a_stage_is_asked_for_equality_and_a_codec_for_its_bound(client: Client) -> None:
    async with client:
        codec = await said(client, "port", task="sz-open", tier="knowledgeable")
        stage = await said(client, "port", task="lorenzo-1d", tier="knowledgeable")
        expert = await said(client, "port", task="lorenzo-1d", tier="expert")

    assert "keeps its error bound" in codec
    assert "equals its golden answer" in stage
    assert "run(*inputs)" in stage
    assert "bound must hold" not in stage + expert
    assert "decoder" not in expert


@pytest.mark.parametrize(
    ("task", "goal"),
    [
        ("szp", "may not outgrow the size rule"),
        ("sz-open", "and its streams smaller"),
        ("lorenzo-1d", "keep it exact"),
    ],
)
async def test_what_to_optimise_depends_on_what_the_task_is_scored_by(
    client: Client, task: str, goal: str
) -> None:
    async with client:
        told = await call(client, "compile_kernel", task=task, target="numba", files=fakes.GOOD)
        kernel_id = told.data["kernel_id"]
        text = await said(client, "optimise", kernel_id=kernel_id, field="uk_theta")

    assert goal in text
    assert f"sz-mcp://kernels/{kernel_id}" in text
    assert "uk_theta" in text


async def test_the_query_of_diagnose_finds_what_became_of_the_kernel(app: App) -> None:
    async with Client(create_server(app)) as client:
        kernel_id = await compiled(client, fakes.WRONG)
        await call(client, "verify_bounds", kernel_id=kernel_id)
        text = await said(client, "diagnose", kernel_id=kernel_id)
        sql = re.search(r"SELECT .* ORDER BY started_at", text)
        rows = query(app.settings.home, sql.group()).rows if sql else ()

    assert rows == (("verify_bounds", "suite", "error", "bound_ok", "bound", rows[0][5]),)
    assert "does not hold" in str(rows[0][5])


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"kernel_id": "k_1"}, "field: required"),
        ({"kernel_id": "k_1", "field": "uk_theta", "tear": "user"}, "unknown argument 'tear'"),
        (
            {"kernel_id": "k_1", "field": "uk_theta", "tier": "guru"},
            "tier: must be 'user', 'knowledgeable' or 'expert', got 'guru'",
        ),
    ],
)
async def test_a_prompt_with_wrong_arguments_says_so_and_lists_them(
    client: Client, caplog: pytest.LogCaptureFixture, sent: dict[str, str], problem: str
) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("optimise", sent)

    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.message == (
        f"prompt optimise: {problem}\nIts arguments are kernel_id (required), field (required), "
        "tier (user, knowledgeable or expert)"
    )
    assert "Traceback" not in caplog.text


async def test_every_problem_with_the_arguments_of_a_prompt_is_told(client: Client) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("optimise", {"tier": "guru"})

    assert "kernel_id: required; field: required; tier: must be" in refused.value.error.message


async def test_an_unknown_prompt_lists_those_there_are(client: Client) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("sing")

    assert refused.value.error.code == INVALID_PARAMS
    assert "the prompts are port, optimise, diagnose" in refused.value.error.message


@pytest.mark.parametrize(
    ("prompt", "arguments", "problem"),
    [
        ("port", {"task": "spz"}, "no 'spz'; choose one of"),
        ("port", {"target": "cuda"}, "no 'cuda'; choose one of numba"),
        ("diagnose", {"kernel_id": "k_1"}, "no kernel 'k_1' here"),
    ],
)
async def test_a_name_a_prompt_does_not_know_is_refused_with_the_choices(
    client: Client, prompt: str, arguments: dict[str, str], problem: str
) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(prompt, arguments)

    assert refused.value.error.code == INVALID_PARAMS
    assert problem in refused.value.error.message
