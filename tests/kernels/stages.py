"""What the tests of all stages share: the example of a page, running a kernel, the verdict."""

from __future__ import annotations

import ast
import re
from types import ModuleType

import numpy as np

from kernels import fields
from kernels.bounds import derive
from kernels.records import Arg, Array
from kernels.tasks import TASKS, StageTask
from kernels.verify import compare


def stage(name: str) -> StageTask:
    task = TASKS[name]
    assert isinstance(task, StageTask)
    return task


def example(task: StageTask) -> dict[str, object]:
    """The example of the task's page: name → value, in the order of its table."""
    (part,) = re.findall(r"## Example\n\n(.*?)\n\n", task.page, re.S)
    rows = re.findall(r"^\| `(\w+)` \| `(.*)` \|$", part, re.M)
    return {name: ast.literal_eval(value) for name, value in rows}


def inputs_from(name: str, task: StageTask, relative: float = 1e-3) -> tuple[Arg, ...]:
    """What the task makes of a shipped field."""
    field = fields.load(name)
    bound = derive(field.data, field.info.fill_value, "rel", relative).absolute
    return task.inputs(field.data, bound)


def outputs_of(kernel: ModuleType, inputs: tuple[Arg, ...]) -> tuple[Array, ...]:
    """What a kernel makes of private copies of the inputs."""
    private = (value.copy() if isinstance(value, np.ndarray) else value for value in inputs)
    result = kernel.run(*private)
    return tuple(np.asarray(a) for a in (result if isinstance(result, tuple) else (result,)))


def complaints(task: StageTask, inputs: tuple[Arg, ...], outputs: tuple[Array, ...]) -> list[str]:
    """Everything that is wrong with the outputs; nothing if the stage is right."""
    golden = task.golden(*inputs)
    wanted = [(a.dtype, a.shape) for a in golden]
    got = [(a.dtype, a.shape) for a in outputs]
    if wanted != got:
        return [f"{got} is not {wanted}"]
    found = []
    for ruling in task.rulings(inputs, golden, outputs):
        comparison = compare(ruling.wanted, ruling.got, ruling.abs_bound)
        found += [f"first wrong: {comparison.first}"] * (not comparison.holds)
        found += [ruling.problem] * bool(ruling.problem)
    return found
