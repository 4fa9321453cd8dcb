"""Token files: who is let in, how they are written, and what is said without showing a secret."""

from __future__ import annotations

import logging
import os
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import AccessToken
from typer.testing import CliRunner

from sz_mcp import token_writing
from sz_mcp.cli import app as command_line
from sz_mcp.errors import SettingsError
from sz_mcp.tokens import FileTokens, Token, cautions, digest_of, read_tokens, tokens_of
from tests.sz_mcp.fakes import FakePipeline
from tests.sz_mcp.over_http import http_app_of, served
from tests.sz_mcp.test_serving import INITIALIZE, tool_call

SECRET = "0123456789abcdef"
RUNNER = CliRunner()


def written(folder: Path, text: str) -> Path:
    path = folder / "tokens.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def plain(name: str, secret: str = SECRET, **told: str) -> str:
    lines = [f'{key} = "{value}"' for key, value in {"agent": name, **told}.items()]
    return "\n".join([f"[tokens.{name}]", f'token = "{secret}"', *lines, ""])


async def holder(tokens: FileTokens, secret: str) -> str | None:
    access: AccessToken | None = await tokens.verify_token(secret)
    return access.client_id if access else None


def run(*arguments: object) -> tuple[int, str, str]:
    done = RUNNER.invoke(command_line, [str(one) for one in arguments])
    said = str(done.exception) if done.exception else done.stderr
    return done.exit_code, done.stdout, said


@pytest.mark.anyio
async def test_the_holder_of_a_token_is_known_by_its_name(tmp_path: Path) -> None:
    tokens = read_tokens(written(tmp_path, plain("ada")))

    assert await holder(tokens, SECRET) == "ada"
    assert await holder(tokens, SECRET + "x") is None
    assert await holder(tokens, "") is None
    assert await holder(tokens, "\ud800") is None
    assert tokens.by_name["ada"].agent == "ada"
    assert digest_of(SECRET) not in repr(tokens.by_name["ada"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "has no tables"),
        ("tokens = 3", "has no tables"),
        ("[tokens]", "has no tokens: make one"),
        ("[tokens.ada", "can't be read"),
        (f'[tokens.ada]\ntoken = "{SECRET}"\n', "agent: Field required"),
        (plain("ada", "short"), "token: must have at least 16"),
        ('[tokens.ada]\nagent = "a"\n', "sha256: Field required"),
        ('[tokens.ada]\nsha256 = "12"\nagent = "a"\n', "sha256: String should match"),
        (plain("ada", colour="red"), "colour: Extra inputs"),
        (plain("ada", sees="everything"), "sees: Input should be 'session', 'agent' or 'all'"),
        (plain("a") + plain("b"), "a token of its own"),
        (plain("a", session="s") + plain("b", SECRET * 2, session="s"), "belongs to two agents"),
        (plain("a", session="b") + plain("b", SECRET * 2), "belongs to two agents"),
    ],
)
def test_a_bad_file_is_refused_without_its_secrets(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint) as refused:
        read_tokens(written(tmp_path, text))

    assert SECRET not in str(refused.value)
    assert "short" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read"):
        read_tokens(tmp_path / "none.toml")


@pytest.mark.anyio
async def test_what_changes_in_the_file_holds_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, plain("ada"))
    tokens = read_tokens(path)

    second = token_writing.create(path, "bob", {"agent": "bob"})
    added = [await holder(tokens, secret) for secret in (SECRET, second)]
    token_writing.revoke(path, "ada")
    revoked = [await holder(tokens, secret) for secret in (SECRET, second)]
    path.write_text("[tokens.bob")
    with caplog.at_level(logging.WARNING):
        broken = [await holder(tokens, second) for _ in range(2)]
    path.unlink()

    assert added == ["ada", "bob"]
    assert revoked == [None, "bob"]
    assert broken == ["bob", "bob"]
    assert caplog.text.count("the tokens stay as they were") == 1
    assert await holder(tokens, second) is None
    assert len(tokens) == 0


@pytest.mark.anyio
async def test_an_expired_token_is_refused() -> None:
    now = datetime.now(UTC)
    tokens = FileTokens(
        {
            name: Token(
                sha256=digest_of(name * 8), agent=name, expires=now + timedelta(hours=hours)
            )
            for name, hours in (("past", -1), ("next", 1))
        }
    )

    assert await holder(tokens, "past" * 8) is None
    assert await holder(tokens, "next" * 8) == "next"


