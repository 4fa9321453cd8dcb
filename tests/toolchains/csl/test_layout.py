from dataclasses import replace

import numpy as np
import pytest

from simulators.wafer.program import ExportKind, Route
from tests.toolchains.csl.compiling import WSE2, compiled
from toolchains.csl.evaluation import Options

PE = "param n: i16 = 0; task t() void {} comptime { @bind_local_task(t, @get_local_task_id(9)); }"
EXPORTING = """
var a: [4]f32;
var p: [*]f32 = &a;
const q: [*]f32 = &a;
var s: i16 = 3;
fn go(x: f32, k: i16) void {}
comptime {
  @export_symbol(p, "a");
  @export_symbol(q, "result");
  @export_symbol(s);
  @export_symbol(go);
}
"""
NAMES = """
@export_name("a", [*]f32, true);
@export_name("result", [*]f32, false);
@export_name("s", i16, false);
@export_name("go", fn(f32, i16)void);
"""


def said(layout: str, pe: str = PE, options: Options = WSE2) -> tuple[str, ...]:
    return compiled({"layout.csl": layout, "pe.csl": pe}, options).said


def block(statements: str) -> str:
    return f"layout {{\n{statements}\n}}"


def one_pe(statements: str) -> str:
    return block(f'@set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{{}});\n{statements}')


def test_pes_with_equal_parameters_share_a_class() -> None:
    found = compiled(
        {
            "layout.csl": block("""
@set_rectangle(4, 2);
for (@range(i16, 4)) |x| {
  for (@range(i16, 2)) |y| {
    @set_tile_code(x, y, "pe.csl", .{ .n = if (x == 0) 1 else 2 });
  }
}"""),
            "pe.csl": PE,
        }
    )
    assert not found.said
    assert found.layout is not None
    assert (found.layout.width, found.layout.height) == (4, 2)
    assert len(found.layout.classes) == len(found.tiles) == 2
    np.testing.assert_array_equal(found.layout.class_of, [[0, 1, 1, 1], [0, 1, 1, 1]])
    assert [one.first for one in found.layout.classes] == [(0, 0), (1, 0)]


def test_classes_depend_on_values_not_on_how_they_are_written() -> None:
    found = compiled(
        {
            "layout.csl": block("""
@set_rectangle(3, 1);
@set_tile_code(0, 0, "pe.csl", .{ .s = .{ .a = 1.5, .b = @zeros([2]i16) } });
@set_tile_code(1, 0, "pe.csl", .{ .s = .{ .a = 3.0 / 2.0, .b = [2]i16 { 0, 0 } } });
@set_tile_code(2, 0, "./pe.csl", .{ .s = .{ .a = -1.5, .b = @zeros([2]i16) } });"""),
            "pe.csl": "param s: comptime_struct; comptime { @comptime_assert(s.b[0] == 0); }",
        }
    )
    assert not found.said
    assert found.layout is not None
    np.testing.assert_array_equal(found.layout.class_of, [[0, 0, 1]])


def test_colours_are_configured_per_pe() -> None:
    found = compiled(
        {
            "layout.csl": block("""
@set_rectangle(2, 1);
const c = @get_color(4);
for (@range(i16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{}); }
@set_color_config(0, 0, c, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
@set_color_config(1, 0, c, .{ .routes = .{ .rx = WEST, .tx = RAMP } });"""),
            "pe.csl": PE,
        }
    )
    assert not found.said
    assert found.layout is not None
    routes = {place: config.route for place, config in found.layout.colors.items()}
    assert routes == {(0, 0, 4): Route(16, 4), (1, 0, 4): Route(8, 16)}


