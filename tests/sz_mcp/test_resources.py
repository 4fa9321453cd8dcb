"""What can be read beside the tools, and what is said of names that do not exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, BlobResourceContents, TextResourceContents

from kernels import baselines
from kernels.tasks import TASKS
from sz_mcp.app import App
from sz_mcp.pages import task_page
from sz_mcp.server import create_server
from sz_mcp.tools import TOOLS
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import Era, call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app
from tests.sz_mcp.page_text import examples_of

pytestmark = pytest.mark.anyio


async def read(client: Client, path: str) -> str:
    (content,) = (await client.read_resource(f"sz-mcp://{path}")).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_resources_hold_pages_fields_submissions_sources_and_the_schema(
    client: Client,
) -> None:
    async with client:
        kernel_id = await compiled(client)
        texts = {}
        for path in (
            "targets",
            "targets/cuda:sm_90",
            "tasks/szp",
            "fields/na_temperature",
            "baselines/numba/szp/naive",
            f"kernels/{kernel_id}",
            "schema",
        ):
            read = await client.read_resource(f"sz-mcp://{path}")
            texts[path] = getattr(read.contents[0], "text", "")

    assert "task szp" in texts["targets"]
    assert "kernel.py:\ndef compress" in texts["targets/cuda:sm_90"]
    assert "szp" in texts["tasks/szp"]
    assert json.loads(texts["fields/na_temperature"])["unit"] == "K"
    assert "def compress" in json.loads(texts["baselines/numba/szp/naive"])["kernel.py"]
    assert json.loads(texts[f"kernels/{kernel_id}"])["files"] == fakes.GOOD
    assert "VIEW leaderboard" in texts["schema"]


async def test_an_unknown_resource_lists_the_choices(app: App) -> None:
    async with Client(create_server(app)) as client:
        with pytest.raises(MCPError, match="no task 'spz': choose one of lorenzo-1d"):
            await client.read_resource("sz-mcp://tasks/spz")


async def test_the_leaderboard_and_a_run_can_be_read(client: Client) -> None:
    async with client:
        kernel_id = await compiled(client)
        await call(client, "verify_bounds", kernel_id=kernel_id)
        told = await call(client, "run_compress", kernel_id=kernel_id, field="na_temperature")
        run_id = told.data["run_id"]
        board, run = [
            json.loads(getattr((await client.read_resource(uri)).contents[0], "text", ""))
            for uri in ("sz-mcp://leaderboard", f"sz-mcp://runs/{run_id}")
        ]

    (first,) = board["rows"]
    assert (first["rank"], first["agent"], first["run_id"]) == (1, "tester", run_id)
    assert board["truncated"] is False
    assert (run["kernel_id"], run["status"], run["attempt"]) == (kernel_id, "timed", 3)
    assert run["ratio"] == told.data["ratio"] == first["ratio"]


@pytest.mark.parametrize("run_id", [f"r_{'0' * 32}", "x' OR 'a'='a"])
async def test_an_unknown_run_is_not_found(
    app: App, caplog: pytest.LogCaptureFixture, run_id: str
) -> None:
    async with Client(create_server(app)) as client:
        with pytest.raises(MCPError, match=r"no run .* in the ledger") as refused:
            await client.read_resource(f"sz-mcp://runs/{quote(run_id)}")

    assert refused.value.error.code == INVALID_PARAMS
    assert "Traceback" not in caplog.text


async def test_the_lists_name_every_task_field_and_submission_and_where_to_read_it(
    client: Client,
) -> None:
    async with client:
        tasks, fields, submissions = [
            json.loads(await read(client, path)) for path in ("tasks", "fields", "baselines")
        ]
        pages = [one["page"] for listed in (tasks, fields, submissions) for one in listed]
        for page in pages:
            assert (await client.read_resource(page)).contents

    assert {one["name"] for one in tasks} == set(TASKS)
    assert [one["rung"] for one in tasks] == sorted(one["rung"] for one in tasks)
    assert {"name", "shape", "dtype", "fill_value"} <= set(fields[0])
    told = {(one["family"], one["task"], one["style"]) for one in submissions}
    assert {("numba", "szp", "naive"), ("cuda", "szp", "naive"), ("rocm", "szp", "naive")} <= told


async def test_a_task_page_is_its_own_text_and_a_complete_example(client: Client) -> None:
    async with client:
        page = await read(client, "tasks/szp")
        example = json.loads(await read(client, "baselines/numba/szp/naive"))

    assert page.startswith(TASKS["szp"].page.rstrip())
    assert "## Complete example: numba" in page
    (files,) = examples_of(page).values()
    assert {name: text.rstrip() for name, text in files.items()} == {
        name: text.rstrip() for name, text in example.items()
    }


@pytest.mark.parametrize("task", TASKS)
def test_every_task_page_has_an_example_that_can_be_cut_out_of_it(task: str) -> None:
    examples = examples_of(task_page(TASKS[task]))

    assert list(examples) == ["numba"]
    others = re.findall(r"sz-mcp://baselines/(\w+)/([\w-]+)/(\w+)", task_page(TASKS[task]))
    for family, named, style in others:
        assert named == task
        assert baselines.read(task, style, family).files
    for function in TASKS[task].functions:
        assert f"def {function}(" in examples["numba"]["kernel.py"]


async def test_the_full_form_of_a_tool_says_what_every_field_means(client: Client) -> None:
    async with client:
        forms = {name: json.loads(await read(client, f"tools/{name}")) for name in TOOLS}
        listed = {one.name: one for one in (await client.list_tools()).tools}

    run = forms["run_compress"]["outputSchema"]
    assert "Median over the repetitions" in run["properties"]["compress_gbps"]["description"]
    for name, form in forms.items():
        assert set(form["inputSchema"]["properties"]) == set(
            listed[name].input_schema["properties"]
        )
        assert all("description" in one for one in form["inputSchema"]["properties"].values())


async def test_a_run_can_be_followed_by_reading_it(
    tmp_path: Path, pipeline: FakePipeline, era: Era
) -> None:
    app = make_app(tmp_path, pipeline, answer_s=0.0)
    try:
        async with Client(create_server(app), mode=era) as client:
            build = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.SLOW
            )
            building = json.loads(await read(client, f"runs/{build.data['run_id']}"))
            pipeline.release.set()
            app.jobs.find(build.data["run_id"]).future.result(20)  # type: ignore[union-attr]
            built = json.loads(await read(client, f"runs/{build.data['run_id']}"))
            pipeline.release.clear()
            pipeline.started.clear()
            kernel_id = build.data["kernel_id"]
            told = await call(client, "run_compress", kernel_id=kernel_id, field="uk_theta")
            pipeline.started.wait(20)
            run_id = told.data["run_id"]
            running = json.loads(await read(client, f"runs/{run_id}"))
            own = json.loads(await read(client, "runs"))
            pipeline.release.set()
            app.jobs.find(run_id).future.result(20)  # type: ignore[union-attr]
            ended = json.loads(await read(client, f"runs/{run_id}"))
            own_later = json.loads(await read(client, "runs"))
    finally:
        app.close()

    assert (building["status"], building["task"]) == ("running", "szp")
    assert (built["status"], built["kernel_id"]) == ("compiled", kernel_id)
    assert running["status"] == "running"
    assert (running["progress"], running["message"]) == (0.5, "half way")
    assert (running["field"], running["mode"], running["bound"]) == ("uk_theta", "rel", 1e-3)
    assert [one["run_id"] for one in own["running"]] == [run_id]
    assert own["ended"] == []
    assert (ended["status"], ended["ratio"]) == ("timed", 10.0)
    assert own_later["running"] == []
    assert [(one["run_id"], one["status"]) for one in own_later["ended"]] == [(run_id, "timed")]


async def test_the_runs_of_another_session_are_not_ones_own(tmp_path: Path) -> None:
    first, second = (make_app(tmp_path, FakePipeline()) for _ in range(2))
    try:
        async with Client(create_server(first)) as mine:
            kernel_id = await compiled(mine)
            await call(mine, "verify_bounds", kernel_id=kernel_id)
            own = json.loads(await read(mine, "runs"))
            async with Client(create_server(second)) as yours:
                other = json.loads(await read(yours, "runs"))
    finally:
        first.close()
        second.close()

    assert len(own["ended"]) == 1
    assert other == {"running": [], "ended": []}


async def test_a_picture_is_read_as_a_png(client: Client) -> None:
    async with client:
        kernel_id = await compiled(client)
        told = await call(client, "profile", kernel_id=kernel_id, field="uk_theta")
        (content,) = (await client.read_resource(told.data["picture"])).contents

    assert isinstance(content, BlobResourceContents)
    assert content.mime_type == "image/png"


@pytest.mark.parametrize(
    ("uri", "choices"),
    [
        ("fields/uk_thata", "na_temperature"),
        ("baselines/metal/szp/naive", "numba"),
        ("baselines/..%2F..%2Fx/szp/naive", ""),
        ("baselines/numba/szp/neat", "naive, tuned"),
        ("tools/compile", "compile_kernel, verify_bounds"),
    ],
)
async def test_a_name_that_does_not_exist_lists_those_that_do(
    client: Client, uri: str, choices: str
) -> None:
    async with client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"sz-mcp://{uri}")

    assert refused.value.error.code == INVALID_PARAMS
    assert choices in refused.value.error.message
