"""Jobs: following, finding, forgetting."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterator

import pytest

from sz_mcp.jobs import Job, Jobs, Progress, follow
from sz_mcp.queues import FairQueue

WAIT_S = 20
pytestmark = pytest.mark.anyio


@pytest.fixture
def jobs() -> Iterator[Jobs[str]]:
    queue = FairQueue(2, "test")
    yield Jobs(defaultdict(lambda: queue), kept=2)
    queue.shutdown()


async def ignore(_progress: Progress) -> None:
    return


def named(name: str, session: str = "s_1") -> Job[str]:
    return Job(name, "run_compress", "k_1", session)


async def test_following_returns_true_once_the_work_is_done(jobs: Jobs[str]) -> None:
    job = named("r_1")
    jobs.start(job, lambda job: f"done {job.run_id}")

    assert await follow(job, WAIT_S, ignore)
    assert job.future.result() == "done r_1"


async def test_following_gives_up_after_its_time_and_the_work_goes_on(jobs: Jobs[str]) -> None:
    release = threading.Event()
    job = named("r_1")
    jobs.start(job, lambda _: str(release.wait(WAIT_S)))

    gave_up = not await follow(job, 0.01, ignore)
    release.set()

    assert gave_up
    assert await follow(job, WAIT_S, ignore)
    assert job.future.result() == "True"


async def test_progress_between_zero_and_one_is_reported_in_order(jobs: Jobs[str]) -> None:
    step = threading.Semaphore(0)
    told: list[Progress] = []

    def work(job: Job[str]) -> str:
        for fraction in (-1.0, 0.5, 2.0):
            job.advance(fraction, "x")
            step.acquire(timeout=WAIT_S)
        return "done"

    async def report(progress: Progress) -> None:
        told.append(progress)
        step.release()

    job = named("r_1")
    jobs.start(job, work)

    assert await follow(job, WAIT_S, report, pause_s=0.0)
    assert [progress.fraction for progress in told] == [0.0, 0.5, 1.0]


async def test_an_exception_of_the_work_is_raised_where_its_result_is_read(
    jobs: Jobs[str],
) -> None:
    def work(_: Job[str]) -> str:
        raise ValueError("broken")

    job = named("r_1")
    jobs.start(job, work)

    assert await follow(job, WAIT_S, ignore)
    with pytest.raises(ValueError, match="broken"):
        job.future.result()


async def test_only_the_last_finished_jobs_are_kept_and_running_ones_always(
    jobs: Jobs[str],
) -> None:
    release = threading.Event()
    # Of another session: one keeps no other waiting.
    jobs.start(named("running", "s_other"), lambda _: str(release.wait(WAIT_S)))
    for i in range(5):
        job = named(f"r_{i}")
        jobs.start(job, lambda _: "done")
        await asyncio.to_thread(job.future.result, WAIT_S)
    found = [name for name in ("running", "r_0", "r_2", "r_3", "r_4") if jobs.find(name)]
    release.set()

    assert found == ["running", "r_2", "r_3", "r_4"]
    assert [job.run_id for job in jobs.running()] in (["running"], [])


async def test_who_fills_the_memory_of_finished_jobs_loses_its_own(jobs: Jobs[str]) -> None:
    for name, session in (("a", "s_quiet"), ("b", "s_busy"), ("c", "s_busy"), ("d", "s_busy")):
        job = named(name, session)
        jobs.start(job, lambda _: "done")
        await asyncio.to_thread(job.future.result, WAIT_S)
    jobs.start(named("e", "s_busy"), lambda _: "done")

    assert [name for name in "abc" if jobs.find(name)] in (["a"], ["a", "c"])


async def test_a_queued_job_says_how_many_begin_before_it(jobs: Jobs[str]) -> None:
    release = threading.Event()
    for name in ("r_1", "r_2", "r_3"):
        jobs.start(named(name, f"of {name}"), lambda _: str(release.wait(WAIT_S)))
    first, second = named("r_4", "s_1"), named("r_5", "s_1")
    told: list[str] = []

    async def report(progress: Progress) -> None:
        told.append(progress.message)

    for job in (first, second):
        jobs.start(job, lambda _: "done")
    gave_up = not await follow(second, 0.01, report, pause_s=0.0)
    release.set()

    assert gave_up
    assert told == ["queued: 2 before it"]
    assert await follow(second, WAIT_S, ignore)
