"""What the machine runs, and all that a compiler must make: code classes, their memory, routes.

PEs that share code and initial memory are one `CodeClass`; where a PE is and what it has in memory,
registers and router is its own. Positions are (x, y), x to the east, from the north-west corner of
the program's rectangle. Written to a folder as JSON and npz by `program_files.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
import numpy.typing as npt

from .dsd import DsrConfig, Operation

PE_BYTES = 49152
"""Memory of a PE."""
COLORS = 24
PORTS = 5


class Port(IntEnum):
    """Ports of a router, as numbers and (1 << port) as bits of masks."""

    NORTH = 0
    SOUTH = 1
    EAST = 2
    WEST = 3
    RAMP = 4
    HOST = 5
    """Not a port of hardware: where the host's streams enter and leave."""


@dataclass(frozen=True)
class Place:
    """Where in the source something came from."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Function:
    """A piece of code that can be called."""

    name: str
    entry: int
    """Index of its first instruction."""
    registers: int
    """That its frame needs, before the frames of what it calls."""


class TaskKind(StrEnum):
    """How a task starts."""

    LOCAL = "local"
    DATA = "data"
    CONTROL = "control"


@dataclass(frozen=True)
class Task:
    """A task bound to an id."""

    kind: TaskKind
    id: int
    """WSE-2 data: the colour; WSE-3 data: the input queue."""
    function: int
    argument_bits: tuple[int, ...] = ()
    """Of a wavelet's 32, from the least significant, in the order of the arguments."""
    argument_scalars: tuple[int, ...] = ()
    """`opcodes.Scalar` of each."""


class FifoAction(StrEnum):
    """What an operation does when a FIFO is empty or full."""

    TEST_OR_SUSPEND = "test_or_suspend"
    TERMINATE = "terminate"
    SUSPEND = "suspend"
    FAULT = "fault"


@dataclass(frozen=True)
class Fifo:
    """A ring of elements in memory."""

    name: str
    address: int
    """In bytes."""
    elements: int
    element_bytes: int
    activate_push: int = -1
    activate_pop: int = -1
    empty_action: FifoAction = FifoAction.TEST_OR_SUSPEND
    full_action: FifoAction = FifoAction.TEST_OR_SUSPEND


@dataclass(frozen=True)
class Queue:
    """An input or output queue and the colour it is for."""

    output: bool
    id: int
    color: int
    """-1: whichever the operation names (output queues of WSE-2)."""
    priority: int = 0
    control_table: int = -1


@dataclass(frozen=True)
class Region:
    """A named range of a PE's memory; regions don't overlap."""

    name: str
    address: int
    bytes: int
    type: str = ""
    """As CSL writes it."""
    place: Place | None = None


@dataclass(frozen=True)
class Pattern:
    """Extents and strides of a mem4d DSD, outermost first."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""


@dataclass(frozen=True)
class CodeClass:
    """Code and initial state shared by PEs."""

    name: str
    code: npt.NDArray[np.int32]
    """Instructions, shape (n, 4)."""
    places: npt.NDArray[np.int32]
    """Per instruction, index into `Program.places`; -1: none."""
    functions: tuple[Function, ...]
    tasks: tuple[Task, ...]
    operations: tuple[Operation, ...]
    operation_places: tuple[int, ...]
    dsr_configs: tuple[DsrConfig, ...]
    patterns: tuple[Pattern, ...]
    fifos: tuple[Fifo, ...]
    queues: tuple[Queue, ...]
    image: bytes
    """Initial memory from address 0 to the end of the last region."""
    regions: tuple[Region, ...]
    texts: tuple[bytes, ...]
    registers: int
    """Of all frames at once, at most."""
    active: tuple[int, ...] = ()
    """Task ids that start activated."""
    blocked: tuple[int, ...] = ()
    """Task ids that start blocked."""
    teardown_handlers: Mapping[int, int] | None = None
    """Colour → function."""
    empty_handlers: Mapping[int, int] | None = None
    """Output queue → function; input queues are numbered + 16."""
    exported_functions: Mapping[str, int] | None = None
    """Name for the host → function."""
    exported_variables: Mapping[str, int] | None = None
    """Name for the host → address of the pointer or scalar that was exported."""
    control_table: tuple[int, int] | None = None
    """WSE-3: instructions per entry, stride."""


class PopMode(IntEnum):
    """What a switch does with a control wavelet's command."""

    NO_POP = 0
    ALWAYS_POP = 1
    POP_ON_ADVANCE = 2
    POP_ON_ADVANCE_NOP = 3


class FilterKind(IntEnum):
    """How wavelets to the RAMP are chosen."""

    NONE = 0
    COUNTER = 1
    SPARSE_COUNTER = 2
    RANGE = 3


@dataclass(frozen=True)
class Switch:
    """A position of a switch: what it replaces of the route before it; None leaves it."""

    receive: int | None = None
    """A mask of ports."""
    send: int | None = None
    invalid: bool = False


@dataclass(frozen=True)
class Filter:
    """Which wavelets a router passes up the RAMP."""

    kind: FilterKind
    count_data: bool = False
    count_control: bool = False
    init_counter: int = 0
    limit1: int = 0
    limit2: int = 0
    max_counter: int = 0
    filter_control: bool = False
    min_index: int = 0
    max_index: int = 0


@dataclass(frozen=True)
class Route:
    """What one router does with one colour."""

    receive: int
    """Mask of ports it accepts from."""
    send: int
    """Mask of ports it sends to."""
    positions: tuple[Switch, ...] = ()
    """pos1, pos2, pos3."""
    position: int = 0
    """At the start; 0 is the route itself."""
    ring: bool = False
    pop: PopMode = PopMode.NO_POP
    filter: Filter | None = None
    teardown: bool = False
    swap_x: int = -1
    """color_swap_x: the colour as which wavelets leave to east or west; -1: their own."""
    swap_y: int = -1
    place: int = -1


class ExportKind(StrEnum):
    """What the host knows by a name."""

    FUNCTION = "function"
    POINTER = "pointer"
    """A variable that holds an address; copies go to where it points."""
    SCALAR = "scalar"


@dataclass(frozen=True)
class Export:
    """A name that the host may use."""

    id: int
    name: str
    kind: ExportKind
    type: str
    """As CSL writes it: `[*]f32`, `fn(f32)void`."""
    element_bytes: int = 0
    """Of what a pointer points to."""
    argument_scalars: tuple[int, ...] = ()
    mutable: bool = True


@dataclass(frozen=True)
class Stream:
    """A colour by which the host sends or receives wavelets while the program runs."""

    color: int
    to_host: bool
    x: int = -1
    """-1: at every PE of the rectangle; otherwise at this one only."""
    y: int = -1
    name: str = ""


@dataclass(frozen=True)
class Program:
    """A compiled program for a rectangle of PEs."""

    arch: str
    """wse2 or wse3."""
    width: int
    height: int
    fabric: tuple[int, int]
    """Size of the fabric it is placed on."""
    offset: tuple[int, int]
    classes: tuple[CodeClass, ...]
    class_of: npt.NDArray[np.int32]
    """Shape (height, width)."""
    routes: tuple[Route, ...]
    """Distinct ones."""
    route_of: npt.NDArray[np.int32]
    """Shape (height, width, 24): index into `routes`, -1: the colour is not configured there."""
    exports: tuple[Export, ...]
    streams: tuple[Stream, ...]
    places: tuple[Place, ...]
    params: Mapping[str, str]
    """Of the compilation, as out.json shows them."""
    dialect: str = "1.4"
    channels: int = 1
    memcpy: bool = True
