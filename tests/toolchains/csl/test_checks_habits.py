"""What users run into, as they report it: each mistake with its place, text and what to do."""

from __future__ import annotations

import pytest

from .checking import HEAD, IDLE, WSE3, pair, queues, said

UNBLOCK = "sys.unblock_cmd_stream();"
MIXED = "var u: u16 = 1; var i: i16 = 2;"
CONFIG = ".{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } }"


def in_program(declaration: str, statement: str = "") -> list[str]:
    """What is said of a declaration, in line 6, and a statement, at 8:3."""
    text = f"{declaration}\nfn go() void {{\n  {statement} {UNBLOCK} }}\n"
    return [one.removeprefix("error ") for one in said(pair(HEAD + text + queues()))]


@pytest.mark.parametrize(
    ("declaration", "statement", "expected"),
    [
        (
            MIXED,
            "i = i + u;",
            "8:7 mixed-types: `+` of `i16` and `u16`: the types differ => @as(i16, …) on the other"
            " side; integers of different types don't mix",
        ),
        (MIXED, "i = u;", "8:7 type-mismatch: expected `i16`, found `u16` => @as(i16, …)"),
        (
            "fn h(p: [*]f32) void {}",
            "h(&x[0]);",
            "8:5 type-mismatch: expected `[*]f32`, found `*f32` => the address of the whole array:"
            " &a, not that of an element: &a[0]",
        ),
        (
            "const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{64} -> x[i*i] });",
            "",
            "6:64 not-affine: an index depends on `i` only by products and sums => such as"
            " a[2 * i + n, m - j]: what a variable is multiplied by is fixed",
        ),
        (
            "const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{65} -> x[i] });",
            "",
            "6:64 out-of-bounds: this index reaches 64, outside of 64 elements => 0 to 63",
        ),
        (
            "const c = @get_color(24);",
            "",
            "6:22 out-of-range: a color of wse2 is from 0 to 23, not 24 => a program has 24"
            " colours; with memcpy, 21 to 23 are the host's",
        ),
        (
            f"comptime {{ @set_local_color_config(0, 0, @get_color(3), {CONFIG}); }}",
            "",
            "6:12 argument-count: @set_local_color_config takes 2 arguments, not 4"
            " => @set_local_color_config(color, config) void",
        ),
        (
            f"comptime {{ @set_color_config(0, 0, @get_color(3), {CONFIG}); }}",
            "",
            "6:12 builtin-context: @set_color_config can't be used in a comptime block of a module"
            " => it belongs in the layout block; here it is"
            " @set_local_color_config(color, config) void",
        ),
        (
            "",
            "@array_view(x);",
            "8:3 unknown-builtin: there is no builtin `@array_view` => in CSL: @get_dsd(mem1d_dsd,"
            " .{ .tensor_access = |i|{n} -> a[i] })",
        ),
        (
            "",
            "var z = @intCast(i16, 3);",
            "8:11 unknown-builtin: there is no builtin `@intCast` => in CSL: @as(T, value), or"
            " @bitcast(T, value) for the same bits",
        ),
        (
            "fn k() -> void {}",
            "",
            "6:8 foreign-syntax: no arrow stands in front of a result's type => fn k(…) T { … }",
        ),
        (
            "",
            "var z: i16 = 1 > 0 ? 1 : 2;",
            "8:22 foreign-syntax: CSL has no `?:` => if (condition) a else b",
        ),
        (
            "/* text */",
            "",
            "6:1 block-comment: CSL has no block comments => put // in front of every line",
        ),
        (
            "fn early(a: i16) void;",
            "",
            "6:4 missing-body: `early` has no body => functions need no declaration in advance: the"
            " order of globals is free",
        ),
    ],
)  # fmt: skip
def test_habits_from_elsewhere_are_met_with_the_form_of_csl(
    declaration: str, statement: str, expected: str
) -> None:
    assert in_program(declaration, statement) == [expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f"@set_color_config(a, {CONFIG});",
            "8:1 argument-count: @set_color_config takes 4 arguments, not 2 => @set_color_config("
            "x, y, color, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } }) void",
        ),
        (
            f"@set_color_config(0, 0, @get_color(22), {CONFIG});",
            "8:25 reserved-color: colour 22 is memcpy's => free with memcpy: 0 to 20",
        ),
    ],
)
def test_mistakes_in_a_layout(line: str, expected: str) -> None:
    assert said(pair(IDLE, IDLE, line)) == [f"error {expected}"]


def test_an_export_that_promises_more_than_the_program_gives_is_said() -> None:
    text = 'const p: [*]const f32 = &x;\ncomptime { @export_symbol(p, "p"); }\n'
    files = pair(IDLE + text, IDLE, '  @export_name("p", [*]f32, true);')
    assert said(files) == [
        'error 9:12 type-mismatch: "p" is a `[*]const f32` here, but its name says `[*]f32`'
        ' => @export_name("p", [*]const f32, …)'
    ]


def test_queues_beyond_the_last_are_said() -> None:
    files = pair(IDLE + "const q = @get_input_queue(8);\n")
    assert said(files, WSE3) == [
        "error 8:28 out-of-range: a input_queue of wse3 is from 0 to 7, not 8"
    ]


def test_a_program_too_large_for_a_pe_is_said() -> None:
    (found,) = in_program("var big = @zeros([13000]f32);", "big[0] = 1.0;")
    assert found.startswith("6:1 out-of-memory: `left.csl` needs ")
