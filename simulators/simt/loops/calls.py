"""What a kernel may call once everything is inlined, and what to say of everything else.

Primitives, intrinsics, and the C library's mathematics.
"""

from __future__ import annotations

from .reading import Function, Instruction, Refused
from .splitting import KINDS, TRAPS

_PLACES = (
    "__simt_tid", "__simt_ctaid", "__simt_ntid", "__simt_nctaid", "__simt_lane",
    "__simt_dynamic_shared",
)  # fmt: skip
_PLAIN = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "remquo",
    "rint",
    "round",
    "roundeven",
    "scalbln",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
]
_MATHEMATICS = frozenset((*_PLAIN, *(f"{name}f" for name in _PLAIN)))
_OURS = frozenset((*KINDS, *TRAPS, *_PLACES))


def check_calls(function: Function, declared: frozenset[str]) -> None:
    """declared: functions that the module does not define. Raises Refused."""
    for block in function.blocks.values():
        for one in block.body:
            if one.opcode == "call":
                _check(one, declared)


def _check(call: Instruction, declared: frozenset[str]) -> None:
    name = call.callee
    if name in _OURS or name in _MATHEMATICS or name.startswith("llvm."):
        return
    if name not in declared:
        raise Refused(f"recursion: {name} calls itself", call.line)
    raise Refused(f"a call of {name}, which the module does not define", call.line)
