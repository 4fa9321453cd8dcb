"""What is wrong with what a kernel returned. From the particular to the general."""

from __future__ import annotations

import math
import re

from kernels.records import FailureKind

from .rules import Facts, LookUp, Rule


def _contract(
    name: str, pattern: str, explanation: str, suggestion: str, look_up: LookUp | None = None
) -> Rule:
    kinds = frozenset({FailureKind.CONTRACT})
    return Rule(name, kinds, pattern, explanation, suggestion, "", None, look_up)


def _same_dtype(facts: Facts) -> Facts | None:
    return {} if facts["got"] == facts["wanted"] else None


def _same_shape(facts: Facts) -> Facts | None:
    return {} if facts["got_shape"] == facts["shape_wanted"] else None


def _same_size(facts: Facts) -> Facts | None:
    shapes = [re.findall(r"\d+", str(facts[key])) for key in ("got_shape", "shape_wanted")]
    got, wanted = (math.prod(map(int, shape)) for shape in shapes)
    return _same_dtype(facts) if got == wanted and shapes[0] != shapes[1] else None


def _longer(facts: Facts) -> Facts | None:
    got, wanted = (str(facts[key]).strip("(),") for key in ("got_shape", "shape_wanted"))
    if not (got.isdigit() and wanted.isdigit() and int(got) > int(wanted)):
        return None
    return {"more": int(got) - int(wanted)}


_FORMS = (
    r"(?P<function>\w+) returned (?P<got>\w+) of shape (?P<got_shape>\([^)]*\))(?P<which>[^;]*); "
    r"(?P<wanted>\w+) of shape (?P<shape_wanted>\([^)]*\))"
)

