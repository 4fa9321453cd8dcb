"""A model that is a script: an HTTP server that speaks OpenAI's chat completions on loopback.

It does what the simplest diligent model would: it reads the target's page, then sends the worked
submissions of the task one after the other, and verifies and runs each. What it says next depends
only on the conversation that it is sent, as with a real model. It proves that the way to a model
works, and needs no model.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kernels import baselines

_PROMPT = re.compile(
    r"task `(?P<task>[^`]+)` on the target `(?P<target>[^`]+)`.*?"
    r"field `(?P<field>[^`]+)`.*?mode=(?P<mode>\w+), bound=(?P<bound>[^)]+)\)",
    re.DOTALL,
)
_KERNEL = re.compile(r"k_[0-9a-f]{32}")
_RUNNING = re.compile(r'"?status"?:\s*"?running')
_RUN = re.compile(r"r_[0-9a-f]{32}")
_SPENT = "budget spent"
_CHARACTERS_PER_TOKEN = 4
_STYLES_AT_MOST = 2
_TOOLS_PER_STYLE = 3


@dataclass(frozen=True)
class Call:
    """A tool call that it wants made."""

    tool: str
    arguments: Mapping[str, object]


def next_move(messages: Sequence[Mapping[str, Any]]) -> Call | str:
    """What it does next in a conversation: a call, or its last words."""
    asked = _PROMPT.search("\n".join(_text(m) for m in messages if m["role"] == "user"))
    if asked is None:
        return "I was not asked for a kernel."
    results = [_text(m) for m in messages if m["role"] == "tool"]
    last = results[-1] if results else ""
    if _SPENT in last:
        return "My calls are spent."
    if _RUNNING.search(last) and (run := _RUN.search(last)):
        return Call("get_result", {"run_id": run[0], "wait_s": 20})
    done = [text for text in results if not _RUNNING.search(text)]
    return _planned(asked.groupdict(), done)


def _planned(asked: Mapping[str, str], done: Sequence[str]) -> Call | str:
    """The call after those that are done: describe, then three per submission."""
    if not done:
        return Call("describe_arch", {"target": asked["target"]})
    family = asked["target"].partition(":")[0]
    styles = baselines.styles(asked["task"], family)[:_STYLES_AT_MOST]
    at, step = divmod(len(done) - 1, _TOOLS_PER_STYLE)
    if at >= len(styles):
        return f"I sent {', '.join(styles) or 'nothing'}: memory limits the last."
    told = {"mode": asked["mode"], "bound": float(asked["bound"])}
    if step == 0:
        files = dict(baselines.read(asked["task"], styles[at], family).files)
        wish = {"task": asked["task"], "target": asked["target"], "files": files}
        return Call("compile_kernel", wish)
    sent = _KERNEL.search(done[1 + _TOOLS_PER_STYLE * at])
    if sent is None:
        return "My kernel was not taken."
    if step == 1:
        return Call("verify_bounds", {"kernel_id": sent[0], **told})
    return Call("run_compress", {"kernel_id": sent[0], "field": asked["field"], **told})


def completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to a request, as the protocol has it."""
    messages = request["messages"]
    move = next_move(messages)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(move, Call):
        function = {"name": move.tool, "arguments": json.dumps(move.arguments)}
        call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
        message["tool_calls"] = [call]
        said = function["arguments"]
    else:
        message["content"] = said = move
    given = sum(len(json.dumps(one)) for one in messages) // _CHARACTERS_PER_TOKEN
    wrote = len(said) // _CHARACTERS_PER_TOKEN
    usage = {"prompt_tokens": given, "completion_tokens": wrote, "total_tokens": given + wrote}
    reason = "tool_calls" if isinstance(move, Call) else "stop"
    return {
        "id": f"chatcmpl-{len(messages)}",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """POST /v1/chat/completions, whatever else is posted is not known."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.rstrip("/").endswith("/chat/completions"):
            self._send(200, completion(json.loads(body)))
        else:
            self._send(404, {"error": {"message": f"no {self.path} here"}})

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: whoever runs a bench watches the bench."""

    def _send(self, status: int, told: Mapping[str, Any]) -> None:
        data = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def scripted_endpoint() -> Iterator[str]:
    """Serve it for as long as this lasts; its base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)
