"""A few agents for some seconds, as `tests/benchmarks/soak.py` lets fifty work for minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.soak import soak

AGENTS, SECONDS = 6, 20.0


@pytest.mark.slow
def test_agents_on_one_server_lose_and_leave_nothing(tmp_path: Path) -> None:
    report = soak(tmp_path, AGENTS, SECONDS)

    assert report.problems == []
    assert (report.lost, report.doubled) == (0, 0)
    assert report.rows == report.calls > 20
    assert len([tool for tool, spread in report.seconds.items() if spread["count"]]) >= 5
