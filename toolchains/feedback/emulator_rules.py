"""What counts of emulated kernels mean: sectors, banks, branches, races → what to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from kernels.records import Guidance

SHOWN = 4
"""Rules that are told of at most; the table goes from the weighty to the fine."""


@dataclass(frozen=True)
class Facts:
    """What the rules look at, of the worst instruction of all kernels."""

    race: str = ""
    """Two accesses, in words."""
    uncoalesced: float = 0.0
    """Sectors per request where most are wasted; 0 if none is to speak of."""
    uncoalesced_place: str = ""
    passes: float = 0.0
    """Over the banks of shared memory, per pass that is needed."""
    passes_place: str = ""
    divergent: float = 0.0
    """Part of all branches of warps whose lanes go both ways."""
    divergent_place: str = ""
    contended: float = 0.0
    """Lanes of a warp on one address, per atomic operation."""
    contended_place: str = ""
    narrow: float = 0.0
    """Part of the bytes of global memory that go by accesses of 4 bytes or less."""
    least_blocks: float = 0.0
    """Blocks of a launch of the kernel that moves most."""
    units: float = 0.0
    """Multiprocessors or compute units of the GPU."""
    threads: int = 0
    """Of a block of that kernel."""
    launches: int = 0
    occupancy: float = 0.0
    """Percent of a multiprocessor's warps that the compiled kernel leaves room for; 0: unknown."""


@dataclass(frozen=True)
class EmulatorRule:
    """One entry of the table."""

    name: str
    holds: Callable[[Facts], bool]
    explanation: str
    """May name the facts, in braces."""
    suggestion: str

    def guidance(self, facts: Facts) -> Guidance:
        """What it says."""
        return Guidance(self.name, self.explanation.format(**asdict(facts)), self.suggestion)


RULES: tuple[EmulatorRule, ...] = (
    EmulatorRule(
        "race",
        lambda f: bool(f.race),
        "Nothing orders these accesses of one place: {race}. On a GPU either may come first.",
        "Put __syncthreads() between them, or __syncwarp() if only lanes of one warp meet; "
        "shuffles and votes don't order memory.",
    ),
    EmulatorRule(
        "uncoalesced",
        lambda f: f.uncoalesced > 0,
        "At {uncoalesced_place} a warp's request touches {uncoalesced:.3g} sectors of 32 bytes "
        "where far fewer hold what it asks for: neighbouring threads touch places far apart.",
        "Let thread i touch element i; where each thread has a run of its own, bring the tile "
        "through shared memory, or load 16 bytes at once (float4, uint4).",
    ),
    EmulatorRule(
        "bank-conflicts",
        lambda f: f.passes >= 1.9,
        "At {passes_place} the lanes of a warp touch different words of one bank of shared memory: "
        "{passes:.3g} passes where one would do.",
        "Pad rows by one word (tile[32][33]), or permute the index by XOR with the row.",
    ),
    EmulatorRule(
        "contention",
        lambda f: f.contended >= 4,
        "At {contended_place} {contended:.3g} lanes of a warp meet at one address with an atomic "
        "operation; they take turns.",
        "Combine within the warp first (__reduce_add_sync, or __ballot_sync and __popc), then one "
        "lane does the atomic; or several copies in shared memory.",
    ),
    EmulatorRule(
        "divergence",
        lambda f: f.divergent >= 0.15,
        "In {divergent:.0%} of the branches lanes of a warp go both ways, most often at "
        "{divergent_place}: the warp runs both, one after the other.",
        "Compute both and select, give whole warps one kind of work (sort by case), or decide by "
        "a vote for the warp.",
    ),
    EmulatorRule(
        "tiny-grid",
        lambda f: 0 < f.least_blocks < f.units,
        "The kernel that moves most has {least_blocks:.0f} blocks per launch; the GPU has "
        "{units:.0f} multiprocessors, and those without a block idle.",
        "Give each block less work, or profile on a larger field.",
    ),
    EmulatorRule(
        "low-occupancy",
        lambda f: 0 < f.occupancy <= 25,
        "A kernel that ran leaves room for {occupancy:.0f}% of a multiprocessor's warps: few are "
        "there to run while others wait for memory.",
        "Fewer registers or less shared memory per block: smaller tiles, __launch_bounds__ with "
        "a least number of blocks.",
    ),
    EmulatorRule(
        "small-blocks",
        lambda f: 0 < f.threads < 64,
        "Blocks of {threads} threads: a multiprocessor holds a limited number of blocks, so its "
        "warps can't fill it (low occupancy).",
        "Use 128 to 256 threads per block.",
    ),
    EmulatorRule(
        "no-vector-loads",
        lambda f: f.narrow >= 0.9 and not f.uncoalesced,
        "{narrow:.0%} of the bytes of global memory go by accesses of 4 bytes or less.",
        "Let a thread take four neighbouring values by one float4 or int4: fewer instructions for "
        "as many bytes. It needs an address that is a multiple of 16, and a tail.",
    ),
    EmulatorRule(
        "many-launches",
        lambda f: f.launches > 8,
        "{launches} launches: each costs some microseconds, whatever it does.",
        "Fuse kernels; a scan over blocks can be one launch (decoupled look-back).",
    ),
)


def advise(facts: Facts) -> tuple[Guidance, ...]:
    """The weightiest rules that hold."""
    return tuple(rule.guidance(facts) for rule in RULES if rule.holds(facts))[:SHOWN]
