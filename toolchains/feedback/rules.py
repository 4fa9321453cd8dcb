"""Rules as data: a pattern in a failure → what it means → what to change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kernels.records import Failure, FailureKind, Guidance


@dataclass(frozen=True)
class Rule:
    """One entry of a table. It matches by kind, and by a pattern in the message if it has one."""

    name: str
    kinds: frozenset[FailureKind]
    pattern: str
    """Regular expression searched in the message; empty matches every message."""
    explanation: str
    suggestion: str

    def matches(self, failure: Failure) -> bool:
        """Whether this rule speaks of `failure`."""
        return failure.kind in self.kinds and bool(re.search(self.pattern, failure.message))

    def guidance(self) -> Guidance:
        """What it says."""
        return Guidance(self.name, self.explanation, self.suggestion)


def first_match(rules: Iterable[Rule], failure: Failure) -> Rule | None:
    """The first rule of a table that matches: tables go from the particular to the general."""
    return next((rule for rule in rules if rule.matches(failure)), None)
