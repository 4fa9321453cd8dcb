"""The text of a syntax tree; to parse it again gives the same tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import nodes
from .nodes import Block, Expr, Item, Module, Stmt
from .parse_expressions import BITS, COMPARISON, LEVELS

_PREFIX, _PRIMARY = 8, 9
_INDENT = "  "
_BLOCK_STARTS = re.compile(
    r"\{|if\b|switch\b|comptime \{|for\b|while\b|\w+: \{|fn\b|task\b|extern\b"
)
"""What a statement can't begin with unless it is that statement."""


def show(node: Expr) -> str:
    """An expression, or a type, on one line unless it has a block."""
    return _EXPRESSIONS[type(node)](node)


def print_statement(node: Stmt) -> str:
    """A statement with its `;`."""
    return _STATEMENTS[type(node)](node) + ("" if _ends_itself(node) else ";")


def print_module(module: Module) -> str:
    """A whole file."""
    return "".join(_ITEMS[type(item)](item) + "\n" for item in module.items)


# --- expressions -----------------------------------------------------------------------------


def _level(node: Expr) -> int:
    if isinstance(node, nodes.Binary):
        return LEVELS[node.operator]
    if isinstance(node, nodes.IfExpr):
        return 0
    return _PREFIX if isinstance(node, _PREFIXED) else _PRIMARY


_PREFIXED = (
    nodes.Unary
    | nodes.AddressOf
    | nodes.Comptime
    | nodes.PointerType
    | nodes.ArrayType
    | nodes.ArrayLiteral
    | nodes.TensorAccess
    | nodes.FunctionType
)
_BRACED = nodes.StructLiteral | nodes.ArrayLiteral | nodes.VoidLiteral | nodes.BlockExpr


def _at(node: Expr, level: int) -> str:
    """In parentheses if it binds less tightly than its place asks."""
    text = show(node)
    return text if _level(node) >= level else f"({text})"


def _type(node: Expr) -> str:
    """Where no braces may follow."""
    if isinstance(node, _BRACED | nodes.Unary):
        return f"({show(node)})"
    return _at(node, _PREFIX)


def _base(node: Expr) -> str:
    """In front of a suffix."""
    if isinstance(node, _BRACED | nodes.SwitchExpr):
        return f"({show(node)})"
    return _at(node, _PRIMARY)


def _list(items: tuple[Expr, ...]) -> str:
    return ", ".join(map(show, items))


def _integer(node: nodes.IntLiteral) -> str:
    return str(node.value) if node.value.bit_length() <= 64 else hex(node.value)


def _float(node: nodes.FloatLiteral) -> str:
    return "1e999" if node.value == float("inf") else repr(node.value)


def _quoted(value: bytes) -> str:
    plain = {10: "\\n", 34: '\\"', 92: "\\\\"}
    shown = (plain.get(b) or (chr(b) if 32 <= b < 127 else f"\\x{b:02x}") for b in value)
    return f'"{"".join(shown)}"'


def _binary(node: nodes.Binary) -> str:
    # Along the left side without recursion: rows of operators are long.
    level = LEVELS[node.operator]
    parts: list[str] = []
    left: Expr = node
    while isinstance(left, nodes.Binary) and LEVELS[left.operator] == level:
        if parts and (level == COMPARISON or (level == BITS and left.operator != node.operator)):
            break
        parts.append(f" {left.operator} {_at(left.right, level + 1)}")
        left = left.left
    alike = not isinstance(left, nodes.Binary) or LEVELS[left.operator] > level
    return (show(left) if alike and _level(left) else f"({show(left)})") + "".join(reversed(parts))


def _prefixed(sign: str, operand: Expr) -> str:
    simple = _level(operand) == _PRIMARY and not isinstance(operand, _BRACED)
    return f"{sign}{show(operand)}" if simple else f"{sign}({show(operand)})"


def _comptime(node: nodes.Comptime) -> str:
    if isinstance(node.operand, nodes.BlockExpr) and not node.operand.label:
        return f"comptime {show(node.operand)}"
    return _prefixed("comptime ", node.operand)


def _suffixed(node: Any) -> str:
    # Along the chain of suffixes without recursion.
    parts: list[str] = []
    while type(node) in _SUFFIXES:
        base, text = _SUFFIXES[type(node)](node)
        parts.append(text)
        node = base
    return _base(node) + "".join(reversed(parts))


_SUFFIXES: dict[type, Callable[[Any], tuple[Expr, str]]] = {
    nodes.Call: lambda node: (node.function, f"({_list(node.arguments)})"),
    nodes.Index: lambda node: (node.base, f"[{_list(node.indices)}]"),
    nodes.Member: lambda node: (node.base, f".{node.name}"),
    nodes.Dereference: lambda node: (node.pointer, ".*"),
}


def _struct(node: nodes.StructLiteral) -> str:
    fields = ", ".join(f".{one.name} = {show(one.value)}" for one in node.fields)
    head = "." if node.type is None else _base(node.type) + " "
    return f"{head}{{ {fields} }}"


