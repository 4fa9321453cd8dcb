from __future__ import annotations

import pytest

from tests.toolchains.csl.parsing import clean
from toolchains.csl.builtin_names import BUILTINS, DSD_OPERATIONS
from toolchains.csl.foreign import ALIASES, suggestion


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("@fads", "did you mean `@fadds`?"),
        ("@get_colour", "did you mean `@get_color`?"),
        ("@getDsd", "did you mean `@get_dsd`?"),
        ("@load_to_drs", "did you mean `@load_to_dsr`?"),
        ("@set_rectange", "did you mean `@set_rectangle`?"),
        ("fmacs", "did you mean `@fmacs`?"),
        ("@intCast", "in CSL: @as(T, value), or @bitcast(T, value) for the same bits"),
        ("@memcpy", "in CSL: @mov16, @mov32, @fmovh or @fmovs over DSDs"),
        ("@sqrt", 'in CSL: const math = @import_module("<math>"); math.sqrt(x)'),
        ("@zzzzzz", ""),
        ("@", ""),
    ],
)
def test_a_builtin_that_is_none_is_traced_to_one_that_is(name: str, expected: str) -> None:
    assert suggestion(name, BUILTINS) == expected


@pytest.mark.parametrize("name", ["@array_view", "@load", "@printf", "@typeOf", "@import", "@fma"])
def test_invented_builtins_are_explained(name: str) -> None:
    assert suggestion(name, BUILTINS).startswith("in CSL: ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lenghtt", "did you mean `length`?"),
        ("Length", "did you mean `length`?"),
        ("send_colour", "did you mean `send_color`?"),
        ("int", "in CSL: i32"),
        ("threadIdx", "in CSL: a PE's place"),
        ("NULL", "in CSL: CSL has no null"),
        ("x", ""),
        ("unrelated_name", ""),
    ],
)
def test_a_name_that_is_not_declared_is_traced_to_one_that_is(name: str, expected: str) -> None:
    found = suggestion(name, ["length", "send_color", "width"])
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_no_alias_is_a_builtin() -> None:
    assert not set(ALIASES) & set(BUILTINS)


def test_builtins_that_aliases_name_exist() -> None:
    words = {w for text in ALIASES.values() for w in text.replace("(", " ").split() if w[0] == "@"}
    assert {w.strip(".,;") for w in words} <= set(BUILTINS)


def test_every_builtin_shows_how_it_is_called() -> None:
    for name, one in BUILTINS.items():
        assert one.name == name
        assert one.signature.startswith(f"{name}(")
        assert "\n" not in one.signature
        assert set(one.dialects) <= {"1.4", "2.10"}
        assert set(one.archs) <= {"wse2", "wse3"}
        clean(f"const a = {name}(1);")


def test_marks_of_dialect_and_architecture_are_those_of_the_documentation() -> None:
    assert BUILTINS["@concat_structs"].dialects == ("1.4",)
    assert BUILTINS["@get_sr"].dialects == ("2.10",)
    assert BUILTINS["@get_ut_id"].archs == ("wse3",)
    assert BUILTINS["@bind_rotating_tasks"].archs == ("wse3",)
    assert "@bind_local_task" in BUILTINS["@bind_task"].note
    assert len(DSD_OPERATIONS) == 43
    assert set(BUILTINS) >= DSD_OPERATIONS