def test_the_rectangle_is_known_to_layouts_and_programs() -> None:
    pe = "comptime { @comptime_assert(@get_rectangle().width == 1); }"
    options = replace(WSE2, fabric=(9, 5), offset=(4, 1))
    layout = one_pe("""
const r = @get_rectangle();
@comptime_assert(r.width == 1 and r.height == 1);
@comptime_assert(r.fabric.width == 9 and r.offsets.width == 4 and r.offsets.height == 1);""")
    assert not said(layout, pe, options)


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (
            "",
            "1:1 no-rectangle: the layout sets no rectangle => @set_rectangle(width, height);",
        ),
        (
            "@set_rectangle(2, 2);\n@set_rectangle(2, 2);",
            "3:1 duplicate-rectangle: the rectangle is set already",
        ),
        ("@set_rectangle(0, 2);", "2:1 out-of-range: a rectangle has at least one PE"),
        (
            '@set_tile_code(0, 0, "pe.csl", .{});',
            "2:1 no-rectangle: the rectangle isn't set yet"
            " => @set_rectangle(width, height); before this",
        ),
        (
            '@set_rectangle(2, 2);\n@set_tile_code(2, 0, "pe.csl", .{});',
            "3:16 out-of-range: x within the rectangle of 2 by 2 PEs is from 0 to 1, not 2",
        ),
        (
            '@set_rectangle(2, 1);\n@set_tile_code(1, 0, "pe.csl", .{});',
            "2:1 no-code: 1 of 2 PEs have no code: (0, 0)"
            ' => @set_tile_code(x, y, "file.csl", .{}) for each',
        ),
        (
            "@set_rectangle(1, 1);\n" + '@set_tile_code(0, 0, "pe.csl");\n' * 2,
            "4:1 duplicate-code: PE (0, 0) has code already",
        ),
        (
            '@set_rectangle(1, 1);\n@set_tile_code(0, 0, "pe.csl", 3);',
            "3:32 type-mismatch: parameters are a struct with their names, not a `comptime_int`"
            " => .{ .name = value }",
        ),
    ],
)
def test_a_layout_has_one_rectangle_and_code_everywhere(statements: str, found: str) -> None:
    assert said(block(statements)) == (found,)


def test_a_file_that_is_not_there_is_named() -> None:
    (found,) = said(block('@set_rectangle(1, 1);\n@set_tile_code(0, 0, "none.csl", .{});'))
    assert found.startswith("3:1 file-not-found: there is no file `none.csl`")


def test_a_program_without_a_layout_block_says_so() -> None:
    (found,) = said(PE)
    assert found.startswith("1:1 no-layout: `layout.csl` has no layout block")


def test_a_colour_is_configured_once_at_a_pe() -> None:
    config = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = RAMP, .tx = EAST } });"
    assert said(one_pe(f"{config}\n{config}")) == (
        "4:1 duplicate-color: colour 3 is configured twice at PE (0, 0)",
    )


def test_colours_of_the_layout_and_of_the_program_are_one() -> None:
    layout = one_pe(
        "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = RAMP, .tx = EAST } });"
    )
    pe = """comptime {
  @set_local_color_config(@get_color(3), .{ .routes = .{ .rx = RAMP, .tx = EAST } });
}"""
    assert said(layout, pe) == ("2:3 duplicate-color: colour 3 is configured twice at PE (0, 0)",)


def test_colours_of_memcpy_are_refused() -> None:
    layout = one_pe(
        "@set_color_config(0, 0, @get_color(22), .{ .routes = .{ .rx = RAMP, .tx = EAST } });"
    )
    assert said(layout, options=replace(WSE2, memcpy=True)) == (
        "3:25 reserved-color: colour 22 is memcpy's => free with memcpy: 0 to 20",
    )
    assert not said(layout)


def test_a_program_too_large_for_the_fabric_names_the_size_needed() -> None:
    options = replace(WSE2, memcpy=True, fabric=(8, 3))
    (found,) = said(block("@set_rectangle(4, 1);"), options=options)
    assert found == (
        "2:1 fabric-too-small: 4 by 1 PEs don't fit on a fabric of 8 by 3"
        " => --fabric-dims=11,3 or larger"
    )


# --- parameters --------------------------------------------------------------------------------

PARAMS = """param width: i16; param scale: f32 = 1.0; param c: color; param flag: bool = false;
layout {
  @set_rectangle(width, 1);
  for (@range(i16, width)) |x| { @set_tile_code(x, 0, "pe.csl", .{}); }
  @comptime_assert(scale == 2.5 and flag);
  @set_color_config(0, 0, c, .{ .routes = .{ .rx = RAMP, .tx = EAST } });
}"""


def test_parameters_come_from_the_command_line() -> None:
    options = replace(
        WSE2, params=(("width", "3"), ("scale", "2.5"), ("flag", "true")), colors=(("c", 5),)
    )
    found = compiled({"layout.csl": PARAMS, "pe.csl": PE}, options)
    assert not found.said
    assert found.layout is not None
    assert found.layout.width == 3
    assert list(found.layout.colors) == [(0, 0, 5)]
    assert found.layout.params == {"width": "3", "scale": "2.5", "flag": "true"}


