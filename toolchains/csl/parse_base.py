"""Where a parser stands in its tokens, what it says, and where it goes on after a mistake."""

from __future__ import annotations

from typing import NoReturn

from .lexer import MAX_DIAGNOSTICS
from .nodes import Block, Expr, Stmt
from .parse_foreign import describe, explain
from .source import CslError, Diagnostic, Note, Severity, Span
from .tokens import END, IDENT, KEYWORDS, Tokens, is_word

MAX_DEPTH = 64
"""Nested expressions and blocks. At most 9 calls of Python are made for one, so that with those
of a program around it the interpreter's limit of 1000 is out of reach."""
MAX_CHAIN = 128
"""Operators in a row on one level, and suffixes of one operand: the height of the tree."""

TOP_LEVEL = frozenset(("fn", "task", "layout", "param", "export", "extern"))
"""Words that stand at the start of a module's item and nowhere in a function."""
_ITEMS = TOP_LEVEL | {"const", "var", "comptime", "inline"}
_AFTER_STATEMENT = frozenset(("}", END, "const", "var", "while", "return", "fn", "task", "param"))
STATEMENTS = frozenset(
    ["const", "var", "if", "for", "while", "switch", "return", "break", "continue"]
)


class Cursor:
    """A position in tokens. Subclasses add the productions."""

    def __init__(self, tokens: Tokens, dialect: str, found: list[Diagnostic]) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.found = found
        self.source = tokens.source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.pos = 0
        self.depth = 0
        self.statement_start = 0
        self.brace_reported = False

    def expression(self) -> Expr:
        """Any expression."""
        raise NotImplementedError

    def type(self) -> Expr:
        """An expression without braces behind it."""
        raise NotImplementedError

    def block(self) -> Block:
        """Statements in braces."""
        raise NotImplementedError

    def simple(self) -> Stmt:
        """An expression or an assignment."""
        raise NotImplementedError

    @property
    def failed(self) -> bool:
        """Whether there is a mistake so far."""
        return any(one.severity is Severity.ERROR for one in self.found)

    # --- places ---

    def span(self, first: int) -> Span:
        """From a token to the last one taken."""
        return Span(self.source, self.starts[first], self.ends[self.pos - 1])

    def here(self) -> Span:
        """The token that is next."""
        return self.tokens.span(self.pos)

    # --- taking tokens ---

    def take(self, kind: str) -> bool:
        """Whether the next token is of that kind; it is then taken."""
        if self.kinds[self.pos] != kind:
            return False
        self.pos += 1
        return True

    def expect(self, kind: str) -> None:
        """Take a token of that kind, or fail."""
        if self.kinds[self.pos] != kind:
            self.fail(f"`{kind}`")
        self.pos += 1

    def close(self, kind: str, opener: int) -> None:
        """Take what closes a bracket; a failure tells where the bracket is."""
        if self.kinds[self.pos] != kind:
            message = f"`{self.texts[opener]}` is opened here"
            self.fail(f"`,` or `{kind}`", (Note(message, self.tokens.span(opener)),))
        self.pos += 1

    def name(self, what: str) -> str:
        """Take a name; `what` says of what."""
        kind = self.kinds[self.pos]
        if kind != IDENT:
            if kind in KEYWORDS:
                self.mistake(
                    "keyword-as-name",
                    f"`{kind}` is a word of the language, not a name",
                    f"{kind}_, or another name",
                )
            self.fail(what)
        self.pos += 1
        return self.texts[self.pos - 1]

    def field_name(self) -> str:
        """Take a name behind a dot: a keyword may be one."""
        if not is_word(self.kinds[self.pos]):
            self.fail("the name of a field")
        self.pos += 1
        return self.texts[self.pos - 1]

    def semicolon(self) -> None:
        """Take `;`. One missing at the end of a line is told, and the next line is read as is."""
        if self.kinds[self.pos] == ";":
            self.pos += 1
            return
        diagnostic = explain(self.tokens, self.pos, self.statement_start)
        if diagnostic is not None:
            raise CslError(diagnostic)
        kind = self.kinds[self.pos]
        if not self.tokens.starts_line(self.pos) and kind not in _AFTER_STATEMENT:
            self.fail("`;`")
        if not self.brace_reported:
            span = self.tokens.after(self.pos - 1)
            self.report("missing-semicolon", "`;` is missing at the end of this", span)

    # --- what is said ---

    def add(self, diagnostic: Diagnostic) -> None:
        """Say it, unless enough is said; the first error always is."""
        first = diagnostic.severity is Severity.ERROR and not self.failed
        if first or len(self.found) < MAX_DIAGNOSTICS:
            self.found.append(diagnostic)

    def report(self, code: str, message: str, span: Span, hint: str = "") -> None:
        """An error after which parsing can go on where it is."""
        self.add(Diagnostic(Severity.ERROR, code, message, span, hint))

    def warn(self, code: str, message: str, span: Span, hint: str = "") -> None:
        """A warning."""
        self.add(Diagnostic(Severity.WARNING, code, message, span, hint))

    def mistake(
        self, code: str, message: str, hint: str = "", span: Span | None = None
    ) -> NoReturn:
        """An error that ends the statement; it is at the next token unless `span` is given."""
        raise CslError(Diagnostic(Severity.ERROR, code, message, span or self.here(), hint))

    def fail(self, expected: str, notes: tuple[Note, ...] = ()) -> NoReturn:
        """The next token can't stand here: say what it means elsewhere, or what was expected."""
        diagnostic = explain(self.tokens, self.pos, self.statement_start)
        if diagnostic is None:
            message = f"expected {expected}, found {describe(self.tokens, self.pos)}"
            span = self.here()
            if self.pos and (self.tokens.starts_line(self.pos) or self.kinds[self.pos] == END):
                span = self.tokens.after(self.pos - 1)
            diagnostic = Diagnostic(Severity.ERROR, "syntax", message, span, notes=notes)
        raise CslError(diagnostic)

    def too_deep(self) -> NoReturn:
        """More levels than are read."""
        message = f"nested more than {MAX_DEPTH} deep"
        self.mistake("too-deep", message, "give a part of it a name of its own")

    def too_long(self, first: int, what: str = "operators") -> NoReturn:
        """A row of operators that is longer than is read."""
        message = f"more than {MAX_CHAIN} {what} in a row"
        hint = "give a part of it a name of its own"
        self.mistake("too-deep", message, hint, self.tokens.span(first))

    def needs(self, dialect: str, what: str, first: int) -> None:
        """Say that another version of the language is needed, if it is."""
        if self.dialect != dialect:
            message = f"{what} needs --sdk-dialect {dialect} (this is {self.dialect})"
            self.report("needs-dialect", message, self.span(first))

    # --- after a mistake ---

    def recover(self, start: int, failure: CslError, module: bool) -> None:
        """Say it, and go to where the next statement, or the next item of a module, begins."""
        self.add(failure.diagnostic)
        failed = max(self.pos, _head_end(self.tokens, start))
        position = _resume(self.tokens, start, failed, module)
        self.pos = max(position, start + 1) if self.kinds[start] != END else start


