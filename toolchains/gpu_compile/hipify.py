"""CUDA C++ → HIP by names and by what wavefronts of 64 need; lines stay where they are.

Where a wavefront has 64 lanes, code for warps of 32 is kept right by giving each half the part of a
warp: shuffles get a width of 32, masks are moved to the half's lanes, and sets of lanes are moved
back. `__lane_id() & 32` is 0 in the lower half and 32 in the upper one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from . import hipify_table as table
from .hipify_names import unknown_names
from .hipify_ptx import translated_asm
from .hipify_tokens import Call, Lines, Token, call_at, tokens_of
from .hipify_warnings import Lost, warnings_of

_HALF = "(__lane_id() & 32)"
_FULL = re.compile(r"(0[xX][fF]{8}|4294967295)[uU]?$|\(unsigned( int)?\)-1$|~0[uU]?$|-1$")
_WIDE = re.compile(
    r"\b(0[xX][0-9a-fA-F]+|\d+)([uU]?[lL]{2}|[lL]{2}[uU])\b|long long|uint64_t|__lane_id"
    r"|0[xX][0-9a-fA-F]{9,}"
)
_FULL_HEX = re.compile(r"0[xX][fF]{8}[uU]?$")
_CUDA_NAME = re.compile(r"(cuda[A-Z]\w*|__nv_\w+|cub)$")
_IS_HIP = re.compile(r'#\s*include\s*[<"]hip/|\bhip[A-Z]\w+')
_BOUNDS = re.compile(r"\+ (255|127)\) / (256|128)$")


@dataclass(frozen=True)
class Change:
    """One place that was translated."""

    line: int
    column: int
    """1-based, in the CUDA text."""
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Translation:
    """A CUDA text as HIP."""

    text: str
    changes: tuple[Change, ...] = ()
    warnings: tuple[Lost, ...] = ()
    """What has no counterpart, or means something else on AMD."""
    shifts: tuple[tuple[int, int, int, int], ...] = ()
    """Line, column in the translation where a change ends, its width there, and before."""

    def column(self, line: int, column: int) -> int:
        """Where a column of the translation was in the CUDA text."""
        moved = 0
        for at, end, after, before in self.shifts:
            if at != line or end - after >= column:
                continue
            if column < end:
                return end - after + min(column - end + after, max(before - 1, 0)) - moved
            moved += after - before
        return column - moved


@dataclass(frozen=True)
class _Edit:
    """Replaces text[start:end]."""

    start: int
    end: int
    text: str
    why: str
    closing: bool = False
    """An insertion that belongs to what stands before it."""
    told: tuple[str, str] | None = None
    """What to tell as before and after, where two insertions make one change."""


def hipify(code: str, wavefront: int = 64, known: Collection[str] = ()) -> Translation:
    """Translate. `known`: names that other files of the submission define.

    A text that is HIP already comes back as it was. Code in strings is left alone.
    """
    if _IS_HIP.search(code):
        return Translation(code)
    tokens = tokens_of(code)
    edits: list[_Edit] = []
    for index, token in enumerate(tokens):
        if token.kind == "include":
            edits += _header(token)
        elif token.kind == "name":
            edits += _name(code, tokens, index, wavefront)
    lost = [*warnings_of(code, tokens, wavefront), *unknown_names(code, tokens, known)]
    return _applied(code, edits, lost)


def is_cuda(code: str, file: str = "") -> bool:
    """Whether a text for an AMD target is CUDA: by its file's name, or by what only CUDA has.

    Much is spelt alike in both, and means other widths: such a text is taken for HIP. A file that
    is called .hip is compiled as it is, since ROCm would do no other.
    """
    if file.endswith(".hip") or _IS_HIP.search(code):
        return False
    if file.endswith((".cu", ".cuh")):
        return True
    tokens = tokens_of(code)
    return any(_only_cuda(tokens, index) for index in range(len(tokens)))


def _only_cuda(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    if token.kind == "include":
        return bool(_header(token))
    if token.kind == "name":
        return bool(_CUDA_NAME.match(token.text)) and _is_name(tokens, index)
    called = tokens[index - 2].text if index > 1 else ""
    return called.endswith("_sync") and bool(_FULL_HEX.match(token.text))


def _header(token: Token) -> list[_Edit]:
    found = re.search(r'[<"]([^>"]*)[>"]', token.text)
    if found is None:
        return []
    name = found[1]
    after = table.HEADERS.get(name)
    if after is None:
        after = next(
            (to for folder, to in table.HEADER_FOLDERS.items() if name.startswith(folder)), None
        )
    if after is None:
        return []
    start, end = token.start + found.start(), token.start + found.end()
    return [_Edit(start, end, f"<{after}>", "HIP's header")]


def _name(code: str, tokens: Sequence[Token], index: int, wavefront: int) -> list[_Edit]:
    token = tokens[index]
    after = table.RENAMED.get(token.text)
    if after is not None and _is_name(tokens, index):
        return [_Edit(token.start, token.end, after, table.why_renamed(token.text))]
    if token.text in ("asm", "__asm__"):
        return _asm(code, tokens, index)
    call = call_at(code, tokens, index)
    if call is None:
        return []
    if token.text == "__launch_bounds__":
        return _bounds(code, call, wavefront)
    if _declares(tokens, index):
        return []
    return _warp_call(code, token, call, wavefront)


def _asm(code: str, tokens: Sequence[Token], index: int) -> list[_Edit]:
    start = index
    while index + 1 < len(tokens) and tokens[index + 1].text in ("volatile", "__volatile__"):
        index += 1
    call = call_at(code, tokens, index)
    if call is None:
        return []
    after = translated_asm(code[tokens[index].end : call.close + 1])
    if after is None:
        return []
    begin, end = tokens[start].start, call.close + 1
    # The lines below must not move.
    after += "\n" * code[begin:end].count("\n")
    return [_Edit(begin, end, after, "PTX in C++")]


def _warp_call(code: str, token: Token, call: Call, wavefront: int) -> list[_Edit]:
    """Edits of a call of a warp's function."""
    name, wide = token.text, wavefront == 64
    if name in table.OLD_SHUFFLES:
        return _width(call, 2) if wide else []
    if name in table.BARE_LANE_SETS:
        return _lane_set(code, token, call) if wide else []
    masked = table.SHUFFLES | table.VOTES | table.REDUCTIONS | table.LANE_SETS
    if name not in masked or not call.arguments or _is_wide(code, call):
        return []
    edits = _mask(code, call, wide)
    if wide and name in table.SHUFFLES:
        edits += _width(call, 3)
    if wide and name in table.LANE_SETS:
        edits += _lane_set(code, token, call)
    return edits


