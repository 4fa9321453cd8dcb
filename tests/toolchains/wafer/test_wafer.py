"""Submissions for the wafer: built, run in two processes, judged by what they copied."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Failure, FailureKind, Status
from toolchains.base import Cancellation, Reply
from toolchains.wafer import WaferToolchain

from .submissions import edited, loaded, lorenzo

VALUES = np.random.default_rng(3).integers(-1000, 1000, 5000).astype(np.int32)


def run(wafer: WaferToolchain, submission: object) -> Reply | Failure:
    with loaded(wafer, submission) as session:  # type: ignore[arg-type]
        return session.call("run", [(VALUES,)], capacity=[1 << 20], deadline_s=20.0)


@pytest.mark.parametrize("target", ["wafer:wse2", "wafer:wse3"])
def test_a_submission_compiles_runs_and_is_counted_in_cycles(
    wafer: WaferToolchain, target: str
) -> None:
    build = wafer.build(lorenzo(target), Cancellation())
    with loaded(wafer, lorenzo(target)) as session:
        reply = session.call("run", [(VALUES,)], capacity=[1 << 20], deadline_s=20.0)
        use = session.device_use("run")
        assert isinstance(reply, Reply)
        result = reply.outputs[0][0].copy()

    assert (build.status, build.failure, build.first_call) == (Status.COMPILED, None, None)
    assert np.array_equal(result, np.diff(VALUES, prepend=np.int32(0)))
    assert use is not None
    # Five pieces of 1024 values, one per PE, a few cycles per value.
    assert (use.columns, use.rows) == (5, 1)
    assert 5 * 1024 < use.cycles < 40 * 1024
    assert (use.words_in, use.words_out) == (5 * 1025, 5 * 1024)


def test_cycles_do_not_depend_on_the_machine_that_simulates(wafer: WaferToolchain) -> None:
    counts = []
    for _ in range(2):
        with loaded(wafer, lorenzo()) as session:
            session.call("run", [(VALUES,)], capacity=[1 << 20], deadline_s=20.0)
            use = session.device_use("run")
            assert use is not None
            counts.append(use.cycles)

    assert counts[0] == counts[1]


def test_an_error_of_the_program_stops_the_build_at_its_line(wafer: WaferToolchain) -> None:
    build = wafer.build(
        edited("pe.csl", "values[i + 1] -", "values[i + 1] - 1.5 *"), Cancellation()
    )

    assert build.failure is not None
    assert (build.failure.stage, build.failure.kind) == (Status.COMPILED, FailureKind.COMPILE)
    first = next(d for d in build.diagnostics if d.severity == "error")
    assert (first.file, first.line) == ("pe.csl", 14)
    assert first.source is not None
    assert "values[i + 1]" in first.source


@pytest.mark.parametrize(
    ("old", "new", "stage", "text"),
    [
        ("values[i + 1] -", "values[i + 1 -", Status.PARSED, "does not parse: pe.csl:14:"),
        ("@export_symbol(run)", "@export_symbol(ran)", Status.COMPILED, "does not compile"),
        ("@zeros([piece + 1]i32)", "@zeros([20000]i32)", Status.LOADS, "can not be placed"),
    ],
)
def test_a_build_stops_at_the_rung_that_its_first_error_belongs_to(
    wafer: WaferToolchain, old: str, new: str, stage: Status, text: str
) -> None:
    build = wafer.build(edited("pe.csl", old, new), Cancellation())

    assert build.failure is not None
    assert build.failure.stage is stage
    assert text in build.failure.message


def test_an_invented_builtin_is_answered_with_the_real_one(wafer: WaferToolchain) -> None:
    build = wafer.build(
        edited("pe.csl", "@export_symbol(run)", "@export_function(run)"), Cancellation()
    )

    assert build.failure is not None
    assert any("@export_symbol" in one.suggestion for one in build.guidance)


def test_a_program_that_never_unblocks_the_command_stream_is_told_so(
    wafer: WaferToolchain,
) -> None:
    failed = run(wafer, edited("pe.csl", "  sys.unblock_cmd_stream();\n", ""))

    assert isinstance(failed, Failure)
    assert failed.kind is FailureKind.EXCEPTION
    assert "unblock" in failed.message + failed.details + failed.output


def test_an_index_outside_an_array_is_told_with_its_line(wafer: WaferToolchain) -> None:
    failed = run(wafer, edited("pe.csl", "differences[i] =", "differences[i + 1] ="))

    assert isinstance(failed, Failure)
    told = failed.message + failed.details
    assert "index 1024 is outside an array of 1024 elements" in told
    assert "pe.csl:14" in told


def test_a_host_part_that_computes_is_rejected(wafer: WaferToolchain) -> None:
    failed = run(
        wafer,
        edited(
            "kernel.py",
            "    return np.concatenate(out)[: flat.size].reshape(q.shape)",
            "    return np.diff(q, prepend=np.int32(0)) ^ np.int32(0)",
        ),
    )
    computed = run(
        wafer,
        edited("kernel.py", "back.view(np.int32)[: len(rows) * PIECE]", "rows[:, 1:].ravel() * 7"),
    )

    # The first returns what the device has computed too, word by word: no one is harmed.
    assert isinstance(failed, Reply), failed
    assert isinstance(computed, Failure)
    assert (computed.status, computed.kind) == (Status.REJECTED, FailureKind.INTEGRITY)


def test_float64_is_refused_by_name(wafer: WaferToolchain) -> None:
    with loaded(wafer, lorenzo()) as session:
        failed = session.call(
            "run", [(VALUES.astype(np.float64),)], capacity=[1 << 20], deadline_s=20.0
        )

    assert isinstance(failed, Failure)
    assert failed.status is Status.REFUSED
    assert "no float64" in failed.message


def test_a_program_for_the_other_machine_is_not_run(wafer: WaferToolchain) -> None:
    failed = run(
        wafer, edited("kernel.py", "--fabric-offsets=4,1", "--arch=wse2 --fabric-offsets=4,1")
    )

    assert isinstance(failed, Failure)
    assert "the program is for wse2, the target is wafer:wse3" in failed.message


def test_what_the_sdk_has_and_we_have_not_fails_by_name(wafer: WaferToolchain) -> None:
    build = wafer.build(
        edited("kernel.py", "import SdkCompiler", "import SdkCompiler, SdkLauncher"), Cancellation()
    )

    assert build.first_call is not None
    assert "SdkLauncher" in build.first_call.message
