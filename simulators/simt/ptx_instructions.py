"""PTX instructions as C++ statements: one entry per operation, by the types in its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

TYPES = {
    "pred": "bool", "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char",
    "b16": "unsigned short", "u16": "unsigned short", "s16": "short",
    "b32": "unsigned", "u32": "unsigned", "s32": "int",
    "b64": "unsigned long long", "u64": "unsigned long long", "s64": "long long",
    "f32": "float", "f64": "double",
}  # fmt: skip
_SPECIAL = {
    "laneid": "__simt_lane()", "warpid": "(simt_thread_rank() / SIMT_WARP)",
    "tid.x": "threadIdx.x", "tid.y": "threadIdx.y", "tid.z": "threadIdx.z",
    "ntid.x": "blockDim.x", "ntid.y": "blockDim.y", "ntid.z": "blockDim.z",
    "ctaid.x": "blockIdx.x", "ctaid.y": "blockIdx.y", "ctaid.z": "blockIdx.z",
    "nctaid.x": "gridDim.x", "nctaid.y": "gridDim.y", "nctaid.z": "gridDim.z",
    "smid": "0u", "clock": "(unsigned)clock64()", "clock64": "clock64()",
    "globaltimer": "clock64()", "lanemask_lt": "((1u << __simt_lane()) - 1)",
    "lanemask_le": "(2u * (1u << __simt_lane()) - 1)", "lanemask_eq": "(1u << __simt_lane())",
    "lanemask_gt": "~(2u * (1u << __simt_lane()) - 1)",
    "lanemask_ge": "~((1u << __simt_lane()) - 1)",
}  # fmt: skip
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
             "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}  # fmt: skip
_ROUNDED = {"rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}
_SHUFFLED = {"idx": "__shfl_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync",
             "bfly": "__shfl_xor_sync"}  # fmt: skip


class UnknownInstruction(Exception):
    """An instruction that has no counterpart here."""


@dataclass(frozen=True)
class _Instruction:
    """An instruction in its parts."""

    text: str
    modifiers: tuple[str, ...]
    """The parts of its name after the first."""
    to: str
    given: tuple[str, ...]

    @property
    def type(self) -> str:
        """C++ type of the last type in its name."""
        types = [TYPES[one] for one in self.modifiers if one in TYPES]
        if not types:
            raise UnknownInstruction(self.text)
        return types[-1]

    def cast(self, index: int) -> str:
        """An operand as that type."""
        return f"({self.type})({self.given[index]})"


def statement(text: str) -> str:
    """One instruction, perhaps with a predicate, as a C++ statement."""
    guard = ""
    if found := re.match(r"@(!?)(%?@?[\w$]+)\s+", text):
        guard = f"if ({found[1]}{_operand(found[2])}) "
        text = text[found.end() :]
    name, _, rest = text.partition(" ")
    first, *modifiers = name.split(".")
    operands = [_operand(one) for one in _operands(rest)]
    make = _MADE.get(first)
    if make is None:
        raise UnknownInstruction(text)
    one = _Instruction(text, tuple(modifiers), *_first(operands))
    try:
        return f"{guard}{{ {make(one)}; }}"
    except (IndexError, KeyError):
        raise UnknownInstruction(text) from None


def _first(operands: list[str]) -> tuple[str, tuple[str, ...]]:
    return (operands[0], tuple(operands[1:])) if operands else ("", ())


def _operands(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "[{(") - (character in "]})")
        if character in ",|" and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _operand(text: str) -> str:
    """A register, an operand of the statement, a special register, a constant or [address]."""
    if found := re.fullmatch(r"\[\s*(%?@?[\w$]+)\s*(?:\+\s*(-?\w+))?\s*\]", text):
        return f"((unsigned long long)({_operand(found[1])}) + ({found[2] or 0}))"
    if found := re.fullmatch(r"%(\d+)", text):
        return f"ptx_{found[1]}"
    if found := re.fullmatch(r"%@?([a-z][\w.]*)", text):
        return _SPECIAL.get(found[1], f"reg_{found[1]}")
    if found := re.fullmatch(r"0[fF]([0-9A-Fa-f]{8})", text):
        return f"__uint_as_float(0x{found[1]}u)"
    if found := re.fullmatch(r"0[dD]([0-9A-Fa-f]{16})", text):
        return f"__longlong_as_double(0x{found[1]}ll)"
    if re.fullmatch(r"-?(0[xX][0-9A-Fa-f]+U?|\d+U?|\d*\.\d+(e[+-]?\d+)?)", text):
        return text
    if re.fullmatch(r"[A-Za-z_$][\w$]*", text):
        return "reg_" + text.replace("$", "_")
    raise UnknownInstruction(text)


def _binary(symbol: str) -> Callable[[_Instruction], str]:
    def made(one: _Instruction) -> str:
        return f"{one.to} = ({one.type})({one.cast(0)} {symbol} {one.cast(1)})"

    return made


def _called(name: str) -> Callable[[_Instruction], str]:
    def made(one: _Instruction) -> str:
        given = ", ".join(one.cast(index) for index in range(len(one.given)))
        return f"{one.to} = ({one.type}){name}({given})"

    return made


def _multiplied(one: _Instruction, added: str = "") -> str:
    if "wide" in one.modifiers:
        wide = {"int": "long long", "unsigned": "unsigned long long", "short": "int",
                "unsigned short": "unsigned"}[one.type]  # fmt: skip
        return f"{one.to} = ({wide}){one.cast(0)} * ({wide}){one.cast(1)}{added}"
    if "hi" in one.modifiers:
        name = {"int": "__mulhi", "unsigned": "__umulhi", "long long": "__mul64hi",
                "unsigned long long": "__umul64hi"}[one.type]  # fmt: skip
        return f"{one.to} = {name}({one.cast(0)}, {one.cast(1)}){added}"
    return f"{one.to} = ({one.type})({one.cast(0)} * {one.cast(1)}{added})"


def _fused(one: _Instruction) -> str:
    name = {"float": "__fmaf_rn", "double": "__fma_rn"}.get(one.type)
    if name is None:
        return _multiplied(one, f" + {one.given[2]}")
    return f"{one.to} = {name}({', '.join(one.cast(index) for index in range(3))})"


def _converted(one: _Instruction) -> str:
    """A cvt.rounding.to.from."""
    types = [name for name in one.modifiers if name in TYPES]
    if len(types) != 2:
        raise UnknownInstruction(one.text)
    to, source = TYPES[types[0]], f"({TYPES[types[1]]})({one.given[0]})"
    rounding = next((_ROUNDED[name] for name in one.modifiers if name in _ROUNDED), "")
    if rounding and to in ("float", "double"):
        name = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}[rounding]
        return f"{one.to} = ({to}){name}({source})"
    if rounding:
        wide = {"f32": "float", "f64": "double"}[types[1]]
        short = {"int": "int", "unsigned": "uint", "long long": "ll", "unsigned long long": "ull"}
        return f"{one.to} = __{wide}2{short[to]}_{rounding}({source})"
    if any(name in ("rz", "rm", "rp", "sat") for name in one.modifiers):
        raise UnknownInstruction(one.text)
    return f"{one.to} = ({to}){source}"


def _shifted(one: _Instruction) -> str:
    """Shifts of the width or more leave the sign, or nothing."""
    kind = one.type
    bits = f"(sizeof({kind}) * 8)"
    by = f"(unsigned)({one.given[1]})"
    if one.text.startswith("shl"):
        return f"{one.to} = {by} < {bits} ? ({kind})({one.cast(0)} << {by}) : ({kind})0"
    most = f"({by} < {bits} ? {by} : {bits} - 1)"
    if kind in ("int", "long long", "short"):
        return f"{one.to} = ({kind})({one.cast(0)} >> {most})"
    return f"{one.to} = {by} < {bits} ? ({kind})({one.cast(0)} >> {by}) : ({kind})0"


def _compared(one: _Instruction) -> str:
    return f"{one.to} = {one.cast(0)} {_COMPARED[one.modifiers[0]]} {one.cast(1)}"


def _loaded(one: _Instruction) -> str:
    kind = one.type
    if any(name in ("v2", "v4") for name in one.modifiers):
        raise UnknownInstruction(one.text)
    if "acquire" in one.modifiers or "relaxed" in one.modifiers:
        order = "ACQUIRE" if "acquire" in one.modifiers else "RELAXED"
        return f"{one.to} = __atomic_load_n(({kind} *){one.given[0]}, __ATOMIC_{order})"
    hot = "volatile " if {"volatile", "cv"} & set(one.modifiers) else ""
    return f"{one.to} = *(const {hot}{kind} *){one.given[0]}"


def _stored(one: _Instruction) -> str:
    kind = one.type
    if any(name in ("v2", "v4") for name in one.modifiers):
        raise UnknownInstruction(one.text)
    if "release" in one.modifiers or "relaxed" in one.modifiers:
        order = "RELEASE" if "release" in one.modifiers else "RELAXED"
        return f"__atomic_store_n(({kind} *){one.to}, {one.cast(0)}, __ATOMIC_{order})"
    hot = "volatile " if {"volatile", "wt"} & set(one.modifiers) else ""
    return f"*({hot}{kind} *){one.to} = {one.cast(0)}"


def _field(one: _Instruction) -> str:
    """bfe: bits of the first from the second on, the third many."""
    kind = "long long" if one.type in ("int", "long long") else "unsigned long long"
    wide = f"({kind})({one.cast(0)})"
    at, width = f"(({one.given[1]}) & 255)", f"(({one.given[2]}) & 255)"
    if one.type not in ("unsigned", "int"):
        raise UnknownInstruction(one.text)
    return (
        f"{one.to} = {width} == 0 ? 0 : ({one.type})({wide} << (64 - ({at} + {width} > 32 ? 32 : "
        f"{at} + {width})) >> (64 - ({at} + {width} > 32 ? 32 : {at} + {width})) >> "
        f"({at} < 32 ? {at} : 31))"
    )


def _inserted(one: _Instruction) -> str:
    """bfi: the first's low bits into the second, from the third on, the fourth many."""
    if one.type != "unsigned":
        raise UnknownInstruction(one.text)
    at, width = f"(({one.given[2]}) & 255)", f"(({one.given[3]}) & 255)"
    mask = f"(unsigned)(((1ull << ({width} < 32 ? {width} : 32)) - 1) << ({at} < 32 ? {at} : 32))"
    moved = f"(unsigned)((unsigned long long){one.cast(0)} << ({at} < 32 ? {at} : 32))"
    return f"{one.to} = ({one.cast(1)} & ~{mask}) | ({moved} & {mask})"


