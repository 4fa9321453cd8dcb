"""Where settings come from, what is wrong with one, and the page that says what there is."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sz_mcp import configuration
from sz_mcp.configuration import Configured, configure, options, shown
from sz_mcp.errors import SettingsError
from sz_mcp.settings import Settings

ROOT = Path(__file__).parents[2]


def made(
    tmp_path: Path,
    toml: str = "",
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    sets: Sequence[str] = (),
) -> Configured:
    file = tmp_path / "config.toml"
    file.write_text(toml)
    return configure(flags or {}, sets=sets, file=file, environment=environment or {})


def test_each_source_is_stronger_than_the_one_before_it(tmp_path: Path) -> None:
    toml = 'workers = 2\nagent = "file"\nkept_results = 20\nfeedback = "raw"\n'
    environment = {"SZ_MCP_AGENT": "variable", "SZ_MCP_KEPT_RESULTS": "30", "SZ_MCP_FEEDBACK": ""}

    found = made(tmp_path, toml, environment, {"agent": None, "home": tmp_path}, ["kept_results=5"])

    settings = found.settings
    assert (settings.workers, settings.agent, settings.kept_results) == (2, "variable", 5)
    assert (settings.feedback, settings.home) == ("raw", tmp_path)
    origins = {key: found.origins[key] for key in ("workers", "agent", "kept_results", "home")}
    assert origins == {
        "workers": str(tmp_path / "config.toml"),
        "agent": "$SZ_MCP_AGENT",
        "kept_results": "--set",
        "home": "--home",
    }
    assert found.origins["limits.files"] == "default"


def test_every_kind_of_value_is_understood_from_a_file_and_from_the_environment(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    toml = 'roots = ["a", "b"]\n[http]\nallow_hosts = ["x", "y"]\n[budgets]\nanswer_s = 5\n'
    environment = {
        "SZ_MCP_ROOTS": f"{tmp_path / 'a'}:{tmp_path / 'b'}",
        "SZ_MCP_HTTP_ALLOW_HOSTS": "x,y",
        "SZ_MCP_BUDGETS_ANSWER_S": "5",
    }

    from_file = made(tmp_path, toml).settings
    from_environment = made(tmp_path, "", environment).settings

    assert from_file == from_environment
    assert from_file.roots == (tmp_path / "a", tmp_path / "b")
    assert from_file.http.allow_hosts == ("x", "y")
    assert from_file.budgets.answer_s == 5.0


def test_the_file_is_named_by_the_flag_or_else_by_the_variable(tmp_path: Path) -> None:
    for name in ("flag", "variable"):
        (tmp_path / name).write_text(f'agent = "{name}"\n')
    environment = {"SZ_MCP_CONFIG": str(tmp_path / "variable")}

    by_flag = configure({}, file=tmp_path / "flag", environment=environment)
    by_variable = configure({}, environment=environment)

    assert by_flag.settings.agent == "flag"
    assert by_variable.settings.agent == "variable"


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [("home = 3", r"config\.toml: home: must be a path, got 3"), ("roots = 3", "must be a list")],
)
def test_a_mistake_in_the_file_is_one_even_where_something_else_is_stronger(
    tmp_path: Path, toml: str, complaint: str
) -> None:
    environment = {"SZ_MCP_HOME": str(tmp_path), "SZ_MCP_ROOTS": str(tmp_path)}

    with pytest.raises(SettingsError, match=complaint):
        made(tmp_path, toml, environment)


def test_a_mistake_in_a_variable_is_one_even_where_a_flag_is_stronger(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SZ_MCP_WORKERS: workers: must be a whole number"):
        made(tmp_path, "", {"SZ_MCP_WORKERS": "many"}, sets=["workers=3"])


def test_folders_of_a_file_need_not_be_there_where_others_take_their_place(tmp_path: Path) -> None:
    found = made(tmp_path, 'roots = ["gone"]', {"SZ_MCP_ROOTS": str(tmp_path)})

    assert found.settings.roots == (tmp_path.resolve(),)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml can't be read"):
        configure({}, file=tmp_path / "none.toml", environment={})


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        ("workerz = 2", r"config\.toml: unknown key 'workerz' \(did you mean workers\?\)"),
        ("answer_s = 2", r"unknown key 'answer_s' \(did you mean budgets\.answer_s\?\)"),
        ("[budget]\nanswer_s = 2", r"unknown key 'budget'"),
        ("[budgets]\nanser_s = 2", r"'budgets\.anser_s' \(did you mean budgets\.answer_s\?\)"),
        ('workers = "4"', r"workers: must be a whole number of at least 1, got '4'"),
        ("workers = true", r"workers: must be a whole number of at least 1, got True"),
        ("workers = 0", r"workers: must be a whole number of at least 1, got 0"),
        ("budgets.answer_s = 0", r"budgets\.answer_s: must be a number above 0, got 0"),
        ("budgets.answer_s = inf", r"budgets\.answer_s: must be a number above 0, got inf"),
        ("budgets.answer_s = nan", r"budgets\.answer_s: must be a number above 0, got nan"),
        ("budgets = 3", r"unknown key 'budgets'"),
        ('feedback = "loud"', r"feedback: must be one of none, raw, explain, suggest, got 'loud'"),
        ('roots = "here"', r"roots: must be a list of folders, got 'here'"),
        ('roots = ["here"]', r"no folder .*/here \(.*config\.toml\)"),
        ("agent = 3", r"agent: must be a text, got 3"),
        ('agent = ""', r"agent: must be a text, got ''"),
        ("agent =", r"config\.toml can't be read"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_what_is_right(
    tmp_path: Path, toml: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        made(tmp_path, toml)


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("SZ_MCP_WORKRS", "2", r"unknown environment variable SZ_MCP_WORKRS \(did you mean SZ_MCP"),
        ("SZ_MCP_WORKERS", "two", r"\$SZ_MCP_WORKERS: workers: must be a whole number .* 'two'"),
        ("SZ_MCP_BUDGETS_DRAIN_S", "-1", r"\$SZ_MCP_BUDGETS_DRAIN_S: .* above 0, got -1"),
    ],
)
def test_a_mistake_in_the_environment_is_named_with_what_is_right(
    tmp_path: Path, variable: str, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        made(tmp_path, environment={variable: text})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("workers", "give KEY=VALUE"),
        ("workrs=2", r"--set: unknown key 'workrs' \(did you mean workers\?\)"),
        ("workers=x", "--set: workers: must be a whole number"),
    ],
)
def test_a_mistake_in_a_flag_is_named_with_what_is_right(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        made(tmp_path, sets=[text])


def test_without_any_source_the_defaults_are_those_of_the_classes() -> None:
    found = configure({"home": "/x"}, environment={"XDG_CONFIG_HOME": "/none"})

    assert found.settings == Settings(home=Path("/x"))


def test_every_field_of_the_settings_is_a_key_with_a_meaning() -> None:
    def leaves(record: Any, prefix: str = "") -> list[str]:
        return [
            name
            for field in dataclasses.fields(record)
            for value in [getattr(record, field.name)]
            for name in (
                leaves(value, f"{prefix}{field.name}.")
                if dataclasses.is_dataclass(value)
                else [prefix + field.name]
            )
        ]

    assert [option.key for option in options()] == leaves(Settings(home=Path("/x")))
    assert [option.key for option in options() if not option.meaning.endswith(".")] == []


def test_the_page_in_docs_is_the_one_of_these_settings() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")

    assert text == configuration.page(), (
        "out of date: run python -m sz_mcp.configuration > docs/configuration.md"
    )


def test_the_example_on_the_page_is_a_valid_file(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (example,) = re.findall(r"```toml\n(.*?)```", configuration.page(), re.DOTALL)

    assert made(tmp_path, example).settings.budgets.shutdown_s == 30


def test_values_are_shown_as_a_file_would_have_them() -> None:
    assert shown(None) == "unset"
    assert shown((Path("a"), Path("b"))) == '["a", "b"]'
    assert shown(10_000_000) == "10_000_000"
    assert shown(0.25) == "0.25"
