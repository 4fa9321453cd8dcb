"""Static checks: what they refuse, where they say it is; honest kernels never meet them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import baselines
from kernels.records import Build, Failure, FailureKind, Status, Submission
from tests import wrong_kernels
from tests.toolchains import small_kernels
from tests.toolchains.conftest import HONEST
from toolchains.base import Cancellation
from toolchains.children.pool import Pool
from toolchains.feedback import guidance_for
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import Peaks
from toolchains.tripwire_table import Topic
from toolchains.tripwires import tripped

REFUSED: dict[str, tuple[Topic, str]] = {
    "import socket": (Topic.NETWORK, "import of socket"),
    "from urllib.request import urlopen": (Topic.NETWORK, "import of urllib.request"),
    "__import__('socket')": (Topic.NETWORK, "import of socket"),
    "import importlib\nimportlib.import_module('ssl')": (Topic.NETWORK, "import of ssl"),
    "import multiprocessing as mp": (Topic.PROCESSES, "import of multiprocessing"),
    "from concurrent.futures import ProcessPoolExecutor": (
        Topic.PROCESSES,
        "import of concurrent.futures.ProcessPoolExecutor",
    ),
    "import os\nos.fork()": (Topic.PROCESSES, "use of os.fork"),
    "import os as o\nf = o._exit": (Topic.PROCESSES, "use of os._exit"),
    "from os import kill as k": (Topic.PROCESSES, "import of os.kill"),
    "import fcntl": (Topic.LOCKS, "import of fcntl"),
    "import signal": (Topic.SIGNALS, "import of signal"),
    "import os\nos.sched_setaffinity(0, {0})": (Topic.SCHEDULING, "use of os.sched_setaffinity"),
    "from child import wire": (Topic.HARNESS, "import of child"),
    "import toolchains.child.wire": (Topic.HARNESS, "import of toolchains.child.wire"),
    "import __main__": (Topic.HARNESS, "import of __main__"),
    "import sys\nframe = sys._getframe()": (Topic.FRAMES, "use of sys._getframe"),
    "def f(frame):\n    return frame.f_back": (Topic.FRAMES, "use of .f_back"),
    "import gc\nfound = gc.get_objects()": (Topic.FRAMES, "use of gc.get_objects"),
    "import ctypes\nlib = ctypes.CDLL(None)": (Topic.LIBRARIES, "use of ctypes.CDLL"),
    "import time\ntime.perf_counter = lambda: 0": (
        Topic.PATCHING,
        "an assignment to time.perf_counter",
    ),
    "import numpy as np\nnp.random.seed = None": (
        Topic.PATCHING,
        "an assignment to numpy.random.seed",
    ),
    "import numpy as np\ndel np.array": (Topic.PATCHING, "an assignment to numpy.array"),
    "import time\nsetattr(time, 'sleep', None)": (Topic.PATCHING, "setattr on time"),
    "import sys\nsys.modules['time'] = None": (Topic.PATCHING, "a write to sys.modules"),
    "open('/proc/self/maps')": (Topic.FILES, "open of '/proc/self/maps'"),
    "import numpy as np\nnp.fromfile('/tmp/kept')": (Topic.FILES, "numpy.fromfile of '/tmp/kept'"),
    "from pathlib import Path\np = Path('/dev/shm')": (
        Topic.FILES,
        "pathlib.Path of '/dev/shm'",
    ),
    f"KEPT = {'x' * 9000!r}": (Topic.EMBEDDED, "a literal of 9000 characters"),
    f"def f():\n    {'x' * 9000!r}": (Topic.EMBEDDED, "a literal of 9000 characters"),
    f"KEPT = {bytes(9000)!r}": (Topic.EMBEDDED, "a literal of 9000 characters"),
    f"KEPT = {[-1] * 5000}": (Topic.EMBEDDED, "a literal of 5000 elements"),
    "import base64\nexec(base64.b64decode(b'eA=='))": (
        Topic.DECODED,
        "exec of what base64.b64decode returns",
    ),
    "eval(compile(bytes.fromhex('31'), '', 'eval'))": (
        Topic.DECODED,
        "eval of what .fromhex returns",
    ),
}
"""Source → topic, and what the message says was met."""

USED_HONESTLY: dict[str, str] = {
    "threads": "import threading\nfrom concurrent.futures import ThreadPoolExecutor",
    "settings": "import numba\nfrom numba import config\nnumba.config.THREADING_LAYER = 'omp'\n"
    "config.DISABLE_JIT = 0\nimport os\nos.environ['NUMBA_NUM_THREADS'] = '1'",
    "generated code": "lines = ['def f(x):', '    return x']\nexec('\\n'.join(lines))",
    "a long template": f"TEMPLATE = {'y = x[i] + 1; i += 1; ' * 900!r}",
    "long documentation": f"def f():\n    {'Words of what it does. ' * 600!r}",
    "a table": f"TABLE = {list(range(4096))}",
    "a table of pairs": f"TABLE = {[(i, i + 1) for i in range(3000)]}",
    "addresses": "def f(x):\n    return x.ctypes.data",
    "ctypes types": "import ctypes\nT = ctypes.POINTER(ctypes.c_uint8)",
    "own state": "import lanes\nlanes.KEPT = {}\n\nclass A:\n    def f(self):\n        self.x = 1",
    "local names": "def f(time, np, os):\n    time.best = np.fork\n    os.kill = 1",
    "memory": "import gc, mmap\ngc.collect()\ngc.disable()\nkept = mmap.mmap(-1, 1 << 20)",
    "timing": "import time\nstart = time.perf_counter()\nprint(time.perf_counter() - start)",
    "its own module": "import child\nfrom kernels import pack\nfrom . import signal",
    "a relative file": "open('notes.txt', 'w')\nopen('/dev/null', 'w')",
    "warnings": "import warnings, numpy as np, sys\nwarnings.simplefilter('ignore')\n"
    "np.seterr(all='ignore')\nsys.stdout.flush()\nsys.setrecursionlimit(5000)",
    "decoding of data": "import zlib\ndef f(b):\n    return zlib.decompress(bytes.fromhex(b))",
}


def _submission(source: str, **others: str) -> Submission:
    files = {"kernel.py": source, **{f"{name}.py": text for name, text in others.items()}}
    return Submission("sz-open", "numba", files)


@pytest.mark.parametrize("source", REFUSED, ids=lambda source: source[:40])
def test_what_is_refused_is_named(source: str) -> None:
    topic, what = REFUSED[source]

    failure = tripped(_submission(source))

    assert failure is not None
    assert (failure.status, failure.stage) == (Status.REJECTED, Status.COMPILED)
    assert failure.kind is FailureKind.TRIPWIRE
    assert f"{what}: a kernel has no business with {topic}" in failure.message
    assert [g.rule for g in guidance_for(failure, "numba")] == [f"tripwire-{topic.name.lower()}"]


def test_every_topic_has_a_source_that_is_refused() -> None:
    assert {topic for topic, _ in REFUSED.values()} == set(Topic)


def test_a_place_is_a_line_and_a_column_of_characters_in_the_file_it_stands_in() -> None:
    second = "# ä\r\ndef f():\n    é = 1; import signal\n"

    failure = tripped(_submission(HONEST, other=second))

    assert failure is not None
    (where,) = failure.diagnostics
    assert (where.file, where.line, where.column) == ("other.py", 3, 12)
    assert where.source == "    é = 1; import signal"
    assert where.severity == "error"


def test_every_place_is_told_but_no_more_than_eight() -> None:
    two = tripped(_submission("import socket\nimport signal\n"))
    many = tripped(_submission("import socket\n" * 30))

    assert two is not None
    assert [d.line for d in two.diagnostics] == [1, 2]
    assert many is not None
    assert len(many.diagnostics) == 8


@pytest.mark.parametrize("name", USED_HONESTLY)
def test_what_honest_kernels_use_is_not_refused(name: str) -> None:
    submission = _submission(USED_HONESTLY[name], lanes="", child="", kernels="", signal="")

    assert tripped(submission) is None


def test_no_kernel_of_ours_is_refused() -> None:
    sources = (
        HONEST,
        small_kernels.CODEC,
        small_kernels.RAW,
        small_kernels.RAW_SZP,
        Path(wrong_kernels.__file__).with_name("plain.py").read_text(encoding="utf-8"),
    )
    ours = [
        baselines.read(folder.name, style)
        for folder in Path(baselines.__file__).parent.glob("numba/*")
        for style in baselines.styles(folder.name)
    ]

    assert len(ours) >= 33
    assert [tripped(s) for s in (*map(_submission, sources), *ours)] == [None] * (5 + len(ours))


@pytest.mark.parametrize("source", ["def f(:\n", "x = 1\n  y = 2\n", "(" * 10_000, "-" * 100_000])
def test_what_does_not_parse_is_left_to_whoever_compiles_it(source: str) -> None:
    assert tripped(_submission(source)) is None


@pytest.fixture
def unguarded(pool: Pool) -> NumbaToolchain:
    return NumbaToolchain(pool, Peaks(), 4 << 30, tripwires=False)


def _built(toolchain: NumbaToolchain, source: str) -> Build:
    return toolchain.build(_submission(source), Cancellation())


TRIPPING = f"import signal\n{HONEST}"


def test_a_build_and_a_load_are_refused_before_a_child_is_taken() -> None:
    empty = Pool(0, 4 << 30)
    empty.close()  # Whoever takes a child of it meets PoolClosed.
    guarded, submission = NumbaToolchain(empty, Peaks(), 4 << 30), _submission(TRIPPING)

    build = guarded.build(submission, Cancellation())
    load = guarded.load(submission, 1, Cancellation())
    checked = guarded.load_checked(submission, Cancellation())

    assert (build.status, build.stage) == (Status.REJECTED, Status.COMPILED)
    assert build.diagnostics[0].line == 1
    assert isinstance(load, Failure)
    assert isinstance(checked, Failure)
    assert load == checked == build.failure


def test_without_tripwires_it_is_run(unguarded: NumbaToolchain) -> None:
    assert _built(unguarded, TRIPPING).status is Status.COMPILED


@pytest.mark.parametrize(
    "evasion",
    [
        "getattr(os, 'fo' + 'rk')()",
        "importlib.import_module('soc' + 'ket').socket()",
        "eval('__imp' + 'ort__(\"os\").fork()')",
        "vars(os)['memfd' + '_create']('x')",
    ],
)
def test_whoever_hides_a_name_meets_the_other_defences(pool: Pool, evasion: str) -> None:
    if not any(layer.name == "seccomp" and layer.holds for layer in pool.layers()):
        pytest.skip("system calls can't be refused on this machine")
    source = HONEST.replace("bound):\n", f"bound):\n    {evasion}\n", 1)
    source = f"import importlib, os\n{source}"
    guarded = NumbaToolchain(pool, Peaks(), 4 << 30)

    build = guarded.build(_submission(source), Cancellation())

    assert tripped(_submission(source)) is None
    assert build.first_call is not None
    assert build.first_call.kind is FailureKind.EXCEPTION
    assert "PermissionError" in build.first_call.message
