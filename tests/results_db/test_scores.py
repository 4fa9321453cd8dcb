"""What is kept of scores equals what follows from all rows, whatever came in whichever order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernels.records import Bound, Status
from results_db.ledger import Ledger
from results_db.merge import merge
from results_db.prune import Wish, prune
from results_db.rows import HostRow, MarkRow
from results_db.scores import TABLES
from tests.results_db.records import (
    broken_verdict,
    drained,
    failed_build,
    kernel,
    read,
    record_run,
    record_verdict,
    run_result,
    verdict,
)

AGENTS = ("ada", "bob", "eve")
SOURCES = ("x = 1\n", "y = 1\n", "x = 2\n", "x = 3\n")
"""Of one agent the first two are one program."""


def compare(home: Path) -> int:
    """Drain, and compare; the number of rows that are kept."""
    drained(home, "SELECT 1")
    for table in TABLES:
        for one, other in ((table, f"{table}_afresh"), (f"{table}_afresh", table)):
            assert read(home, f"FROM {one} EXCEPT ALL FROM {other}") == [], (one, other)
    ((count,),) = read(home, "SELECT count(*) FROM scored_runs")
    return int(count)


def act(rng: random.Random, ledger: Ledger, step: int, known: list[str]) -> None:
    """One thing that may happen."""
    kernel_id = rng.choice(known) if known else ""
    match rng.randrange(8) if known else 0:
        case 0 | 1:
            agent = rng.choice(AGENTS)
            made = kernel(
                f"k{step}",
                agent=agent,
                session=f"s-{agent}-{rng.randrange(2)}",
                source=rng.choice(SOURCES),
                task=rng.choice(("szp", "sz-open")),
            )
            ledger.kernel(made, f"call-{step}")
            known.append(made.kernel_id)
        case 2 | 3:
            found = verdict() if rng.random() < 0.8 else broken_verdict()
            record_verdict(ledger, f"v{step}", kernel_id, found)
        case 7 if rng.random() < 0.5:
            about = rng.choice(("kernel", "agent", "run"))
            subject = {"kernel": kernel_id, "agent": rng.choice(AGENTS), "run": f"r{step - 1}"}
            verdict_ = rng.choice(("hidden", "cleared"))
            ledger.mark(MarkRow(about, subject[about], verdict_, "a reason", "operator"))
        case _:
            result = run_result(
                rng.uniform(0.5, 5), bound=Bound("rel", rng.choice((1e-3, 1e-2)), 0.5)
            )
            if rng.random() < 0.15:
                result = replace(result, status=Status.SUSPECT)
            if step % 3 == 0:
                ledger.build(f"call-{step}", kernel_id, failed_build())
            record_run(ledger, f"r{step}", kernel_id, result, step)


@pytest.mark.parametrize("seed", range(2))
def test_scores_follow_every_row(seed: int, tmp_path: Path) -> None:
    rng, known = random.Random(seed), list[str]()
    ledger = Ledger(tmp_path, writer="test")
    ledger.host(HostRow("host-1"))
    for step in range(60):
        act(rng, ledger, step, known)
        if step % 6 == 5:
            compare(tmp_path)
    assert compare(tmp_path) > 5
    ((ranked,),) = read(tmp_path, "SELECT count(*) FROM leaderboard")
    assert ranked > 0
    ledger.close()


def test_scores_follow_merging_and_pruning(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rng, known = random.Random(name), list[str]()
        ledger = Ledger(tmp_path / name, writer=name)
        ledger.host(HostRow("host-1"))
        for step in range(40):
            act(rng, ledger, step if name == "one" else 100 + step, known)
        ledger.close()

    merge(tmp_path / "one", tmp_path / "two")
    merged = compare(tmp_path / "one")
    assert merged > 10
    prune(tmp_path / "one", Wish(datetime.now(UTC) + timedelta(days=1), agent="ada"))
    assert 0 < compare(tmp_path / "one") < merged
