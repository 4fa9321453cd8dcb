"""Checks of tasks: ids that nothing is bound to, and the host's command that must be let pass."""

from __future__ import annotations

import pytest

from .checking import HEAD, IDLE, WSE3, compiled, pair, queues, said

UNBLOCK = "sys.unblock_cmd_stream();"
HINT = " => call unblock_cmd_stream() of <memcpy/memcpy> where its work ends"
ID = "const done_id = @get_local_task_id(9);\n"
BOUND = "comptime { @bind_local_task(done, done_id); }\n"


def left(text: str) -> list[str]:
    """What is said of a program of the left PE, whose own lines start at 6."""
    return said(pair(HEAD + text + queues()))


def test_a_program_that_lets_commands_pass_is_fine() -> None:
    assert said(pair(IDLE)) == []


def test_a_launched_function_that_ends_without_unblocking_is_named_with_its_path() -> None:
    text = ID + "task done() void {}\nfn go() void { @activate(done_id); }\n" + BOUND
    (found,) = compiled(pair(HEAD + text + queues()))[1]
    assert found.span is not None
    assert (found.severity, found.code) == ("warning", "no-unblock")
    assert (found.span.source.name, found.span.line, found.span.column) == ("left.csl", 8, 1)
    assert found.message == (
        "`go` never reaches unblock_cmd_stream: the path `go` → `done` ends without it,"
        " and the host's next command waits for ever"
    )
    assert [(note.message, note.span and note.span.line) for note in found.notes] == [
        ("`go` activates `done` here", 8),
        ("in the program of the PEs (0,0)", None),
    ]


def test_a_choice_after_which_nothing_unblocks_is_named() -> None:
    text = f"var n: i16 = 0;\nfn go() void {{ if (n > 0) {{ {UNBLOCK} }} }}\n"
    assert left(text) == [
        "warning 7:20 no-unblock: `go` can end without unblock_cmd_stream: nothing gets there where"
        " this is false, and the host's next command waits for ever" + HINT
    ]
    text = f"var n: i16 = 0;\nfn go() void {{ if (n > 0) {{ n = 1; }} else {{ {UNBLOCK} }} }}\n"
    assert "where this is true" in left(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        f"var n: i16 = 0;\nfn go() void {{ if (n > 0) {{ n = 1; }} {UNBLOCK} }}\n",
        f"{ID}task done() void {{ {UNBLOCK} }}\nfn go() void {{ @activate(done_id); }}\n{BOUND}",
        f"fn end() void {{ {UNBLOCK} }}\n"
        "var p: *const fn () void = &end;\nfn go() void { p(); }\n",
        f"var n: i16 = 0;\nfn go() void {{ while (n < 3) : (n += 1) {{ {UNBLOCK} }} }}\n",
        f"var n: i16 = 0; task got(v: f32) void {{ n += 1; if (n == 3) {{ {UNBLOCK} }} }}\n"
        "fn go() void {}\n"
        "comptime { @bind_data_task(got, @get_data_task_id(@get_color(2))); }\n",
    ],
)
def test_ways_that_may_unblock_are_not_warned_of(text: str) -> None:
    assert left(text) == []


def test_an_activation_that_reaches_no_task_is_said_with_the_ids_that_are_bound() -> None:
    text = f"{ID}task done() void {{ {UNBLOCK} }}\n"
    text += "fn go() void { @activate(done_id);\n  @activate(@get_local_task_id(12)); }\n" + BOUND
    assert left(text) == [
        "warning 9:3 unbound-task: no task is bound to id 12, so this activates nothing"
        " => @bind_local_task(…, @get_local_task_id(12)) in a comptime block;"
        " bound here: 9 (`done`)"
    ]


def test_an_activation_at_the_start_needs_a_task_too() -> None:
    text = f"fn go() void {{ {UNBLOCK} }}\ncomptime {{\n  @activate(@get_local_task_id(12)); }}\n"
    (found,) = left(text)
    assert found.startswith(
        "warning 8:3 unbound-task: no task is bound to id 12, so this activates"
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (".activate = @get_local_task_id(12)", "no task is bound to id 12, so this"),
        (".unblock = @get_local_task_id(12)", ""),
        (".activate = @get_local_task_id(9)", ""),
    ],
)
def test_completion_targets_need_a_task(target: str, message: str) -> None:
    text = "const tx = @get_dsd(fabout_dsd, .{ .extent = 64, .fabric_color = @get_color(1),"
    text += " .output_queue = oq });\n"
    text += f"{ID}task done() void {{}}\n"
    text += f"fn go() void {{\n  @fmovs(tx, mem, .{{ .async = true, {target} }}); {UNBLOCK} }}\n"
    reader = IDLE + "task got(v: f32) void {} comptime { "
    reader += "@bind_data_task(got, @get_data_task_id(@get_color(1))); }"
    found = said(pair(HEAD + text + BOUND + queues(1), reader))
    assert len(found) == bool(message)
    for one in found:
        assert one.startswith(f"warning 10:3 unbound-task: {message}")


def test_a_task_named_as_a_target_must_be_bound() -> None:
    text = "const tx = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(1),"
    text += " .output_queue = oq });\ntask done() void {}\n"
    text += "fn go() void { @fmovs(tx, mem, .{ .async = true, .activate = done });\n"
    text += f"  {UNBLOCK} }}\n"
    (found,) = said(pair(HEAD + text + queues(1)))
    assert found == (
        "error 8:62 unbound-task: `done` is bound to no id, so nothing can activate it"
        " => @bind_local_task(done, @get_local_task_id(n)) in a comptime block"
    )


def test_a_data_task_is_not_activated() -> None:
    text = "task got(v: f32) void {}\n"
    text += f"fn go() void {{ @activate(@get_local_task_id(10)); {UNBLOCK} }}\n"
    text += "comptime { @bind_data_task(got, @get_data_task_id(@get_color(10))); }\n"
    assert left(text)[0] == (
        "warning 7:16 unbound-task: task id 10 is a data task's, which nothing activates"
        " => local tasks are activated"
    )


def test_programs_that_are_not_launched_need_no_unblocking() -> None:
    text = "task t() void {} comptime { @bind_local_task(t, @get_local_task_id(9)); }"
    files = {
        "layout.csl": 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); }',
        "pe.csl": text,
    }
    assert said(files, WSE3) == []
