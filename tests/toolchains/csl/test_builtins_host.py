import pytest

from tests.toolchains.csl.compiling import WSE2, WSE3, block_mistake, compiled, printed
from toolchains.csl import tree
from toolchains.csl.evaluation import Options

LAYOUT = """layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("first", i16, true);
  @export_name("second", [*]f32, true);
}"""
SYMBOLS = """
var first: i16 = 3;
var a: [4]f32;
var second: [*]f32 = &a;
var i: i16 = 0;
var p: [*]u16 = @bitcast([*]u16, @as(u16, 0));
fn f() void {{ {} }}
comptime {{ @export_symbol(first); @export_symbol(second); @export_symbol(f, "f"); }}
"""
NEW = Options("wse3", "2.10", memcpy=False)


def symbols(statements: str) -> tuple[tuple[str, ...], tuple[tree.Stmt, ...]]:
    layout = LAYOUT.replace("@export_name", '@export_name("f", fn()void); @export_name', 1)
    found = compiled({"layout.csl": layout, "pe.csl": SYMBOLS.format(statements)})
    bodies = [one.body for tile in found.tiles for one in tile.functions if one.name == "f"]
    return found.said, bodies[0] if bodies else ()


def test_symbols_have_ids_in_the_order_of_their_names() -> None:
    said, body = symbols(
        "@comptime_assert(@get_symbol_id(second) == 2); i = @get_symbol_value(i16, 1);"
    )
    assert not said
    (assign,) = body
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.GlobalRef)
    assert assign.value.variable.name == "first"


def test_exported_pointers_are_had_by_id() -> None:
    said, (assign,) = symbols("p = @get_tensor_ptr(2);")
    assert not said
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.Bitcast)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("p = @get_tensor_ptr(1);", 'type-mismatch: "first" is a `i16`, no pointer'),
        (
            "i = @get_symbol_value(i16, 2);",
            'type-mismatch: "second" is of type `[*]f32`, not `i16`',
        ),
        (
            "i = @get_symbol_value(i16, 7);",
            "out-of-range: the id of a symbol is from 0 to 2, not 7",
        ),
        ("i = @as(i16, @get_symbol_id(a));", "not-exported: this isn't exported"),
    ],
)
def test_ids_that_no_symbol_has_are_mistakes(statement: str, said: str) -> None:
    (found,) = symbols(statement)[0]
    assert found.split(" ", 1)[1].startswith(said)


JSON = """{"n:i16": 5, "scale:f32": 0.5, "name:comptime_string": "abc", "c:color": 7,
  "list:[2]u16": [1, 2], "inner": {"flag:bool": true}}"""


def imported(json: str, use: str) -> tuple[str, ...]:
    text = f"""const data = @import_comptime_value(comptime_struct, "data.json");
layout {{ @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{{}}); {use} }}"""
    return compiled({"layout.csl": text, "pe.csl": "", "data.json": json}).said


def test_values_are_imported_from_json() -> None:
    (found,) = imported(JSON, "@comptime_print(data);")
    assert found.endswith(
        "comptime-print: .{ .n = 5, .scale = 0.5, .name = abc, .c = 7, .list = [2]u16{ 1, 2 },"
        " .inner = .{ .flag = true } }"
    )


@pytest.mark.parametrize(
    ("json", "said"),
    [
        ("{", "bad-json: data.json is no JSON"),
        ('{"n": 5}', 'bad-json: a name in the file is written "name:type"; there is no type ""'),
        ('{"l:[3]i16": [1]}', "bad-json: the file has no list of 3 values, which `[3]i16` needs"),
        ('{"n:u8": 300}', "value-range: 300 does not fit `u8`"),
    ],
)
def test_json_that_cannot_be_values_is_refused(json: str, said: str) -> None:
    (found,) = imported(json, "@comptime_print(data.n);")
    assert found.split(" ", 1)[1].startswith(said)


def test_exported_tensors_are_noticed() -> None:
    assert (
        printed("has()", before="const h = @has_exported_tensors(); fn has() bool { return h; }")
        == "false"
    )


def test_rotating_tasks_bind_the_second_to_control_id_0() -> None:
    tasks = "task a(x: u16) void {} task b() void {} "
    statement = (
        "@bind_rotating_tasks(a, b, @get_data_task_id(@get_input_queue(3)), .{ .limit = 4 });"
    )
    assert block_mistake(statement, NEW, tasks).startswith(
        "1:1 unsupported: the tasks don't rotate"
    )
    assert block_mistake(statement, WSE3, tasks).startswith(
        "1:1 unavailable: @bind_rotating_tasks is of SDK 2.10, not of 1.4"
    )


def test_the_tally_leads_to_the_north_east_corner() -> None:
    layout = """
const tally = @import_module("<kernels/tally/layout>", .{ .kernel_height = 3, .kernel_width = 3,
  .phase2_tally = 0, .colors = [3]color { @get_color(1), @get_color(2), @get_color(3) } });
layout {
  @set_rectangle(3, 3);
  for (@range(u16, 3)) |x| {
    for (@range(u16, 3)) |y| {
      @set_tile_code(x, y, "pe.csl", .{ .tally_params = tally.get_params(x, y) });
    }
  }
}"""
    found = compiled({"layout.csl": layout, "pe.csl": "param tally_params = {};"}, WSE2)
    assert not found.said
    assert found.layout is not None
    routes = {place: one.route for place, one in found.layout.colors.items()}
    ports = {0: (0, -1), 1: (0, 1), 2: (1, 0), 3: (-1, 0)}
    seen = set()
    for (x, y, color), route in routes.items():
        if route.receive != 1 << 4:
            continue
        port = route.send.bit_length() - 1
        dx, dy = ports[port]
        assert routes[x + dx, y + dy, color].send == 1 << 4
        seen.add((x, y))
    assert seen == {(x, y) for x in range(3) for y in range(3)} - {(2, 0)}
