"""Bearer tokens of the HTTP server: who may call, as which agent, and whose work it may see.

A TOML file flows in (one `[tokens.NAME]` table per token), a verifier for the SDK flows out, which
reads the file again whenever it changed. A token is 256 random bits, so that its SHA-256, which is
all that the file holds, can't be turned back by guessing: slow hashes are for passwords.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mcp.server.auth.provider import AccessToken
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sz_mcp.errors import SettingsError
from sz_mcp.settings import FeedbackLevel

Sees = Literal["session", "agent", "all"]
"""Whose kernels and runs a caller may see."""
TOKEN_FILE = "tokens.toml"
"""In the home, where no other file is named."""
LEAST_CHARACTERS = 16
"""Of a token in plain text."""
_LOG = logging.getLogger(__name__)


class Token(BaseModel):
    """One token and what its holder is known as."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern="^[0-9a-f]{64}$", repr=False)
    """Of the secret."""
    agent: str = Field(min_length=1)
    model: str = ""
    prompt_tier: str = ""
    session: str = ""
    """Name of the session, in which attempts are counted; empty: that of the token's table."""
    feedback: FeedbackLevel | None = None
    """None: as the server was started."""
    sees: Sees = "agent"
    """Sources and results that it may read, beside shared ones: of its session, agent, or all."""
    share: bool = False
    """Whether everybody may read what it sends."""
    attempts: int | None = Field(default=None, ge=1)
    """Calls that touch a kernel, which its session may make; None: no limit."""
    seconds: float | None = Field(default=None, gt=0)
    """Time its session has, for the record: whoever gave the token out ends it."""
    created: AwareDatetime | None = None
    expires: AwareDatetime | None = None
    """None: never."""

    @property
    def fingerprint(self) -> str:
        """Tells this token from others of the same name, earlier or later; no secret."""
        return self.sha256[:16]

    def expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= datetime.now(UTC)


class FileTokens(Mapping[str, Token]):
    """The tokens of one file by name, as the file has them now; the SDK's `TokenVerifier`.

    Thread-safe. A file that can't be read any more lets nobody in; of one that was changed and says
    nothing sensible the last sensible state holds, with a warning.
    """

    def __init__(self, tokens: Mapping[str, Token], path: Path | None = None) -> None:
        """path: where they come from; None: they never change."""
        self._tokens = dict(tokens)
        self._path = path
        self._stamp = None if path is None else _stamp(path)
        self._lock = threading.Lock()

    @property
    def by_name(self) -> Mapping[str, Token]:
        """These tokens."""
        return self

    async def verify_token(self, token: str) -> AccessToken | None:
        """The holder of `token`; None if nobody is. Takes the same time for every wrong one."""
        sent = digest_of(token)
        holders = [
            (name, known)
            for name, known in self._now().items()
            if hmac.compare_digest(known.sha256, sent)
        ]
        if not holders or holders[0][1].expired():
            return None
        ((name, known),) = holders
        # The SDK lets a connection be used by the client and subject only that opened it.
        return AccessToken(token="", client_id=name, scopes=[], subject=known.fingerprint)

    def __getitem__(self, name: str) -> Token:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def _now(self) -> Mapping[str, Token]:
        path = self._path
        if path is None:
            return self._tokens
        with self._lock:
            stamp = _stamp(path)
            if stamp != self._stamp:
                self._stamp = stamp
                self._tokens = self._again(path) if stamp else {}
            return self._tokens

    def _again(self, path: Path) -> dict[str, Token]:
        try:
            return tokens_of(path)
        except SettingsError as error:
            _LOG.warning("the tokens stay as they were: %s", error)
            return self._tokens


def read_tokens(path: Path) -> FileTokens:
    """The tokens of a TOML file, which is watched.

    Raises:
        SettingsError: it can't be read, has none, or says something else.
    """
    tokens = FileTokens({}, path)
    tokens._tokens = tokens_of(path)
    if not tokens._tokens:
        raise SettingsError(f"{path} has no tokens: make one with `sz-mcp token create`")
    return tokens


def tokens_of(path: Path) -> dict[str, Token]:
    """What a token file says.

    Raises:
        SettingsError: it can't be read or says something else.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        tokens = {name: Token(**_hashed(table)) for name, table in tables["tokens"].items()}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the token file {path} can't be read: {error}") from error
    except ValidationError as error:
        # Never the values: one of them is the secret.
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SettingsError(f"{path}: {wrong}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{path} has no tables [tokens.NAME] with sha256 and agent") from error
    except ShortTokenError as error:
        raise SettingsError(f"{path}: {error}") from None
    check(path, tokens)
    return tokens


def cautions(path: Path) -> list[str]:
    """What an operator should change about a token file."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))["tokens"]
        plain = [name for name, table in tables.items() if "token" in table]
        mode = path.stat().st_mode & 0o777
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    found = []
    if plain:
        found.append(
            f"{path} holds {', '.join(plain)} in plain text: `sz-mcp token hash` replaces it"
        )
    if mode & 0o022 or (plain and mode & 0o044):
        found.append(f"{path} is open to other users (mode {mode:o}): chmod 600")
    return found


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class ShortTokenError(Exception):
    """A token in plain text that could be guessed."""


def _hashed(table: Mapping[str, Any]) -> dict[str, Any]:
    """A token's table with the hash of a secret in the place of the secret."""
    if "token" not in table:
        return dict(table)
    secret = table["token"]
    if not isinstance(secret, str) or len(secret) < LEAST_CHARACTERS:
        raise ShortTokenError(f"token: must have at least {LEAST_CHARACTERS} characters")
    rest = {name: value for name, value in table.items() if name != "token"}
    return {"sha256": digest_of(secret), **rest}


def check(path: Path, tokens: Mapping[str, Token]) -> None:
    """Raise SettingsError where two tokens could be taken for each other."""
    if len({one.sha256 for one in tokens.values()}) < len(tokens):
        raise SettingsError(f"{path}: each [tokens.NAME] needs a token of its own")
    agents: dict[str, str] = {}
    for name, one in tokens.items():
        session = one.session or name
        if agents.setdefault(session, one.agent) != one.agent:
            raise SettingsError(
                f"{path}: the session {session!r} belongs to two agents, {agents[session]!r} and "
                f"{one.agent!r}: give each a session of its own"
            )


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Changes whenever the file does; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
