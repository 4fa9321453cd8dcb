"""The record of where an array is wrong and what its errors look like; `patterns` fills it in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Smallest:
    """What an array shows that can't be made any smaller without the bound holding on it.

    What is left in it is needed: it is the cause, or the way to it.
    """

    size: int
    at: int
    """Flat index of the largest error."""
    runs: int
    """Of equal values."""
    alone: bool
    """The wrong value is wrong by itself, too."""
    beside_special: bool
    """The wrong value is finite, and another one is not."""
    beside_fill: bool
    """Another value is far larger than the wrong one."""
    too_wide: bool
    """All values are finite, but the largest minus the smallest is not, in the data type."""
    excess_ulps: float
    """By how much the largest error exceeds the bound, in units of the last place."""
    mirrored: bool
    """A negative value came back as its magnitude."""
    grows: bool
    """Each value adds an error within the bound to the error of those before it."""
    in_tail: int = 0
    """Repeated along an axis, the value is right but for so many last places; 0 if not so."""
    in_tail_of: int = 0
    """Places on that axis."""
    from_on: bool = False
    """Not only at this place, but anywhere from it on."""
    in_place: bool = False
    """Whatever stands at this place is wrong."""
    spared: float = 0.0
    """Share of the places at which the same value comes back right, where it depends on that."""
    spared_period: int = 0
    """At every so manyth place the value comes back right, and at no other; 0: no such number."""
    value_limit: int = 0
    """From 2 to this power steps (of twice the bound) on a value is wrong by itself; 0: none."""
    jump_limit: int = 0
    """The same of a value after a 0."""


@dataclass(frozen=True)
class ErrorPattern:
    """Where violations lie and what they look like; of a large array, of its part around the first.

    Shares are of the violations, 0 to 1.
    """

    task: str
    output: int
    """Which output of a stage; 0 for a codec."""
    shape: tuple[int, ...]
    checked: int
    violations: int
    first: int
    """Flat index."""
    last: int
    abs_bound: float
    period: int = 0
    """All violations are at one place of every block of so many values; 0 if there is none."""
    phase: int = 0
    """That place."""
    tail: int = 0
    """All violations are in the last, shorter block of so many values; 0 if not."""
    onward: bool = False
    """From the first violation on, nearly everything is wrong."""
    edges: tuple[int, ...] = ()
    """Axes at whose index 0 the violations are: together they hold all of them."""
    special: float = 0.0
    """Share that is itself not finite."""
    beside_special: float = 0.0
    """Share that is finite and next to a value that is not, or in the same block of 32."""
    fill: float = 0.0
    """Share at values that are far larger than the rest, as fill values are."""
    beside_fill: float = 0.0
    """Share next to such a value, or in the same block of 32."""
    times_bound: float = 0.0
    """Largest finite error over the bound; 0 without a bound."""
    least_times: float = 0.0
    """Smallest finite magnitude among the wrong values over the bound; 0 without one."""
    excess_ulps: float = 0.0
    """By how much the largest error exceeds the bound, in units of the original's last place."""
    accumulates: bool = False
    """From neighbour to neighbour the error changes by no more than a step, but it adds up."""
    above_all: bool = False
    """Every violation is larger in magnitude than every value that is right."""
    negative_only: bool = False
    """Every violation is at a negative value, and most negative values are wrong."""
    direction: str = ""
    """down, up or "toward zero" if that is how all wrong values differ."""
    wrapped_bits: int = 0
    """Errors are one step times 2 to this power: an integer of so many bits wrapped around."""
    factor: float = 0.0
    """What came back is the original times this; 0 if not."""
    resembles: str = ""
    """What the result equals, in words, instead of what was wanted."""
    output_name: str = ""
    """Of a stage: what the page calls that output."""
    low_bits: int = 0
    """Wrong values are the right ones cut to so many bits, with a sign or without; 0 if not."""
    extra_bits: bool = False
    """Every bit that is wanted is set, and others too."""
    lost_counts: bool = False
    """Nothing is larger than wanted, and the total is smaller."""
    shifted_down: bool = False
    """Wrong words have the right bits, but lower down."""
    beyond_bins: bool = False
    """Of a histogram: there are codes that have no bin, and as many were counted too often."""
    narrowed: bool = False
    """Of float64 data: every value came back as a float32 holds it."""
    flushed: bool = False
    """Every wrong value is subnormal, and came back as 0."""
    wide: bool = False
    """The largest value minus the smallest is beyond the data type."""
    border: int = 0
    """Along `border_axis` the error jumps only where a block of so many begins; 0 if not."""
    border_axis: int = -1
    """-1 for the flat array."""
    smallest: Smallest | None = None
    """Of a codec, if a smaller array was found that shows the fault."""