def test_a_parameter_without_a_value_says_how_to_give_it() -> None:
    found = said(PARAMS, options=replace(WSE2, params=(("width", "3"),)))
    assert found == (
        "1:49 missing-param: param `c` has neither a value nor a default"
        " => give it on the command line: --colors=c:…",
    )


def test_an_unknown_parameter_is_named_with_the_one_that_was_meant() -> None:
    options = replace(WSE2, params=(("widht", "3"),))
    (found,) = said(PARAMS, options=options)
    assert found == (
        "1:1 unknown-param: `layout.csl` has no param `widht`, which the command line gives"
        " => did you mean `width`?"
    )


# --- exports -----------------------------------------------------------------------------------


def test_exports_are_numbered_in_the_order_of_their_names() -> None:
    found = compiled({"layout.csl": one_pe(NAMES), "pe.csl": EXPORTING})
    assert not found.said
    assert [(one.id, one.name, one.kind, one.type, one.mutable) for one in found.exports] == [
        (0, "a", ExportKind.POINTER, "[*]f32", True),
        (1, "result", ExportKind.POINTER, "[*]f32", False),
        (2, "s", ExportKind.SCALAR, "i16", False),
        (3, "go", ExportKind.FUNCTION, "fn(f32, i16)void", False),
    ]
    assert [one.element_bytes for one in found.exports] == [4, 4, 2, 0]
    assert len(found.exports[3].argument_scalars) == 2


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (
            NAMES.replace('"a"', '"b"'),
            (
                '8:3 not-named: the layout has no @export_name for "a"'
                ' => @export_name("a", [*]f32, true); in the layout block',
                '4:1 not-exported: no PE exports "b"'
                ' => comptime { @export_symbol(…, "b"); } in a program for PEs',
            ),
        ),
        (
            NAMES.replace('"a", [*]f32', '"a", [*]u32'),
            (
                '8:3 type-mismatch: "a" is a `[*]f32` here, but its name says `[*]u32`'
                ' => @export_name("a", [*]f32, …)',
            ),
        ),
        (
            NAMES.replace("i16, false", "i16"),
            (
                "6:1 argument-count: a variable's name is exported with whether the host may"
                " write it => @export_name(…, …, true) or false",
            ),
        ),
        (
            NAMES + '@export_name("a", f32, true);',
            ('8:1 duplicate-name: the name "a" is exported twice',),
        ),
        (
            '@export_name("v", [4]f32, true);',
            (
                "3:19 bad-export: the host can't use a `[4]f32`"
                " => export a pointer to it: [*]f32, *T",
            ),
        ),
        (
            '@export_name("g", fn(bool)i16);',
            (
                "3:19 bad-export: a function for the host has no result"
                " => numbers only; results go by exported memory",
            ),
        ),
    ],
)
def test_names_and_symbols_have_to_agree(names: str, found: tuple[str, ...]) -> None:
    assert said(one_pe(names), EXPORTING) == found


def test_a_symbol_is_exported_once_and_has_a_name() -> None:
    pe = 'var a: i16 = 1; comptime { @export_symbol(a);\n@export_symbol(a, "a"); }'
    (found,) = said(one_pe('@export_name("a", i16, true);'), pe)
    assert found == '2:1 duplicate-name: the name "a" is exported twice'


def test_tasks_are_not_for_the_host() -> None:
    pe = "task t() void {} comptime { @export_symbol(t); }"
    (found,) = said(one_pe(""), pe)
    assert found.startswith("1:44 bad-export: the host can call functions, not tasks")


def test_filters_are_numbered_by_colour() -> None:
    filtered = """.{ .routes = .{ .rx = WEST, .tx = RAMP },
  .filter = .{ .kind = .{ .range = true }, .min_idx = 0, .max_idx = 1 } }"""
    layout = one_pe(
        "".join(f"@set_color_config(0, 0, @get_color({n}), {filtered});" for n in (2, 7))
    )
    pe = "comptime { @comptime_assert(@get_filter_id(@get_color(7)) == 1); }"
    assert not said(layout, pe)
    (found,) = said(layout, "const x = @get_filter_id(@get_color(3));")
    assert found.startswith("1:11 no-filter: colour 3 has no filter at a PE with this code")
