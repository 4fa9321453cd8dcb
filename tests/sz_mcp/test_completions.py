"""What an argument may be, as clients ask while a person types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Completion, PromptReference, ResourceTemplateReference

from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry
from kernels.tasks import TASKS
from sz_mcp.completions import MOST, matching
from sz_mcp.server import create_server
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio


async def of_prompt(client: Client, prompt: str, argument: str, typed: str = "") -> Completion:
    reference = PromptReference(type="ref/prompt", name=prompt)
    return (await client.complete(reference, {"name": argument, "value": typed})).completion


async def of_uri(client: Client, path: str, argument: str, **given: str) -> list[str]:
    reference = ResourceTemplateReference(type="ref/resource", uri=f"sz-mcp://{path}")
    asked = {"name": argument, "value": ""}
    return (await client.complete(reference, asked, given)).completion.values


async def test_tasks_come_simplest_first_and_by_what_was_typed(client: Client) -> None:
    async with client:
        every = await of_prompt(client, "port", "task")
        some = await of_prompt(client, "port", "task", "sz")

    assert set(every.values) == set(TASKS)
    assert every.values[0] == min(TASKS.values(), key=lambda task: task.rung).name
    assert set(some.values) == {name for name in TASKS if name.startswith("sz")}
    assert (some.total, some.has_more) == (len(some.values), False)


async def test_targets_that_run_here_come_first(client: Client) -> None:
    async with client:
        assert (await of_prompt(client, "port", "target")).values == ["numba", "cuda:sm_90"]
        assert await of_uri(client, "targets/{+target}", "target") == ["numba", "cuda:sm_90"]


async def test_tiers_families_styles_and_tools_are_offered(client: Client) -> None:
    async with client:
        tiers = (await of_prompt(client, "diagnose", "tier")).values
        template = "baselines/{family}/{task}/{style}"
        families = await of_uri(client, template, "family")
        styles = await of_uri(client, template, "style", family="numba", task="szp")
        strange = await of_uri(client, template, "style", family="../..", task="none")
        tools = await of_uri(client, "tools/{tool}", "tool")

    assert tiers == ["user", "knowledgeable", "expert"]
    assert families == ["numba", "cuda", "rocm", "wafer"]
    assert styles == ["naive", "tuned"]
    assert strange == ["naive", "tuned", "sz"]
    assert "compile_kernel" in tools


async def test_ones_own_kernels_and_runs_come_latest_first(tmp_path: Path) -> None:
    app, later = (make_app(tmp_path, FakePipeline()) for _ in range(2))
    try:
        async with Client(create_server(app)) as client:
            first, second = [await compiled(client) for _ in range(2)]
            runs = [
                (await call(client, "verify_bounds", kernel_id=one)).data["run_id"]
                for one in (second, first)
            ]
            kernels = await of_prompt(client, "optimise", "kernel_id", "k_")
            run_ids = await of_uri(client, "runs/{run_id}", "run_id")
            async with Client(create_server(later)) as other:
                again = await of_uri(other, "kernels/{kernel_id}", "kernel_id")
                others_runs = await of_uri(other, "runs/{run_id}", "run_id")
    finally:
        app.close()
        later.close()

    assert kernels.values == [first, second]
    assert run_ids[:2] == runs[::-1]
    assert again == [second, first]
    assert others_runs == []


async def test_kernels_of_another_agent_are_not_offered(tmp_path: Path) -> None:
    mine = make_app(tmp_path, FakePipeline())
    yours = make_app(tmp_path, FakePipeline(), agent="another")
    try:
        async with Client(create_server(mine)) as client:
            await compiled(client)
        async with Client(create_server(yours)) as client:
            offered = (await of_prompt(client, "diagnose", "kernel_id")).values
    finally:
        mine.close()
        yours.close()

    assert offered == []


async def test_hidden_fields_are_neither_offered_nor_listed_nor_read(tmp_path: Path) -> None:
    values = tmp_path / "values.npy"
    np.save(values, np.linspace(0, 1, 64, dtype=np.float32))
    registry = Registry(tmp_path)
    add(registry, values, Wish(name="shown"))
    alias = add(registry, values, Wish(name="secret", hidden=True)).entry.alias
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app)) as client:
            offered = (await of_prompt(client, "optimise", "field")).values
            offered += await of_uri(client, "fields/{field}", "field")
            listed = str(await client.read_resource("sz-mcp://fields"))
            listed += str(await client.read_resource("sz-mcp://targets"))
            for name in ("secret", alias):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(f"sz-mcp://fields/{name}")
                listed += refused.value.error.message.replace(repr(name), "")
    finally:
        app.close()

    assert "shown" in offered
    assert "shown" in listed
    assert not {"secret", alias} & set(offered)
    assert "secret" not in listed
    assert alias not in listed


def test_at_most_a_hundred_values_are_sent_and_the_rest_is_counted() -> None:
    values = [f"k_{number:03}" for number in range(250)]

    found = matching([*values, *values], "k_1")

    assert found.values == values[100:200]
    assert (found.total, found.has_more) == (100, False)
    assert (len(matching(values, "").values), matching(values, "").total) == (MOST, 250)
    assert matching(values, "").has_more is True


@pytest.mark.parametrize(
    ("reference", "argument", "problem"),
    [
        (PromptReference(type="ref/prompt", name="sing"), "task", "there are port, optimise"),
        (PromptReference(type="ref/prompt", name="port"), "song", "arguments are task, target"),
        (
            ResourceTemplateReference(type="ref/resource", uri="sz-mcp://songs/{song}"),
            "song",
            "no resource template",
        ),
    ],
)
async def test_what_does_not_exist_is_refused_with_what_does(
    client: Client,
    reference: PromptReference | ResourceTemplateReference,
    argument: str,
    problem: str,
) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.complete(reference, {"name": argument, "value": ""})

    assert refused.value.error.code == INVALID_PARAMS
    assert problem in refused.value.error.message
