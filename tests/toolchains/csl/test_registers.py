"""Registers of WSE-2's routers that programs reach by address, in CSL on the machine."""

from __future__ import annotations

import numpy as np
import pytest

from simulators.wafer.machine import Machine
from simulators.wafer.profiles import make_profile
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options

LAYOUT = """
layout {
  @set_rectangle(3, 1);
  for (@range(u16, 3)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .x = x });
    @set_color_config(x, 0, @get_color(3), .{
      .routes = .{ .rx = if (x == 0) RAMP else WEST, .tx = if (x == 0) EAST else RAMP },
      .switches = .{
        .pos1 = .{ .tx = SOUTH }, .ring_mode = true, .pop_mode = .{ .always_pop = true } },
    });
  }
  @export_name("go", fn()void);
}
"""
PE = """
param x: u16;
var seen = @zeros([6]u16);
var got = @zeros([2]u32);
const words = [2]u32 { 7, 9 };
const q = @get_input_queue(2);
const sent = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> words[i] });
const kept = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> got[i] });
const out = @get_dsd(fabout_dsd, .{
  .extent = 2, .fabric_color = @get_color(3), .output_queue = @get_output_queue(2) });
const in = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = @get_color(3), .input_queue = q });

fn register(word: u16) *u16 {
  return @bitcast(*u16, word * 2);
}
fn go() void {
  seen[0] = register(0x7f20 + 3).*;
  seen[1] = register(0x7f40 + 3).*;
  register(0x7f40 + 3).* = (seen[1] & 0xfff8) | 5;
  seen[2] = register(0x7f40 + 3).*;
  if (x == 1) {
    // On from the west to the east.
    register(0x7f20 + 3).* = (seen[0] & 0xfc00) | 0x20 | 0x2;
  }
  seen[3] = register(0x7f20 + 3).*;
  seen[4] = register(0x7f20 + 5).*;
  // Of inputs and invalid, then again valid.
  register(0x7f40 + 3).* = 0x100d;
  seen[5] = register(0x7f40 + 3).* & 15;
  if (x == 0) {
    @mov32(out, sent, .{ .async = true });
  }
  if (x == 2) {
    @mov32(kept, in, .{ .async = true });
  }
}
comptime {
  @initialize_queue(q, .{ .color = @get_color(3) });
  @export_symbol(go);
}
"""


def machine(arch: str, pe: str = PE) -> Machine:
    files = {"layout.csl": LAYOUT, "pe.csl": pe}
    options = Options(arch, memcpy=False)
    compiled = compile_program("layout.csl", options, files.__getitem__)
    assert compiled.program is not None, "\n".join(map(str, compiled.diagnostics))
    return Machine(compiled.program, make_profile(arch))


def variable(made: Machine, x: int, name: str) -> bytes:
    program = made.program
    regions = program.classes[program.class_of[0, x]].regions
    (found,) = (one for one in regions if one.name == name)
    return made.read(x, 0, found.address, found.bytes)


def test_routes_and_switches_are_read_and_written_by_address() -> None:
    made = machine("wse2")
    made.launch("go")
    made.run_quiet()
    seen = np.frombuffer(variable(made, 1, "seen"), np.uint16).tolist()
    # From the west to the ramp, always popped; a ring with one more position, to the south.
    assert seen[:2] == [0x20 | 0x10 | 1 << 12, 1 << 12 | 5 << 8 | 5 << 4 | 2]
    assert seen[2] == 1 << 12 | 5 << 8 | 5 << 4 | 5
    assert seen[3] == 0x20 | 0x2 | 1 << 12
    assert seen[4:] == [0, 5 | 8]
    assert np.frombuffer(variable(made, 0, "seen"), np.uint16)[0] == 0x200 | 0x2 | 1 << 12
    assert np.frombuffer(variable(made, 2, "got"), np.uint32).tolist() == [7, 9]


@pytest.mark.parametrize(("arch", "word"), [("wse2", "0x7f38"), ("wse3", "0x7f23")])
def test_addresses_without_a_register_are_still_mistakes(arch: str, word: str) -> None:
    code = PE.replace("0x7f20 + 3", word)
    if arch == "wse3":
        wse3 = "@initialize_queue(@get_output_queue(2), .{ .color = @get_color(3) });\n  @export"
        code = code.replace("@export", wse3, 1)
    made = machine(arch, code)
    made.launch("go")
    outcome = made.run_quiet()
    assert f"address {2 * int(word, 16)}" in outcome.text
