"""The builtins of the language, each with what it takes and gives, for messages.

Operands of operations on DSDs: `dest` is a DSD or DSR that may be written, `src` one that may be
read; where several forms exist the first is shown. Their full table is the checker's.
"""

from __future__ import annotations

from dataclasses import dataclass

_ALL = ("1.4", "2.10")
_BOTH = ("wse2", "wse3")


@dataclass(frozen=True)
class BuiltinName:
    """One builtin."""

    name: str
    signature: str
    dialects: tuple[str, ...] = _ALL
    archs: tuple[str, ...] = _BOTH
    note: str = ""
    """What to use instead, of one that is old."""


def _lines(
    text: str, dialects: tuple[str, ...] = _ALL, archs: tuple[str, ...] = _BOTH
) -> list[BuiltinName]:
    signatures = (line.strip() for line in text.strip().splitlines())
    return [BuiltinName(line.split("(")[0], line, dialects, archs) for line in signatures]


_LANGUAGE = """
@as(T, value) T
@bitcast(T, value) T
@ptrcast(*T, pointer) *T
@type_of(value) type
@is_same_type(A, B) bool
@element_type(Array) type
@element_count(Array) u32
@rank(Array) u16
@dimensions(Array) [rank]u32
@fp16() type
@range(T, stop) range, or @range(T, start, stop, step)
@range_start(range) T
@range_stop(range) T
@range_step(range) T
@zeros([n]T) [n]T
@constants([n]T, value) [n]T
@field(struct, "name")
@has_field(struct, "name") bool
@strcat("a", "b", …) comptime_string
@strlen("text") comptime_int
@get_array("text") [n]u8
@get_string_from_byte(byte) comptime_string
@comptime_assert(condition, "message") void
@comptime_print(value, …) void
@assert(condition) void
@is_comptime() bool
@is_arch("wse3") bool
@import_module("file.csl", .{ .parameter = value }) imported_module
@import_comptime_value(T, "file.json") T
@random16() u16
@set_active_prng(u16) void
"""

_LAYOUT = """
@set_rectangle(width, height) void
@set_tile_code(x, y, "file.csl", .{ .parameter = value }) void
@set_color_config(x, y, color, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } }) void
@export_name("name", T, mutable) void
@get_rectangle() struct of width, height, fabric and offsets
"""

_IDS = """
@get_color(number) color
@get_local_task_id(number) local_task_id
@get_control_task_id(number) control_task_id
@get_data_task_id(color on wse2, input queue on wse3) data_task_id
@get_input_queue(number) input_queue
@get_output_queue(number) output_queue
@get_int(id) u16
@get_filter_id(color) u16
@bind_local_task(task, local_task_id) void
@bind_data_task(task, data_task_id) void
@bind_control_task(task, control_task_id) void
@initialize_queue(queue, .{ .color = color }) void
@activate(local_task_id) void
@block(id) void
@unblock(id) void
@set_local_color_config(color, config) void
@set_teardown_handler(function, color) void
@get_config(address) u16
@get_config_unchecked(address) u16
@set_config(address, value) void
@set_config_unchecked(address, value) void
"""

_IDS_WSE3 = """
@get_ut_id(number) ut_id
@set_control_task_table(.{ .{ .instructions = 4, .stride = 1 } }) void
@set_empty_queue_handler(function, queue) void
@queue_flush(queue) void
"""

_HOST = """
@export_symbol(variable or function, "name") void
@rpc(data_task_id) void
@get_symbol_id(symbol) u16
@get_symbol_value(T, id) T
@get_tensor_ptr(id) [*]u16
@has_exported_tensors() bool
"""

_DSDS = """
@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> a[i] }) mem1d_dsd
@set_dsd_base_addr(dsd, array or pointer) dsd
@increment_dsd_offset(dsd, elements, T) dsd
@set_dsd_length(dsd, length) dsd
@set_dsd_stride(mem1d_dsd, stride) mem1d_dsd
@allocate_fifo(buffer, .{ .activate_pop = id }) fifo
@set_fifo_read_length(fifo, length) void
@set_fifo_write_length(fifo, length) void
@get_dsr(dsr_dest, number) dsr_dest
@get_xdsr(number) xdsr
@load_to_dsr(dsr, dsd, .{ .async = true, .activate = id }) void
@set_dsr_base_addr(dsr, pointer) void
@map(function, input, …, output) void
@dfilt(fabin_dsd, .{ .async = true, .activate = id }) void
"""

_SR = """
@get_sr(number) sr
@load_to_dsr_xdsr(dsr, xdsr, circbuf_dsd) void
@load_to_dsr_xdsr_sr(dsr, xdsr, .{ sr, … }, mem4d_dsd) void
"""

_OPERATIONS = (
    ("(dest, src, src) void", "add16 addc16 and16 or16 xor16 sar16 sll16 slr16 sub16"),
    ("(dest, src) void", "clz ctz popcnt mov16 mov32 fabsh fabss fnegh fnegs fmovh fmovs"),
    ("(dest, src, src) void", "faddh fsubh fmulh fmaxh fadds fsubs fmuls fmaxs faddhs"),
    ("(dest, src, src, f16) void", "fmach fmachs"),
    ("(dest, src, src, f32) void", "fmacs"),
    ("(dest, src) void", "fh2s fs2h fh2xp16 fs2xp16 xp162fh xp162fs"),
    ("(*f16, f16) void", "fnormh"),
    ("(*f32, f32) void", "fnorms"),
    ("(*f16, f16, i16) void", "fscaleh"),
    ("(*f32, f32, i16) void", "fscales"),
)

DSD_OPERATIONS = frozenset(f"@{one}" for _, names in _OPERATIONS for one in names.split()) | {
    "@dfilt"
}
"""Those that run over DSDs; each takes a configuration such as `.{ .async = true }` at its end."""

BUILTINS: dict[str, BuiltinName] = {
    one.name: one
    for one in (
        *_lines(_LANGUAGE + _LAYOUT.lstrip() + _IDS.lstrip() + _HOST.lstrip() + _DSDS.lstrip()),
        *_lines("@concat_structs(.{ .a = 1 }, .{ .b = 2 }) struct", ("1.4",)),
        *_lines(_SR, ("2.10",)),
        *_lines(_IDS_WSE3, archs=("wse3",)),
        *_lines(
            "@bind_rotating_tasks(data task, control task, data_task_id, .{ .limit = n }) void",
            ("2.10",),
            ("wse3",),
        ),
        *(
            BuiltinName(f"@{name}", f"@{name}{operands}")
            for operands, names in _OPERATIONS
            for name in names.split()
        ),
        BuiltinName(
            "@bind_task",
            "@bind_task(task, color) void",
            note="from before SDK 1.1: @bind_local_task, @bind_data_task or @bind_control_task",
        ),
    )
}
"""By name, with its `@`."""
