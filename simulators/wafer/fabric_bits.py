"""Bits of a mask, as the processor counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Typed = tuple[Any, Callable[..., Any]]


def _lowest(_typing: Any, _mask: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), emit


def _count_bits(_typing: Any, _mask: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), emit


lowest = cast("Callable[[int], int]", intrinsic(_lowest))
"""Index of the lowest bit of a mask that isn't 0; only in compiled functions."""
count_bits = cast("Callable[[int], int]", intrinsic(_count_bits))
"""How many bits of a mask are set; only in compiled functions."""
