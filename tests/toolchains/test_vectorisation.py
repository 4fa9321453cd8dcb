"""Loops as the compiler left them: every reason by a loop that has it, told of in its place."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Loop, Submission
from toolchains.base import Call, Cancellation, Explanation, Phase, Reply, Shares
from toolchains.child.wire import CODE_LINE
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, Purpose, open_session
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import Peaks
from toolchains.vectorisation import REASONS, code_metrics, loops, matters, ranked, reason_of

STATEMENTS = "\n".join(
    f"    if q[(at * {k}) % q.size] > total % {k}:\n"
    f"        total += q[(at + {k}) % q.size] // {k} + more"
    for k in range(2, 60)
)
"""More than LLVM puts in place of a call."""
LOOPS = """\
import numba
import numpy as np


@numba.njit
def fine(x, out):
    for i in range(x.size):
        out[i] = x[i] * np.float32(2) + np.float32(1)


@numba.njit
def calls(x):
    kept = []
    for i in range(x.size):
        kept.append(x[i])
    return len(kept)


@numba.njit
def early_exit(x, y, out):
    for i in range(x.size):
        out[i] = x[i] / y[i]


@numba.njit
def float_order(x):
    total = np.float32(0)
    for i in range(x.size):
        total += x[i]
    return total


@numba.njit
def dependence(x):
    for i in range(1, x.size):
        x[i] = x[i - 1] * np.float32(0.5) + x[i]


@numba.njit
def carried(q, out):
    running = 0
    for i in range(q.size):
        running += q[i]
        out[i] = running


@numba.njit
def scattered(q, out):
    for i in range(q.size):
        out[q[i]] += 1


@numba.njit
def inner_while(q, out):
    for i in range(q.size):
        k = q[i]
        while k > 3:
            k = k // 3 + (k & 1)
        out[i] = k


@numba.njit
def steps(q):
    i = 0
    total = 0
    while i < q.size:
        total += q[i]
        i += 1 + (q[i] & 1)
    return total


@numba.njit
def not_worth(q, out, by):
    for i in range(q.size):
        out[i] = q[i] // by


@numba.njit
def last_value(q, out):
    last = 0
    for i in range(q.size):
        out[i] = q[i] - last
        last = q[i]


@numba.njit
def extreme(x):
    most = np.float32(0)
    for i in range(x.size):
        most = max(most, x[i])
    return most


@numba.njit
def chain(q):
    at = 0
    total = 0
    for _ in range(q.size):
        at = q[at] % 100
        total ^= at
    return total


@numba.njit
def by_step(q):
    i = 0
    total = 0
    while i < q.size:
        if q[i] == 7:
            break
        total += q[i]
        i += 2
    return total


@numba.njit
def large(q, at, other, more):
    total = q[at] + other
LARGE
    return total


@numba.njit
def kept_call(q):
    total = 0
    for i in range(q.size):
        total += large(q, i, 3, 4) - large(q, i, 4, 3)
    return total


@numba.njit
def counted(q, kept):
    for i in range(q.size):
        if q[i] > 1:
            kept = q[i:]
        if q[i] == 77:
            kept = kept[1:]
    return kept.size


@numba.njit
def nested(x, out):
    for row in range(8):
        for i in range(x.size):
            out[i] += x[i] * np.float32(row)


def run(x, q):
    out, counts = np.empty_like(x), np.zeros(q.size, q.dtype)
    fine(x, out)
    calls(x)
    early_exit(x, x, out)
    float_order(x)
    dependence(x.copy())
    carried(q, counts)
    scattered(q, counts)
    inner_while(q, counts)
    steps(q)
    not_worth(q, counts, 3)
    last_value(q, counts)
    extreme(x)
    chain(q)
    by_step(q)
    kept_call(q)
    counted(q, q)
    nested(x, out)
    return out
