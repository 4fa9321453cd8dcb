"""One kernel from IR to an object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from simulators.simt.constants import NotData
from simulators.simt.records import Front, KernelInfo, Variant

from .arrays import LocalArrays, local_arrays
from .calls import check_calls
from .checking import with_checks
from .driver import driver, needs_ranges
from .frame import started
from .liveness import carried
from .machine import emitted, optimised
from .preparing import Prepared, prepare
from .reading import Refused
from .regions import Kernel, make_region
from .shells import Shape, ranged, whole
from .spins import with_yields
from .splitting import split, uses_of

_RUNTIME = (
    "declare void @simt_fail(ptr, i64, i32, i32, i64, i64, i64)",
    "declare i32 @simt_over(ptr, i32, i32)",
    "declare i32 @simt_all(ptr, i32)",
    "declare void @simt_same(ptr, i32)",
    "declare i32 @simt_slow(ptr)",
    "declare i32 @simt_check(ptr, i64, i64, i32, i32, i32)",
)
_METADATA = (
    "attributes #900 = { noinline nounwind }",
    "attributes #901 = { noinline nounwind optsize }",
    "!0 = !{}",
    "!1 = distinct !{}",
    "!2 = distinct !{!2, !3}",
    "!4 = distinct !{!4, !3, !5}",
    '!5 = !{!"llvm.loop.unroll.disable"}',
    '!3 = !{!"llvm.loop.parallel_accesses", !1}',
)


_MOST_TEXT, _MOST_REASON = 16 << 20, 300
_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)')


@dataclass(frozen=True)
class Compiled:
    """A kernel's object, and what its workers need."""

    code: bytes
    shared_bytes: int
    spill_bytes: int


def compiled(front: Front, info: KernelInfo, variant: Variant) -> Compiled:
    """Raises Refused."""
    if variant.hooks not in ("none", "checked"):
        raise Refused(f"hooks {variant.hooks}")
    try:
        prepared = prepare(front.ir, info.symbol, tuple(one.symbol for one in front.info.globals))
        shape = Shape(variant.block, front.warp, variant.descending)
        kernel = _kernel(prepared, info, shape, checked=variant.hooks == "checked")
        text = "\n".join(_module(prepared, kernel, shape))
        if len(text) > _MOST_TEXT:
            raise Refused("the pieces of the kernel are too much code")
        code = emitted(optimised(text))
    except (NotData, RuntimeError) as error:
        # llvmlite raises RuntimeError for text that LLVM does not take.
        raise Refused(" ".join(str(error).split())[:_MOST_REASON]) from error
    return Compiled(code, kernel.symbols.shared_bytes, kernel.frame.size)


def _kernel(prepared: Prepared, info: KernelInfo, shape: Shape, *, checked: bool) -> Kernel:
    function = prepared.function
    if len(info.params) != len(function.arguments):
        raise Refused("a kernel whose parameters are not its arguments")
    arguments = tuple(
        (name, _argument(function.types[name], param.pointer))
        for name, param in zip(function.arguments, info.params, strict=True)
    )
    check_calls(function, frozenset(prepared.declarations))
    with_yields(function)
    if checked:
        with_checks(function, _named(prepared), (n for n, kind in arguments if kind == "bytes"))
    parts = split(function, shape.block)
    frame = started(shape.threads, shape.warp)
    local: LocalArrays = local_arrays(parts, frame, _named(prepared), checked=checked)
    base = frozenset((*parts.base, *prepared.symbols.types, *local.names))
    parts = type(parts)(parts.function, parts.points, base)
    return Kernel(
        parts, carried(parts), frame, local.private, prepared.symbols, arguments,
        uses_of(parts.function.blocks.values()),
    )  # fmt: skip


def _argument(kind: str, pointer: bool) -> str:
    """A struct is passed as a pointer to its bytes, which are the parameter."""
    return "bytes" if kind == "ptr" and not pointer else kind


def _named(prepared: Prepared) -> Mapping[str, str]:
    return dict(line.split(" = type ", 1) for line in prepared.types)


def _module(prepared: Prepared, kernel: Kernel, shape: Shape) -> list[str]:
    """The whole text."""
    regions = [make_region(kernel, number) for number in range(len(kernel.split.points) + 1)]
    lines = [*prepared.header, *prepared.types]
    body: list[str] = []
    for region in regions:
        body += whole(kernel, region, shape)
    apart = needs_ranges(regions, kernel.split.points, shape)
    for region in regions[1:]:
        if apart:
            body += ranged(kernel, region, shape)
        else:
            name = f"@simt_range_{region.number}"
            body.append(f"define internal void {name}(ptr %c, i32 %l, i32 %h) {{ ret void }}")
    body += driver(kernel, regions, shape)
    used = _symbols("\n".join(body), prepared.variables)
    lines += [f"@{name} = {rest}" for name, rest in prepared.variables.items() if name in used]
    lines += [line for name, line in prepared.declarations.items() if name in used]
    return [*lines, *_RUNTIME, *body, *prepared.attributes, *_METADATA]


def _symbols(text: str, variables: Mapping[str, str]) -> set[str]:
    """Symbols in a text, and in the variables that are among them."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        for name in _SYMBOL.findall(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(variables.get(name, ""))
    return found
