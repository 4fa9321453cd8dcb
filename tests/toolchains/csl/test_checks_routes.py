"""Checks of what code sends and takes against the routes between PEs."""

from __future__ import annotations

import pytest

from toolchains.csl.source import Diagnostic

from .checking import EAST, HEAD, IDLE, WEST, compiled, pair, queues, receiver, said, sender

UNBLOCK = "sys.unblock_cmd_stream();"
SENDS = HEAD + sender(1) + f"fn go() void {{\n  @fmovs(tx, mem); {UNBLOCK} }}\n" + queues(1)
TAKES = HEAD + receiver(1) + f"fn go() void {{\n  @fmovs(mem, rx); {UNBLOCK} }}\n" + queues(-1, 1)


def found(left: str, right: str = IDLE, routes: str = EAST) -> tuple[str, Diagnostic]:
    """The only diagnostic as `file:line:column code: message`, and itself."""
    (one,) = compiled(pair(left, right, routes))[1]
    assert one.span is not None
    assert one.severity == "warning"
    place = f"{one.span.source.name}:{one.span.line}:{one.span.column}"
    return f"{place} {one.code}: {one.message}", one


def notes(one: Diagnostic) -> list[str]:
    """The texts of a diagnostic's notes."""
    return [note.message for note in one.notes]


def test_a_colour_that_is_sent_and_taken_is_fine() -> None:
    assert said(pair(SENDS, TAKES, EAST)) == []


def test_a_colour_that_arrives_where_nothing_takes_it_is_said_with_its_path() -> None:
    text, one = found(SENDS)
    assert text == (
        "left.csl:8:3 never-read: @fmovs sends colour 1 from (0,0), but no code of (1,0) takes it"
    )
    assert notes(one) == ["its path: (0,0) RAMP->EAST, (1,0) WEST->RAMP"]


def test_a_colour_that_is_taken_and_never_sent_is_said() -> None:
    text, one = found(IDLE, TAKES)
    assert text == (
        "right.csl:8:3 never-sent: @fmovs waits for colour 1 at (1,0), but nothing sends it there"
    )
    assert notes(one) == ["no PE's code sends this colour"]


def test_a_colour_without_a_route_is_said_at_both_ends() -> None:
    assert [one.split(" => ")[0] for one in said(pair(SENDS, TAKES, ""))] == [
        "warning 8:3 never-read: @fmovs sends colour 1 from (0,0), but the colour is not configured"
        " there",
        "warning 8:3 never-sent: @fmovs waits for colour 1 at (1,0), but their routers don't know"
        " the colour",
    ]


def test_a_neighbour_that_does_not_receive_is_a_dead_end() -> None:
    routes = EAST.replace(".rx = .{WEST}", ".rx = .{NORTH}")
    every = compiled(pair(SENDS, TAKES, routes))[1]
    texts = {one.code: one for one in every}
    assert set(texts) == {"route-dead-end", "never-read", "never-sent"}
    end = texts["route-dead-end"]
    assert end.span is not None
    assert (end.span.line, end.span.column) == (9, 3)
    assert end.message == (
        "wavelets are lost: (0,0) colour 1 sends EAST to (1,0), but that router doesn't receive the"
        " colour from this side"
    )
    assert notes(end) == ["their path: (0,0) RAMP->EAST"]


def test_a_way_off_the_rectangle_is_a_dead_end() -> None:
    routes = EAST.replace(".rx = .{WEST}, .tx = .{RAMP}", ".rx = .{WEST}, .tx = .{RAMP, EAST}")
    text, one = found(SENDS, TAKES, routes)
    assert text == (
        "layout.csl:10:3 route-dead-end: wavelets are lost: (1,0) colour 1 sends EAST to (2,0), but"
        " it leaves the program's rectangle"
    )
    assert notes(one) == ["their path: (0,0) RAMP->EAST, (1,0) WEST->EAST+RAMP"]


def test_a_row_that_one_statement_configures_may_end_at_the_edge() -> None:
    routes = """
  for (@range(i16, 2)) |i| {
    const side = if (i == 0) .{ .rx = .{RAMP}, .tx = .{EAST} }
      else .{ .rx = .{WEST}, .tx = .{RAMP, EAST} };
    @set_color_config(i, 0, a, .{ .routes = side });
  }"""
    assert said(pair(SENDS, TAKES, routes)) == []


def test_a_route_that_nothing_is_sent_by_is_not_warned_of() -> None:
    assert said(pair(IDLE, IDLE, EAST.replace(".rx = .{WEST}", ".rx = .{NORTH}"))) == []


