"""Every rule, set off by what it is about: a kernel in a child, or a message as it was recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from kernels.records import (
    Array,
    Comparison,
    Failure,
    FailureKind,
    Field,
    FieldInfo,
    Status,
)
from kernels.tasks import TASKS
from kernels.tasks.base import StageTask, Task
from sz_mcp.pipeline import Request, Watch
from sz_mcp.pipeline.checks import Case, codec_cases, judge, stage_cases
from sz_mcp.pipeline.golden import GoldenStreams
from sz_mcp.pipeline.rounds import fresh_violation
from tests.toolchains.conftest import HONEST, Open
from toolchains.children.session import ChildSession
from toolchains.feedback import bound_rules, guidance_for, numba_rules

BROKEN_NUMBA = """\
import numba
import numpy as np
TABLE = {"a": []}

@numba.njit
def work(x):
    BODY

def compress(data, abs_bound):
    return work(data)
"""
COMPRESS = "def compress(data, abs_bound):\n    "


@dataclass(frozen=True)
class Kit:
    """Makes failures."""

    open_kernel: Open

    def call(self, source: str, deadline_s: float = 20.0) -> Failure:
        """What one call of `compress` fails with; or loading."""
        session = self.open_kernel(source, "compress")
        if isinstance(session, Failure):
            return session
        data = np.linspace(0, 1, 60, dtype=np.float32).reshape(3, 4, 5)
        reply = session.call("compress", ((data, 0.1),), capacity=(500,), deadline_s=deadline_s)
        assert isinstance(reply, Failure)
        return reply

    def verify(self, source: str, data: Array | None = None, task: str = "sz-open") -> Failure:
        """What verify_bounds on one array fails with."""
        array = np.linspace(0, 8, 60, dtype=np.float32).reshape(3, 20) if data is None else data
        info = FieldInfo("line", array.shape, array.dtype.name, "", "", "0" * 64)
        request, chosen = Request("line", "abs", 0.125), TASKS[task]
        session = self.open_kernel(source, *chosen.functions)
        assert isinstance(session, ChildSession), session
        cases = _cases(chosen, request, Field(info, array))
        failure = judge(session, cases, request, Watch()).failure
        assert failure is not None
        return failure


def _cases(task: Task, request: Request, field: Field) -> list[Case]:
    if isinstance(task, StageTask):
        return stage_cases(task, request, field)
    return codec_cases(task, request, field, GoldenStreams())


Trigger = Callable[[Kit], Failure]


def jitted(body: str) -> Trigger:
    return lambda kit: kit.call(BROKEN_NUMBA.replace("BODY", body))


def raising(statement: str) -> Trigger:
    return lambda kit: kit.call(f"import numpy as np\n{COMPRESS}{statement}\n")


def decoding(expression: str) -> Trigger:
    return lambda kit: kit.verify(HONEST.replace("stream.view(dtype).reshape(shape)", expression))


def packing(expression: str, data: Array | None = None) -> Trigger:
    return lambda kit: kit.verify(
        HONEST.replace("data.tobytes()", f"({expression}).tobytes()"), data
    )


def recorded(
    kind: FailureKind, message: str, status: Status = Status.ERROR, stage: Status = Status.TIMED
) -> Trigger:
    """Of what takes seconds, or luck, to bring about."""
    return lambda _: Failure(status, stage, kind, message)


def fresh(kit: Kit) -> Failure:
    return fresh_violation(Comparison(1000, 7, 0.5, 0.1, None, None, 0, 1.0, 9.0))


def other_stage(kit: Kit) -> Failure:
    return kit.verify("def run(q):\n    return q + 1\n", task="lorenzo-1d")


HOLES = np.where(np.arange(60) % 7, np.float32(1), np.float32(np.nan))
SPREAD = np.geomspace(1, 1e12, 60, dtype=np.float32)

TRIGGERS: dict[str, Trigger] = {
    # Bounds and formats.
    "bound:fresh-content": fresh,
    "bound:stage-differs": other_stage,
    "bound:non-finite-lost": packing("np.nan_to_num(data)", HOLES),
    "bound:non-finite-made": packing("data / np.float32(0)"),
    "bound:overflow": packing("(data * 8).astype(np.int32).astype(np.float32) / 8", SPREAD),
    "bound:beyond-rounding": packing("data + np.float32(0.2)"),
    "bound:rounding": packing("data + np.float32(0.1251)"),
    "bound:golden-refuses": lambda kit: kit.verify(HONEST, task="szp"),
    "bound:golden-misread": recorded(
        FailureKind.FORMAT,
        "line: decompress of float32 of shape (3, 20), abs_bound 0.125: decompress misreads the "
        "golden szp stream: index (0, 1) is 0.5, not 0.25",
        stage=Status.BOUND_OK,
    ),
    # Compiling.
    "numba:syntax": lambda kit: kit.call("def compress(\n"),
    "numba:numba-untyped-name": jitted('return TABLE["a"]'),
    "numba:numba-unify": jitted("return 1 if x.size else None, x[0] if x.size else x"),
    "numba:numba-no-match": jitted('return x + "a"'),
    "numba:numba-typing": jitted("d = dict(); return d"),
    # What was returned.
    "numba:missing-function": lambda kit: kit.call("x = 1\n"),
    "numba:stream-type": raising("return data"),
    "numba:result-too-large": raising("return np.zeros(5000, np.uint8)"),
    "numba:decoded-form": decoding("stream.view(dtype)"),
    "numba:result-form": decoding("(stream, stream)"),
    # What was raised.
    "numba:missing-module": lambda kit: kit.call("import torch\n"),
    "numba:no-files": raising('open("/etc/shadow")'),
    "numba:exit": raising("import sys; sys.exit(3)"),
    "numba:index": raising("return data[99]"),
    "numba:overflow": raising("return int(np.float32(np.inf))"),
    "numba:raised": raising("return {}[1]"),
    "numba:memory": raising("return np.zeros(1 << 60, np.uint8)"),
    "numba:timeout": lambda kit: kit.call(f"{COMPRESS}while True: pass\n", deadline_s=0.5),
    "numba:too-slow": recorded(
        FailureKind.TIMEOUT,
        "only 2 of 7 repetitions fitted into 120 s: make the kernel faster, or choose a smaller "
        "field",
        Status.INCONCLUSIVE,
    ),
    "numba:busy": recorded(
        FailureKind.BUSY,
        "the machine was busy with other work in 20 of 28 repetitions; try again later",
        Status.INCONCLUSIVE,
    ),
    "numba:crash": raising("import os; os._exit(1)"),
    "numba:refused": raising("raise NotImplementedError('float64')"),
    "numba:integrity": recorded(
        FailureKind.INTEGRITY,
        "the kernel's processes worked outside the timed requests, or started others",
        Status.SUSPECT,
    ),
}


@pytest.fixture
def kit(open_kernel: Open) -> Kit:
    return Kit(open_kernel)


def test_every_rule_has_its_trigger() -> None:
    rules = [f"bound:{rule.name}" for rule in bound_rules.RULES]
    rules += [f"numba:{rule.name}" for rule in numba_rules.RULES]

    assert sorted(TRIGGERS) == sorted(rules)


@pytest.mark.parametrize("rule", TRIGGERS)
def test_a_rule_speaks_of_what_it_is_about(kit: Kit, rule: str) -> None:
    failure = TRIGGERS[rule](kit)

    (guidance,) = guidance_for(failure, "numba")
    family, _, name = rule.partition(":")
    table = bound_rules.RULES if family == "bound" else numba_rules.RULES
    assert guidance in [one.guidance() for one in table if one.name == name], failure.message