def test_a_created_token_is_printed_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"

    code, out, _ = run(
        "token", "create", "ada", "--agent", "Ada Ä🙂", "--model", "m", "--feedback", "explain",
        "--prompt-tier", "expert", "--session", "s", "--sees", "session", "--share",
        "--expires", "30d", "--home", tmp_path,
    )  # fmt: skip
    secret = out.strip()
    found = tokens_of(file)["ada"]
    _, listed, _ = run("token", "list", "--json", "--home", tmp_path)

    assert code == 0
    assert secret.startswith("szmcp_")
    assert len(secret) == 49
    assert found.sha256 == digest_of(secret)
    told = found.model_dump(include={"agent", "model", "feedback", "prompt_tier", "session"})
    assert told == {
        "agent": "Ada Ä🙂", "model": "m", "feedback": "explain", "prompt_tier": "expert",
        "session": "s",
    }  # fmt: skip
    assert (found.sees, found.share) == ("session", True)
    assert found.created is not None
    assert found.expires == found.created + timedelta(days=30)
    assert secret not in file.read_text() + listed
    assert found.sha256 not in listed
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert '"state": "valid"' in listed


def test_a_token_file_is_never_open_to_others_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        token_writing.create(tmp_path / "new" / "tokens.toml", "ada", {"agent": "a"})
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes == {"tokens.toml": 0o600, "tokens.toml.lock": 0o600}


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"

    with ThreadPoolExecutor(8) as executor:
        names = [f"t{number}" for number in range(24)]
        secrets = list(
            executor.map(lambda name: token_writing.create(file, name, {"agent": name}), names)
        )

    kept = tokens_of(file)
    assert sorted(kept) == sorted(names)
    assert [kept[name].sha256 for name in names] == [digest_of(secret) for secret in secrets]
    assert len(set(secrets)) == 24
    assert [path.name for path in tmp_path.iterdir() if ".lock" not in path.name] == [file.name]


def test_a_change_keeps_valid_what_was_in_plain_text_and_hashes_it(tmp_path: Path) -> None:
    file = written(tmp_path, plain("ada", model="m1"))
    warned = cautions(file)

    code, _, _ = run("token", "hash", "--token-file", file)

    assert "ada in plain text" in warned[0]
    assert code == 0
    assert SECRET not in file.read_text()
    assert tomllib.loads(file.read_text())["tokens"]["ada"] == {
        "sha256": digest_of(SECRET), "agent": "ada", "model": "m1",
    }  # fmt: skip
    assert cautions(file) == []
    file.chmod(0o666)
    assert "chmod 600" in cautions(file)[0]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("create", "ada"), "has a token 'ada' already: revoke it first"),
        (("create", "a.b"), "must be 1 to 64 letters"),
        (("create", "bob", "--agent", "a\x7fb"), "characters that can't be printed"),
        (("create", "bob", "--expires", "soon"), "give hours, days or weeks"),
        (("create", "bob", "--session", "ada"), "belongs to two agents"),
        (("revoke", "bob"), "has no token 'bob': there are ada"),
    ],
)
def test_a_command_that_makes_no_sense_changes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    file = tmp_path / "tokens.toml"
    token_writing.create(file, "ada", {"agent": "ada"})
    before = file.read_text()

    code, _, said = run("token", *arguments, "--home", tmp_path)

    assert code == 1
    assert complaint in said
    assert file.read_text() == before


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")

    code, _, said = run("token", "create", "ada", "--home", tmp_path / "home")

    assert code == 1
    assert "can't change" in said


@pytest.mark.anyio
async def test_a_revoked_token_ends_a_connection_that_is_open(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    first = token_writing.create(file, "ada", {"agent": "ada"})
    tokens = read_tokens(file)
    app = http_app_of(tmp_path, FakePipeline(), tokens)
    try:
        async with served(app, tokens) as url, httpx2.AsyncClient(timeout=60.0) as http:

            async def ask(secret: str, message: dict[str, Any], session: str) -> httpx2.Response:
                headers = {
                    "Authorization": f"Bearer {secret}",
                    "Accept": "application/json, text/event-stream",
                    **({"Mcp-Session-Id": session} if session else {}),
                }
                return await http.post(url, json=message, headers=headers)

            opened = await ask(first, INITIALIZE, "")
            session = opened.headers["mcp-session-id"]
            before = await ask(first, tool_call(2, "describe_arch", {}), session)
            token_writing.revoke(file, "ada")
            after = await ask(first, tool_call(3, "describe_arch", {}), session)
            # Another token of that name does not take over the connection.
            second = token_writing.create(file, "ada", {"agent": "ada"})
            other = await ask(second, tool_call(4, "describe_arch", {}), session)
            anew = await ask(second, INITIALIZE, "")
    finally:
        app.close()

    answers = [one.status_code for one in (opened, before, after, other, anew)]
    assert answers == [200, 200, 401, 404, 200]
