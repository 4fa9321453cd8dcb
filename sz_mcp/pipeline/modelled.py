"""`profile` of what does not run on its hardware: counts of a model, never a time."""

from __future__ import annotations

from kernels.records import Failure, Profile, Status, Submission
from kernels.tasks.base import StageTask

from .passes import Stopped
from .profiling import Explain, at_its_bound, calls_of, failed_profile
from .rounds import Bench, checked_stage
from .timing import broken, on_the_field


def profile_model(bench: Bench, submission: Submission, explain: Explain) -> Profile:  # noqa: ARG001
    """What the target's model says of every function of a kernel on one field."""
    at_bound = at_its_bound(bench)
    if isinstance(at_bound, Failure):
        return failed_profile(bench, at_bound)
    bench = at_bound
    wrong = _wrong(bench)
    if wrong is not None:
        return failed_profile(bench, wrong)
    calls = calls_of(bench)
    if isinstance(calls, Failure):
        return failed_profile(bench, calls)
    bench.watch.progress(0.5, "counting in the model")
    explained = explain(calls)
    return Profile(
        status=Status.BOUND_OK,
        stage=Status.TIMED,
        field=bench.asked.info.name,
        bound=bench.bound,
        metrics=explained.metrics,
        bottleneck=explained.bottleneck,
        guidance=explained.guidance,
        loops=explained.loops,
        notes=explained.notes,
        maps=explained.maps,
    )


def _wrong(bench: Bench) -> Failure | None:
    """Why it does not even work on the field."""
    if isinstance(bench.task, StageTask):
        inputs = bench.task.inputs(bench.field.data, bench.bound.absolute)
        reply = checked_stage(bench.session, bench.task, [inputs])
        return reply if isinstance(reply, Failure) else None
    done = on_the_field(bench)
    return done.failure if isinstance(done, Stopped) else broken(bench.task, done)
