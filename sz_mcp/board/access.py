"""Who asks for a page: the holder of a token, or anybody where none are asked for.

A browser sends a token as the password of HTTP Basic; a program may send it as Bearer, as MCP
clients do.
"""

from __future__ import annotations

import base64
import binascii

from sz_mcp.board.sight import EVERYTHING, Level, Sight, sight_of
from sz_mcp.calls import Caller
from sz_mcp.settings import Openness
from sz_mcp.tokens import FileTokens

CHALLENGE = 'Basic realm="sz-mcp leaderboard (any name, a token as password)", charset="UTF-8"'


async def sight(
    authorization: str, tokens: FileTokens | None, openness: Openness, shared: frozenset[str]
) -> Sight | None:
    """What a request may see; None if it must show a token."""
    if tokens is None:
        return EVERYTHING
    if authorization:
        secret = _secret(authorization)
        access = None if secret is None else await tokens.verify_token(secret)
        token = None if access is None else tokens.get(access.client_id)
        # A wrong token is told so, rather than taken for none.
        if token is None or access is None:
            return None
        caller = Caller(
            session=token.session or access.client_id,
            agent=token.agent,
            client="",
            protocol="",
            feedback="none",
            sees=token.sees,
        )
        return sight_of(caller, shared)
    return Sight(Level.PUBLIC, shared) if openness == "scores" else None


def _secret(authorization: str) -> str | None:
    kind, _, sent = authorization.partition(" ")
    match kind.lower():
        case "bearer":
            return sent.strip()
        case "basic":
            try:
                text = base64.b64decode(sent.strip(), validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError, ValueError):
                return None
            return text.partition(":")[2]
    return None
