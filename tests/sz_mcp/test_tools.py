"""Every tool through a client, in both protocol eras: what comes back, and what a mistake says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from kernels.modes.names import MODES
from kernels.tasks import TASKS
from sz_mcp.server import create_server
from sz_mcp.tools import TOOLS
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

pytestmark = pytest.mark.anyio


async def test_every_tool_carries_title_description_annotations_and_an_output_schema(
    client: Client,
) -> None:
    async with client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert list(tools) == list(TOOLS)
    for tool in tools.values():
        assert tool.title
        assert len(tool.description or "") > 80
        assert tool.annotations is not None
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert "response_format" in tool.input_schema["properties"]


async def test_input_schemas_offer_the_modes_that_bounds_know(client: Client) -> None:
    async with client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    mode = tools["run_compress"].input_schema["properties"]["mode"]
    assert tuple(mode["enum"]) == MODES
    assert mode["default"] == "rel"


async def test_describe_arch_lists_targets_tasks_and_fields(client: Client) -> None:
    async with client:
        told = await call(client, "describe_arch")

    assert [target["target"] for target in told.data["targets"]] == ["numba", "cuda:sm_90"]
    assert {task["name"] for task in told.data["tasks"]} >= {"szp", "lorenzo-1d"}
    assert "na_temperature" in {field["name"] for field in told.data["fields"]}
    assert "target" not in told.data
    assert "cuda:sm_90 (not here: no GPU; install one)" in told.text


async def test_describe_arch_of_one_target_holds_contract_peaks_and_example(client: Client) -> None:
    async with client:
        told = await call(client, "describe_arch", target="numba")
        whole = await call(client, "describe_arch", target="numba", response_format="detailed")

    assert told.data["execution"] == "hardware"
    assert told.data["contract"] == "define compress and decompress"
    assert told.data["example"] == fakes.GOOD
    assert told.data["peaks"][0] == {"name": "copy", "value": 9.5, "unit": "GB/s"}
    assert whole.data["peaks"][0]["provenance"] == "measured"
    assert whole.data["peaks"][1]["value"] is None
    assert "targets" not in told.data
    assert fakes.GOOD["kernel.py"].splitlines()[0] in told.text


async def test_compile_returns_a_kernel_and_where_to_go_on(client: Client) -> None:
    async with client:
        told = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.GOOD)

    kernel_id = told.data["kernel_id"]
    assert told.data["status"] == "compiled"
    assert told.data["stage"] == "loads"
    assert told.data["attempt"] == 1
    assert f"sz-mcp://kernels/{kernel_id}" in told.data["resources"]
    assert told.data["next"] == f'verify_bounds(kernel_id="{kernel_id}")'


async def test_a_first_call_that_fails_comes_with_its_guidance(client: Client) -> None:
    async with client:
        told = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.RAISES)

    assert told.data["status"] == "compiled"
    assert told.data["guidance"][0]["suggestion"] == "what to do"
    assert told.data["next"].startswith("compile_kernel(")


async def test_source_that_does_not_compile_is_a_result_with_place_and_guidance(
    client: Client,
) -> None:
    async with client:
        told = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.BROKEN)

    assert not told.error
    assert (told.data["status"], told.data["stage"]) == ("error", "parsed")
    assert told.data["diagnostics"] == [
        {
            "severity": "error",
            "message": "invalid syntax",
            "file": "kernel.py",
            "line": 1,
            "column": 8,
            "source": "BROKEN def compress(",
        }
    ]
    assert told.data["guidance"][0]["suggestion"] == "what to do"
    assert (
        "kernel.py:1:8: error: invalid syntax\n    BROKEN def compress(\n           ^" in told.text
    )


async def test_verify_holds_on_the_suite_by_default(client: Client, pipeline: FakePipeline) -> None:
    async with client:
        told = await call(client, "verify_bounds", kernel_id=await compiled(client))

    assert told.data["holds"] is True
    assert told.data["status"] == "bound_ok"
    assert told.data["checked_values"] == 1000
    assert told.data["run_id"].startswith("r_")
    request = pipeline.requests[-1]
    assert (request.field, request.mode, request.bound) == ("suite", "rel", 1e-3)


async def test_a_broken_bound_comes_back_with_its_counterexample_and_no_infinity(
    client: Client,
) -> None:
    async with client:
        kernel_id = await compiled(client, fakes.WRONG)
        told = await call(client, "verify_bounds", kernel_id=kernel_id)

    assert not told.error
    assert told.data["holds"] is False
    assert told.data["violations"] == 1
    assert told.data["max_abs_error"] is None
    assert told.data["worst"]["error"] == "inf"
    assert told.data["counterexample"]["case"] == "nan inside"
    assert [case["case"] for case in told.data["cases"]] == ["nan inside"]
    json.dumps(told.data, allow_nan=False)


async def test_run_reports_ratio_speeds_and_every_sample(
    client: Client, pipeline: FakePipeline
) -> None:
    async with client:
        told = await call(
            client,
            "run_compress",
            kernel_id=await compiled(client),
            field="na_temperature",
            mode="ABS",
            bound=0.02,
            repeats=3,
        )

    data = told.data
    assert (data["status"], data["execution"]) == ("timed", "hardware")
    assert data["ratio"] == 10.0
    assert data["bit_rate"] == pytest.approx(3.2)
    # 2 MB in 1 and 2 ms; the third repetition was disturbed and does not count.
    assert data["compress_gbps"] == pytest.approx(1.5)
    assert len(data["samples"]) == 6
    assert data["samples"][0]["gbps"] == pytest.approx(2.0)
    assert data["within_size_rule"] is True
    assert data["lossless"] is False
    assert data["psnr"] == pytest.approx(69.03, abs=0.01)
    request = pipeline.requests[-1]
    assert (request.mode, request.repeats, request.threads) == ("abs", 3, 1)
    assert "2 of 6 timed requests were disturbed" in told.text


async def test_profile_returns_metrics_and_a_picture_that_can_be_read(client: Client) -> None:
    async with client:
        told = await call(
            client, "profile", kernel_id=await compiled(client), field="na_temperature"
        )
        read = await client.read_resource(told.links[0])

    assert told.data["bottleneck"] == "half of it in pack"
    assert told.data["metrics"][1]["name"] == "phase.compress.pack"
    assert told.images == 1
    assert told.links == (told.data["picture"],)
    assert read.contents[0].mime_type == "image/png"


async def test_concise_replies_leave_out_the_cases_that_passed(client: Client) -> None:
    async with client:
        kernel_id = await compiled(client)
        concise = await call(client, "verify_bounds", kernel_id=kernel_id)
        detailed = await call(
            client, "verify_bounds", kernel_id=kernel_id, response_format="detailed"
        )

    assert concise.data["cases"] == []
    assert [case["case"] for case in detailed.data["cases"]] == ["noise"]


async def test_all_problems_of_a_call_are_told_at_once_with_the_valid_choices(
    client: Client,
) -> None:
    async with client:
        told = await call(
            client, "run_compress", kernl_id="k", field="na_temperatur", bound=True, repeats=0
        )

    assert told.error
    assert told.text.startswith("run_compress: 5 problems with the arguments:\n")
    assert "kernel_id: required" in told.text
    assert "unknown argument 'kernl_id': valid names are" in told.text
    assert "(did you mean kernel_id?)" in told.text
    assert "field: unknown field 'na_temperatur': choose one of uk_theta," in told.text
    assert "bound: must be a number, not true or false" in told.text
    assert "repeats: must be greater than or equal to 1, got 0" in told.text


async def test_an_unknown_kernel_says_how_to_get_one(client: Client) -> None:
    async with client:
        told = await call(client, "verify_bounds", kernel_id=f"k_{'0' * 32}")

    assert told.error
    assert "send its source with compile_kernel" in told.text


async def test_an_unknown_tool_lists_the_tools(client: Client) -> None:
    async with client:
        told = await call(client, "compress")

    assert told.error
    assert told.text == f"unknown tool 'compress': the tools are {', '.join(TOOLS)}"


async def test_a_target_that_cannot_run_here_says_why(client: Client) -> None:
    async with client:
        told = await call(
            client, "compile_kernel", task="szp", target="cuda:sm_90", files=fakes.GOOD
        )

    assert told.error
    assert "target 'cuda:sm_90' can't run here: no GPU; install one" in told.text


async def test_a_failure_of_the_server_itself_tells_nothing_of_its_inside(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    async with client:
        told = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.CRASH)

    assert told.error
    assert told.text == "compile_kernel: the server failed (RuntimeError); see its log"
    assert "secret detail" in caplog.text


async def test_query_results_includes_the_calls_before_it(client: Client) -> None:
    async with client:
        kernel_id = await compiled(client)
        await call(client, "run_compress", kernel_id=kernel_id, field="na_temperature")
        told = await call(
            client, "query_results", sql="SELECT tool, status, attempt FROM calls ORDER BY attempt"
        )

    assert told.data["columns"] == ["tool", "status", "attempt"]
    assert told.data["rows"] == [["compile_kernel", "compiled", 1], ["run_compress", "timed", 2]]
    assert told.data["truncated"] is False


async def test_sql_that_is_refused_is_an_error_with_the_reason(client: Client) -> None:
    async with client:
        told = await call(client, "query_results", sql="DROP TABLE calls")

    assert told.error
    assert "only reads" in told.text


async def test_a_second_server_of_the_same_home_knows_the_kernel(
    client: Client, tmp_path: Path
) -> None:
    async with client:
        kernel_id = await compiled(client)
    other = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(other)) as second:
            told = await call(second, "verify_bounds", kernel_id=kernel_id)
    finally:
        other.close()

    assert told.data["holds"] is True


async def test_a_kernel_can_be_sent_as_a_folder_under_a_root(tmp_path: Path) -> None:
    folder = tmp_path / "work" / "mine"
    folder.mkdir(parents=True)
    (folder / "kernel.py").write_text(fakes.GOOD["kernel.py"])
    app = make_app(tmp_path / "home", FakePipeline(), roots=(tmp_path / "work",))
    try:
        async with Client(create_server(app)) as client:
            inside = await call(
                client, "compile_kernel", task="szp", target="numba", path=str(folder)
            )
            outside = await call(
                client, "compile_kernel", task="szp", target="numba", path=str(tmp_path)
            )
    finally:
        app.close()

    assert inside.data["status"] == "compiled"
    assert outside.error
    assert "is not under a root of this server" in outside.text


@pytest.mark.parametrize(
    ("level", "diagnostics", "suggestion"),
    [("none", 0, None), ("raw", 1, None), ("explain", 1, ""), ("suggest", 1, "what to do")],
)
async def test_feedback_levels_decide_what_is_told_of_a_failure(
    tmp_path: Path, level: str, diagnostics: int, suggestion: str | None
) -> None:
    app = make_app(tmp_path, FakePipeline(), feedback=level)  # type: ignore[arg-type]
    try:
        async with Client(create_server(app)) as client:
            told = await call(
                client, "compile_kernel", task="szp", target="numba", files=fakes.BROKEN
            )
    finally:
        app.close()

    assert told.data["status"] == "error"
    assert len(told.data["diagnostics"]) == diagnostics
    assert [one["suggestion"] for one in told.data["guidance"]] == (
        [] if suggestion is None else [suggestion]
    )
    assert ("does not parse" in told.text) is (level != "none")


async def test_describe_arch_of_a_task_is_its_page_and_detailed_ends_with_an_example(
    client: Client,
) -> None:
    async with client:
        told = await call(client, "describe_arch", task="szp")
        detailed = await call(client, "describe_arch", task="szp", response_format="detailed")

    assert told.data["page"] == TASKS["szp"].page
    assert told.text.startswith("# szp")
    assert "Complete example" not in told.text
    assert detailed.data["page"].startswith(told.data["page"].rstrip())
    assert "## Complete example: numba" in detailed.text


async def test_describe_arch_explains_one_thing_at_a_time(client: Client) -> None:
    async with client:
        told = await call(client, "describe_arch", task="szp", target="numba")

    assert told.error
    assert "one `target` or one `task`" in told.text


async def test_a_detailed_text_has_every_case_and_every_speed(client: Client) -> None:
    async with client:
        kernel_id = await compiled(client)
        short = await call(client, "verify_bounds", kernel_id=kernel_id)
        long = await call(client, "verify_bounds", kernel_id=kernel_id, response_format="detailed")
        run = await call(
            client,
            "run_compress",
            kernel_id=kernel_id,
            field="uk_theta",
            response_format="detailed",
        )

    cases = [case["case"] for case in long.data["cases"]]
    assert cases
    assert all(f"case {name} (" in long.text for name in cases)
    assert not any(f"case {name} (" in short.text for name in cases)
    speeds = [sample["gbps"] for sample in run.data["samples"]]
    assert all(f"{one:.4g}" in run.text for one in speeds)
    assert "an empty request takes" in run.text