""".replace("LARGE", STATEMENTS)
SUBMISSION = Submission("lorenzo-1d", "numba", {"kernel.py": LOOPS})


@pytest.fixture(scope="module")
def explained(pool: Pool) -> Explanation:
    x = np.linspace(1, 2, 3000, dtype=np.float32)
    q = np.arange(3000, dtype=np.int32)
    toolchain = NumbaToolchain(pool, Peaks(), 4 << 30)
    return toolchain.explain(SUBMISSION, [Call("run", (x, q), x.nbytes)], 1, Cancellation())


def loop_of(explained: Explanation, function: str) -> Loop:
    (loop,) = [loop for loop in explained.loops if loop.function == function]
    return loop


def test_a_vectorised_loop_has_its_width_and_line(explained: Explanation) -> None:
    loop = loop_of(explained, "fine")

    assert explained.notes == ()
    assert loop.width >= 4
    assert (loop.file, loop.line, loop.source) == ("kernel.py", 7, "for i in range(x.size):")
    assert loop.reason == ""


@pytest.mark.parametrize(
    "name",
    [
        "calls",
        "early-exit",
        "float-order",
        "dependence",
        "carried",
        "scattered",
        "not-worth",
        "last-value",
        "extreme",
        "chain",
        "kept-call",
    ],
)
def test_a_loop_that_was_not_vectorised_says_why(explained: Explanation, name: str) -> None:
    loop = loop_of(explained, name.replace("-", "_"))

    assert loop.width == 1
    reason = reason_of(loop)
    assert reason is not None, loop
    assert reason.name == name


@pytest.mark.parametrize(
    ("function", "name", "variables"),
    [("inner_while", "chain", ("k",)), ("steps", "chain", ("i",)), ("chain", "chain", ("at",))],
)
def test_a_loop_whose_steps_wait_for_each_other_names_the_variables(
    explained: Explanation, function: str, name: str, variables: tuple[str, ...]
) -> None:
    loop = loop_of(explained, function)

    reason = reason_of(loop)
    assert reason is not None
    assert (loop.width, reason.name) == (1, name)
    assert set(variables) <= set(loop.carried)


def test_a_while_loop_that_only_counts_is_no_chain(explained: Explanation) -> None:
    loop = loop_of(explained, "by_step")

    assert "not known when it begins" in loop.reason
    assert loop.carried == ()


def test_a_call_that_was_not_inlined_is_told_with_its_arguments(explained: Explanation) -> None:
    (call,) = loop_of(explained, "kept_call").calls

    line = LOOPS.splitlines().index("def large(q, at, other, more):")
    assert (call.function, call.file, call.line) == ("large", "kernel.py", line)
    assert (call.arguments, call.arrays) == (4, 1)
    assert [loop.function for loop in explained.loops if loop.calls] == ["kept_call"]


def test_references_that_are_counted_in_a_loop_are_told(explained: Explanation) -> None:
    assert loop_of(explained, "counted").counts_references
    assert not loop_of(explained, "fine").counts_references
    assert not loop_of(explained, "carried").counts_references


def test_of_nested_loops_the_inner_one_is_told(explained: Explanation) -> None:
    assert loop_of(explained, "nested").source == "for i in range(x.size):"


def test_the_machine_code_of_each_function_is_summed_up(explained: Explanation) -> None:
    found = {metric.name: metric for metric in explained.metrics}

    assert found["vector_bits.fine"].value >= 128
    assert 0 < found["vector_instructions.fine"].value < 1
    assert found["vector_bits.fine"].provenance == "reported"


def test_a_call_from_trimmed_memory_shows_what_it_takes(explained: Explanation) -> None:
    assert explained.usage["run"].threads == 1
    assert explained.usage["run"].counters["page_faults"] > 0


MNEMONICS = """

@numba.njit
def outer(x, out):
    fine(x, out)
    nested(x, out)


def run(x, q):
    out = np.zeros_like(x)
    outer(x, out)
    float_order(x)
    texts = [t for f in (outer, fine, nested, float_order) for t in f.inspect_asm().values()]
    code = [line.split()[0] for t in texts for line in t.splitlines() if line[:1] == chr(9)]
    told = " ".join(word for word in code if word[0] != ".")
    return np.frombuffer(told.encode(), np.uint8)
