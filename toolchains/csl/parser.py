"""Tokens to a syntax tree, by recursive descent; the functions quote the grammar."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from . import nodes
from .lexer import lex
from .nodes import Block, Expr, Item, Module
from .parse_base import STATEMENTS, next_item
from .parse_foreign import explain
from .parse_statements import Statements
from .source import CslError, Diagnostic, Severity, Source, Span
from .tokens import BUILTIN, END, IDENT, KEYWORDS, Tokens

DIALECTS = ("1.4", "2.10")


def parse(source: Source, dialect: str = "1.4") -> tuple[Module | None, tuple[Diagnostic, ...]]:
    """The module that a text is, without what couldn't be read, and all that is wrong with it."""
    tokens, wrong = lex(source)
    found = list(wrong)
    module = Parser(tokens, dialect, found).module()
    if wrong:
        # A token left out or replaced makes more of its line unreadable.
        lines = {one.span.line for one in wrong if one.span}
        whole = any(one.code == "open-comment" for one in wrong)
        rest = found[len(wrong) :]
        found = wrong + [one for one in rest if not (whole or _follows(one, lines))]
    return module, tuple(sorted(found, key=_place))


def parse_expression(
    text: str, dialect: str = "1.4", name: str = "command line"
) -> tuple[Expr | None, tuple[Diagnostic, ...]]:
    """A value from outside of a file; None if it isn't one."""
    tokens, found = lex(Source(name, "", text))
    parser = Parser(tokens, dialect, found)
    node: Expr | None = None
    try:
        node = parser.expression()
        if parser.kinds[parser.pos] != END:
            parser.fail("the end of the value")
    except CslError as failure:
        parser.add(failure.diagnostic)
    if any(one.severity is Severity.ERROR for one in found):
        return None, tuple(found)
    return node, tuple(found)


def _follows(diagnostic: Diagnostic, lines: set[int]) -> bool:
    span = diagnostic.span
    return diagnostic.code in ("syntax", "missing-semicolon") and bool(span and span.line in lines)


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span else 0


