"""Budget curves of an agent's page: what they are drawn against, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.rows import UsageRow
from sz_mcp.board.agents import curves
from sz_mcp.board.copy import Copy, opened
from sz_mcp.board.serve import Board
from tests.results_db.records import call, kernel, record_ranked, run_result

# Reports are stamped when they are written: calls far ahead come after all of them.
LATER = datetime(2100, 1, 1, tzinfo=UTC)
GBPS = (1.0, 3.0, 2.0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One agent that reports tokens and no price, and one that reports nothing."""
    home = tmp_path_factory.mktemp("budgets")
    ledger = Ledger(home, writer="made")
    for agent in ("reports", "silent"):
        for number, gbps in enumerate(GBPS, 1):
            made = kernel(f"{agent}{number}", agent=agent, session=f"{agent}-s")
            moment = LATER + timedelta(minutes=5 * number)
            ledger.call(
                call(
                    f"{agent}-{number}",
                    started_at=moment, agent=agent, session=f"{agent}-s", attempt=number,
                )
            )  # fmt: skip
            record_ranked(ledger, made, run_result(gbps), number)
    ledger.usage(UsageRow("reports-s", "reports", 1, 900, 100, "endpoint", 0, None))
    ledger.close()
    drain(home)
    return home


@pytest.fixture(scope="module")
def copy(home: Path) -> Iterator[Copy]:
    with opened(home) as found:
        yield found


def points(copy: Copy, agent: str, spent: str) -> list[list[tuple[float, float]]]:
    return [
        list(points) for one in curves(copy, agent, spent) for _, points in one.sessions
    ]  # fmt: skip


def test_attempts_have_the_best_so_far_at_each_rise_and_the_last(copy: Copy) -> None:
    (found,) = points(copy, "silent", "attempts")

    assert [spent for spent, _ in found] == [1, 2, 3]
    assert found[0][1] < found[1][1] == found[2][1]


def test_minutes_count_from_a_sessions_first_call_or_report(copy: Copy) -> None:
    (found,) = points(copy, "silent", "minutes")

    assert [spent for spent, _ in found] == [0.0, 5.0, 10.0]


def test_tokens_are_those_reported_before_an_attempt(copy: Copy) -> None:
    (found,) = points(copy, "reports", "tokens")

    # All three attempts came at 1,000 tokens: one point, with the best of them.
    ((_, _), (_, best), _) = points(copy, "reports", "attempts")[0]
    assert found == [(1000.0, best)]


@pytest.mark.parametrize(
    ("agent", "spent"), [("silent", "tokens"), ("silent", "dollars"), ("reports", "dollars")]
)
def test_what_nobody_reported_has_no_curve_and_the_page_says_so(
    copy: Copy, home: Path, agent: str, spent: str
) -> None:
    with TestClient(Starlette(routes=Board(home).routes())) as client:
        page = client.get("/board/agent", params={"name": agent, "against": spent}).text

    assert points(copy, agent, spent) == []
    assert f"No attempt has both a score and {spent} that are known." in page
