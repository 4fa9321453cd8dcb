"""The MCP server object: the surface of `tools`, checked arguments, and the log of every call.

One object serves both protocol eras, over stdio and Streamable HTTP.
"""

from __future__ import annotations

import base64
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.shared.uri_template import UriTemplate
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    CompleteRequestParams,
    ContentBlock,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    ResourceLink,
    SubscribeRequestParams,
    TextContent,
    Tool,
    UnsubscribeRequestParams,
)
from pydantic import AnyHttpUrl

from results_db.errors import BlobError, JournalError
from sz_mcp import __version__
from sz_mcp.answers import View, concise
from sz_mcp.app import App
from sz_mcp.arguments import Arguments, parse
from sz_mcp.brief import structured
from sz_mcp.calls import current_call
from sz_mcp.completions import completer
from sz_mcp.details import details
from sz_mcp.errors import ArgumentProblems
from sz_mcp.prompts import add_prompts
from sz_mcp.replies import ProfileReply
from sz_mcp.resources import add_resources
from sz_mcp.schemas import arguments_schema, description, result_schema
from sz_mcp.subscriptions import Subscriptions, handlers
from sz_mcp.texts import text_of
from sz_mcp.tools import TOOLS, Answer, Declared, Use

ReadMessages = ReadStream[SessionMessage | Exception]
WriteMessages = WriteStream[SessionMessage]

INSTRUCTIONS = """\
Write, compile, verify and time kernels of SZ-family error-bounded lossy compressors.
describe_arch says what can be written and for which machine; compile_kernel takes source and
returns a kernel_id; verify_bounds checks the error bound on every element; run_compress measures
ratio and speed; profile says where the time goes; query_results reads the ledger of all attempts in
SQL. What is wrong with a kernel comes back as data (status, stage, diagnostics, guidance); the
resource sz-mcp://tools/NAME has the meaning and unit of every field. A tool that needs longer than
45 s answers status "running" with a run_id for get_result."""


class EvaluationServer(MCPServer[dict[str, Any]]):
    """An MCPServer whose tools are `TOOLS`; tools that are added to it work as usual."""

    def __init__(self, app: App, verifier: TokenVerifier | None = None) -> None:
        self._news = Subscriptions(app.settings.budgets.progress_s, sessions=app.sessions)
        app.jobs.on_start(self._news.watch)
        # The SDK wants an issuer even where tokens come from a file and no OAuth is offered.
        auth = AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)
        super().__init__(
            name="sz-mcp",
            title="SZ kernels",
            version=__version__,
            instructions=INSTRUCTIONS,
            log_level="WARNING",
            middleware=[app.call_log],
            subscriptions=self._news.bus,
            token_verifier=verifier,
            auth=auth if verifier else None,
        )
        self._app = app
        self._surface = [_tool(name, declared) for name, declared in TOOLS.items()]
        low = self._lowlevel_server
        subscribe, unsubscribe = handlers(self._news, self._readable)
        low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
        low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
        low.add_request_handler("completion/complete", CompleteRequestParams, completer(app, self))

    async def list_tools(self) -> list[Tool]:
        """The surface, and whatever was added."""
        return [*self._surface, *await super().list_tools()]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[dict[str, Any], Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Check the arguments, run the tool, and answer.

        Raises:
            ToolError: the call itself is wrong; a wrong submission is a normal result.
            MCPError: the server can't record the call.
        """
        declared = TOOLS.get(name)
        if declared is None:
            added = [tool.name for tool in await super().list_tools()]
            if name not in added:
                raise ToolError(f"unknown tool {name!r}: the tools are {', '.join(TOOLS)}")
            return await super().call_tool(name, arguments, context)
        if context is None:
            raise ToolError("tools are called through a client")
        try:
            detailed = arguments.get("response_format") == "detailed"
            return _result(await self._run(declared, arguments, context), detailed=detailed)
        except ArgumentProblems as error:
            raise ToolError(_told(name, error)) from error
        except (JournalError, BlobError) as error:
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
        except (ToolError, MCPError):
            raise
        except Exception as error:
            # Ours, not the agent's: the SDK logs the traceback to stderr.
            kind = type(error).__name__
            raise UnexpectedToolError(f"{name}: the server failed ({kind}); see its log") from error

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[dict[str, Any], Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """The prompt of that name.

        Raises:
            MCPError: there is none.
        """
        known = [prompt.name for prompt in await self.list_prompts()]
        if name not in known:
            text = f"unknown prompt {name!r}: the prompts are {', '.join(known)}"
            raise MCPError(code=INVALID_PARAMS, message=text)
        return await super().get_prompt(name, arguments, context)

    async def serve_streams(self, read: ReadMessages, write: WriteMessages) -> None:
        """Serve one client over a pair of message streams until it leaves."""
        low = self._lowlevel_server
        await low.run(read, write, low.create_initialization_options())

    async def _readable(self, uri: str) -> bool:
        """Whether there is a resource of that form."""
        if uri in {str(one.uri) for one in await self.list_resources()}:
            return True
        templates = await self.list_resource_templates()
        return any(UriTemplate.parse(one.uri_template).match(uri) is not None for one in templates)

    async def _run(
        self, declared: Declared, raw: dict[str, Any], context: Context[dict[str, Any], Any]
    ) -> Answer:
        if refusal := current_call().refusal:
            raise ToolError(refusal)
        call = current_call()
        known = await self._app.known(call.caller)
        call.arguments = await self._app.recorded(raw)
        arguments: Arguments = parse(declared.arguments, raw, known)
        use = Use(
            app=self._app,
            engine=await self._app.ready(),
            call=call,
            context=context,
            view=View(call.caller.feedback, arguments.response_format == "detailed"),
        )
        return await declared.body(use, arguments)


def create_server(app: App, verifier: TokenVerifier | None = None) -> EvaluationServer:
    """The server with its resources and prompts."""
    server = EvaluationServer(app, verifier)
    add_resources(server, app)
    add_prompts(server, app)
    return server


def _tool(name: str, declared: Declared) -> Tool:
    return Tool(
        name=name,
        title=declared.title,
        description=description(declared),
        input_schema=arguments_schema(declared.arguments),
        output_schema=result_schema(declared.reply, declared.named),
        annotations=declared.annotations,
    )


def _result(answer: Answer, *, detailed: bool) -> CallToolResult:
    reply = answer.reply
    text = text_of(reply)
    if detailed and (more := details(reply)):
        text = f"{text}\n{more}"
    content: list[ContentBlock] = [TextContent(type="text", text=text)]
    if answer.picture is not None and isinstance(reply, ProfileReply) and reply.picture:
        data = base64.b64encode(answer.picture).decode()
        content.append(ImageContent(type="image", data=data, mime_type="image/png"))
        content.append(
            ResourceLink(
                type="resource_link", uri=reply.picture, name="profile.png", mime_type="image/png"
            )
        )
    told = structured(reply if detailed else concise(reply), detailed=detailed)
    return CallToolResult(content=content, structured_content=told)


def _told(name: str, error: ArgumentProblems) -> str:
    if len(error.problems) == 1:
        return f"{name}: {error.problems[0]}"
    listed = "\n".join(f"- {problem}" for problem in error.problems)
    return f"{name}: {len(error.problems)} problems with the arguments:\n{listed}"
