"""Damaged, odd and changing files: nobody else is troubled, and the message says what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.fields import Catalogue, FieldDataError
from kernels.fields.entries import Entry
from kernels.fields.files import Ask
from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry
from kernels.records import Array

DATA = np.arange(100, dtype=np.float32)


def registered(home: Path, name: str = "good", *, hidden: bool = False) -> Entry:
    file = home / "private" / f"{name}.f32"
    file.parent.mkdir(parents=True, exist_ok=True)
    DATA.tofile(file)
    return add(Registry(home), file, Wish(ask=Ask(dims="100"), hidden=hidden)).entry


def content(home: Path, name: str = "good") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "fields" / f"{name}.json").read_text())
    return found


def base_of(data: Array) -> object:
    base: Any = data
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        if base.base is None:
            break
        base = base.base
    return base


def a_folder(path: Path, _good: dict[str, Any]) -> None:
    path.mkdir()


def a_link_in_a_circle(path: Path, _good: dict[str, Any]) -> None:
    path.symlink_to(path.name)


def a_link_to_nothing(path: Path, _good: dict[str, Any]) -> None:
    path.symlink_to("nothing")


def a_pipe(path: Path, _good: dict[str, Any]) -> None:
    os.mkfifo(path)


def half_a_file(path: Path, good: dict[str, Any]) -> None:
    text = json.dumps(good | {"name": path.stem})
    path.write_text(text[: len(text) // 2])


def a_copy_under_another_name(path: Path, good: dict[str, Any]) -> None:
    path.write_text(json.dumps(good))


def no_text(path: Path, _good: dict[str, Any]) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def with_text(text: str) -> Callable[[Path, dict[str, Any]], None]:
    def write(path: Path, _good: dict[str, Any]) -> None:
        path.write_text(text)

    return write


def with_value(**changed: object) -> Callable[[Path, dict[str, Any]], None]:
    def write(path: Path, good: dict[str, Any]) -> None:
        path.write_text(json.dumps(good | {"name": path.stem} | changed))

    return write


DAMAGED = {
    "folder": a_folder,
    "circle": a_link_in_a_circle,
    "nowhere": a_link_to_nothing,
    "pipe": a_pipe,
    "half": half_a_file,
    "copy": a_copy_under_another_name,
    "empty": with_text(""),
    "number": with_text("5"),
    "list": with_text("[]"),
    "deep": with_text("[" * 100_000),
    "no-text": no_text,
    "huge": with_text(" " * 2**21),
    "fill-no-number": with_value(fill="xx"),
    "fill-infinite": with_value(fill="inf"),
    "fill-too-large": with_value(fill="1e300"),
    "fill-a-number": with_value(fill=3),
    "shape-text": with_value(shape=["a", 4]),
    "shape-number": with_value(shape=100),
    "shape-bool": with_value(shape=[True, 100]),
    "shape-negative": with_value(shape=[-100]),
    "shape-none": with_value(shape=None),
    "shape-huge": with_value(shape=[10**30]),
    "dtype": with_value(dtype="int16"),
    "form": with_value(form="csv"),
    "size": with_value(size="400"),
    "size-float": with_value(size=400.5),
    "offset": with_value(offset=-4),
    "hidden": with_value(hidden="yes"),
    "no-alias": with_value(hidden=True),
    "alias": with_value(alias="jupiter"),
    "unit": with_value(unit=None),
    "unit-no-text": with_value(unit="\ud800"),
    "path-relative": with_value(path="a.f32"),
    "path-nul": with_value(path="/a\0b"),
    "sum": with_value(sha256="abc"),
    "unknown-key": with_value(colour="red"),
    "version": with_value(version=2),
    "uk_theta": with_value(),
    "suite": with_value(),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_an_entry_that_can_not_be_read_troubles_no_other_field(tmp_path: Path, name: str) -> None:
    registered(tmp_path)
    DAMAGED[name](tmp_path / "fields" / f"{name}.json", content(tmp_path))
    catalogue, registry = Catalogue(tmp_path), Registry(tmp_path)

    assert [entry.name for entry in registry.entries()] == ["good"]
    assert catalogue.names() == (*Catalogue().names(), "good")
    assert [info.name for info in catalogue.listed()] == list(catalogue.names())
    assert catalogue.hidden() == ()
    assert np.array_equal(catalogue.load("good").data, DATA)
    assert catalogue.problem("good") is None
    (problem,) = registry.problems()
    assert str(tmp_path / "fields" / f"{name}.json") in problem
    assert "add the field again" in problem


@pytest.mark.parametrize("name", [name for name in DAMAGED if name not in ("uk_theta", "suite")])
def test_a_damaged_entry_is_unknown_to_agents_and_explained_to_operators(
    tmp_path: Path, name: str
) -> None:
    registered(tmp_path)
    DAMAGED[name](tmp_path / "fields" / f"{name}.json", content(tmp_path))
    catalogue = Catalogue(tmp_path)

    to_agent, to_operator = catalogue.problem(name), catalogue.missing(name)

    assert to_agent is not None
    assert to_agent.replace(name, "nope") == catalogue.problem("nope")
    assert to_operator is not None
    assert f"{name}.json" in to_operator
    assert "add the field again" in to_operator
    for wanted in (catalogue.info, catalogue.load):
        with pytest.raises(FieldDataError) as caught:
            wanted(name)
        assert str(tmp_path) not in str(caught.value)


def test_a_text_of_another_type_is_said(tmp_path: Path) -> None:
    registered(tmp_path)
    DAMAGED["shape-text"](tmp_path / "fields" / "a.json", content(tmp_path))
    DAMAGED["copy"](tmp_path / "fields" / "b.json", content(tmp_path))

    first, second = Registry(tmp_path).problems()

    assert "shape" in first
    assert "the name in it is another" in second


def test_listed_is_one_look_with_everything_an_agent_may_know(tmp_path: Path) -> None:
    registered(tmp_path)
    registered(tmp_path, "secret", hidden=True)
    catalogue = Catalogue(tmp_path)

    listed = catalogue.listed()

    assert listed == tuple(map(catalogue.info, catalogue.names()))
    assert "secret" not in {info.name for info in listed}


# A change by another process while a server reads.


def test_hiding_a_field_while_a_server_looks_through_it_is_not_undone(tmp_path: Path) -> None:
    stale = registered(tmp_path)
    registry = Registry(tmp_path)
    hidden = Registry(tmp_path).hide("good", hidden=True)

    registry.renew(stale, mtime_ns=7)

    now = registry.get("good")
    assert now == hidden
    assert now.hidden
    assert now.alias


class HiddenMeanwhile(Registry):
    """Another process hides the field after its file was looked through, before that is noted."""

    def renew(self, entry: Entry, mtime_ns: int) -> None:
        Registry(self.folder.parent).hide(entry.name, hidden=True)
        super().renew(entry, mtime_ns)


def test_a_server_that_loads_a_touched_file_leaves_what_an_operator_did_meanwhile(
    tmp_path: Path,
) -> None:
    entry = registered(tmp_path)
    os.utime(entry.path, ns=(1, 1))
    catalogue = Catalogue(tmp_path)
    catalogue.registry = HiddenMeanwhile(tmp_path)

    catalogue.load("good")

    assert catalogue.problem("good") is not None
    assert Registry(tmp_path).get("good").hidden
    assert catalogue.load("good").info.hidden


def test_a_field_that_was_removed_meanwhile_stays_removed(tmp_path: Path) -> None:
    stale = registered(tmp_path)
    Registry(tmp_path).remove("good")

    Registry(tmp_path).renew(stale, mtime_ns=7)

    assert Registry(tmp_path).find("good") is None


def test_a_field_of_the_same_name_that_was_added_meanwhile_stays(tmp_path: Path) -> None:
    stale = registered(tmp_path)
    Registry(tmp_path).remove("good")
    again = registered(tmp_path)

    Registry(tmp_path).renew(replace(stale, unit="K"), mtime_ns=7)

    assert Registry(tmp_path).get("good") == again


def test_renewing_changes_the_time_alone(tmp_path: Path) -> None:
    entry = registered(tmp_path)

    Registry(tmp_path).renew(entry, mtime_ns=7)

    assert Registry(tmp_path).get("good") == replace(entry, mtime_ns=7)


@contextmanager
def nothing_can_be_written(home: Path) -> Iterator[None]:
    """The lock can't be opened: as on a read-only disk, whoever runs the test."""
    lock = home / "fields" / ".lock"
    lock.unlink()
    lock.mkdir()
    yield
    lock.rmdir()


