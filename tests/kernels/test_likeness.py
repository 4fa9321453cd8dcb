"""Programs that differ only in how they are written have one likeness, and no others have it."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from kernels.likeness import PARSED_LIMIT, likeness
from kernels.records import Submission

BASELINES = Path(__file__).parents[2] / "kernels" / "baselines" / "numba"

PROGRAM = '''
"""A codec."""
import numpy as np
from numba import njit

LIMIT = 4_000
SCALE = 0.5


@njit(cache=True)
def _steps(data, width):
    """How far apart."""
    total = 0
    for i in range(1, data.size):
        total += abs(data[i] - data[i - 1]) * width  # summed
    return total


@njit(cache=True)
def _clip(value):
    return min(value, LIMIT)


def compress(data, abs_bound):
    return np.full(_clip(_steps(data, SCALE)), 7, np.uint8)


def decompress(stream, shape, dtype):
    return np.zeros(shape, dtype)
'''


def of(text: str, name: str = "kernel.py") -> str:
    return likeness({name: text})


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def parts() -> tuple[str, str, str]:
    """Its beginning, the two functions that help, and the two that are called."""
    start, rest = PROGRAM.split("\n\n\n@njit", 1)
    middle, end = rest.split("\n\n\ndef compress", 1)
    return start, f"@njit{middle}", f"def compress{end}"


SAME = {
    "comments": changed(
        ("# summed", "# added up, to the last one"), ("LIMIT =", "# most\nLIMIT =")
    ),
    "docstrings": changed(("A codec.", "Mine."), ('    """How far apart."""\n', "")),
    "blanks": changed(("(data, width)", "( data,\n  width )"), ("\n\n\n", "\n\n")),
    "variables": changed(("total", "so_far"), ("width", "w"), ("value", "x")),
    "functions": changed(("_steps", "f"), ("_clip", "_most")),
    "constants' names": changed(("LIMIT", "MOST"), ("SCALE", "HALF")),
    "spellings": changed(("4_000", "0xFA0"), ("0.5", "5e-1")),
    "quotes": changed(('"""A codec."""', "'A codec.'")),
    "imports": changed(
        ("import numpy as np\nfrom numba import njit", "import numba as nb, numpy"),
        ("@njit", "@nb.njit"),
        ("np.", "numpy."),
    ),
    "annotations": changed(("(value)", "(value: int) -> int"), ("LIMIT = 4", "LIMIT: int = 4")),
    "parentheses": changed(("return min(value, LIMIT)", "return (min((value), (LIMIT)))")),
    "order": "\n\n\n".join((parts()[0], parts()[2], *reversed(parts()[1].split("\n\n\n")))),
    "line ends": PROGRAM.replace("\n", "\r\n"),
}

OTHER = {
    "a constant": changed(("4_000", "4_001")),
    "the type of a constant": changed(("4_000", "4_000.0")),
    "an operator": changed(("- data[i - 1]", "+ data[i - 1]")),
    "an option": changed(("@njit(cache=True)", "@njit(cache=True, fastmath=True)")),
    "a function of NumPy": changed(("np.zeros", "np.ones")),
    "a builtin": changed(("return min(", "return max(")),
    "which variable": changed(("data[i - 1]", "data[i - width]")),
    "which function": changed(("_clip(_steps(data, SCALE))", "_steps(data, _clip(SCALE))")),
    "which constant": changed(("(data, SCALE)", "(data, LIMIT)")),
    "a string": changed(("np.uint8", "'u1'")),
    "a statement": changed(("    total = 0\n", "    total = 0\n    data = data.ravel()\n")),
    "the order of statements": changed(
        ("LIMIT = 4_000\n", "LIMIT = 4_000\nLIMIT = 8\n"),
    ),
    "that order": changed(("LIMIT = 4_000\n", "LIMIT = 8\nLIMIT = 4_000\n")),
    "a global variable": changed(("    total = 0\n", "    global total\n    total = 0\n")),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_how_a_program_is_written_does_not_count(text: str) -> None:
    assert of(text) == of(PROGRAM)


def test_what_a_program_does_counts() -> None:
    found = {name: of(text) for name, text in OTHER.items()}

    assert len({*found.values(), of(PROGRAM)}) == len(found) + 1


def test_files_that_functions_stand_in_do_not_count() -> None:
    start, helpers, calls = parts()
    imports = "import numpy as np\nfrom numba import njit\n"
    split = {
        "kernel.py": f"{imports}from helpers import _clip as clip, _steps\nSCALE = 0.5\n"
        + calls.replace("_clip", "clip"),
        "helpers.py": f"{imports}LIMIT = 4_000\n{helpers}",
    }
    by_module = {
        "kernel.py": f"{imports}import helpers as h\nSCALE = 0.5\n"
        + calls.replace("_clip", "h._clip").replace("_steps", "h._steps"),
        "helpers.py": split["helpers.py"],
    }

    assert start.count("LIMIT") == 1
    assert likeness(split) == of(PROGRAM)
    assert likeness(by_module) == of(PROGRAM)


def test_names_that_the_server_calls_count() -> None:
    swapped = changed(("def compress(data, abs_bound)", "def decompress_(data, abs_bound)"))

    assert of(swapped) != of(PROGRAM)
    assert of("compress = f\ndecompress = g\n") != of("compress = g\ndecompress = f\n")


C = """
// doubles
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;  /* one each */
  if (i < n) y[i] = 2.0f * __expf(x[i]);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("// doubles", "// twice as much /* of it", True),
        ("  if (i < n)", "\tif (i<n)\n", True),
        ("twice", "two_times", True),
        ("float *y", "float* y", True),
        ("int i =", "int i=", True),
        ("__expf", "__logf", False),
        ("2.0f", "3.0f", False),
        ("float *y", "double *y", False),
        ("threadIdx.x", "threadIdx.y", False),
        ("i < n", "n < i", False),
    ],
)
def test_another_language_is_compared_by_its_tokens(old: str, new: str, same: bool) -> None:
    text = C.replace(old, new)

    assert (of(text, "kernel.cu") == of(C, "kernel.cu")) == same


