"""What stands in loops of LLVM IR, and lines of machine code, of functions that numba compiled."""

from __future__ import annotations

import os

import pytest

from toolchains.child.lines import code_of
from toolchains.child.remains import REFERENCES, VECTORS, Place, in_cycles, remains
from toolchains.children.counters import Counters

IR = """\
define i32 @outer(ptr %x) {
entry:
  %a = call i32 @small(ptr %x), !dbg !5
  br label %loop
loop:                                             ; preds = %entry, %loop
  %b = call i32 @small(ptr %x), !dbg !6
  call void @NRT_incref(ptr %x), !dbg !7
  %v = add <8 x i32> %p, %q, !dbg !6
  %c = call i32 @other(ptr %x), !dbg !6
  br i1 %d, label %loop, label %exit
exit:
  call void @NRT_decref(ptr %x), !dbg !6
  ret i32 0
}
!1 = !DIFile(filename: "kernel.py", directory: "/box")
!2 = distinct !DISubprogram(name: "outer", scope: !1, file: !1, line: 3)
!5 = !DILocation(line: 4, column: 1, scope: !2)
!6 = !DILocation(line: 7, column: 1, scope: !2)
!7 = !DILocation(line: 8, column: 1, scope: !2, inlinedAt: !6)
"""


def test_only_what_stands_in_loops_is_told() -> None:
    assert remains(IR, {"small": 1}) == {
        Place("kernel.py", 7, "small"),
        Place("kernel.py", 8, REFERENCES),
        Place("kernel.py", 7, VECTORS),
    }


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({}, set()),
        ({"a": ["b"], "b": []}, set()),
        ({"a": ["a"]}, {"a"}),
        ({"a": ["b"], "b": ["c", "d"], "c": ["b"], "d": []}, {"b", "c"}),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["a", "e"], "e": []}, set("abcd")),
        ({"a": ["missing"]}, set()),
    ],
)
def test_blocks_in_cycles_are_found(edges: dict[str, list[str]], expected: set[str]) -> None:
    assert in_cycles(edges) == expected


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="ELF"):
        code_of(b"MZ" + bytes(100))


def test_a_process_that_works_is_seen_somewhere() -> None:
    counters = Counters(os.getpid(), samples=True)
    counters.start()
    assert sum(i * i for i in range(2_000_000)) > 0
    usage = counters.stop()
    counters.close()

    if not usage.addresses:
        pytest.skip("the operating system does not tell where a process is")
    assert sum(usage.addresses.values()) > 50
    assert all(0 < address < 1 << 64 for address in usage.addresses)
