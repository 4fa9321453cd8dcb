"""What escapes from a kernel, told with its place: the cause first, callers as notes, columns."""

from __future__ import annotations

import re

import pytest

from kernels.records import Array, Diagnostic, Failure, FailureKind, Status
from tests.toolchains.conftest import Open
from toolchains.children.session import ChildSession

NESTED = """\
import numba

@numba.njit
def inner(x):
    return x.no_such_method()

@numba.njit
def middle(x):
    return inner(x) + 1

@numba.njit
def outer(x):
    z = 3
    return middle(x) + z

def compress(data, abs_bound):
    return outer(data)
"""


def failing(open_kernel: Open, source: str | dict[str, str], data: Array) -> Failure:
    """What the first call of `compress` fails with."""
    session = open_kernel(source, "compress")
    assert isinstance(session, ChildSession), session
    reply = session.call("compress", ((data, 0.1),), capacity=(1000,), deadline_s=20.0)
    assert isinstance(reply, Failure)
    return reply


def places(failure: Failure) -> list[tuple[str, str | None, int | None]]:
    return [(d.severity, d.file, d.line) for d in failure.diagnostics]


def pointed(diagnostic: Diagnostic) -> str:
    """What stands from the column on."""
    assert diagnostic.source is not None
    assert diagnostic.column is not None
    return diagnostic.source[diagnostic.column - 1 :]


def test_a_typing_error_is_told_where_it_arises_and_its_callers_are_notes(
    open_kernel: Open, field: Array
) -> None:
    failure = failing(open_kernel, NESTED, field)

    assert places(failure) == [
        ("error", "kernel.py", 5),
        ("note", "kernel.py", 9),
        ("note", "kernel.py", 14),
        ("note", "kernel.py", 17),
    ]
    assert pointed(failure.diagnostics[0]) == "no_such_method()"


def test_a_typing_error_in_another_file_is_told_there(open_kernel: Open, field: Array) -> None:
    helper = NESTED[: NESTED.index("@numba.njit\ndef middle")]
    kernel = """\
import numba
from helper import inner

@numba.njit
def outer(x):
    return inner(x)

def compress(data, abs_bound):
    return outer(data)
"""
    failure = failing(open_kernel, {"kernel.py": kernel, "helper.py": helper}, field)

    assert places(failure) == [
        ("error", "helper.py", 5),
        ("note", "kernel.py", 6),
        ("note", "kernel.py", 9),
    ]


@pytest.mark.parametrize("nested", [True, False])
def test_an_unknown_name_is_told_where_it_is_used(
    open_kernel: Open, field: Array, nested: bool
) -> None:
    source = NESTED.replace("x.no_such_method()", "x + nowhere")
    if not nested:
        source = source.replace("return outer(data)", "return inner(data)")

    failure = failing(open_kernel, source, field)

    assert places(failure)[0] == ("error", "kernel.py", 5)
    assert pointed(failure.diagnostics[0]) == "nowhere"


def test_a_file_of_numba_itself_is_no_place_of_the_submission(
    open_kernel: Open, field: Array
) -> None:
    source = NESTED.replace("x.no_such_method()", 'np.reshape(x, "a")')
    source = source.replace("import numba\n", "import numba, numpy as np\n")

    failure = failing(open_kernel, {"kernel.py": source, "arrayobj.py": "\n" * 3000}, field)

    assert places(failure)[0] == ("error", "kernel.py", 5)
    assert failure.message == "TypingError: no version of reshape(3-D float32 array, 'a')"


def test_a_compile_error_is_told_in_short_and_kept_in_full(open_kernel: Open, field: Array) -> None:
    failure = failing(open_kernel, NESTED, field)

    assert failure.message == (
        "TypingError: Unknown attribute 'no_such_method' of type 3-D float32 array"
    )
    assert failure.diagnostics[0].message == failure.message
    assert "During: typing of get attribute" in failure.details
    assert failure.details.count("no_such_method") >= 3


def test_the_candidates_numba_tried_are_left_to_the_details(
    open_kernel: Open, field: Array
) -> None:
    source = NESTED.replace("x.no_such_method()", 'x + "a"')

    failure = failing(open_kernel, source, field)

    assert failure.message == ("TypingError: no `a + b` for a: 3-D float32 array, b: 'a'")
    assert "candidate implementations" in failure.details


@pytest.mark.parametrize(
    "body",
    [
        '    with open("x") as f:\n        return 1',
        '    return x.astype("f4", 3)',
        "    return (yield from x)",
    ],
)
def test_what_numba_raises_while_it_compiles_is_a_compile_error(
    open_kernel: Open, field: Array, body: str
) -> None:
    source = NESTED.replace("    return x.no_such_method()", body)

    failure = failing(open_kernel, source, field)

    assert failure.kind is FailureKind.COMPILE


