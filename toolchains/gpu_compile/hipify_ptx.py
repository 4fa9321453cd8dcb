"""Inline PTX of a few plain instructions, as C++ (names and meanings: the PTX ISA reference).

What is not in the tables is not translated at all, and reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_TYPES: Mapping[str, str] = {
    "f32": "float", "f64": "double", "pred": "bool", "b8": "unsigned char",
    "s8": "signed char", "u8": "unsigned char", "s16": "short", "u16": "unsigned short",
    "b16": "unsigned short", "s32": "int", "u32": "unsigned", "b32": "unsigned",
    "s64": "long long", "u64": "unsigned long long", "b64": "unsigned long long",
}  # fmt: skip
_BINARY: Mapping[str, str] = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>",
}  # fmt: skip
_FUNCTIONS: Mapping[str, str] = {
    "min": "min", "max": "max", "clz.b32": "__clz", "clz.b64": "__clzll", "popc.b32": "__popc",
    "popc.b64": "__popcll", "brev.b32": "__brev", "brev.b64": "__brevll",
    "bfe.u32": "__bitextract_u32", "prmt.b32": "__byte_perm", "abs": "abs",
}  # fmt: skip
_COMPARISONS: Mapping[str, str] = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
_ROUNDED: Mapping[str, str] = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_SPECIAL: Mapping[str, str] = {
    "%laneid": "(__lane_id() & 31)",
    "%lanemask_lt": "((1u << (__lane_id() & 31)) - 1)",
    "%lanemask_le": "((2u << (__lane_id() & 31)) - 1)",
    "%lanemask_eq": "(1u << (__lane_id() & 31))",
    "%lanemask_gt": "(~0u << (__lane_id() & 31) << 1)",
    "%lanemask_ge": "(~0u << (__lane_id() & 31))",
    "%clock64": "(unsigned long long)clock64()",
    "%globaltimer": "(unsigned long long)wall_clock64()",
}
_WHOLE: Mapping[str, str] = {
    "membar.gl": "__threadfence()",
    "membar.cta": "__threadfence_block()",
    "membar.sys": "__threadfence_system()",
    "bar.sync 0": "__syncthreads()",
    "bar.warp.sync 0xffffffff": "__syncwarp()",
}
_ORDERS: Mapping[str, str] = {
    "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE", "relaxed": "__ATOMIC_RELAXED",
    "volatile": "__ATOMIC_RELAXED", "cg": "__ATOMIC_RELAXED",
}  # fmt: skip
_SCOPES: Mapping[str, str] = {"cta": "WORKGROUP", "gpu": "AGENT", "sys": "SYSTEM"}
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_OPERAND = re.compile(r'"[=+&]*([a-z]+)"\s*\(')
_HEX_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$")
_REGISTER = re.compile(r"[A-Za-z_]\w*$")


class _UnknownError(Exception):
    """Something that is not in the tables."""


def translated_asm(text: str) -> str | None:
    """C++ for what stands behind `asm`, from its parenthesis to the closing one; None without."""
    template, operands = _parts(text)
    try:
        statements = [_statement(s, operands) for s in _statements(template)]
    except (_UnknownError, IndexError):
        return None
    if not statements:
        return None
    if len(statements) == 1:
        return statements[0]
    return f"{{ {'; '.join(statements)}; }}"


def first_instruction(text: str) -> str:
    """The mnemonic to name in a message."""
    template, _ = _parts(text)
    found = (s.split()[0] for s in _statements(template) if not s.startswith(".reg"))
    return next(found, "empty")


def _parts(text: str) -> tuple[str, list[str]]:
    """The template, its strings joined, and the C++ expressions of the operands."""
    end = 1
    strings = []
    while match := re.compile(r'\s*"((?:\\.|[^"\\])*)"').match(text, end):
        strings.append(match[1])
        end = match.end()
    template = "".join(strings).replace("\\n", "\n").replace("\\t", " ")
    return template, [_expression(text, m.end()) for m in _OPERAND.finditer(text, end)]


def _expression(text: str, start: int) -> str:
    """What stands in the parentheses that end before `start`'s partner."""
    depth, at = 1, start
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return f"({text[start : at - 1].strip()})"


def _statements(template: str) -> list[str]:
    plain = re.sub(r"//[^\n]*", "", template).strip()
    if plain.startswith("{") and plain.endswith("}"):
        plain = plain[1:-1]
    return [" ".join(s.split()) for s in plain.split(";") if s.strip()]