def _head_end(tokens: Tokens, start: int) -> int:
    """Where the parenthesis behind `for` closes: those of other languages hold `;`."""
    kinds = tokens.kinds
    first = start + (kinds[start] == "inline")
    if kinds[first] != "for" or kinds[first + 1] != "(":
        return start
    depth = 0
    for index in range(first + 1, min(len(kinds), first + 200)):
        depth += (kinds[index] == "(") - (kinds[index] == ")")
        if not depth:
            return index + 1
    return start


def _resume(tokens: Tokens, start: int, failed: int, module: bool) -> int:
    """The first token of the next statement after one from `start` that failed at `failed`."""
    kinds = tokens.kinds
    braces: list[bool] = []
    index = start
    while kinds[index] != END:
        kind = kinds[index]
        if index >= failed and index > start and _begins(tokens, index, module, braces):
            return index
        if kind in ("{", ".{"):
            braces.append(kind == ".{" or kinds[index + 1] == ".")
        elif kind == "}":
            if not braces:
                return index + module
            braces.pop()
            if not braces and index >= failed and not _goes_on(tokens, start, index + 1):
                return index + 1
        elif kind == ";" and index >= failed and all(braces):
            return index + 1
        index += 1
    return index


def _goes_on(tokens: Tokens, start: int, index: int) -> bool:
    """Whether a statement isn't over at a token behind its braces."""
    kind = tokens.kinds[index]
    return kind in (";", ",", ")", "else") or (kind == "while" and tokens.texts[start] == "do")


def next_item(tokens: Tokens, index: int) -> int:
    """The first token from one on that surely begins an item of a module, or the end."""
    while tokens.kinds[index] != END and not _begins(tokens, index, True, []):
        index += 1
    return index


def _begins(tokens: Tokens, index: int, module: bool, braces: list[bool]) -> bool:
    """Whether a statement, or an item, surely begins at a token."""
    kind = tokens.kinds[index]
    if (kind not in _ITEMS and kind not in STATEMENTS) or not tokens.starts_line(index):
        return False
    if kind in _ITEMS and _column(tokens, index) == 1:
        return True
    return not module and not braces and kind in STATEMENTS


def _column(tokens: Tokens, index: int) -> int:
    start = tokens.starts[index]
    return start - tokens.source.text.rfind("\n", 0, start)


def unclosed(tokens: Tokens, opener: int) -> int:
    """The `{` that most probably lacks its end, if one of those from `opener` on does.

    It is the first whose `}` is at the start of a line that is indented less than the line of the
    `{`: that one was meant for a block further out.
    """
    stack: list[int] = []
    for index in range(opener, len(tokens.kinds)):
        kind = tokens.kinds[index]
        if kind in ("{", ".{"):
            stack.append(index)
        elif kind == "}" and stack:
            opened = stack.pop()
            if tokens.starts_line(index) and _indent(tokens, index) < _indent(tokens, opened):
                return opened
            if not stack:
                break
    return opener


def _indent(tokens: Tokens, index: int) -> int:
    text = tokens.source.text
    begin = text.rfind("\n", 0, tokens.starts[index]) + 1
    line = text[begin : tokens.starts[index] + 1]
    return len(line) - len(line.lstrip())
