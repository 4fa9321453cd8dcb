"""`verify_bounds`: whether a kernel keeps its bound, or equals the golden answer, on every case.

All cases run, so that the reply shows what kind of data a kernel fails on. The cases come from
`codec_cases` and `stage_cases`; `deciding` makes the verdict. A codec on which all of them held
goes further: a search for values that break its bound after all (`adversary`), and its own streams
damaged (`damage`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kernels.records import Failure, FailureKind, Status, Verdict
from kernels.tasks.base import CodecTask
from kernels.verdicts import Damage, Search
from toolchains.base import Session

from . import adversary, damage
from .cases import Case, Outcome
from .codec_cases import codec_cases
from .deciding import decide
from .requests import SUITE, Request, Watch
from .rounds import BUDGET_S
from .shrinking import with_smallest
from .stage_cases import stage_cases

__all__ = ["Further", "codec_cases", "judge", "stage_cases"]


@dataclass(frozen=True)
class Further:
    """What a codec goes through once all cases held."""

    task: CodecTask
    seed: int
    """Of the random cases, the search and the damage."""
    others: damage.Others


def judge(
    session: Session,
    cases: Sequence[Case],
    request: Request,
    watch: Watch,
    further: Further | None = None,
) -> Verdict:
    """Run all cases, in order, until one leaves the kernel's processes dead."""
    outcomes = list(_outcomes(session, cases, request, watch))
    verdict = decide(cases, outcomes)
    if verdict.holds and further is not None:
        held = list(zip(cases, outcomes, strict=True))
        gone = _gone_further(session, held, request, watch, further)
        if gone.failed is not None:
            cases, outcomes = [*cases, gone.failed[0]], [*outcomes, gone.failed[1]]
            verdict = decide(cases, outcomes)
        verdict = replace(verdict, search=gone.search, damage=gone.damage)
    if verdict.violations and session.alive():
        watch.progress(1.0, "looking for a smaller array on which the bound breaks")
        verdict = with_smallest(
            session, cases, verdict, lambda: session.alive() and not watch.cancellation.cancelled
        )
    return verdict


@dataclass(frozen=True)
class _Gone:
    """What came of going further."""

    search: Search | None = None
    damage: Damage | None = None
    failed: tuple[Case, Outcome] | None = None


def _gone_further(
    session: Session,
    held: Sequence[tuple[Case, Outcome]],
    request: Request,
    watch: Watch,
    further: Further,
) -> _Gone:
    """Search, then damage; of one field only a little of the former."""
    whole = request.field == SUITE
    watch.progress(1.0, "searching around the values that it handled worst")
    budget = adversary.BUDGET_S if whole else adversary.FIELD_BUDGET_S
    taken = [(case, outcome) for case, outcome in held if outcome.failure is None]
    found = adversary.search(session, further.task, taken, further.seed, budget)
    fresh = sum(case.name.startswith("random:") for case, _ in held)
    search = Search(further.seed, fresh, found.values, found.worst_over_bound)
    if found.failed is not None or not whole:
        return _Gone(search, failed=found.failed)
    cases = [case for case, _ in taken]
    inspected = damage.inspect(session, cases, further.seed, further.others, watch)
    return _Gone(search, inspected.damage, inspected.failed)


def _outcomes(
    session: Session, cases: Sequence[Case], request: Request, watch: Watch
) -> Iterator[Outcome]:
    what = "cases of the suite" if request.field == SUITE else "field"
    give_up = time.monotonic() + BUDGET_S
    for i, case in enumerate(cases):
        if i and time.monotonic() > give_up:
            yield Outcome(_TOO_SLOW)
            return
        watch.progress(i / len(cases), f"checking {case.name} ({i + 1} of {len(cases)} {what})")
        outcome = case.run(session)
        if session.alive():
            yield outcome
            if outcome.failure is not None and outcome.failure.kind is FailureKind.TIMEOUT:
                # As where it ends the process: the next case would wait as long.
                return
            continue
        failed = outcome.failure and outcome.failure.status is not Status.REFUSED
        yield outcome if failed else replace(outcome, failure=_ENDED)
        return


_TOO_SLOW = Failure(
    Status.ERROR,
    Status.BOUND_OK,
    FailureKind.TIMEOUT,
    f"the cases before this one took more than {BUDGET_S:.0f} s together, so it was not begun",
)
_ENDED = Failure(
    Status.ERROR,
    Status.TERMINATES,
    FailureKind.CRASH,
    "the kernel's process ended after it had replied",
)
