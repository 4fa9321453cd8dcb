"""Every production of the grammar, one text each; each is read, printed and read again."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.parsing import clean, shape
from toolchains.csl.printing import print_module

COMMON = [
    # module level
    "param width;",
    "param width: u16;",
    "param width: i16 = 4;",
    "param width = 4;",
    "const a = 1;",
    "const a: u16 = 1;",
    "var a: [4]f32;",
    "var a: [4]f32 align(16) = @zeros([4]f32);",
    'var a: u16 linksection(".data") linkname("a_symbol") = 3;',
    "extern var shared_a: u32;",
    "extern const shared_b: u32;",
    "export var a: u32 = 4;",
    "export const a: u32;",
    "layout { @set_rectangle(1, 1); }",
    "comptime { @rpc(@get_data_task_id(c)); }",
    # functions
    "fn f() void {}",
    "task t(a: i16, b: i16) void { a_task.activate(); }",
    "export fn f(a: i16,) i16 { return a; }",
    "extern fn f(i16, [*]f32) void;",
    "extern fn f(a: i16, *const f32) void;",
    'extern fn f() linkname("g") void;',
    "inline fn f(comptime T: type, x: T, y: anytype) T { return x; }",
    "fn f(comptime n: u16) [n]f32 { return @zeros([n]f32); }",
    "fn f() align(4) void {}",
    "fn f() void align(4) {}",
    "fn f(p: *const fn(i16, f32)void, q: task(u16) void) void {}",
    "param handler: task () void;",
    # statements
    "fn f() void { const a = 1; var b: u16; var c: u16 align(4) = 1; }",
    "fn f() void { comptime var a = 1; comptime const b = 2; }",
    "fn f() void { comptime { a = 1; } comptime { }; b = 2; }",
    "fn f() void { comptime g(); const x = comptime g(1) + 2; }",
    "fn f() void { const x = comptime { break 1; }; }",
    "fn f() void { { a = 1; } }",
    "fn f() void { if (a) { b(); } }",
    "fn f() void { if (a) b(); }",
    "fn f() void { if (a) b = c; }",
    "fn f() void { if (a) b += c else d(); }",
    "fn f() void { if (a) { b(); } else if (c) { d(); } else { e(); } }",
    "fn f() void { if (a) { b(); } else if (c) return 1; }",
    "fn f() void { if (a) return; if (b) return c; }",
    "fn f() void { while (a) { if (a) break else continue; } }",
    "fn f() void { if (a) for (b) |c| { d(); } else while (e) { } }",
    "fn f() void { if (a) switch (b) { 1 => c(), else => d() } else e(); }",
    "fn f() void { for (a) |b| { c(); } }",
    "fn f() void { for (@range(u16, 4)) |_, i| { c(i); } }",
    "fn f() void { inline for (a) |b| { c(b); } }",
    "fn f() void { while (a < b) : (a += 1) { c(); } }",
    "fn f() void { while (a) : (step()) { } }",
    "fn f() void { blk: { break :blk; } }",
    "fn f() void { outer: while (a) { break :outer; } }",
    "fn f() void { outer: for (a) |b| { for (c) |d| { break :outer; } } }",
    "fn f() void { outer: inline for (a) |b| { continue; } }",
    "fn f() u16 { return blk: { if (a) { break :blk 1; } break :blk 2; }; }",
    "fn f() void { while (a) { break b; } }",
    "fn f() void { a = 1; a += 1; a -= 1; a *= 2; a /= 2; a %= 2; }",
    "fn f() void { a &= 1; a |= 1; a ^= 2; a <<= 2; a >>= 1; }",
    "fn f() void { p.* = 1; (p.*)[i] += 1; p.*[i] = 2; @ptrcast(*u16, q).* = 3; g().*[1] = 0; }",
    "fn f() void { switch (a) { 1 => b(), 2, 3 => { c(); }, else => d = 1, } }",
    "fn f() void { switch (a) { E.x => b(), E.y => {} } c(); }",
    "fn f() void { _ = g(); }",
    # expressions
    "const a = switch (b) { 1, 2 => 3, else => 4 };",
    "const a = if (b) c else if (d) e else f + 1;",
    "const a = (if (b) c else d) + 1;",
    "const a = 1 + 2 * 3 - 4 / 5 % 6;",
    "const a = -b * !c + ~d;",
    "const a = b << 2 | c >> 1 | 3;",
    "const a = (b & 1) ^ (c | 2);",
    "const a = b & 1 == 0 and c != 1 or d < 2 and e >= 3;",
    "const a = b - (c - d) - (e + f);",
    "const a = &b; const c = &d[1]; const e = &(f[1, 2]); const g = &(&h);",
    "const a = .{}; const b = .{ 1, .{ 2, 3 }, }; const c = .{ .x = 1, .color = .{ .y = 2 }, };",
    "const a = .{ .align = 1, .task = 2 }.task;",
    "const a = T { .x = 1, .y = T{ .x = 2, .y = 3 } };",
    "const b = m.T { .x = 1 }; const c = g(1) { .x = 2 };",
    "const a = {}; const b = g({}); const c = f32;",
    "const a = [3]u16 { 1, 2, 3, }; const b = [2, 3]f32 {}; const c = [n, m - 1]u8;",
    "const a = *f32; const b = *const f32; const c = [*]f32; const d = [*]const f32;",
    "const e = **u8;",
    "const a = *[4]f32; const b = *[4]*const fn(u8)void; const c = [2]*f32;",
    "const a = |i|{4} -> b[i]; const c = |i, j|{n, m - 1} -> (d.*)[i * 2 + 1, j];",
    "const a = .{ .tensor_access = |i, j, k, l|{1, 2, 3, 4} -> b[i, j, k, l] };",
    "const a = fn(i16) void; const b = fn() f32; const c = task(u16, u16) void;",
    "const a = enum(u16) { x, y = 3, z };",
    "const a = enum { x, y };",
    "const a = struct { x: u16, y: [4]f32, }; const b = struct {};",
    "const a = b.c.d(1, 2,)[3].*.e;",
    "const a = b[1][2, 3];",
    "const a = 'x' + '\\n' + '\\x41' + '\\'' + '\\\\';",
    'const a = "plain"; const b = "\\n\\x41\\\\\\"\\t\\r\\\'";',
    "const a = 0xfF + 0b101 + 0o17 + 1_000; const b = 1.5 + 2e3 + 1.25E-3 + 1_0.5;",
    "const a = true; const b = false;",
    'fn f() void { asm volatile ("nop"); }',
    'const x = asm ("add" : [o] "=r" (y) : [a] "r" (b + 1), [c] "r" (d) : "memory", "r1");',
    'fn f() void { asm volatile ("x",); asm ("y" : : [a] "r" (b)); }',
    "const a = i3; const b = u17; const c = i64; const d = u64;",
    "const a = t[0]; const b = .{ 1, 2 }[1];",
    "const a = @allocate_fifo(b, .{ .activate_pop = c, .activate_push = d });",
    "const a = .{ .on_control = .{ .terminate = true }, .zero = .{ .first_source = true } };",
    "const a = .{ .control_transform = true, .ctrl_table_id = 1 };",
    "const a = @as(u16, if (b) 1 else 2);",
]
ONLY_2_10 = [
    "const a = enum(u16) { x, y, };",
    "const a = packed struct { x: u3, y: bool };",
    "const a = extern struct { x: u32 };",
    "const a = union { x: u32, y: f32 };",
    "const a = packed union { x: u32, y: f32 };",
    'fn f() linksection(".text") void {}',
    "const a = @get_dsd(circbuf_dsd, .{ .base_address = &b, .extent = 4, .wraparound = 8 });",
]
PRODUCTIONS = [*COMMON, *ONLY_2_10]


@pytest.mark.parametrize("text", COMMON)
def test_a_production_is_read_in_both_dialects_and_printed_as_it_was(text: str) -> None:
    for dialect in ("1.4", "2.10"):
        module = clean(text, dialect)
        assert len(module.items) >= 1
        assert shape(clean(print_module(module), dialect)) == shape(module)


@pytest.mark.parametrize("text", ONLY_2_10)
def test_a_production_of_2_10_is_read_there_and_printed_as_it_was(text: str) -> None:
    module = clean(text, "2.10")
    assert shape(clean(print_module(module), "2.10")) == shape(module)
