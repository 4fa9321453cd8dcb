"""What is known while compiling: values with their types.

`Known.data` by type: integers, enums, colours, queues, ids, directions: int; floats: float, rounded
to the type; bool; void: None; comptime_string: bytes; type: `types.Type`; arrays: a flat, read-only
numpy array (int64, uint64, float64 or bool) of numbers, a tuple of data otherwise; structs and
tuples: a tuple of data in the order of the fields (a union: `Active`); pointers: `Address`;
functions and tasks: `FunctionValue`; modules: their instance; ranges: (start, stop, step); DSDs:
`Dsd`; DSRs: `Dsr`; FIFOs: `FifoValue`.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulators.wafer.dsd import DsdKind

from . import nodes
from .types import Type

DIRECTIONS = ("NORTH", "SOUTH", "EAST", "WEST", "RAMP")
"""In the order of `simulators.wafer.program.Port`."""


@dataclass(frozen=True, eq=False)
class Known:
    """A value that is known."""

    type: Type
    data: object

    def __repr__(self) -> str:
        """For debugging."""
        return f"Known({self.type}, {self.data!r})"


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable or constant in memory: of a module, or a local one that needs an address."""

    name: str
    """Unique within a tile program: the instance's path and its name."""
    type: Type
    initial: object
    """Data of its initial value; None for one of zeros."""
    mutable: bool
    node: nodes.Node
    alignment: int = 0
    """In bytes, if asked for."""


@dataclass(frozen=True)
class Address:
    """A pointer's value: a variable and how far into it."""

    variable: Variable
    offset: int = 0
    """In bytes."""


@dataclass(frozen=True)
class Absolute:
    """A pointer's value made of a number."""

    address: int
    """In bytes."""


@dataclass(frozen=True, eq=False)
class FunctionValue:
    """A function or task of an instance of a module. Compared by identity: one per declaration."""

    instance: object
    """The analysis's record of the instance."""
    path: str
    """Of the instance and the name, for messages and keys."""
    node: nodes.FunctionDecl


@dataclass(frozen=True)
class Dsd:
    """A DSD whose fields are all known."""

    kind: DsdKind
    base: Address | Absolute | None = None
    """Of memory: the first element, any offset included."""
    extents: tuple[int, ...] = (0,)
    """One, but for mem4d: outermost first."""
    strides: tuple[int, ...] = (1,)
    """In elements, as the extents."""
    wide: bool = False
    """32-bit elements."""
    index: int = 0
    """wavelet_index_offset; of a circular buffer the wraparound."""
    queue: int = -1
    color: int = -1
    options: int = 0
    """`FabricOption` bits."""
    element: Type | None = None
    """Of the array it was made for."""
    simd: int = -1
    """simd_mode of a fabric DSD, as `dsd.Operation.simd`."""


@dataclass(frozen=True)
class Dsr:
    """A data structure register."""

    kind: str
    """`dsr_dest`, …"""
    number: int


@dataclass(frozen=True, eq=False)
class FifoValue:
    """A FIFO of this tile program."""

    number: int
    element: Type


@dataclass(frozen=True)
class Active:
    """The variant that a union holds."""

    field: int
    data: object
