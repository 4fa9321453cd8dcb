from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from results_db.drain import BATCH_BYTES, Outcome, drain
from results_db.errors import DatabaseError
from results_db.ledger import Ledger
from tests.results_db.records import call, drained, kernel, read, record_ranked, run_result

ID = "00000000-0000-4000-8000-{:012d}"


def line(number: int, table: str = "calls", **columns: object) -> bytes:
    row = {"table": table, "id": ID.format(number), "call_id": f"c{number}", **columns}
    return json.dumps({"v": 1, "rows": [row]}).encode() + b"\n"


def segment(home: Path, content: bytes, name: str = "1-2-aa.jsonl") -> Path:
    """A journal file of a process that has ended."""
    path = home / "journal" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@contextmanager
def opened_elsewhere(path: Path, read_only: bool) -> Iterator[None]:
    """Another process has the database open."""
    program = (
        "import duckdb, sys\n"
        "connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == 'True')\n"
        "print('open', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path), str(read_only)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield


def test_a_fresh_home_gets_a_database_and_a_snapshot(tmp_path: Path) -> None:
    report = drain(tmp_path / "new" / "home")

    assert (report.outcome, report.rows, report.published) == (Outcome.DRAINED, 0, True)
    assert read(tmp_path / "new" / "home", "SELECT * FROM leaderboard") == []


def test_draining_twice_adds_nothing_and_publishes_nothing(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(call("c1"))

    first, second = drain(home), drain(home)

    assert (first.rows, first.published) == (1, True)
    assert (second.rows, second.published) == (0, False)


def test_a_live_segment_stays_and_is_read_on_from_where_the_last_drain_stopped(
    home: Path,
) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(call("c1"))
    first = drain(home)
    ledger.call(call("c2"))

    second = drain(home)

    assert (first.archived, second.archived, second.rows) == (0, 0, 1)
    assert drained(home, "SELECT count(*), bool_or(closed) FROM calls, journal_segments") == [
        (2, False)
    ]


def test_a_segment_is_archived_when_its_process_ended_and_deleted_once_checkpointed(
    home: Path,
) -> None:
    path = segment(home, line(1))

    first = drain(home)
    archived = (home / "archive" / path.name).exists()
    drain(home)

    assert first.archived == 1
    assert not path.exists()
    assert archived
    assert list((home / "archive").iterdir()) == []
    assert read(home, "SELECT call_id FROM calls") == [("c1",)]


def test_an_archived_segment_is_drained_again_if_the_database_lost_it(home: Path) -> None:
    segment(home, line(1))
    drain(home)
    with duckdb.connect(str(home / "ledger.duckdb")) as connection:
        connection.execute("DELETE FROM calls")
        connection.execute("DELETE FROM journal_segments")

    report = drain(home)

    assert report.rows == 1
    assert read(home, "SELECT call_id FROM calls") == [("c1",)]


def test_an_archived_segment_is_kept_while_the_database_has_an_unchecked_log(
    home: Path,
) -> None:
    path = segment(home, line(1))
    drain(home)
    killed_after_commit = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('CREATE TABLE other (i INTEGER)')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", killed_after_commit, str(home / "ledger.duckdb")])
    assert (home / "ledger.duckdb.wal").exists()

    drain(home)

    assert (home / "archive" / path.name).exists()


def test_a_row_that_is_already_there_is_not_added_again(home: Path) -> None:
    segment(home, line(1) + line(1) + line(2))
    segment(home, line(2) + line(3), "2-2-bb.jsonl")

    report = drain(home)

    assert report.rows == 3
    assert read(home, "SELECT call_id FROM calls ORDER BY 1") == [("c1",), ("c2",), ("c3",)]


def test_the_torn_tail_of_an_ended_process_is_reported_and_survived(home: Path) -> None:
    torn = line(2)[:-20]
    segment(home, line(1) + torn)

    report = drain(home)

    assert [(piece.byte_offset, piece.bytes) for piece in report.damage] == [
        (len(line(1)), len(torn))
    ]
    assert read(home, "SELECT call_id FROM calls") == [("c1",)]
    assert read(
        home, "SELECT segment, byte_offset, bytes, reason, content FROM journal_damage"
    ) == [
        (
            "1-2-aa.jsonl",
            len(line(1)),
            len(torn),
            "torn: cut short while it was written",
            torn.decode(),
        )
    ]
    assert drain(home).damage == ()


def test_the_unfinished_line_of_a_live_process_waits_for_its_end(home: Path) -> None:
    path = segment(home, line(1) + line(2)[:-20])
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)

    early = drain(home)
    with path.open("ab") as file:
        file.write(line(2)[-20:])
    late = drain(home)
    os.close(descriptor)

    assert (early.rows, early.damage) == (1, ())
    assert (late.rows, late.damage) == (1, ())


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        (b"garbage\n", "not JSON"),
        (b"\xff\xfe\0\n", "not JSON"),
        (b"\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b"[1, 2]\n", "has no rows"),
        (b'{"rows": 1}\n', "has no rows"),
        (b'{"rows": [1]}\n', "names no table"),
        (b'{"rows": [{"id": "00000000-0000-4000-8000-000000000009"}]}\n', "names no table"),
        (b'{"rows": [{"table": "calls", "id": "nine"}]}\n', "has no uuid"),
        (b'{"rows": [{"table": "calls"}]}\n', "has no uuid"),
    ],
)
def test_a_line_that_is_no_event_is_reported_and_skipped(
    home: Path, garbage: bytes, reason: str
) -> None:
    segment(home, line(1) + garbage + line(2))

    report = drain(home)

    (piece,) = report.damage
    assert (piece.byte_offset, piece.bytes) == (len(line(1)), len(garbage) - 1)
    assert reason in piece.reason
    assert read(home, "SELECT call_id FROM calls ORDER BY 1") == [("c1",), ("c2",)]
    assert read(home, "SELECT count(*) FROM journal_damage") == [(1,)]


