"""The tools' page names every tool, argument and resource that exists, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp import Client

from sz_mcp.server import create_server
from sz_mcp.tools import TOOLS
from tests.sz_mcp.fakes import FakePipeline, make_app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tools.md").read_text()


def section(tool: str) -> str:
    found = re.search(rf"^## {tool}$(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_a_section_that_names_its_arguments(tool: str) -> None:
    arguments = set(TOOLS[tool].arguments.model_fields) - {"response_format"}

    rows = re.findall(r"^\| (`.*?) \|", section(tool), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == arguments


@pytest.mark.parametrize("tool", [name for name in TOOLS if name != "get_result"])
def test_every_result_field_a_section_names_is_in_the_output_schema(tool: str) -> None:
    text = section(tool).partition("Returns")[2] or section(tool).partition("With it")[2]
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]*)`", text))))
    known = str(TOOLS[tool].reply.model_json_schema())

    assert {name for name in named if "_" in name and name not in known} <= set(TOOLS)


@pytest.mark.anyio
async def test_every_resource_is_on_the_page(tmp_path: Path) -> None:
    app = make_app(tmp_path, FakePipeline())
    try:
        async with Client(create_server(app)) as client:
            templates = (await client.list_resource_templates()).resource_templates
            listed = (await client.list_resources()).resources
    finally:
        app.close()

    uris = {one.uri_template.replace("{+", "{") for one in templates}
    uris |= {str(one.uri) for one in listed}
    assert set(re.findall(r"sz-mcp://[^`\s]+", PAGE)) == uris


def test_the_readme_names_every_tool() -> None:
    text = (ROOT / "README.md").read_text()

    assert [tool for tool in TOOLS if f"`{tool}`" not in text] == []
