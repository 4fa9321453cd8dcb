"""The report: its numbers are those of the ledger, its anomalies are found, its text is escaped."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from results_db.errors import QueryError
from results_db.standings import agents, scopes
from sz_mcp.board.copy import opened, refresh
from sz_mcp.board.report.anomalies import MOST, anomalies
from sz_mcp.board.report.compose import report
from sz_mcp.board.report.document import Document, Figure, Numbers, html, markdown, plain, write
from sz_mcp.board.report.measured import Board, Measured, Scope, Speed, Step
from sz_mcp.board.report.summary import sentences
from sz_mcp.cli.report import run as run_command
from sz_mcp.errors import StepFailed
from tests.sz_mcp.board.made import AGENTS, BENCH, BOUNDS, EVIL
from tests.sz_mcp.board.test_html import parsed

HARDWARE = Board("szp", "numba", "hardware", "host-1", 1)
CALM = Speed(2.0, 1.95, 2.05)


def run(**given: object) -> Measured:
    made = Measured(
        board=HARDWARE, agent="ada", session="s", field="f", mode="rel", bound=1e-3,
        kernel_id="k_1", run_id="r_1", attempt=1, score=2.0, unit="GB/s", ratio=8.0, bit_rate=4.0,
        psnr=70.0, worst_over_bound=0.5, compress=CALM, decompress=CALM, run=None,
        copy_peak_gbps=10.0, repetitions=15, disturbed=0, harness="h1",
        cycles=None,
    )  # fmt: skip
    return dataclasses.replace(made, **given)  # type: ignore[arg-type]


def kinds(best: Sequence[Measured], steps: Sequence[Step] = ()) -> list[str]:
    return [one.kind for one in anomalies(best, steps)]


def test_calm_and_complete_results_have_no_anomaly() -> None:
    best = [run(bound=bound, ratio=ratio, run_id=f"r{bound}") for bound, ratio in
            ((1e-4, 4.0), (1e-3, 8.0), (1e-2, 16.0))]  # fmt: skip

    assert kinds(best) == []


@pytest.mark.parametrize(
    ("expected", "best"),
    [
        ("ratio falls when the bound loosens", [run(), run(bound=1e-2, ratio=7.0, psnr=60.0)]),
        ("PSNR rises when the bound loosens", [run(), run(bound=1e-2, psnr=75.0)]),
        ("speed varies by more than 10%", [run(compress=Speed(2.0, 1.8, 2.3))]),
        ("more than 25% of the timed requests were disturbed", [run(disturbed=10)]),
        ("error within an ulp of the bound", [run(worst_over_bound=1 - 2**-24)]),
        ("speed near that of a copy", [run(decompress=Speed(9.5, 9.4, 9.6))]),
        ("ratios of one fixed format differ", [run(), run(agent="bob", ratio=8.5)]),
        ("results of several harnesses in one table", [run(), run(agent="bob", harness="h2")]),
        ("missing cells", [run(), run(agent="bob", bound=1e-2, ratio=16.0)]),
    ],
)
def test_each_anomaly_is_found_with_evidence_and_what_to_measure(
    expected: str, best: list[Measured]
) -> None:
    found = [one for one in anomalies(best) if one.kind == expected]

    assert found
    for one in found:
        assert "szp on numba" in one.evidence or "szp:" in one.evidence
        assert one.next


@pytest.mark.parametrize(
    ("kind", "best"),
    [
        ("ratio", [run(), run(bound=1e-2, ratio=7.97)]),
        ("ratio", [run(mode="psnr", bound=60.0), run(mode="psnr", bound=80.0, ratio=4.0)]),
        ("ratio", [run(), run(field="g", bound=1e-2, ratio=1.0)]),
        ("ratios of", [run(), run(agent="bob", ratio=8.1)]),
        ("error", [run(worst_over_bound=0.9999)]),
        ("speed near", [run(copy_peak_gbps=None, compress=Speed(99, 98, 100))]),
    ],
)
def test_what_has_a_plain_reason_is_no_anomaly(kind: str, best: list[Measured]) -> None:
    assert [one for one in kinds(best) if one.startswith(kind)] == []


def test_a_jump_within_a_session_is_told_with_both_scores() -> None:
    step = Step(HARDWARE, "ada", "s1", "f", "rel", 1e-3, "k_2", "r_2", 7, 12.0, 1.5)
    (one,) = anomalies([], [step])

    assert "1.50 → 12.0 GB/s at attempt 7 of session s1" in one.evidence
    assert "reproduce r_2" in one.next


def test_cells_without_a_result_are_told_with_their_reason(made: Document) -> None:
    (table,) = [one for one in made.parts if isinstance(one, Numbers) if "anom" in one.name]

    assert [
        row[1].key for row in table.rows if row[0].key == "cells of a bench without a result"
    ] == [f"{EVIL}, bench {BENCH}: 2 failed ({EVIL} was killed).".casefold()]


def test_of_many_anomalies_of_one_kind_the_first_are_told() -> None:
    best = [run(run_id=f"r_{n}", agent=f"a{n}", disturbed=10) for n in range(MOST + 5)]
    found = [one for one in anomalies(best) if "disturbed" in one.kind]

    assert len(found) == MOST + 1
    assert found[-1].evidence == "5 more of this kind."


def test_the_summary_says_what_the_numbers_say() -> None:
    told = sentences(
        [run(), run(agent="bob", score=1.0, ratio=4.0, bound=1e-3),
         run(bound=1e-2, ratio=16.0, score=1.5)]
    )  # fmt: skip

    assert told[0] == "3 best eligible runs: 2 agents, 1 task, 1 target, 1 field, 2 bounds."
    assert "highest score is 2.00 GB/s, by ada on f at rel 0.001, 2.00 times that of bob" in told[1]
    assert "both ways it is 20% of a copy (10.0 GB/s)" in told[1]
    assert "go from 4.00 to 8.00; the largest is that of ada" in told[1]
    assert "A ten times looser bound multiplies the ratio by 2.00" in told[1]


@pytest.fixture(scope="module")
def made(ledger: Path) -> Document:
    return report(ledger, Scope())


def test_results_are_those_of_the_raw_ledger(ledger: Path, made: Document) -> None:
    """Computed once more from the journalled rows, without a view of ours."""
    with duckdb.connect(str(ledger / "ledger-read.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            """
            SELECT k.agent, k.task, k.target, s.bound, max(2 / (1 / f.compress_gbps + 1 /
              f.decompress_gbps)), max(f.raw_bytes / f.stream_bytes)
            FROM runs_finished f JOIN runs_started s USING (run_id)
            JOIN kernels k ON k.kernel_id = f.kernel_id
            WHERE f.tool = 'run_compress' AND k.task = 'szp' AND k.target = 'numba' GROUP BY ALL
            """
        ).fetchall()
    expected = {(agent, bound): (score, ratio) for agent, _, _, bound, score, ratio in rows}
    (table,) = [
        part for part in made.parts if isinstance(part, Numbers) and part.name == "results-table"
    ]
    shown = {
        (agent.key, bound.key): (score.key, ratio.key)
        for agent, task, target, _, _, bound, score, _, ratio, *_ in table.rows
        if (task.key, target.key) == ("szp", "numba")
    }

    assert len(shown) == len(AGENTS) * len(BOUNDS) == len(expected)
    for (agent, bound), (score, ratio) in expected.items():
        found_score, found_ratio = shown[agent.casefold(), f"rel {bound:g}"]
        assert found_score == pytest.approx(score)
        assert found_ratio == pytest.approx(ratio)


def test_agents_are_compared_as_standings_does(ledger: Path, made: Document) -> None:
    with opened(ledger) as copy:
        expected = {
            f"standings-{place}": [
                (row.standing.agent.casefold(), row.standing.mean)
                for row in agents(copy.connection, scope)
            ]
            for place, scope in enumerate(scopes(copy.connection))
        }
    shown = {
        part.name: [(row[0].key, row[2].key) for row in part.rows]
        for part in made.parts
        if isinstance(part, Numbers) and part.name.startswith("standings-")
    }

    assert shown == expected
    assert len(shown) == 3


def test_emulated_and_simulated_runs_have_no_score_and_no_speed(made: Document) -> None:
    for part in made.parts:
        if isinstance(part, Figure) and ("wafer" in part.caption or "cuda" in part.caption):
            assert "GB/s" not in part.caption
            assert not part.name.startswith(("speed", "radar"))
    (table,) = [
        part for part in made.parts if isinstance(part, Numbers) and part.name == "results-table"
    ]
    others = [row for row in table.rows if row[3].key != "hardware"]
    assert others
    assert all(cell.key is None for row in others for cell in (row[6], *row[9:12]))
    for row in table.rows:
        assert (row[12].key is not None) == (row[3].key == "simulated")


def test_all_figures_that_a_user_expects_are_there(made: Document) -> None:
    names = {part.name.split("-")[0] for part in made.parts if isinstance(part, Figure)}

    assert names == {"rate", "ratio", "speed", "cycles", "heat", "targets", "radar"}
    drawn = [part.name for part in made.parts if isinstance(part, Figure)]
    assert len(drawn) == len(set(drawn))
    assert any(name.startswith("speed-ratio-error") for name in drawn)


def test_the_log_names_hosts_versions_sessions_and_hashes(ledger: Path, made: Document) -> None:
    page = html(made)
    with duckdb.connect(str(ledger / "ledger-read.duckdb"), read_only=True) as connection:
        blobs = connection.execute("SELECT blob FROM kernels").fetchall()

    assert "Made CPU" in page
    assert "model-a" in page
    assert "expert" in page
    assert sum(blob in page for (blob,) in blobs) > 0


def test_html_runs_nothing_but_its_own_script(made: Document) -> None:
    page = html(made)
    found = parsed(page)

    assert found.tags.count("script") == found.tags.count("style") == 1
    assert "&lt;script&gt;alert" in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"sha256-{digest}" in policy
    assert "unsafe" not in policy


def test_markdown_shows_what_agents_chose_as_text(made: Document) -> None:
    page = markdown(made)

    assert "<script>" not in re.sub(r"```text\n.*?\n```", "", page, flags=re.DOTALL)
    assert "\u202e" not in page
    assert plain(EVIL) in page
    widths: dict[str, int] = {}
    for line in page.splitlines():
        if line.startswith("|"):
            widths[line] = len(re.findall(r"(?<!\\)\|", line))
    assert len(set(widths.values())) > 1
    for head, rule in zip(page.splitlines(), page.splitlines()[1:], strict=False):
        if rule.startswith("| ---"):
            assert widths[head] == widths[rule]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a|b\n# c", r"a\|b \# c"), ("[x](javascript:y)", r"\[x\]\(javascript:y\)"),
        ("<b>&amp;`", r"\<b\>&amp;amp;\`"), ("1. x\u202e", "1. x\\\\u202e"),
    ],
)  # fmt: skip
def test_markdown_escapes_its_special_characters(words: str, expected: str) -> None:
    assert plain(words) == expected


def test_a_report_is_written_with_a_file_per_figure(made: Document, tmp_path: Path) -> None:
    written = write(made, tmp_path / "out")

    figures = {part.name for part in made.parts if isinstance(part, Figure)}
    assert {path.stem for path in written if path.suffix == ".svg"} == figures
    linked = re.findall(r"\]\((figures/.*?\.svg)\)", written[1].read_text())
    assert {f"figures/{name}.svg" for name in figures} == set(linked)
    assert all(path.exists() for path in written)


def test_a_scope_leaves_only_what_it_names(ledger: Path) -> None:
    page = html(report(ledger, Scope(task="szp", target="wafer")))

    assert "szp on wafer" in page
    assert "sz-open" not in page
    assert "numba" not in page


def test_an_empty_ledger_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="no ledger in"):
        run_command(tmp_path / "nothing", ("", "", ""), tmp_path / "out")
    (tmp_path / "home").mkdir()
    with pytest.raises(StepFailed, match="the ledger is empty: let an agent work"):
        run_command(tmp_path / "home", ("", "", ""), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_scope_without_results_is_told_with_what_there_is(ledger: Path) -> None:
    refresh(ledger)
    with pytest.raises(QueryError, match="no run that may be ranked in task nothing: the ledger"):
        report(ledger, Scope(task="nothing"))
