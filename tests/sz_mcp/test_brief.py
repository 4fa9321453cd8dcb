"""What a concise structure leaves out, and what it never does."""

from __future__ import annotations

from pydantic import JsonValue

from kernels.records import Execution, Status
from sz_mcp.answers import SHOWN_SAMPLES, concise
from sz_mcp.brief import ROW_TOKENS, fitting, structured
from sz_mcp.replies import CaseReply, QueryReply, RunReply, SampleReply, VerifyReply
from tests.token_count import count


def sample(repetition: int, *, disturbed: bool = False) -> SampleReply:
    return SampleReply(
        direction="run",
        repetition=repetition,
        seconds=0.012345678901,
        batch=1,
        gbps=1.2345678,
        disturbed=disturbed,
    )


def run(*samples: SampleReply) -> RunReply:
    return RunReply(
        status=Status.TIMED,
        kernel_id="k_1",
        execution=Execution.HARDWARE,
        ratio=6.322860452130126,
        max_abs_error=0.013275146484375,
        samples=list(samples),
    )


def test_what_is_measured_loses_digits_and_what_is_exact_does_not() -> None:
    told = structured(run(sample(0)), detailed=False)

    assert (told["samples"][0]["seconds"], told["samples"][0]["gbps"]) == (0.01235, 1.235)
    assert told["max_abs_error"] == 0.013275146484375
    assert told["ratio"] == 6.322860452130126


def test_fields_of_the_contract_are_there_without_a_value() -> None:
    told = structured(run(), detailed=False)

    assert told["psnr"] is None
    assert (told["compress_gbps"], told["guidance"], told["samples"]) == (None, [], [])
    assert "cycles" not in told
    assert "compared" not in told


def test_a_detailed_structure_is_the_whole_reply() -> None:
    reply = run(sample(0))

    assert structured(reply, detailed=True) == reply.model_dump(mode="json")


def test_undisturbed_samples_are_told_before_others() -> None:
    samples = [sample(number, disturbed=number < 10) for number in range(30)]

    told = concise(run(*samples))

    assert isinstance(told, RunReply)
    assert [one.repetition for one in told.samples] == list(range(10, 10 + SHOWN_SAMPLES))
    assert concise(run(*samples[:SHOWN_SAMPLES])) == run(*samples[:SHOWN_SAMPLES])


def test_a_case_is_told_without_its_empty_fields() -> None:
    case = CaseReply(
        case="noise",
        core=True,
        status=Status.ERROR,
        checked=0,
        violations=0,
        max_abs_error=None,
        abs_bound=0.0,
        message="no",
    )
    reply = VerifyReply(status=Status.ERROR, kernel_id="k_1", cases=[case])

    (told,) = structured(reply, detailed=False)["cases"]

    assert told == {
        "case": "noise",
        "core": True,
        "status": "error",
        "checked": 0,
        "violations": 0,
        "abs_bound": 0.0,
        "message": "no",
    }


def test_the_rows_of_a_query_fit_and_one_is_always_told() -> None:
    row: list[JsonValue] = [
        "k_3b1e14456de7457d9c2368a9bb35511e",
        "lorenzo-1d",
        0.0123456789012,
        None,
    ]
    many = QueryReply(columns=["a", "b", "c", "d"], rows=[row] * 50, truncated=False)
    wide = QueryReply(columns=["a"], rows=[["word " * 5000]] * 2, truncated=False)

    short = fitting(many)

    assert (1 < len(short.rows) < 50, short.truncated) == (True, True)
    assert count(short.rows) <= 1.2 * ROW_TOKENS
    assert len(fitting(wide).rows) == 1
    assert fitting(short.model_copy(update={"truncated": False})).truncated is False
