"""The real server in a process of its own: stdio and HTTP, signals, the end of the input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from results_db.queries import query
from sz_mcp.cli.serve import parse_address
from sz_mcp.errors import SettingsError
from sz_mcp.serving import check_confinement, check_exposure, message_of
from sz_mcp.token_writing import create, revoke
from tests.sz_mcp.conftest import Era, call
from toolchains.children.isolation import Layer

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
WAIT_S = 60
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def tool_call(
    number: int, name: str, arguments: dict[str, Any], progress: str | None = None
) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    if progress is not None:
        params["_meta"] = {"progressToken": progress}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sz_mcp", "serve", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline().removeprefix("sz-mcp: ").strip()


def descendants(pid: int) -> list[int]:
    """Living processes below `pid`, whichever of its threads started them."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(one) for path in lists for one in _words(path)]
    return found + [deeper for one in found for deeper in descendants(one)]


def _words(path: Path) -> list[str]:
    """Of a file of /proc; none of a thread that has ended meanwhile."""
    try:
        return path.read_text().split()
    except OSError:
        return []


def lives(pid: int) -> bool:
    """Whether it runs; one that nobody reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def hear(process: subprocess.Popen[str], key: str) -> dict[str, Any]:
    """The next message that has `key`."""
    assert process.stdout is not None
    while key not in (message := json.loads(process.stdout.readline())):
        pass
    found: dict[str, Any] = message
    return found


def say(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


async def test_stdio_serves_the_real_targets_and_logs_under_its_agent(
    tmp_path: Path, era: Era
) -> None:
    arguments = command("--agent", "tester", "--home", str(tmp_path))[1:]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    async with Client(server, mode=era) as client:
        told = await call(client, "describe_arch", target="numba")

    assert told.data["execution"] == "hardware"
    assert told.data["example"]["kernel.py"]
    assert query(tmp_path, "SELECT agent, outcome FROM calls").rows == (("tester", "ok"),)


async def test_http_serves_both_eras_on_loopback(tmp_path: Path, era: Era) -> None:
    with running("--http", "0", "--home", str(tmp_path)) as process:
        url = await asyncio.to_thread(url_of, process)
        async with Client(url, mode=era) as client:
            told = await call(client, "describe_arch")
        process.send_signal(signal.SIGTERM)
        _, complaints = await asyncio.to_thread(process.communicate, None, WAIT_S)

    assert url.startswith("http://127.0.0.1:")
    assert told.data["targets"][0]["target"] == "numba"
    assert process.returncode == 0
    assert complaints == ""
    assert query(tmp_path, "SELECT tool, writer FROM calls").rows == (("describe_arch", "http"),)


def test_http_refuses_other_host_names(tmp_path: Path) -> None:
    with running("--http", "0", "--home", str(tmp_path)) as process:
        url = url_of(process)
        answer = httpx2.post(url, json=INITIALIZE, headers={"Host": "evil.example"})
        origin = httpx2.post(url, json=INITIALIZE, headers={"Origin": "http://evil.example"})
        process.terminate()
        _, complaints = process.communicate(timeout=WAIT_S)

    assert answer.status_code == 421
    assert origin.status_code == 403
    assert "evil" not in complaints


async def test_a_token_says_who_calls_and_nobody_calls_without_one(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[tokens.ada]\ntoken = "0123456789abcdef"\nagent = "ada"\nmodel = "m1"\n')
    home = tmp_path / "home"
    with running("--http", "0", "--home", str(home), "--token-file", str(tokens)) as process:
        url = await asyncio.to_thread(url_of, process)
        refused = httpx2.post(url, json=INITIALIZE)
        accepted = httpx2.post(
            url,
            json={**INITIALIZE, "id": 2},
            headers={
                "Authorization": "Bearer 0123456789abcdef",
                "Accept": "application/json, text/event-stream",
            },
        )
        call_headers = {
            "Authorization": "Bearer 0123456789abcdef",
            "Accept": "application/json, text/event-stream",
            "Mcp-Session-Id": accepted.headers["mcp-session-id"],
            "MCP-Protocol-Version": "2025-11-25",
        }
        message = tool_call(3, "describe_arch", {})
        called = httpx2.post(url, json=message, headers=call_headers, timeout=WAIT_S)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate, None, WAIT_S)

    assert refused.status_code == 401
    assert called.status_code == 200
    found = query(home, "SELECT agent, model, session FROM sessions").rows
    assert found == (("ada", "m1", "ada"),)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_stdio_server_quietly(tmp_path: Path, number: signal.Signals) -> None:
    with running("--home", str(tmp_path)) as process:
        say(process, INITIALIZE)
        assert process.stdout is not None
        assert "serverInfo" in process.stdout.readline()
        process.send_signal(number)
        _, complaints = process.communicate(timeout=WAIT_S)

    assert process.returncode == 0
    assert complaints == ""


def test_the_end_of_stdin_ends_the_server_and_its_calls_are_in_the_ledger(tmp_path: Path) -> None:
    with running("--home", str(tmp_path)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        say(process, INITIALIZE)
        process.stdout.readline()
        say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        say(process, tool_call(2, "no_such_tool", {}))
        answer = json.loads(process.stdout.readline())
        process.stdin.close()
        process.wait(WAIT_S)

    assert answer["result"]["isError"] is True
    assert process.returncode == 0
    found = query(tmp_path, "SELECT tool, outcome FROM calls", drain_first=False).rows
    assert found == (("no_such_tool", "tool_error"),)


def test_a_signal_kills_the_children_of_a_call_in_progress(tmp_path: Path) -> None:
    # It loops on real fields only, so that it compiles at once.
    source = (
        "def compress(data, abs_bound):\n"
        "    while data.size > 20000: pass\n"
        "    return data.reshape(-1).view('u1')\n"
        "def decompress(stream, shape, dtype):\n"
        "    return stream.view(dtype).reshape(shape)\n"
    )
    with running("--home", str(tmp_path), "--set", "budgets.shutdown_s=0") as process:
        say(process, INITIALIZE)
        hear(process, "result")
        say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        sent = {"task": "sz-open", "target": "numba", "files": {"kernel.py": source}}
        say(process, tool_call(2, "compile_kernel", sent))
        kernel_id = hear(process, "result")["result"]["structuredContent"]["kernel_id"]
        wanted = {"kernel_id": kernel_id, "field": "uk_theta"}
        say(process, tool_call(3, "verify_bounds", wanted, progress="p"))
        hear(process, "method")
        children = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)

    assert children
    assert [pid for pid in children if lives(pid)] == []
    assert process.returncode == 0
    outcomes = query(tmp_path, "SELECT tool, outcome, status FROM calls ORDER BY started_at").rows
    assert outcomes == (("compile_kernel", "ok", "compiled"), ("verify_bounds", "ok", "error"))
    ends = query(tmp_path, "SELECT status, failure_kind FROM runs").rows
    assert ends == (("error", "cancelled"),)


def test_an_address_beyond_this_machine_is_refused_without_tokens(tmp_path: Path) -> None:
    done = subprocess.run(
        command("--http", "0.0.0.0:0", "--home", str(tmp_path)),
        capture_output=True,
        text=True,
        env=environment(),
        timeout=WAIT_S,
        check=False,
    )

    assert done.returncode == 1
    assert "0.0.0.0 can be reached from other machines: give --token-file" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_beyond_this_machine_needs_named_hosts_too() -> None:
    with pytest.raises(SettingsError, match="--allow-host"):
        check_exposure("0.0.0.0", (), has_tokens=True)

    check_exposure("0.0.0.0", ("box.example",), has_tokens=True)
    check_exposure("127.0.0.1", (), has_tokens=False)


BARE = (
    Layer("bubblewrap", False, "no user namespaces"),
    Layer("landlock", False, "not in this kernel"),
    Layer("seccomp", True, "holds"),
    Layer("rlimits", True, "holds"),
)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "box.example"])
def test_submitted_code_of_others_is_not_run_where_nothing_confines_it(host: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_confinement(host, BARE, allowed=False)

    for told in ("bubblewrap: no user namespaces", "landlock: not in", "--allow-unconfined"):
        assert told in str(refused.value)


def test_confinement_can_be_waived_and_is_no_matter_on_loopback() -> None:
    confining = (*BARE[2:], Layer("landlock", True, "holds"))

    check_confinement("0.0.0.0", BARE, allowed=True)
    check_confinement("0.0.0.0", confining, allowed=False)
    check_confinement("127.0.0.1", BARE, allowed=False)


def test_tokens_in_the_home_are_asked_for_even_once_all_are_revoked(tmp_path: Path) -> None:
    secret = create(tmp_path / "tokens.toml", "ada", {"agent": "ada"})
    with running("--http", "0", "--home", str(tmp_path)) as process:
        url = url_of(process)
        refused = httpx2.post(url, json=INITIALIZE)
        headers = {
            "Authorization": f"Bearer {secret}",
            "Accept": "application/json, text/event-stream",
        }
        batch = httpx2.post(url, json=[], headers=headers)
    revoke(tmp_path / "tokens.toml", "ada")
    with running("--http", "0", "--home", str(tmp_path)) as process:
        _, complaint = process.communicate(timeout=WAIT_S)

    assert refused.status_code == 401
    assert batch.status_code == 400
    assert "pydantic.dev" not in batch.text
    assert process.returncode == 1
    assert "has no tokens" in complaint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8765", ("127.0.0.1", 8765)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:9", ("::1", 9)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_addresses_are_a_port_with_or_without_a_host(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["", "host", "host:", ":80", "host:99999", "1.2.3.4:-1"])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="give PORT or HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize(
    ("line", "arrives"),
    [
        (b'{"a": 1}', '{"a": 1}'),
        ('{"a": "é"}'.encode(), '{"a": "é"}'),
        (b'{"a": "\\ud800"}', '{"a": "\ufffd"}'),
        (b'{"a": "\\ud83d\\ude00"}', '{"a": "\U0001f600"}'),
        (b"not json", None),
        (b"[1]", None),
        (b'{"a": "\\ud800', None),
        (b"[" * 100_000, None),
    ],
)
def test_a_line_becomes_a_message_that_can_be_answered(line: bytes, arrives: str | None) -> None:
    assert message_of(line) == arrives


async def test_a_lone_surrogate_and_a_line_that_is_no_message_are_answered(tmp_path: Path) -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sz_mcp", "serve", "--home", str(tmp_path / "home"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "describe_arch", "arguments": {"target": "\ud800"}, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    server.stdin.write(b"hello\n" + json.dumps(request).encode() + b"\n")

    first = json.loads(await asyncio.wait_for(server.stdout.readline(), 60))
    second = json.loads(await asyncio.wait_for(server.stdout.readline(), 60))

    assert first["error"]["code"] == -32700
    assert second["id"] == 7
    server.stdin.close()
    assert await asyncio.wait_for(server.wait(), 60) == 0


def test_the_handshake_waits_for_none_of_the_slow_imports() -> None:
    code = (
        "import sys, sz_mcp.cli.serve; "
        "print([m for m in ('numba', 'duckdb', 'matplotlib') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