def test_an_exception_points_at_the_expression_that_raised(open_kernel: Open, field: Array) -> None:
    source = """\
def look(table):
    ä = 1; return table["é"] + table[ä]

def compress(data, abs_bound):
    return 1 + look({"é": 1})
"""
    failure = failing(open_kernel, source, field)

    assert places(failure) == [("error", "kernel.py", 2), ("note", "kernel.py", 5)]
    assert pointed(failure.diagnostics[0]) == "table[ä]"
    assert pointed(failure.diagnostics[1]) == 'look({"é": 1})'
    assert failure.diagnostics[0].source == '    ä = 1; return table["é"] + table[ä]'


def test_a_syntax_error_points_at_what_does_not_parse(open_kernel: Open) -> None:
    failure = open_kernel("def compress(data, abs_bound):\n    e = 1; x = = 2\n", "compress")

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.SYNTAX
    assert places(failure) == [("error", "kernel.py", 2)]
    assert pointed(failure.diagnostics[0]) == "= 2"


def test_a_syntax_error_of_text_that_a_kernel_runs_is_an_exception(
    open_kernel: Open, field: Array
) -> None:
    failure = failing(open_kernel, "def compress(data, b):\n    exec('x = = 2')\n", field)

    assert failure.kind is FailureKind.EXCEPTION
    assert places(failure) == [("error", "kernel.py", 2)]


def test_a_syntax_error_made_of_nonsense_does_not_kill_the_child(
    open_kernel: Open, field: Array
) -> None:
    source = """\
def compress(data, abs_bound):
    raise SyntaxError("no", (__file__, 10**30, -5, "x"))
"""
    failure = failing(open_kernel, source, field)

    assert failure.kind is FailureKind.SYNTAX


@pytest.mark.parametrize(
    ("source", "stage"),
    [
        ("def compress(data, b):\n    return [1]\n", Status.ROUNDTRIPS),
        ("compress = 3\n", Status.TERMINATES),
        ("def compress(data, b):\n    return {}[1]\n", Status.TERMINATES),
        ("def compress(data, b):\n    raise NotImplementedError\n", Status.TERMINATES),
    ],
)
def test_a_kernel_that_returned_something_else_has_terminated(
    open_kernel: Open, field: Array, source: str, stage: Status
) -> None:
    assert failing(open_kernel, source, field).stage is stage


def test_an_exception_without_a_message_is_told_by_its_name(
    open_kernel: Open, field: Array
) -> None:
    failure = failing(open_kernel, "def compress(data, b):\n    assert b > 1\n", field)

    assert failure.message == "AssertionError"


def test_messages_hold_neither_paths_nor_addresses(open_kernel: Open, field: Array) -> None:
    source = "def compress(data, b):\n    raise ValueError(f'{compress} in {__file__}:1')\n"

    failure = failing(open_kernel, source, field)

    assert re.fullmatch(r"ValueError: <function compress> in kernel.py:1", failure.message)


DIVIDED = """\
import numba, numpy as np

@numba.njit
def inner(x):
    scale = x.size / 3
    blocks = x.size / 32
    out = np.zeros(8, np.float32)
    out[blocks] = scale
    return out

def compress(data, abs_bound):
    return inner(data)
"""


def test_an_index_that_is_a_float_is_told_where_it_became_one(
    open_kernel: Open, field: Array
) -> None:
    failure = failing(open_kernel, DIVIDED, field)

    assert places(failure)[:2] == [("error", "kernel.py", 8), ("note", "kernel.py", 6)]
    note = failure.diagnostics[1]
    assert note.message.startswith("`blocks` becomes a float here: /")
    assert all("`scale`" not in d.message for d in failure.diagnostics)


@pytest.mark.parametrize("use", ["np.zeros(blocks, np.uint8)", "x.reshape(-1)[:blocks]"])
def test_a_length_that_is_a_float_is_told_so_in_python_too(
    open_kernel: Open, field: Array, use: str
) -> None:
    source = DIVIDED.replace("@numba.njit\n", "").replace("out[blocks] = scale", f"out = {use}")

    failure = failing(open_kernel, source, field)

    assert [d.message[:31] for d in failure.diagnostics[1:2]] == ["`blocks` becomes a float here: "]


def test_an_index_that_was_divided_in_another_function_is_not_explained(
    open_kernel: Open, field: Array
) -> None:
    source = (
        DIVIDED.replace("blocks = x.size / 32", "blocks = x.size")
        .replace("def compress", "def other():\n    blocks = 1 / 2\n\ndef compress")
        .replace("out[blocks]", "out[0.5]")
    )

    failure = failing(open_kernel, source, field)

    assert all("becomes a float" not in d.message for d in failure.diagnostics)