def _array_type(node: nodes.ArrayType) -> str:
    return f"[{_list(node.dimensions)}]{_type(node.element)}"


def _array(node: nodes.ArrayLiteral) -> str:
    return f"{_array_type(node.type)} {{ {_list(node.items)} }}"


def _pointer(node: nodes.PointerType) -> str:
    return ("[*]" if node.many else "*") + "const " * node.constant + _type(node.target)


def _function_type(node: nodes.FunctionType) -> str:
    parameters = ", ".join(map(_type, node.parameters))
    return f"{'task' if node.task else 'fn'}({parameters}) {_type(node.result)}"


def _enum(node: nodes.EnumType) -> str:
    backing = f"({_type(node.backing)})" if node.backing else ""
    members = (m.name + (f" = {show(m.value)}" if m.value else "") for m in node.members)
    return f"enum{backing} {{ {', '.join(members)} }}"


def _struct_type(node: nodes.StructType) -> str:
    fields = ", ".join(f"{one.name}: {_type(one.type)}" for one in node.fields)
    head = f"{node.layout} ".lstrip() + ("union" if node.union else "struct")
    return f"{head} {{ {fields} }}"


def _tensor_access(node: nodes.TensorAccess) -> str:
    access = f"({show(node.access)})" if isinstance(node.access, _BRACED) else _at(node.access, 8)
    return f"|{', '.join(node.variables)}|{{{_list(node.extents)}}} -> {access}"


def _if_expression(node: nodes.IfExpr) -> str:
    parts: list[str] = []
    last: Expr | None = node
    while isinstance(last, nodes.IfExpr):
        parts.append(f"if ({show(last.condition)}) {_closed(last.then)}")
        last = last.otherwise
    parts += [show(last)] if last is not None else []
    return " else ".join(parts)


def _closed(node: Expr) -> str:
    """In parentheses if an `else` behind it would be taken for its own."""
    return f"({show(node)})" if isinstance(node, nodes.IfExpr) else show(node)


def _switch(node: nodes.SwitchExpr) -> str:
    cases = (f"{_list(case.values) or 'else'} => {_case_body(case.body)},\n" for case in node.cases)
    return f"switch ({show(node.scrutinee)}) {_braces(cases)}"


def _case_body(body: Stmt | Expr) -> str:
    if type(body) in _STATEMENTS:
        return _STATEMENTS[type(body)](body)
    return _start(show(body))  # type: ignore[arg-type]


def _block_expression(node: nodes.BlockExpr) -> str:
    label = f"{node.label}: " if node.label else ""
    return label + _block(node.body)


def _asm(node: nodes.Asm) -> str:
    clobbers = ", ".join(map(_quoted, node.clobbers))
    parts = [show(node.text), _operands(node.outputs), _operands(node.inputs), clobbers]
    while not parts[-1]:
        parts.pop()
    return f"asm {'volatile ' * node.volatile}({' : '.join(parts)})"


def _operands(operands: tuple[nodes.AsmOperand, ...]) -> str:
    return ", ".join(f"[{o.name}] {_quoted(o.constraint)} ({show(o.operand)})" for o in operands)


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    nodes.IntLiteral: _integer,
    nodes.FloatLiteral: _float,
    nodes.StringLiteral: lambda node: _quoted(node.value),
    nodes.BoolLiteral: lambda node: "true" if node.value else "false",
    nodes.VoidLiteral: lambda _: "{}",
    nodes.Name: lambda node: str(node.name),
    nodes.Unary: lambda node: _prefixed(node.operator, node.operand),
    nodes.AddressOf: lambda node: _prefixed("&", node.operand),
    nodes.Comptime: _comptime,
    nodes.Binary: _binary,
    nodes.BuiltinCall: lambda node: f"{node.name}({_list(node.arguments)})",
    **dict.fromkeys(_SUFFIXES, _suffixed),
    nodes.StructLiteral: _struct,
    nodes.TupleLiteral: lambda node: f".{{ {_list(node.items)} }}" if node.items else ".{}",
    nodes.ArrayType: _array_type,
    nodes.ArrayLiteral: _array,
    nodes.PointerType: _pointer,
    nodes.FunctionType: _function_type,
    nodes.EnumType: _enum,
    nodes.StructType: _struct_type,
    nodes.TensorAccess: _tensor_access,
    nodes.IfExpr: _if_expression,
    nodes.SwitchExpr: _switch,
    nodes.BlockExpr: _block_expression,
    nodes.Asm: _asm,
}


# --- statements ------------------------------------------------------------------------------


def _start(text: str) -> str:
    """In parentheses if a statement that begins so is another one."""
    return f"({text})" if _BLOCK_STARTS.match(text) else text


