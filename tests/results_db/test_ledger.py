from __future__ import annotations

import hashlib
import json
import math
import uuid
from pathlib import Path

from kernels.records import Build, Guidance, Metric, Status
from results_db.blobs import BlobStore
from results_db.ledger import Ledger
from results_db.rows import HostRow, SessionRow
from tests.results_db.records import (
    broken_verdict,
    call,
    comparison,
    drained,
    failed_build,
    kernel,
    profile,
    record_run,
    record_verdict,
    run_result,
    samples,
    started,
)

ADVICE = (Guidance("rule-1", "it means this", "do that"),)


def test_a_call_is_recorded_as_it_was(home: Path) -> None:
    row = call(
        "c1",
        tool="run_compress",
        arguments={"field": "cesm", "bound": 1e-3},
        agent="alice",
        session="s1",
        client="probe 1.0",
        protocol="2026-07-28",
        attempt=3,
        status="timed",
        request_bytes=100,
        reply_bytes=200,
        kernel_id="k1",
        run_id="r1",
    )

    Ledger(home, writer="stdio").call(row)

    found = drained(
        home,
        "SELECT call_id, tool, started_at::VARCHAR, duration_ms, outcome, arguments, agent,"
        " session, client, protocol, attempt, status, error, request_bytes, reply_bytes,"
        " kernel_id, run_id, writer FROM calls",
    )
    assert found == [
        (
            "c1",
            "run_compress",
            "2026-01-02 03:04:05.678901",
            1.5,
            "ok",
            '{"field":"cesm","bound":0.001}',
            "alice",
            "s1",
            "probe 1.0",
            "2026-07-28",
            3,
            "timed",
            None,
            100,
            200,
            "k1",
            "r1",
            "stdio",
        )
    ]


def test_source_text_in_a_call_becomes_hash_and_size(home: Path) -> None:
    text = "def compress(é): ..."
    arguments = {"task": "szp", "files": {"kernel.py": text, "odd": 5}}

    Ledger(home, writer="stdio").call(call("c1", arguments=arguments))

    ((found,),) = drained(home, "SELECT arguments FROM calls")
    assert json.loads(found) == {
        "task": "szp",
        "files": {
            "kernel.py": {
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
                "bytes": len(text.encode()),
            },
            "odd": {"sha256": hashlib.sha256(b"5").hexdigest(), "bytes": 1},
        },
    }


def test_arguments_of_any_shape_are_recorded(home: Path) -> None:
    ledger = Ledger(home, writer="stdio")

    ledger.call(call("c1", arguments={"files": ["not", "a", "mapping"], "bound": math.nan}))
    ledger.call(call("c2", arguments={"files": None, "status": Status.TIMED}))

    assert drained(home, "SELECT arguments FROM calls ORDER BY call_id") == [
        ('{"files":["not","a","mapping"],"bound":"NaN"}',),
        ('{"files":null,"status":"timed"}',),
    ]


def test_rows_carry_the_host_once_it_is_known(home: Path) -> None:
    ledger = Ledger(home, writer="stdio")

    ledger.host(HostRow("cpu-1", cores=2, versions={"numpy": "2.2"}, sandbox={"bwrap": "works"}))
    ledger.session(SessionRow("s1", "alice", model="m", budget_attempts=10))

    assert drained(
        home,
        "SELECT fingerprint, host, cores, versions->>'numpy', sandbox->>'bwrap' FROM hosts",
    ) == [("cpu-1", "cpu-1", 2, "2.2", "works")]
    assert drained(home, "SELECT session, host, model, budget_attempts FROM sessions") == [
        ("s1", "cpu-1", "m", 10)
    ]


def test_a_kernel_row_names_a_stored_source(home: Path) -> None:
    made = kernel("k1")

    Ledger(home, writer="stdio").kernel(made, "c1")

    ((blob, content_hash, names, size),) = drained(
        home, "SELECT blob, content_hash, file_names, source_bytes FROM kernels"
    )
    store = BlobStore(home)
    assert store.get_source(blob) == made.submission.files
    assert store.get_kernel("k1") == made
    assert (content_hash, names, size) == (made.submission.content_hash, ["kernel.py"], 12)


def test_what_was_begun_names_its_attempt_though_its_call_never_ended(home: Path) -> None:
    """The row of a call is written at its end, which a killed server does not reach."""
    ledger = Ledger(home, writer="stdio")

    ledger.kernel(kernel("k1"), "c1", 3)
    ledger.run_started(started("r1", "k1", attempt=4))

    assert drained(home, "SELECT attempt FROM kernels") == [(3,)]
    assert drained(home, "SELECT attempt FROM runs") == [(4,)]
    assert drained(home, "SELECT * FROM calls") == []


