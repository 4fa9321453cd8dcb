"""The references for GPUs with one barrier left out each: what a race detector has to find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from kernels import baselines
from kernels.records import Submission
from kernels.tasks import TASKS

BARRIER = "__syncthreads();"


@dataclass(frozen=True)
class Mutant:
    """A submission that has a race."""

    submission: Submission
    style: str
    file: str
    line: int
    """Where the barrier was; lines keep their numbers."""


def mutants(family: str) -> Iterator[Mutant]:
    """One for every barrier in the device code of a family's worked submissions."""
    for task in TASKS:
        for style in baselines.styles(task, family):
            yield from _mutants_of(baselines.read(task, style, family), style)


def _mutants_of(submission: Submission, style: str) -> Iterator[Mutant]:
    for file, text in submission.files.items():
        if PurePath(file).suffix == ".py":
            continue
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if line.strip() == BARRIER:
                without = [*lines[:index], "\n", *lines[index + 1 :]]
                files = {**submission.files, file: "".join(without)}
                yield Mutant(replace(submission, files=files), style, file, index + 1)
