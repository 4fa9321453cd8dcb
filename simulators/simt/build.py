"""The compiler's program: a request in, an answer out. It runs in a box of its own per request.

Which engine: `loops` where it knows all of a kernel, else `fibers`, with the reason in the answer.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .exchange import ANSWER, REQUEST, Answer, Described, Request, pack_answer, unpack_request
from .fibers import compile_kernel as by_fibers
from .frontend import front
from .loops import compile_kernel as by_loops
from .records import Bundle, Front, Rejected, Unsupported, Variant
from .tool import RunTool, plain_run


def main() -> None:
    """Read the request in the working folder, leave the answer there."""
    request = unpack_request(Path(REQUEST).read_bytes())
    Path(ANSWER).write_bytes(pack_answer(answer(request, plain_run)))


def answer(request: Request, run: RunTool) -> Answer:
    """Compile what is asked for; run: how programs are run."""
    made = front(request.source, run)
    if isinstance(made, Rejected):
        return made
    if request.variant is None:
        return Described(made.info, made.diagnostics)
    compiled = _kernel(request, made, request.variant, run)
    if isinstance(compiled, Bundle):
        return replace(compiled, meta={**compiled.meta, "file": request.source.file})
    return compiled


def _kernel(request: Request, made: Front, variant: Variant, run: RunTool) -> Answer:
    if request.engine == "fibers":
        return by_fibers(request.source, made.info, variant, run)
    looped = by_loops(made, variant)
    if request.engine == "loops" or not isinstance(looped, Unsupported):
        return looped
    other = by_fibers(request.source, made.info, variant, run)
    if isinstance(other, Unsupported):
        reason = f"loops: {looped.reason}; fibers: {other.reason}"
        return Unsupported(reason, looped.line or other.line)
    if isinstance(other, Rejected):
        return other
    where = f" (line {looped.line})" if looped.line else ""
    return replace(other, meta={**other.meta, "reason": f"{looped.reason}{where}"})
