from dataclasses import replace

import pytest

from simulators.wafer.program import TaskKind
from tests.toolchains.csl.compiling import WSE2, WSE3, block_mistake, clean, printed, tile_of
from toolchains.csl import tree
from toolchains.csl.evaluation import Options

MEMCPY = replace(WSE2, memcpy=True)
MEMCPY3 = replace(WSE3, memcpy=True)
TASKS = "task t() void {} task u() void {} task d(x: f32) void {} fn f() void {}"
LOCAL = "@bind_local_task(t, @get_local_task_id(9));"


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("@get_int(@get_color(5))", "5"),
        ("@get_int(@get_local_task_id(30))", "30"),
        ("@get_int(@get_control_task_id(63))", "63"),
        ("@get_int(@get_data_task_id(@get_color(4)))", "4"),
        ("@get_int(@get_output_queue(5))", "5"),
        ("@get_int(7)", "7"),
    ],
)
def test_ids_are_made_of_numbers_and_back(expression: str, number: str) -> None:
    assert printed(expression) == number


@pytest.mark.parametrize(
    ("options", "expression", "said"),
    [
        (WSE2, "@get_color(24)", "out-of-range: a color of wse2 is from 0 to 23, not 24"),
        (WSE2, "@get_local_task_id(31)", "out-of-range: a local_task_id of wse2 is from 0 to 30"),
        (WSE3, "@get_local_task_id(7)", "out-of-range: a local_task_id of wse3 is from 8 to 30"),
        (WSE2, "@get_control_task_id(64)", "out-of-range: a control_task_id of wse2 is from 0 to"),
        (WSE2, "@get_output_queue(6)", "out-of-range: a output_queue of wse2 is from 0 to 5"),
        (WSE3, "@get_input_queue(8)", "out-of-range: a input_queue of wse3 is from 0 to 7"),
        (WSE3, "@get_ut_id(8)", "out-of-range: a ut_id of wse3 is from 0 to 7, not 8"),
        (WSE2, "@get_color(@get_output_queue(1))", "type-mismatch: an integer has to stand here"),
        (WSE2, "@get_color(1.5)", "type-mismatch: the number of a color is an integer, not a"),
        (
            WSE3,
            "@get_data_task_id(@get_color(1))",
            "type-mismatch: on wse3 a data task id is made of a `input_queue`, not `color`",
        ),
        (WSE2, "@get_int(true)", "type-mismatch: @get_int takes ids, queues, colours, enums"),
    ],
)
def test_numbers_out_of_range_are_named(options: Options, expression: str, said: str) -> None:
    found = block_mistake(f"const x = {expression};", options)
    assert found.split(" ", 1)[1].startswith(said)


def test_ids_of_numbers_that_are_not_known_have_to_be_u16() -> None:
    text = "fn f(n: {}) void {{ var c = @get_color(n); }} comptime {{ @export_symbol(f); }}"
    clean(text.format("u16"))
    _, found = tile_of(text.format("i16"))
    assert "type-mismatch: a number that isn't known while compiling has to be a `u16`" in found[0]


def test_tasks_are_bound_by_kind() -> None:
    tile = clean(
        f"{TASKS} comptime {{ {LOCAL} @bind_data_task(d, @get_data_task_id(@get_color(2)));"
        " @bind_control_task(u, @get_control_task_id(40)); @activate(@get_local_task_id(9));"
        " @block(@get_color(2)); @unblock(@get_local_task_id(9)); }"
    )
    bound = [(one.kind, one.id, one.value.node.name) for one in tile.bindings]
    assert bound == [
        (TaskKind.LOCAL, 9, "t"),
        (TaskKind.DATA, 2, "d"),
        (TaskKind.CONTROL, 40, "u"),
    ]
    assert [number for number, _ in tile.active] == [9]
    assert [number for number, _ in tile.blocked] == [2]
    assert [number for number, _ in tile.unblocked] == [9]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "@bind_local_task(f, @get_local_task_id(8));",
            "1:18 type-mismatch: `f` is a function => declare it so: task f(…) void",
        ),
        (
            "@bind_local_task(d, @get_local_task_id(8));",
            "1:18 task-parameters: a local task has no parameters: nothing arrives with it"
            " => @bind_data_task is for tasks that take data",
        ),
        (
            "@bind_data_task(t, @get_data_task_id(@get_color(1)));",
            "1:17 task-parameters: a data task has a parameter for the wavelet's data"
            " => task name(data: f32) void",
        ),
        (
            "@bind_local_task(t, @get_color(8));",
            "1:21 type-mismatch: a local task is bound to a `local_task_id`, not to a `color`"
            " => @get_local_task_id(…)",
        ),
        (
            "@activate(@get_color(3));",
            "1:11 type-mismatch: @activate takes `local_task_id`, not a `color` on wse2"
            " => @get_data_task_id(@get_input_queue(n)), or the queue itself",
        ),
        (
            "@block(3);",
            "1:8 type-mismatch: @block takes one of `color`, `data_task_id`, `local_task_id`,"
            " not a `comptime_int` on wse2",
        ),
    ],
)
def test_what_cannot_be_bound_or_blocked_is_said(statement: str, said: str) -> None:
    assert block_mistake(statement, before=TASKS) == said


def test_one_task_per_id() -> None:
    found = block_mistake(f"{LOCAL}\n@bind_local_task(u, @get_local_task_id(9));", before=TASKS)
    assert found == (
        "2:1 duplicate-binding: task id 9 is bound twice: to `t` already"
        " => all kinds of tasks share one table of ids"
    )


def test_control_tasks_may_have_a_table_of_their_own() -> None:
    clean(
        f"{TASKS} comptime {{ {LOCAL}"
        " @set_control_task_table(.{ .instructions = 8, .stride = 4 });"
        " @bind_control_task(u, @get_control_task_id(9)); }",
        WSE3,
    )


