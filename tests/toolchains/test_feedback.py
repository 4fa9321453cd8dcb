"""What guidance is made of: every rule has its trigger, a right kernel gets none, levels differ.

Rules about compiling and about results have their triggers in files of their own. Here are those
that end a child, and what is recorded because it takes minutes, or luck, to bring about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from kernels.records import (
    Comparison,
    Failure,
    FailureKind,
    Status,
    Verdict,
)
from sz_mcp.answers import View, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.pipeline.rounds import fresh_violation
from sz_mcp.settings import FeedbackLevel
from tests.toolchains import (
    test_feedback_compile,
    test_feedback_results,
    test_feedback_suite,
    test_tripwires,
)
from tests.toolchains.conftest import HONEST, Open
from tests.toolchains.crowd import CUBE
from tests.toolchains.wrong_stages import WRONG
from tests.wrong_kernels.faults import FAULTS
from toolchains.feedback import RESULTS, TABLES, bound_rules, guidance_for
from toolchains.feedback.rules import Rule

COMPRESS = "def compress(data, abs_bound):\n    "
JIT = "from numba import njit\nimport numpy as np\n\n@njit\ndef work(x):\n"
CALLED = "\ndef compress(data, abs_bound):\n    return work(data)\n"

DYING: dict[str, str] = {
    "syntax": "def compress(\n",
    "missing-function": "class Codec:\n    def compress(self, data, abs_bound): pass\n",
    "heap": f"{COMPRESS}import os; os.abort()\n",
    "segfault": f"{JIT}    out = np.zeros(8, np.uint8)\n    for i in range(1 << 34): out[i] = 7\n"
    f"    return out\n{CALLED}",
    "killed": f"{COMPRESS}import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n",
    "crash": f"{COMPRESS}import os; os._exit(1)\n",
    "waits": f"{COMPRESS}import threading; lock = threading.Lock(); lock.acquire()\n"
    "    lock.acquire()\n",
    "python-loop": f"{COMPRESS}i = 0\n    while i < 10:\n        i = i + 0\n",
    "timeout": f"{JIT}    i = 0\n    while i < x.size: i = (i + 1) % 3\n    return x\n{CALLED}",
}
RECORDED: dict[str, Failure] = {
    "fresh-content": fresh_violation(Comparison(1000, 7, 0.5, 0.1, None, None, 0, 1.0, 9.0)),
    "stage-fresh": Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        "the output differs from the golden answer first at index [3]: 4, not 5",
    ),
    "state-lost": Failure(
        Status.ERROR,
        Status.TERMINATES,
        FailureKind.EXCEPTION,
        "line: decompress of float32 of shape (3, 20), abs_bound 0.125: KeyError: 'step'",
    ),
    "reads-beyond-a-damaged-stream": Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.CRASH,
        "damaged:size_33: decompress of float32 of shape (33,), abs_bound 0.25: its own stream of "
        "136 bytes, damaged (decoded to shape (34,)): the kernel's process ended: its process was "
        "ended by SIGSEGV. Any damage may be met: a decoder must validate lengths before reading",
    ),
    "hangs-on-a-damaged-stream": Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.TIMEOUT,
        "damaged:size_33: decompress of float32 of shape (33,), abs_bound 0.25: its own stream of "
        "136 bytes, damaged (bytes 0 to 3 set to 0x00): it did not finish before its deadline and "
        "was killed. Any damage may be met: a decoder must validate lengths before reading",
    ),
    "reads-beyond-its-stream": Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.CRASH,
        "damaged:walk: decompress of float32 of shape (9000,), abs_bound 0.25: where no memory "
        "follows its own stream of 136 bytes: the kernel's process ended: SIGSEGV",
    ),
    "too-slow": Failure(
        Status.INCONCLUSIVE,
        Status.TIMED,
        FailureKind.TIMEOUT,
        "only 2 of 7 repetitions fitted into 120 s: make the kernel faster, or choose a smaller "
        "field",
    ),
    "busy": Failure(
        Status.INCONCLUSIVE,
        Status.TIMED,
        FailureKind.BUSY,
        "the machine was busy with other work in 20 of 28 repetitions; try again later",
    ),
    "lock-held": Failure(
        Status.INCONCLUSIVE,
        Status.TIMED,
        FailureKind.BUSY,
        "nothing was measured: in 600 s this machine's timing lock was not to be had, which is "
        "longer than any timing takes. It is held by process 77",
    ),
    "too-small": Failure(
        Status.SUSPECT,
        Status.TIMED,
        FailureKind.INTEGRITY,
        "the stream of 1 bytes is 2e+04 times smaller than that of the best reference (sz-open sz: "
        "20000 bytes), and from 5 times on a result is reviewed before it counts",
    ),
    "remembered": Failure(
        Status.SUSPECT,
        Status.TIMED,
        FailureKind.INTEGRITY,
        "compress took 0.4 ms, and 6 ms of CPU time where the kernel's processes had not seen the "
        "field before: what is remembered of a field is neither compression nor speed",
    ),
    "too-fast": Failure(
        Status.SUSPECT,
        Status.TIMED,
        FailureKind.INTEGRITY,
        "compress in 0.001 ms is faster than this machine's memory can move its data (0.02 ms): it "
        "did not look at all of it, or worked outside the clock",
    ),
    "integrity": Failure(
        Status.SUSPECT,
        Status.TIMED,
        FailureKind.INTEGRITY,
        "the kernel's processes worked outside the timed requests, or started others",
    ),
}


def every_rule() -> list[Rule]:
    """Those of GPUs have tests beside their compilers, and in `test_order_rules`."""
    return [*RESULTS, *TABLES["numba"]]


def test_every_rule_has_a_trigger() -> None:
    triggered = {kernel.rule for kernel in test_feedback_compile.KERNELS.values()}
    triggered |= {rule for rule, _ in test_feedback_results.KERNELS.values()}
    triggered |= {wrong.rule for wrong in WRONG.values()}
    triggered |= {rule for fault in FAULTS.values() for rule in fault.rules}
    triggered |= {*test_feedback_suite.ITEMS, *DYING, *RECORDED}
    topics = {topic for topic, _ in test_tripwires.REFUSED.values()}
    triggered |= {f"tripwire-{topic.name.lower()}" for topic in topics}

    assert {rule.name for rule in every_rule()} == triggered


def test_a_name_is_shared_only_by_rules_that_give_the_same_advice_about_a_bound() -> None:
    # What a pattern suggests the smallest array may prove: then the explanation is another.
    names = Counter(rule.name for rule in every_rule())
    shared = {name for name, count in names.items() if count > 1}

    assert shared <= {rule.name for rule in bound_rules.RULES if rule.when is not None}
    for name in shared:
        advice = {rule.suggestion for rule in bound_rules.RULES if rule.name == name}
        assert len(advice) == 1, name


@pytest.mark.parametrize("rule", DYING)
def test_what_ends_a_child_is_explained(open_kernel: Open, rule: str) -> None:
    session = open_kernel(DYING[rule], "compress")
    failure = session if isinstance(session, Failure) else None
    if not isinstance(session, Failure):
        items = ((CUBE, 0.125),)
        limit = DEADLINES.get(rule, 20.0)
        reply = session.call("compress", items, capacity=(500,), deadline_s=limit)
        failure = reply if isinstance(reply, Failure) else None

    assert failure is not None
    assert [g.rule for g in guidance_for(failure, "numba")] == [rule], failure


DEADLINES = {"waits": 1.0, "python-loop": 1.0, "timeout": 2.0}
"""Seconds."""


@pytest.mark.parametrize("rule", RECORDED)
def test_what_was_recorded_is_explained(rule: str) -> None:
    assert [g.rule for g in guidance_for(RECORDED[rule], "numba")] == [rule]


def test_what_compress_leaves_in_its_process_is_not_there_for_decompress(
    open_kernel: Open,
) -> None:
    source = HONEST.replace(
        "    return np.frombuffer", "    global step\n    step = 1\n    return np.frombuffer"
    ).replace("    return stream", "    step\n    return stream")
    session = open_kernel(source)
    assert not isinstance(session, Failure)

    reply = session.call(
        "decompress",
        ((np.zeros(8, np.uint8), (2,), np.dtype("f4")),),
        capacity=(500,),
        deadline_s=20.0,
    )

    assert isinstance(reply, Failure)
    named = f"field: decompress of float32 of shape (2,), abs_bound 0.1: {reply.message}"
    told = Failure(reply.status, reply.stage, reply.kind, named)
    assert [g.rule for g in guidance_for(told, "numba")] == ["state-lost"]


def test_an_unknown_target_has_only_rules_about_results() -> None:
    raised = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, "KeyError: 1")

    assert guidance_for(raised, "abacus") == ()
    assert guidance_for(RECORDED["fresh-content"], "abacus") != ()


LEVELS: dict[FeedbackLevel, Callable[[str, str, str], bool]] = {
    "none": lambda message, why, do: not (message or why or do),
    "raw": lambda message, why, do: bool(message) and not (why or do),
    "explain": lambda message, why, do: bool(message and why) and not do,
    "suggest": lambda message, why, do: bool(message and why and do),
}


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_shows_the_message_then_its_meaning_then_the_remedy(level: FeedbackLevel) -> None:
    failure = RECORDED["state-lost"]
    verdict = Verdict(failure.status, failure.stage, False, 0, 0, 0.0, 0.0, None, None, (), failure)
    asked = Asked("verify_bounds", "r_1", "k_1", "uk_theta", "rel", 1e-3)

    reply = verify_reply(asked, verdict, guidance_for(failure, "numba"), View(level))

    why = "".join(g.explanation for g in reply.guidance)
    do = "".join(g.suggestion for g in reply.guidance)
    assert LEVELS[level](reply.message, why, do)
