"""What the server adds to rows and replies so that results can be trusted later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client

from kernels.records import Kernel, Status, Submission
from results_db.ledger import Ledger
from results_db.marks import Mark
from sz_mcp.cli import marks
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.harness import harness_digest
from sz_mcp.host import host_row
from sz_mcp.twins import KEPT, Twins
from tests.results_db import records
from tests.sz_mcp import fakes
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.test_cli_operations import sz_mcp

AGAIN = {"kernel.py": "# once more\n" + fakes.GOOD["kernel.py"].replace("abs_bound", "eb")}

Capture = pytest.CaptureFixture[str]


def kernel(kernel_id: str, text: str, agent: str = "ada", session: str = "s1") -> Kernel:
    return Kernel(kernel_id, Submission("szp", "numba", {"kernel.py": text}), agent, session)


@pytest.mark.anyio
async def test_a_session_is_told_that_it_sent_a_program_before(client: Client) -> None:
    async with client:
        first = await compiled(client)
        other = await call(client, "compile_kernel", task="szp", target="numba", files=fakes.WRONG)
        again = await call(client, "compile_kernel", task="szp", target="numba", files=AGAIN)

    rules = [one["rule"] for one in again.data["guidance"]]
    assert rules == ["same-program"]
    assert first in again.data["guidance"][0]["explanation"]
    assert first in again.text
    assert other.data.get("guidance", []) == []


def test_nothing_is_said_of_what_others_sent() -> None:
    twins = Twins()

    assert twins.note(kernel("k1", "x = 1")) == ()
    assert twins.note(kernel("k2", "x = 1", agent="bob")) == ()
    assert twins.note(kernel("k3", "x = 1", session="s2")) == ()
    (told,) = twins.note(kernel("k4", "y = 0x1"))
    assert "k1" in told.explanation


def test_another_program_or_another_task_is_no_twin() -> None:
    twins = Twins()
    twins.note(kernel("k1", "x = 1"))
    szx = Kernel("k3", Submission("szx", "numba", {"kernel.py": "x = 1"}), "ada", "s1")

    assert twins.note(kernel("k2", "x = 2")) == ()
    assert twins.note(szx) == ()


def test_a_server_forgets_the_programs_that_were_sent_least_lately() -> None:
    twins = Twins()
    twins.note(kernel("oldest", "x = 0"))
    for number in range(KEPT):
        twins.note(kernel(f"k{number}", "x = 0", session=f"other-{number}"))

    assert twins.note(kernel("again", "x = 0")) == ()


def source_tree(root: Path) -> Path:
    for name in ("kernels/a.py", "sz_mcp/deep/b.py", "results_db/views.txt"):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(f"# {name}\n")
    return root


def edited(root: Path) -> None:
    (root / "sz_mcp/deep/b.py").write_text("# changed\n")


def added(root: Path) -> None:
    (root / "kernels/c.py").write_text("")


def renamed(root: Path) -> None:
    (root / "kernels/a.py").rename(root / "kernels/z.py")


@pytest.mark.parametrize("change", [edited, added, renamed])
def test_the_harness_digest_changes_with_the_source(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    one, other = source_tree(tmp_path / "one"), source_tree(tmp_path / "other")
    (other / "results_db/views.txt").write_text("no source")
    assert harness_digest(one) == harness_digest(other)

    change(other)

    assert harness_digest(one) != harness_digest(other)


def test_the_host_row_names_the_harness() -> None:
    row = host_row(())

    assert row.harness == harness_digest()
    assert len(str(row.harness)) == 16


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of two agents one is ranked and one has a suspect result."""
    home = tmp_path / "home"
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result(2.0))
    suspect = records.run_result(9.0, status=Status.SUSPECT)
    records.record_ranked(ledger, records.kernel("k2", agent="eve"), suspect)
    ledger.close()
    return home


def test_an_operator_reviews_and_decides(home: Path, capsys: Capture) -> None:
    def told() -> str:
        return capsys.readouterr().out

    marks.review(home, every=False, as_json=True)
    (waiting,) = json.loads(told())
    assert (waiting["run_id"], waiting["agent"], waiting["decision"]) == ("run-k2", "eve", None)

    marks.add(home, Mark("run", "run-k2", "cleared", "measured by hand", "olga"))
    assert told() == ("cleared: run run-k2, by olga\nleaderboard: 1 places before, 2 now\n")
    marks.add(home, Mark("agent", "alice", "hidden", "a test agent", "olga"))
    assert "leaderboard: 2 places before, 1 now" in told()

    marks.review(home, every=False, as_json=True)
    assert json.loads(told()) == []
    marks.list_marks(home, every=True, as_json=True)
    listed = [(one["about"], one["subject"], one["verdict"]) for one in json.loads(told())]
    assert listed == [("agent", "alice", "hidden"), ("run", "run-k2", "cleared")]


def test_a_mark_needs_a_reason_and_a_subject_that_exists(home: Path) -> None:
    with pytest.raises(SettingsError, match="say why"):
        marks.add(home, Mark("run", "run-k2", "cleared", " ", "olga"))
    with pytest.raises(StepFailed, match="agent 'nobody'"):
        marks.add(home, Mark("agent", "nobody", "hidden", "why", "olga"))


def test_marks_are_made_on_the_command_line(home: Path) -> None:
    done = sz_mcp("marks", "add", "kernel", "k1", "hidden", "--reason", "no bound", home=home)
    listed = sz_mcp("marks", "list", "--json", home=home)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hidden: kernel k1, by ")
    (mark,) = json.loads(listed.stdout)
    assert (mark["subject"], mark["verdict"], mark["reason"]) == ("k1", "hidden", "no bound")
    assert mark["marked_by"]
