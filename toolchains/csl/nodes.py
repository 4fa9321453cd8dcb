"""The syntax tree: what the parser makes of a file. One class per production of the grammar.

Types are expressions. Every node has the span of its whole text.
"""

from __future__ import annotations

from dataclasses import dataclass

from .source import Span


@dataclass(frozen=True, eq=False)
class Node:
    """Anything in a program; compared by identity, so that results can be kept by node."""

    span: Span


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class IntLiteral(Node):
    """`12`, `0xff`, `'a'`."""

    value: int


@dataclass(frozen=True, eq=False)
class FloatLiteral(Node):
    """`1.5`."""

    value: float


@dataclass(frozen=True, eq=False)
class StringLiteral(Node):
    """`"text"`, its escapes resolved."""

    value: bytes


@dataclass(frozen=True, eq=False)
class BoolLiteral(Node):
    """`true`, `false`."""

    value: bool


@dataclass(frozen=True, eq=False)
class VoidLiteral(Node):
    """`{}`."""


@dataclass(frozen=True, eq=False)
class Name(Node):
    """An identifier, types such as `f32` included."""

    name: str


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """`-x`, `!x`, `~x`; `operator` is the token."""

    operator: str
    operand: Expr


@dataclass(frozen=True, eq=False)
class AddressOf(Node):
    """`&x`."""

    operand: Expr


@dataclass(frozen=True, eq=False)
class Comptime(Node):
    """`comptime x`, or `comptime { … }` as an expression."""

    operand: Expr


@dataclass(frozen=True, eq=False)
class Binary(Node):
    """`a + b`, comparisons, `and`, `or`; `operator` is the token."""

    operator: str
    left: Expr
    right: Expr
    operator_span: Span


@dataclass(frozen=True, eq=False)
class Call(Node):
    """`f(x)`."""

    function: Expr
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class BuiltinCall(Node):
    """`@name(…)`."""

    name: str
    """With its `@`."""
    name_span: Span
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Index(Node):
    """`a[i, j]`."""

    base: Expr
    indices: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Member(Node):
    """`a.b`."""

    base: Expr
    name: str
    name_span: Span


@dataclass(frozen=True, eq=False)
class Dereference(Node):
    """`p.*`."""

    pointer: Expr


@dataclass(frozen=True, eq=False)
class FieldValue:
    """`.name = value`."""

    name: str
    value: Expr
    span: Span


@dataclass(frozen=True, eq=False)
class StructLiteral(Node):
    """`.{ .a = x }`, or of a named type: `T { .a = x }`."""

    fields: tuple[FieldValue, ...]
    type: Expr | None = None


@dataclass(frozen=True, eq=False)
class TupleLiteral(Node):
    """`.{ x, y }`; `.{}` is one without elements."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class ArrayType(Node):
    """`[n, m]T`."""

    dimensions: tuple[Expr, ...]
    element: Expr


@dataclass(frozen=True, eq=False)
class ArrayLiteral(Node):
    """`[n]T { … }`."""

    type: ArrayType
    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class PointerType(Node):
    """`*T`, `*const T`, and with `many` `[*]T`, `[*]const T`."""

    target: Expr
    constant: bool
    many: bool


@dataclass(frozen=True, eq=False)
class FunctionType(Node):
    """`fn(A, B)R`, `task(A)R`."""

    task: bool
    parameters: tuple[Expr, ...]
    result: Expr


@dataclass(frozen=True, eq=False)
class EnumMember:
    """`name = value` of an enum."""

    name: str
    value: Expr | None
    span: Span


@dataclass(frozen=True, eq=False)
class EnumType(Node):
    """`enum(u16) { a, b = 3 }`."""

    backing: Expr | None
    members: tuple[EnumMember, ...]


@dataclass(frozen=True, eq=False)
class StructField:
    """`name: type` of a struct or union."""

    name: str
    type: Expr
    span: Span


@dataclass(frozen=True, eq=False)
class StructType(Node):
    """`struct { … }`, `packed struct`, `extern struct`, `union { … }`."""

    fields: tuple[StructField, ...]
    layout: str = ""
    """`packed`, `extern` or empty."""
    union: bool = False


@dataclass(frozen=True, eq=False)
class TensorAccess(Node):
    """`|i, j|{N, M} -> A[i, j]`."""

    variables: tuple[str, ...]
    variable_spans: tuple[Span, ...]
    extents: tuple[Expr, ...]
    access: Expr


@dataclass(frozen=True, eq=False)
class IfExpr(Node):
    """`if (c) a else b` where a value is wanted; without else it is void."""

    condition: Expr
    then: Expr
    otherwise: Expr | None


@dataclass(frozen=True, eq=False)
class Case:
    """`a, b => body` of a switch; no values: `else`."""

    values: tuple[Expr, ...]
    body: Stmt | Expr
    """A block, or a simple statement or expression."""
    span: Span


@dataclass(frozen=True, eq=False)
class SwitchExpr(Node):
    """`switch (x) { … }`, as a statement too."""

    scrutinee: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, eq=False)
class BlockExpr(Node):
    """A block where a value is wanted: `label: { … break :label x; }`."""

    label: str
    body: Block


@dataclass(frozen=True, eq=False)
class AsmOperand:
    """`[name] "constraint" (operand)`."""

    name: str
    constraint: bytes
    operand: Expr
    span: Span


@dataclass(frozen=True, eq=False)
class Asm(Node):
    """`asm volatile ("…" : outs : ins : clobbers)`."""

    text: Expr
    outputs: tuple[AsmOperand, ...]
    inputs: tuple[AsmOperand, ...]
    clobbers: tuple[bytes, ...]
    volatile: bool


Expr = (
    IntLiteral | FloatLiteral | StringLiteral | BoolLiteral | VoidLiteral | Name | Unary
    | AddressOf | Comptime | Binary | Call | BuiltinCall | Index | Member | Dereference
    | StructLiteral | TupleLiteral | ArrayType | ArrayLiteral | PointerType | FunctionType
    | EnumType | StructType | TensorAccess | IfExpr | SwitchExpr | BlockExpr | Asm
)  # fmt: skip


# --- statements ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Block(Node):
    """`{ … }`; `comptime { … }` with `comptime`."""

    statements: tuple[Stmt, ...]
    comptime: bool = False
    label: str = ""


@dataclass(frozen=True, eq=False)
class LocalDecl(Node):
    """`var x: T = v;` or `const`, within a function or block."""

    name: str
    name_span: Span
    mutable: bool
    type: Expr | None
    value: Expr | None
    comptime: bool = False
    alignment: Expr | None = None


@dataclass(frozen=True, eq=False)
class Assign(Node):
    """`a = b;`, `a += b;`; `operator` is the binary operator, empty for `=`."""

    target: Expr
    operator: str
    value: Expr


@dataclass(frozen=True, eq=False)
class ExprStmt(Node):
    """An expression for its effect."""

    value: Expr


@dataclass(frozen=True, eq=False)
class If(Node):
    """`if (c) a else b` as a statement."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(frozen=True, eq=False)
