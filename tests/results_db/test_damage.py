"""Files that are not what was written: what is acknowledged survives, or the damage is named."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from results_db.attempts import Attempts
from results_db.drain import drain
from results_db.errors import DatabaseError, JournalError, QueryError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.pages import damaged_at
from results_db.queries import query
from tests.results_db import records
from tests.results_db.test_drain import line, segment

CALLS = 200
SQL = "SELECT count(*), count(DISTINCT call_id), sum(length(arguments::VARCHAR)) FROM calls"


@pytest.fixture(scope="module")
def full_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with rows in its database and published, none in the journal; not to be written."""
    home = tmp_path_factory.mktemp("full") / "home"
    written(home, *(f"c{number}" for number in range(CALLS)))
    drain(home)
    drain(home)
    return home


@pytest.fixture
def home(full_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(full_home, tmp_path / "home"))


def written(home: Path, *call_ids: str) -> None:
    ledger = Ledger(home, writer="test")
    for call_id in call_ids:
        ledger.call(records.call(call_id, arguments={"sql": f"SELECT '{call_id}' -- {'x' * 900}"}))
    ledger.close()


def damage(path: Path, offset: int, size: int = 64) -> None:
    """Put random bytes there."""
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(random.Random(offset).randbytes(size))


def offsets(path: Path) -> list[int]:
    """In every header and every block."""
    return [20, 4096 + 20, 8192 + 20, *range(12288 + 5000, path.stat().st_size, 1 << 18)]


def complaint(home: Path) -> str:
    """What a drain says; empty if nothing."""
    try:
        drain(home)
    except DatabaseError as error:
        return str(error)
    return ""


def mended(home: Path) -> tuple[int, int]:
    """Do what the message says; how many rows there are then, and how many calls."""
    LedgerFiles(home).database.unlink()
    found = query(home, SQL)
    assert found.warning == ""
    count, distinct, _ = found.rows[0]
    assert isinstance(count, int)
    assert isinstance(distinct, int)
    return count, distinct


def test_damage_anywhere_in_the_database_is_named_and_mended_without_a_loss(home: Path) -> None:
    path = LedgerFiles(home).database
    whole = path.read_bytes()
    places, unharmed = offsets(path), 0
    for offset in places:
        path.write_bytes(whole)
        damage(path, offset)
        written(home, f"after-{offset}")

        text = complaint(home)
        if not text:
            # It belonged to nothing.
            assert query(home, SQL).warning == ""
            unharmed += 1
        assert not text or "The file is damaged. Move ledger.duckdb away" in text
    path.write_bytes(whole)
    damage(path, places[3])

    expected = CALLS + len(places)
    assert unharmed < len(places) / 2
    assert "The file is damaged" in complaint(home)
    assert mended(home) == (expected, expected)


def test_a_damaged_block_is_not_published_over_a_copy_that_is_whole(home: Path) -> None:
    files = LedgerFiles(home)
    last = offsets(files.database)[-1]
    damage(files.database, last)
    with files.database.open("rb") as file:
        found = damaged_at(file)
    with files.snapshot.open("rb") as file:
        whole = damaged_at(file)

    assert found == (last - 12288) // (1 << 18) * (1 << 18) + 12288
    assert whole is None


def test_a_file_of_another_layout_is_left_to_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(random.Random(1).randbytes(1 << 20))
    with path.open("rb") as file:
        assert damaged_at(file) is None


def test_a_database_that_somebody_removed_is_made_again_from_its_published_copy(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(home, "new")
    LedgerFiles(home).database.unlink()
    LedgerFiles(home).write_ahead_log.write_bytes(b"of the one that is gone")

    found = query(home, SQL).rows

    assert found[0][:2] == (CALLS + 1, CALLS + 1)
    assert "was gone: it was made again" in caplog.text


def test_a_damaged_published_copy_is_made_again_by_the_next_drain(home: Path) -> None:
    snapshot = LedgerFiles(home).snapshot
    for offset in offsets(snapshot):
        damage(snapshot, offset)
    written(home, "after")

    assert query(home, SQL).rows[0][:2] == (CALLS + 1, CALLS + 1)


def test_a_query_of_a_damaged_copy_says_that_it_is_damaged(home: Path) -> None:
    damage(LedgerFiles(home).snapshot, 4096 + 20)
    damage(LedgerFiles(home).snapshot, 8192 + 20)

    with pytest.raises(QueryError, match=r"(?s)Corrupt.*The file is damaged"):
        query(home, SQL, drain_first=False)


def test_without_database_and_copy_what_the_journal_has_makes_a_new_one(home: Path) -> None:
    written(home, "kept")
    LedgerFiles(home).database.unlink()
    LedgerFiles(home).snapshot.unlink()

    assert query(home, "SELECT call_id FROM calls").rows == (("kept",),)


@pytest.mark.parametrize(
    "tail",
    [
        line(3)[:-1],
        line(3)[:-20],
        b"\0" * 4096,
        b'{"v":1,"rows":[{"table":"calls","error":"\xe2\x82',
        b"\xff\xfe" * 100,
        random.Random(3).randbytes(5000).replace(b"\n", b""),
        b"[" * 50_000,
        b"}" * 10,
    ],
    ids=["no newline", "cut", "NULs", "half a character", "no text", "random", "deep", "braces"],
)
def test_whatever_the_tail_of_a_journal_is_its_lines_survive_and_it_is_named(
    home: Path, tail: bytes
) -> None:
    segment(home, line(1) + line(2) + tail)

    report = drain(home)

    found = query(home, "SELECT count(*) FROM calls WHERE call_id IN ('c1', 'c2')").rows
    assert [(one.byte_offset, one.bytes) for one in report.damage] == [
        (len(line(1) + line(2)), len(tail))
    ]
    assert len(found) == 1
    named = query(home, "SELECT segment, bytes FROM journal_damage").rows
    assert named == (("1-2-aa.jsonl", len(tail)),)


@pytest.mark.parametrize("seed", range(8))
def test_random_bytes_in_the_middle_of_a_journal_cost_only_the_lines_they_hit(
    home: Path, seed: int
) -> None:
    chance = random.Random(seed)
    lines = [line(number, error="é" * 50) for number in range(1000, 1100)]
    content = bytearray(b"".join(lines))
    start = chance.randrange(len(content) - 300)
    content[start : start + 300] = chance.randbytes(300)
    segment(home, bytes(content))

    report = drain(home)

    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    hit = sum(
        end > start and end - len(one) < start + 300 for end, one in zip(ends, lines, strict=True)
    )
    assert len(lines) - hit <= report.rows < len(lines)
    assert report.damage
    assert query(home, "SELECT count(*) FROM journal_damage").rows == ((len(report.damage),),)


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 50, b"[]", b'{"attempts": "x"}'])
def test_a_damaged_counter_of_attempts_is_named_with_what_to_put_into_it(
    tmp_path: Path, content: bytes
) -> None:
    attempts = Attempts(tmp_path)
    attempts.next("s")
    (path,) = LedgerFiles(tmp_path).attempts.glob("*.json")
    path.write_bytes(content)

    if not content:
        assert attempts.next("s") == 1
        return
    with pytest.raises(JournalError, match="is damaged: put into it how many"):
        attempts.next("s")
    assert Attempts(tmp_path).next("other") == 1
