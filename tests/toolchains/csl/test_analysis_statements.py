"""Code that runs on a PE, as typed trees."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.analysing import EXPORT, body, code, error_of, mistake, said

VARS = "var a: [4]i16; var n: i16; var u: u16; var x: f32; var b: bool;"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("n = 3;", "@n = 3:i16;"),
        ("n += 2;", "@n = (@n + 2:i16);"),
        ("a[1] = n * 2;", "@a[1:u16] = (@n * 2:i16);"),
        ("a[n] = a[u];", "@a[@n] = @a[@u];"),
        ("x = 1.5 * x;", "@x = (1.5:f32 * @x);"),
        ("x = x + 1;", "@x = (@x + 1.0:f32);"),
        ("b = n < 3 and x > 0.5;", "@b = ((@n < 3:i16) and (@x > 0.5:f32));"),
        ("b = true and n == 1;", "@b = (@n == 1:i16);"),
        ("b = n == 1 or true;", "@b = ((@n == 1:i16) or True:bool);"),
        ("u = u >> 2;", "@u = (@u >> 2:u16);"),
        ("n = n << u;", "@n = (@n << @u);"),
        ("n = -n;", "@n = -@n;"),
        ("var t = n; t = 4;", "t: i16 = @n; t = 4:i16;"),
        ("var t: [2]i16; t[0] = 1;", "t: [2]i16; t[0:u16] = 1:i16;"),
        ("const t = 4; n = t;", "@n = 4:i16;"),
        ("const p = &a[1]; p.* = 2;", "&a+2:*i16.* = 2:i16;"),
        ("const p = &a; (p.*)[n] = 2;", "&a+0:*[4]i16.*[@n] = 2:i16;"),
        ("var p: [*]i16 = &a; p[2] = 1;", "p: [*]i16 = &a+0:[*]i16; p[2:u16] = 1:i16;"),
        ("var t: i16 = 1; const p = &t; n = p.*;", "t: i16 = 1:i16; p: *i16 = &t; @n = p.*;"),
        ("n = if (b) 1 else n;", "@n = (@b ? 1:i16 : @n);"),
        ("n = if (1 == 1) 2 else nowhere;", "@n = 2:i16;"),
        ("if (b) { n = 1; } else n = 2;", "if @b { @n = 1:i16; } else { @n = 2:i16; }"),
        ("if (false) { nowhere(); }", ""),
        ("while (n > 0) : (n -= 1) { u += 1; }",
         "loop (@n > 0:i16) { @u = (@u + 1:u16); } then { @n = (@n - 1:i16); }"),
        ("while (true) { if (b) { break; } }",
         "loop { if @b { break; } else {  } } then {  }"),
        ("for (@range(i16, 4)) |i| { a[i] = i; }",
         "count i (0:i16, 4:i16, 1) { @a[i] = i; }"),
        ("for (@range(i16, n)) |i| { a[i] = i; }",
         "count i (0:i16, @n, 1) { @a[i] = i; }"),
        ("for (a) |v, i| { n += v; }",
         "count i (0:u16, 4:u16, 1) { v: i16 = @a[i]; @n = (@n + v); }"),
        ("inline for (@range(i16, 2)) |i| { a[i] = i; }",
         "{ { @a[0:i16] = 0:i16; } { @a[1:i16] = 1:i16; } }"),
        ("switch (n) { 1, 2 => u = 1, else => {} }",
         "switch @n (1, 2) { @u = 1:u16; } else {  }"),
        ("n = switch (u) { 0 => 1, else => n };",
         "@n = { switch @u (0,) { break 1:i16; } else { break @n; } };"),
        ("n = l: { if (b) { break :l 1; } break :l n; };",
         "@n = { if @b { break 1:i16; } else {  } break @n; };"),
        ("comptime var k = 1; k += 2; a[k] = 0;", "@a[3:u16] = 0:i16;"),
        ("out: while (b) { while (true) { break :out; } }",
         "loop @b { loop { break; } then {  } } then {  }"),
    ],
)  # fmt: skip
def test_statements_become_trees(text: str, tree: str) -> None:
    assert body(text, VARS) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = x;", "type-mismatch: expected `i16`, found `f32` => @as(i16, …)"),
        ("n = 1.5;", "type-mismatch: expected `i16`, found `comptime_float` => @as(i16, …)"),
        ("n = u;", "type-mismatch: expected `i16`, found `u16` => @as(i16, …)"),
        ("n = 40000;", "value-range: 40000 does not fit `i16` (-32768 to 32767)"),
        ("u = -1;", "value-range: -1 does not fit `u16` (0 to 65535)"),
        ("b = n;", "type-mismatch: expected `bool`, found `i16` => @as(bool, …)"),
        ("if (n) { u = 1; }",
         "condition-not-bool: a condition is a `bool`, not a `i16` => compare it: … != 0"),
        ("while (u) { u = 1; }",
         "condition-not-bool: a condition is a `bool`, not a `u16` => compare it: … != 0"),
        ("a = 3;", "type-mismatch: expected `[4]i16`, found `comptime_int`"),
        ("a[4] = 3;", "out-of-bounds: index 4 is outside of 4 elements => 0 to 3"),
        ("a[x] = 3;", "index-type: an index is an integer, not a `f32` => @as(u16, …)"),
        ("a[1, 2] = 3;", "index-count: `[4]i16` takes 1 indices, not 2"),
        ("n[1] = 3;", "not-indexable: a value of type `i16` can't be indexed"),
        ("n.* = 3;", "not-a-pointer: `.*` takes a pointer, not a `i16` => leave `.*` out"),
        ("const t = n; t = 3;", "assign-const: `t` is constant => var t = …"),
        ("const t = 3; t = 4;", "assign-const: `t` is constant => var t = …"),
        ("var t = 3;",
         "comptime-only: `t` can't be a variable of type `comptime_int` => var t: i16 = …"),
        ("n == 3;",
         "unused-value: a value of type `bool` that nothing is done with => return …, or x = …"),
        ("n = n << n;",
         "shift-amount: `<<` shifts by an unsigned integer, not by a `i16` => @as(u16, …)"),
        ("break;", "break-outside: there is no loop here to leave"),
        ("continue;", "continue-outside: there is no loop here for `continue`"),
        ("for (n) |i| { u = i; }",
         "not-iterable: a loop goes over a range or an array, not over a `i16`"
         " => @range(i16, n)"),
        ("for (@range(i16, 3)) |i| { i = 2; }", "assign-const: `i` is constant => var i = …"),
        ("switch (x) { else => {} }",
         "switch-type: a switch is over an integer or an enum, not over a `f32`"
         " => if … else …"),
        ("switch (n) { 1 => {}, 1 => {}, else => {} }",
         "duplicate-case: this value has a case already"),
        ("switch (n) { 1 => u = 2 }",
         "not-exhaustive: not every value of `i16` has a case => else => {}"),
        ("const t = n; const t = u;",
         "redeclared: `t` is already declared in this function"
         " => choose another name: only globals can be hidden"),
        ("return n;", "return-type: the function returns nothing, this is a `i16`"),
        ("const t = [n]i16 { };",
         "not-comptime: `n` is a variable: its value is not known while compiling"
         " => a const, a param, or a literal"),
        ("inline for (@range(i16, 101)) |i| { n = i; }",
         "inline-limit: 101 rounds are more than the 100 that may be written out"
         " => --max-inlined-iterations"),
        ("n = if (b) 1;",
         "missing-else: without `else` there is no value, with it there is a `comptime_int`"
         " => else …"),
        ("a.len = 3;", "no-members: a value of type `[4]i16` has no members"),
        ("const p = &a; p[1] = 2;",
         "not-indexable: a value of type `*[4]i16` can't be indexed"
         " => what it points to: (p.*)[i], or a pointer of type [*]T"),
        ("const p = &n; n = p;",
         "type-mismatch: expected `i16`, found `*i16` => what it points to is ….*"),
        ("const p = &n; n = p + 1;",
         "operand-type: `+` takes numbers, not a `*i16`"
         " => there is no arithmetic with pointers: index, or take the address of an element"),
    ],
)  # fmt: skip
def test_mistakes_in_statements_are_reported(text: str, message: str) -> None:
    assert mistake(text, VARS) == message


def test_a_range_may_end_just_beyond_its_type() -> None:
    assert body("for (@range(u16, 3, -1, -1)) |i| { u = i; }", VARS) == (
        "first: i32 = 3:i32;"
        " count round (0:i32, (first - -1:i32), 1)"
        " { i: u16 = convert<u16>((first + (round * -1:i32))); @u = i; }"
    )


def test_a_mistake_is_at_the_part_that_is_wrong() -> None:
    text = "var n: i16;\nvar x: f32;\nfn f() void {\n  n = 1 +\n    (2 * x);\n}" + EXPORT
    assert error_of(text) == "4:7 type-mismatch: expected `i16`, found `f32` => @as(i16, …)"


def test_a_function_returns_on_every_way() -> None:
    found = error_of("fn f(n: i16) i16 {\n  if (n > 0) { return 1; }\n}" + EXPORT)
    assert found == (
        "3:1 missing-return: `f` may end here without returning its `i16` => return …;"
    )


@pytest.mark.parametrize(
    "text",
    [
        "if (n > 0) { return 1; } else { return 2; }",
        "switch (n) { 1 => return 1, else => return 2 }",
        "while (true) { if (n == 3) { return 1; } }",
        "if (true) { return 1; }",
    ],
)
def test_ways_that_always_return_are_recognised(text: str) -> None:
    text = text.replace("=> return 1,", "=> { return 1; },").replace(
        "=> return 2 ", "=> { return 2; } "
    )
    assert said(f"fn f(n: i16) i16 {{ {text} }}{EXPORT}") == []


def test_what_follows_a_return_is_warned_of() -> None:
    found = error_of("var n: i16;\nfn f() void {\n  return;\n  n = 1;\n}" + EXPORT)
    assert found == "4:3 unreachable-code: this is never reached"


def test_code_behind_a_return_that_is_known_to_be_taken_is_not_looked_at() -> None:
    assert said("fn f() void { if (true) { return; } nowhere(); }" + EXPORT) == []


def test_an_index_with_a_call_is_evaluated_once() -> None:
    text = "var a: [4]i16; fn g() u16 { return 1; } fn f() void { a[g()] += 1; }" + EXPORT
    assert code(text) == "once: u16 = g(); @a[once] = (@a[once] + 1:i16);"


def test_constants_that_are_indexed_at_run_time_are_in_memory() -> None:
    text = "const c = [3]i16 { 4, 5, 6 }; var n: i16; fn f() void { n = c[n] + c[1]; }" + EXPORT
    assert code(text) == "@n = (@c[@n] + 5:i16);"


def test_integers_widen_in_the_new_dialect_only() -> None:
    around = "var s: u8; var w: u16; var l: i32; var h: f16; var x: f32;"
    assert body("l = w + s; x = h;", around, "2.10") == (
        "@l = convert<i32>((@w + convert<u16>(@s))); @x = convert<f32>(@h);"
    )
    assert mistake("w = s;", around).startswith("type-mismatch: expected `u16`, found `u8`")
    assert mistake("w = l;", around, "2.10").startswith(
        "type-mismatch: expected `u16`, found `i32`"
    )


def test_an_enum_switch_names_what_is_missing() -> None:
    around = "const E = enum(u16) { red, green, blue }; var e: E = E.red; var n: i16;"
    assert mistake("switch (e) { E.red => n = 1, E.blue => n = 2 }", around) == (
        "not-exhaustive: no case for `green` => else => …"
    )
