"""Loops as the compiler left them: every reason by a loop that has it, told of in its place."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.records import Loop, Submission
from toolchains.base import Call, Cancellation, Explanation, Phase, Reply
from toolchains.child.wire import CODE_LINE
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, Purpose, open_session
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import Peaks
from toolchains.vectorisation import REASONS, code_metrics, left_scalar, loops, ranked, reason_of

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
    nested(x, out)
    return out
"""
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
    ["calls", "early-exit", "float-order", "dependence", "carried", "scattered", "not-worth"],
)
def test_a_loop_that_was_not_vectorised_says_why(explained: Explanation, name: str) -> None:
    loop = loop_of(explained, name.replace("-", "_"))

    assert loop.width == 1
    reason = reason_of(loop)
    assert reason is not None, loop
    assert reason.name == name


@pytest.mark.parametrize("function", ["inner_while", "steps"])
def test_loops_without_a_known_count_are_not_vectorised(
    explained: Explanation, function: str
) -> None:
    loop = loop_of(explained, function)

    assert loop.width == 1
    assert "not known when it begins" in loop.reason
    assert loop.source.startswith("while ")


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


def test_hot_loops_come_first_and_those_of_functions_they_call_count(
    explained: Explanation,
) -> None:
    phases = (
        Phase("carried", "kernel.py", 41, 1, 0.6, compiled=True),
        Phase("scattered", "kernel.py", 48, 1, 0.3, compiled=True),
        Phase("fine", "kernel.py", 6, 1, 0.1, compiled=True),
    )

    order = ranked(SUBMISSION, explained.loops, phases)

    assert [loop.function for loop in order[:2]] == ["carried", "scattered"]
    assert order[0].share == pytest.approx(0.6)
    assert loop_of(Explanation(order), "fine").share == pytest.approx(0.1)
    assert not left_scalar(order[-1])


def test_a_caller_passes_its_share_on_to_what_it_calls() -> None:
    source = (
        "import numba\n@numba.njit\ndef inner(x):\n    for i in range(9):\n        x[i] = 1\n"
        "@numba.njit\ndef outer(x):\n    inner(x)\n"
    )
    submission = Submission("sz-open", "numba", {"kernel.py": source})
    printed = "remark: /box/src/kernel.py:4:1: loop not vectorized\n"
    phases = (Phase("outer", "kernel.py", 6, 1, 0.8, compiled=True),)

    (loop,) = ranked(submission, loops(submission, printed), phases)

    assert (loop.function, loop.share) == ("inner", 1.0)
    assert loop.reason == "(as LLVM says) no reason given"


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
