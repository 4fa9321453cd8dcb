"""The options of `cslc`, as the vendor's: `--opt=value` and `--opt value`, some repeatable."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from toolchains.csl import types
from toolchains.csl.dialects import DIALECTS
from toolchains.csl.evaluation import Options

_HALVES = {"f16": types.F16, "fp16": types.F16, "bf16": types.BF16, "cb16": types.CB16}
_FORMATS = {"ieee": "f16", "cbfloat": "cb16", "bfloat": "bf16"}


@dataclass(frozen=True)
class Wish:
    """What is asked of the compiler."""

    main: Path
    out: Path
    options: Options
    """In the first of `dialects`."""
    dialects: tuple[str, ...] = DIALECTS
    """That given, or those to be tried."""
    verbose: bool = False
    json: bool = False


class OptionsError(Exception):
    """Options that can't be understood; the message is for the user."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise OptionsError(message)


def parse(arguments: Sequence[str]) -> Wish:
    """Raises OptionsError; `--help` prints and exits."""
    given = _parser().parse_args(arguments)
    dialects = (given.sdk_dialect,) if given.sdk_dialect else DIALECTS
    options = Options(
        arch=given.arch,
        dialect=dialects[0],
        fp16=_HALVES[given.fp16_format],
        fabric=given.fabric_dims,
        offset=given.fabric_offsets,
        memcpy=given.memcpy,
        channels=given.channels,
        params=tuple(pair for group in given.params for pair in group),
        colors=tuple((name, _color(value)) for group in given.colors for name, value in group),
        **({} if given.max_inlined_iterations is None else _inlined(given.max_inlined_iterations)),
    )
    out = Path(given.output)
    return Wish(Path(given.file), out, options, dialects, given.verbose, given.json)


def _inlined(count: int) -> dict[str, int]:
    return {"max_inlined_iterations": count}


def _parser() -> _Parser:
    parser = _Parser(
        prog="sz-mcp cslc",
        description="Compile a CSL program for the simulated wafer.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", help="the file with the layout block")
    add("-o", dest="output", metavar="DIR", default="out", help="folder to write; default out")
    add("--arch", choices=("wse2", "wse3"), default="wse3", help="default wse3")
    add("--fabric-dims", type=_pair, default=(0, 0), metavar="W,H", help="size of the fabric")
    add("--fabric-offsets", type=_pair, default=(4, 1), metavar="X,Y", help="of the program in it")
    add("--params", type=_named, action="append", default=[], metavar="NAME:VALUE,...")
    add("--colors", type=_named, action="append", default=[], metavar="NAME:NUMBER,...")
    add("--memcpy", action="store_true", help="the host copies and launches")
    add("--channels", type=int, default=1, help="of the host's connection; no effect here")
    add("--fp16-format", type=_half, default="f16", help="of @fp16(): f16, bf16 or cb16")
    add("--max-inlined-iterations", type=int, help="of `inline for`")
    add("--sdk-dialect", choices=DIALECTS, help="of the language; else that which has no errors")
    add("--json", action="store_true", help="print diagnostics as JSON")
    add("--verbose", action="store_true", help="print what every PE's memory holds")
    for name in ("--width-west-buf", "--width-east-buf", "--max-parallelism"):
        add(name, type=int, default=0, help="no effect here")
    for name in ("--link-section-start-address-bytes", "--import-path"):
        add(name, help="no effect here")
    for name in ("--out-routes", "--dump-dsr-alloc-graph", "--disable-simd"):
        add(name, action="store_true", help="no effect here")
    return parser


def _pair(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"two numbers with a comma between are needed, not {text}")
    return int(parts[0]), int(parts[1])


def _named(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if not colon or not name.strip():
            raise argparse.ArgumentTypeError(f"NAME:VALUE is needed, not {part!r}")
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)


def _half(text: str) -> str:
    name = _FORMATS.get(text.lower(), text.lower())
    if name not in _HALVES:
        raise argparse.ArgumentTypeError(f"f16, bf16 or cb16, not {text}")
    return name


def _color(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise OptionsError(f"argument --colors: a colour is a number, not {text}") from None
