"""Programs that consist of routes and queues only, for tests of the fabric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simulators.wafer.costs import Profile, ScalarCosts
from simulators.wafer.program import (
    COLORS,
    CodeClass,
    Place,
    Port,
    Program,
    Queue,
    Route,
    Stream,
)

NORTH, SOUTH, EAST, WEST, RAMP, HOST = (1 << port for port in Port)


def profile(
    hop: int = 2,
    input_depths: tuple[int, ...] = (8, 8, 4, 4, 4, 4, 4, 4),
    output_depths: tuple[int, ...] = (8,) * 8,
) -> Profile:
    """A profile whose fabric is as given and whose cores don't matter."""
    return Profile(
        name="fabric",
        clock_hz=1e9,
        hop=hop,
        scalar=ScalarCosts(1, 1, 1, 1, 1, 1, 1, 1, 1),
        simd={},
        setup={},
        input_depths=input_depths,
        output_depths=output_depths,
        router_depth=4,
        task_wake=1,
        banks=False,
    )


def code_class(queues: Sequence[Queue], name: str = "pe") -> CodeClass:
    """A class without code."""
    return CodeClass(
        name=name,
        code=np.zeros((0, 4), dtype=np.int32),
        places=np.zeros(0, dtype=np.int32),
        functions=(),
        tasks=(),
        operations=(),
        operation_places=(),
        dsr_configs=(),
        patterns=(),
        fifos=(),
        queues=tuple(queues),
        image=b"",
        regions=(),
        texts=(),
        registers=0,
    )


def fabric_program(
    size: tuple[int, int],
    routes: Mapping[tuple[int, int, int], Route],
    queues: Mapping[tuple[int, int], Sequence[Queue]],
    streams: Sequence[Stream] = (),
    arch: str = "wse3",
) -> Program:
    """A program from {(x, y, colour): route} and {(x, y): queues}."""
    width, height = size
    route_of = np.full((height, width, COLORS), -1, dtype=np.int32)
    class_of = np.zeros((height, width), dtype=np.int32)
    distinct: list[Route] = []
    classes = [code_class(())]
    for (x, y, color), route in routes.items():
        if route not in distinct:
            distinct.append(route)
        route_of[y, x, color] = distinct.index(route)
    for (x, y), some in queues.items():
        class_of[y, x] = len(classes)
        classes.append(code_class(some, f"pe_{x}_{y}"))
    return Program(
        arch=arch,
        width=width,
        height=height,
        fabric=(width + 7, height + 2),
        offset=(4, 1),
        classes=tuple(classes),
        class_of=class_of,
        routes=tuple(distinct),
        route_of=route_of,
        exports=(),
        streams=tuple(streams),
        places=(Place("layout.csl", 1, 1),),
        params={},
    )