def _ends_itself(node: Stmt) -> bool:
    """Whether no `;` is behind it."""
    while isinstance(node, nodes.If):
        node = node.otherwise if node.otherwise is not None else node.then
    if isinstance(node, nodes.ExprStmt):
        return isinstance(node.value, nodes.SwitchExpr)
    return isinstance(node, Block | nodes.For | nodes.While)


def _braces(lines: Any) -> str:
    text = "".join(lines)
    if not text:
        return "{}"
    return "{\n" + "".join(f"{_INDENT}{line}\n" for line in text.splitlines()) + "}"


def _block(node: Block) -> str:
    head = ("comptime " if node.comptime else "") + (f"{node.label}: " if node.label else "")
    return head + _braces(f"{print_statement(one)}\n" for one in node.statements)


def _declared(kind: Expr | None, value: Expr | None, attributes: str = "") -> str:
    text = f": {_type(kind)}" if kind is not None else ""
    return text + attributes + (f" = {show(value)}" if value is not None else "")


def _local(node: nodes.LocalDecl) -> str:
    head = "comptime " * node.comptime + ("var" if node.mutable else "const")
    attributes = f" align({show(node.alignment)})" if node.alignment is not None else ""
    return f"{head} {node.name}{_declared(node.type, node.value, attributes)}"


def _assign(node: nodes.Assign) -> str:
    return f"{_start(show(node.target))} {node.operator}= {_shut(node.value)}"


def _shut(node: Expr) -> str:
    """In parentheses if it is an `if` that an `else` may follow."""
    last: Expr | None = node
    while isinstance(last, nodes.IfExpr):
        last = last.otherwise
    return f"({show(node)})" if last is None else show(node)


def _expression_statement(node: nodes.ExprStmt) -> str:
    text = show(node.value)
    return text if isinstance(node.value, nodes.SwitchExpr) else _start(text)


def _if(node: nodes.If) -> str:
    parts: list[str] = []
    last: Stmt | None = node
    while isinstance(last, nodes.If):
        parts.append(f"if ({show(last.condition)}) {_STATEMENTS[type(last.then)](last.then)}")
        last = last.otherwise
    parts += [_STATEMENTS[type(last)](last)] if last is not None else []
    return " else ".join(parts)


def _for(node: nodes.For) -> str:
    label = f"{node.label}: " if node.label else ""
    names = node.variable + (f", {node.position}" if node.position else "")
    head = f"{label}{'inline ' * node.inline}for ({show(node.items)}) |{names}|"
    return f"{head} {_block(node.body)}"


def _while(node: nodes.While) -> str:
    label = f"{node.label}: " if node.label else ""
    step = f" : ({_STATEMENTS[type(node.step)](node.step)})" if node.step is not None else ""
    return f"{label}while ({show(node.condition)}){step} {_block(node.body)}"


def _return(node: nodes.Return) -> str:
    return "return" + (f" {_shut(node.value)}" if node.value is not None else "")


def _break(node: nodes.Break) -> str:
    label = f" :{node.label}" if node.label else ""
    return f"break{label}" + (f" {_shut(node.value)}" if node.value is not None else "")


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    Block: _block,
    nodes.LocalDecl: _local,
    nodes.Assign: _assign,
    nodes.ExprStmt: _expression_statement,
    nodes.If: _if,
    nodes.For: _for,
    nodes.While: _while,
    nodes.Return: _return,
    nodes.Break: _break,
    nodes.Continue: lambda _: "continue",
}


# --- items -----------------------------------------------------------------------------------


def _attributes(node: nodes.Attributes) -> str:
    named = (("align", node.align), ("linksection", node.linksection), ("linkname", node.linkname))
    return "".join(f" {word}({show(value)})" for word, value in named if value is not None)


def _global(node: nodes.Global) -> str:
    head = f"{node.linkage} ".lstrip() + ("var" if node.mutable else "const")
    declared = _declared(node.type, node.value, _attributes(node.attributes))
    return f"{head} {node.name}{declared};"


def _formal(node: nodes.Formal) -> str:
    head = "comptime " * node.comptime + (f"{node.name}: " if node.name else "")
    return head + ("anytype" if node.type is None else _type(node.type))


def _function(node: nodes.FunctionDecl) -> str:
    head = f"{node.linkage} ".lstrip() + "inline " * node.inline + ("task" if node.task else "fn")
    formals = ", ".join(map(_formal, node.formals))
    attributes = _attributes(node.attributes)
    body = ";" if node.body is None else f" {_block(node.body)}"
    return f"{head} {node.name}({formals}){attributes} {_type(node.result)}{body}"


_ITEMS: dict[type, Callable[[Any], str]] = {
    nodes.Param: lambda node: f"param {node.name}{_declared(node.type, node.default)};",
    nodes.Global: _global,
    nodes.FunctionDecl: _function,
    nodes.LayoutBlock: lambda node: f"layout {_block(node.body)}",
    nodes.ComptimeBlock: lambda node: f"comptime {_block(node.body)}",
}


def print_item(node: Item) -> str:
    """A declaration or block of a module."""
    return _ITEMS[type(node)](node)
