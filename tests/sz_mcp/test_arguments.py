"""Arguments from JSON: what is accepted, and the words for what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sz_mcp.arguments import (
    Arguments,
    CompileArguments,
    Known,
    ResultArguments,
    RunArguments,
    VerifyArguments,
    WishArguments,
    parse,
)
from sz_mcp.errors import ArgumentProblems
from sz_mcp.settings import Limits

KERNEL = f"k_{'a' * 32}"
KNOWN = Known(
    tasks=("szp", "sz-open"),
    targets=("numba",),
    fields=("uk_theta", "na_temperature"),
    field_problem=lambda name: None if name in ("uk_theta", "na_temperature") else "no such",
    has_kernel=lambda kernel_id: kernel_id == KERNEL,
    has_run=lambda run_id: run_id == "r_1",
    roots=(),
    limits=Limits(),
    cores=2,
)
FILES = {"kernel.py": "x"}


def problems(model: type[Arguments], **raw: Any) -> tuple[str, ...]:
    with pytest.raises(ArgumentProblems) as refused:
        parse(model, raw, KNOWN)
    return refused.value.problems


def test_defaults_are_the_documented_ones() -> None:
    run = parse(RunArguments, {"kernel_id": KERNEL, "field": "uk_theta"}, KNOWN)
    verify = parse(VerifyArguments, {"kernel_id": KERNEL}, KNOWN)

    assert (run.mode, run.bound, run.repeats, run.threads) == ("rel", 1e-3, 7, 1)
    assert verify.field == "suite"


def test_numbers_that_clients_send_as_text_and_modes_in_capitals_are_understood() -> None:
    raw = {"kernel_id": KERNEL, "field": "uk_theta", "bound": "1e-4", "mode": "REL"}

    run = parse(RunArguments, raw, KNOWN)

    assert (run.bound, run.mode) == (1e-4, "rel")


@pytest.mark.parametrize("bound", [0, -1, "nan", "inf", float("nan"), float("inf"), 1e300])
def test_bounds_that_are_none_are_refused(bound: object) -> None:
    found = problems(VerifyArguments, kernel_id=KERNEL, bound=bound)

    assert found == ("bound: must be a finite number above 0 (for example 1e-3)",)


@pytest.mark.parametrize("name", ["bound", "repeats", "threads"])
def test_true_is_no_number(name: str) -> None:
    found = problems(RunArguments, kernel_id=KERNEL, field="uk_theta", **{name: True})

    assert found == (f"{name}: must be a number, not true or false",)


@pytest.mark.parametrize(("name", "value"), [("repeats", 51), ("repeats", 2.5), ("threads", 0)])
def test_counts_out_of_range_are_refused_with_the_value(name: str, value: float) -> None:
    (found,) = problems(RunArguments, kernel_id=KERNEL, field="uk_theta", **{name: value})

    assert found.startswith(f"{name}: must be ")
    assert str(value) in found


def test_a_kernel_gets_no_more_threads_than_there_are_cores() -> None:
    found = problems(RunArguments, kernel_id=KERNEL, field="uk_theta", threads=3)

    assert found == ("threads: must be at most 2, the cores of this machine",)


def test_the_suite_is_a_field_for_verify_only() -> None:
    (found,) = problems(RunArguments, kernel_id=KERNEL, field="suite")

    assert found == (
        "field: suite is for verify_bounds; here choose one of uk_theta, na_temperature"
    )


def test_near_misses_are_pointed_out() -> None:
    found = problems(CompileArguments, task="sz_open", target="Numba", files=FILES)

    assert found == (
        "task: unknown task 'sz_open': choose one of szp, sz-open (did you mean sz-open?)",
        "target: unknown target 'Numba': choose one of numba (did you mean numba?)",
    )


def test_a_mode_lists_the_modes() -> None:
    (found,) = problems(VerifyArguments, kernel_id=KERNEL, mode="snr")

    assert found == ("mode: must be 'abs', 'rel', 'pw_rel', 'psnr', 'l2norm' or 'ratio', got 'snr'")


@pytest.mark.parametrize("mode", ["abs", "rel", "pw_rel"])
def test_an_error_has_a_default(mode: str) -> None:
    assert parse(VerifyArguments, {"kernel_id": KERNEL, "mode": mode}, KNOWN).bound == 1e-3


@pytest.mark.parametrize(
    ("mode", "what"), [("PSNR", "in dB, for example 60"), ("l2norm", "unit"), ("ratio", "10")]
)
def test_a_target_has_none(mode: str, what: str) -> None:
    (found,) = problems(VerifyArguments, kernel_id=KERNEL, mode=mode)

    assert found.startswith(f"bound: required with mode {mode.lower()}: the ")
    assert what in found


def test_a_target_that_is_given_is_taken_even_if_it_is_the_default_of_errors() -> None:
    raw = {"kernel_id": KERNEL, "mode": "l2norm", "bound": 1e-3}

    assert parse(VerifyArguments, raw, KNOWN).bound == 1e-3


def test_an_evaluation_from_the_command_line_has_the_same_default() -> None:
    raw = {"task": "szp", "target": "numba", "field": "uk_theta"}

    assert parse(WishArguments, raw, KNOWN).bound == 1e-3
    assert problems(WishArguments, **raw, mode="ratio")[0].startswith("bound: required")


def test_source_is_sent_in_exactly_one_way() -> None:
    neither = problems(CompileArguments, task="szp", target="numba")
    both = problems(CompileArguments, task="szp", target="numba", files=FILES, path="x")

    assert neither == ("send the source: either `files` {name: text} or `path`, a folder",)
    assert both == ("send either `files` or `path`, not both",)


def test_files_that_come_as_json_text_are_understood() -> None:
    raw = {"task": "szp", "target": "numba", "files": json.dumps(FILES)}

    assert parse(CompileArguments, raw, KNOWN).files == FILES


def test_files_are_text() -> None:
    found = problems(CompileArguments, task="szp", target="numba", files={"kernel.py": 3})

    assert found == ("files.kernel.py: must be a valid string, got 3",)


@pytest.mark.parametrize("kernel_id", ["k_1", "../../etc", "", KERNEL.upper()])
def test_a_kernel_id_that_is_none_is_refused_before_any_look_up(kernel_id: str) -> None:
    asked: list[str] = []
    known = Known(
        **{**vars(KNOWN), "has_kernel": lambda one: asked.append(one) or True}  # type: ignore[func-returns-value]
    )

    with pytest.raises(ArgumentProblems, match="no kernel"):
        parse(VerifyArguments, {"kernel_id": kernel_id}, known)

    assert asked == []


def test_a_parent_must_exist() -> None:
    (found,) = problems(
        CompileArguments, task="szp", target="numba", files=FILES, parent=f"k_{'b' * 32}"
    )

    assert found.startswith("parent: no kernel")


def test_a_long_wait_is_refused() -> None:
    (found,) = problems(ResultArguments, run_id="r_1", wait_s=46)

    assert found == "wait_s: must be less than or equal to 45, got 46"