class Parser(Statements):
    """Adds a module and its items."""

    def __init__(self, tokens: Tokens, dialect: str, found: list[Diagnostic]) -> None:
        super().__init__(tokens, dialect, found)
        self._items: dict[str, Callable[[], Item]] = {
            "param": self.param,
            "const": self.global_declaration,
            "var": self.global_declaration,
            "fn": self.function,
            "task": self.function,
            "inline": self.function,
            "export": self.linked,
            "extern": self.linked,
            "layout": self.layout_block,
            "comptime": self.comptime_block,
        }

    def module(self) -> Module:
        """Read `module = { top_item }`."""
        items: list[Item] = []
        while self.kinds[self.pos] != END:
            start = self.pos
            self.statement_start = start
            self.depth = 0
            try:
                item = self.item()
                if item is not None:
                    items.append(item)
            except CslError as failure:
                if self._follows_mistake(start, failure.diagnostic):
                    self.pos = next_item(self.tokens, start + 1)
                else:
                    self.recover(start, failure, module=True)
        span = Span(self.source, 0, len(self.source.text))
        return Module(span, tuple(items))

    def item(self) -> Item | None:
        """Read a `top_item`.

        top_item = param_decl | global_decl | fn_decl | layout_block | comptime_block | [";"]
        """
        kind = self.kinds[self.pos]
        parse = self._items.get(kind)
        if parse is not None:
            return parse()
        if kind == ";":
            self.stray_semicolon()
            return None
        if kind == "}":
            self._stray_brace()
            return None
        if self._legacy_color():
            return self.legacy_color()
        if kind in STATEMENTS or kind == BUILTIN:
            self._statement_outside()
        return self._no_item()

    def _follows_mistake(self, start: int, diagnostic: Diagnostic) -> bool:
        """Whether this isn't an item because a mistake before it ended one too early."""
        if self.kinds[start] in self._items or not self.failed:
            return False
        return self.kinds[start] != IDENT or diagnostic.code != "foreign-syntax"

    def _no_item(self) -> NoReturn:
        """What begins with a name isn't an item: a statement, or of another language."""
        first = self.pos
        after = self.kinds[first + 1] if self.kinds[first] == IDENT else ""
        if after == IDENT:
            self.pos += 1
        elif after in ("=", "(", ".", "[", "+=") and not explain(self.tokens, first, first):
            self._statement_outside()
        self.fail("a declaration")

    def _statement_outside(self) -> NoReturn:
        hint = "put it into a function, or into comptime { … } or layout { … }"
        self.mistake("statement-outside", "statements stand in functions and blocks", hint)

    def _stray_brace(self) -> None:
        """A `}` that closes nothing; after another mistake it is a consequence of that."""
        if not self.failed:
            self.report("stray-brace", "this `}` closes nothing", self.here())
        self.pos += 1

    def param(self) -> Item:
        """Read `param_decl = "param" ident [":" type] ["=" expr] ";"`."""
        first = self.pos
        self.pos += 1
        name = self.name("the name of a parameter")
        kind = self.type() if self.take(":") else None
        default = self.expression() if self.take("=") else None
        self.semicolon()
        place = self.tokens.span(first + 1)
        return nodes.Param(self.span(first), name, place, kind, default)

    def _legacy_color(self) -> bool:
        first = self.pos
        return (
            self.texts[first] == "color"
            and self.kinds[first + 1] == IDENT
            and self.kinds[first + 2] == ";"
        )

    def legacy_color(self) -> Item:
        """Read `legacy = "color" ident ";"`."""
        first = self.pos
        self.pos += 3
        name = self.texts[first + 1]
        hint = f"param {name}: color;"
        self.warn("legacy-form", "a form from before SDK 1.0", self.span(first), hint)
        kind = nodes.Name(self.tokens.span(first), "color")
        return nodes.Param(self.span(first), name, self.tokens.span(first + 1), kind, None)

    def layout_block(self) -> Item:
        """Read `layout_block = "layout" block`."""
        first = self.pos
        self.pos += 1
        body = self.block()
        return nodes.LayoutBlock(self.span(first), body)

    def comptime_block(self) -> Item:
        """Read `comptime_block = "comptime" block`."""
        first = self.pos
        self.pos += 1
        if self.kinds[self.pos] in ("const", "var"):
            hint = "globals are known while compiling anyway"
            self.mistake("syntax", "a global takes no `comptime`", hint)
        body = self.block()
        return nodes.ComptimeBlock(self.span(first), body)

    # --- globals and functions ---

    def linked(self) -> Item:
        """Read `("export" | "extern") (global_decl | fn_decl)`."""
        after = self.kinds[self.pos + 1]
        if after in ("const", "var"):
            return self.global_declaration()
        if after in ("fn", "task", "inline"):
            return self.function()
        self.pos += 1
        return self.fail("`const`, `var` or `fn`")

    def _linkage(self) -> str:
        if self.kinds[self.pos] in ("export", "extern"):
            self.pos += 1
            return self.texts[self.pos - 1]
        return ""

    def global_declaration(self) -> Item:
        """Read a `global_decl`.

        global_decl = ["export" | "extern"] ("const" | "var") ident [":" type] {attr}
        ["=" expr] ";"
        """
        first = self.pos
        linkage = self._linkage()
        mutable = self.kinds[self.pos] == "var"
        self.pos += 1
        name_token = self.pos
        name = self.name("the name of a constant or variable")
        kind = self.type() if self.take(":") else None
        attributes = self.attributes(nodes.Attributes(), function=False)
        value = self.expression() if self.take("=") else None
        self.semicolon()
        if linkage == "extern" and value is not None:
            message = "what is `extern` has its value elsewhere"
            self.report("extern-value", message, value.span, "leave the value out")
        elif value is None and (not linkage or mutable or kind is None):
            self.without_value(mutable or bool(linkage), kind, name_token)
        place = self.tokens.span(name_token)
        return nodes.Global(
            self.span(first), name, place, mutable, kind, value, linkage, attributes
        )

    def attributes(self, known: nodes.Attributes, function: bool) -> nodes.Attributes:
        """Read an `attr`.

        attr = "align" "(" expr ")" | "linksection" "(" expr ")" | "linkname" "(" expr ")"
        """
        found: dict[str, Expr | None] = {
            "align": known.align,
            "linksection": known.linksection,
            "linkname": known.linkname,
        }
        start = self.pos
        while (word := self.kinds[self.pos]) in found:
            first = self.pos
            self.pos += 1
            self.expect("(")
            if found[word] is not None:
                self.report("repeated-attribute", f"`{word}` stands here twice", self.span(first))
            found[word] = self.expression()
            self.expect(")")
            if function and word == "linksection":
                self.needs("2.10", "linksection of a function", first)
        return nodes.Attributes(**found) if self.pos > start else known

    def function(self) -> Item:
        """Read a `fn_decl`.

        fn_decl = ["export" | "extern"] ["inline"] ("fn"|"task") ident "(" [formals] ")" {attr}
        [ret_type] {attr} (block | ";")
        """
        first = self.pos
        linkage = self._linkage()
        inline = self.take("inline")
        task = self.kinds[self.pos] == "task"
        if not task and self.kinds[self.pos] != "fn":
            self.mistake("syntax", "`inline` stands in front of `for` or `fn`")
        self.pos += 1
        name_token = self.pos
        name = self.name("the name of a task" if task else "the name of a function")
        formals = self.formals(linkage == "extern")
        attributes = self.attributes(nodes.Attributes(), function=True)
        result = self.result_type(name)
        attributes = self.attributes(attributes, function=True)
        body = self._body(name_token, linkage)
        return nodes.FunctionDecl(
            self.span(first),
            name,
            self.tokens.span(name_token),
            task,
            formals,
            result,
            body,
            linkage,
            inline,
            attributes,
        )

    def formals(self, prototype: bool) -> tuple[nodes.Formal, ...]:
        """Read `formals = formal { "," formal } [","]`."""
        opener = self.pos
        self.expect("(")
        found: list[nodes.Formal] = []
        while self.kinds[self.pos] != ")":
            found.append(self.formal(prototype))
            if not self.take(","):
                break
        self.close(")", opener)
        return tuple(found)

    def formal(self, prototype: bool) -> nodes.Formal:
        """Read `formal = ["comptime"] ident ":" (type | "anytype") | type`."""
        first = self.pos
        comptime = self.take("comptime")
        kind = self.kinds[self.pos]
        if prototype and not comptime and self.kinds[self.pos + 1] != ":":
            given = self.type()
            return nodes.Formal("", given, False, self.span(first))
        name = self.name("the name of a parameter")
        if self.kinds[self.pos] in (",", ")") and kind not in KEYWORDS:
            message = f"parameter `{name}` has no type"
            self.report("missing-type", message, self.span(first), f"{name}: u16")
            unknown = nodes.Name(self.span(first), "void")
            return nodes.Formal(name, unknown, comptime, self.span(first))
        self.expect(":")
        given_type = None if self.take("anytype") else self.type()
        return nodes.Formal(name, given_type, comptime, self.span(first))

    def result_type(self, name: str) -> Expr:
        """Read `ret_type = type`."""
        kind = self.kinds[self.pos]
        if kind == "->":
            message = "no arrow stands in front of a result's type"
            self.report("foreign-syntax", message, self.here(), f"fn {name}(…) T {{ … }}")
            self.pos += 1
        elif kind in ("{", ";"):
            span = self.tokens.after(self.pos - 1)
            hint = f"fn {name}(…) void {{ … }}"
            self.report("missing-result-type", f"`{name}` has no type of its result", span, hint)
            return nodes.Name(span, "void")
        return self.type()

    def _body(self, name: int, linkage: str) -> Block | None:
        """Read `block | ";"`."""
        text = self.texts[name]
        if self.kinds[self.pos] != ";":
            start = self.pos
            body = self.block()
            if linkage == "extern":
                message = f"`{text}` is `extern`: its body is elsewhere"
                self.report("extern-value", message, self.tokens.span(start), "end it with ;")
            return body
        self.pos += 1
        if linkage == "export":
            message = f"`{text}` is exported and has no body"
            self.report("missing-body", message, self.tokens.span(name))
        elif not linkage:
            message = f"`{text}` has no body"
            hint = "functions need no declaration in advance: the order of globals is free"
            self.report("missing-body", message, self.tokens.span(name), hint)
        return None
