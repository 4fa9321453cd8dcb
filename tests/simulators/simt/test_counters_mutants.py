"""The references for GPUs: no race in them as they are, one in each that lacks a barrier."""

import pytest

from kernels import baselines
from kernels.tasks import TASKS
from tests.kernels.barriers import Mutant, mutants
from tests.simulators.simt.launching import needs_clang
from tests.toolchains.counted import calls_of, counted

pytestmark = needs_clang
WILD = {("compact", "compact.cu", 70)}
"""Without this barrier the kernel reads far outside its arrays, and its process ends."""
QUICK = {("histogram", 51), ("quantize", 42)}
MUTANTS = [
    pytest.param(
        one,
        id=f"{one.submission.task}-{one.style}-{one.file}-{one.line}",
        marks=() if (one.submission.task, one.line) in QUICK else pytest.mark.slow,
    )
    for one in mutants("cuda")
    if (one.submission.task, one.file, one.line) not in WILD
]
WHOLE = [
    pytest.param(task, style, id=f"{task}-{style}", marks=pytest.mark.slow)
    for task in TASKS
    for style in baselines.styles(task, "cuda")
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_deleted_barrier_is_told_as_a_race(mutant: Mutant) -> None:
    told = counted(mutant.submission, calls_of(mutant.submission.task))
    races = [race for kernel in told for race in kernel["races"]]
    # Where clang merges instructions it leaves some without a line.
    assert any(race[0] == race[3] == mutant.file for race in races), races


@pytest.mark.parametrize(("task", "style"), WHOLE)
def test_a_reference_has_no_race(task: str, style: str) -> None:
    told = counted(baselines.read(task, style, "cuda"), calls_of(task))
    assert told
    assert [race for kernel in told for race in kernel["races"]] == []
