from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from results_db import journal as journal_module
from results_db.drain import drain
from results_db.errors import JournalError
from results_db.journal import Journal
from tests.results_db.records import drained, read

ID = "00000000-0000-4000-8000-{:012d}"


def row(number: int, **columns: object) -> dict[str, object]:
    return {"table": "calls", "id": ID.format(number), "call_id": f"c{number}", **columns}


def segments(home: Path) -> list[Path]:
    return sorted((home / "journal").glob("*.jsonl"))


def test_an_event_is_one_line_with_all_its_rows(home: Path) -> None:
    journal = Journal(home)

    journal.append([row(1), row(2)])
    journal.append([row(3)])

    (segment,) = segments(home)
    events = [json.loads(line) for line in segment.read_bytes().splitlines()]
    assert [[item["call_id"] for item in event["rows"]] for event in events] == [
        ["c1", "c2"],
        ["c3"],
    ]


def test_a_segment_is_named_after_its_process(home: Path) -> None:
    Journal(home).append([row(1)])

    (segment,) = segments(home)
    assert segment.name.split("-")[1] == str(os.getpid())


def test_nothing_is_created_before_the_first_event(tmp_path: Path) -> None:
    Journal(tmp_path / "home")

    assert not (tmp_path / "home").exists()


def test_a_closed_journal_refuses_further_events(home: Path) -> None:
    journal = Journal(home)
    journal.append([row(1)])
    journal.close()
    journal.close()

    with pytest.raises(JournalError, match="shutting down"):
        journal.append([row(2)])


def test_a_full_segment_is_followed_by_another(home: Path) -> None:
    journal = Journal(home, segment_limit=1000)

    for number in range(30):
        journal.append([row(number)])

    written = len(segments(home))
    report = drain(home)
    assert written > 2
    assert (report.rows, report.archived) == (30, written - 1)
    assert len(segments(home)) == 1


def test_threads_share_a_journal_without_mixing_their_lines(home: Path) -> None:
    journal = Journal(home)

    def write(thread: int) -> None:
        for number in range(50):
            journal.append([row(thread * 1000 + number, error="x" * 5000)])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert drained(home, "SELECT count(DISTINCT call_id), min(length(error)) FROM calls") == [
        (200, 5000)
    ]


def test_a_folder_that_cannot_be_made_is_a_journal_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the home should be")

    with pytest.raises(JournalError, match="can't append to the journal"):
        Journal(tmp_path / "home").append([row(1)])


DISK_FULL = """
import resource, sys
from pathlib import Path
from results_db.errors import JournalError
from results_db.journal import Journal

def row(number, text):
    return {"table": "calls", "id": f"00000000-0000-4000-8000-{number:012d}",
            "call_id": f"c{number}", "error": text}

journal = Journal(Path(sys.argv[1]))
journal.append([row(1, "")])
# A file may not grow beyond this: the next write is short, and the one after it fails.
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
try:
    journal.append([row(2, "x" * 5000)])
except JournalError:
    print("refused", flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append([row(3, "")])
"""


def test_a_line_cut_short_by_a_full_disk_is_refused_and_swallows_no_other(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DISK_FULL, str(home)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    report = drain(home)

    assert done.stdout == "refused\n"
    assert [(piece.reason, piece.bytes) for piece in report.damage] == [
        ("torn: cut short while it was written", 2000 - report.damage[0].byte_offset)
    ]
    assert read(home, "SELECT call_id FROM calls ORDER BY 1") == [("c1",), ("c3",)]


def test_a_forked_child_writes_a_segment_of_its_own(home: Path) -> None:
    journal = Journal(home)
    journal.append([row(1)])
    # A fork in a fresh interpreter: this one may have threads.
    program = (
        "import os, sys; from pathlib import Path; from results_db.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "def row(n): return {'table': 'calls', 'id': f'00000000-0000-4000-8000-{n:012d}',"
        " 'call_id': f'c{n}'}\n"
        "journal.append([row(2)])\n"
        "child = os.fork()\n"
        "journal.append([row(3 if child else 4)])\n"
        "if child: os.waitpid(child, 0)\n"
    )

    subprocess.run(
        [sys.executable, "-c", program, str(home)],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert len(segments(home)) == 3
    assert drained(home, "SELECT count(*) FROM calls") == [(4,)]


@pytest.mark.parametrize(
    "text",
    ["", "naïve ✓ 🙂", "\udc80\ud800", "nul\0byte", "line\nbreak\r\u2028", '"quoted" \\ {"a": 1}'],
)
def test_any_text_survives_the_way_into_the_database(home: Path, text: str) -> None:
    journal = Journal(home)

    journal.append([row(1, error=text, arguments={"text": text, text: 1})])

    shown = text.encode("utf-8", "backslashreplace").decode()
    found = drained(home, "SELECT error, arguments->>'text' FROM calls")
    assert found == [(shown, shown)]


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), -0.0, 5e-324])
def test_any_float_survives_the_way_into_the_database(home: Path, number: float) -> None:
    journal = Journal(home)

    journal.append([row(1, duration_ms=number)])

    ((found,),) = drained(home, "SELECT duration_ms FROM calls")
    assert repr(found) == repr(number)


def test_long_texts_are_cut_and_say_so(home: Path) -> None:
    Journal(home).append([row(1, error="x" * 200_000)])

    ((found,),) = drained(home, "SELECT error FROM calls")
    assert found == "x" * 65536 + "… [134464 characters cut]"


@pytest.mark.parametrize("depth", [200, 5000])
def test_deep_arguments_are_cut_and_say_so(home: Path, depth: int) -> None:
    deep: object = "bottom"
    for _ in range(depth):
        deep = [deep]

    Journal(home).append([row(1, arguments={"deep": deep})])

    ((found,),) = drained(home, "SELECT arguments FROM calls")
    assert found.count("[") < 40
    assert "nested deeper than a row keeps" in found


def test_an_event_that_cannot_be_synced_is_refused_and_its_segment_given_up(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    journal = Journal(home)
    journal.append([row(1)])
    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", failing)
        with pytest.raises(JournalError, match="the disk is broken"):
            journal.append([row(2)])
    journal.append([row(3)])

    assert len(segments(home)) == 2


def test_a_segment_that_a_drain_took_before_it_was_locked_is_not_used(home: Path) -> None:
    path = home / "1-2-aa.jsonl"
    with path.open("xb") as file:
        before = journal_module.is_still_named(path, file.fileno())
        path.rename(home / "archived.jsonl")
        moved = journal_module.is_still_named(path, file.fileno())
        path.write_bytes(b"another file of that name")
        replaced = journal_module.is_still_named(path, file.fileno())

    assert (before, moved, replaced) == (True, False, False)


def test_an_event_survives_that_somebody_removed_the_journal_folder(home: Path) -> None:
    journal = Journal(home)
    journal.append([row(1)])
    shutil.rmtree(home / "journal")

    journal.append([row(2)])

    assert drained(home, "SELECT call_id FROM calls") == [("c2",)]
    journal.close()
