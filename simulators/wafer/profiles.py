"""The two machines' profiles: every number with its source (named in `costs`)."""

from __future__ import annotations

from collections.abc import Mapping

from .costs import Profile
from .scalar_costs import SCALAR

_SIMD: Mapping[tuple[int, int], str] = {
    (4, 8): "add16 and16 or16 xor16 sub16 mov16 fabsh faddh fmach fmovh fmulh fnegh fnormh fscaleh "
    "fsubh",
    (1, 8): "addc16 fh2xp16 fmaxh xp162fh",
    (2, 4): "fabss faddhs fadds fmachs fmovs fnegs fnorms fscales fsubs mov32",
    (1, 4): "fh2s fmaxs fs2h fs2xp16 sar16 sll16 slr16 xp162fs",
    (1, 1): "fmuls clz ctz popcnt dfilt",
}
"""Elements per cycle on WSE-2 and WSE-3 → operations [DOC, appendix with the SIMD table]. Those
that are not in it get one."""
_FMACS = {"wse2": 1.0, "wse3": 0.5}
"""WSE-2: n + 6 [SPMM]; WSE-3: 0.50 [FAB]."""
_SETUP = {"wse2": 3, "wse3": 2}
"""From the instruction to the first element. With the descriptors that the instruction loads it
makes n + 6 for @fmacs of two different ones [SPMM], and 2 + n / 4 until the end of @add16 [FAB]."""


def _simd(arch: str) -> dict[str, float]:
    column = 0 if arch == "wse2" else 1
    found: dict[str, float] = {"fmacs": _FMACS[arch]}
    for rates, names in _SIMD.items():
        found.update(dict.fromkeys(names.split(), float(rates[column])))
    return found


def make_profile(arch: str) -> Profile:
    """The profile of `wse2` or `wse3`. Raises KeyError."""
    wse2 = arch == "wse2"
    return Profile(
        name=arch,
        # WSE-2: the vendor's run.py formulas; WSE-3: arXiv 2605.07954.
        clock_hz=850e6 if wse2 else 875e6,
        # [RED] 1; [FAB] 2.000 cycles a hop.
        hop=1 if wse2 else 2,
        scalar=SCALAR[arch],
        simd=_simd(arch),
        setup={"": _SETUP[arch]},
        # [DOC] queue depths.
        input_depths=(6, 6, 4, 4, 2, 2, 2, 2) if wse2 else (8, 8, 4, 4, 4, 4, 4, 4),
        output_depths=(2, 2, 6, 6, 2, 2, 2, 2) if wse2 else (8,) * 8,
        # wafer model of four words per colour.
        router_depth=4,
        # [FAB] a task's body begins 3 cycles after the message that it waits for.
        task_wake=2,
        banks=wse2,
    )
