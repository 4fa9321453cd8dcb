"""Worked submissions for CUDA and ROCm on the emulator: stages against their golden answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels import baselines, fields
from kernels.tasks import TASKS, StageTask
from kernels.verify import compare
from tests.kernels.barriers import BARRIER, mutants
from tests.kernels.emulated import Case, OnDevice, on_device
from toolchains.emulation import missing
from toolchains.tripwires import tripped

FAMILIES = ("cuda", "rocm")
SUBMISSIONS = [
    (family, task, style)
    for family in FAMILIES
    for task in TASKS
    for style in baselines.styles(task, family)
]
QUICK = {
    "cuda32-lorenzo-1d-naive",
    "cuda32-lorenzo-2d-tuned",
    "cuda32-lorenzo-1d-inverse-naive",
    "cuda32-lorenzo-2d-inverse-tuned",
    "cuda32-histogram-tuned",
    "cuda32-quantize-naive",
    "rocm64-compact-tuned",
}
"""About two seconds each; the rest is marked slow."""


def stage_cases() -> Iterator[Case]:
    for family, task, style in SUBMISSIONS:
        if isinstance(TASKS[task], StageTask):
            for warp in (32,) if family == "cuda" else (32, 64):
                yield Case(family, task, style, warp)
            yield Case(family, task, style, warp, descending=True)


EACH_STAGE = [
    pytest.param(case, id=str(case), marks=() if str(case) in QUICK else pytest.mark.slow)
    for case in stage_cases()
]


@pytest.fixture(scope="module")
def kernel(request: pytest.FixtureRequest) -> Iterator[tuple[Case, OnDevice]]:
    """Loaded once for all tests of one submission."""
    if missing():
        pytest.skip(missing())
    with on_device(request.param) as module:
        yield request.param, module


@pytest.mark.parametrize("kernel", EACH_STAGE, indirect=True)
def test_a_stage_equals_its_golden_answer(kernel: tuple[Case, OnDevice]) -> None:
    case, module = kernel
    stage = TASKS[case.task]
    assert isinstance(stage, StageTask)
    field = fields.load("uk_theta").data
    given = {edge.name: edge.inputs for edge in stage.edge_cases()}

    for name, inputs in {**given, "uk_theta": stage.inputs(field, 0.01)}.items():
        expected, outputs = stage.golden(*inputs), module.run(*inputs)

        assert [a.dtype for a in outputs] == [a.dtype for a in expected], name
        assert [a.shape for a in outputs] == [a.shape for a in expected], name
        for ruling in stage.rulings(inputs, expected, outputs):
            assert not ruling.problem, name
            assert compare(ruling.wanted, ruling.got, ruling.abs_bound).holds, name


def test_both_families_have_the_same_tasks_and_styles() -> None:
    of = {family: {one[1:] for one in SUBMISSIONS if one[0] == family} for family in FAMILIES}

    assert of["cuda"] == of["rocm"]
    assert {style for _, style in of["cuda"]} == {"naive", "tuned"}
    for task in (
        "lorenzo-1d",
        "lorenzo-3d-inverse",
        "quantize",
        "bitpack",
        "compact",
        "szp",
        "szx",
    ):
        assert baselines.styles(task, "cuda") == ("naive", "tuned")


@pytest.mark.parametrize(("family", "task", "style"), SUBMISSIONS)
def test_a_submission_is_read_with_its_device_code_and_trips_nothing(
    family: str, task: str, style: str
) -> None:
    submission = baselines.read(task, style, family)
    suffixes = {Path(name).suffix for name in submission.files}

    assert submission.target == family
    assert suffixes == {".py", ".cu" if family == "cuda" else ".hip"}
    assert all(text.count("\n") <= 500 for text in submission.files.values())
    for function in TASKS[task].functions:
        assert f"def {function}(" in submission.files["kernel.py"]
    assert tripped(submission) is None


def test_every_barrier_of_the_references_has_a_mutant_without_it() -> None:
    made = list(mutants("cuda"))
    folder = Path(baselines.__file__).parent / "cuda"
    barriers = sum(path.read_text().count(BARRIER) for path in folder.glob("*/*/*.cu"))

    assert len(made) == barriers >= 20
    for mutant in made:
        text = mutant.submission.files[mutant.file]
        whole = baselines.read(mutant.submission.task, mutant.style, "cuda").files[mutant.file]
        assert text.count(BARRIER) == whole.count(BARRIER) - 1
        assert text.splitlines()[mutant.line - 1].strip() == ""
        assert whole.splitlines()[mutant.line - 1].strip() == BARRIER
