"""Queues that code uses and nothing gives a colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulators.wafer.program import TaskKind
from toolchains.csl.evaluation import Options
from toolchains.csl.source import Diagnostic, Severity, Span
from toolchains.csl.tile import Tile

from .operands import Fabric
from .wafer import Traffic

_MEMCPY = (0, 1)
"""Queues of WSE-3 that are memcpy's."""


Queues = frozenset[tuple[bool, int]]
"""Whether they are for output, and their numbers."""


def queues_of(tiles: Sequence[Tile]) -> dict[str, Queues]:
    """The queues that the programs of each file initialise, for any PE.

    Published programs initialise those of an edge only where it is, and choose at run time.
    """
    found: dict[str, set[tuple[bool, int]]] = {}
    for tile in tiles:
        found.setdefault(tile.file, set()).update((one.output, one.id) for one in tile.queues)
    return {file: frozenset(queues) for file, queues in found.items()}


def check_queues(traffic: Traffic, how: Options, known: Queues) -> Iterator[Diagnostic]:
    """Operations and data tasks whose queue gets no colour, in no program of the file."""
    tile = traffic.tile
    for stream in traffic.streams:
        for one in stream.operands:
            if _needs(one, how) and (one.output, one.queue) not in known:
                yield _missing(tile, one.output, one.queue, stream.node.span, stream.name)
    if how.arch == "wse3":
        for binding in tile.bindings:
            lacks = binding.kind is TaskKind.DATA and (False, binding.id) not in known
            if lacks and not (how.memcpy and binding.id in _MEMCPY):
                name = f"the data task `{binding.value.node.name}`"
                yield _missing(tile, False, binding.id, binding.span, name)


def _needs(one: Fabric, how: Options) -> bool:
    """An output queue of WSE-2 takes its colour from the DSD."""
    return how.arch == "wse3" or not one.output


def _missing(tile: Tile, output: bool, queue: int, span: Span, user: str) -> Diagnostic:
    kind = "output_queue" if output else "input_queue"
    message = f"{kind} {queue} is not initialised, so {user} never gets or gives a wavelet"
    others = sorted(one.id for one in tile.queues if one.output is output)
    hint = f"@initialize_queue(@get_{kind}({queue}), .{{ .color = … }}) in a comptime block"
    if others:
        hint += f"; initialised here: {', '.join(map(str, others))}"
    return Diagnostic(Severity.WARNING, "queue-not-initialised", message, span, hint)
