"""What of a CUDA source has no counterpart on AMD, or means something else there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import hipify_table as table
from .hipify_ptx import first_instruction, translated_asm
from .hipify_tokens import Lines, Token, call_at, device_bodies

_LISTED = 8
"""Lines that one message names."""
_MASK = re.compile(r"0[xX][fF]{8}[uU]?$")
_WARP_CONSTANTS = (
    ("%", re.compile(r"32u?$"), "% 32"),
    ("/", re.compile(r"32u?$"), "/ 32"),
    ("&", re.compile(r"(31|0[xX]0*1[fF])u?$"), "& 31"),
    (">", re.compile(r"5u?$"), ">> 5"),
)
"""The mark before a number, the number, and how that is spelt in a message."""
_GROUP_CALLS = frozenset(
    ("reduce", "inclusive_scan", "exclusive_scan", "memcpy_async", "labeled_partition", "wait")
)


@dataclass(frozen=True)
class Lost:
    """One thing of CUDA's that did not come along."""

    line: int
    column: int
    """1-based, in the CUDA text."""
    kind: str
    """dynamic parallelism | warp size | PTX | textures | no counterpart | unknown"""
    name: str
    message: str


def warnings_of(code: str, tokens: Sequence[Token], wavefront: int) -> Iterator[Lost]:
    """All of them, by kind."""
    lines = Lines(code)
    bodies = device_bodies(tokens)
    for index, token in enumerate(tokens):
        found = _one(code, tokens, index)
        if found is not None:
            kind, message = found
            yield Lost(*lines.place(token.start), kind, token.text.strip(), message)
    yield from _launches(tokens, bodies, lines)
    if wavefront != 32:
        yield from _warp_size(tokens, bodies, lines)


def _one(code: str, tokens: Sequence[Token], index: int) -> tuple[str, str] | None:
    """Kind and message for the token at `index`."""
    token = tokens[index]
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if token.kind == "include":
        return _header(token.text)
    if token.kind != "name":
        return None
    if token.text in ("asm", "__asm__"):
        return _asm(code, tokens, index)
    if token.text in table.WITHOUT:
        instead = table.WITHOUT[token.text]
        kind = "textures" if "textures" in instead or "surfaces" in instead else "no counterpart"
        return kind, f"HIP has no {token.text}: {instead}"
    return _word(tokens, index, following)


def _word(tokens: Sequence[Token], index: int, following: str) -> tuple[str, str] | None:
    """Of names that mean something of CUDA's by what stands beside them."""
    token = tokens[index]
    if token.text == "texture" and following == "<":
        return "textures", "texture references are gone, and CDNA has no textures: read memory"
    if token.text == "cuda" and following == "::":
        return "no counterpart", (
            "HIP has no libcu++: use __hip_atomic_load, __hip_atomic_store, "
            "__hip_atomic_fetch_add with a scope, and __syncthreads()"
        )
    if token.text in _GROUP_CALLS and _in_groups(tokens, index):
        return "no counterpart", (
            f"HIP's cooperative groups have no {token.text}: write it with shfl of the tile"
        )
    if token.text == "__CUDA_ARCH__" and following in "<>=!":
        return "no counterpart", (
            "__CUDA_ARCH__ is compared with a number: HIP has no such number; test for "
            "__gfx942__, __gfx90a__, … or for what is needed"
        )
    return None


def _header(text: str) -> tuple[str, str] | None:
    name = re.sub(r'.*[<"]([^>"]*)[>"]', r"\1", text)
    instead = next(
        (to for start, to in table.HEADERS_WITHOUT.items() if name.startswith(start)), ""
    )
    return ("no counterpart", f"HIP has no <{name}>: {instead}") if instead else None


def _asm(code: str, tokens: Sequence[Token], index: int) -> tuple[str, str] | None:
    while index + 1 < len(tokens) and tokens[index + 1].text in ("volatile", "__volatile__"):
        index += 1
    call = call_at(code, tokens, index)
    if call is None:
        return None
    text = code[tokens[index].end : call.close + 1]
    if translated_asm(text) is not None:
        return None
    instruction = first_instruction(text)
    return "PTX", f"inline PTX ({instruction}) is NVIDIA's: write it in C++ or with HIP's functions"


def _in_groups(tokens: Sequence[Token], index: int) -> bool:
    names = ("cg", "cooperative_groups")
    return index > 1 and tokens[index - 1].text == "::" and tokens[index - 2].text in names


def _launches(
    tokens: Sequence[Token], bodies: Sequence[tuple[int, int]], lines: Lines
) -> Iterator[Lost]:
    for start, end in bodies:
        for token in tokens[start:end]:
            if token.text == "<<<":
                yield Lost(
                    *lines.place(token.start), "dynamic parallelism", "<<<",
                    "a kernel launches a kernel: HIP has no dynamic parallelism; launch it from "
                    "the host, or loop over the work in this kernel",
                )  # fmt: skip


def _warp_size(
    tokens: Sequence[Token], bodies: Sequence[tuple[int, int]], lines: Lines
) -> Iterator[Lost]:
    """One message per way to spell a warp's size."""
    found: dict[str, list[tuple[int, int]]] = {}
    for start, end in bodies:
        for index in range(start, end):
            spelt = _spelt(tokens, index)
            if spelt:
                found.setdefault(spelt, []).append(lines.place(tokens[index].start))
    for spelt, places in found.items():
        numbers = list(dict.fromkeys(str(line) for line, _ in places))
        more = ", …" if len(numbers) > _LISTED else ""
        where = f"line{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:_LISTED])}{more}"
        yield Lost(*places[0], "warp size", spelt, f"{_meaning(spelt)} ({where})")


def _spelt(tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if token.kind == "name":
        return "warpSize" if token.text == "warpSize" else ""
    if token.kind != "number" or index == 0:
        return ""
    if _MASK.match(token.text):
        return "" if _is_mask(tokens, index) else token.text
    before = tokens[index - 1].text
    if before == "=" and index > 1:
        before = tokens[index - 2].text
    same = (
        spelt
        for mark, number, spelt in _WARP_CONSTANTS
        if before == mark and number.match(token.text)
    )
    return next(same, "")


def _is_mask(tokens: Sequence[Token], index: int) -> bool:
    """Whether it is the first argument of a shuffle or vote."""
    called = tokens[index - 2].text if index > 1 else ""
    return tokens[index - 1].text == "(" and called.endswith("_sync")


def _meaning(spelt: str) -> str:
    if spelt == "warpSize":
        return (
            "warpSize is 64 here: with it and 32 mixed, indices and loops are wrong; keep to one "
            "of them"
        )
    if _MASK.match(spelt):
        return (
            f"{spelt} names 32 lanes of a wavefront of 64: where it is a mask of a shuffle or vote "
            "it was widened; elsewhere check it"
        )
    return (
        f"`{spelt}` supposes warps of 32: shuffles, votes and masks were kept to 32 lanes, so it "
        "stays right for them; a full wavefront of 64 would need half the steps"
    )
