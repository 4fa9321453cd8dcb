"""Which compile options of a submission reach NVRTC, and what is added to them.

Files and folders are the server's to choose, and so is the architecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kernels.records import Diagnostic
from simulators.simt.records import Source

from .cuda_places import FOLDER
from .cuda_wheels import Nvrtc

_VALUE = re.compile(
    r"-[DUI]|--(define-macro|undefine-macro|include-path|std|gpu-architecture)|-arch"
)
"""Options whose value may be the next word."""
_PASSED = re.compile(
    r"(-D|--define-macro=|-U|--undefine-macro=)\s*[A-Za-z_]\w*(\(|=|$)"
    r"|--?(std=c\+\+\d\d|maxrregcount=\d+)$"
    r"|--?(ftz|fmad|prec-div|prec-sqrt)=(true|false)$"
    r"|--?(use_fast_math|restrict|default-device|device-as-default-execution-space|w|lineinfo"
    r"|generate-line-info|disable-warnings|extra-device-vectorization|device-int128"
    r"|fno-signed-zeros|ffinite-math-only|minimal|Wreorder|Wconversion|no-cache)$"
    r"|--?diag-(suppress|warn|error)=[\d,]+$"
)
_LEFT_OUT = re.compile(
    r"-I|--include-path|-arch|--gpu-architecture|--?O[0-3]$|--?Xptxas|--ptxas-options=-v"
)
_WHY_LEFT_OUT = (
    (("-I", "--include"), "headers of the submission and of CUDA are found without it"),
    (("-arch", "--gpu"), "the target says for which architecture to compile"),
    ("", "NVRTC optimises fully and prints what is used anyway"),
)
_FAST_MATH = re.compile(r"--?(use_fast_math|fmad=true)$")
_NO_CONTRACTION = re.compile(r"--?fmad=false$")
_CUDA_NAMES = re.compile(r"<cuda/|\bcuda::|<cub/|<thrust/")
_PRE_INCLUDED = "--pre-include=sz_types.h"
"""What nvcc has of the C library without an #include."""
LIMITED_GROUPS = "-D_CG_LIMIT_INCLUDED_DEPENDENCIES"
"""Cooperative groups without libcu++, which takes a second to read."""


@dataclass(frozen=True)
class Options:
    """What NVRTC is given."""

    passed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    """About options that are not passed on."""


def options_for(source: Source, nvrtc: Nvrtc, own_headers: Path) -> Options:
    """Of a source, but for the architecture."""
    told: list[Diagnostic] = []
    kept: list[str] = []
    for option in _whole(source.options):
        if _PASSED.match(option):
            kept.append(option)
        elif _LEFT_OUT.match(option):
            why = next(w for start, w in _WHY_LEFT_OUT if option.startswith(start))
            told.append(Diagnostic("note", f"option {option!r} is left out: {why}"))
        else:
            told.append(Diagnostic("error", f"option {option!r} is not for NVRTC here"))
    if not any("std=" in option for option in kept):
        kept.append("--std=c++17")
    texts = (source.code, *source.headers.values())
    if not any(_CUDA_NAMES.search(text) for text in texts):
        kept.append(LIMITED_GROUPS)
    folders = (FOLDER, own_headers, *nvrtc.includes)
    added = (
        "--ptxas-options=-v",
        "-lineinfo",
        _PRE_INCLUDED,
        *(f"-I{folder}" for folder in folders),
    )
    return Options((*kept, *added), tuple(told))


def contracts(options: Iterable[str]) -> bool:
    """Whether multiplications may be fused with additions."""
    fused = True
    for option in _whole(options):
        if _NO_CONTRACTION.match(option):
            fused = False
        elif _FAST_MATH.match(option):
            fused = True
    return fused


def _whole(options: Iterable[str]) -> list[str]:
    """With the value of an option that was given as a word of its own."""
    whole: list[str] = []
    for word in map(str, options):
        if whole and _VALUE.fullmatch(whole[-1]):
            joint = "=" if whole[-1].startswith("--") or whole[-1] == "-arch" else ""
            whole[-1] += joint + word
        else:
            whole.append(word)
    return whole