def test_keys_that_this_version_does_not_know_are_kept_in_extra(home: Path) -> None:
    segment(home, line(1, tool="t", mood={"level": 9}) + line(2))

    drain(home)

    assert read(home, "SELECT tool, extra->>'$.mood.level' FROM calls ORDER BY call_id") == [
        ("t", "9"),
        (None, None),
    ]


def test_rows_of_a_table_that_this_version_does_not_know_are_kept(home: Path) -> None:
    segment(home, line(1, "dreams", depth=3) + line(2))

    report = drain(home)

    assert report.rows == 2
    assert read(home, "SELECT table_name, content->>'depth', segment FROM unplaced_rows") == [
        ("dreams", "3", "1-2-aa.jsonl")
    ]


def test_a_value_that_its_column_cannot_take_is_kept_in_extra(home: Path) -> None:
    many = b"".join(line(number, attempt=number) for number in range(2, 300))
    segment(home, line(1, tool="t", attempt="third", duration_ms=2.5) + many)

    report = drain(home)

    assert (report.rows, report.damage) == (299, ())
    assert read(
        home,
        "SELECT tool, duration_ms, attempt, extra->>'attempt' FROM calls WHERE call_id = 'c1'",
    ) == [("t", 2.5, None, "third")]
    assert read(home, "SELECT count(attempt), count(extra) FROM calls") == [(298, 1)]


def test_a_nested_value_of_a_newer_shape_is_not_lost(home: Path) -> None:
    shape = {"direction": "compress", "seconds": 0.5, "colour": "blue"}
    segment(home, line(1, "runs_finished", run_id="r1", samples=[shape]))

    report = drain(home)

    assert (report.rows, report.damage) == (1, ())
    assert read(home, "SELECT run_id, extra->>'$.samples[0].colour' FROM runs_finished") == [
        ("r1", "blue")
    ]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_database_that_somebody_has_open_is_drained_later(home: Path, read_only: bool) -> None:
    drain(home)
    ledger = Ledger(home, writer="test")
    with opened_elsewhere(home / "ledger.duckdb", read_only):
        ledger.call(call("c1"))
        held = drain(home)
        assert read(home, "SELECT count(*) FROM calls") == [(0,)]

    later = drain(home)

    assert (held.outcome, held.as_of) == (Outcome.HELD, None)
    assert (later.outcome, later.rows) == (Outcome.DRAINED, 1)


def test_a_database_that_this_process_has_open_is_drained_later(home: Path) -> None:
    drain(home)

    with duckdb.connect(str(home / "ledger.duckdb"), read_only=True):
        held = drain(home)

    assert held.outcome is Outcome.HELD
    assert drain(home).outcome is Outcome.DRAINED


