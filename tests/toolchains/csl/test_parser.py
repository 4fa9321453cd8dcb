"""What the parser makes of a text."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.parsing import body, brief, clean, read, shape, value
from toolchains.csl import nodes
from toolchains.csl.parser import parse_expression
from toolchains.csl.printing import print_item, print_statement, show


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a * b / c % d", "((a * b) / c) % d"),
        ("a << b + c", "a << (b + c)"),
        ("a | b << c", "a | (b << c)"),
        ("a & 1 == 0", "(a & 1) == 0"),
        ("a << b > c", "(a << b) > c"),
        ("a == b and c or d", "((a == b) and c) or d"),
        ("a or b and c", "a or (b and c)"),
        ("-a * b", "(-a) * b"),
        ("-a.b[c]", "-(a.b[c])"),
        ("!a and b", "(!a) and b"),
        ("&a[1]", "&(a[1])"),
        ("comptime a + b", "(comptime a) + b"),
        ("-205.0 / 72.0 / dx", "((-205.0) / 72.0) / dx"),
        ("if (a) b else c + d", "if (a) b else (c + d)"),
        ("|i|{n} -> a[i] + b", "(|i|{n} -> a[i]) + b"),
        ("*f32 == T", "(*f32) == T"),
    ],
)
def test_operators_bind_in_this_way(text: str, grouped: str) -> None:
    assert shape(value(text)) == shape(value(grouped))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12), ("0xff", 255), ("0b101", 5), ("0o17", 15), ("1_000", 1000), ("007", 7),
        ("'a'", 97), ("'\\n'", 10), ("'\\xff'", 255), ("'\\\\'", 92),
    ],
)  # fmt: skip
def test_integers_have_their_value(text: str, expected: int) -> None:
    node = value(text)
    assert isinstance(node, nodes.IntLiteral)
    assert node.value == expected


def test_an_integer_may_be_of_any_length() -> None:
    node = value("0x" + "f" * 5000)
    assert isinstance(node, nodes.IntLiteral)
    assert node.value == 16**5000 - 1
    assert show(node) == "0x" + "f" * 5000


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5", 1.5), ("2e3", 2000.0), ("1.25E-3", 0.00125), ("1_0.5", 10.5)]
)
def test_floats_have_their_value(text: str, expected: float) -> None:
    node = value(text)
    assert isinstance(node, nodes.FloatLiteral)
    assert node.value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"plain"', b"plain"),
        (r'"a\n\t\r\\\"\'b"', b"a\n\t\r\\\"'b"),
        (r'"\x00\xfF1"', b"\x00\xff1"),
        (r'"\\n"', b"\\n"),
        ('"é"', "é".encode()),
        ('""', b""),
    ],
)
def test_strings_have_their_bytes(text: str, expected: bytes) -> None:
    node = value(text)
    assert isinstance(node, nodes.StringLiteral)
    assert node.value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'const a = "\q";', r"1:11 bad-escape: \q is not an escape"),
        (r'const a = "\xg0";', r"1:11 bad-escape: \xg0 is not an escape"),
        ("const a = 1__0;", "1:11 bad-number: not a number: 1__0"),
        ("const a = 1e999;", "1:11 bad-number: 1e999 is beyond any float"),
        ("const a = 'é';", "1:11 bad-character: ' … ' holds one byte"),
    ],
)
def test_a_literal_without_a_value_is_told(text: str, expected: str) -> None:
    (found,) = read(text)[1]
    assert brief(found).split(" => ")[0] == expected


def test_a_decimal_number_too_long_for_the_interpreter_is_told() -> None:
    (found,) = read(f"const a = {'9' * 5000};")[1]
    assert brief(found).startswith("1:11 bad-number: not a number: 99999999999999999999… of 5000")


def test_every_node_has_the_place_of_its_text() -> None:
    text = "fn f() void {\n  x.y[1] = (a + b) * g(c, 2);\n}"
    (item,) = clean(text).items
    assert isinstance(item, nodes.FunctionDecl)
    assert item.body is not None
    (assign,) = item.body.statements
    assert isinstance(assign, nodes.Assign)
    product = assign.value
    assert isinstance(product, nodes.Binary)
    call = product.right
    assert isinstance(call, nodes.Call)
    parts = [item, item.body, assign, assign.target, product, product.left, call, call.arguments[1]]
    assert [text[one.span.start : one.span.end] for one in parts] == [
        text,
        text[12:],
        "x.y[1] = (a + b) * g(c, 2)",
        "x.y[1]",
        "(a + b) * g(c, 2)",
        "a + b",
        "g(c, 2)",
        "2",
    ]
    assert (product.operator_span.line, product.operator_span.column) == (2, 20)
    assert (item.name_span.line, item.name_span.column) == (1, 4)


def test_a_type_in_front_of_a_block_takes_no_braces() -> None:
    for text in ("fn f() [n]f32 { }", "fn f() T { }", "fn f() *m.T { }", "fn f() fn(T) T { }"):
        (item,) = clean(text).items
        assert isinstance(item, nodes.FunctionDecl)
        assert item.body is not None


def test_a_name_and_braces_are_a_value_only_with_fields() -> None:
    (statement,) = body("if (a) b { .x = 1 };")
    assert isinstance(statement, nodes.If)
    then = statement.then
    assert isinstance(then, nodes.ExprStmt)
    assert isinstance(then.value, nodes.StructLiteral)


def test_else_belongs_to_the_nearest_if() -> None:
    (statement,) = body("if (a) { } else if (b) { c(); } else { d(); }")
    assert isinstance(statement, nodes.If)
    inner = statement.otherwise
    assert isinstance(inner, nodes.If)
    assert isinstance(inner.otherwise, nodes.Block)


def test_a_switch_keeps_its_cases_in_order() -> None:
    (statement,) = body("switch (a) { 1, 2 => b(), 3 => { c(); }, 4 => d = 1, else => e() }")
    assert isinstance(statement, nodes.ExprStmt)
    switch = statement.value
    assert isinstance(switch, nodes.SwitchExpr)
    assert [len(case.values) for case in switch.cases] == [2, 1, 1, 0]
    bodies = [type(case.body).__name__ for case in switch.cases]
    assert bodies == ["Call", "Block", "Assign", "Call"]


def test_the_old_form_of_a_colour_is_a_parameter() -> None:
    module, found = read("color c;")
    assert [one.severity for one in found] == ["warning"]
    assert shape(module) == shape(clean("param c: color;"))


def test_what_is_behind_a_mistake_is_kept() -> None:
    module, found = read("const a = ;\nfn f() void {\n  x = ;\n  y = 1;\n}\nconst b = 2;\n")
    assert len(found) == 2
    assert [getattr(item, "name", "") for item in module.items] == ["f", "b"]
    (item, _) = module.items
    assert print_item(item) == "fn f() void {\n  y = 1;\n}"


def test_an_error_behind_very_many_warnings_is_told() -> None:
    _, found = read(f"fn f() void {{ {'g();; ' * 300} }}\nconst a = ;")
    assert len(found) == 101
    assert brief(found[-1]).startswith("2:11 syntax")


def test_thousands_of_elements_and_statements_are_read() -> None:
    node = value(f"[5000]i16 {{ {', '.join(str(i) for i in range(5000))} }}")
    assert isinstance(node, nodes.ArrayLiteral)
    assert len(node.items) == 5000
    assert len(body("x = 1; " * 5000)) == 5000
    assert len(clean("const x = 1;\n" * 5000).items) == 5000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(" * 65 + "1" + ")" * 65, "1:75 too-deep: nested more than 64 deep"),
        (" + ".join(["a"] * 131), "1:11 too-deep: more than 128 operators in a row"),
        ("a" + "[0]" * 130, "1:11 too-deep: more than 128 operators in a row"),
        ("if (a) b else " * 130 + "c", "1:1803 too-deep: more than 128 branches in a row"),
    ],
)
def test_more_levels_than_a_reader_can_follow_are_told(text: str, expected: str) -> None:
    (found,) = read(f"const x = {text};")[1]
    assert brief(found).split(" => ")[0] == expected


def test_sixty_levels_and_a_hundred_operators_are_read() -> None:
    value("(" * 60 + "1" + ")" * 60)
    value(" + ".join(["a"] * 120))
    body("if (a) { " * 60 + "}" * 60)
    body("if (a) b(); else if (c) d(); ".replace("; else", " else"))
    body("if (a) { } " + "else if (b) { } " * 120 + "else { }")


@pytest.mark.parametrize(("text", "shown"), [("4", "4"), ("-1.5", "-1.5"), ("true", "true")])
def test_a_value_of_the_command_line_is_an_expression(text: str, shown: str) -> None:
    node, found = parse_expression(text)
    assert not found
    assert node is not None
    assert show(node) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1 syntax: expected an expression, found the end of the file"),
        ("1 2", "1:3 syntax: expected the end of the value, found `2`"),
        ("4u", "1:1 bad-number: numbers have no suffix in CSL: 4u"),
    ],
)
def test_a_value_of_the_command_line_that_is_none_is_told(text: str, expected: str) -> None:
    node, found = parse_expression(text)
    assert node is None
    assert [brief(one).split(" => ")[0] for one in found] == [expected]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x   = a+b  *c;", "x = a + b * c;"),
        ("if(a)b()else c();", "if (a) b() else c();"),
        ("while(a):(i+=1){b();}", "while (a) : (i += 1) {\n  b();\n}"),
        ("var x:[2,n]f32;", "var x: [2, n]f32;"),
        ("(if (a) b else c).d();", "(if (a) b else c).d();"),
        ("({});", "({});"),
    ],
)
def test_statements_are_printed_in_one_form(text: str, printed: str) -> None:
    (statement,) = body(text)
    assert print_statement(statement) == printed