def test_ids_of_memcpy_are_refused_with_those_that_are_free() -> None:
    found = block_mistake("@bind_local_task(t, @get_local_task_id(27));", MEMCPY3, TASKS)
    assert found == (
        "1:1 reserved-id: task id 27 is memcpy's => free for local tasks: 8, 9, 10, 11, 12, 13, 14,"
        " 15, 16, 17, 18, 19, 20, 24, 25, 26"
    )
    clean(f"{TASKS} comptime {{ @bind_local_task(t, @get_local_task_id(27)); }}")


def test_running_code_activates_and_blocks() -> None:
    tile = clean(
        "task t() void { @activate(@get_local_task_id(9)); @block(@get_ut_id(3)); }"
        f" comptime {{ {LOCAL} }}",
        WSE3,
    )
    operations = []
    for one in tile.functions[0].body:
        assert isinstance(one, tree.Effect)
        assert isinstance(one.value, tree.TaskOp)
        operations.append((one.value.operation, one.value.target.microthread))
    assert operations == [("activate", False), ("block", True)]


def test_the_binding_of_older_releases_is_explained() -> None:
    found = block_mistake("@bind_task(t, @get_color(3));", before=TASKS)
    assert found.startswith("1:1 old-builtin: @bind_task is no longer part of CSL => @bind_local_")


# --- queues ------------------------------------------------------------------------------------


def test_queues_are_initialised() -> None:
    tile = clean(
        "comptime { @initialize_queue(@get_input_queue(2), .{ .color = @get_color(3),"
        " .priority = .{ .high = true } }); @initialize_queue(@get_output_queue(1)); }"
    )
    assert [(one.output, one.id, one.color, one.priority) for one in tile.queues] == [
        (False, 2, 3, 1),
        (True, 1, -1, 0),
    ]


@pytest.mark.parametrize(
    ("options", "statement", "said"),
    [
        (
            WSE2,
            "@initialize_queue(@get_input_queue(2));",
            "1:1 missing-field: an input queue of wse2 is initialised with its colour"
            " => @initialize_queue(queue, .{ .color = c })",
        ),
        (
            WSE3,
            "@initialize_queue(@get_output_queue(2));",
            "1:1 missing-field: an output queue of wse3 is initialised with its colour"
            " => @initialize_queue(queue, .{ .color = c })",
        ),
        (
            WSE2,
            "@initialize_queue(@get_output_queue(2), .{ .color = @get_color(1) });",
            "1:41 unknown-field: an output queue of wse2 takes no configuration"
            " => its colour is that of the DSD; @initialize_queue(queue)",
        ),
        (
            WSE3,
            "@initialize_queue(@get_input_queue(2), .{ .color = @get_color(1), .prio = 1 });",
            "1:75 unknown-field: the configuration of this queue on wse3 has no field `prio`"
            " => its fields: color, ctrl_table_id",
        ),
        (
            WSE3,
            "@initialize_queue(@get_input_queue(2), .{ .color = 3 });",
            "1:52 type-mismatch: .color is a color, not a `comptime_int` => @get_color(n)",
        ),
        (
            WSE3,
            "@initialize_queue(3, .{});",
            "1:19 type-mismatch: a queue has to stand here, not a `comptime_int`"
            " => @get_input_queue(n) or @get_output_queue(n)",
        ),
        (
            WSE2,
            "@initialize_queue(@get_input_queue(2), .{ .color = @get_color(1),"
            " .priority = .{ .high = true, .low = true } });",
            "1:79 bad-choice: .priority has exactly one field that is true"
            " => such as .{ .low = true }; its fields: low, medium, high",
        ),
        (
            MEMCPY3,
            "@initialize_queue(@get_input_queue(1), .{ .color = @get_color(1) });",
            "1:19 memcpy-queue: input_queue 1 is memcpy's on wse3 => free here: 2, 3, 4, 5, 6, 7",
        ),
    ],
)
def test_mistakes_of_queues(options: Options, statement: str, said: str) -> None:
    assert block_mistake(statement, options) == said


def test_a_queue_is_initialised_once() -> None:
    one = "@initialize_queue(@get_input_queue(2), .{ .color = @get_color(1) });"
    assert (
        block_mistake(f"{one}\n{one}") == "2:1 duplicate-queue: input_queue 2 is initialised twice"
    )


def test_handlers_are_set_once_and_exclude_the_teardown_task() -> None:
    handler = "@set_teardown_handler(f, @get_color(3));"
    assert list(clean(f"{TASKS} comptime {{ {handler} }}").teardown_handlers) == [3]
    found = block_mistake(f"{handler}\n{handler}", before=TASKS)
    assert found == "2:1 duplicate-handler: colour 3 has a teardown handler already"
    found = block_mistake(f"@bind_local_task(t, @get_local_task_id(29));\n{handler}", before=TASKS)
    assert found == "2:1 duplicate-binding: task id 29 is bound: there can be no handlers besides"


def test_queues_of_wse3_can_be_flushed() -> None:
    tile = clean(
        f"{TASKS} task s() void {{ @queue_flush(@get_output_queue(2)); }}"
        " comptime { @bind_local_task(s, @get_local_task_id(8));"
        " @set_empty_queue_handler(f, @get_output_queue(2)); }",
        WSE3,
    )
    assert list(tile.empty_handlers) == [2]


def test_configuration_words_are_kept() -> None:
    tile = clean("comptime { @set_config(0x7f00, 5); @comptime_assert(@get_config(0x7f00) == 5); }")
    assert [(one[0], one[1]) for one in tile.config_words] == [(0x7F00, 5)]