def test_a_loop_is_said_with_its_path() -> None:
    routes = """
  @set_color_config(0, 0, a, .{ .routes = .{ .rx = .{RAMP, EAST}, .tx = .{EAST} } });
  @set_color_config(1, 0, a, .{ .routes = .{ .rx = .{WEST}, .tx = .{WEST, RAMP} } });"""
    every = {one.code: one for one in compiled(pair(SENDS, TAKES, routes))[1]}
    one = every["route-loop"]
    assert one.span is not None
    assert (one.span.line, one.span.column) == (9, 3)
    assert one.message == (
        "wavelets of colour 1 go round for ever: (0,0) EAST->EAST, (1,0) WEST->WEST+RAMP"
    )


def test_two_that_send_into_one_router_at_once_are_said() -> None:
    routes = EAST.replace(".rx = .{WEST}, .tx", ".rx = .{WEST, RAMP}, .tx")
    every = compiled(pair(SENDS, SENDS, routes))[1]
    (one,) = [one for one in every if one.code == "several-drivers"]
    assert one.span is not None
    assert (one.span.line, one.span.column) == (10, 3)
    assert one.message == (
        "(1,0) colour 1 receives from WEST and RAMP at once: their wavelets mix in any order"
    )


def test_what_is_chosen_while_running_is_not_warned_of() -> None:
    """One program for both PEs, of which one sends and the other takes."""
    text = HEAD + sender(1) + receiver(1)
    text += 'const where = @import_module("<layout>");\n'
    text += "fn go() void { if (where.get_x_coord() == 0) { @fmovs(tx, mem); } else"
    text += f" {{ @fmovs(mem, rx); }} {UNBLOCK} }}\n" + queues(1, 1)
    files = pair(text)
    files["layout.csl"] = files["layout.csl"].replace("right.csl", "left.csl")
    assert said(files) == []


@pytest.mark.parametrize(
    "reader",
    [
        "task got(v: f32) void {} comptime"
        " { @bind_data_task(got, @get_data_task_id(@get_color(1))); }",
        "task got() void {} comptime { @bind_control_task(got, @get_control_task_id(40)); }",
    ],
)
def test_a_task_takes_a_colour_too(reader: str) -> None:
    assert said(pair(SENDS, IDLE + reader, EAST)) == []


# --- sending before reading ----------------------------------------------------------------------


def both(sent: int, taken: int, body: str) -> str:
    """A program whose body begins in line 9."""
    head = HEAD + sender(sent) + receiver(taken)
    return head + f"fn go() void {{\n  {body} {UNBLOCK} }}\n" + queues(sent, taken)


def exchange(body: str, other: str = "") -> list[str]:
    """What is said of two PEs that run the same, or not, with 64 words each way."""
    return said(pair(both(1, 2, body), both(2, 1, other or body), EAST + WEST))


def test_neighbours_that_both_send_first_are_told_how_much_must_fit() -> None:
    assert exchange("@fmovs(tx, mem); @fmovs(mem, rx);") == [
        "warning 9:3 buffer-need: `go` sends 64 wavelets of colour 1 before it reads, and the"
        " queues on the way hold 18: (0,0) → (1,0) → (0,0) wait for each other => send with"
        " .async = true, or start the reading first with .async = true; a FIFO of 46 or more"
        " would do, too"
    ]


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ("@fmovs(tx, mem); @fmovs(mem, rx);", "@fmovs(mem, rx); @fmovs(tx, mem);"),
        ("@fmovs(tx, mem, .{ .async = true }); @fmovs(mem, rx);", ""),
        ("@fmovs(mem, rx, .{ .async = true }); @fmovs(tx, mem);", ""),
        ("if (x[0] > 0.0) { @fmovs(tx, mem); } @fmovs(mem, rx);", ""),
        ("@fmovs(@set_dsd_length(tx, 9), mem); @fmovs(mem, rx);", ""),
    ],
)
def test_neighbours_of_which_one_may_read_are_not_warned_of(body: str, other: str) -> None:
    assert exchange(body, other) == []


def test_a_pe_that_sends_to_itself_first_waits_for_itself() -> None:
    body = "@fmovs(tx, mem); @fmovs(mem, rx);"
    routes = "\n  @set_color_config(0, 0, a, .{ .routes = .{ .rx = .{RAMP}, .tx = .{RAMP} } });"
    text_, _ = found(both(1, 1, body), IDLE, routes)
    assert text_.startswith(
        "left.csl:9:3 buffer-need: `go` sends 64 wavelets of colour 1 before it reads, and the"
        " queues on the way hold 14: (0,0) → (0,0) wait for each other"
    )
