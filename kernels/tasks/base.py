"""What a task is: a codec or a stage, its functions, its golden answer, the page agents read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels.records import Arg, Array

Inputs = tuple[Arg, ...]
Outputs = tuple[Array, ...]


def nbytes_of(values: Inputs) -> int:
    """Bytes of all arrays among them."""
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


@dataclass(frozen=True)
class StreamFormat:
    """A stream with a written specification: the golden encoder and decoder."""

    name: str
    encode: Callable[[Array, float], Array]
    """(data, abs_bound) → 1-D uint8."""
    decode: Callable[[Array, tuple[int, ...], np.dtype[np.generic]], Array]
    """(stream, shape, dtype) → array; raises StreamError for an illegal stream."""


@dataclass(frozen=True)
class StageCase:
    """Inputs of a stage that a field would not produce."""

    name: str
    inputs: tuple[Arg, ...]


@dataclass(frozen=True)
class Ruling:
    """What one output of a stage is held against."""

    wanted: Array
    got: Array
    """Same shape and dtype as `wanted`."""
    abs_bound: float = 0.0
    """0 asks for equality."""
    problem: str = ""
    """A broken rule that no single element shows; with it the stage fails whatever `got` is."""
    name: str = ""
    """What it is about: an output, or what is made of several."""


@dataclass(frozen=True)
class CodecTask:
    """compress and decompress, judged by the bound, the size and the speed."""

    name: str
    summary: str
    page: str
    """Markdown."""
    rung: int
    """Where a newcomer climbs to it: 1 stages in 1-D, 2 in 2-D, 3 in 3-D, 4 codecs."""
    stream_format: StreamFormat | None
    """None if any stream will do."""

    @property
    def functions(self) -> tuple[str, ...]:
        """What kernel.py must define."""
        return ("compress", "decompress")

    @property
    def signature(self) -> str:
        """Those functions, as Python."""
        return (
            "compress(data, abs_bound) -> 1-D uint8 array\n"
            "decompress(stream, shape, dtype) -> array"
        )


@dataclass(frozen=True)
class StageTask:
    """One step of a codec, judged by equality with the golden answer and by speed."""

    name: str
    summary: str
    page: str
    """Markdown."""
    rung: int
    """As in CodecTask."""
    arguments: str
    """Its inputs and outputs, as the signature names them."""
    outputs: tuple[str, ...]
    """Names of the outputs, in order, as on the page."""
    inputs: Callable[[Array, float], tuple[Arg, ...]]
    """(field data, abs_bound) → inputs, by golden quantisation."""
    golden: Callable[..., tuple[Array, ...]]
    """Inputs → the only right outputs."""
    edge_cases: Callable[[], tuple[StageCase, ...]]
    judge: Callable[[Inputs, Outputs, Outputs], tuple[Ruling, ...]] | None = None
    """(inputs, golden outputs, outputs of the same form) → rulings; None asks for equality."""
    bytes_read: Callable[[Inputs], int] = nbytes_of
    """Bytes of the inputs that no kernel can do without: what limits its speed."""
    elementwise: bool = False
    """Whether outputs of the first input's shape belong to it element by element."""
    bit_fields: frozenset[str] = frozenset()
    """Outputs whose words are packed bits: they are shown in hexadecimal."""

    def rulings(self, inputs: Inputs, golden: Outputs, outputs: Outputs) -> tuple[Ruling, ...]:
        """What decides whether `outputs`, which have the form of `golden`, are right."""
        if self.judge is not None:
            return self.judge(inputs, golden, outputs)
        named = zip(self.outputs, golden, outputs, strict=True)
        return tuple(Ruling(want, got, name=name) for name, want, got in named)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in order."""
        return tuple(re.findall(r"(\w+): ", self.arguments.partition("->")[0]))

    @property
    def functions(self) -> tuple[str, ...]:
        """What kernel.py must define."""
        return ("run",)

    @property
    def signature(self) -> str:
        """That function, as Python."""
        return f"run{self.arguments}"


Task = CodecTask | StageTask
