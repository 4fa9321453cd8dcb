"""Compilers in boxes: what they may read, how long they may take, what comes back."""

import secrets
import sys
import threading
from pathlib import Path

import pytest

from simulators.simt.tool import Tool, ToolRun, plain_run
from toolchains.base import Cancellation
from toolchains.children.isolation import choose
from toolchains.children.runtime import runtime
from toolchains.children.tools import Tools

_BOXES = {"bubblewrap": frozenset[str](), "landlock": frozenset({"bubblewrap"})}


@pytest.fixture(scope="module", params=_BOXES)
def tools(request: pytest.FixtureRequest) -> Tools:
    isolation = choose(_BOXES[request.param])
    held = {layer.name for layer in isolation.layers() if layer.holds}
    if request.param not in held:
        pytest.skip(f"{request.param} does not hold on this machine")
    return Tools(lambda: isolation)


def _python(text: str, **more: object) -> Tool:
    argv = (str(runtime().interpreter), "-I", "-S", "-B", "-c", text)
    return Tool(argv, **{"files": {}, "timeout_s": 20.0, **more})  # type: ignore[arg-type]


def _run(tools: Tools, tool: Tool) -> ToolRun:
    return tools.run(tool, Cancellation())


def _line(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_files_go_in_and_the_named_results_come_out(tools: Tools) -> None:
    text = "d = open('sub/in', 'rb').read(); open('out', 'wb').write(d * 2); open('other', 'w')"
    done = _run(tools, _python(text, files={"sub/in": b"\0ab"}, results=("out", "absent")))
    assert (done.code, dict(done.files)) == (0, {"out": b"\0ab\0ab"})


def test_a_tool_can_read_what_it_is_shown_and_nothing_else(tools: Tools, tmp_path: Path) -> None:
    shown, hidden = tmp_path / "shown", tmp_path / "hidden"
    for folder in (shown, hidden):
        folder.mkdir()
        (folder / "x").write_text("secret")
    text = (
        "import sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(open(name).read())\n"
        "    except OSError as e: print(type(e).__name__)\n"
    )
    tool = _python(text, shown=(shown,))
    names = [str(shown / "x"), str(hidden / "x"), "/etc/passwd"]
    done = _run(tools, Tool((*tool.argv, *names), {}, shown=(shown,)))
    told = done.out.split()
    assert told[0] == "secret"
    assert set(told[1:]) <= {"FileNotFoundError", "PermissionError"}
    assert len(told) == 3


def test_a_link_in_the_place_of_a_result_is_not_followed(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("secret")
    text = f"import os; os.symlink({str(tmp_path / 'x')!r}, 'out')"
    done = _run(tools, _python(text, results=("out",)))
    assert dict(done.files) == {}


def test_a_tool_ends_at_its_deadline_with_all_that_it_started(tools: Tools) -> None:
    token = f"left-behind-{secrets.token_hex(8)}"
    endless = f"while {token!r}: pass"
    text = f"import os\nif os.fork(): print('started', flush=True)\n{endless}"
    done = _run(tools, _python(text, timeout_s=0.5))
    assert done.timed_out
    assert done.code < 0
    assert done.out.strip() == "started"
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if token in _line(p)]


def test_a_cancelled_caller_ends_its_tool(tools: Tools) -> None:
    cancellation = Cancellation()
    timer = threading.Timer(0.3, cancellation.cancel)
    timer.start()
    done = tools.run(_python("while 1: pass", timeout_s=60.0), cancellation)
    timer.join()
    assert done.code < 0
    assert not done.timed_out


def test_memory_and_what_a_tool_prints_are_bounded(tools: Tools) -> None:
    done = _run(tools, _python("x = bytearray(3 << 30)", memory_bytes=1 << 30))
    assert "MemoryError" in done.err
    done = _run(tools, _python("import sys\nwhile 1: sys.stdout.write('x' * 65536)"))
    assert done.code != 0
    assert 0 < len(done.out) <= 1 << 20


def test_a_tool_that_dies_of_a_signal_says_which(tools: Tools) -> None:
    done = _run(tools, _python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert done.code == -11


def test_files_outside_the_folder_are_refused(tools: Tools) -> None:
    with pytest.raises(ValueError, match="not below"):
        _run(tools, _python("pass", files={"../x": b""}))
    with pytest.raises(ValueError, match="folder itself"):
        _run(tools, _python("pass", results=("a/b",)))


def test_the_plain_runner_gives_the_same(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "open('out', 'w').write(open('in').read() + '!')")
    done = plain_run(Tool(argv, {"in": b"hi"}, ("out",)))
    assert (done.code, dict(done.files), done.timed_out) == (0, {"out": b"hi!"}, False)
    assert plain_run(Tool((sys.executable, "-c", "while 1: pass"), {}, timeout_s=0.3)).timed_out
