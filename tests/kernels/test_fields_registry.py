"""Registered fields: who may know of them, and several processes that add at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels.fields import Catalogue, FieldDataError, UnknownFieldError
from kernels.fields.entries import Entry
from kernels.fields.files import Ask
from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry

ROOT = Path(__file__).parents[2]


def secret(home: Path, *, hidden: bool = True) -> Entry:
    file = home / "jupiter_42.f32"
    np.arange(20, dtype=np.float32).tofile(file)
    wish = Wish(
        name="jupiter",
        ask=Ask(dims="4x5"),
        fill="3",
        unit="mbar",
        source="probe",
        licence="secret",
        hidden=hidden,
    )
    return add(Registry(home), file, wish).entry


def test_a_hidden_field_is_never_named_to_an_agent(tmp_path: Path) -> None:
    entry = secret(tmp_path)
    catalogue = Catalogue(tmp_path)

    assert catalogue.names() == Catalogue().names()
    for name in ("jupiter", entry.alias):
        problem = catalogue.problem(name)
        assert problem is not None
        assert problem.replace(name, "nope") == catalogue.problem("nope")


def test_what_records_hold_of_a_hidden_field_gives_it_away_in_nothing(tmp_path: Path) -> None:
    entry = secret(tmp_path)
    catalogue = Catalogue(tmp_path)

    field = catalogue.load("jupiter")

    assert entry.alias.startswith("hidden-")
    assert len(entry.alias) == len("hidden-") + 8
    assert field.info.name == entry.alias
    assert field.info.hidden
    assert (field.info.source, field.info.unit, field.info.character, field.info.licence) == (
        "",
        "",
        "",
        "",
    )
    assert field.info.sha256 != entry.sha256
    assert len(field.info.sha256) == 64
    assert field.info.fill_value == 3.0
    assert catalogue.info("jupiter") == catalogue.info(entry.alias) == field.info
    assert catalogue.load(entry.alias) is field
    assert catalogue.hidden() == (field.info,)
    assert np.array_equal(field.data, np.arange(20, dtype=np.float32).reshape(4, 5))


def test_a_message_about_a_hidden_fields_file_names_neither_it_nor_the_file(tmp_path: Path) -> None:
    entry = secret(tmp_path)
    Path(entry.path).unlink()

    with pytest.raises(FieldDataError) as caught:
        Catalogue(tmp_path).load("jupiter")

    assert entry.alias in str(caught.value)
    assert "jupiter" not in str(caught.value)


def test_aliases_are_drawn_anew_and_kept_when_a_field_is_hidden_again(tmp_path: Path) -> None:
    first = secret(tmp_path)
    registry = Registry(tmp_path)
    catalogue = Catalogue(tmp_path)

    registry.hide("jupiter", hidden=False)
    assert "jupiter" in catalogue.names()
    assert catalogue.problem("jupiter") is None
    assert catalogue.load("jupiter").info.name == "jupiter"
    assert catalogue.hidden() == ()
    again = registry.hide("jupiter", hidden=True)
    assert again.alias == first.alias

    registry.remove(first.alias)
    assert secret(tmp_path).alias != first.alias


def test_homes_share_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    secret(tmp_path / "a", hidden=False)

    assert Catalogue(tmp_path / "a").problem("jupiter") is None
    assert Catalogue(tmp_path / "b").problem("jupiter") is not None
    assert Catalogue().problem("jupiter") is not None
    with pytest.raises(UnknownFieldError, match="unknown field 'jupiter': choose one of uk_theta"):
        Catalogue(tmp_path / "b").load("jupiter")
    with pytest.raises(UnknownFieldError, match="registered: none yet"):
        Registry(tmp_path / "b").remove("jupiter")


def test_a_registered_field_is_seen_by_a_catalogue_that_was_made_before(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    assert catalogue.problem("jupiter") is not None

    secret(tmp_path, hidden=False)

    assert catalogue.problem("jupiter") is None
    assert catalogue.names()[-1] == "jupiter"


def test_a_damaged_entry_takes_no_other_field_away(tmp_path: Path) -> None:
    secret(tmp_path, hidden=False)
    registry = Registry(tmp_path)
    (registry.folder / "broken.json").write_text('{"version": 1, "na')
    newer = json.loads((registry.folder / "jupiter.json").read_text()) | {"version": 2}
    (registry.folder / "newer.json").write_text(json.dumps(newer))

    assert [entry.name for entry in registry.entries()] == ["jupiter"]
    assert len(registry.problems()) == 2
    assert all("remove it and add the field again" in text for text in registry.problems())
    assert Catalogue(tmp_path).names()[-1] == "jupiter"
    with pytest.raises(FieldDataError, match=r"newer\.json can't be understood"):
        Catalogue(tmp_path).load("newer")


def test_an_unknown_name_is_told_the_choices_and_the_grammar(tmp_path: Path) -> None:
    secret(tmp_path, hidden=False)

    problem = Catalogue(tmp_path).problem("x" * 500)

    assert problem is not None
    assert "uk_theta" in problem
    assert "jupiter" in problem
    assert "synthetic:CHARACTER:DIMS" in problem
    assert "x" * 100 not in problem


ADD_MANY = """
import sys
from pathlib import Path
from kernels.fields import FieldNameError
from kernels.fields.files import Ask
from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry

home, own = Path(sys.argv[1]), sys.argv[2]
won = 0
for i in range(20):
    add(Registry(home), home / "t.f32", Wish(name=f"{own}-{i}", ask=Ask(dims="10")))
    try:
        add(Registry(home), home / "t.f32", Wish(name=f"same-{i}", ask=Ask(dims="10")))
        won += 1
    except FieldNameError:
        pass
print(won)
"""


def test_processes_that_add_at_once_lose_nothing_and_share_no_name(tmp_path: Path) -> None:
    np.zeros(10, np.float32).tofile(tmp_path / "t.f32")
    command = [sys.executable, "-c", ADD_MANY, str(tmp_path)]
    running = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for name in ("a", "b")
    ]

    won = [int(process.communicate(timeout=120)[0]) for process in running]

    assert sum(won) == 20
    names = {entry.name for entry in Registry(tmp_path).entries()}
    assert names == {f"{own}-{i}" for own in ("a", "b", "same") for i in range(20)}
    others = [path.name for path in (tmp_path / "fields").iterdir() if path.suffix != ".json"]
    assert others == [".lock"]
