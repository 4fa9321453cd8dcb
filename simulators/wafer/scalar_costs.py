"""Cycles of the scalar core per architecture, with their sources (named in `costs`).

WSE-3 from [FAB]: an independent instruction 1; a dependent floating-point one 2; from a load to its
use 4; a branch 3 if not taken, 6 if taken. These give the published forms: two loads, an operation
and a store 4 instructions in 7 cycles; a load, a shift and a store 3 in 6. Division about 50: a
comment of the vendor's `blas.csl`. No number is published for WSE-2's scalar core: it gets the same
ones. A call is taken as a taken branch to the function and one back; a conversion as an operation.
"""

from __future__ import annotations

from .costs import ScalarCosts

_FAB = ScalarCosts(
    issue=1,
    dependent=1,
    load_use=3,
    branch_not_taken=3,
    branch_taken=6,
    call=6,
    divide=50,
    multiply=1,
    convert=1,
)

SCALAR: dict[str, ScalarCosts] = {"wse2": _FAB, "wse3": _FAB}
"""By architecture."""
