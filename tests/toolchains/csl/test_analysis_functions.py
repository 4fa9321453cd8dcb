"""Functions, structs and modules: specialised when reached, checked when called."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.analysing import EXPORT, analysed, code, error_of, mistake, said, value


def test_functions_are_looked_at_only_when_reached() -> None:
    text = "fn wrong() void { nowhere(); } fn f() void {}" + EXPORT
    assert said(text) == []


def test_functions_that_nothing_reaches_can_be_checked_for_notes() -> None:
    tile, _, reports = analysed(
        "fn wrong() void {\n nowhere(); }\nfn f() void {}" + EXPORT, unreached=True
    )
    (found,) = reports.found
    assert (found.severity, found.code) == ("note", "undefined-name")
    assert found.message == "in `wrong`, which nothing calls: `nowhere` is not declared"
    assert [one.name for one in tile.functions] == ["f"]


def test_a_function_is_made_once_for_each_set_of_known_arguments() -> None:
    text = """
    fn add(comptime T: type, v: T, comptime n: u16) T { return v + n; }
    var x: f32; var i: i16;
    fn f() void { x = add(f32, x, 3); i = add(i16, i, 3); i = add(i16, i, 3); i = add(i16, i, 4); }
    """
    text = text.replace("v + n", "v + @as(T, n)") + EXPORT
    assert code(text) == ("@x = add#1(@x); @i = add#2(@i); @i = add#2(@i); @i = add#3(@i);")
    assert code(text, "add#3") == "return (v + 4:i16);"


def test_anytype_takes_the_type_of_the_argument() -> None:
    text = "fn twice(v: anytype) @type_of(v) { return v + v; } var i: i16; var x: f32;"
    text += " fn f() void { i = twice(i); x = twice(x); }" + EXPORT
    assert code(text) == "@i = twice#1(@i); @x = twice#2(@x);"


def test_inline_functions_stand_where_they_are_called() -> None:
    text = "var n: i16; inline fn most(a: i16, b: i16) i16 { if (a > b) { return a; } return b; }"
    text += " fn f() void { n = most(n, 5); n = most(3, 4); }" + EXPORT
    assert code(text) == (
        "@n = { a: i16 = @n; if (a > 5:i16) { break a; } else {  } break 5:i16; }; @n = 4:i16;"
    )


def test_functions_are_called_through_pointers() -> None:
    text = """
    fn inc(v: i16) i16 { return v + 1; }
    fn apply(g: *const fn (i16) i16, v: i16) i16 { return g(v); }
    var n: i16;
    fn f() void { n = apply(inc, n); n = apply(&inc, n); }
    """
    assert code(text + EXPORT) == "@n = apply(&inc, @n); @n = apply(&inc, @n);"
    assert code(text + EXPORT, "apply") == "return (g)(v);"


def test_a_call_with_the_wrong_number_of_arguments_points_to_the_declaration() -> None:
    text = "fn g(a: i16, b: i16) void {}\nfn f() void {\n  g(1);\n}" + EXPORT
    (found,) = analysed(text)[2].found
    assert found.message == "`g` takes 2 arguments, not 1"
    assert found.span is not None
    assert (found.span.line, found.span.column) == (3, 3)
    assert found.notes[0].span is not None
    assert found.notes[0].span.line == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("g(1, 2, 3);", "argument-count: `g` takes 2 arguments, not 3 => g(a, b)"),
        ("g(1.5, 2);", "type-mismatch: expected `i16`, found `comptime_float` => @as(i16, …)"),
        ("g(u, 2);", "type-mismatch: expected `i16`, found `u16` => @as(i16, …)"),
        ("t();", "task-call: a task can't be called => @activate(id): it runs when its turn comes"),
        ("u();", "not-callable: a value of type `u16` can't be called"),
        ("u16(3);", "not-callable: a value of type `type` can't be called => @as(u16, …) converts"),
        ("u = h();", "type-mismatch: expected `u16`, found `f32` => @as(u16, …)"),
        ("gg(1, 2);", "undefined-name: `gg` is not declared => did you mean `g`?"),
        ("const k = g(1, 2);", "void-value: this has no value that could be kept"),
        ("g;",
         "unused-value: a value of type `fn(i16, i16)void` that nothing is done with"
         " => a call takes parentheses"),
    ],
)  # fmt: skip
def test_mistakes_in_calls_are_reported(text: str, message: str) -> None:
    around = "var u: u16; fn g(a: i16, b: i16) void {} fn h() f32 { return 1.0; } task t() void {}"
    assert mistake(text, around) == message


def test_formals_are_constant() -> None:
    found = error_of(
        "fn g(a: i16) i16 { a = 3; return a; } fn f() void { const k = g(1); }" + EXPORT
    )
    assert found == "1:20 assign-const: `a` is constant => var a = …"


def test_the_type_of_a_returned_value_is_checked() -> None:
    text = "fn g(x: f32) i16 { return x; }\nfn f() void { const k = g(1.0); }" + EXPORT
    assert error_of(text) == "1:27 type-mismatch: expected `i16`, found `f32` => @as(i16, …)"
    text = "fn g() i16 { return; }\nfn f() void { const k = g(); }" + EXPORT
    assert error_of(text) == "1:14 return-type: the function returns a `i16` => return …;"


STRUCTS = "const P = struct { x: f32, n: i16 }; var p: P;"


def test_named_structs_are_made_copied_and_changed() -> None:
    text = (
        STRUCTS
        + " fn f() void { p = P { .n = 2, .x = 1.0 }; p.x = p.x * 2.0; const q = p; p = q; }"
    )
    assert code(text + EXPORT) == ("@p = (1.0, 2):P; @p.0 = (@p.0 * 2.0:f32); q: P = @p; @p = q;")


def test_anonymous_structs_become_named_ones_in_the_new_dialect() -> None:
    text = STRUCTS + " fn f() void { p = .{ .n = p.n, .x = 1.0 }; }" + EXPORT
    assert code(text, dialect="2.10") == "@p = {1.0:f32, @p.1}:P;"
    assert "type-mismatch: expected `P`" in error_of(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p = P { .x = 1.0 };", "missing-field: `P` also has `n` => .n = …"),
        ("p = P { .x = 1.0, .m = 2 };",
         "unknown-field: `P` has no field `m` => did you mean `n`?"),
        ("p = P { .x = 1.0, .n = 2.5 };",
         "type-mismatch: expected `i16`, found `comptime_float` => @as(i16, …)"),
        ("p.y = 2;", "unknown-field: `P` has no field `y` => did you mean `n`?"),
        ("const q = &p; q.x = 2.0;",
         "no-members: a value of type `*P` has no members"
         " => what it points to has fields: ….*.x"),
    ],
)  # fmt: skip
def test_mistakes_in_structs_are_reported(text: str, message: str) -> None:
    found = mistake(text, STRUCTS)
    assert found.split(" => ")[0] == message.split(" => ")[0]


MODULE = {
    "main.csl": """
    const one = @import_module("lib/m.csl", .{ .n = 3, .p = &buffer, .done = done });
    const two = @import_module("lib/m.csl", .{ .n = 4, .p = &buffer, .done = done });
    var buffer: [10]f32;
    fn done() void { buffer[0] = 1.0; }
    fn f() void { one.go(); two.go(); one.count += 1; buffer[one.sub.K] = two.sub.g(2.0); }
    comptime { @export_symbol(f); }
    """,
    "lib/m.csl": """
    param n: u16; param p: *[10]f32; param done: fn () void;
    var count: u16 = n;
    const sub = @import_module("s.csl");
    fn go() void { (p.*)[n] = 2.0; done(); }
    comptime { @comptime_assert(n > 2); }
    """,
    "lib/s.csl": "const K = 5; fn g(x: f32) f32 { return -x; }",
}


def test_every_import_is_an_instance_of_its_own() -> None:
    assert code(MODULE) == (
        "one.go(); two.go(); @one.count = (@one.count + 1:u16);"
        " @buffer[5:u16] = two.sub.g(2.0:f32);"
    )
    assert code(MODULE, "two.go") == "&buffer+0:*[10]f32.*[4:u16] = 2.0:f32; done();"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('"lib.csl"', "1:11 missing-param: `lib.csl` needs a value for its parameter `n`"),
        ('"lib.csl", .{ .n = 1.5 }', "1:11 type-mismatch: expected `u16`, found `comptime_float`"),
        ('"lib.csl", .{ .n = 1, .m = 2 }', "1:11 unknown-param: `lib.csl` has no parameter `m`"),
        ('"lob.csl"', "1:11 file-not-found: there is no file `lob.csl`"),
        ('"<lob>"', "1:11 unknown-library: there is no library module `<lob>`"),
    ],
)
def test_mistakes_in_imports_are_reported(arguments: str, message: str) -> None:
    texts = {
        "main.csl": f"const m = @import_module({arguments});",
        "lib.csl": "param n: u16; var v = n;",
    }
    assert error_of(texts).split(" => ")[0] == message


def test_a_param_needs_a_value_only_if_something_uses_it() -> None:
    assert said("param n: u16;") == []
    (found,) = analysed("param n: u16;\nconst m = n;")[2].found
    assert (found.severity, found.message) == (
        "error",
        "`main.csl` needs a value for its parameter `n`",
    )


def test_a_member_that_a_module_does_not_have_is_reported() -> None:
    texts = {
        "main.csl": 'const m = @import_module("m.csl");\nconst x = m.lenght;',
        "m.csl": "const length = 3;",
    }
    assert error_of(texts) == (
        "2:13 unknown-member: module `m.csl` has no `lenght` => did you mean `length`?"
    )


def test_a_mistake_in_a_global_is_reported_once() -> None:
    text = "const a: u16 = nowhere;\nconst b = a + 1;\nvar c: u16 = b;"
    assert error_of(text) == "1:16 undefined-name: `nowhere` is not declared"


def test_params_have_defaults_and_types() -> None:
    assert value("x", "param n: i16 = 3; const x = n;") == ("i16", 3)


def test_exported_variables_have_memory() -> None:
    tile, _, reports = analysed("export var a: [3]f32; var b: u16;")
    assert not reports.found
    assert [one.name for one in tile.variables] == ["a"]


def test_an_extern_variable_is_the_one_that_is_exported() -> None:
    texts = {
        "main.csl": 'extern var n: u16; const m = @import_module("m.csl");'
        " fn f() void { n = 1; }" + EXPORT,
        "m.csl": "export var n: u16 = 3;",
    }
    assert code(texts) == "@m.n = 1:u16;"
