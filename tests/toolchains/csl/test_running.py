"""Small programs whose result says what the machine does: reductions, host streams, queues."""

from __future__ import annotations

import numpy as np
import pytest

from simulators.wafer.machine import Machine
from simulators.wafer.profiles import make_profile
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options

ARCHS = ["wse2", "wse3"]

REDUCING = """
const values = [5]f32 { 3.0, -4.0, 9.5, 1.0, 2.0 };
const memory = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> values[i] });
var most: f32 = 0.0;
var least: f32 = -20.0;
var sum: f32 = 100.0;
const main_id = @get_local_task_id(8);
task main() void {
  @fmaxs(&most, 4.0, memory);
  @fadds(&sum, sum, memory);
  @fmovs(&least, memory);
}
comptime { @bind_local_task(main, main_id); @activate(main_id); }
"""
RECOLOURED = """
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const tiles = @import_module("<tile_config>");
const one = @get_color(4);
const two = @get_color(5);
var got: [2]u32;
const sent = [2]u32 { 11, 12 };
const values = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> sent[i] });
const memory = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> got[i] });
const fabric = @get_dsd(fabin_dsd, .{ .extent = 2, .input_queue = iq });
const out = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = two, .output_queue = oq });
var turns: u16 = 0;
const send_id = @get_local_task_id(8);
const main_id = @get_local_task_id(9);
task send() void { @mov32(out, values, .{ .async = true, .activate = main }); }
task main() void {
  turns += 1;
  if (turns < 20) { @activate(main_id); return; }
  tiles.input_queue_config.encode_input_queue(2, @get_int(two), false);
  @mov32(memory, fabric, .{ .async = true });
}
comptime {
  @bind_local_task(send, send_id);
  @bind_local_task(main, main_id);
  @activate(send_id);
  @initialize_queue(iq, .{ .color = one });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = two }); }
  @set_local_color_config(two, .{ .routes = .{ .rx = .{RAMP}, .tx = .{RAMP} } });
}
"""
TELLING = """
const control = @import_module("<control>");
const oq = @get_output_queue(2);
const out_color = @get_color(4);
const sent = [2]u32 { 11, 12 };
const values = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> sent[i] });
const out = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = out_color, .output_queue = oq });
const order = @get_dsd(fabout_dsd,
  .{ .extent = 1, .fabric_color = out_color, .output_queue = oq, .control = true });
const main_id = @get_local_task_id(8);
task main() void {
  @mov32(order, control.encode_single_payload(control.opcode.NOP, true, {}, 0));
  @mov32(out, values);
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = out_color }); }
}
"""
TO_HOST = """
  @set_color_config(0, 0, @get_color(4), .{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } });
  host.stream(@get_color(4), true, 0, 0);
"""


def machine(pe: str, arch: str, layout: str = "") -> Machine:
    """Of one PE, before it runs."""
    text = 'const host = @import_module("<sdklayout>");\nlayout {\n  @set_rectangle(1, 1);\n'
    files = {"pe.csl": pe, "layout.csl": f'{text}  @set_tile_code(0, 0, "pe.csl");{layout}}}\n'}
    compiled = compile_program("layout.csl", Options(arch, memcpy=False), files.__getitem__)
    assert compiled.program is not None, "\n".join(map(str, compiled.diagnostics))
    return Machine(compiled.program, make_profile(arch))


def variable(device: Machine, name: str, dtype: str) -> list[float]:
    (one,) = (r for r in device.program.classes[0].regions if r.name == name)
    values: list[float] = np.frombuffer(device.read(0, 0, one.address, one.bytes), dtype).tolist()
    return values


@pytest.mark.parametrize("arch", ARCHS)
def test_into_a_pointer_the_scalar_is_what_a_reduction_begins_with(arch: str) -> None:
    device = machine(REDUCING, arch)
    outcome = device.run_quiet()
    assert not outcome.text
    assert variable(device, "most", "f4") == [9.5]
    assert variable(device, "sum", "f4") == [111.5]
    assert variable(device, "least", "f4") == [2.0]


@pytest.mark.parametrize("arch", ARCHS)
def test_a_queue_that_takes_another_colour_gets_what_has_waited_for_it(arch: str) -> None:
    device = machine(RECOLOURED, arch)
    device.run_quiet()
    assert variable(device, "got", "u4") == [11, 12]


@pytest.mark.parametrize("arch", ARCHS)
def test_the_host_receives_data_and_no_control_wavelets(arch: str) -> None:
    device = machine(TELLING, arch, TO_HOST)
    device.run_received({(0, 0, 4): 2})
    assert list(device.received(4, 0, 0)) == [11, 12]