"""


def test_the_code_is_the_same_whether_it_is_explained_or_not(pool: Pool) -> None:
    submission = Submission("lorenzo-1d", "numba", {"kernel.py": LOOPS + MNEMONICS})
    x, q = np.ones(100, np.float32), np.ones(100, np.int32)
    codes, printed = [], ""
    for purpose in (Purpose.BUILD, Purpose.EXPLAIN):
        session = open_session(pool, submission, ("run",), Cancellation(), purpose=purpose)
        assert isinstance(session, ChildSession)
        reply = session.call("run", ((x, q),), capacity=(1 << 20,), deadline_s=60)
        assert isinstance(reply, Reply), reply
        codes.append(reply.outputs[0][0].tobytes().decode().split())
        printed = session.output()
        session.close()

    assert len(codes[0]) > 500
    assert codes[0] == codes[1]
    assert "vectorized loop" in printed


LINE = {name: n for n, text in enumerate(LOOPS.splitlines(), 1) for name in [text]}


def test_hot_loops_come_first_with_shares_of_their_own(explained: Explanation) -> None:
    spots = {(loop.file, loop.line): 0.0 for loop in explained.loops}
    for function, share in (("carried", 0.6), ("scattered", 0.3), ("fine", 0.1)):
        spots["kernel.py", loop_of(explained, function).line] = share

    order = ranked(SUBMISSION, explained.loops, (), Shares(spots, {"large": 0.2}))

    assert [loop.function for loop in order[:2]] == ["carried", "scattered"]
    assert [loop.share for loop in order[:3]] == [0.6, 0.3, 0.0]
    assert loop_of(Explanation(order), "fine").share == 0.1
    assert order[-1].width > 1
    assert loop_of(Explanation(order), "kept_call").calls[0].share == 0.2


def test_a_hot_loop_that_the_compiler_did_not_speak_of_is_told_too() -> None:
    line = LINE["    for row in range(8):"]

    (loop,) = ranked(SUBMISSION, (), (), Shares({("kernel.py", line): 0.4}))

    assert (loop.function, loop.line, loop.share) == ("nested", line, 0.4)


TWO = """\
import numba
@numba.njit
def inner(x):
    while x[0] > 1:
        x[0] = x[0] // 3
@numba.njit
def outer(x):
    inner(x)
    for i in range(9):
        x[i] = x[i - 1]
"""


def test_without_looks_no_loop_gets_the_share_of_its_function() -> None:
    submission = Submission("sz-open", "numba", {"kernel.py": TWO})
    printed = (
        "remark: /box/src/kernel.py:4:1: loop not vectorized: could not determine number of loop "
        "iterations\nremark: /box/src/kernel.py:4:1: loop not vectorized\n"
        "remark: /box/src/kernel.py:9:1: loop not vectorized\n"
    )
    phases = (Phase("outer", "kernel.py", 7, 1, 0.8, compiled=True),)

    both = ranked(submission, loops(submission, printed), phases)

    assert [(loop.function, loop.share) for loop in both] == [("outer", None), ("inner", None)]
    assert {loop.among for loop in both} == {"one of 2 loops in `outer` (100% of the time)"}
    assert not any(map(matters, both))


def test_without_looks_an_only_loop_is_said_to_be_one() -> None:
    source = TWO.replace("    inner(x)\n", "")
    submission = Submission("sz-open", "numba", {"kernel.py": source})
    phases = (Phase("outer", "kernel.py", 7, 1, 0.8, compiled=True),)
    printed = "remark: /box/src/kernel.py:8:1: loop not vectorized\n"

    (loop,) = ranked(submission, loops(submission, printed), phases)

    assert loop.among == "the only loop in `outer` (100% of the time)"
    assert matters(loop)
    assert loop.reason == "(as LLVM says) no reason given"
    slower = Phase("other", "kernel.py", 1, 1, 99.2, compiled=True)
    (cold,) = ranked(submission, loops(submission, printed), (*phases, slower))
    assert cold.among == "a loop in `outer` (1% of the time)"
    assert not matters(cold)


@pytest.mark.parametrize(
    "printed",
    [
        "remark: kernel.py:99999999999999999999:1: loop not vectorized\n",
        "remark: other.py:3:1: loop not vectorized\n",
        "remark: kernel.py:x:1: loop not vectorized\n",
        "remark: <unknown>:0:0: loop not vectorized\n",
        f"{CODE_LINE}\tfine\tkernel.py\t-1\tx\ty\tz\n{CODE_LINE}\n",
        f"{CODE_LINE}\tfine\tother.py\t1\t512\t1\t1\n",
    ],
)
def test_what_a_kernel_prints_can_not_confuse(printed: str) -> None:
    assert loops(SUBMISSION, printed) == ()
    assert code_metrics(SUBMISSION, printed) == ()


def test_a_flood_of_loops_is_cut() -> None:
    source = "for i in x: pass\n" * 500
    submission = Submission("sz-open", "numba", {"kernel.py": source})
    printed = "".join(f"remark: kernel.py:{n}:1: loop not vectorized\n" for n in range(1, 501))

    assert len(loops(submission, printed)) == 64


def test_a_source_that_does_not_parse_has_loops_without_functions() -> None:
    submission = Submission("sz-open", "numba", {"kernel.py": "def f(:\n"})

    (loop,) = loops(submission, "remark: kernel.py:1:1: loop not vectorized\n")

    assert (loop.function, loop.line, loop.source) == ("", 1, "def f(:")


def test_reasons_have_names_of_their_own() -> None:
    assert len({reason.name for reason in REASONS}) == len(REASONS)
    assert len({reason.meaning for reason in REASONS}) == len(REASONS)
