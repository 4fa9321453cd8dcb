"""Building and loading numba submissions: every failure names its rung, place and cause."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import baselines
from kernels.records import Build, Failure, FailureKind, Status, Submission
from toolchains.base import Cancellation, Reply
from toolchains.children.counters import NO_HARDWARE, missing_here
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, open_session
from toolchains.feedback import guidance_for
from toolchains.first_call import slow_first_calls
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import Peaks


@pytest.fixture
def toolchain(pool: Pool) -> NumbaToolchain:
    return NumbaToolchain(pool, Peaks(), 4 << 30)


def _build(toolchain: NumbaToolchain, source: str, task: str = "sz-open") -> Build:
    return toolchain.build(Submission(task, "numba", {"kernel.py": source}), Cancellation())


@pytest.mark.parametrize("task", ["szp", "lorenzo-1d"])
def test_a_good_submission_compiles(toolchain: NumbaToolchain, task: str) -> None:
    build = toolchain.build(baselines.read(task, "naive"), Cancellation())

    assert (build.status, build.stage) == (Status.COMPILED, Status.LOADS)
    assert build.failure is None
    assert build.diagnostics == ()


def test_a_syntax_error_stops_at_parsed_with_its_line(toolchain: NumbaToolchain) -> None:
    build = _build(toolchain, "x = 1\ndef compress(data, b:\n    pass\n")

    assert (build.status, build.stage) == (Status.ERROR, Status.PARSED)
    first = build.diagnostics[0]
    assert (first.file, first.line, first.source) == ("kernel.py", 2, "def compress(data, b:")


TYPING = """\
import numba
import numpy as np

@numba.njit
def pack(x):
    y = x.no_such_method()
    return y

def compress(data, abs_bound):
    return pack(data)

def decompress(stream, shape, dtype):
    return stream
"""


def test_a_typing_error_stops_at_compiled_with_the_place_in_the_source(
    toolchain: NumbaToolchain,
) -> None:
    build = _build(toolchain, TYPING)

    assert (build.status, build.stage) == (Status.ERROR, Status.COMPILED)
    assert build.failure is not None
    assert build.failure.kind is FailureKind.COMPILE
    first = build.diagnostics[0]
    assert (first.file, first.line, first.source) == ("kernel.py", 6, "    y = x.no_such_method()")
    assert guidance_for(build.failure, "numba")[0].rule == "unknown-attribute"


def test_a_missing_function_is_named(toolchain: NumbaToolchain) -> None:
    build = _build(toolchain, "def compress(data, abs_bound):\n    return data\n")

    assert build.status is Status.ERROR
    assert "compress returned" in build.diagnostics[0].message or build.failure is not None

    build = _build(
        toolchain,
        "import numpy as np\ndef compress(data, b):\n    return np.zeros(1, np.uint8)\n",
    )
    assert build.failure is not None
    assert "defines no function `decompress`" in build.failure.message


def test_a_first_call_that_raises_compiles_with_a_warning(toolchain: NumbaToolchain) -> None:
    build = _build(toolchain, "def compress(data, b):\n    return {}[1]\n")

    assert (build.status, build.failure) == (Status.COMPILED, None)
    warning = build.diagnostics[0]
    assert (warning.severity, warning.line) == ("warning", 2)
    assert "KeyError" in warning.message
    assert build.first_call is not None
    assert guidance_for(build.first_call, "numba")[0].rule == "raised"


@pytest.mark.parametrize(
    "source",
    ["import torch\n", "x = 1 / 0\n", "compress = 3\n", "def compress(data, b):\n    return 7\n"],
)
def test_what_a_build_finds_beyond_syntax_stops_it_at_compiled(
    toolchain: NumbaToolchain, source: str
) -> None:
    assert _build(toolchain, source).stage is Status.COMPILED


def test_a_cancelled_build_stops(toolchain: NumbaToolchain) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    submission = Submission("sz-open", "numba", {"kernel.py": "while True: pass"})

    build = toolchain.build(submission, cancellation)

    assert build.failure is not None
    assert build.failure.kind in (FailureKind.CANCELLED, FailureKind.CRASH)


def test_loading_reports_an_import_error(toolchain: NumbaToolchain) -> None:
    failure = toolchain.load(
        Submission("sz-open", "numba", {"kernel.py": "import torch\n"}), 1, Cancellation()
    )

    assert isinstance(failure, Failure)
    assert failure.stage is Status.LOADS
    assert guidance_for(failure, "numba")[0].rule == "missing-module"


def test_the_target_describes_itself_with_measured_peaks(toolchain: NumbaToolchain) -> None:
    info = toolchain.describe("numba")

    assert info.available
    assert {"copy", "read", "write"} == {m.name.split("_")[0] for m in info.peaks}
    assert all(m.value > 0 for m in info.peaks)
    assert "kernel.py" in info.example


def test_a_first_call_that_comes_near_its_deadline_is_noted() -> None:
    (note,) = slow_first_calls({"compress": 6.6, "decompress": 2.0})

    assert note.severity == "note"
    assert "compress" in note.message
    assert "6.6 s of the 20 s" in note.message


PARALLEL = """\
import numba
import numpy as np

@numba.njit(parallel=True)
def double(x):
    for i in numba.prange(x.size):
        x[i] *= 2

def run(codes):
    double(codes.reshape(-1))
    return codes
"""


def test_a_parallel_kernel_prints_nothing_of_the_sandbox(
    toolchain: NumbaToolchain, pool: Pool
) -> None:
    submission = Submission("lorenzo-1d", "numba", {"kernel.py": PARALLEL})
    session = open_session(pool, submission, ("run",), Cancellation())
    assert isinstance(session, ChildSession)

    reply = session.call("run", ((np.ones(100, np.int32),),), capacity=(1000,), deadline_s=60)
    printed = session.output()
    session.close()

    assert isinstance(reply, Reply), reply
    assert reply.outputs[0][0].sum() == 200
    assert "multiprocessing" not in printed


def test_the_target_says_why_it_has_no_hardware_counters(toolchain: NumbaToolchain) -> None:
    (info,) = toolchain.targets()

    told = [note for note in info.notes if note.startswith(NO_HARDWARE)]
    assert told == ([missing_here()] if missing_here() else [])
