"""Expressions: prefixes, suffixes, binary operators, if and switch with a value."""

from __future__ import annotations

from collections.abc import Callable

from . import nodes
from .nodes import Expr
from .parse_base import MAX_CHAIN, MAX_DEPTH
from .parse_operands import Operands
from .source import Diagnostic, Span
from .tokens import ASSIGNMENTS, BUILTIN, CHAR, FLOAT, IDENT, INT, STRING, Tokens

COMPARISON, BITS = 3, 4
LEVELS = {
    **dict.fromkeys(("or", "||"), 1),
    **dict.fromkeys(("and", "&&"), 2),
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), COMPARISON),
    **dict.fromkeys(("&", "^", "|"), BITS),
    **dict.fromkeys(("<<", ">>"), 5),
    **dict.fromkeys(("+", "-"), 6),
    **dict.fromkeys(("*", "/", "%"), 7),
}
"""Binary operators, all of them left-associative; a higher level binds tighter."""

_MEANT = {"&&": "and", "||": "or"}
_SUFFIXES = frozenset(("(", "[", ".", ".*", "{"))


class Expressions(Operands):
    """Adds whole expressions, types among them."""

    def __init__(self, tokens: Tokens, dialect: str, found: list[Diagnostic]) -> None:
        super().__init__(tokens, dialect, found)
        self._primaries: dict[str, Callable[[], Expr]] = {
            IDENT: self.identifier,
            INT: self.integer,
            FLOAT: self.number,
            STRING: self.string,
            CHAR: self.character,
            BUILTIN: self.builtin_call,
            "true": self.true_or_false,
            "false": self.true_or_false,
            "(": self.parenthesised,
            ".{": self.anonymous,
            "{": self.braces,
            "if": self.if_expression,
            "switch": self.switch,
            "fn": self.function_type,
            "task": self.function_type,
            "enum": self.enum_type,
            "struct": self.struct_type,
            "union": self.struct_type,
            "packed": self.struct_type,
            "extern": self.struct_type,
            "asm": self.assembly,
        }
        self._prefixes: dict[str, Callable[[bool], Expr]] = {
            **dict.fromkeys(("-", "!", "~", "&", "comptime"), self.prefixed),
            "*": self.pointer,
            "[": self.array,
            "|": self.tensor_access,
        }
        self._suffixes: dict[str, Callable[[int, Expr], Expr]] = {
            "(": self.call,
            "[": self.index,
            ".": self.member,
            ".*": self.dereference,
        }

    def expression(self) -> Expr:
        """Read `expr = binary`."""
        first = self.pos
        left = self.operand()
        if self.kinds[self.pos] in LEVELS:
            return self._binary(first, left)
        return left

    def type(self) -> Expr:
        """Read `type = unary without field_init_list and without array-literal braces`."""
        if self.kinds[self.pos] in ("{", "!"):
            self.fail("a type")
        return self.operand(False)

    def operand(self, braces: bool = True) -> Expr:
        """Read a `unary`.

        unary = ("-" | "!" | "~" | "&") unary | "comptime" unary | "comptime" block
        | ptr_type | array_type_or_lit | tensor_access | postfix
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()
        first = self.pos
        kind = self.kinds[first]
        primary = self._primaries.get(kind)
        if primary is not None:
            node = primary()
            if self.kinds[self.pos] in _SUFFIXES:
                node = self._postfix(first, node, braces)
        else:
            prefix = self._prefixes.get(kind)
            if prefix is None:
                self.fail("an expression" if braces else "a type")
            node = prefix(braces)
        self.depth -= 1
        return node

    # --- binary operators ---

    def _binary(self, start: int, left: Expr) -> Expr:
        """Read `binary = unary {operator unary}`, by the levels of `LEVELS`."""
        kinds = self.kinds
        operands = [(start, left, self.ends[self.pos - 1])]
        operators: list[int] = []
        count = 0
        while (level := LEVELS.get(kinds[self.pos])) is not None:
            while operators and LEVELS[kinds[operators[-1]]] >= level:
                if LEVELS[kinds[operators[-1]]] == level:
                    self._neighbours(operators[-1], level)
                self._reduce(operands, operators.pop())
            operators.append(self.pos)
            self.pos += 1
            count += 1
            if count > MAX_CHAIN:
                self.too_long(start)
            operands.append((self.pos, self.operand(), self.ends[self.pos - 1]))
        while operators:
            self._reduce(operands, operators.pop())
        return operands[0][1]

    def _reduce(self, operands: list[tuple[int, Expr, int]], operator: int) -> None:
        _, right, end = operands.pop()
        start, left, _ = operands.pop()
        sign = self.kinds[operator]
        if sign in _MEANT:
            self._meant(operator)
            sign = _MEANT[sign]
        span = Span(self.source, self.starts[start], end)
        node = nodes.Binary(span, sign, left, right, self.tokens.span(operator))
        operands.append((start, node, end))

    def _meant(self, operator: int) -> None:
        sign = self.kinds[operator]
        message = f"CSL writes `{_MEANT[sign]}`, not `{sign}`"
        hint = f"a {_MEANT[sign]} b"
        self.report("foreign-syntax", message, self.tokens.span(operator), hint)

    def _neighbours(self, before: int, level: int) -> None:
        """What is said of two operators of one level without parentheses."""
        one, two = self.kinds[before], self.kinds[self.pos]
        if level == COMPARISON:
            message = "comparisons can't be chained"
            self.mistake("chained-comparison", message, f"a {one} b and b {two} c")
        if level == BITS and one != two:
            message = f"`{one}` and `{two}` bind equally tight: from left to right here"
            hint = "say what is meant with parentheses"
            self.warn("mixed-bit-operators", message, self.here(), hint)

    # --- prefixes ---

    def prefixed(self, braces: bool) -> Expr:
        """Read `("-" | "!" | "~" | "&") unary | "comptime" unary | "comptime" block`."""
        first = self.pos
        sign = self.kinds[first]
        self.pos += 1
        if sign == "comptime" and self.kinds[self.pos] == "{":
            start = self.pos
            body = self.block()
            operand: Expr = nodes.BlockExpr(self.span(start), "", body)
        else:
            operand = self.operand(braces)
        if sign == "&":
            return nodes.AddressOf(self.span(first), operand)
        if sign == "comptime":
            return nodes.Comptime(self.span(first), operand)
        return nodes.Unary(self.span(first), sign, operand)

    def pointer(self, braces: bool = False) -> Expr:
        """Read `ptr_type = "*" ["const"] type | "[" "*" "]" ["const"] type`."""
        del braces
        first = self.pos
        many = self.kinds[first] == "["
        power = self.kinds[first - 1] == "*" and self.kinds[first - 2] in (IDENT, INT, FLOAT)
        if power and self.tokens.adjacent(first):
            hint = "x * x, or pow of <math>"
            self.mistake("foreign-syntax", "CSL has no power operator", hint)
        self.pos += 3 if many else 1
        constant = self.take("const")
        target = self.type()
        return nodes.PointerType(self.span(first), target, constant, many)

    def array(self, braces: bool) -> Expr:
        """Read an `array_type_or_lit`.

        array_type_or_lit = "[" expr {"," expr} "]" type [ "{" [expr {"," expr} [","]] "}" ]
        """
        first = self.pos
        if self.kinds[first + 1 : first + 3] == ["*", "]"]:
            return self.pointer()
        self.pos += 1
        if self.kinds[self.pos] == "]":
            self.fail("the length of an array")
        dimensions = self.expressions("]", first)
        if isinstance(dimensions[0], nodes.Name) and dimensions[0].name == "_":
            hint = "[3]u16 { 1, 2, 3 }"
            self.report(
                "foreign-syntax", "the length of an array isn't inferred", dimensions[0].span, hint
            )
        element = self.type()
        kind = nodes.ArrayType(self.span(first), dimensions, element)
        if braces and self.kinds[self.pos] == "{":
            opener = self.pos
            self.pos += 1
            items = self.expressions("}", opener)
            return nodes.ArrayLiteral(self.span(first), kind, items)
        return kind

    # --- suffixes ---

    def _postfix(self, first: int, node: Expr, braces: bool) -> Expr:
        """Read a `postfix`.

        postfix = primary { "(" [args] ")" | "[" expr {"," expr} "]" | "." ident | ".*"
        | field_init_list }
        """
        count = 0
        while (kind := self.kinds[self.pos]) in _SUFFIXES:
            if kind == "{":
                if not braces or not self.named_ahead(self.pos + 1):
                    break
                node = self.struct_value(first, node)
            else:
                node = self._suffixes[kind](first, node)
            count += 1
            if count > MAX_CHAIN:
                self.too_long(first)
        return node

    def struct_value(self, first: int, node: Expr) -> Expr:
        """Read a `field_init_list`.

        field_init_list = "{" "." ident "=" expr {"," "." ident "=" expr} [","] "}"
        """
        opener = self.pos
        self.pos += 1
        fields = self.field_values(opener)
        return nodes.StructLiteral(self.span(first), fields, node)

    def call(self, first: int, node: Expr) -> Expr:
        """Read `"(" [args] ")"     args = expr {"," expr} [","]`."""
        opener = self.pos
        self.pos += 1
        arguments = self.expressions(")", opener)
        return nodes.Call(self.span(first), node, arguments)

    def index(self, first: int, node: Expr) -> Expr:
        """Read `"[" expr {"," expr} "]"`."""
        opener = self.pos
        self.pos += 1
        if self.kinds[self.pos] == "]":
            self.fail("an index")
        indices = self.expressions("]", opener)
        return nodes.Index(self.span(first), node, indices)

    def member(self, first: int, node: Expr) -> Expr:
        """Read `"." ident`."""
        self.pos += 1
        if self.kinds[self.pos] == IDENT:
            self.pos += 1
            name = self.texts[self.pos - 1]
        else:
            name = self.field_name()
        return nodes.Member(self.span(first), node, name, self.tokens.span(self.pos - 1))

    def dereference(self, first: int, node: Expr) -> Expr:
        """Read `".*"`."""
        self.pos += 1
        return nodes.Dereference(self.span(first), node)

    def builtin_call(self) -> Expr:
        """Read `builtin "(" [args] ")"`."""
        first = self.pos
        self.pos += 1
        if self.kinds[self.pos] != "(":
            self.fail(f"`(` behind {self.texts[first]}")
        self.pos += 1
        arguments = self.expressions(")", first + 1)
        name = self.texts[first]
        return nodes.BuiltinCall(self.span(first), name, self.tokens.span(first), arguments)

    # --- choices ---

    def if_expression(self) -> Expr:
        """Read `if_expr = "if" "(" expr ")" expr "else" expr`."""
        starts: list[tuple[int, Expr, Expr]] = []
        otherwise: Expr | None = None
        while self.kinds[self.pos] == "if":
            first = self.pos
            self.pos += 1
            condition = self.condition("if")
            starts.append((first, condition, self.expression()))
            if len(starts) > MAX_CHAIN:
                self.too_long(first, "branches")
            if not self.take("else"):
                break
            if self.kinds[self.pos] != "if":
                otherwise = self.expression()
        for first, condition, then in reversed(starts):
            otherwise = nodes.IfExpr(self.span(first), condition, then, otherwise)
        assert otherwise is not None
        return otherwise

    def condition(self, word: str) -> Expr:
        """Read `"(" expr ")"` of an if, a while, a for or a switch."""
        opener = self.pos
        if self.kinds[opener] != "(":
            self.fail(f"`(` behind `{word}`")
        self.pos += 1
        node = self.expression()
        if self.kinds[self.pos] in ASSIGNMENTS and word != "for":
            message = "a condition is no assignment"
            self.mistake("assignment-as-value", message, f"to compare: {word} (a == b)")
        if self.kinds[self.pos] != ")":
            self.close(")", opener)
        self.pos += 1
        return node

    def switch(self) -> nodes.SwitchExpr:
        """Read `switch_expr = "switch" "(" expr ")" "{" case { "," case } [","] "}"`."""
        first = self.pos
        self.pos += 1
        scrutinee = self.condition("switch")
        opener = self.pos
        self.expect("{")
        cases: list[nodes.Case] = []
        while self.kinds[self.pos] != "}":
            cases.append(self._case())
            if not self.take(","):
                break
        self.close("}", opener)
        return nodes.SwitchExpr(self.span(first), scrutinee, tuple(cases))

    def _case(self) -> nodes.Case:
        """Read `case = (expr {"," expr} | "else") "=>" ( block | simple )`."""
        first = self.pos
        values: list[Expr] = []
        if not self.take("else"):
            if self.texts[first] == "_" and self.kinds[first + 1] == "=>":
                hint = "else => f()"
                self.report("foreign-syntax", "the rest of the cases is `else`", self.here(), hint)
            values.append(self.expression())
            while self.take(","):
                values.append(self.expression())
        if self.kinds[self.pos] == ":":
            self.mistake(
                "foreign-syntax", "`=>` stands between a case and what it does", "1, 2 => f(),"
            )
        self.expect("=>")
        body = self.case_body()
        return nodes.Case(tuple(values), body, self.span(first))

    def case_body(self) -> nodes.Stmt | Expr:
        """Read `block | simple`."""
        raise NotImplementedError
