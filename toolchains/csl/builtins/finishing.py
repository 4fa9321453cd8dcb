"""What is only known when a tile program's analysis is complete."""

from __future__ import annotations

from toolchains.csl.evaluation import Evaluator

from .behaviours import check_named_tasks
from .dsds_fabric import settle_queues
from .dsrs import settle_loads


def finish(ev: Evaluator) -> None:
    """Tasks named as targets, and the queues of DSDs."""
    check_named_tasks(ev)
    settle_queues(ev)
    settle_loads(ev)