def test_renamed_variables_of_another_language_do_not_count() -> None:
    renamed = C.replace("*x", "*source").replace("x[i]", "source[i]").replace("*y", "*to")

    assert of(renamed.replace(" y[i]", " to[i]"), "kernel.cu") == of(C, "kernel.cu")


def test_what_does_not_parse_has_a_likeness_without_comments_and_blanks() -> None:
    assert of("def f(:\n  x = 1  # one\n") == of("def f( :\n\n\tx=1")
    assert of("def f(:\n  x = 1\n") != of("def f(:\n  x = 2\n")


HOSTILE = {
    "open brackets": "(" * 50_000,
    "nested lists": "x = " + "[" * 150 + "]" * 150,
    "signs": "x = " + "-" * 60_000 + "1",
    "a long sum": "x = " + "1+" * 30_000 + "1",
    "attributes": "x = a" + ".b" * 30_000,
    "calls": "x = a" + "()" * 30_000,
    "lambdas": "x = " + "lambda: " * 7_000 + "1",
    "deep blocks": "".join(" " * i + "if 1:\n" for i in range(300)),
    "many branches": "if 1: pass\n" + "elif 1: pass\n" * 4_000,
    "NUL": "x = 1\0",
    "half a pair": 'x = "\ud800"',
    "a huge decimal": "x = " + "9" * 60_000,
    "a huge hexadecimal": "x = 0x" + "f" * 60_000,
    "a huge exponent": "x = 1e" + "9" * 60_000,
    "quotes": '"' * 60_001,
    "escaped quotes": '\\"' * 30_000,
    "open comments": "/*" * 30_000,
    "nothing": "",
    "a mark": "\ufeffx = 1",
    "patterns": "match x:\n case [a, *b]: pass\n case {'k': v, **r}: pass\n case C(y=1) as q: 0\n",
    "groups": "try:\n pass\nexcept* ValueError as e:\n raise\n",
    "coroutines": "async def f():\n async for i in a:\n  yield [j async for j in i]\n",
    "too long to parse": "x = 1\n" * PARSED_LIMIT,
}


@pytest.mark.parametrize("name", ["kernel.py", "kernel.cu"])
def test_any_text_has_a_likeness(name: str) -> None:
    """In a thread, whose stack is smaller than that of the main one."""
    found: dict[str, str] = {}

    def try_all() -> None:
        found.update({what: of(text, name) for what, text in HOSTILE.items()})

    thread = threading.Thread(target=try_all)
    thread.start()
    thread.join()

    assert found.keys() == HOSTILE.keys()
    assert len(set(found.values())) == len(HOSTILE)


def test_damaged_programs_have_a_likeness() -> None:
    rng = random.Random(11)
    for _ in range(300):
        text = list(PROGRAM)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(text))
            text[place : place + rng.randrange(40)] = rng.choices("()[]'\"#\\:\n \0=x1", k=5)
        assert len(of("".join(text))) == 64


def test_every_shipped_kernel_is_a_program_of_its_own() -> None:
    folders = sorted({path.parent for path in BASELINES.rglob("kernel.py")})

    found = [likeness({p.name: p.read_text() for p in one.glob("*.py")}) for one in folders]

    assert len(folders) > 10
    assert len(set(found)) == len(found)


def test_a_likeness_leaves_the_other_hashes_alone() -> None:
    one = Submission("szp", "numba", {"kernel.py": PROGRAM})
    other = Submission("szp", "numba", {"kernel.py": SAME["variables"]})

    assert one.likeness == other.likeness == of(PROGRAM)
    assert one.content_hash != other.content_hash
    assert one.exact_hash != other.exact_hash