def _statement(text: str, operands: Sequence[str]) -> str:
    if text in _WHOLE:
        return _WHOLE[text]
    if "{" in text or "}" in text:
        raise _UnknownError(text)
    opcode, _, rest = text.partition(" ")
    names = [name.strip() for name in rest.split(",")]
    if opcode == ".reg":
        kind, _, registers = rest.partition(" ")
        declared = (f"ptx_{name.strip()}" for name in registers.split(","))
        return f"{_type(kind.removeprefix('.'))} {', '.join(declared)}"
    base, *modifiers = opcode.split(".")
    if base in ("ld", "st"):
        return _memory(base, modifiers, names, operands)
    values = [_value(name, operands) for name in names]
    return f"{values[0]} = {_result(base, modifiers, values[1:])}"


def _result(base: str, modifiers: Sequence[str], values: Sequence[str]) -> str:
    kind = modifiers[-1] if modifiers else ""
    typed = [f"({_type(kind)}){value}" for value in values]
    match base:
        case "mov":
            return typed[0]
        case "cvt":
            return _converted(modifiers, values[0])
        case "setp":
            return f"{typed[0]} {_found(_COMPARISONS, modifiers[0])} {typed[1]}"
        case "selp":
            return f"{values[2]} ? {typed[0]} : {typed[1]}"
        case "bfind":
            return f"31 - {'__clz' if kind == 'u32' else _found({}, kind)}((int){values[0]})"
    if {"hi", "wide", "cc", "sat", "rz", "rm", "rp"} & set(modifiers):
        raise _UnknownError(base)
    return _computed(base, kind, typed)


def _computed(base: str, kind: str, typed: Sequence[str]) -> str:
    """Of an operation that takes and gives one type."""
    if base in ("mad", "fma"):
        return _fused(base, kind, typed)
    if base in ("not", "neg"):
        return f"{'~' if base == 'not' else '-'}{typed[0]}"
    function = _FUNCTIONS.get(f"{base}.{kind}") or _FUNCTIONS.get(base)
    if function:
        return f"{function}({', '.join(typed)})"
    return f"{typed[0]} {_found(_BINARY, base)} {typed[1]}"


def _fused(base: str, kind: str, typed: Sequence[str]) -> str:
    if base == "fma":
        return f"{'fmaf' if kind == 'f32' else 'fma'}({', '.join(typed)})"
    return f"{typed[0]} * {typed[1]} + {typed[2]}"


def _converted(modifiers: Sequence[str], value: str) -> str:
    *how, to, origin = modifiers
    if {"sat", "ftz", "rz", "rm", "rp"} & set(how):
        raise _UnknownError("cvt")
    rounding = next((_ROUNDED[one] for one in how if one in _ROUNDED), "")
    if rounding:
        suffix = "f" if origin == "f32" else ""
        return f"({_type(to)}){rounding}{suffix}(({_type(origin)}){value})"
    return f"({_type(to)})({_type(origin)}){value}"


def _memory(base: str, modifiers: Sequence[str], names: list[str], operands: Sequence[str]) -> str:
    """A load or store of one value with an order."""
    kind = _type(modifiers[-1])
    order = next((_ORDERS[m] for m in modifiers if m in _ORDERS), "")
    if not order or any(re.fullmatch(r"v\d|shared|param|const", m) for m in modifiers):
        raise _UnknownError(base)
    scope = next((_SCOPES[m] for m in modifiers if m in _SCOPES), "AGENT")
    where = f"__HIP_MEMORY_SCOPE_{scope}"
    if base == "ld":
        value, address = names
        pointer = f"({kind}*){_value(address.strip('[]'), operands)}"
        return f"{_value(value, operands)} = __hip_atomic_load({pointer}, {order}, {where})"
    address, value = names
    pointer = f"({kind}*){_value(address.strip('[]'), operands)}"
    return f"__hip_atomic_store({pointer}, ({kind}){_value(value, operands)}, {order}, {where})"


def _value(name: str, operands: Sequence[str]) -> str:
    plain = name.replace("%%", "%")
    if plain in _SPECIAL:
        return _SPECIAL[plain]
    if plain.startswith("%") and plain[1:].isdigit():
        return operands[int(plain[1:])]
    hexadecimal = _HEX_FLOAT.match(plain)
    if hexadecimal:
        return f"__uint_as_float(0x{hexadecimal[1]})"
    if re.fullmatch(r"-?(\d+(\.\d*)?|0[xX][0-9a-fA-F]+)", plain):
        return plain
    if _REGISTER.match(plain):
        return f"ptx_{plain}"
    raise _UnknownError(name)


def _type(name: str) -> str:
    return _found(_TYPES, name)


def _found(table: Mapping[str, str], name: str) -> str:
    if name not in table:
        raise _UnknownError(name)
    return table[name]
