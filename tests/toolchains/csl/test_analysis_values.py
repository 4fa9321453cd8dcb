"""What is known while compiling: arithmetic, structs, arrays, enums, functions that run there."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.analysing import computed, error_of, value


@pytest.mark.parametrize(
    ("text", "kind", "data"),
    [
        ("2 + 3 * 4 - 1", "comptime_int", 13),
        ("(1 << 70) >> 68", "comptime_int", 4),
        ("-7 / 2", "comptime_int", -3),
        ("-7 % 2", "comptime_int", -1),
        ("(7 & 3) | (8 ^ 8)", "comptime_int", 3),
        ("1.5 * 2", "comptime_float", 3.0),
        ("1 / 4.0", "comptime_float", 0.25),
        ("@as(u8, 250) + 10", "u8", 4),
        ("@as(i16, 32767) + 1", "i16", -32768),
        ("~@as(u8, 1)", "u8", 254),
        ("-@as(i8, -128)", "i8", -128),
        ("@as(i16, -8) >> 1", "i16", -4),
        ("@as(u16, 1) << 15", "u16", 32768),
        ("@as(f32, 0.1) + @as(f32, 0.2)", "f32", 0.30000001192092896),
        ("@as(f16, 1.0) / 3.0", "f16", 0.333251953125),
        ("1 < 2 and 2.5 >= 2.5", "bool", True),
        ("!(1 == 2) or nowhere", "bool", True),
        ("false and nowhere", "bool", False),
        ("EAST == WEST", "bool", False),
        ('"ab" == "ab"', "bool", True),
        ("if (1 == 1) 5 else nowhere", "comptime_int", 5),
        ("switch (3) { 1, 2 => nowhere, 3 => 8, else => nowhere }", "comptime_int", 8),
        ("b: { break :b 7; }", "comptime_int", 7),
        (".{ .a = 1, .b = true }.b", "bool", True),
        (".{ 1, 2.5 }[1]", "comptime_float", 2.5),
        ("([2, 2]i16 { 1, 2, 3, 4 })[1, 0]", "i16", 3),
        ("{}", "void", None),
        ("'a' + 1", "comptime_int", 98),
    ],
)
def test_expressions_are_computed_exactly_or_in_their_type(
    text: str, kind: str, data: object
) -> None:
    assert computed(text) == (kind, data)


def test_a_known_integer_becomes_another_type_by_its_value() -> None:
    assert value("b", "const a: u16 = 5; const b: i16 = a - 7 + 3;") == ("i16", 1)


def test_a_known_integer_that_does_not_fit_is_an_error() -> None:
    found = error_of("const a: u16 = 300;\nconst b: u8 = a;")
    assert found == "2:15 value-range: 300 does not fit `u8` (0 to 255)"


def test_globals_may_stand_in_any_order() -> None:
    assert value("a", "const a = b + 1; const b = c * 2; const c = 4;") == ("comptime_int", 9)


def test_a_global_that_depends_on_itself_is_an_error() -> None:
    assert error_of("const a = b;\nconst b = a;") == ("2:11 cycle: `a` depends on its own value")


def test_enum_members_without_a_value_take_the_smallest_free_ones() -> None:
    text = "const E = enum(u16) { a, b = 1, c }; const x = .{ E.a, E.b, E.c };"
    assert value("x", text)[1] == (0, 1, 2)


def test_functions_run_with_loops_and_variables() -> None:
    text = """
    fn primes(n: u16) u16 {
      var sieve = @zeros([100]u8);
      var count: u16 = 0;
      var i: u16 = 2;
      while (i < n) : (i += 1) {
        if (sieve[i] != 0) { continue; }
        count += 1;
        for (@range(u16, i, n, i)) |j| { sieve[j] = 1; }
      }
      return count;
    }
    const x = primes(100);
    """
    assert value("x", text) == ("u16", 25)


def test_functions_call_themselves_while_compiling() -> None:
    text = "fn f(n: u32) u32 { if (n < 2) { return n; } return f(n - 1) + f(n - 2); }"
    assert value("x", text + " const x = f(14);") == ("u32", 377)


def test_a_loop_over_an_array_gives_values_and_positions() -> None:
    text = """
    fn f() i16 {
      var sum: i16 = 0;
      for ([3]i16 { 5, 7, 9 }) |v, i| { sum += v * i; }
      return sum;
    }
    const x = f();
    """
    assert value("x", text) == ("i16", 25)


def test_a_value_that_was_taken_does_not_change_with_the_variable() -> None:
    text = """
    fn f() [2]i16 {
      var a = [2]i16 { 1, 2 };
      const before = a;
      a[0] = 9;
      const after = a;
      a[1] = 8;
      return [2]i16 { before[0] + after[0], after[1] };
    }
    const x = f();
    """
    assert value("x", text) == ("[2]i16", [10, 2])


def test_parts_of_structs_are_assigned_while_compiling() -> None:
    text = """
    fn f() comptime_struct {
      var s = .{ .a = @as(i16, 1), .b = .{ .c = @zeros([2]u16) } };
      s.a += 4;
      s.b.c[1] = 7;
      return s;
    }
    const x = f();
    """
    assert value("x", text)[1] == (5, ([0, 7],))


def test_labels_say_which_loop_is_left() -> None:
    text = """
    fn f() u16 {
      var n: u16 = 0;
      out: for (@range(u16, 5)) |i| {
        for (@range(u16, 5)) |j| {
          if (i * j == 6) { break :out; }
          n += 1;
        }
      }
      return n;
    }
    const x = f();
    """
    assert value("x", text) == ("u16", 13)


def test_a_switch_runs_one_case_while_compiling() -> None:
    text = """
    fn f(n: u16) u16 {
      var r: u16 = 0;
      switch (n) { 0 => r = 1, 1, 2 => { r = 2; }, else => r = 3 }
      return r;
    }
    const x = [3]u16 { f(0), f(2), f(5) };
    """
    assert value("x", text) == ("[3]u16", [1, 2, 3])


def test_types_are_values() -> None:
    text = """
    fn pick(wide: bool) type { return if (wide) u32 else u16; }
    const T = pick(true);
    const x: T = 70000;
    """
    assert value("x", text) == ("u32", 70000)


def test_an_endless_loop_while_compiling_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolchains.csl.analysis.execution._MOST_ROUNDS", 1000)
    found = error_of("fn f() u16 { while (true) { } return 1; }\nconst x = f();")
    assert found == "1:14 endless-comptime: this loop goes on and on while compiling"


def test_recursion_without_end_is_stopped() -> None:
    found = error_of("fn f(n: u16) u16 { return f(n); }\nconst x = f(1);")
    assert found.startswith("1:27 endless-comptime: calls of `f` while compiling are too deep")


def test_variables_start_at_zero_or_need_a_value() -> None:
    text = "fn f() [2]u16 { var a: [2]u16; a[1] = 3; return a; } const x = f();"
    assert value("x", text) == ("[2]u16", [0, 3])
    found = error_of("fn f() u16 { var t: type; return @as(t, 1); }\nconst x = f();")
    assert found == (
        "1:18 missing-value: a variable of type `type` needs a value while compiling => var t = …"
    )


def test_addresses_of_constants_are_followed() -> None:
    text = "const a = [3]u16 { 5, 6, 7 }; const p = &a[2]; const x = p.*;"
    assert value("x", text) == ("u16", 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "division-by-zero: the divisor is zero"),
        ("1.0 / 0.0", "division-by-zero: the divisor is zero"),
        ("1 + true", "operand-type: `+` takes numbers, not a `bool`"),
        ('"a" + "b"', "operand-type: `+` takes numbers, not a `comptime_string`"),
        ("1.5 % 2.0", "operand-type: `%` takes integers, not a `comptime_float`"),
        ("~1", "operand-type: `~` takes an integer of a fixed width, not a `comptime_int`"),
        ("!1", "operand-type: `!` takes a `bool`, not a `comptime_int`"),
        ("@as(u16, 1) << 16", "shift-amount: `u16` can't be shifted by 16"),
        ("1 and true", "operand-type: `and` takes a `bool`, not a `comptime_int`"),
        ("1 == true", "mixed-types: `==` of `comptime_int` and `bool`: the types differ"),
        ("u16 == u16", "operand-type: `==` does not compare values of type `type`"),
        ("[2]i16 { 1 }", "element-count: `[2]i16` has 2 elements, not 1"),
        ("[2]i16 { 1, 2.5 }", "type-mismatch: expected `i16`, found `comptime_float`"),
        ("([2]i16 { 1, 2 })[2]", "out-of-bounds: index 2 is outside of 2 elements"),
        (".{ 1 }[1]", "out-of-bounds: index 1 is outside of 1 items"),
        ("[2][3]i16 { 1 }", "array-of-arrays: the element of an array can't be an array"),
        (".{ .a = 1, .a = 2 }", "redeclared: field `a` is there twice"),
        (".{ .a = 1 }.b", "unknown-field: `struct { a: comptime_int }` has no field `b`"),
        ("nowhere", "undefined-name: `nowhere` is not declared"),
        ("&1", "address-of-value: only what is stored has an address"),
        ("3()", "not-callable: a value of type `comptime_int` can't be called"),
    ],
)
def test_mistakes_in_expressions_name_the_types(text: str, message: str) -> None:
    assert error_of(f"const x = {text};").split(" ", 1)[1].split(" => ")[0] == message


def test_types_are_compared_in_the_new_dialect() -> None:
    assert computed("u16 == u16", "2.10") == ("bool", True)


def test_integers_of_any_width_are_types_of_the_new_dialect() -> None:
    assert value("x", "const x: u5 = 31;", "2.10") == ("u5", 31)
    assert error_of("const x: u5 = 31;") == (
        "1:10 undefined-name: `u5` is not a type in SDK 1.4"
        " => 1.4 has integers of 8, 16, 32 and 64 bits"
    )
