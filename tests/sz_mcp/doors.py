"""Every door of a server, tried by one client: tools, resources, SQL, completions.

Doors are found by asking the server, so that one that is added later is tried too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextResourceContents

from sz_mcp.tools import TOOLS
from tests.sz_mcp.conftest import Told, call


async def all_that_is_readable(client: Client, names: Sequence[str]) -> dict[str, str]:
    """Door → everything that came out of it; names: tried as variables of URIs."""
    # First, for Ada's own calls, which the ledger shows her, will name what she asks for.
    found = await _tables(client)
    for tool in TOOLS:
        for detail in ("concise", "detailed"):
            told = await call(client, "describe_arch", response_format=detail)
            found[f"describe_arch {detail}"] = seen(told)
        found[f"tool {tool}"] = seen(await call(client, tool))
    found |= await _resources(client, names)
    found |= await _completions(client)
    return found


def seen(told: Told) -> str:
    return f"{told.text}\n{json.dumps(told.data)}\n{told.links}"


async def _resources(client: Client, names: Sequence[str]) -> dict[str, str]:
    uris = [str(one.uri) for one in (await client.list_resources()).resources]
    for template in (await client.list_resource_templates()).resource_templates:
        uris += [re.sub(r"\{\+?\w+\}", name, template.uri_template) for name in names]
    found: dict[str, str] = {}
    for uri in uris:
        try:
            contents = (await client.read_resource(uri)).contents
            texts = [one.text for one in contents if isinstance(one, TextResourceContents)]
            found[uri] = "\n".join(texts) if len(texts) == len(contents) else str(contents)
        except MCPError as error:
            # Whoever asks for a name may get that name back.
            found[uri] = _without_asked(error.error.message, uri)
    return found


def _without_asked(text: str, uri: str) -> str:
    for part in uri.split("/"):
        text = text.replace(part, "") if part else text
    return text


async def _tables(client: Client) -> dict[str, str]:
    listed = await call(
        client,
        "query_results",
        sql="SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
        " WHERE NOT internal",
        max_rows=1000,
    )
    names = [name for (name,) in listed.data["rows"]]
    tables = (f"SELECT '{name}', list(t)::VARCHAR FROM {name} t" for name in names)
    statistics = (f"SELECT stats::VARCHAR FROM pragma_storage_info('{name}')" for name in names)
    functions = ("duckdb_columns", "duckdb_settings", "duckdb_databases", "duckdb_logs")
    metadata = (f"SELECT list(t)::VARCHAR FROM {name}() t" for name in functions)
    asked = {
        "tables": " UNION ALL ".join(tables),
        "statistics": " UNION ALL ".join(statistics),
        "metadata": " UNION ALL ".join(metadata),
        "whole": "SELECT * FROM whole.kernels",
        "no table": "SELECT count(*) FROM nothing",
        "no column": "SELECT zz FROM calls",
        "plan": "EXPLAIN ANALYZE FROM runs",
    }
    return {
        door: seen(await call(client, "query_results", sql=sql, max_rows=1000))
        for door, sql in asked.items()
    }


async def _completions(client: Client) -> dict[str, str]:
    found: dict[str, str] = {}
    for template in (await client.list_resource_templates()).resource_templates:
        reference = ResourceTemplateReference(type="ref/resource", uri=template.uri_template)
        for name in re.findall(r"\{\+?(\w+)\}", template.uri_template):
            for typed in ("", "k", "r", "z"):
                told = await client.complete(reference, {"name": name, "value": typed})
                found[f"completion {name} {typed}"] = str(told.completion.values)
    for prompt in (await client.list_prompts()).prompts:
        for argument in prompt.arguments or ():
            told = await client.complete(
                PromptReference(type="ref/prompt", name=prompt.name),
                {"name": argument.name, "value": ""},
            )
            found[f"completion {prompt.name} {argument.name}"] = str(told.completion.values)
    return found
