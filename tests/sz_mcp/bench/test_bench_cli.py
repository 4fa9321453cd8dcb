"""`sz-mcp bench` as it is typed, without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sz_mcp.bench.progress import Estimate, most_s, spoken, summary
from sz_mcp.bench.records import Before, Spent
from sz_mcp.bench.spec import Budget, Parallel
from sz_mcp.cli import app
from tests.sz_mcp.bench.desks import cell
from tests.sz_mcp.bench.specs import SMALL


def typed(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["bench", *arguments], env={"COLUMNS": "200"})
    return done.exit_code, done.output + (str(done.exception) if done.exception else "")


def test_the_specs_of_ours_are_listed() -> None:
    code, said = typed("--list")
    assert code == 0
    assert "paper" in said
    assert "baselines" in said
    assert typed() == (code, said)


def test_a_dry_run_says_what_a_spec_comes_to(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.replace("[numba]", '[numba, "wafer:wse3"]'))
    code, said = typed(str(path), "--dry-run", "--home", str(tmp_path / "home"))
    assert code == 0
    assert "8 cells, 8 to do" in said
    assert "random.lorenzo-1d.numba.na_temperature.rel_0.001.r2" in said
    assert "calls: at most" in said
    assert "tokens: no limit" in said
    assert "time: at most" in said


def test_a_dry_run_takes_only_the_cells_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    _, said = typed(str(path), "--dry-run", "--home", str(tmp_path), "--only", "worked.*.r2")
    assert "4 cells, 1 to do" in said


def test_a_wrong_spec_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.replace("[numba]", "[numbra]"))
    code, said = typed(str(path), "--dry-run", "--home", str(tmp_path))
    assert code == 1
    assert "small.yaml:6: targets.0: no target 'numbra': did you mean 'numba'?" in said


def test_the_time_left_is_of_cells_like_those_that_ended() -> None:
    cells = [cell("search", repeat=n) for n in range(1, 5)] + [
        cell("model", repeat=n) for n in (1, 2)
    ]
    estimate = Estimate(cells, Before(), Parallel(waiting=2, busy=1))
    assert estimate.left_s() is None
    estimate.ended(cells[0], Spent(seconds=10.0))
    # Three more searches of 10 s, one after the other; models are not known to take longer.
    assert estimate.left_s() == pytest.approx(30.0)
    estimate.ended(cells[4], Spent(seconds=100.0))
    assert estimate.left_s() == pytest.approx(50.0)


def test_the_most_time_is_of_the_budgets() -> None:
    cells = [cell("search", repeat=n) for n in range(1, 5)]
    parallel = Parallel(waiting=2, busy=1)
    assert most_s(cells, Budget(minutes=3), parallel) == 4 * 180
    assert most_s([cell("model")] * 4, Budget(minutes=3), parallel) == 2 * 180
    assert most_s(cells, Budget(), parallel) is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "not known yet"), (12.4, "12 s"), (120.0, "2 min"), (7200.0, "2.0 h")],
)
def test_time_is_spoken(seconds: float | None, said: str) -> None:
    assert spoken(seconds) == said


def test_events_are_counted() -> None:
    assert summary({"finished": 3, "failed": 1}) == "3 finished, 1 failed"
    assert summary({}) == "nothing to do"
