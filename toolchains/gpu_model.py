"""What counts of emulated kernels mean on a GPU: metrics, a bound for the time, what to change.

Everything is labelled `modelled`. Bytes per second are the GPU's documented peak; nothing of this
was compared with a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernels.records import Guidance, Metric
from toolchains.feedback.emulator_rules import Facts, advise
from toolchains.gpu_compile.mangled import readable
from toolchains.gpu_counts import KernelCounts, RaceSeen, SiteCounts

MODELLED = "modelled"
SECTOR = 32
_WORST = 3
"""Sites of a kernel that are told of one by one."""
_MATTERS = 0.05
"""Part of all sectors or passes of a kernel that a site wastes, from which on it is told."""
_WASTEFUL = 1.5
"""Times what it must be, from which on a site is worth a word."""


@dataclass(frozen=True)
class Model:
    """What is told."""

    metrics: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()
    bottleneck: str = ""
    guidance: tuple[Guidance, ...] = ()


def modelled(
    counts: Sequence[KernelCounts], hardware: Sequence[Metric], compiled: Sequence[Metric] = ()
) -> Model:
    """Of all kernels that a submission's calls launched.

    hardware: of the target's GPU; compiled: what the vendor's compiler told of the kernels.
    """
    if not counts:
        return Model(notes=("no kernel was counted",))
    figures = {metric.name: metric.value for metric in hardware}
    bandwidth = figures.get("memory_bandwidth", 0.0)
    units = figures.get("multiprocessors") or figures.get("compute_units") or 0.0
    metrics = [metric for one in counts for metric in _metrics(one, bandwidth)]
    moved = sum(one.distinct for one in counts)
    launches = sum(one.launches for one in counts)
    metrics = [
        Metric("launches", float(launches), "", MODELLED),
        Metric("moved_bytes", moved, "bytes", MODELLED),
        *([Metric("least_time", moved / bandwidth / 1e3, "us", MODELLED)] if bandwidth else []),
        *metrics,
    ]
    return Model(
        tuple(metrics),
        tuple(_notes(counts)),
        _sentence(counts, bandwidth),
        advise(replace(_facts(counts, units), occupancy=_occupancy(counts, compiled))),
    )


def _metrics(one: KernelCounts, bandwidth: float) -> Iterator[Metric]:
    name = readable(one.kernel)

    def metric(what: str, value: float, unit: str = "") -> Metric:
        return Metric(f"{what}[{name}]", value, unit, MODELLED)

    accesses = [site for site in one.sites if site.kind != "branch"]
    yield metric("launches", one.launches)
    yield metric("blocks", one.blocks)
    yield metric("sampled_blocks", one.sampled)
    yield metric("barriers_per_thread", one.barriers / max(1, one.sampled))
    yield metric("requested_bytes", one.requested, "bytes")
    yield metric("sector_bytes", one.sectors, "bytes")
    yield metric("moved_bytes", one.distinct, "bytes")
    if bandwidth:
        yield metric("least_time", one.distinct / bandwidth / 1e3, "us")
    for what, unit, over, under, chosen in _RATIOS:
        rows = [site for site in one.sites if chosen(site)]
        below = sum(under(site) for site in rows)
        if below:
            yield metric(what, sum(over(site) for site in rows) / below, unit)
    if accesses:
        lanes = sum(site.lanes for site in accesses)
        yield metric("active_lanes", lanes / max(1, sum(site.full for site in accesses)))
    yield metric("races", len(one.races))
    for site in worst(one, uncoalesced):
        yield _of_site("sectors_per_request", site, site.sectors / site.requests)
    for site in worst(one, conflicting):
        yield _of_site("bank_passes", site, site.passes / site.least_passes)


def _of_site(what: str, site: SiteCounts, value: float) -> Metric:
    return Metric(f"{what}[{site.place} {site.kind}]", value, "", MODELLED)


Ratio = tuple[
    str,
    str,
    Callable[[SiteCounts], int],
    Callable[[SiteCounts], int],
    Callable[[SiteCounts], bool],
]
_RATIOS: tuple[Ratio, ...] = (
    ("sectors_per_request", "", lambda s: s.sectors, lambda s: s.requests,
     lambda s: s.sectors > 0),
    ("coalescing", "", lambda s: min(s.least_sectors, s.sectors), lambda s: s.sectors,
     lambda s: s.sectors > 0),
    ("bank_passes", "", lambda s: s.passes, lambda s: s.least_passes,
     lambda s: s.least_passes > 0),
    ("divergent_branches", "", lambda s: s.divergent, lambda s: s.requests,
     lambda s: s.kind == "branch"),
    ("lanes_on_one_address", "per atomic request", lambda s: s.contended, lambda s: s.requests,
     lambda s: s.kind == "atomic"),
)  # fmt: skip


def uncoalesced(site: SiteCounts) -> int:
    """Sectors beyond those that as many bytes take."""
    needed = max(site.least_sectors, site.requests)
    return site.sectors - needed if site.sectors > _WASTEFUL * needed else 0


def conflicting(site: SiteCounts) -> int:
    """Passes beyond the least."""
    return site.passes - site.least_passes if site.passes > _WASTEFUL * site.least_passes else 0


def worst(one: KernelCounts, excess: Callable[[SiteCounts], int]) -> list[SiteCounts]:
    """The sites with the largest excess, where that matters."""
    total = sum(site.sectors if excess is uncoalesced else site.passes for site in one.sites)
    found = [site for site in one.sites if excess(site) > _MATTERS * total]
    return sorted(found, key=excess, reverse=True)[:_WORST]


def told(race: RaceSeen) -> str:
    """In words."""
    where = "shared" if race.shared else "global"
    who = "lanes of a warp" if race.same_warp else "threads of a block"
    return (
        f"{race.first_kind} at {race.first} and {race.second_kind} at {race.second} by {who}, in "
        f"{where} memory"
    )


def _notes(counts: Sequence[KernelCounts]) -> Iterator[str]:
    yield (
        "counts are a model of emulated kernels: accesses as clang left them for this processor, "
        "of sampled blocks, and bandwidth as documented; no cache is modelled"
    )
    for one in counts:
        for race in _distinct(one.races):
            yield f"race in {readable(one.kernel)}: {told(race)}"
        if one.lost:
            yield f"{readable(one.kernel)}: its blocks do so much that some were not counted"


def _distinct(races: Sequence[RaceSeen]) -> list[RaceSeen]:
    """One per pair of lines, at most four."""
    return list({(race.first, race.second): race for race in reversed(races)}.values())[-4:][::-1]


def _sentence(counts: Sequence[KernelCounts], bandwidth: float) -> str:
    top = max(counts, key=lambda one: one.sectors)
    total = sum(one.sectors for one in counts)
    name = readable(top.kernel)
    if total <= 0:
        return f"{name} touches no global memory in what was counted"
    share = f"{top.sectors / total:.0%} of the sectors that all kernels ask for"
    text = f"{name} has {share}: {top.sectors / 1e6:.3g} MB for {top.requested / 1e6:.3g} MB used"
    wasteful = worst(top, uncoalesced)
    if wasteful:
        site = wasteful[0]
        text += (
            f"; most is lost at {site.place}, a {site.kind} with "
            f"{site.sectors / site.requests:.3g} sectors per request"
        )
    if bandwidth:
        least = sum(one.distinct for one in counts) / bandwidth / 1e3
        launches = sum(one.launches for one in counts)
        text += (
            f"; at {bandwidth:g} GB/s the memory alone takes {least:.3g} us, in {launches} "
            f"launch{'es' if launches > 1 else ''}"
        )
    return text


def _facts(counts: Sequence[KernelCounts], units: float) -> Facts:
    sites = [site for one in counts for site in one.sites]
    top = max(counts, key=lambda one: one.sectors)
    wasteful = [site for one in counts for site in worst(one, uncoalesced)]
    by_sectors = max(wasteful, key=uncoalesced, default=None)
    crossed = [site for one in counts for site in worst(one, conflicting)]
    by_passes = max(crossed, key=conflicting, default=None)
    branches = [s for s in sites if s.kind == "branch" and s.divergent]
    atomics = [s for s in sites if s.kind == "atomic"]
    split = max(branches, key=lambda s: s.divergent, default=None)
    crowded = max(atomics, key=lambda s: s.contended - s.requests, default=None)
    race = next((race for one in counts for race in one.races), None)
    tests = sum(s.requests for s in sites if s.kind == "branch")
    narrow = [s for s in sites if _plain(s) and s.size <= 4]
    return Facts(
        race=told(race) if race else "",
        uncoalesced=_ratio(by_sectors, "sectors", "requests"),
        uncoalesced_place=str(by_sectors.place) if by_sectors else "",
        passes=_ratio(by_passes, "passes", "least_passes"),
        passes_place=str(by_passes.place) if by_passes else "",
        divergent=sum(s.divergent for s in branches) / tests if tests else 0.0,
        divergent_place=str(split.place) if split else "",
        contended=_ratio(crowded, "contended", "requests"),
        contended_place=str(crowded.place) if crowded else "",
        narrow=sum(s.bytes for s in narrow) / max(1, sum(s.bytes for s in sites if _plain(s))),
        least_blocks=min(one.blocks / max(1, one.launches) for one in (top,)),
        units=units,
        threads=top.threads,
        launches=sum(one.launches for one in counts),
    )


def _occupancy(counts: Sequence[KernelCounts], compiled: Sequence[Metric]) -> float:
    """Least of the kernels that ran, in percent; 0 if it was not told."""
    names = {f"occupancy[{readable(one.kernel)}]" for one in counts}
    return min((m.value for m in compiled if m.name in names), default=0.0)


def _plain(site: SiteCounts) -> bool:
    return not site.shared and site.kind in ("load", "store")


def _ratio(site: SiteCounts | None, over: str, under: str) -> float:
    if site is None or not getattr(site, under):
        return 0.0
    return float(getattr(site, over) / getattr(site, under))
