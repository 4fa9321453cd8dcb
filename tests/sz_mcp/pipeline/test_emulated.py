"""GPU submissions through the whole pipeline on the emulator: right or wrong, never fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernels import baselines
from kernels.fields import Catalogue
from kernels.records import Execution, FailureKind, Kernel, Status
from results_db.summary import summarise
from sz_mcp.pipeline import Pipeline, Request, Watch
from toolchains.emulation import missing

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.timeout(600),
]
_FIELD = Request("na_temperature", repeats=3)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    home: Path = tmp_path_factory.mktemp("home")
    pipeline = Pipeline(Catalogue(home), home=home)
    yield pipeline
    pipeline.close()


def _kernel(task: str, style: str, target: str, **changed: str) -> Kernel:
    found = baselines.read(task, style, target.partition(":")[0])
    files = {**found.files, **changed}
    return Kernel(f"k_{task}_{style}_{target}", replace(found, target=target, files=files))


@pytest.mark.parametrize("target", ["cuda:sm_90", "rocm:gfx942", "rocm:gfx1100"])
def test_a_stage_equals_its_golden_answer_on_all_its_cases(pipeline: Pipeline, target: str) -> None:
    verdict = pipeline.verify(
        _kernel("lorenzo-1d", "naive", target), replace(_FIELD, field="suite"), Watch()
    )
    assert verdict.holds, verdict


def test_a_run_on_the_emulator_has_an_error_and_no_speed(pipeline: Pipeline) -> None:
    result = pipeline.run(_kernel("lorenzo-1d", "naive", "cuda:sm_80"), _FIELD, Watch())
    assert result.status is Status.BOUND_OK, result
    assert result.execution is Execution.EMULATED
    assert result.samples == ()
    summary = summarise(result)
    assert (summary.run, summary.score) == (None, None)


def test_two_emulated_kernels_can_not_be_compared_by_speed(pipeline: Pipeline) -> None:
    ours, theirs = (_kernel("lorenzo-1d", s, "cuda:sm_80") for s in ("naive", "tuned"))
    compared = pipeline.compare(ours, replace(theirs, kernel_id="k_other"), _FIELD, Watch())
    assert compared.result.status is Status.INCONCLUSIVE
    assert compared.result.failure is not None
    assert "emulated here, which has no speed" in compared.result.failure.message
    assert compared.contrasts == ()


def test_a_stage_that_is_wrong_is_found_wrong(pipeline: Pipeline) -> None:
    right = baselines.read("lorenzo-1d", "naive", "cuda").files["lorenzo.cu"]
    text = right.replace("- q[i - 1]", "")
    wrong = _kernel("lorenzo-1d", "naive", "cuda:sm_90", **{"lorenzo.cu": text})
    assert right not in wrong.submission.files.values()
    verdict = pipeline.verify(wrong, replace(_FIELD, field="suite"), Watch())
    assert not verdict.holds
    assert verdict.failure is not None
    assert verdict.failure.kind is FailureKind.BOUND


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda:sm_90", "rocm:gfx942"])
def test_a_codec_holds_the_whole_suite_and_is_measured(pipeline: Pipeline, target: str) -> None:
    kernel = _kernel("szp", "tuned", target)
    verdict = pipeline.verify(kernel, replace(_FIELD, field="suite"), Watch())
    assert verdict.holds, verdict.failure
    result = pipeline.run(kernel, _FIELD, Watch())
    assert result.status is Status.BOUND_OK, result
    assert summarise(result).ratio is not None
