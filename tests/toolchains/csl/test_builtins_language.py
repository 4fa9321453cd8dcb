import pytest

from tests.toolchains.csl.compiling import (
    WSE2,
    WSE3,
    block_mistake,
    clean,
    mistake,
    printed,
    tile_of,
)
from toolchains.csl import tree, types
from toolchains.csl.builtin_names import BUILTINS as NAMES
from toolchains.csl.builtins import BUILTINS
from toolchains.csl.evaluation import Options

NEW = Options("wse2", "2.10", memcpy=False)
ENUM = "const E = enum(u16) { a, b = 5 };"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("@as(i16, 3.9)", "3"),
        ("@as(i16, -3.9)", "-3"),
        ("@as(u8, @as(i16, -1))", "255"),
        ("@as(i16, @as(u16, 0xffff))", "-1"),
        ("@as(u16, true)", "1"),
        ("@as(bool, 2)", "true"),
        ("@as(bool, 0.0)", "false"),
        ("@as(f16, 0.1)", "0.0999755859375"),
        ("@as(f32, 7)", "7.0"),
        ("@as(u16, E.b)", "5"),
        ("@as(E, 5)", "z" * 0 + "E.b"),
        ("@bitcast(u32, @as(f32, 1.0))", "1065353216"),
        ("@bitcast(f32, @as(u32, 0x3f800000))", "1.0"),
        ("@bitcast(i16, @as(u16, 0x8000))", "-32768"),
        ("@bitcast(u16, @as(f16, -2.0))", "49152"),
        ("@bitcast(u16, @get_color(7))", "7"),
        ("@bitcast(f16, 0x3c00)", "1.0"),
        ("@type_of(@as(i8, 1))", "i8"),
        ("@is_same_type([2]i16, [2]i16)", "true"),
        ("@is_same_type(i16, u16)", "false"),
        ("@fp16()", "f16"),
        ('@is_arch("wse2")', "true"),
        ('@is_arch("wse3")', "false"),
        ("@is_comptime()", "true"),
    ],
)
def test_values_of_the_language(expression: str, text: str) -> None:
    assert printed(expression, before=ENUM) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("@zeros([3]i16)", "[3]i16{ 0, 0, 0 }"),
        ("@constants([2]f32, 1.5)", "[2]f32{ 1.5, 1.5 }"),
        ("@constants([2]bool, true)", "[2]bool{ true, true }"),
        ("@constants([2]direction, EAST)", "[2]direction{ EAST, EAST }"),
        ("@element_type([4, 2]u32)", "u32"),
        ("@element_count([4, 2]u32)", "8"),
        ("@rank([4, 2]u32)", "2"),
        ("@dimensions([4, 2]u32)", "[2]u32{ 4, 2 }"),
        ("@range_stop(@range(i16, 7))", "7"),
        ("@range_start(@range(i16, 3, 9, 2))", "3"),
        ("@range_step(@range(i16, 9, 3, -2))", "-2"),
        ('@field(.{ .a = 1, .b = 2 }, "b")', "2"),
        ('@has_field(.{ .a = 1 }, "a")', "true"),
        ('@has_field(.{ .a = 1 }, "c")', "false"),
        ("@concat_structs(.{ .a = 1 }, .{ .b = true })", ".{ .a = 1, .b = true }"),
        ("@concat_structs(.{ 1 }, .{ 2, 3 })", ".{ 1, 2, 3 }"),
        ("@concat_structs(.{}, .{ .b = 2 })", ".{ .b = 2 }"),
        ('@strcat("a", "b", "c")', "abc"),
        ('@strlen("four")', "4"),
        ('@get_array("AB")', "[2]u8{ 65, 66 }"),
        ("@get_string_from_byte(67)", "C"),
    ],
)
def test_values_of_arrays_structs_and_strings(expression: str, text: str) -> None:
    assert printed(expression) == text


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("@as(u8, 256)", "out-of-range: 256 doesn't fit in `u8`"),
        ("@as(u8, -1)", "out-of-range: -1 doesn't fit in `u8`"),
        ("@as(u16, 70000.5)", "out-of-range: 70000.5 doesn't fit in `u16`"),
        ("@as(E, 3)", "out-of-range: `E` has no member with the value 3"),
        ("@bitcast(u16, @as(f32, 1.0))", "type-mismatch: `f32` has 32 bits, `u16` 16: they have "),
        ("@bitcast(u32, @zeros([2]u16))", "type-mismatch: @bitcast is for numbers and pointers"),
        ("@zeros([2]bool)", "type-mismatch: @zeros makes arrays of numbers, not of `bool`"),
        ("@zeros(i16)", "type-mismatch: an array type has to stand here, not `i16`"),
        ("@range(i16, 0, 4, 0)", "out-of-range: the step of a range is not 0"),
        ("@range(i16, 0, 4)", "argument-count: @range takes a stop, or a start, a stop and a step"),
        ("@range(f32, 4)", "type-mismatch: a range is of integers, not of `f32`"),
        ('@is_arch("wse1")', 'unknown-arch: there is no architecture "wse1"'),
        ("@concat_structs(.{ .a = 1 }, .{ .a = 2 })", "duplicate-field: both structs have a field"),
        ("@concat_structs(.{ .a = 1 }, .{ 2 })", "type-mismatch: a struct with names and one with"),
        ("@get_string_from_byte(256)", "out-of-range: a byte is from 0 to 255, not 256"),
        ("@strlen(5)", "type-mismatch: the argument is a string, not a `comptime_int`"),
    ],
)
def test_mistakes_in_values(expression: str, said: str) -> None:
    found = mistake(f"{ENUM}\ncomptime {{ const x = {expression}; }}")
    assert found.split(" ", 1)[1].startswith(said)
    assert found.startswith("2:")


