"""Which compile options of a submission reach clang, and what is told of the others.

Files, folders, plug-ins and the architecture are the server's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kernels.records import Diagnostic

_VALUE = re.compile(r"-[DUI]|--(define-macro|undefine-macro|include-path|offload-arch)")
"""Options whose value may be the next word."""
_PASSED = re.compile(
    r"-[DU][A-Za-z_]\w*(\([\w, ]*\))?(=.*)?$"
    r"|-std=(c\+\+|gnu\+\+)(11|14|17|20|23|2a|2b)$"
    r"|-ffp-contract=(off|on|fast|fast-honor-pragmas)$"
    r"|-f(no-)?(fast-math|finite-math-only|signed-zeros|unroll-loops|slp-vectorize|vectorize)$"
    r"|-ffast-math$|-Wall$|-Wextra$|-W(no-)?[a-z][a-z-]*$|-w$"
)
_LONG = re.compile(r"--(define-macro|undefine-macro)=(.*)")
_CUDA = {
    "--use_fast_math": "-ffast-math",
    "-use_fast_math": "-ffast-math",
    "--fmad=false": "-ffp-contract=off",
    "-fmad=false": "-ffp-contract=off",
    "--fmad=true": "-ffp-contract=fast",
    "-fmad=true": "-ffp-contract=fast",
}
"""NVRTC's → clang's."""
_LEFT_OUT = re.compile(
    r"-I|--include-path|--offload-arch|-mcpu|--gpu-architecture|-arch|-O[0-3s]?$|--std=|-x|hip$"
    r"|-fgpu-rdc|-munsafe-fp-atomics|-g|-lineinfo|--(restrict|ptxas-options|maxrregcount|extra)"
    r"|-(ftz|prec-div|prec-sqrt)|--(ftz|prec-div|prec-sqrt)"
)
CONTRACTS_OFF = re.compile(r"-ffp-contract=off$")


@dataclass(frozen=True)
class Options:
    """What clang is given."""

    passed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    """About options that are not passed on."""


def options_for(options: Iterable[str]) -> Options:
    """Of a source, but for the architecture."""
    told: list[Diagnostic] = []
    kept: list[str] = []
    for word in _whole(options):
        option = _in_clang(word)
        if _PASSED.match(option) and "\0" not in option:
            kept.append(option)
        elif _LEFT_OUT.match(option):
            told.append(Diagnostic("note", f"option {word!r} is left out: the target decides"))
        else:
            told.append(Diagnostic("error", f"option {word!r} is not for HIP's compiler here"))
    if not any(option.startswith("-std=") for option in kept):
        kept.append("-std=c++17")
    return Options(tuple(kept), tuple(told))


def _in_clang(word: str) -> str:
    long = _LONG.match(word)
    if long:
        return f"-{'D' if long[1].startswith('define') else 'U'}{long[2]}"
    if word.startswith("--std="):
        return word[1:]
    return _CUDA.get(word, word)


def _whole(options: Iterable[str]) -> list[str]:
    """With the value of an option that was given as a word of its own."""
    whole: list[str] = []
    for word in map(str, options):
        if whole and _VALUE.fullmatch(whole[-1]):
            whole[-1] += ("=" if whole[-1].startswith("--") else "") + word
        else:
            whole.append(word)
    return whole
