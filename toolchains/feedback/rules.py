"""Rules as data: what is seen of a failure → what it means → what to change.

A rule looks at the kind of a failure, its message, the line of source it happened on, and, where
values are wrong, at their pattern. Its texts may name in braces what those held.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass

from kernels.error_pattern import ErrorPattern, Smallest
from kernels.records import Failure, FailureKind, Guidance

Facts = Mapping[str, object]
"""What the texts of a rule may name."""
LookUp = Callable[[Facts], Facts | None]
"""More facts from those found; None if there are none, and the rule does not apply."""


_COMPILE = frozenset({FailureKind.COMPILE})


@dataclass(frozen=True)
class Rule:
    """One entry of a table. What it does not state matches everything."""

    name: str
    kinds: frozenset[FailureKind]
    pattern: str
    """Regular expression searched in the message; its named groups are facts."""
    explanation: str
    suggestion: str
    line: str = ""
    """The same for the line of source."""
    when: Callable[[ErrorPattern], bool] | None = None
    """Whether the rule speaks of this pattern of violations; needs one."""
    look_up: LookUp | None = None
    tasks: tuple[str, ...] = ()
    """How the names of the tasks it speaks of begin; needs a pattern, which names the task."""

    def guidance(self, failure: Failure) -> Guidance | None:
        """What the rule says of `failure`; None if it is about something else."""
        if failure.kind not in self.kinds:
            return None
        said = re.search(self.pattern, failure.message)
        written = re.search(self.line, _source(failure))
        if said is None or written is None or not self._sees(failure.pattern):
            return None
        facts: Facts = {**_facts(failure.pattern), **written.groupdict(""), **said.groupdict("")}
        if self.look_up is not None:
            found = self.look_up(facts)
            if found is None:
                return None
            facts = {**facts, **found}
        return Guidance(
            self.name, self.explanation.format_map(facts), self.suggestion.format_map(facts)
        )

    def _sees(self, pattern: ErrorPattern | None) -> bool:
        if pattern is None:
            return self.when is None and not self.tasks
        spoken_of = not self.tasks or pattern.task.startswith(self.tasks)
        return spoken_of and (self.when is None or self.when(pattern))


def compile_rule(
    name: str,
    pattern: str,
    explanation: str,
    suggestion: str,
    *,
    line: str = "",
    look_up: LookUp | None = None,
) -> Rule:
    """An entry about a compiler's message."""
    return Rule(name, _COMPILE, pattern, explanation, suggestion, line, None, look_up)


def first_guidance(rules: Iterable[Rule], failure: Failure) -> Guidance | None:
    """Of the first rule of a table that applies: tables go from the particular to the general."""
    said = (rule.guidance(failure) for rule in rules)
    return next((one for one in said if one is not None), None)


def _source(failure: Failure) -> str:
    sources = (d.source for d in failure.diagnostics if d.source)
    return next(sources, "")


def _facts(pattern: ErrorPattern | None) -> Facts:
    if pattern is None:
        return {}
    return {
        **asdict(pattern),
        **_causes(pattern.smallest),
        "axes": " or ".join(map(str, pattern.edges)),
        "axes_count": len(pattern.shape),
        "block": pattern.first // 32,
        "block128": pattern.first // 128,
        "chunk": pattern.first // 4096,
        "of_tail": _of_tail(pattern),
        "above": f"{100 * (pattern.times_bound - 1):.2g}%",
        "times": f"{pattern.times_bound:.3g}",
        "step": f"{2 * pattern.times_bound:.3g}",
        "multiple": f"{pattern.factor:.3g}",
        "border_along": "" if pattern.border_axis < 0 else f" along axis {pattern.border_axis}",
    }


def _causes(smallest: Smallest | None) -> Facts:
    if smallest is None:
        return {}
    where = f"indices below {smallest.at}"
    if smallest.spared_period:
        where = f"one place in {smallest.spared_period}"
    elif smallest.spared:
        where = f"{smallest.spared:.0%} of the places"
    return {**asdict(smallest), "smallest_at": smallest.at, "spared_where": where}


def _of_tail(pattern: ErrorPattern) -> str:
    smallest = pattern.smallest
    unlike = not pattern.tail or (
        smallest and smallest.in_tail != smallest.in_tail_of % pattern.tail
    )
    if smallest is not None and smallest.in_tail and unlike:
        return f" (of {smallest.in_tail_of} equal ones the last {smallest.in_tail})"
    return f" of {pattern.tail}" if pattern.tail else ""
