"""Checks of queues and microthreads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolchains.csl.evaluation import Options

from .checking import HEAD, IDLE, WSE2, WSE3, pair, queues, receiver, said, sender

NEW2, NEW3 = replace(WSE2, dialect="2.10"), replace(WSE3, dialect="2.10")
UNBLOCK = "sys.unblock_cmd_stream();"
TAKES = HEAD + receiver(1) + f"fn go() void {{ @fmovs(mem, rx); {UNBLOCK} }}\n" + queues(-1, 1)


def new(files: dict[str, str]) -> dict[str, str]:
    """A program in SDK 2.10, which has no type for all structs."""
    return {name: text.replace(": comptime_struct", "") for name, text in files.items()}


def test_an_input_queue_without_a_colour_is_said() -> None:
    reads = HEAD + receiver(2) + f"fn go() void {{\n  @fmovs(mem, rx); {UNBLOCK} }}\n" + queues()
    sends = HEAD + sender(2) + f"fn go() void {{ @fmovs(tx, mem); {UNBLOCK} }}\n" + queues(2)
    files = pair(reads, sends)
    expected = (
        "warning 8:3 queue-not-initialised: input_queue 3 is not initialised, so @fmovs never gets"
        " or gives a wavelet => @initialize_queue(@get_input_queue(3), .{ .color = … })"
        " in a comptime block"
    )
    assert said(new(files), NEW2) == [expected]
    assert expected in said(new(files), NEW3)
    assert said(files, WSE2) == []


def test_an_output_queue_of_wse3_needs_its_colour() -> None:
    sends = HEAD + sender(1) + f"fn go() void {{\n  @fmovs(tx, mem); {UNBLOCK} }}\n" + queues()
    (found,) = said(new(pair(sends, TAKES)), NEW3)
    assert found.startswith(
        "warning 8:3 queue-not-initialised: output_queue 2 is not initialised, so @fmovs never"
    )
    assert said(new(pair(sends, TAKES)), NEW2) == []


def test_a_data_task_of_wse3_needs_its_queue() -> None:
    text = HEAD + f"task got(v: f32) void {{}}\nfn go() void {{ {UNBLOCK} }}\n"
    text += "comptime {\n  @bind_data_task(got, @get_data_task_id(iq)); }\n"
    (found,) = said(pair(text + queues()), WSE3)
    assert found == (
        "warning 9:3 queue-not-initialised: input_queue 3 is not initialised, so the data task"
        " `got` never gets or gives a wavelet => @initialize_queue(@get_input_queue(3),"
        " .{ .color = … }) in a comptime block"
    )
    assert said(pair(text + queues(-1, 2)), WSE3) == []


@pytest.mark.parametrize("options", [WSE2, WSE3])
def test_two_operations_that_need_one_microthread_are_said(options: Options) -> None:
    text = HEAD + sender(1) + "fn go() void { @fmovs(tx, mem, .{ .async = true });\n"
    text += f"  @fmovs(tx, mem, .{{ .async = true }}); {UNBLOCK} }}\n"
    assert said(pair(text + queues(1), TAKES), options) == [
        "warning 8:3 overlap: @fmovs needs microthread 2, which the asynchronous @fmovs before it"
        " still has in `go` => start it in the task that the first one activates at its end, or"
        " give it another queue"
    ]


def test_a_synchronous_operation_behind_an_asynchronous_one_is_said() -> None:
    text = HEAD + sender(1) + "fn go() void { @fmovs(tx, mem, .{ .async = true });\n"
    text += f"  @fmovs(tx, mem); {UNBLOCK} }}\n"
    assert said(pair(text + queues(1), TAKES)) == [
        "warning 8:3 overlap: @fmovs waits in its task for output_queue 2, which the asynchronous"
        " @fmovs before it still has in `go` => start it in the task that the first one activates"
        " at its end"
    ]


def test_a_loop_that_starts_an_operation_again_is_said() -> None:
    text = HEAD + sender(1) + "fn go() void { for (@range(i16, 3)) |i| {\n"
    text += f"  @fmovs(tx, mem, .{{ .async = true }}); }} {UNBLOCK} }}\n"
    (found,) = said(pair(text + queues(1), TAKES))
    assert found.startswith(
        "warning 8:3 overlap: @fmovs needs microthread 2, which its own earlier round still has"
    )


@pytest.mark.parametrize(
    "body",
    [
        "@fmovs(tx, mem); @fmovs(tx, mem, .{ .async = true });",
        "if (x[0] > 0.0) { @fmovs(tx, mem, .{ .async = true }); } else"
        " { @fmovs(tx, mem, .{ .async = true }); }",
        "if (x[0] > 0.0) { @fmovs(tx, mem, .{ .async = true }); } @fmovs(tx, mem);",
        "for (@range(i16, 1)) |i| { @fmovs(tx, mem, .{ .async = true }); }",
    ],
)
def test_operations_that_need_not_meet_are_not_warned_of(body: str) -> None:
    text = HEAD + sender(1) + f"fn go() void {{ {body} {UNBLOCK} }}\n" + queues(1)
    assert said(pair(text, TAKES)) == []


def test_microthreads_of_their_own_keep_operations_apart_but_not_their_queue() -> None:
    text = HEAD + sender(1)
    text += "fn go() void { @fmovs(tx, mem, .{ .async = true, .ut_id = @get_ut_id(3) });\n"
    text += f"  @fmovs(tx, mem, .{{ .async = true, .ut_id = @get_ut_id(4) }}); {UNBLOCK} }}\n"
    (found,) = said(pair(text + queues(1), TAKES), WSE3)
    assert found.startswith("warning 8:3 overlap: @fmovs needs output_queue 2, which the")


def test_queues_of_memcpy_are_said_with_those_that_are_free() -> None:
    text = IDLE.replace("@get_input_queue(3)", "@get_input_queue(1)")
    text += "comptime {\n  @initialize_queue(iq, .{ .color = @get_color(2) }); }\n"
    (found,) = said(pair(text), WSE3)
    assert found == (
        "warning 9:21 memcpy-queue: input_queue 1 is memcpy's on wse3"
        " => free here: 2, 3, 4, 5, 6, 7"
    )
