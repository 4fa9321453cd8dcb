"""A host program that builds its layout with SdkLayout, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCALE = """
param size: u16;
param left: u16;
param sum: u16;
const left_queue = @get_input_queue(2);
const sum_queue = @get_output_queue(2);
export var weight: [1]f32;
const input = @get_dsd(fabin_dsd, .{ .extent = size, .fabric_color = @get_color(left),
  .input_queue = left_queue });
const output = @get_dsd(fabout_dsd, .{ .extent = size, .fabric_color = @get_color(sum),
  .output_queue = sum_queue });
const main_id = @get_local_task_id(8);
task main() void {
  @fmuls(output, input, weight[0], .{ .async = true });
}
comptime {
  @bind_local_task(main, main_id);
  @activate(main_id);
  @initialize_queue(left_queue, .{ .color = @get_color(left) });
  if (@is_arch("wse3")) { @initialize_queue(sum_queue, .{ .color = @get_color(sum) }); }
}
"""
RUN = """
import sys
import numpy as np
from cerebras.geometry.geometry import IntVector
from cerebras.sdk.runtime.sdkruntimepybind import (
    Color, Edge, Route, RoutingPosition, SdkLayout, SdkRuntime, SdkTarget, SimfabConfig,
    get_platform,
)

target = SdkTarget.WSE3 if sys.argv[1] == "wse3" else SdkTarget.WSE2
layout = SdkLayout(get_platform(None, SimfabConfig(dump_core=True), target))
size = 40
into, out = RoutingPosition().set_output([Route.RAMP]), RoutingPosition().set_input([Route.RAMP])
ports = []
for number in range(2):
    one = layout.create_code_region("./scale.csl", f"scale{number}", 1, 1)
    one.set_param_all("size", size)
    left, total = one.color("left"), one.color("sum")
    one.set_param_all(left)
    one.set_param(IntVector(0, 0), total)
    one.set_symbol_all("weight", np.array([2.0 + number], np.float32), 1, 1)
    ports.append((one.create_input_port(left, Edge.LEFT, [into], size),
                  one.create_output_port(total, Edge.RIGHT, [out], size)))
    one.place(1 + 3 * number, 2 * number)
layout.connect(ports[0][1], ports[1][0])
there = layout.create_input_stream(ports[0][0])
back = layout.create_output_stream(ports[1][1])
runtime = SdkRuntime(layout.compile(out_prefix="out"), memcpy_required=False)
runtime.load()
runtime.run()
given, got = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
runtime.send(there, given, nonblock=True)
runtime.receive(back, got, size, nonblock=True)
runtime.stop()
assert (got == 6 * given).all(), got
assert runtime.read_symbol(4, 2, "weight", "float32") == [3.0]
print("passed")
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_what_the_host_sends_goes_through_connected_regions_and_comes_back(
    arch: str, tmp_path: Path
) -> None:
    (tmp_path / "scale.csl").write_text(SCALE, encoding="utf-8")
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    command = [sys.executable, "-m", "sz_mcp", "cs-python", "run.py", arch]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "passed\n", "")