def test_an_unknown_builtin_is_named_with_the_one_that_was_meant() -> None:
    found = mistake("const x = @zeroes([2]i16);")
    assert found.startswith("1:11 unknown-builtin: there is no builtin `@zeroes`")
    assert "`@zeros`" in found


def test_a_habit_of_zig_is_answered_with_csl() -> None:
    found = mistake("const x = @intCast(i16, 3);")
    assert found.startswith("1:11 unknown-builtin: there is no builtin `@intCast` => in CSL: @as")


def test_a_builtin_in_the_wrong_place_names_the_right_one() -> None:
    assert block_mistake("@set_rectangle(1, 1);") == (
        "1:1 builtin-context: @set_rectangle can't be used in a comptime block of a module"
        " => it belongs in the layout block"
    )


def test_a_wrong_number_of_arguments_shows_the_signature() -> None:
    assert block_mistake("@get_color();").startswith(
        "1:1 argument-count: @get_color takes 1 argument, not 0 => @get_color("
    )


def test_concat_structs_is_of_the_older_dialect() -> None:
    found = block_mistake("const x = @concat_structs(.{ .a = 1 }, .{ .b = 2 });", NEW)
    assert found.startswith(
        "1:11 unavailable: @concat_structs is of SDK 1.4, not of 2.10 => nested"
    )


def test_builtins_of_one_architecture_name_it() -> None:
    assert block_mistake("const u = @get_ut_id(1);", WSE2).startswith(
        "1:11 unavailable: @get_ut_id exists on wse3, not on wse2 => "
    )
    clean("const u = @get_ut_id(1);", WSE3)


def test_a_comptime_assertion_gives_its_reason() -> None:
    assert block_mistake('@comptime_assert(1 == 2, "sizes differ");') == (
        "1:1 assertion: this doesn't hold: sizes differ"
    )


def test_an_assertion_where_code_runs_asks_the_machine_with_its_text() -> None:
    tile = clean("fn f(x: i16) void { @assert(x > 2); } comptime { @export_symbol(f); }")
    (effect,) = tile.functions[0].body
    assert isinstance(effect, tree.Effect)
    assert isinstance(effect.value, tree.System)
    assert effect.value.call.name == "ASSERT"
    assert tile.texts == [b"x > 2"]


def test_pointers_are_cast_where_code_runs_and_keep_const() -> None:
    start = "var a: [4]f32; const c: [4]f32 = @zeros([4]f32);"
    clean(
        f"{start} fn f() void {{ var p = @ptrcast([*]u32, &a); }} comptime {{ @export_symbol(f); }}"
    )
    found = mistake(
        f"{start} fn f() void {{ var p = @ptrcast([*]u32, &c); }} comptime {{ @export_symbol(f); }}"
    )
    assert "type-mismatch: `*const [4]f32` can't be written through" in found


def test_fields_by_name_can_be_assigned() -> None:
    text = """
const S = struct { a: i16, b: i16 };
var s: S = S { .a = 1, .b = 2 };
fn f() void { @field(s, "b") = 3; }
comptime { @export_symbol(f); }
"""
    (assign,) = clean(text).functions[0].body
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.place, tree.FieldOf)
    assert assign.place.index == 1


def test_random_numbers_come_from_the_machine() -> None:
    tile = clean("var x: u16; fn f() void { x = @random16(); } comptime { @export_symbol(f); }")
    (assign,) = tile.functions[0].body
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.System)
    assert assign.value.type == types.U16


def test_the_private_builtin_is_unknown_outside_of_the_library() -> None:
    assert mistake('const x = @wafer("get_x");') == (
        "1:11 unknown-builtin: there is no builtin `@wafer`"
    )


def test_the_table_has_every_builtin_that_is_suggested() -> None:
    assert set(BUILTINS) == {*NAMES, "@wafer"}


def test_several_mistakes_are_all_reported() -> None:
    _, found = tile_of("const a = @foo_bar(1);\nconst b = @as(u8, 300);")
    assert [one.split(":")[0] for one in found] == ["1", "2"]