def _is_wide(code: str, call: Call) -> bool:
    start, end = call.arguments[0]
    return bool(_WIDE.search(code[start:end]))


def _mask(code: str, call: Call, wide: bool) -> list[_Edit]:
    start, end = call.arguments[0]
    why = "HIP's masks have 64 bits" + ("; of this half of the wavefront" if wide else "")
    if _FULL.match(code[start:end]):
        full = "0xffffffffULL"
        return [_Edit(start, end, f"{full} << {_HALF}" if wide else full, why)]
    behind = f") << {_HALF}" if wide else ")"
    mask = code[start:end]
    told = (mask, f"(unsigned long long)(unsigned)({mask}{behind}")
    return [
        _Edit(start, start, "(unsigned long long)(unsigned)(", why, told=told),
        _Edit(end, end, behind, "", closing=True),
    ]


def _width(call: Call, without: int) -> list[_Edit]:
    """A width of 32 behind as many arguments as there are without one."""
    if len(call.arguments) != without:
        return []
    why = "a shuffle within 32 lanes, as in CUDA: HIP's default is the whole wavefront"
    return [_Edit(call.close, call.close, ", 32", why)]


def _lane_set(code: str, token: Token, call: Call) -> list[_Edit]:
    end = call.close + 1
    behind = f" >> {_HALF})"
    if code.startswith(behind, end):
        return []
    why = "a set of 64 lanes; the 32 of this half are taken"
    told = (f"{token.text}(…)", f"(unsigned)({token.text}(…){behind}")
    return [
        _Edit(token.start, token.start, "(unsigned)(", why, told=told),
        _Edit(end, end, behind, "", closing=True),
    ]


def _bounds(code: str, call: Call, wavefront: int) -> list[_Edit]:
    """The second argument: blocks of a multiprocessor → wavefronts of a SIMD."""
    if len(call.arguments) < 2:
        return []
    threads, blocks = (code[start:end] for start, end in call.arguments[:2])
    if _BOUNDS.search(blocks):
        return []
    # A compute unit (a work group processor of RDNA) has four SIMDs.
    unit = 4 * wavefront
    start = call.arguments[1][0]
    end = call.arguments[-1][1]
    after = f"(({threads}) * ({blocks}) + {unit - 1}) / {unit}"
    why = "HIP's second argument is wavefronts per SIMD, CUDA's blocks per multiprocessor"
    return [_Edit(start, end, after, why)]


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether it is CUDA's name, and not a member or a variable that is called so."""
    before = tokens[index - 1].text if index else ""
    if tokens[index].text == "cub":
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        return before == "namespace" or following == "::"
    arrow = before == ">" and index > 1 and tokens[index - 2].text == "-"
    return before != "." and not arrow


def _declares(tokens: Sequence[Token], index: int) -> bool:
    """Whether the name is being declared, as in a library's own stand-in for it."""
    before = tokens[index - 1] if index else None
    return before is not None and (
        before.text in ("int", "unsigned", "float", "T", "void", "auto") or "define" in before.text
    )


def _applied(code: str, edits: Sequence[_Edit], lost: Sequence[Lost]) -> Translation:
    ordered = sorted(
        enumerate(edits),
        key=lambda one: (one[1].start, not one[1].closing, -one[0] if one[1].closing else one[0]),
    )
    lines, pieces, changes, shifts = Lines(code), [], [], []
    at = column_shift = shifted_line = 0
    for _, edit in ordered:
        if edit.start < at:
            continue
        before = code[edit.start : edit.end]
        pieces += [code[at : edit.start], edit.text]
        at = edit.end
        line, column = lines.place(edit.start)
        if line != shifted_line:
            column_shift, shifted_line = 0, line
        width = len(edit.text)
        shifts.append((line, column + column_shift + width, width, len(before)))
        column_shift += width - len(before)
        if edit.why:
            told = edit.told or (before, edit.text.rstrip("\n"))
            changes.append(Change(line, column, *told, edit.why))
    pieces.append(code[at:])
    return Translation("".join(pieces), tuple(changes), tuple(lost), tuple(shifts))