def test_a_touched_file_is_read_where_the_home_can_not_be_written(tmp_path: Path) -> None:
    entry = registered(tmp_path)
    os.utime(entry.path, ns=(1, 1))
    catalogue = Catalogue(tmp_path)

    with nothing_can_be_written(tmp_path):
        field = catalogue.load("good")
        again = catalogue.load("good")

    assert np.array_equal(field.data, DATA)
    assert again is field
    assert Registry(tmp_path).get("good") == entry


# Messages that may reach an agent.


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("held_bytes", [0, 2**20])
@pytest.mark.parametrize("damage", ["gone", "folder", "circle", "pipe", "short", "other"])
def test_a_message_about_a_field_never_tells_its_folder(
    tmp_path: Path, hidden: bool, held_bytes: int, damage: str
) -> None:
    np.save(tmp_path / "jupiter.npy", DATA)
    added = add(Registry(tmp_path / "home"), tmp_path / "jupiter.npy", Wish(hidden=hidden)).entry
    file = Path(added.path)
    whole = file.read_bytes()
    status = file.stat()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage == "circle":
        file.symlink_to(file.name)
    elif damage == "pipe":
        os.mkfifo(file)
    elif damage in ("short", "other"):
        other = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', ("
        file.write_bytes(whole[:100] if damage == "short" else other.ljust(len(whole)))
        os.utime(file, ns=(status.st_mtime_ns, status.st_mtime_ns))

    with pytest.raises(FieldDataError) as caught:
        Catalogue(tmp_path / "home", held_bytes=held_bytes).load("jupiter")

    text = str(caught.value)
    assert str(tmp_path) not in text
    assert added.info().name in text
    assert not hidden or "jupiter" not in text
    assert "sz-mcp fields remove" in text


