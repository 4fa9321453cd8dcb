"""A kernel that crashes or hangs is told the line it was at."""

from __future__ import annotations

import pytest

from kernels.records import Array, Failure, FailureKind
from toolchains.children.session import ChildSession

from .conftest import Open

SOURCE = """\
import ctypes

def deeper():
    BODY

def compress(data, abs_bound):
    return deeper()
"""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("ctypes.string_at(0)", FailureKind.CRASH),
        ("while True: pass", FailureKind.TIMEOUT),
    ],
)
def test_the_stack_of_a_kernel_that_gave_no_reply_is_told(
    open_kernel: Open, field: Array, body: str, kind: FailureKind
) -> None:
    session = open_kernel(SOURCE.replace("BODY", body), "compress")
    assert isinstance(session, ChildSession)

    failure = session.call("compress", ((field, 1e-3),), capacity=(1 << 20,), deadline_s=1)

    assert isinstance(failure, Failure)
    assert failure.kind is kind
    inner, outer = failure.diagnostics
    assert (inner.file, inner.line, inner.source) == ("kernel.py", 4, f"    {body}")
    assert (outer.line, outer.severity) == (7, "note")
