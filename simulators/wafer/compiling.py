"""How the machine's functions are compiled, and what numba has no word for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
Typed = tuple[Any, Callable[..., Any]]

_options: dict[str, Any] = {"cache": True, "_nrt": False}
compiled = cast("Callable[[F], F]", njit(**_options))
"""Kept between processes. Nothing here makes arrays, and counting references to those that are
passed on would take a third of the time."""


def _prefetch(_typing: Any, array: Any, index: Any) -> Typed:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(data, [arguments[1]])
        pointer = builder.bitcast(place, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), word, word, word])
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(function, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.none(array, index), emit


prefetch = cast("Callable[[Any, int], None]", intrinsic(_prefetch))
"""Have the line of cache with an array's element at hand soon; only in compiled functions."""
