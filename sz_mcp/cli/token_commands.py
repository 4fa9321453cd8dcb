"""`sz-mcp token create | list | revoke | hash` and `sz-mcp share`: who may call and see what."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError
from rich import box
from rich.table import Table

from results_db.errors import QueryError
from results_db.runs import one_kernel
from results_db.viewing import Shared
from sz_mcp import token_writing
from sz_mcp.cli.screen import screen
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.settings import Settings
from sz_mcp.tokens import TOKEN_FILE, Token, tokens_of

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_AGE = re.compile(r"(\d{1,6})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_COLUMNS = ("name", "agent", "model", "session", "sees", "share", "created", "expires", "state")


def create(settings: Settings, name: str, told: Mapping[str, object], expires: str | None) -> None:
    """Print the new token on stdout, and what to do with it on stderr. Raises SettingsError."""
    for what, text in (("NAME", name), *((key, told[key]) for key in ("agent", "session"))):
        if text and not str(text).isprintable():
            raise SettingsError(f"{what}: {text!r} has characters that can't be printed")
    if not _NAME.fullmatch(name):
        raise SettingsError(f"NAME: {name!r} must be 1 to 64 letters, digits, - and _")
    now = datetime.now(UTC).replace(microsecond=0)
    end = None if expires is None else now + _age(expires)
    file = _file(settings)
    try:
        secret = token_writing.create(file, name, {**told, "created": now, "expires": end})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SettingsError(wrong) from None
    sys.stdout.write(f"{secret}\n")
    sys.stderr.write(
        f"sz-mcp: this is the token of {told['agent']}, shown this once; {file} keeps its hash.\n"
        f"sz-mcp: clients send it as the header Authorization: Bearer {secret[:9]}…\n"
    )


def show(settings: Settings, *, as_json: bool) -> None:
    """Print who has a token. Raises SettingsError."""
    file = _file(settings)
    tokens = tokens_of(file) if file.exists() else {}
    rows = [_row(name, token) for name, token in tokens.items()]
    if as_json:
        json.dump(rows, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column)
    for row in rows:
        table.add_row(*(str(row[column] or "") for column in _COLUMNS))
    screen().print(table)


def revoke(settings: Settings, name: str) -> None:
    """Refuse a token from now on. Raises SettingsError."""
    file = _file(settings)
    token_writing.revoke(file, name)
    sys.stdout.write(f"{name} is revoked in {file}: servers refuse it from their next request on\n")


def hash_all(settings: Settings) -> None:
    """Keep no token in plain text. Raises SettingsError."""
    file = _file(settings)
    token_writing.hash_all(file)
    sys.stdout.write(f"{file} holds hashes only\n")


def share(home: Path, kernel: str, *, undo: bool) -> None:
    """Let every agent see a kernel, or only its own again. Raises StepFailed."""
    try:
        kernel_id = one_kernel(home, kernel)
    except QueryError as error:
        raise StepFailed(str(error)) from error
    if undo:
        Shared(home).remove(kernel_id)
    else:
        Shared(home).add(kernel_id)
    sys.stdout.write(f"{kernel_id} is {'no longer ' if undo else ''}shared\n")


def _file(settings: Settings) -> Path:
    return settings.http.token_file or settings.home / TOKEN_FILE


def _row(name: str, token: Token) -> dict[str, object]:
    return {
        "name": name,
        "agent": token.agent,
        "model": token.model,
        "prompt_tier": token.prompt_tier,
        "session": token.session or name,
        "feedback": token.feedback,
        "sees": token.sees,
        "share": token.share,
        "created": token.created.isoformat() if token.created else None,
        "expires": token.expires.isoformat() if token.expires else None,
        "state": "expired" if token.expired() else "valid",
    }


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"--expires {text!r}: give hours, days or weeks: 12h, 30d, 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
