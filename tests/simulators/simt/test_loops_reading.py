from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from simulators.simt import loops
from simulators.simt.loops.machine import runtime
from simulators.simt.loops.reading import Refused, read_function
from simulators.simt.loops.regenerate import runtime_ir
from simulators.simt.tool import plain_run

TYPES = {"a": "i32", "b": "i32", "p": "ptr", "%struct.S": ""}


def _read(body: str) -> object:
    text = f"define void @f(i32 %a, ptr %p) {{\nentry:\n{body}\n  ret void\n}}"
    return read_function(text, ("a", "p"), dict(TYPES), {7: 42})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("  %b = invoke i32 @g(), !dbg !7", "instruction invoke"),
        ("  %b = va_arg ptr %p, i32, !dbg !7", "instruction va_arg"),
        ("  %b = add i32 %a, %c, !dbg !7", "a name that isn't known: %c"),
        ("  %b = call i32 %p(i32 %a), !dbg !7", "function pointer"),
        ('  call void asm sideeffect "nop", ""(), !dbg !7', "inline assembly"),
        ('  %b = call i32 @g(i32 %a) [ "deopt"() ], !dbg !7', "a call with"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(line: str, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        _read(line)
    assert reason in caught.value.reason
    assert caught.value.line == 42


def test_types_and_labels_are_no_values() -> None:
    function = _read("  %b = load %struct.S, ptr %p, align 4, !tbaa !3, !dbg !7\n  br label %next")
    (first, second, _) = function.blocks["entry"].body  # type: ignore[attr-defined]
    assert (first.opcode, first.result, first.uses, first.line) == ("load", "b", ("p",), 42)
    assert first.text == "%b = load %struct.S, ptr %p, align 4"
    assert (second.uses, second.targets) == ((), ("next",))


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is missing")
def test_the_runtimes_ir_is_what_clang_makes_of_its_source() -> None:
    assert (Path(loops.__path__[0]) / "runtime.ll").read_text() == runtime_ir(plain_run)
    assert "target-features" not in runtime()
