"""A language model behind an OpenAI-compatible endpoint, by way of pydantic-ai.

The library runs the loop (model, tool calls, model, …) and speaks MCP; what to plan, try and think
over is the model's. What it used is taken from the endpoint's own report, reply by reply.
"""

from __future__ import annotations

import importlib
import os
from decimal import Decimal
from typing import Any

from sz_mcp.bench.agents.desk import READ_S, Desk, Usage, http_client
from sz_mcp.bench.endpoint import scripted_endpoint
from sz_mcp.bench.errors import CellFailed, CellStopped
from sz_mcp.bench.prompting import prompt_for
from sz_mcp.bench.spec import SCRIPTED, ModelAgent, Prices

_MILLION = 1e6
_ERROR_TEXT = 500


async def work(agent: ModelAgent, desk: Desk) -> str:
    """Let the model work until it says that it is done; returns its last words' beginning.

    Raises:
        CellFailed: the endpoint failed, or the library is not installed.
        CellStopped: a budget is spent.
    """
    if agent.endpoint == SCRIPTED:
        with scripted_endpoint() as url:
            return await _work(agent, desk, url)
    return await _work(agent, desk, agent.endpoint)


async def _work(agent: ModelAgent, desk: Desk, endpoint: str) -> str:
    library = _library()
    errors = library.exceptions
    try:
        return await _converse(library, agent, desk, endpoint)
    except errors.UsageLimitExceeded as error:
        raise CellStopped(f"budget: {error}") from error
    except (errors.AgentRunError, errors.UserError) as error:
        raise CellFailed(f"{type(error).__name__}: {str(error)[:_ERROR_TEXT]}") from error


async def _converse(library: Any, agent: ModelAgent, desk: Desk, endpoint: str) -> str:
    limits = library.UsageLimits(
        request_limit=agent.turns, total_tokens_limit=desk.budget.tokens, cost_limit=None
    )
    prompt = prompt_for(desk.cell, desk.budget)
    asked = {"model_settings": agent.settings, "usage_limits": limits}
    async with _client(agent, endpoint) as client, http_client(desk) as http:
        tools = importlib.import_module("pydantic_ai.mcp").MCPToolset(
            desk.url, http_client=http, read_timeout=READ_S, init_timeout=READ_S
        )
        runner = library.Agent(_model(agent, client), toolsets=[tools], retries=_MANY)
        return await _turns(runner.iter(prompt, **asked), agent, desk)


async def _turns(conversation: Any, agent: ModelAgent, desk: Desk) -> str:
    async with conversation as run:
        async for node in run:
            reply = getattr(node, "model_response", None)
            if reply is not None:
                desk.used(_usage(reply.usage, agent.prices))
                desk.tell("thinks")
        return f"said: {str(run.result.output)[:200]}"


_MANY = 1000
"""A refused call is the model's to mend, as often as it likes; budgets end it."""


def _client(agent: ModelAgent, endpoint: str) -> Any:
    """Of the endpoint; closes its connections in the end."""
    key = os.environ.get(agent.key_env, "") if agent.key_env else "none"
    if not key:
        raise CellFailed(f"the environment has no {agent.key_env}, which holds its key")
    openai = importlib.import_module("openai")
    plain = endpoint.startswith("http://")
    # As for our own server: no certificates where none are used.
    http = openai.DefaultAsyncHttpxClient(verify=False) if plain else None
    return openai.AsyncOpenAI(base_url=endpoint, api_key=key, http_client=http)


def _model(agent: ModelAgent, client: Any) -> Any:
    models = importlib.import_module("pydantic_ai.models.openai")
    provider = importlib.import_module("pydantic_ai.providers.openai").OpenAIProvider
    return models.OpenAIChatModel(agent.model, provider=provider(openai_client=client))


def _usage(reported: Any, prices: Prices) -> Usage:
    cached = int(reported.cache_read_tokens or 0)
    told = int(reported.input_tokens or 0), int(reported.output_tokens or 0)
    return Usage(*told, cached, dollars_of(prices, *told, cached), "endpoint")


def dollars_of(prices: Prices, given: int, said: int, cached: int) -> float:
    """What tokens cost; `given` includes those that were cached."""
    again = prices.input if prices.cached is None else prices.cached
    whole = (
        Decimal(given - cached) * Decimal(str(prices.input))
        + Decimal(cached) * Decimal(str(again))
        + Decimal(said) * Decimal(str(prices.output))
    )
    return float(whole) / _MILLION


def _library() -> Any:
    try:
        return importlib.import_module("pydantic_ai")
    except ImportError as error:
        raise CellFailed("models need pydantic-ai: pip install 'sz-mcp[agents]'") from error
