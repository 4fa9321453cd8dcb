"""What a spec says, and what is said when something in it is wrong: where, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from sz_mcp.bench import reading, shipped, world
from sz_mcp.bench.errors import SpecError
from sz_mcp.bench.spec import SearchAgent
from tests.sz_mcp.bench.specs import NAMES, SMALL, spec


def problem(text: str) -> str:
    with pytest.raises(SpecError) as raised:
        spec(text)
    return str(raised.value)


def test_a_spec_is_read() -> None:
    found = spec(SMALL)
    assert found.name == "small"
    assert found.agents["random"] == SearchAgent(kind="search", method="random")
    assert found.budget.cell.calls == 4
    assert found.bounds[0].value == 1e-3


def test_a_bound_may_be_a_bare_number_as_yaml_has_it() -> None:
    found = spec(f"{SMALL}bounds: [1e-2, 0.1, {{mode: abs, value: 3}}]\n")
    assert [(one.mode, one.value) for one in found.bounds] == [
        ("rel", 0.01),
        ("rel", 0.1),
        ("abs", 3.0),
    ]


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("repeats", "repeat", "test.yaml:8: repeat: unknown key 'repeat': did you mean 'repeats'?"),
        ("calls: 4", "cals: 4", "budget.cell.cals: unknown key 'cals': did you mean 'calls'?"),
        ("method: random", "method: ranom", "'ranom' is none of them: did you mean 'random'?"),
        ("kind: search", "kind: searchh", "no kind 'searchh': did you mean 'search'?"),
        ("kind: search, ", "", "agents.random: 'kind' is missing"),
        ("lorenzo-1d", "lorenzo-1", "test.yaml:5: tasks.0: no task 'lorenzo-1': did you mean"),
        ("[numba]", "[numbs]", "test.yaml:6: targets.0: no target 'numbs': did you mean 'numba'?"),
        ("na_temperature", "na_temp", "fields.0: no field 'na_temp': did you mean"),
        ("method: random", "medhot: random", "unknown key 'medhot': did you mean 'method'?"),
        ("styles: [naive, tuned]", "seed: 3", "agents.worked"),
        ("repeats: 2", "repeats: 0", "test.yaml:8: repeats: must be greater than or equal to 1"),
        ("tasks: [lorenzo-1d]\n", "", "'tasks' is missing"),
        ("[numba]", "[numba, numba]", "numba is there twice"),
        ("name: small", "name: a/b", "test.yaml:1: name: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(wrong: str, right: str, said: str) -> None:
    assert said in problem(SMALL.replace(wrong, right))


def test_everything_wrong_is_told_at_once() -> None:
    said = problem(SMALL.replace("repeats: 2", "repeats: 0\nrepeat: 3"))
    assert len(said.splitlines()) == 2


def test_text_that_is_no_yaml_is_told_with_its_line() -> None:
    assert problem("name: small\nagents: [").startswith("test.yaml:")
    assert "a spec is a mapping" in problem("- a")


def test_a_replay_has_exactly_one_source() -> None:
    both = SMALL.replace("styles: [naive]", "").replace("styles:", "session: s, styles:")
    assert "exactly one of session, styles and folders" in problem(both)


def test_a_task_without_a_field_is_told() -> None:
    text = SMALL.replace("fields: [na_temperature]", "fields: {lorenzo-1d: [sea_surface]}")
    spec(text)
    assert "no field for the task szp" in problem(
        text.replace("[lorenzo-1d]\n", "[lorenzo-1d, szp]\n")
    )


def test_relative_paths_are_of_the_specs_folder(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text = SMALL.replace("method: random", "method: random, space: here")
    path.write_text(text.replace("styles: [naive, tuned]", "folders: [a, b]"))
    agents = reading.read(path, NAMES).agents
    assert getattr(agents["random"], "space", None) == tmp_path / "here"
    assert getattr(agents["worked"], "folders", None) == (tmp_path / "a", tmp_path / "b")


def test_the_bench_stays_the_same_when_only_how_far_it_goes_changes() -> None:
    first = spec(SMALL)
    more = spec(SMALL + "  total: {calls: 9}\nparallel: {busy: 2}\ngive_up: 1\nabout: more\n")
    assert more.bench_id == first.bench_id
    assert spec(SMALL.replace("calls: 4", "calls: 5")).bench_id != first.bench_id


@pytest.mark.parametrize("name", shipped.names())
def test_the_shipped_specs_can_be_used(name: str, tmp_path: Path) -> None:
    seen = world.survey(tmp_path)
    found = reading.read(shipped.find(name), seen.names)
    plan = world.plan(found, seen)
    assert found.name == name
    assert plan.possible


def test_an_unknown_spec_is_told_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match="baselines, paper"):
        shipped.find("papers")
