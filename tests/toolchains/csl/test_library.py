import math

import pytest

from simulators.wafer.control_wavelets import IGNORE, Opcode, encode_commands
from tests.toolchains.csl.compiling import WSE2, WSE3, clean, compiled, printed
from toolchains.csl import library
from toolchains.csl.evaluation import Options

EVERYWHERE = [
    WSE2,
    WSE3,
    Options("wse2", "2.10", memcpy=False),
    Options("wse3", "2.10", memcpy=False),
]
FLOAT_FUNCTIONS = [
    "sqrt",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
    "round",
    "trunc",
    "abs",
    "sign",
    "inv",
    "invsqrt",
    "sig",
]
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
IMPORTS = "".join(
    f'const {name.replace("layout", "place")} = @import_module("<{name}>");\n'
    for name in ("math", "control", "directions", "random", "layout", "tile_config", "complex")
)


def runs(statements: str, options: Options, variables: str = "") -> int:
    """How many functions a program with these statements has."""
    text = (
        f"{IMPORTS}{variables}fn f() void {{\n{statements}\n}}\ncomptime {{ @export_symbol(f); }}"
    )
    return len(clean(text, options).functions)


def test_modules_are_found_by_name_within_the_library_only() -> None:
    assert library.text("math") is not None
    assert library.text("tile_config/teardown") is not None
    assert library.text("../lexer") is None
    assert library.text("no_such") is None
    assert {"math", "control", "random", "layout", "directions"} <= set(library.names())


@pytest.mark.parametrize("options", EVERYWHERE)
def test_functions_of_math_take_every_type_that_they_should(options: Options) -> None:
    lines = []
    for kind in ("f16", "f32"):
        for name in FLOAT_FUNCTIONS:
            lines += [f"v_{kind} = math.{name}(v_{kind});", f"v_{kind} = math.{name}_{kind}(1.0);"]
        lines += [f"v_{kind} = math.{name}(v_{kind}, 2.0);" for name in ("min", "max", "pow")]
        for name in ("isNaN", "isInf", "isFinite", "isSignaling", "signbit"):
            lines += [f"ok = math.{name}(v_{kind});", f"ok = math.{name}_{kind}(v_{kind});"]
        lines.append(f"v_{kind} = math.fscale(v_{kind}, 3);")
    for kind in INTEGERS:
        lines += [f"v_{kind} = math.{name}(v_{kind});" for name in ("abs", "sign")]
        lines += [f"v_{kind} = math.{name}(v_{kind}, 3);" for name in ("min", "max")]
    variables = "".join(f"var v_{kind}: {kind} = 1;\n" for kind in ("f16", *INTEGERS))
    assert runs("\n".join(lines), options, f"{variables}var v_f32: f32; var ok: bool;\n") > 100


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("math.abs(@as(f32, -2.5))", "2.5"),
        ("math.abs(@as(i16, -7))", "7"),
        ("math.sign(@as(f16, -0.5))", "-1.0"),
        ("math.sign(@as(u8, 0))", "0"),
        ("math.max(3, 4)", "4"),
        ("math.floor(@as(f32, -1.5))", "-2.0"),
        ("math.ceil(@as(f16, 1.25))", "2.0"),
        ("math.sqrt(@as(f32, 2.0))", str(float.fromhex("0x1.6a09e6p+0"))),
        ("math.POSITIVE_INF_f32", "inf"),
        ("math.NEGATIVE_INF(f16)", "-inf"),
        ("math.isNaN(math.NaN_f16)", "true"),
        ("math.isFinite(math.POSITIVE_INF(bf16))", "false"),
        ("math.isInf(math.NEGATIVE_INF(cb16))", "true"),
        ("math.isSignaling(math.NaN_f32)", "false"),
        ("math.signbit(@as(f32, -0.0))", "true"),
        ("math.PI", str(math.pi)),
        ("directions.flip(NORTH)", "SOUTH"),
        ("directions.rotate_clockwise(NORTH)", "EAST"),
        ("directions.rotate_counterclockwise(NORTH)", "WEST"),
        ("directions.flip_horizontal(EAST)", "WEST"),
        ("directions.flip_vertical(EAST)", "EAST"),
    ],
)
def test_values_of_the_library(expression: str, text: str) -> None:
    assert printed(expression, before=IMPORTS) == text


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        (
            "control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0)",
            encode_commands([Opcode.SWITCH_ADV | IGNORE]),
        ),
        (
            "control.encode_single_payload(control.opcode.NOP, false, @get_control_task_id(40), 7)",
            encode_commands([Opcode.NOP], 40, 7),
        ),
        (
            "control.encode_control_task_payload(@get_control_task_id(35))",
            encode_commands([], 35),
        ),
        (
            "control.encode_payload(2, [2]control.opcode { control.opcode.SWITCH_ADV,"
            " control.opcode.SWITCH_RST }, [2]bool { true, false }, false, {})",
            encode_commands([Opcode.SWITCH_ADV | IGNORE, Opcode.SWITCH_RST]),
        ),
        (
            "control.encode_payload(1, [1]control.opcode { control.opcode.TEARDOWN },"
            " [1]bool { true }, true, {})",
            0x9DF9249,
        ),
    ],
)
def test_control_wavelets_are_those_of_the_machine(expression: str, word: int) -> None:
    assert printed(expression, before=IMPORTS) == str(word)


