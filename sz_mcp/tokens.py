"""Bearer tokens of the HTTP server: who may call, and as which agent.

A TOML file flows in (one `[tokens.NAME]` table per token), a verifier for the SDK flows out.
"""

from __future__ import annotations

import hmac
import tomllib
from collections.abc import Mapping
from pathlib import Path

from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sz_mcp.errors import SettingsError
from sz_mcp.settings import FeedbackLevel


class Token(BaseModel):
    """One token and what its holder is known as."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str = Field(min_length=16, repr=False)
    agent: str = Field(min_length=1)
    model: str = ""
    prompt_tier: str = ""
    session: str = ""
    """Name of the session, in which attempts are counted; empty: that of the token's table."""
    feedback: FeedbackLevel | None = None
    """None: as the server was started."""


class FileTokens:
    """The tokens of one file, as the SDK's `TokenVerifier` asks for them."""

    def __init__(self, tokens: Mapping[str, Token]) -> None:
        self.by_name = dict(tokens)

    async def verify_token(self, token: str) -> AccessToken | None:
        """The holder of `token`; None if nobody is. Takes the same time for every wrong one."""
        sent = token.encode()
        holders = [
            name
            for name, known in self.by_name.items()
            if hmac.compare_digest(known.token.encode(), sent)
        ]
        if not holders:
            return None
        return AccessToken(token=token, client_id=holders[0], scopes=[], subject=holders[0])


def read_tokens(path: Path) -> FileTokens:
    """The tokens of a TOML file.

    Raises:
        SettingsError: it can't be read or says something else.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        tokens = {name: Token(**table) for name, table in tables["tokens"].items()}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the token file {path} can't be read: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{path} has no tables [tokens.NAME] with token and agent") from error
    except ValidationError as error:
        # Never the values: one of them is the secret.
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SettingsError(f"{path}: {wrong}") from None
    if not tokens or len({one.token for one in tokens.values()}) < len(tokens):
        raise SettingsError(f"{path}: each of one or more [tokens.NAME] needs a token of its own")
    return FileTokens(tokens)