def _shuffled(one: _Instruction) -> str:
    """shfl.sync.mode.b32 to, value, lane, clamp, mask: with the clamp of a whole warp."""
    given = one.given
    if len(given) != 4 or given[2] not in ("31", "0x1f", "0", "0x0"):
        raise UnknownInstruction(one.text)
    name = next(_SHUFFLED[mode] for mode in one.modifiers if mode in _SHUFFLED)
    return f"{one.to} = {name}({given[3]}, (unsigned)({given[0]}), {given[1]})"


def _voted(one: _Instruction) -> str:
    name = {"ballot": "__ballot_sync", "any": "__any_sync", "all": "__all_sync"}
    voted = next(name[mode] for mode in one.modifiers if mode in name)
    return f"{one.to} = {voted}({one.given[1]}, {one.given[0]})"


def _negated(one: _Instruction) -> str:
    symbol = "!" if one.type == "bool" else "~"
    return f"{one.to} = ({one.type})({symbol}{one.cast(0)})"


_MADE: Mapping[str, Callable[[_Instruction], str]] = {
    "mov": lambda one: f"{one.to} = ({one.type})({one.given[0]})",
    "cvta": lambda one: f"{one.to} = ({one.type})({one.given[0]})",
    "add": _binary("+"), "sub": _binary("-"), "div": _binary("/"), "rem": _binary("%"),
    "and": _binary("&"), "or": _binary("|"), "xor": _binary("^"), "not": _negated,
    "mul": _multiplied, "mad": _fused, "fma": _fused, "cvt": _converted,
    "neg": lambda one: f"{one.to} = ({one.type})-{one.cast(0)}",
    "abs": _called("abs"), "min": _called("min"), "max": _called("max"), "sqrt": _called("sqrt"),
    "shl": _shifted, "shr": _shifted, "setp": _compared,
    "selp": lambda one: f"{one.to} = ({one.given[2]}) ? {one.cast(0)} : {one.cast(1)}",
    "ld": _loaded, "st": _stored, "bfe": _field, "bfi": _inserted,
    "prmt": lambda one: f"{one.to} = __byte_perm({', '.join(one.given)})",
    "popc": lambda one: f"{one.to} = __popcll({one.cast(0)})",
    "clz": lambda one: (
        f"{one.to} = __clz{'ll' if 'b64' in one.modifiers else ''}({one.given[0]})"
    ),
    "brev": lambda one: (
        f"{one.to} = __brev{'ll' if 'b64' in one.modifiers else ''}({one.given[0]})"
    ),
    "membar": lambda _: "__threadfence()", "fence": lambda _: "__threadfence()",
    "shfl": _shuffled, "vote": _voted, "activemask": lambda one: f"{one.to} = __activemask()",
    "nanosleep": lambda one: f"__nanosleep({one.to})", "trap": lambda _: "__trap()",
    "prefetch": lambda _: "(void)0", "bar": lambda _: "__syncthreads()",
}  # fmt: skip
