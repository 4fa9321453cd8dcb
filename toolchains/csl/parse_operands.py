"""Operands: literals, values and types in braces, tensor accesses, assembly."""

from __future__ import annotations

from . import nodes
from .nodes import Expr
from .parse_base import Cursor
from .tokens import CHAR, FLOAT, IDENT, INT, STRING

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, '"': 34, "'": 39}
_SIMPLE_ESCAPES = frozenset("ntr\\\"'")
MAX_VARIABLES = 4
_VALUES = frozenset((INT, FLOAT, STRING, CHAR, ".", "-", "true", "false"))


class Operands(Cursor):
    """Adds what an expression begins with."""

    # --- literals ---

    def integer(self) -> Expr:
        """Read `int = digit {digit} | "0x" hex {hex} | "0b" bin {bin} | "0o" oct {oct}`."""
        text = self.texts[self.pos]
        try:
            value = int(text, 10 if text[:2].isdigit() or len(text) < 3 else 0)
        except ValueError:
            value = self._bad_number(text)
        self.pos += 1
        return nodes.IntLiteral(self.span(self.pos - 1), value)

    def number(self) -> Expr:
        """Read `float = digit{digit} "." digit{digit} [exp] | digit{digit} exp`."""
        text = self.texts[self.pos]
        try:
            value = float(text)
        except ValueError:
            value = float(self._bad_number(text))
        if value == float("inf"):
            self.report("bad-number", f"{text} is beyond any float", self.here())
        self.pos += 1
        return nodes.FloatLiteral(self.span(self.pos - 1), value)

    def _bad_number(self, text: str) -> int:
        shown = text if len(text) <= 40 else f"{text[:20]}… of {len(text)} digits"
        hint = "digits may be parted by single _ between them"
        self.report("bad-number", f"not a number: {shown}", self.here(), hint)
        return 0

    def string(self) -> Expr:
        """Read `string = '"' {byte | escape} '"'`."""
        value = self.string_value()
        return nodes.StringLiteral(self.span(self.pos - 1), value)

    def character(self) -> Expr:
        """Read `char = "'" (byte | escape) "'"`."""
        value = self.string_value()
        if len(value) != 1:
            self.report("bad-character", "' … ' holds one byte", self.tokens.span(self.pos - 1))
        return nodes.IntLiteral(self.span(self.pos - 1), value[0] if value else 0)

    def string_value(self) -> bytes:
        """The bytes of a string or character."""
        if self.kinds[self.pos] not in (STRING, CHAR):
            self.fail("a string")
        text = self.texts[self.pos][1:-1]
        value = self._unescaped(text) if "\\" in text else text.encode("utf-8", "surrogatepass")
        self.pos += 1
        return value

    def _unescaped(self, text: str) -> bytes:
        r"""Read `escape = "\n" | "\xHH" | "\\" "\"" "\'" "\t" "\r"`."""
        parts = text.split("\\")
        value = bytearray(parts[0].encode("utf-8", "surrogatepass"))
        rest = iter(parts[1:])
        for part in rest:
            if not part:
                value += b"\\" + next(rest, "").encode("utf-8", "surrogatepass")
                continue
            letter = part[0]
            used = 1
            if letter == "x" and len(part) >= 3 and part[1:3].isascii() and part[1:3].isalnum():
                value += self._byte(part[1:3])
                used = 3
            elif letter in _SIMPLE_ESCAPES:
                value.append(_ESCAPES[letter])
            else:
                self._bad_escape(letter)
            value += part[used:].encode("utf-8", "surrogatepass")
        return bytes(value)

    def _byte(self, digits: str) -> bytes:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            self._bad_escape("x" + digits)
            return b""

    def _bad_escape(self, what: str) -> None:
        hint = r"escapes are \n, \t, \r, \\, \", \' and \xHH"
        self.report("bad-escape", rf"\{what} is not an escape", self.here(), hint)

    def true_or_false(self) -> Expr:
        """Read `"true" | "false"`."""
        self.pos += 1
        return nodes.BoolLiteral(self.span(self.pos - 1), self.kinds[self.pos - 1] == "true")

    def identifier(self) -> Expr:
        """Read `ident`, or a labelled block: `ident ":" block`."""
        first = self.pos
        self.pos += 1
        if self.kinds[self.pos] == ":" and self.kinds[self.pos + 1] == "{":
            self.pos += 1
            label = self.texts[first]
            body = self.block()
            return nodes.BlockExpr(self.span(first), label, body)
        return nodes.Name(self.span(first), self.texts[first])

    # --- values in brackets and braces ---

    def parenthesised(self) -> Expr:
        """Read `"(" expr ")"`."""
        first = self.pos
        self.pos += 1
        node = self.expression()
        if self.kinds[self.pos] != ")":
            self.close(")", first)
        self.pos += 1
        return node

    def expressions(self, closer: str, opener: int) -> tuple[Expr, ...]:
        """Read `[expr {"," expr} [","]]` and what closes it."""
        items: list[Expr] = []
        kinds = self.kinds
        while kinds[self.pos] != closer:
            items.append(self.expression())
            if kinds[self.pos] != ",":
                self.close(closer, opener)
                return tuple(items)
            self.pos += 1
        self.pos += 1
        return tuple(items)

    def anonymous(self) -> Expr:
        """Read `anon_struct = ".{" [ named {"," named} [","] | expr {"," expr} [","] ] "}"`."""
        first = self.pos
        self.pos += 1
        if self.named_ahead(self.pos):
            fields = self.field_values(first)
            return nodes.StructLiteral(self.span(first), fields)
        items = self.expressions("}", first)
        return nodes.TupleLiteral(self.span(first), items)

    def named_ahead(self, index: int) -> bool:
        """Whether `.name =` follows."""
        return self.kinds[index] == "." and self.kinds[index + 2 : index + 3] == ["="]

    def field_values(self, opener: int) -> tuple[nodes.FieldValue, ...]:
        """Read `named {"," named} [","] "}"     named = "." (ident|keyword) "=" expr`."""
        fields: list[nodes.FieldValue] = []
        while self.kinds[self.pos] != "}":
            first = self.pos
            if self.kinds[first] != ".":
                hint = "give all of them names, or none"
                self.mistake("mixed-struct", "values with and without names are mixed", hint)
            self.pos += 1
            name = self.field_name()
            self.expect("=")
            value = self.expression()
            fields.append(nodes.FieldValue(name, value, self.span(first)))
            if self.kinds[self.pos] != ",":
                self.close("}", opener)
                return tuple(fields)
            self.pos += 1
        self.pos += 1
        return tuple(fields)

    def braces(self) -> Expr:
        """Read `void_value = "{" "}"`; a block with statements as an operand is void too."""
        first = self.pos
        if self.kinds[first + 1] == "}":
            self.pos += 2
            return nodes.VoidLiteral(self.span(first))
        if self.kinds[first + 1] in _VALUES or self.kinds[first + 2] == ",":
            message = "values in braces have a type in front, or a dot"
            self.mistake("foreign-syntax", message, "[2]f32 { 1.0, 2.0 } or .{ .a = 1 }")
        body = self.block()
        return nodes.BlockExpr(self.span(first), "", body)

    def tensor_access(self, braces: bool = True) -> Expr:
        """Read a `tensor_access`.

        tensor_access = "|" ident {"," ident} "|" "{" expr {"," expr} "}" "->" postfix
        """
        first = self.pos
        self.pos += 1
        names: list[int] = []
        while True:
            names.append(self.pos)
            self.name("the name of an induction variable")
            if not self.take(","):
                break
        self.expect("|")
        opener = self.pos
        self.expect("{")
        extents = self.expressions("}", opener)
        self.expect("->")
        access = self.operand(braces)
        node = nodes.TensorAccess(
            self.span(first),
            tuple(self.texts[i] for i in names),
            tuple(self.tokens.span(i) for i in names),
            extents,
            access,
        )
        self._check_tensor_access(node)
        return node

    def _check_tensor_access(self, node: nodes.TensorAccess) -> None:
        count = len(node.variables)
        if count > MAX_VARIABLES:
            span = node.variable_spans[MAX_VARIABLES]
            self.report(
                "tensor-access", f"a tensor access has at most {MAX_VARIABLES} variables", span
            )
        if count != len(node.extents):
            message = f"{count} variables, but {len(node.extents)} extents"
            self.report("tensor-access", message, node.span, "|i, j|{rows, columns} -> a[i, j]")
        if not isinstance(node.access, nodes.Index):
            message = "behind -> of a tensor access stands an element"
            self.report("tensor-access", message, node.access.span, "|i|{n} -> a[i]")

    def operand(self, braces: bool = True) -> Expr:
        """Read `unary`."""
        raise NotImplementedError

    # --- types ---

    def function_type(self) -> Expr:
        """Read `fn_type = ("fn" | "task") "(" [type {"," type}] ")" type`."""
        first = self.pos
        task = self.kinds[first] == "task"
        self.pos += 1
        opener = self.pos
        self.expect("(")
        parameters = []
        while self.kinds[self.pos] != ")":
            parameters.append(self.type())
            if not self.take(","):
                break
        self.close(")", opener)
        result = self.type()
        return nodes.FunctionType(self.span(first), task, tuple(parameters), result)

    def enum_type(self) -> Expr:
        """Read an `enum_def`.

        enum_def = "enum" ["(" type ")"] "{" ident ["=" expr] {"," ident ["=" expr]} [","] "}"
        """
        first = self.pos
        self.pos += 1
        backing = None
        if self.take("("):
            backing = self.type()
            self.expect(")")
        opener = self.pos
        self.expect("{")
        members: list[nodes.EnumMember] = []
        while self.kinds[self.pos] != "}":
            start = self.pos
            name = self.name("the name of an enum's member")
            value = self.expression() if self.take("=") else None
            members.append(nodes.EnumMember(name, value, self.span(start)))
            if not self.take(","):
                break
            if self.kinds[self.pos] == "}":
                self.needs("2.10", "a comma behind the last member of an enum", self.pos - 1)
        self.close("}", opener)
        return nodes.EnumType(self.span(first), backing, tuple(members))

    def struct_type(self) -> Expr:
        """Read a `struct_def`.

        struct_def = ["packed" | "extern"] ("struct" | "union")
        "{" [ident ":" type {"," ident ":" type} [","]] "}"
        """
        first = self.pos
        layout = self.kinds[first] if self.kinds[first] in ("packed", "extern") else ""
        if layout:
            self.pos += 1
        union = self.take("union")
        if not union:
            self.expect("struct")
        if layout or union:
            self.needs("2.10", f"{layout} {self.kinds[self.pos - 1]}".lstrip(), first)
        opener = self.pos
        self.expect("{")
        fields: list[nodes.StructField] = []
        while self.kinds[self.pos] != "}":
            fields.append(self._field())
            if not self.take(","):
                break
        self.close("}", opener)
        return nodes.StructType(self.span(first), tuple(fields), layout, union)

    def _field(self) -> nodes.StructField:
        """Read `ident ":" type`."""
        first = self.pos
        if self.kinds[first] in ("fn", "const", "var") or self.texts[first] == "pub":
            hint = "a function beside it takes the value as a parameter"
            self.mistake("foreign-syntax", "a struct has fields only", hint)
        name = self.name("the name of a field")
        self.expect(":")
        kind = self.type()
        if self.kinds[self.pos] == "=":
            hint = f"every value says its fields: T {{ .{name} = … }}"
            self.mistake("foreign-syntax", "a field has no value of its own", hint)
        if self.kinds[self.pos] == ";":
            hint = "struct { a: u16, b: f32 }"
            self.mistake("foreign-syntax", "commas are between the fields", hint)
        return nodes.StructField(name, kind, self.span(first))

    # --- assembly ---

    def assembly(self) -> Expr:
        """Read an `asm`.

        asm = "asm" ["volatile"] "(" expr [","] [":" outs [":" ins [":" clobbers]]] ")"
        """
        first = self.pos
        self.pos += 1
        volatile = self.take("volatile")
        opener = self.pos
        self.expect("(")
        text = self.expression()
        self.take(",")
        outputs = self._asm_operands(False) if self.take(":") else ()
        inputs = self._asm_operands(True) if self.take(":") else ()
        clobbers: list[bytes] = []
        if self.take(":"):
            while self.kinds[self.pos] == STRING:
                clobbers.append(self.string_value())
                if not self.take(","):
                    break
        self.close(")", opener)
        return nodes.Asm(self.span(first), text, outputs, inputs, tuple(clobbers), volatile)

    def _asm_operands(self, inputs: bool) -> tuple[nodes.AsmOperand, ...]:
        """Read `outs` or `ins`.

        outs = "[" ident "]" string "(" ident ")" {"," …}
        ins = "[" ident "]" string "(" expr ")" {"," …}
        """
        found: list[nodes.AsmOperand] = []
        while self.kinds[self.pos] == "[":
            first = self.pos
            self.pos += 1
            name = self.name("the name of an operand")
            self.expect("]")
            constraint = self.string_value()
            self.expect("(")
            if not inputs and self.kinds[self.pos] != IDENT:
                self.fail("the name of a variable")
            operand = self.expression()
            self.expect(")")
            found.append(nodes.AsmOperand(name, constraint, operand, self.span(first)))
            if not self.take(","):
                break
        return tuple(found)
