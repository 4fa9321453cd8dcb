"""What tests of the checks share: whole programs from texts and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

from simulators.wafer.program import Program
from tests.toolchains.csl.parsing import brief
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options
from toolchains.csl.source import Diagnostic

WSE2 = Options("wse2")
WSE3 = Options("wse3")


def compiled(
    files: Mapping[str, str], options: Options = WSE2
) -> tuple[Program | None, tuple[Diagnostic, ...]]:
    """The program whose layout is `layout.csl`, and what is said of it."""

    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    made = compile_program("layout.csl", options, read)
    return made.program, made.diagnostics


def said(files: Mapping[str, str], options: Options = WSE2) -> list[str]:
    """`severity line:column code: message => hint` of each."""
    found = compiled(files, options)[1]
    return [f"{one.severity} {brief(one)}" for one in found]


LAYOUT = """const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
const a = @get_color(1);
const b = @get_color(2);
layout {
  @set_rectangle(2, 1);
  @set_tile_code(0, 0, "left.csl", .{ .params = memcpy.get_params(0) });
  @set_tile_code(1, 0, "right.csl", .{ .params = memcpy.get_params(1) });
ROUTES
  @export_name("go", fn()void);
}
"""
EAST = """
  @set_color_config(0, 0, a, .{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } });
  @set_color_config(1, 0, a, .{ .routes = .{ .rx = .{WEST}, .tx = .{RAMP} } });"""
WEST = """
  @set_color_config(1, 0, b, .{ .routes = .{ .rx = .{RAMP}, .tx = .{WEST} } });
  @set_color_config(0, 0, b, .{ .routes = .{ .rx = .{EAST}, .tx = .{RAMP} } });"""

HEAD = """param params: comptime_struct;
const sys = @import_module("<memcpy/memcpy>", params);
const oq = @get_output_queue(2); const iq = @get_input_queue(3);
var x = @zeros([64]f32);
const mem = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{64} -> x[i] });
"""
"""Five lines that programs of PEs begin with."""


def sender(color: int) -> str:
    """A DSD that sends 64 words; one line."""
    return (
        f"const tx = @get_dsd(fabout_dsd, .{{ .extent = 64, .fabric_color = @get_color({color}),"
        " .output_queue = oq });\n"
    )


def receiver(color: int) -> str:
    """A DSD that takes 64 words; one line."""
    return (
        f"const rx = @get_dsd(fabin_dsd, .{{ .extent = 64, .fabric_color = @get_color({color}),"
        " .input_queue = iq });\n"
    )


def queues(output: int = -1, received: int = -1) -> str:
    """Initialised queues, of both architectures, and the export of `go`."""
    lines = "comptime { @export_symbol(go);"
    if output >= 0:
        lines += ' if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = @get_color('
        lines += f"{output}) }}); }}"
    if received >= 0:
        lines += f" @initialize_queue(iq, .{{ .color = @get_color({received}) }});"
    return lines + " }\n"


IDLE = HEAD + "fn go() void { sys.unblock_cmd_stream(); }\n" + queues()


def pair(left: str, right: str = IDLE, routes: str = EAST + WEST) -> dict[str, str]:
    """A program of two PEs beside each other."""
    return {"layout.csl": LAYOUT.replace("ROUTES", routes), "left.csl": left, "right.csl": right}
