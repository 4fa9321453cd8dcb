"""What a layout block says: where code goes, how colours are routed, which names the host knows.

The builtins of a layout write it while the block runs; tile programs read it afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simulators.wafer.program import Route

from . import nodes
from .source import Span
from .tile import ColorConfig
from .types import Type
from .values import Known


@dataclass(frozen=True, eq=False)
class TileCode:
    """@set_tile_code of a PE."""

    file: str
    """As the evaluator resolved it."""
    params: Known | None
    """An anonymous struct of what is bound to the file's params."""
    span: Span


@dataclass(frozen=True, eq=False)
class ExportName:
    """@export_name."""

    name: str
    type: Type
    mutable: bool
    span: Span


@dataclass(frozen=True, eq=False)
class KnownRoute:
    """What a configuration of a colour came to the last time."""

    node: nodes.Expr
    """Held, so that its id stays its own."""
    value: Known
    route: Route


@dataclass(eq=False)
class Placement:
    """A program's layout in the making."""

    rectangle: tuple[int, int] = (0, 0)
    """Width and height; (0, 0) before @set_rectangle."""
    rectangle_span: Span | None = None
    tiles: dict[tuple[int, int], TileCode] = field(default_factory=dict)
    """By (x, y)."""
    colors: dict[tuple[int, int, int], ColorConfig] = field(default_factory=dict)
    """By (x, y, colour)."""
    names: dict[str, ExportName] = field(default_factory=dict)
    """In order: a symbol's id is its position."""
    routes: dict[tuple[int, int], KnownRoute] = field(default_factory=dict)
    """By the id of the configuration's node, and the colour."""
    streams: dict[tuple[int, int, int], bool] = field(default_factory=dict)
    """(colour, x, y) of the host's streams → whether they lead to it; x = y = -1: at every PE."""
    sharing: tuple[tuple[int, int], ...] = ()
    """The PEs whose tile program is being made."""
