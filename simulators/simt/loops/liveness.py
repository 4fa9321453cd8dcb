"""Which values threads carry across each suspension point, and which of them are computed anew.

Arithmetic on arguments and places (addresses, mostly) is cheaper to repeat than to keep, and keeps
neighbouring threads' accesses visibly contiguous.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from .reading import PURE, Block, Instruction
from .splitting import Split, successors

_COSTS = {"mul": 2, "udiv": 12, "sdiv": 12, "urem": 12, "srem": 12, "fdiv": 8, "frem": 40}
_KEPT = ("freeze", "extractvalue")
"""A frozen value may be another one the next time; what is extracted from can't be kept."""
_MOST_COST = 24
_LEAVES = 1


@dataclass(frozen=True)
class Carried:
    """What regions start from."""

    definitions: Mapping[str, Instruction]
    at: tuple[frozenset[str], ...]
    """Point (0: the start of the kernel) → values that are live there, with what they are computed
    from; base values are not in it."""
    anew: frozenset[str]
    """Values that are computed anew."""
    fixed: frozenset[str]
    """Those of `anew` that depend on base values only, so that a thread has one value of each."""

    def kept(self, point: int) -> frozenset[str]:
        """Values in memory at a point."""
        return self.at[point] - self.anew


def carried(split: Split) -> Carried:
    """By liveness over the whole kernel."""
    blocks = split.function.blocks
    definitions = {one.result: one for block in blocks.values() for one in block.body if one.result}
    results = {point.resume: point.result for point in split.points if point.result}
    live = _live(split, results)
    resumes = [frozenset[str](), *(live[p.resume] - {p.result} - split.base for p in split.points)]
    leaves = _leaves(split, definitions)
    at = tuple(_closed(names, leaves, definitions, split.base) for names in resumes)
    fixed = frozenset(name for name, from_ in leaves.items() if not from_)
    return Carried(definitions, at, frozenset(leaves), fixed)


def _closed(
    names: Iterable[str],
    anew: Container[str],
    definitions: Mapping[str, Instruction],
    base: frozenset[str],
) -> frozenset[str]:
    """With the values that those computed anew are computed from."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name in base:
            continue
        found.add(name)
        if name in anew:
            waiting += definitions[name].uses
    return frozenset(found)


@dataclass
class _Flow:
    """What a block does to values."""

    needed: set[str] = field(default_factory=set)
    """Used before the block defines them."""
    made: set[str] = field(default_factory=set)
    into: dict[str, set[str]] = field(default_factory=dict)
    """Block before → what this one's phis take from there."""


def _live(split: Split, results: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Block → values live at its start."""
    blocks = split.function.blocks
    flows = {name: _flow(block, results.get(name, "")) for name, block in blocks.items()}
    live = {name: frozenset(flow.needed) for name, flow in flows.items()}
    changed = True
    while changed:
        changed = False
        for name in reversed(blocks):
            out = set[str]()
            for after in successors(blocks[name], split.points):
                out |= live[after] | flows[after].into.get(name, set())
            now = frozenset(flows[name].needed | (out - flows[name].made))
            if now != live[name]:
                live[name], changed = now, True
    return live


def _flow(block: Block, given: str) -> _Flow:
    """given: the result of the suspension point before the block, or empty."""
    flow = _Flow(made={given} if given else set())
    for one in block.body:
        if one.opcode == "phi":
            for value, source in one.incoming:
                if value.startswith("%"):
                    flow.into.setdefault(source, set()).add(value[1:])
        else:
            flow.needed.update(use for use in one.uses if use not in flow.made)
        if one.result:
            flow.made.add(one.result)
    return flow


def _leaves(split: Split, definitions: Mapping[str, Instruction]) -> dict[str, frozenset[str]]:
    """Values worth computing anew → the values other than base ones that they come from."""
    leaves: dict[str, frozenset[str]] = {}
    costs: dict[str, int] = {}

    def visit(name: str) -> None:
        one = definitions[name]
        if one.opcode not in PURE or one.opcode in _KEPT:
            return
        from_, cost = set[str](), _COSTS.get(one.opcode, 1)
        for use in one.uses:
            if use in split.base:
                continue
            if use in leaves:
                from_ |= leaves[use]
                cost += costs[use]
            else:
                from_.add(use)
        if cost <= _MOST_COST and len(from_) <= _LEAVES:
            leaves[name], costs[name] = frozenset(from_), cost

    for name in _in_order(definitions):
        visit(name)
    return leaves


def _in_order(definitions: Mapping[str, Instruction]) -> list[str]:
    """Pure values after those that they use."""
    order: list[str] = []
    seen: set[str] = set()
    for root in definitions:
        stack = [(root, False)]
        while stack:
            name, ready = stack.pop()
            if ready:
                order.append(name)
            elif name not in seen and name in definitions:
                seen.add(name)
                stack.append((name, True))
                if definitions[name].opcode in PURE:
                    stack += [(use, False) for use in definitions[name].uses]
    return order