RULES: tuple[Rule, ...] = (
    _contract(
        "missing-function",
        r"defines no function `(?P<name>\w+)`",
        "The task calls functions by name, and kernel.py has no {name} at its top level.",
        "Define compress and decompress for codecs, run for stages: functions of kernel.py itself, "
        "not methods of a class.",
    ),
    _contract(
        "stage-scalar",
        r"run returned a tuple whose item (?P<item>\d+) \(`step`\) is (?P<got>float|int)\b",
        "`step` is a Python {got}, and a NumPy scalar is needed, which is an array of 0 "
        "dimensions.",
        "Return np.float32(step).",
    ),
    _contract(
        "stage-item",
        r"run returned a tuple whose item (?P<item>\d+)(?P<which>[^;]*) is (?P<got>\w+)",
        "run returned several things, and item {item}{which} is a {got}, not an array.",
        "Return the arrays of the task's page, in its order, and nothing else.",
    ),
    _contract(
        "tuple-item",
        r"(?P<function>\w+) returned a tuple whose item (?P<item>\d+) is (?P<got>\w+)",
        "{function} returned several things, and item {item} is a {got}, not an array.",
        "compress returns the stream alone: sizes, shape and settings go into its bytes; "
        "decompress the array alone.",
    ),
    _contract(
        "returned-nothing",
        r"(?P<function>\w+) returned NoneType",
        "{function} returned None: no return statement was reached, or the result was only written "
        "into an argument, which is a private copy.",
        "Return the array.",
    ),
    _contract(
        "returned-bytes",
        r"(?P<function>\w+) returned (?P<got>bytes|bytearray|memoryview)",
        "{function} returned a {got}, and an array is needed.",
        "np.frombuffer(result, np.uint8) for a stream; for data also .view(dtype).reshape(shape).",
    ),
    _contract(
        "number-for-array",
        r"(?P<function>run|decompress) returned (?P<got>int|float|bool);",
        "{function} returned one number, and an array is needed.",
        "Return the array that was computed, not its size or sum.",
    ),
    _contract(
        "returned-number",
        r"(?P<function>\w+) returned ((int|float|bool);|\w+ of shape \(\); a 1-D)",
        "{function} returned one number, perhaps a size. The stream itself is needed: its length "
        "is the size that counts.",
        "Return the filled part of the buffer: out[:size].",
    ),
    _contract(
        "returned-list",
        r"(?P<function>\w+) returned (?P<got>list|List|tuple|dict|Dict|_?[Gg]enerator|str|set)\b",
        "{function} returned a {got}, and a NumPy array is needed.",
        "Build one array, np.empty(size, dtype), and return it; join pieces with np.concatenate.",
    ),
    _contract(
        "array-type",
        r"returned an array of (?P<got>[^;]+);",
        "Arrays of {got} can't be returned.",
        "Convert with .astype: bools to np.uint8, big-endian to the native order, records and "
        "objects to plain numbers.",
    ),
    _contract(
        "too-many-dimensions",
        r"returned \d+ dimensions|returned \d+ arrays; at most",
        "More dimensions, or more arrays, than any task has were returned.",
        "Return what the task's page says.",
    ),
    _contract(
        "stream-dimensions",
        r"\bcompress returned uint8 of shape (?P<got>\([^)]*\)); a 1-D",
        "The stream has shape {got}; it must be 1-D.",
        "Return stream.reshape(-1).",
    ),
    _contract(
        "stream-type",
        r"\bcompress returned (?P<got>\w+) of shape .*; a 1-D",
        "The stream is an array of {got}; it must be bytes.",
        "Reinterpret, do not convert: words.reshape(-1).view(np.uint8); .astype(np.uint8) would "
        "lose bits.",
    ),
    _contract(
        "stream-count",
        r"\bcompress (returned \d+ arrays|must return one array)",
        "compress returned several arrays; the stream is one.",
        "Join them: np.concatenate((header, codes, payload)), each viewed as np.uint8.",
    ),
    _contract(
        "result-too-large",
        r"at most \d+ fit",
        "The result is larger than its place (describe_arch: output_room): streams may grow, but "
        "not to more than about twice their input.",
        "Return only the part that was written, out[:size]; store what does not compress raw.",
    ),
    _contract(
        "decoded-dtype",
        r"(?=.*decompress returned)" + _FORMS,
        "decompress returned {got}, and the original is {wanted}: NumPy computes with float64 as "
        "soon as one operand is.",
        "Return out.astype(dtype), with the dtype that decompress was given, and check the bound "
        "on what that gives.",
        _same_shape,
    ),
    _contract(
        "decoded-shape",
        r"(?=.*decompress returned)" + _FORMS,
        "decompress returned shape {got_shape}, and the original has {shape_wanted}.",
        "Return out[:n].reshape(shape), n the product of shape; shape may hold 0, or be ().",
    ),
    _contract(
        "output-count",
        r"(?P<function>\w+) returned (?P<got>\d+) arrays, not (?P<wanted>\d+)(?P<names>[^.]*)",
        "{function} returned {got} array(s), and the task asks for {wanted}{names}.",
        "Return exactly that many, as a tuple, in the order of the task's page.",
    ),
    _contract(
        "output-order",
        r"in another order: (?P<got>\([^)]*\)); (?P<wanted>\([^)]*\))",
        "The outputs are returned in another order: {got} instead of {wanted}.",
        "return {wanted}, as on the task's page.",
    ),
    _contract(
        "output-dtype",
        r"(?=.*run returned)" + _FORMS,
        "run returned {got}{which} where {wanted} is needed: sums, differences and index "
        "arithmetic of NumPy and numba widen to 64 bits.",
        "Allocate np.empty(n, np.{wanted}) and store into it, or end with .astype(np.{wanted}); "
        "np.cumsum and np.sum take dtype=np.{wanted}.",
        _same_shape,
    ),
    _contract(
        "counts-shape",
        r"(?=.*as `counts`)" + _FORMS,
        "`counts` has shape {got_shape}, and {shape_wanted} is needed: nbins, whatever the codes.",
        "Codes >= nbins are ignored: np.zeros(nbins, np.uint32), or "
        "np.bincount(codes, minlength=nbins)[:nbins].",
        _same_dtype,
    ),
    _contract(
        "output-longer",
        r"(?=.*run returned)" + _FORMS,
        "run returned {more} element(s) too many{which}: {got_shape} instead of {shape_wanted}.",
        "Cut the buffer to what was written; check how the last block or chunk is rounded up.",
        _longer,
    ),
    _contract(
        "output-reshaped",
        r"(?=.*run returned)" + _FORMS,
        "run returned shape {got_shape}{which}, and {shape_wanted} is needed, which has as many "
        "elements.",
        "Return out.reshape{shape_wanted}, or the shape of the input.",
        _same_size,
    ),
    _contract(
        "offsets-shape",
        r"(?=.*as `offsets`)" + _FORMS,
        "`offsets` has shape {got_shape}, and {shape_wanted} is needed: one more than there are "
        "blocks.",
        "offsets[0] = 0, and offsets[b + 1] = offsets[b] + sizes[b]: the total is the last.",
        _same_dtype,
    ),
    _contract(
        "words-shape",
        r"(?=.*as `words`)" + _FORMS,
        "`words` has shape {got_shape}, and {shape_wanted} is needed.",
        "bitpack: rate words per block, of the last, shorter block too. huffman-encode: every "
        "chunk takes (bits + 31) // 32 words of its own, the last included.",
        _same_dtype,
    ),
    _contract(
        "output-shape",
        r"(?=.*run returned)" + _FORMS,
        "run returned shape {got_shape}{which}, and {shape_wanted} is needed.",
        "The page gives the shape; numbers of blocks and of chunks are rounded up: "
        "(n + size - 1) // size.",
        _same_dtype,
    ),
    _contract(
        "result-form",
        "",
        "What the kernel returned has another type, shape or dtype than the task's page says.",
        "Reshape to the shape given and cast to the dtype given before returning.",
    ),
)