@pytest.mark.parametrize("options", EVERYWHERE)
def test_the_configuration_of_a_tile_compiles(options: Options) -> None:
    statements = """
const c = @get_color(3);
const pending = tile_config.teardown.get_pending();
ok = tile_config.teardown.is_pending(pending, c);
tile_config.teardown.exit(c);
const address = tile_config.color_config.get_color_config_addr(c);
tile_config.color_config.reset_routes(address, .{ .tx = [2]direction { WEST, NORTH }, .rx = RAMP });
tile_config.switch_config.clear_current_position(c);
tile_config.switch_config.set_invalid_for_all_switch_positions(address);
tile_config.switch_config.set_rx_switch_pos1(c, RAMP);
tile_config.switch_config.set_pop_mode(c, tile_config.switch_config.pop_mode.ALWAYS_POP);
tile_config.task_priority.set_task_priority(@get_local_task_id(9));
tile_config.exceptions.set_exception_mask(tile_config.exceptions.FP_DIV_BY_0);
const status = tile_config.input_queue_status.get();
ok = tile_config.input_queue_status.is_full(status, @get_input_queue(2));
"""
    assert runs(statements, options, "var ok: bool = false;\n") > 5


@pytest.mark.parametrize("options", EVERYWHERE)
def test_random_numbers_places_and_complex_numbers_compile(options: Options) -> None:
    statements = """
x = random.random_f32(-1.0, 1.0) + random.random_normal_f32();
random.set_global_prng_seed(5);
n = random.random_pow_u32(5) + @as(u32, place.get_x_coord()) + @as(u32, place.get_y_coord());
var z = complex.get_complex(x, 2.0);
z = complex.multiply_complex_64(z, complex.add_complex(z, z));
x = z.real;
"""
    assert runs(statements, options, "var x: f32 = 0.0; var n: u32 = 0;\n") > 5


def test_memory_is_given_out_in_parts() -> None:
    text = """
const mem = @import_module("<malloc>", .{ .buffer_num_words = 10 });
fn f() void { var a = mem.malloc_u16(3); var b = mem.malloc(f32, 2); b[1] = 2.0; mem.free(); }
comptime { @export_symbol(f); }
"""
    assert len(clean(text).functions) > 3


@pytest.mark.parametrize("options", EVERYWHERE)
def test_collectives_link_neighbours_by_alternating_colours(options: Options) -> None:
    layout = """
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(3, 2);
  for (@range(u16, 3)) |x| {
    for (@range(u16, 2)) |y| {
      const params = c2d.get_params(x, y, .{
        .x_colors = .{ @get_color(0), @get_color(1) },
        .x_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },
        .y_colors = .{ @get_color(4), @get_color(5) },
        .y_entrypoints = .{ @get_local_task_id(12), @get_local_task_id(13) },
      });
      @set_tile_code(x, y, "pe.csl", .{ .c2d_params = params });
    }
  }
}
"""
    found = compiled({"layout.csl": layout, "pe.csl": "param c2d_params = {};"}, options)
    assert not found.said
    assert found.layout is not None
    assert len(found.layout.classes) == 1
    row = [(x, color) for x, y, color in found.layout.colors if y == 0 and color < 4]
    assert sorted(row) == [(0, 0), (1, 0), (1, 1), (2, 1)]
    east, west = found.layout.colors[0, 0, 0].route, found.layout.colors[1, 0, 0].route
    assert (east.receive, east.send) == (16, 4)
    assert (west.receive, west.send) == (8, 16)
