"""Real servers: health, the end by a signal over both transports, and runs ended from outside."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from results_db import schema
from results_db.queries import query
from sz_mcp import __version__
from tests.sz_mcp.test_serving import (
    INITIALIZE,
    WAIT_S,
    environment,
    hear,
    running,
    say,
    tool_call,
    url_of,
)

# On real fields only, so that it compiles at once.
SLOW = (
    "def compress(data, abs_bound):\n"
    "    WORK\n"
    "    return data.reshape(-1).view('u1')\n"
    "def decompress(stream, shape, dtype):\n"
    "    return stream.view(dtype).reshape(shape)\n"
)
ENDLESS = SLOW.replace("WORK", "while data.size > 20000: pass")
SECONDS = "import time\n" + SLOW.replace("WORK", "if data.size > 20000: time.sleep(2)")


def opened(process: subprocess.Popen[str]) -> None:
    say(process, INITIALIZE)
    hear(process, "result")
    say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def called(process: subprocess.Popen[str], number: int, tool: str, **arguments: Any) -> Any:
    say(process, tool_call(number, tool, arguments))
    return hear(process, "result")["result"]["structuredContent"]


def compiled(process: subprocess.Popen[str], source: str) -> str:
    files = {"kernel.py": source}
    told = called(process, 2, "compile_kernel", task="sz-open", target="numba", files=files)
    return str(told["kernel_id"])


def begin(process: subprocess.Popen[str], kernel_id: str) -> None:
    """Send a verify_bounds and wait until it has begun."""
    wanted = {"kernel_id": kernel_id, "field": "uk_theta"}
    say(process, tool_call(3, "verify_bounds", wanted, progress="p"))
    hear(process, "method")


def test_a_stdio_server_answers_what_it_was_doing_when_the_signal_came(tmp_path: Path) -> None:
    with running("--home", str(tmp_path), "--set", "budgets.shutdown_s=60") as process:
        opened(process)
        begin(process, compiled(process, SECONDS))
        process.send_signal(signal.SIGTERM)
        told = hear(process, "result")["result"]["structuredContent"]
        process.wait(WAIT_S)

    assert told["status"] == "bound_ok"
    assert process.returncode == 0
    assert list((tmp_path / "journal").glob("*.jsonl")) == []
    found = query(tmp_path, "SELECT status FROM runs", drain_first=False).rows
    assert found == (("bound_ok",),)


def test_a_second_signal_ends_a_server_at_once(tmp_path: Path) -> None:
    with running("--home", str(tmp_path), "--set", "budgets.shutdown_s=3600") as process:
        opened(process)
        begin(process, compiled(process, ENDLESS))
        process.send_signal(signal.SIGTERM)
        say(process, tool_call(4, "verify_bounds", {"kernel_id": "k_" + 32 * "0"}))
        hear(process, "result")
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)

    assert process.returncode == 0


NEXT_S = 0.05
"""Time after which somebody who is impatient sends another signal."""
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


class Http:
    """A client of one HTTP server that speaks as little of the protocol as it can."""

    def __init__(self, url: str) -> None:
        self.url = url
        answer = httpx2.post(url, json=INITIALIZE, headers=HEADERS, timeout=WAIT_S)
        self.headers = {**HEADERS, "Mcp-Session-Id": answer.headers["mcp-session-id"]}

    def call(self, tool: str, **arguments: Any) -> Any:
        message = tool_call(9, tool, arguments)
        answer = httpx2.post(self.url, json=message, headers=self.headers, timeout=WAIT_S)
        data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
        (told,) = [one for one in map(json.loads, filter(str.strip, data)) if "result" in one]
        return told["result"]["structuredContent"]

    def health(self) -> tuple[int, dict[str, Any]]:
        answer = httpx2.get(self.url.replace("/mcp", "/health"), timeout=WAIT_S)
        return answer.status_code, answer.json()


def test_health_says_how_the_server_is_and_without_a_token_no_more_than_its_status(
    tmp_path: Path,
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[tokens.ada]\ntoken = "0123456789abcdef"\nagent = "ada"\n')
    home = tmp_path / "home"
    with running("--http", "0", "--home", str(home), "--token-file", str(tokens)) as process:
        url = url_of(process).replace("/mcp", "/health")
        well = httpx2.get(url, timeout=WAIT_S)
        known = {"Authorization": "Bearer 0123456789abcdef"}
        whole = httpx2.get(url, timeout=WAIT_S, headers=known)
        shutil.rmtree(home / "journal", ignore_errors=True)
        (home / "journal").write_text("in the way")
        ill = httpx2.get(url, timeout=WAIT_S, headers=known)

    assert (well.status_code, well.json()) == (200, {"status": "ok"})
    told = whole.json()
    assert whole.status_code == 200
    assert (told["status"], told["version"]) == ("ok", __version__)
    assert (told["schema_version"], told["running_jobs"]) == (schema.VERSION, 0)
    assert told["uptime_s"] > 0
    assert told["journal_lag_s"] == 0
    assert ill.status_code == 503
    assert ill.json()["status"] == "failing"
    assert "can't be written" in ill.json()["problem"]


@pytest.mark.parametrize(
    ("source", "shutdown_s", "status"),
    [(SECONDS, 60, "bound_ok"), (ENDLESS, 0, "error")],
)
def test_an_http_server_closes_its_port_and_answers_what_it_was_doing(
    tmp_path: Path, source: str, shutdown_s: int, status: str
) -> None:
    settings = ("--home", str(tmp_path), "--set", f"budgets.shutdown_s={shutdown_s}")
    answers: list[Any] = []
    with running("--http", "0", *settings) as process:
        client = Http(url_of(process))
        kernel_id = client.call(
            "compile_kernel", task="sz-open", target="numba", files={"kernel.py": source}
        )["kernel_id"]
        wanted = {"kernel_id": kernel_id, "field": "uk_theta"}
        thread = threading.Thread(
            target=lambda: answers.append(client.call("verify_bounds", **wanted))
        )
        thread.start()
        while client.health()[1]["running_jobs"] == 0:
            pass
        process.send_signal(signal.SIGTERM)
        thread.join(WAIT_S)
        _, complaints = process.communicate(timeout=WAIT_S)

    assert answers[0]["status"] == status
    assert process.returncode == 0
    assert complaints == ""
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(client.url)
    assert list((tmp_path / "journal").glob("*.jsonl")) == []
    found = query(tmp_path, "SELECT status FROM runs", drain_first=False).rows
    assert found == ((status,),)


def sz_mcp(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sz_mcp", *arguments],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=WAIT_S,
        check=False,
    )


def test_a_person_lists_and_ends_a_run_of_a_server_that_goes_on(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path))
    with running(*home, "--set", "budgets.answer_s=0.5") as process:
        opened(process)
        kernel_id = compiled(process, ENDLESS)
        told = called(process, 3, "verify_bounds", kernel_id=kernel_id, field="uk_theta")
        run_id = told["run_id"]
        listed = json.loads(sz_mcp("runs", "list", "--json", *home).stdout)
        ended = sz_mcp("runs", "cancel", run_id[:8], *home)
        result = called(process, 4, "get_result", run_id=run_id)
        again = sz_mcp("runs", "cancel", run_id, *home)

    assert [(one["run_id"], one["status"]) for one in listed] == [(run_id, "running")]
    assert ended.returncode == 0, ended.stderr
    assert f"{run_id}: cancelled, it ended as error" in ended.stdout
    assert result["status"] == "error"
    assert again.returncode == 1
    assert "has ended as error: nothing is left to cancel" in again.stderr


def test_a_run_whose_server_was_killed_is_said_to_be_aborted(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path))
    with running(*home, "--set", "budgets.answer_s=0.5") as process:
        opened(process)
        kernel_id = compiled(process, ENDLESS)
        told = called(process, 3, "verify_bounds", kernel_id=kernel_id, field="uk_theta")
        process.kill()
        process.wait(WAIT_S)
        done = sz_mcp("runs", "cancel", told["run_id"], *home)

    assert done.returncode == 1
    assert "was aborted: its server is gone" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", [(), ("--http", "0")], ids=["stdio", "http"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_any_number_of_signals_end_a_server_without_a_complaint(
    tmp_path: Path, number: signal.Signals, transport: tuple[str, ...], busy: bool
) -> None:
    with running(*transport, "--home", str(tmp_path / "home")) as process:
        if transport:
            client = Http(url_of(process))
            if busy:
                kernel_id = client.call(
                    "compile_kernel", task="sz-open", target="numba", files={"kernel.py": ENDLESS}
                )["kernel_id"]
                wanted = {"kernel_id": kernel_id, "field": "uk_theta"}
                message = tool_call(9, "verify_bounds", wanted)
                threading.Thread(target=post, args=(client, message), daemon=True).start()
                while client.health()[1]["running_jobs"] == 0:
                    pass
        else:
            opened(process)
            if busy:
                begin(process, compiled(process, ENDLESS))
        while not ended(process, NEXT_S):
            process.send_signal(number)
        _, complaints = process.communicate(timeout=WAIT_S)

    assert process.returncode == 0
    assert complaints == ""


def ended(process: subprocess.Popen[str], within_s: float) -> bool:
    """Whether the process ends so soon."""
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def post(client: Http, message: dict[str, Any]) -> None:
    """Send, whatever becomes of the answer."""
    with contextlib.suppress(httpx2.HTTPError):
        httpx2.post(client.url, json=message, headers=client.headers, timeout=WAIT_S)


def test_health_is_told_only_under_names_of_the_server(tmp_path: Path) -> None:
    with running("--http", "0", "--home", str(tmp_path), "--allow-host", "10.1.2.3") as process:
        url = url_of(process).replace("/mcp", "/health")
        evil = httpx2.get(url, headers={"Host": "evil.example"}, timeout=WAIT_S)
        foreign = httpx2.get(url, headers={"Origin": "http://evil.example"}, timeout=WAIT_S)
        balancer = httpx2.get(url, headers={"Host": "10.1.2.3:8765"}, timeout=WAIT_S)

    assert (evil.status_code, foreign.status_code, balancer.status_code) == (421, 403, 200)
    assert "version" not in evil.text
