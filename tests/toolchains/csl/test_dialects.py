"""The dialect of programs whose user names none."""

from __future__ import annotations

from toolchains.csl.command_line import parse
from toolchains.csl.dialects import DIALECTS, compile_in
from toolchains.csl.evaluation import Options
from toolchains.csl.source import Severity

_MAIN = '@set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{});'
_TASK = "\ncomptime { @bind_local_task(main, @get_local_task_id(9)); }"


def _read(code: str) -> dict[str, str]:
    pe = f"{code}\ntask main() void {{ x = f(); }}{_TASK}"
    return {"layout.csl": f"layout {{ {_MAIN} }}", "pe.csl": pe}


OLD = _read("var x: i16 = 0;\nfn f() i16 { return 1; }")
NEWER = _read("var x: i32 = 0;\nvar narrow: i16 = 3;\nfn f() i32 { return narrow; }")
_MISTAKE = "fn g() void { y = 1; }\ncomptime { g(); }"
WRONG = _read(f"var x: i32 = 0;\nvar narrow: i16 = 3;\nfn f() i32 {{ return narrow; }}\n{_MISTAKE}")


def test_a_program_without_errors_in_the_older_dialect_is_of_that_one() -> None:
    chosen = compile_in(DIALECTS, "layout.csl", Options("wse2"), OLD.__getitem__)
    assert chosen.options.dialect == "1.4"
    assert chosen.compiled.program is not None
    assert not chosen.compiled.diagnostics


def test_a_program_of_the_newer_dialect_only_is_compiled_as_that_and_it_is_said() -> None:
    chosen = compile_in(DIALECTS, "layout.csl", Options("wse2"), NEWER.__getitem__)
    assert chosen.compiled.program is not None
    assert chosen.compiled.program.dialect == "2.10"
    (note,) = chosen.compiled.diagnostics
    assert note.severity is Severity.NOTE
    assert note.message == "compiled as SDK 2.10: in SDK 1.4 it has errors"


def test_errors_are_those_of_the_dialect_with_the_fewest() -> None:
    chosen = compile_in(DIALECTS, "layout.csl", Options("wse2"), WRONG.__getitem__)
    assert chosen.options.dialect == "2.10"
    assert [one.code for one in chosen.compiled.diagnostics] == ["undefined-name"]


def test_a_dialect_that_is_given_is_the_only_one() -> None:
    assert parse(["layout.csl", "--sdk-dialect=1.4"]).dialects == ("1.4",)
    assert parse(["layout.csl"]).dialects == ("1.4", "2.10")
    chosen = compile_in(("1.4",), "layout.csl", Options("wse2"), NEWER.__getitem__)
    assert chosen.compiled.program is None