class For(Node):
    """`for (items) |x, i| { … }`."""

    items: Expr
    variable: str
    position: str
    """Name of the second capture; empty if there is none."""
    body: Block
    inline: bool = False
    label: str = ""


@dataclass(frozen=True, eq=False)
class While(Node):
    """`while (c) : (step) { … }`."""

    condition: Expr
    step: Stmt | None
    body: Block
    label: str = ""


@dataclass(frozen=True, eq=False)
class Return(Node):
    """`return x;`."""

    value: Expr | None


@dataclass(frozen=True, eq=False)
class Break(Node):
    """`break :label x;`."""

    label: str
    value: Expr | None


@dataclass(frozen=True, eq=False)
class Continue(Node):
    """`continue;`."""


Stmt = Block | LocalDecl | Assign | ExprStmt | If | For | While | Return | Break | Continue
"""A switch as a statement is an `ExprStmt` of a `SwitchExpr`."""


# --- declarations ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Attributes:
    """`align(…)`, `linksection(…)`, `linkname(…)`."""

    align: Expr | None = None
    linksection: Expr | None = None
    linkname: Expr | None = None


@dataclass(frozen=True, eq=False)
class Param(Node):
    """`param name: T = default;`."""

    name: str
    name_span: Span
    type: Expr | None
    default: Expr | None


@dataclass(frozen=True, eq=False)
class Global(Node):
    """`export var x: T = v;`."""

    name: str
    name_span: Span
    mutable: bool
    type: Expr | None
    value: Expr | None
    linkage: str = ""
    """`export`, `extern` or empty."""
    attributes: Attributes = Attributes()


@dataclass(frozen=True, eq=False)
class Formal:
    """A parameter of a function; `name` is empty only in extern prototypes."""

    name: str
    type: Expr | None
    """None: `anytype`."""
    comptime: bool
    span: Span


@dataclass(frozen=True, eq=False)
class FunctionDecl(Node):
    """`fn f(x: T) R { … }`, `task t() void { … }`."""

    name: str
    name_span: Span
    task: bool
    formals: tuple[Formal, ...]
    result: Expr
    body: Block | None
    """None: an extern prototype."""
    linkage: str = ""
    inline: bool = False
    attributes: Attributes = Attributes()


@dataclass(frozen=True, eq=False)
class LayoutBlock(Node):
    """`layout { … }`."""

    body: Block


@dataclass(frozen=True, eq=False)
class ComptimeBlock(Node):
    """`comptime { … }` of a module."""

    body: Block


Item = Param | Global | FunctionDecl | LayoutBlock | ComptimeBlock


@dataclass(frozen=True, eq=False)
class Module(Node):
    """A file."""

    items: tuple[Item, ...]