# Memory and mapping.


def test_a_file_that_is_shortened_while_it_is_used_harms_nobody(tmp_path: Path) -> None:
    data = np.arange(10_000, dtype=np.float64)
    np.save(tmp_path / "a.npy", data)
    data.tofile(tmp_path / "b.f64")
    add(Registry(tmp_path), tmp_path / "a.npy", Wish())
    add(Registry(tmp_path), tmp_path / "b.f64", Wish(ask=Ask(dims="10000")))
    catalogue = Catalogue(tmp_path)
    fields = [catalogue.load("a"), catalogue.load("b")]

    os.truncate(tmp_path / "a.npy", 0)
    os.truncate(tmp_path / "b.f64", 0)

    for field in fields:
        assert np.array_equal(field.data, data)
        assert not isinstance(base_of(field.data), np.memmap)
        assert not field.data.flags.writeable
        assert catalogue.unchanged(field)


def test_a_large_file_is_mapped_and_a_change_of_it_is_noticed(tmp_path: Path) -> None:
    entry = registered(tmp_path)
    catalogue = Catalogue(tmp_path, held_bytes=399)
    field = catalogue.load("good")
    assert isinstance(base_of(field.data), np.memmap)
    assert catalogue.unchanged(field)

    DATA[::-1].tofile(entry.path)

    assert not catalogue.unchanged(field)
    with pytest.raises(FieldDataError, match="has changed since it was added"):
        catalogue.load("good")
    Path(entry.path).unlink()
    assert not catalogue.unchanged(field)


def test_fields_of_the_package_never_change() -> None:
    catalogue = Catalogue()

    assert catalogue.unchanged(catalogue.load("uk_theta"))
    assert catalogue.unchanged(catalogue.load("synthetic:noise:100"))


def test_a_change_that_kept_the_time_is_found_when_the_file_is_read(tmp_path: Path) -> None:
    entry = registered(tmp_path)
    DATA[::-1].tofile(entry.path)
    os.utime(entry.path, ns=(entry.mtime_ns, entry.mtime_ns))

    with pytest.raises(FieldDataError, match="has changed since it was added"):
        Catalogue(tmp_path).load("good")


def test_a_mapped_file_that_was_touched_is_looked_through_again(tmp_path: Path) -> None:
    entry = registered(tmp_path)
    os.utime(entry.path, ns=(1, 1))

    field = Catalogue(tmp_path, held_bytes=0).load("good")

    assert np.array_equal(field.data, DATA)
    assert Registry(tmp_path).get("good").mtime_ns == 1
