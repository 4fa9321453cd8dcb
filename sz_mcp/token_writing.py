"""Changing a token file: one change at a time, whole or not at all, for its owner's eyes only.

Running servers look at the file at every request, so that a change holds at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from results_db.files import replace_file, sync_folder
from sz_mcp.errors import SettingsError
from sz_mcp.tokens import Token, check, digest_of, tokens_of

_SECRET_BYTES = 32
_PREFIX = "szmcp_"
"""Lets a scanner of leaked secrets know one."""
_HEAD = """\
# Bearer tokens of sz-mcp; `sz-mcp token` writes this file. The secrets themselves are nowhere.
[tokens]
"""


def new_secret() -> str:
    """A token that nobody has: 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def create(path: Path, name: str, told: Mapping[str, object]) -> str:
    """Add a token to the file, which is made if it is not there; returns the secret.

    told: fields of `Token` but the hash.

    Raises:
        SettingsError: there is one of that name, or the file says something else.
    """
    secret = new_secret()
    with _changing(path) as tokens:
        if name in tokens:
            raise SettingsError(f"{path} has a token {name!r} already: revoke it first")
        tokens[name] = Token.model_validate({**told, "sha256": digest_of(secret)})
    return secret


def revoke(path: Path, name: str) -> None:
    """Take a token out of the file; its holder is refused from now on.

    Raises:
        SettingsError: there is none of that name.
    """
    with _changing(path) as tokens:
        if name not in tokens:
            known = ", ".join(sorted(tokens)) or "none"
            raise SettingsError(f"{path} has no token {name!r}: there are {known}")
        del tokens[name]


def hash_all(path: Path) -> None:
    """Write the file anew: what it had in plain text is a hash then. Raises SettingsError."""
    if not path.exists():
        raise SettingsError(f"there is no token file {path}")
    with _changing(path):
        pass


@contextlib.contextmanager
def _changing(path: Path) -> Iterator[dict[str, Token]]:
    """The tokens of the file; what they are in the end is written, if nothing is raised."""
    try:
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            tokens = tokens_of(path) if path.exists() else {}
            yield tokens
            check(path, tokens)
            text = _HEAD + "".join(_table(name, one) for name, one in tokens.items())
            replace_file(path, text.encode(), 0o600)
            sync_folder(path.parent)
    except OSError as error:
        raise SettingsError(f"can't change {path}: {error}") from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(path.with_name(f"{path.name}.lock"), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _table(name: str, token: Token) -> str:
    told = token.model_dump(exclude_defaults=True)
    lines = [f"{key} = {_value(value)}" for key, value in told.items()]
    return "\n".join([f"\n[tokens.{_value(name)}]", *lines, ""])


def _value(value: object) -> str:
    """As TOML has it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    # JSON escapes what TOML does, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