def test_a_failed_build_is_recorded_with_each_message_once(home: Path) -> None:
    Ledger(home, writer="stdio").build("c1", "k1", failed_build(), ADVICE)

    assert drained(
        home,
        "SELECT kernel_id, status, stage, failure_kind, failure_message, output,"
        " guidance->>'$[0].suggestion' FROM builds",
    ) == [("k1", "error", "parsed", "syntax", "does not parse", "boom", "do that")]
    assert drained(
        home,
        "SELECT call_id, position, severity, message, file, line_number, column_number, source_line"
        " FROM diagnostics",
    ) == [("c1", 0, "error", "invalid syntax", "kernel.py", 3, 7, "def f(:")]


def test_metrics_of_a_build_are_recorded(home: Path) -> None:
    metrics = (Metric("registers", 32.0, "1", "reported"),)

    Ledger(home, writer="stdio").build(
        "c1", "k1", Build(Status.COMPILED, Status.LOADS, 0.5, metrics=metrics)
    )

    assert drained(
        home, "SELECT kernel_id, call_id, run_id, origin, name, value, provenance FROM metrics"
    ) == [("k1", "c1", None, "build", "registers", 32.0, "reported")]


def test_a_run_is_recorded_with_its_figures_and_samples(home: Path) -> None:
    ledger = Ledger(home, writer="stdio")

    record_run(ledger, "r1", "k1", run_result(2.0))

    assert drained(
        home,
        "SELECT status, field, mode, bound, abs_bound, execution, threads, ratio, bit_rate,"
        " within_size_rule, violations, worst_over_bound, zero_signs_changed, repetitions,"
        " disturbed_samples, compress_gbps, run_gbps, copy_peak_gbps FROM runs",
    ) == [
        (
            *("timed", "cesm", "rel", 1e-3, 0.5, "hardware", 1, 4.0, 8.0),
            *(True, 0, 0.5, 2, 3, 0, 2.0, None, 10.0),
        )
    ]
    assert drained(
        home,
        "SELECT direction, count(*), min(gbps), max(batch), sum(nbytes)::BIGINT FROM samples"
        " GROUP BY ALL ORDER BY 1",
    ) == [("compress", 3, 2.0, 2, 6_000_000), ("decompress", 3, 2.0, 2, 6_000_000)]


def test_a_field_that_breaks_its_bound_is_a_violation(home: Path) -> None:
    broken = comparison(violations=3, max_abs_error=math.inf)

    record_run(Ledger(home, writer="stdio"), "r1", "k1", run_result(comparison=broken, samples=()))

    assert drained(
        home,
        "SELECT run_id, case_name, core, violations, max_abs_error, element_index, decoded"
        " FROM violations",
    ) == [("r1", "cesm", True, 3, math.inf, [0, 3], "1.25")]


def test_a_verdict_is_recorded_with_its_cases_and_counterexample(home: Path) -> None:
    record_verdict(Ledger(home, writer="stdio"), "r1", "k1", broken_verdict())

    assert drained(
        home,
        "SELECT holds, status, worst_flat, worst_original, worst_error, max_abs_error,"
        " [c.case_name FOR c IN cases] FROM verdicts",
    ) == [(False, "error", 7, "nan", "inf", math.inf, ["noise", "non-finite"])]
    assert drained(
        home,
        "SELECT case_name, failure_kind, original, decoded, shape, dtype, window_start,"
        " window_original FROM violations",
    ) == [("non-finite", "bound", "nan", "-0.0", [33], "float32", 7, ["nan"])]
    assert drained(home, "SELECT status, failure_kind, field FROM runs") == [
        ("error", "bound", "suite")
    ]


def test_a_profile_is_recorded_with_its_metrics(home: Path) -> None:
    ledger = Ledger(home, writer="stdio")

    ledger.run_started(started("r1", "k1", tool="profile"))
    ledger.run_finished("r1", "k1", "profile", profile(), ADVICE)

    assert drained(home, "SELECT run_id, field, mode, bound, bottleneck FROM profiles") == [
        ("r1", "cesm", "rel", 1e-3, "memory")
    ]
    assert drained(home, "SELECT run_id, origin, name, value FROM metrics") == [
        ("r1", "profile", "copy_fraction", 0.5)
    ]
    assert drained(home, "SELECT tool, guidance->>'$[0].rule' FROM runs") == [("profile", "rule-1")]


def test_rows_of_one_event_have_ids_of_their_own(home: Path) -> None:
    record_run(Ledger(home, writer="stdio"), "r1", "k1", run_result())

    ids = drained(home, "SELECT id FROM runs_finished UNION ALL SELECT id FROM metrics")
    assert len({uuid.UUID(str(found)) for (found,) in ids}) == 2


def test_an_event_is_one_line_however_many_rows_it_has(home: Path) -> None:
    ledger = Ledger(home, writer="stdio")

    ledger.run_finished("r1", "k1", "run_compress", run_result(samples=samples(("run",), 1.0)))

    (segment,) = (home / "journal").glob("*.jsonl")
    (line,) = segment.read_bytes().splitlines()
    assert [row["table"] for row in json.loads(line)["rows"]] == ["runs_finished", "metrics"]
