"""build@k, run@k, bound@k, pass@k: the chance that at least one of k sessions gets so far.

Source: the unbiased estimator of M. Chen et al., Evaluating Large Language Models Trained on Code,
arXiv 2107.03374, section 2.1; build@k as in ParEval (D. Nichols et al., arXiv 2401.12554); run@k
and bound@k by analogy.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RUNGS: Mapping[str, str] = MappingProxyType(
    {"build@k": "compiled", "run@k": "terminates", "bound@k": "bound_ok"}
)
"""Measure → rung of the ladder that a session's best kernel must have reached. pass@k asks for more
than a rung: that the kernel holds on the whole suite."""


def at_k(sessions: int, reached: int, k: int) -> float:
    """1 - C(sessions - reached, k) / C(sessions, k): of k sessions drawn, one at least got there.

    Raises: ValueError unless 0 <= reached <= sessions and 1 <= k <= sessions.
    """
    if not 0 <= reached <= sessions:
        raise ValueError(f"{reached} of {sessions} sessions")
    if not 1 <= k <= sessions:
        raise ValueError(f"k is 1 to {sessions}, the number of sessions, not {k}")
    missed = sessions - reached
    if missed < k:
        return 1.0
    none = 1.0
    for i in range(missed + 1, sessions + 1):
        none *= 1.0 - k / i
    return 1.0 - none
