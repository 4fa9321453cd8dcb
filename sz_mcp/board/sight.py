"""What one reader of the pages may see: the rules of `Caller.may_see`, for people with a browser.

Scores are everybody's. Names, results and work are not: an agent must learn nothing of another but
scores, whatever door it goes through.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sz_mcp.calls import Caller


class Level(Enum):
    """How much of others' work a reader sees."""

    ALL = "Everything is shown: names, results, sources and messages."
    OWN = (
        "You see your own results and sources, and those that are shared; of other agents their "
        "scores, without names."
    )
    PUBLIC = "Scores are shown with names; sources and messages only where their owner shares them."


@dataclass(frozen=True)
class Sight:
    """One reader."""

    level: Level
    shared: frozenset[str] = frozenset()
    """kernel_ids that their owners let everybody read."""
    caller: Caller | None = None
    """Whose token it has; only for OWN."""

    def names(self, agent: str) -> bool:
        """Whether it may see what an agent is called, and by which model it works."""
        return self.level is not Level.OWN or (
            self.caller is not None and self.caller.agent == agent
        )

    def results(self, agent: str, session: str) -> bool:
        """Whether it may see how far the attempts of a session came."""
        return self.level is not Level.OWN or (
            self.caller is not None and self.caller.may_see(agent, session)
        )

    def work(self, kernel_id: str, agent: str, session: str) -> bool:
        """Whether it may see a kernel's source, messages and profile."""
        if self.level is Level.ALL or kernel_id in self.shared:
            return True
        return self.level is Level.OWN and self.results(agent, session)


EVERYTHING = Sight(Level.ALL)
"""Of the operator, and of everybody where no tokens are asked for."""


def sight_of(caller: Caller, shared: frozenset[str]) -> Sight:
    """What the holder of a token sees."""
    return Sight(Level.ALL if caller.sees == "all" else Level.OWN, shared, caller)