def test_one_drain_at_a_time(home: Path) -> None:
    drain(home)
    descriptor = os.open(home / "drain.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    report = drain(home)
    os.close(descriptor)

    assert report.outcome is Outcome.LOCKED


def test_drains_of_several_threads_add_every_row_once(home: Path) -> None:
    for number in range(20):
        segment(home, line(2 * number) + line(2 * number + 1), f"{number}-1-aa.jsonl")
    reports = []
    threads = [
        threading.Thread(target=lambda: reports.append(drain(home, wait_s=30))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [report.outcome for report in reports] == [Outcome.DRAINED] * 4
    assert sum(report.rows for report in reports) == 40
    assert read(home, "SELECT count(*), count(DISTINCT call_id) FROM calls") == [(40, 40)]


def test_more_segments_than_fit_one_transaction_are_all_drained(home: Path) -> None:
    for number in range(300):
        segment(home, line(number), f"{number}-1-aa.jsonl")

    report = drain(home)

    assert (report.rows, report.archived) == (300, 300)


def test_a_drain_without_time_says_that_it_is_partial(home: Path) -> None:
    segment(home, line(1))

    report = drain(home, limit_s=0.0)

    assert (report.outcome, report.rows, report.as_of) == (Outcome.PARTIAL, 0, None)
    assert drain(home).rows == 1


def test_a_snapshot_that_is_being_read_does_not_stop_the_next_one(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    drain(home)
    reader = duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True)
    ledger.call(call("c1"))

    report = drain(home)

    assert report.published
    assert reader.execute("SELECT count(*) FROM calls").fetchone() == (0,)
    reader.close()
    assert read(home, "SELECT count(*) FROM calls") == [(1,)]


def test_what_a_careless_reader_wrote_into_a_snapshot_does_not_spoil_the_next(
    home: Path,
) -> None:
    drain(home)
    careless = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('CREATE TABLE mine (i INTEGER)')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    snapshot = home / "ledger-read.duckdb"
    subprocess.run([sys.executable, "-c", careless, str(snapshot)])
    assert (home / "ledger-read.duckdb.wal").exists()
    segment(home, line(1))

    drain(home)

    assert read(home, "SELECT call_id FROM calls") == [("c1",)]


def test_leftovers_of_killed_drains_are_removed(home: Path) -> None:
    stale = home / "ledger-read.duckdb.0123456789abcdef.tmp"
    stale.write_bytes(b"half a copy")
    segment(home, line(1))

    drain(home)

    assert not stale.exists()


def test_a_snapshot_that_a_killed_drain_did_not_publish_is_published(home: Path) -> None:
    segment(home, line(1))
    drain(home)
    (home / "ledger-read.duckdb").unlink()

    report = drain(home)

    assert report.published
    assert read(home, "SELECT call_id FROM calls") == [("c1",)]


def test_a_damaged_database_is_said_so_and_the_journal_is_kept(home: Path) -> None:
    path = segment(home, line(1))
    (home / "ledger.duckdb").write_bytes(b"not a database at all" * 1000)

    with pytest.raises(DatabaseError, match=r"Move ledger\.duckdb away"):
        drain(home)

    assert path.exists()
    (home / "ledger.duckdb").unlink()
    assert drain(home).rows == 1


def test_plain_duckdb_in_another_process_reads_the_leaderboard(home: Path) -> None:
    record_ranked(Ledger(home, writer="test"), kernel("k1"), run_result())
    drain(home)
    program = (
        "import duckdb, sys\n"
        "connection = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print(connection.execute('SELECT agent, rank FROM leaderboard').fetchall())\n"
    )

    found = subprocess.run(
        [sys.executable, "-c", program, str(home / "ledger-read.duckdb")],
        check=True,
        capture_output=True,
        text=True,
    )

    assert found.stdout == "[('alice', 1)]\n"


def test_a_segment_larger_than_a_transaction_is_drained_in_several(home: Path) -> None:
    lines = [line(number, error="x" * 60_000) for number in range(200)]
    segment(home, b"".join(lines) + b"torn")

    report = drain(home)

    assert len(b"".join(lines)) > 2 * BATCH_BYTES
    assert (report.rows, report.archived, len(report.damage)) == (200, 1, 1)
    assert read(home, "SELECT count(DISTINCT call_id), min(length(error)) FROM calls") == [
        (200, 60_000)
    ]


def test_a_line_larger_than_a_transaction_is_drained(home: Path) -> None:
    segment(home, line(1, error="x" * (BATCH_BYTES + 1)) + line(2))

    assert drain(home).rows == 2
