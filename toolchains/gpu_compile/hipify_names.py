"""Names of HIP: which exist for device code, and the nearest real one for a name that does not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from . import hipify_table as table
from .hipify_tokens import Lines, Token
from .hipify_warnings import Lost

_HEADERS = Path(__file__).resolve().parent / "hip_include"
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_RUNTIME = re.compile(r"cuda[A-Z]\w*$")
_INTRINSIC = re.compile(r"__[a-z]\w*$")
_COMPILERS = re.compile(
    r"__(builtin_|hip_|attribute|declspec|asm|restrict|func|launch_bounds|align|cplusplus|has_"
    r"|sync_|atomic_|nv|extension|typeof|alignof|cluster)"
)
_CUTOFF = 0.7
_MOST = 3


@cache
def hip_names() -> frozenset[str]:
    """Names that device code may use: those of our headers, and those they make by pasting."""
    found = {name for path in _HEADERS.rglob("*.h") for name in _WORD.findall(path.read_text())}
    kept = {name for name in found if "AMDGPU" not in name and "hip_internal" not in name}
    return frozenset(kept | _pasted() | set(table.RENAMED.values()))


def nearest_names(name: str) -> tuple[str, ...]:
    """Names of HIP that are spelt like it, the best first; of CUDA's names, what they become."""
    if _RUNTIME.match(name):
        close = difflib.get_close_matches(name, list(table.RENAMED), _MOST, _CUTOFF)
        return tuple(dict.fromkeys(table.RENAMED[one] for one in close))
    known = [one for one in hip_names() if one[:2] == name[:2]]
    return tuple(difflib.get_close_matches(name, known, _MOST, _CUTOFF))


def unknown_names(code: str, tokens: Sequence[Token], known: Collection[str]) -> list[Lost]:
    """Calls of what looks like CUDA's or HIP's and is neither's, nor the submission's own."""
    lines, told = Lines(code), set()
    found = []
    for token, following in pairwise(tokens):
        name = token.text
        if token.kind != "name" or following.text != "(" or name in told or not _foreign(name):
            continue
        if name in known or _defined(code, name):
            continue
        told.add(name)
        near = nearest_names(name)
        hint = f": the nearest is {' or '.join(near)}" if near else ""
        place = lines.place(token.start)
        found.append(Lost(*place, "unknown", name, f"HIP has no {name}, nor has CUDA{hint}"))
    return found


def _foreign(name: str) -> bool:
    if name in table.RENAMED or name in table.WITHOUT or name in hip_names():
        return False
    if _RUNTIME.match(name):
        return True
    return bool(_INTRINSIC.match(name)) and not _COMPILERS.match(name)


def _defined(code: str, name: str) -> bool:
    """Whether the text defines a macro, or something with a body, of that name."""
    here = re.escape(name)
    return bool(
        re.search(rf"#\s*define\s+{here}\b", code)
        or re.search(rf"[\w>&*]\s+[&*]?{here}\s*\([^;{{}}]*\)\s*(const\s*)?\{{", code)
        or re.search(rf"^[^=\n]*\w[\s*&]+{here}\s*\([^;{{}}()]*\)\s*;", code, re.MULTILINE)
    )


def _pasted() -> set[str]:
    integers = ("int", "uint", "ll", "ull")
    names = {
        f"__{real}2{whole}_{way}"
        for real in ("float", "double")
        for whole in integers
        for way in ("rn", "rz", "ru", "rd")
    }
    names |= {f"__{whole}2{real}_rn" for whole in integers for real in ("float", "double")}
    names |= {
        f"__{kind}{op}_rn" for kind in "fd" for op in ("add", "sub", "mul", "div", "sqrt", "rcp")
    }
    names |= {f"__h{op}" for op in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul")}
    names |= {f"__h{op}2" for op in ("add", "sub", "mul")} | set(table.REDUCTIONS)
    atomics = ("Add", "Sub", "Min", "Max", "Exch", "And", "Or", "Xor", "CAS")
    names |= {f"atomic{op}{to}" for op in atomics for to in ("", "_block", "_system")}
    vectors = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong",
               "ulonglong", "float", "double")  # fmt: skip
    names |= {f"{head}{kind}{n}" for kind in vectors for n in "1234" for head in ("", "make_")}
    unary = ("fabs", "sqrt", "floor", "ceil", "trunc", "round", "rint", "nearbyint", "copysign",
             "fmin", "fmax", "fmod", "exp", "exp2", "log", "log2", "log10")  # fmt: skip
    return names | {f"{name}{f}" for name in unary for f in ("", "f")}
