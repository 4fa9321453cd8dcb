from dataclasses import replace

import pytest

from simulators.wafer.dsd import Completion, OnControl
from tests.toolchains.csl.compiling import WSE2, WSE3, tile_of
from tests.toolchains.csl.dsds import AROUND, END, mistake, operation, tile_with
from toolchains.csl import tree
from toolchains.csl.evaluation import Options
from toolchains.csl.lower import lower_tile
from toolchains.csl.lower.places import PlaceTable
from toolchains.csl.source import Reports

ASYNC = "@fmovs(OUT, A, .{{ .async = true, {} }});"
BOUND = "comptime { @bind_local_task(t, @get_local_task_id(11)); }"


def _behaviour(config: str, options: Options = WSE2, before: str = "") -> tree.Behaviour:
    return operation(ASYNC.format(config), options, before).behaviour


def test_what_follows_the_end() -> None:
    made = _behaviour(".activate = id")
    assert (made.completion, made.completion_id) == (Completion.ACTIVATE, 9)
    made = _behaviour(".unblock = @get_color(5)")
    assert (made.completion, made.completion_id) == (Completion.UNBLOCK, 5)
    made = _behaviour(".unblock = @get_input_queue(4)", WSE3)
    assert (made.completion, made.completion_id) == (Completion.UNBLOCK, 4)


def test_what_control_wavelets_do() -> None:
    made = _behaviour(".on_control = .{ .terminate = true }")
    assert made.on_control is OnControl.TERMINATE
    made = _behaviour(".on_control = .{ .activate = id }, .unblock = id")
    assert (made.on_control, made.on_control_id) == (OnControl.ACTIVATE, 9)
    assert (made.completion, made.completion_id) == (Completion.UNBLOCK, 9)


def test_priority_microthread_and_index() -> None:
    assert _behaviour(".priority = .{ .high = true }").priority == 1
    assert _behaviour(".ut_id = @get_ut_id(5)", WSE3).microthread == 5
    index = operation("@fmovs(A, B, .{ .index = u });").behaviour.index
    assert isinstance(index, tree.GlobalRef)
    index = operation("@fmovs(A, B, .{ .index = 3 });").behaviour.index
    assert isinstance(index, tree.Constant)


def test_the_simd_mode_is_that_of_the_dsd() -> None:
    before = (
        "const FAST = @get_dsd(fabout_dsd, .{ .extent = 10, .fabric_color = @get_color(6),"
        " .output_queue = @get_output_queue(4), .simd_mode = .{ .simd_64 = true } });"
    )
    assert operation("@fmovs(FAST, A);", before=before).behaviour.simd == 64
    assert operation("@fmovs(OUT, A);").behaviour.simd == -1


@pytest.mark.parametrize(
    ("options", "config", "said"),
    [
        (
            WSE2,
            ".activate = id, .unblock = id",
            "bad-completion: an operation either activates or unblocks at its end",
        ),
        (
            WSE2,
            ".activate = @get_color(4)",
            "type-mismatch: .activate takes `local_task_id` or the name of a task, not a `color`",
        ),
        (
            WSE2,
            ".activate = g",
            "type-mismatch: .activate takes a task, and `g` is a function => task g() void",
        ),
        (
            WSE2,
            ".activate = t",
            "unbound-task: `t` is bound to no id, so nothing can activate it => @bind_local_task",
        ),
        (
            WSE3,
            ".unblock = @get_color(4)",
            "type-mismatch: .unblock takes `local_task_id`, `data_task_id`, `input_queue` or the",
        ),
        (
            WSE2,
            ".ut_id = 4",
            "unknown-field: the configuration of @fmovs has no field `ut_id` => its fields: async",
        ),
        (
            WSE3,
            ".priority = .{ .high = true }",
            "unknown-field: the configuration of @fmovs has no field `priority`",
        ),
        (WSE3, ".ut_id = 4", "type-mismatch: .ut_id is a `ut_id`, not a `comptime_int` => @get_ut"),
        (
            WSE2,
            ".priority = .{ .urgent = true }",
            "unknown-field: .priority has no field `urgent` => its fields: low, medium, high",
        ),
        (
            WSE2,
            ".on_control = true",
            "bad-choice: .on_control has one field: terminate, activate or unblock",
        ),
        (WSE2, ".index = 1.5", "type-mismatch: expected `u16`, found `comptime_float`"),
        (
            WSE2,
            ".activat = id",
            "unknown-field: the configuration of @fmovs has no field `activat` => did you mean",
        ),
    ],
)
def test_mistakes_are_explained(options: Options, config: str, said: str) -> None:
    assert mistake(ASYNC.format(config), options).split(" ", 1)[1].startswith(said)


def test_only_asynchronous_operations_have_an_end_to_wait_for() -> None:
    assert mistake("@fmovs(OUT, A, .{ .activate = id });") == (
        "1:31 bad-completion: .activate is of asynchronous operations: others are done when code"
        " goes on => .async = true, or @activate(…) afterwards"
    )


# --- tasks by name -------------------------------------------------------------------------------


def test_a_task_by_name_is_the_id_that_it_is_bound_to_later() -> None:
    tile = tile_with(ASYNC.format(".activate = t"), before=BOUND)
    made = lower_tile(tile, WSE2, "code", PlaceTable(), Reports())
    assert made.operations[0].completion_id == 11
    tile = tile_with(ASYNC.format(".on_control = .{ .unblock = t }"), before=BOUND)
    made = lower_tile(tile, WSE2, "code", PlaceTable(), Reports())
    assert made.operations[0].on_control_id == 11


def test_a_task_that_is_bound_twice_is_ambiguous() -> None:
    again = BOUND + "comptime { @bind_local_task(t, @get_local_task_id(12)); }"
    assert mistake(ASYNC.format(".activate = t"), before=again) == (
        "1:46 ambiguous-task: `t` is bound to 11 and 12 => name the id instead"
    )


def test_only_local_tasks_are_activated_by_name() -> None:
    before = (
        "task d(x: f32) void {} comptime { @bind_data_task(d, @get_data_task_id(@get_color(8))); }"
    )
    assert mistake(ASYNC.format(".activate = d"), before=before) == (
        "1:46 type-mismatch: only local tasks can be activated, and `d` is a data task"
    )
    tile_with(ASYNC.format(".unblock = d"), before=before)


def test_a_task_by_name_may_come_in_a_parameter() -> None:
    files = (
        f"{AROUND} const how = .{{ .async = true, .activate = t }}; {BOUND}"
        f" fn f() void {{ @fmovs(OUT, A, how); }}{END}"
    )
    tile, said = tile_of(files, replace(WSE2, dialect="2.10"))
    assert not said
    assert [one.value.node.name for one in tile.named_tasks] == ["t"]
