"""Options of a compilation, as NVRTC and hiprtc know them: kept, ignored or refused by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from kernels.diagnostics import Diagnostic

from .records import Rejected, Source

_STANDARDS = ("c++11", "c++14", "c++17", "c++20", "c++23")
_IGNORED = re.compile(
    r"""--?( gpu-architecture=.* | arch=.* | offload-arch=.* | lineinfo | generate-line-info | G
    | device-debug | g | w | restrict | O[0-3s] | maxrregcount=.* | fmad=.* | ftz=.*
    | prec-(div|sqrt)=.* | opt-level=.* | dopt=.* | relocatable-device-code=.* | rdc=.* | ewp
    | ptxas-options=.* | Xptxas=?.* | extra-device-vectorization | disable-warnings
    | display-error-number | no-display-error-number | diag-.*=.* | minimal | builtin-.*=.*
    | no-source-include | ffp-contract=.* | modify-stack-limit=.* | split-compile=.*
    | jump-table-density=.* | std-hip | Wno-.* )""",
    re.VERBOSE,
)
"""What changes no result here: there is no GPU to generate for, and no contraction."""
_DEVICE = ("device-as-default-execution-space", "default-device")
_FAST = ("use_fast_math", "use-fast-math", "ffast-math")
_TAKES_VALUE = {"D": "D", "I": "I", "U": "U", "std": "std", "include": "include",
                "define-macro": "D", "include-path": "I", "undefine-macro": "U",
                "pre-include": "include"}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What of the options matters here."""

    defines: tuple[str, ...] = ()
    """-D, -U and -include, as clang takes them."""
    include: tuple[str, ...] = ()
    """Folders below that of the headers that came with the source."""
    standard: str = "c++17"
    device_by_default: bool = False
    """Functions without a specifier are of the device, too."""
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class _Value:
    """An option with a value."""

    option: str
    value: str


def parse_options(source: Source) -> Options | Rejected:
    """What is given with a source; Rejected names the first option that isn't known here."""
    found = Options()
    for given in _joined(source.options):
        more = _with(found, given, source)
        if more is None:
            text = f"option {given!r} isn't known to this emulator"
            return Rejected((Diagnostic("error", text, source.file),))
        found = more
    return found


def _with(found: Options, given: str, source: Source) -> Options | None:
    """With one more option; None: it isn't known."""
    match _valued(given):
        case _Value("D" | "U" as letter, value):
            return replace(found, defines=(*found.defines, f"-{letter}{value}"))
        case _Value("I", value):
            folder = _below(value)
            return replace(found, include=(*found.include, *([folder] if folder else [])))
        case _Value("include", value):
            return replace(found, defines=(*found.defines, "-include", value))
        case _Value("std", value) if value.replace("gnu", "c") in _STANDARDS:
            return replace(found, standard=value)
    bare = given.lstrip("-")
    if bare in _DEVICE:
        return replace(found, device_by_default=True)
    if bare in _FAST:
        text = f"{given} is ignored: results are those of exact arithmetic"
        return replace(found, warnings=(*found.warnings, Diagnostic("warning", text, source.file)))
    return found if _IGNORED.fullmatch(given) else None


def _joined(options: tuple[str, ...]) -> list[str]:
    """An option and the value after it as one."""
    found: list[str] = []
    waiting = ""
    for option in options:
        text = option.strip()
        if waiting:
            found.append(f"{waiting}={text}" if len(waiting) > 2 else waiting + text)
            waiting = ""
        elif text.lstrip("-") in _TAKES_VALUE:
            waiting = text
        elif text:
            found.append(text)
    return [*found, *([waiting] if waiting else [])]


def _valued(given: str) -> _Value | None:
    if found := re.match(r"--?([a-z-]+)=(.+)", given):
        option = _TAKES_VALUE.get(found[1])
        return _Value(option, found[2]) if option else None
    if found := re.match(r"-([DIU])(.+)", given):
        return _Value(found[1], found[2])
    return None


def _below(folder: str) -> str | None:
    """A folder of the submission; None: of the machine, where nothing is taken from."""
    path = PurePosixPath(folder)
    return None if path.is_absolute() or ".." in path.parts else str(path)
