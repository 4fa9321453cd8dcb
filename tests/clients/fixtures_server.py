"""The real HTTP server with what the official conformance suite wants to find on a server.

The factory, its middleware, its tokens and its transport are those that are served; the tools,
resources and prompts below have the names and the behaviour that the suite's scenarios prescribe.

    python -m tests.clients.fixtures_server HOME

prints the URL to stderr once it listens, and serves until it is told to stop.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from sz_mcp.app import App
from sz_mcp.server import EvaluationServer, create_server
from sz_mcp.serving import http_app, listen
from sz_mcp.settings import Http, Settings
from sz_mcp.tokens import FileTokens, Token, digest_of

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJg"
    "gg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
SECRET = "the conformance suite's"
TOKEN = Token(sha256=digest_of(SECRET), agent="conformance")

Body = Callable[..., Awaitable[Any]]
Schema = dict[str, Any]


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, said: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    return EmbeddedResource(type="resource", resource=resource)


CONTENT: dict[str, list[ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
}
"""Tools that return the same content whenever they are called."""


def object_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def titled(*values: str) -> list[Schema]:
    return [{"const": value, "title": value.title()} for value in values]


FORMS: dict[str, Schema] = {
    "test_elicitation": object_of(response={"type": "string", "description": "Your answer"}),
    "test_elicitation_sep1034_defaults": object_of(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    ),
    "test_elicitation_sep1330_enums": object_of(
        untitledSingle={"type": "string", "enum": ["option1", "option2", "option3"]},
        titledSingle={"type": "string", "oneOf": titled("value1", "value2", "value3")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2"]},
        },
        titledMulti={"type": "array", "items": {"anyOf": titled("value1", "value2")}},
    ),
}
"""Tools that ask the user in the middle of a call (2025-11-25)."""


def asks(message: str, **properties: Schema) -> ElicitRequest:
    schema = object_of(**properties)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def samples(prompt: str, most: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=text(prompt))
    params = CreateMessageRequestParams(messages=[message], max_tokens=most)
    return CreateMessageRequest(params=params)


NAME = asks("What is your name?", name={"type": "string"})
CONFIRM = asks("Please confirm", ok={"type": "boolean"})


@dataclass(frozen=True)
class Flow:
    """A tool that answers once the client has supplied what every round asks for (2026-07-28)."""

    rounds: tuple[Mapping[str, InputRequest], ...]
    answer: str
    remembers: bool = True
    """Whether the number of the round goes with the request, sealed by the server."""

    async def __call__(self, ctx: Context) -> str | InputRequiredResult:
        asked = int(ctx.request_state or 0) if self.remembers else 1
        given = ctx.input_responses or {}
        last = self.rounds[asked - 1] if asked else {}
        done = asked if asked and set(last) <= set(given) else 0
        if done == len(self.rounds):
            told = {key: value.model_dump(mode="json") for key, value in given.items()}
            return f"{self.answer}: {json.dumps(told)}"
        state = str(done + 1) if self.remembers else None
        return InputRequiredResult(input_requests=dict(self.rounds[done]), request_state=state)


FLOWS = {
    "elicitation": Flow(({"user_name": NAME},), "Hello", remembers=False),
    "sampling": Flow(
        ({"capital_question": samples("What is the capital of France?", 100)},),
        "The model said",
        remembers=False,
    ),
    "list_roots": Flow(({"client_roots": ListRootsRequest()},), "Roots", remembers=False),
    "request_state": Flow(({"confirm": CONFIRM},), "state-ok"),
    "tampered_state": Flow(({"confirm": CONFIRM},), "state-ok"),
    "multiple_inputs": Flow(
        (
            {
                "user_name": NAME,
                "greeting": samples("Generate a greeting", 50),
                "client_roots": ListRootsRequest(),
            },
        ),
        "All of it",
    ),
    "multi_round": Flow(
        (
            {"step1": asks("Step 1: What is your name?", name={"type": "string"})},
            {"step2": asks("Step 2: What is your favorite color?", color={"type": "string"})},
        ),
        "Both of it",
    ),
}


async def test_tool_with_logging(ctx: Context) -> str:
    for said in ("started", "processing data", "execution completed"):
        await ctx.info(f"Tool {said}")
    return "logged"


async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
    return "progressed"


async def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_sampling(ctx: Context, prompt: str) -> str:
    answer = await ctx.session.create_message(
        messages=[SamplingMessage(role="user", content=text(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {getattr(answer.content, 'text', '')}"


async def test_streaming_elicitation() -> InputRequiredResult:
    return InputRequiredResult(input_requests={"user_name": NAME})


async def test_missing_capability(ctx: Context) -> str:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="this tool needs a client that samples",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "the client samples"


async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    declared = ctx.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if declared is None or declared.sampling is not None:
        wanted["greeting"] = samples("Generate a greeting", 50)
    if declared is None or declared.elicitation is not None:
        wanted["user_name"] = NAME
    return InputRequiredResult(input_requests=wanted, request_state="1")


TOOLS: dict[str, Body] = {
    "test_tool_with_logging": test_tool_with_logging,
    "test_logging_tool": test_tool_with_logging,
    "test_tool_with_progress": test_tool_with_progress,
    "test_error_handling": test_error_handling,
    "test_sampling": test_sampling,
    "test_streaming_elicitation": test_streaming_elicitation,
    "test_missing_capability": test_missing_capability,
    "test_input_required_result_capabilities": test_input_required_result_capabilities,
}


def asking_tool(schema: Schema) -> Body:
    async def ask(ctx: Context, message: str = "Please answer") -> str:
        answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        return f"User response: action={answer.action}, content={json.dumps(answer.content)}"

    return ask


def content_tool(blocks: list[ContentBlock]) -> Body:
    async def show() -> list[ContentBlock]:
        return blocks

    return show


def flow_tool(flow: Flow) -> Body:
    async def go(ctx: Context) -> str | InputRequiredResult:
        return await flow(ctx)

    return go


def changing_tools(server: EvaluationServer) -> dict[str, Body]:
    """Tools that change what the server lists and say so."""

    async def change_tools(ctx: Context) -> str:
        server.add_tool(test_error_handling, name="test_passing_tool")
        server.remove_tool("test_passing_tool")
        await ctx.notify_tools_changed()
        return "changed"

    async def change_prompts(ctx: Context) -> str:
        await ctx.notify_prompts_changed()
        return "changed"

    return {
        "test_trigger_tool_change": change_tools,
        "test_trigger_prompt_change": change_prompts,
    }


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    shown = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(shown), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(image()), UserMessage("Please analyze the image above.")]


async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    context = asks("What context should the prompt use?", context={"type": "string"})
    return await Flow(({"user_context": context},), "Use it", remembers=False)(ctx)


PROMPTS = (
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
)


def add_resources(server: EvaluationServer) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        return "Watched resource content"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


async def set_level(
    context: ServerRequestContext[Any, Any], params: SetLevelRequestParams
) -> EmptyResult:
    """The tools that log send everything, whatever level is asked for."""
    del context, params
    return EmptyResult()


def with_fixtures(server: EvaluationServer) -> EvaluationServer:
    """Add what the suite looks for."""
    bodies = {
        **{name: content_tool(blocks) for name, blocks in CONTENT.items()},
        **{name: asking_tool(schema) for name, schema in FORMS.items()},
        **{f"test_input_required_result_{name}": flow_tool(one) for name, one in FLOWS.items()},
        **TOOLS,
        **changing_tools(server),
    }
    for name, body in bodies.items():
        server.add_tool(body, name=name, description=f"{name}, as the suite describes it")
    for prompt in PROMPTS:
        server.add_prompt(Prompt.from_function(prompt, description=f"{prompt.__name__}"))
    add_resources(server)
    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    return server


class Bearer:
    """Sends the token that the suite can't be told of; a request with one of its own keeps it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        if scope["type"] == "http" and b"authorization" not in names:
            header = (b"authorization", f"Bearer {SECRET}".encode())
            scope = {**scope, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, send)


def main(home: Path) -> None:
    tokens = FileTokens({"conformance": TOKEN})
    listener = listen("127.0.0.1", 0)
    with closing(App(Settings(home=home), "http", tokens=tokens.by_name)) as app:
        app.start()
        server = with_fixtures(create_server(app, tokens))
        served = Bearer(http_app(server, Http()))
        config = uvicorn.Config(served, log_level="warning", access_log=False)
        sys.stderr.write(f"sz-mcp: http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
