"""The variant `counted`: a kernel twice in one object, as it is and instrumented for samples.

The module is compiled once more without the engine, so that only accesses of its own are in it; its
IR is instrumented and linked to that of the engine.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from simulators.simt.records import KernelInfo

from .instrumenting import DECLARED, instrument, lines_of
from .rewriting import Layout, rewrite

CALL = "simt_call_counted"
_DECLARED = re.compile(r"^declare .*@(__simt_\w+)\(", re.MULTILINE)


def kept(plain: str) -> tuple[str, ...]:
    """What instrumented code calls of the engine; plain: the module without the engine."""
    ours = re.findall(r"@(\w+)\(", "\n".join(DECLARED))
    return (*ours, *_DECLARED.findall(plain))


def with_counted(
    main: str, plain: str, kernel: KernelInfo, layout: Layout
) -> tuple[str, list[list[object]]]:
    """IR of both, and the sites of the instrumented one. main: rewritten, with `kept` functions.

    Raises:
        Unrewritable: as `rewrite`.
        RuntimeError: the two don't fit together.
    """
    told, sites = instrument(plain)
    counted = rewrite(told, kernel, layout, call=CALL)
    linked = llvm.parse_assembly(main)
    linked.link_in(llvm.parse_assembly(counted))
    return str(linked), lines_of(sites)
