"""Layout blocks run once; types that only the new dialect has; what can't be simulated."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.analysing import EXPORT, code, error_of, value
from tests.toolchains.csl.parsing import brief
from toolchains.csl.analysis.analysis import Analysis
from toolchains.csl.evaluation import Options
from toolchains.csl.source import Reports

LAYOUT = """
param n: u16 = 3;
const c = @get_color(4);
fn routed(x: u16) void {
  @set_color_config(x, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
}
layout {
  @set_rectangle(n, 1);
  var x: u16 = 0;
  while (x < n) : (x += 1) {
    @set_tile_code(x, 0, "pe.csl", .{ .last = x == n - 1 });
    if (x != 0) { routed(x); }
  }
}
"""


def laid_out(text: str) -> tuple[Analysis, Reports]:
    reports = Reports()
    analysis = Analysis(Options("wse2"), lambda _: text, reports, lambda _: None)
    instance = analysis.layout_instance("folder/layout.csl")
    assert instance is not None
    assert analysis.run_layout(instance)
    return analysis, reports


def test_a_layout_runs_with_loops_and_functions() -> None:
    analysis, reports = laid_out(LAYOUT)
    assert not reports.found
    assert list(analysis.placement.tiles) == [(0, 0), (1, 0), (2, 0)]
    assert list(analysis.placement.colors) == [(1, 0, 4), (2, 0, 4)]
    code_of_last = analysis.placement.tiles[2, 0]
    assert code_of_last.file == "folder/pe.csl"
    assert code_of_last.params is not None
    assert code_of_last.params.data == (True,)


def test_a_mistake_ends_the_layout() -> None:
    _, reports = laid_out(LAYOUT.replace("x == n - 1", "x == nn"))
    (found,) = reports.found
    assert brief(found) == "11:52 undefined-name: `nn` is not declared => did you mean `n`?"
    assert found.span is not None
    assert found.span.source.name == "layout.csl"


def test_packed_structs_and_unions_are_types() -> None:
    text = "const P = packed struct { a: u3, b: i5 }; const U = union { i: i16, f: f32 };"
    text += " const p = P { .a = 5, .b = -1 }; const u = U { .f = 2.0 }; const x = .{ p.b, u.f };"
    assert value("x", text, "2.10")[1] == (-1, 2.0)


def test_only_the_active_variant_of_a_union_is_read() -> None:
    text = "const U = union { i: i16, f: f32 };\nconst u = U { .f = 2.0 };\nconst x = u.i;"
    assert error_of(text, "2.10") == ("3:13 inactive-variant: the union doesn't hold `i` now")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("const E = enum(f32) { a };",
         "1:16 enum-type: an enum is stored as an integer, not as `f32`"),
        ("const E = enum(u8) { a, a };", "1:25 redeclared: `a` is there twice"),
        ("const E = enum(u8) { a = 300 };",
         "1:26 value-range: 300 does not fit `u8` (0 to 255)"),
        ("const E = enum(u8) { a };\nconst x = E.b;",
         "2:13 unknown-member: `E` has no member `b` => its members: a"),
        ("const a: i16 = 1;\nconst a: i16 = 2;", "2:7 redeclared: `a` is declared twice"),
        ("var x = 1;",
         "1:5 comptime-only: `x` can't be a variable of type `comptime_int` => var x: i16 = …"),
        ("const x: 5 = 1;",
         "1:10 not-a-type: a type has to stand here, not a value of type `comptime_int`"),
        ("const x: [-1]i16 = 1;", "1:11 array-size: a size can't be negative: -1"),
        ("const x: *comptime_int = 1;",
         "1:11 comptime-only: values of `comptime_int` exist only while compiling:"
         " nothing can point to them"),
        ("fn f() void { asm volatile (\"nop\"); }" + EXPORT,
         "1:15 asm: machine instructions in text can't be simulated"),
        ("var a: [3]i16;\nconst x = |i|{3} -> a[i];",
         "2:11 tensor-access: a tensor access stands only in @get_dsd, as .tensor_access = …"),
    ],
)  # fmt: skip
def test_mistakes_in_declarations_are_reported(text: str, message: str) -> None:
    assert error_of(text) == message


def test_pointers_widen_in_the_new_dialect() -> None:
    text = "var n: i16; var a: [2]i16; var p: *anyopaque = &n; var q: *[1]i16 = &n;"
    text += " fn f() void { p = &a; q = &n; }" + EXPORT
    assert code(text, dialect="2.10") == ("@p = &a+0:*anyopaque; @q = &n+0:*[1]i16;")
    assert "type-mismatch" in error_of("var n: i16; var q: *[1]i16 = &n;")
