"""What is said to SdkLayout becomes a layout in CSL."""

from __future__ import annotations

from typing import Any

import pytest

from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options
from toolchains.csl.wiring import HostStream, Wired, WiringError, Wish, wire

SENDER = """
param out: color;
const queue = @get_output_queue(2);
const values = [2]u16 { 7, 8 };
const memory = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> values[i] });
const fabric = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = out, .output_queue = queue });
const main_id = @get_local_task_id(8);
task main() void { @mov16(fabric, memory, .{ .async = true }); }
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  if (@is_arch("wse3")) { @initialize_queue(queue, .{ .color = out }); }
}
"""
TAKER = """
param in: u16;
const queue = @get_input_queue(2);
export var got: [2]u16;
const memory = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> got[i] });
const fabric = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = @get_color(in),
  .input_queue = queue });
const main_id = @get_local_task_id(8);
task main() void { @mov16(memory, fabric, .{ .async = true }); }
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  @initialize_queue(queue, .{ .color = @get_color(in) });
}
"""
FILES = {"sender.csl": SENDER, "taker.csl": TAKER}


def port(number: int, color: str, edge: str, way: str, **more: Any) -> dict[str, Any]:
    """Of one PE: a position from or to the ramp."""
    side = "output" if way == "input" else "input"
    return {
        "id": number,
        "color": color,
        "edge": edge,
        "input": way == "input",
        "positions": [{side: ["RAMP"]}],
        "size": 2,
        **more,
    }


def region(name: str, spot: tuple[int, int], one: dict[str, Any]) -> dict[str, Any]:
    """Of one PE, with one port whose colour is a parameter."""
    parameter = "in" if one["input"] else "out"
    return {
        "name": name,
        "file": "taker.csl" if one["input"] else "sender.csl",
        "width": 1,
        "height": 1,
        "x": spot[0],
        "y": spot[1],
        "params": [{"name": parameter, "where": [0, 0, 1, 1], "color": one["color"]}],
        "ports": [one],
    }


def wired(*regions: dict[str, Any], arch: str = "wse2", **more: Any) -> Wired:
    wish = Wish.model_validate({"arch": arch, "regions": regions, **more})
    return wire(wish, FILES.__getitem__)


def configs(one: Wired) -> list[str]:
    return [line.strip() for line in one.text.splitlines() if "@set_color_config" in line]


A = region("a", (0, 0), port(1, "tx", "EAST", "output"))
B = region("b", (2, 1), port(2, "rx", "WEST", "input"))


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_layout_of_two_regions_is_compiled_without_a_word(arch: str) -> None:
    made = wired(A, B, arch=arch, connections=[(1, 2)])
    files = {**FILES, "layout.csl": made.text}
    compiled = compile_program("layout.csl", Options(arch, memcpy=False), files.__getitem__)
    assert not compiled.diagnostics, "\n".join(map(str, compiled.diagnostics))
    assert compiled.program is not None
    assert (compiled.program.width, compiled.program.height) == (3, 2)


def test_a_connection_takes_the_shortest_way_with_one_colour() -> None:
    assert configs(wired(A, B, connections=[(1, 2)])) == [
        "@set_color_config(0, 0, @get_color(0), .{ .routes = .{ .rx = RAMP, .tx = EAST } });",
        "@set_color_config(2, 1, @get_color(0), .{ .routes = .{ .rx = WEST, .tx = RAMP } });",
        "@set_color_config(1, 0, @get_color(0), .{ .routes = .{ .rx = WEST, .tx = SOUTH } });",
        "@set_color_config(1, 1, @get_color(0), .{ .routes = .{ .rx = NORTH, .tx = EAST } });",
    ]


def test_a_parameter_gets_a_colour_or_its_number_as_its_type_asks() -> None:
    text = wired(A, B, connections=[(1, 2)]).text
    assert '@set_tile_code(0, 0, "sender.csl", .{ .out = @get_color(0) });' in text
    assert '@set_tile_code(2, 1, "taker.csl", .{ .in = 0 });' in text
    assert '@set_tile_code(1, 0, "<empty>");' in text


def test_colours_that_meet_at_a_pe_get_different_numbers_and_others_the_same() -> None:
    both = {**A, "ports": [*A["ports"], port(3, "again", "SOUTH", "output")]}
    apart = region("c", (2, 0), port(4, "far", "WEST", "input"))
    numbers = [line.split("@get_color(")[1][0] for line in configs(wired(both, apart))]
    assert numbers == ["0", "1", "0"]


def test_a_stream_of_the_host_is_at_its_port() -> None:
    made = wired(B, streams=[2])
    assert made.streams == (HostStream(2, 0, 2, 1),)
    assert "sdklayout.stream(@get_color(0), false, 2, 1);" in made.text


def test_later_positions_say_what_they_change() -> None:
    switched = port(2, "rx", "WEST", "input")
    switched["positions"] = [{"output": ["RAMP"]}, {"output": ["EAST", "SOUTH"]}]
    (line,) = configs(wired(region("b", (0, 0), switched)))
    assert line.endswith(".switches = .{ .pos1 = .{ .tx = .{ EAST, SOUTH } } } });")


@pytest.mark.parametrize(
    ("regions", "more", "words"),
    [
        ([], {}, "no code region"),
        ([A, {**B, "x": 0, "y": 0}], {}, '"a" and "b" both have PE (0, 0)'),
        ([A, region("b", (2, 1), port(2, "rx", "WEST", "input", size=3))], {}, "don't fit"),
        ([A, region("b", (0, 1), port(2, "rx", "WEST", "input"))], {}, "no free way"),
        ([{**A, "file": "none.csl"}], {"connections": []}, "none.csl can't be read"),
        ([{**B, "height": 2}], {"connections": [], "streams": [2]}, "a port of one PE"),
    ],
)
def test_what_can_not_be_wired_is_said(
    regions: list[dict[str, Any]], more: dict[str, Any], words: str
) -> None:
    given = {"connections": [(1, 2)] if len(regions) > 1 else [], **more}
    wish = Wish.model_validate({"arch": "wse2", "regions": regions, **given})

    def read(path: str) -> str:
        if path not in FILES:
            raise FileNotFoundError(path)
        return FILES[path]

    with pytest.raises(WiringError) as caught:
        wire(wish, read)
    assert words in str(caught.value)
