"""Statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from . import nodes
from .nodes import Block, Expr, Stmt
from .parse_base import MAX_CHAIN, MAX_DEPTH, TOP_LEVEL, unclosed
from .parse_expressions import Expressions
from .source import CslError, Diagnostic, Note, Severity
from .tokens import ASSIGNMENTS, END, IDENT, Tokens

_LABELLED = frozenset(("{", "for", "while", "inline"))
_ENDS = frozenset((";", "}", END, "else"))


class Statements(Expressions):
    """Adds statements and blocks."""

    def __init__(self, tokens: Tokens, dialect: str, found: list[Diagnostic]) -> None:
        super().__init__(tokens, dialect, found)
        self._statements: dict[str, Callable[[], Stmt]] = {
            "const": self.local_declaration,
            "var": self.local_declaration,
            "comptime": self.comptime_statement,
            "if": self.if_statement,
            "for": self.for_loop,
            "inline": self.for_loop,
            "while": self.while_loop,
            "switch": self.switch_statement,
            "return": self.jump_statement,
            "break": self.jump_statement,
            "continue": self.jump_statement,
            "{": self.block,
        }
        self._jumps: dict[str, Callable[[], Stmt]] = {
            "return": self.return_jump,
            "break": self.break_jump,
            "continue": self.continue_jump,
        }

    # --- blocks ---

    def block(self) -> Block:
        """Read `block = "{" { stmt } "}"`."""
        opener = self.pos
        if self.kinds[opener] != "{":
            self.fail("`{`")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()
        self.pos += 1
        statements: list[Stmt] = []
        kinds = self.kinds
        outer = self.statement_start
        while (kind := kinds[self.pos]) != "}":
            if kind == END or (kind in TOP_LEVEL and self._ends_function()):
                self._unclosed(opener)
                break
            self._add_statement(statements)
        else:
            self.pos += 1
        self.statement_start = outer
        self.depth -= 1
        return Block(self.span(opener), tuple(statements))

    def _add_statement(self, statements: list[Stmt]) -> None:
        start = self.pos
        depth = self.depth
        self.statement_start = start
        try:
            if self.kinds[start] == "else" and self.failed:
                self.pos += 1
            elif self.kinds[start] == ";":
                self.stray_semicolon()
            else:
                statements.append(self.statement())
        except CslError as failure:
            self.depth = depth
            self.recover(start, failure, module=False)

    def stray_semicolon(self) -> None:
        """A `;` of its own, which does no harm; behind a mistake it may be a part of that."""
        if not self.failed:
            self.warn("stray-semicolon", "this `;` ends nothing", self.here(), "leave it out")
        self.pos += 1

    def _ends_function(self) -> bool:
        """Whether a function's or module item's start shows that a `}` is missing before it."""
        kinds, first = self.kinds, self.pos
        if not self.tokens.starts_line(first):
            return False
        if kinds[first] in ("fn", "task"):
            return kinds[first + 1] == IDENT and self.brace_missing
        return self.brace_missing

    @cached_property
    def brace_missing(self) -> bool:
        """Whether the text has more `{` than `}`, so that one isn't closed."""
        kinds = self.kinds
        return kinds.count("{") + kinds.count(".{") > kinds.count("}")

    def _unclosed(self, opener: int) -> None:
        if self.brace_reported:
            return
        self.brace_reported = True
        culprit = unclosed(self.tokens, opener)
        at_end = self.kinds[self.pos] == END
        note = Note(
            "the file ends here" if at_end else "it would have to end before this", self.here()
        )
        message = f"this `{self.texts[culprit]}` is never closed"
        place = self.tokens.span(culprit)
        self.add(Diagnostic(Severity.ERROR, "unclosed-brace", message, place, notes=(note,)))

    # --- statements ---

    def statement(self) -> Stmt:
        """Read a `stmt`.

        stmt = local_decl | if_stmt | loop | switch_expr | labelled | block | comptime_block
        | "return" [expr] ";" | "break" [":" ident] [expr] ";" | "continue" ";" | simple ";"
        """
        first = self.pos
        kind = self.kinds[first]
        parse = self._statements.get(kind)
        if parse is not None:
            return parse()
        if kind == IDENT and self.kinds[first + 1] == ":" and self.kinds[first + 2] in _LABELLED:
            return self.labelled()
        node = self.simple()
        if self.kinds[self.pos] == ";":
            self.pos += 1
        else:
            self.semicolon()
        return node

    def simple(self) -> Stmt:
        """Read `simple = expr [assign_op expr]`."""
        first = self.pos
        target = self.expression()
        kind = self.kinds[self.pos]
        if kind not in ASSIGNMENTS:
            return nodes.ExprStmt(self.span(first), target)
        self.pos += 1
        value = self.expression()
        if self.kinds[self.pos] in ASSIGNMENTS:
            message = "an assignment is a statement and has no value"
            self.mistake("assignment-as-value", message, "one statement for each: b = c; a = b;")
        return nodes.Assign(self.span(first), target, kind[:-1], value)

    def labelled(self) -> Stmt:
        """Read `labelled = ident ":" ( loop | block )`."""
        first = self.pos
        label = self.texts[first]
        self.pos += 2
        if self.kinds[self.pos] == "{":
            body = self.block()
            return Block(self.span(first), body.statements, label=label)
        if self.kinds[self.pos] == "while":
            return self.while_loop(label, first)
        return self.for_loop(label, first)

    def comptime_statement(self) -> Stmt:
        """Read what begins with `comptime`.

        ["comptime"] ("const"|"var") … | comptime_block [";"] | "comptime" unary ";"
        """
        first = self.pos
        after = self.kinds[first + 1]
        if after in ("const", "var"):
            return self.local_declaration()
        if after == "{":
            self.pos += 1
            body = self.block()
            node = Block(self.span(first), body.statements, comptime=True)
            self.take(";")
            return node
        statement = self.simple()
        self.semicolon()
        return statement

    def local_declaration(self) -> Stmt:
        """Read a `local_decl`.

        local_decl = ["comptime"] ("const"|"var") ident [":" type] {align_attr} ["=" expr] ";"
        """
        first = self.pos
        comptime = self.take("comptime")
        mutable = self.kinds[self.pos] == "var"
        self.pos += 1
        name_token = self.pos
        name = self.name("the name of a constant or variable")
        kind = self.type() if self.take(":") else None
        alignment = None
        while self.take("align"):
            self.expect("(")
            alignment = self.expression()
            self.expect(")")
        value = self.expression() if self.take("=") else None
        self.semicolon()
        if value is None:
            self.without_value(mutable, kind, name_token)
        return nodes.LocalDecl(
            self.span(first),
            name,
            self.tokens.span(name_token),
            mutable,
            kind,
            value,
            comptime,
            alignment,
        )

    def without_value(self, mutable: bool, kind: Expr | None, name: int) -> None:
        """`const` needs an initialiser; `var` without one needs a type."""
        text = self.texts[name]
        if not mutable:
            hint = f"const {text} = value; or, to assign to it later, var {text}: u16;"
            message = f"constant `{text}` has no value"
            self.report("missing-value", message, self.tokens.span(name), hint)
        elif kind is None:
            message = f"variable `{text}` has neither type nor value"
            self.report("missing-type", message, self.tokens.span(name), f"var {text}: u16;")

    # --- choices and loops ---

    def if_statement(self) -> Stmt:
        """Read `if_stmt = "if" "(" expr ")" arm [ "else" (if_stmt | arm) ]`."""
        arms: list[tuple[int, Expr, Stmt]] = []
        otherwise: Stmt | None = None
        while True:
            first = self.pos
            self.pos += 1
            condition = self.condition("if")
            self._no_capture("if")
            last = self.arm()
            arms.append((first, condition, last))
            if len(arms) > MAX_CHAIN:
                self.too_long(first, "branches")
            if not self._take_else(last):
                break
            if self.kinds[self.pos] != "if":
                otherwise = last = self.arm()
                break
        if not _ends_itself(last):
            self.semicolon()
        for first, condition, then in reversed(arms):
            otherwise = nodes.If(self.span(first), condition, then, otherwise)
        assert otherwise is not None
        return otherwise

    def _take_else(self, last: Stmt) -> bool:
        """Whether `else` follows; a `;` in front of it is told."""
        kinds = self.kinds
        if kinds[self.pos] == ";" and kinds[self.pos + 1] == "else" and not _ends_itself(last):
            message = "no `;` stands in front of `else`"
            self.report("else-after-semicolon", message, self.here(), "if (c) f() else g();")
            self.pos += 1
        return self.take("else")

    def _no_capture(self, word: str) -> None:
        if self.kinds[self.pos] == "|":
            hint = "CSL has no optionals: keep a bool beside the value"
            self.mistake("foreign-syntax", f"`{word}` captures nothing in CSL", hint)

    def arm(self) -> Stmt:
        """Read an `arm`.

        arm = block | simple | "return" [expr] | "break" [..] | "continue" | loop | switch_expr
        """
        kind = self.kinds[self.pos]
        if kind in self._jumps:
            return self._jumps[kind]()
        if kind in ("{", "for", "inline", "while", "switch"):
            return self._statements[kind]()
        if kind == IDENT and self.kinds[self.pos + 1] == ":":
            return self.labelled()
        if kind in ("const", "var"):
            hint = "if (c) { const x = 1; … }"
            self.mistake("syntax", "a declaration needs a block around it here", hint)
        return self.simple()

    def case_body(self) -> Stmt | Expr:
        """Read `block | simple`."""
        if self.kinds[self.pos] == "{":
            return self.block()
        if self.kinds[self.pos] in self._jumps:
            return self._jumps[self.kinds[self.pos]]()
        node = self.simple()
        return node.value if isinstance(node, nodes.ExprStmt) else node

    def switch_statement(self) -> Stmt:
        """Read `switch_expr`."""
        node = self.switch()
        return nodes.ExprStmt(node.span, node)

    def for_loop(self, label: str = "", start: int = -1) -> Stmt:
        """Read `["inline"] "for" "(" expr ")" "|" ident ["," ident] "|" block`."""
        first = self.pos if start < 0 else start
        inline = self.take("inline")
        if self.kinds[self.pos] != "for":
            hint = "a while without it"
            self.mistake("syntax", "`inline` stands in front of `for` or `fn`", hint)
        self.pos += 1
        items = self.condition("for")
        if self.kinds[self.pos] != "|":
            self.mistake(
                "missing-capture",
                "`for` names what it goes over",
                "for (@range(u16, n)) |i| { … }",
                self.tokens.after(self.pos - 1),
            )
        self.pos += 1
        variable = self.name("the name of the loop's variable")
        position = self.name("the name of the position") if self.take(",") else ""
        self.expect("|")
        body = self.loop_body("for")
        return nodes.For(self.span(first), items, variable, position, body, inline, label)

    def while_loop(self, label: str = "", start: int = -1) -> Stmt:
        """Read `"while" "(" expr ")" [":" "(" simple ")"] block`."""
        first = self.pos if start < 0 else start
        self.pos += 1
        condition = self.condition("while")
        self._no_capture("while")
        step = None
        if self.take(":"):
            opener = self.pos
            self.expect("(")
            step = self.simple()
            self.close(")", opener)
        body = self.loop_body("while")
        return nodes.While(self.span(first), condition, step, body, label)

    def loop_body(self, word: str) -> Block:
        """Read `block`."""
        if self.kinds[self.pos] != "{":
            message = f"the body of a `{word}` is a block"
            self.mistake("missing-block", message, "put { } around it", self.here())
        return self.block()

    # --- jumps ---

    def jump_statement(self) -> Stmt:
        """Read `"return" [expr] ";" | "break" [":" ident] [expr] ";" | "continue" ";"`."""
        node = self._jumps[self.kinds[self.pos]]()
        self.semicolon()
        return node

    def return_jump(self) -> Stmt:
        """Read `"return" [expr]`."""
        first = self.pos
        self.pos += 1
        value = self._value_of_jump()
        return nodes.Return(self.span(first), value)

    def break_jump(self) -> Stmt:
        """Read `"break" [":" ident] [expr]`."""
        first = self.pos
        self.pos += 1
        label = self.name("a label") if self.take(":") else ""
        value = self._value_of_jump()
        return nodes.Break(self.span(first), label, value)

    def continue_jump(self) -> Stmt:
        """Read `"continue"`."""
        self.pos += 1
        if self.kinds[self.pos] == ":":
            hint = "a bool and `break` leave an inner loop"
            self.mistake("foreign-syntax", "`continue` takes no label in CSL", hint)
        return nodes.Continue(self.span(self.pos - 1))

    def _value_of_jump(self) -> Expr | None:
        """Read `[expr]`; a statement in the next line is none."""
        kind = self.kinds[self.pos]
        if kind in _ENDS or kind == ",":
            return None
        if kind in self._statements and kind not in ("if", "switch", "{", "comptime"):
            return None
        return self.expression()


def _ends_itself(statement: Stmt) -> bool:
    """Whether no `;` follows it as the last arm of an if."""
    if isinstance(statement, nodes.ExprStmt):
        return isinstance(statement.value, nodes.SwitchExpr)
    return isinstance(statement, Block | nodes.For | nodes.While)
