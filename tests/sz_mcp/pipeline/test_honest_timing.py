"""What a timed run says of itself: a baseline in the same run, noise, limits of the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pytest

from kernels import baselines
from kernels.fields import Catalogue
from kernels.records import (
    Bandwidth,
    Bound,
    Kernel,
    Metric,
    RunResult,
    Sample,
    Status,
)
from kernels.tasks import TASKS
from results_db.summary import BASELINE
from sz_mcp.answers import View, run_reply
from sz_mcp.asked import Asked
from sz_mcp.details import details
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.pipeline.content import Content
from sz_mcp.pipeline.live import LiveKernel
from sz_mcp.pipeline.rounds import Bench
from sz_mcp.pipeline.timing import Moved, Prepared, Timed, conclude
from sz_mcp.pipeline.yardstick import Yardstick, noise, noise_metrics
from tests.sz_mcp.fakes import FakePipeline
from toolchains.base import Cancellation, Session
from toolchains.children.timing_lock import timing_lock
from toolchains.peaks import Peaks

FIELD = "na_temperature"
COPY = 1e-10
"""Seconds per byte."""


def samples(*seconds_per_byte: float, disturbed: tuple[int, ...] = ()) -> list[Sample]:
    return [
        Sample("run", i, one * 1000, one * 1000, 1, 1000, 0.0, i in disturbed)
        for i, one in enumerate(seconds_per_byte)
    ]


def values(metrics: tuple[Metric, ...]) -> dict[str, float]:
    return {metric.name: metric.value for metric in metrics}


def test_what_slows_the_whole_machine_is_noise_of_a_speed_and_not_of_its_ratio() -> None:
    load = (1.0, 1.5, 1.1, 2.0, 1.2, 1.9, 1.4)

    found = values(noise_metrics(samples(*(4 * COPY * x for x in load)), [COPY * x for x in load]))

    assert found[BASELINE] == pytest.approx(10 / 1.4)
    assert found["run_noise"] > 0.2
    assert found["run_noise"] == pytest.approx(found[f"{BASELINE}_noise"])
    assert found["run_over_copy"] == pytest.approx(0.25)
    assert found["run_over_copy_noise"] == pytest.approx(0, abs=1e-12)


def test_a_disturbed_repetition_is_no_noise_of_the_kernel() -> None:
    calm = samples(*[COPY] * 7)
    jolted = samples(*[COPY] * 6, 50 * COPY, disturbed=(6,))

    assert values(noise_metrics(jolted, [COPY] * 7)) == values(noise_metrics(calm, [COPY] * 7))


def test_few_repetitions_are_as_noisy_as_their_range_and_one_says_nothing() -> None:
    assert noise([1.0, 1.21]) == pytest.approx(0.1)
    assert noise([1.0, 1.1, 1.21]) == pytest.approx(0.1)
    assert noise_metrics(samples(COPY), [COPY]) == ()
    assert "run_noise" not in values(noise_metrics(samples(COPY, COPY), [COPY] * 2)[:2])


def test_noise_of_many_repetitions_is_narrower_than_their_range() -> None:
    spread = [1 + i / 20 for i in range(15)]

    assert 0 < noise(spread) < noise([min(spread), max(spread)])


@pytest.mark.parametrize("size", [0, 1, 1000, 40 << 20])
def test_a_yardstick_measures_data_of_any_size(size: int) -> None:
    data = np.zeros(size, np.uint8)
    data.flags.writeable = False
    yardstick = Yardstick(data)
    for _ in range(3):
        yardstick.measure()

    assert len(yardstick.seconds) == 3
    assert all(0 < one < 1 for one in yardstick.seconds)


@pytest.mark.parametrize(
    ("over", "verdict"),
    [(0.25, "slower"), (4.0, "faster"), (0.99, "inconclusive"), (1.01, "inconclusive")],
)
def test_a_detailed_reply_says_whether_a_difference_from_a_copy_is_one(
    over: float, verdict: str
) -> None:
    result = FakePipeline().run(
        Kernel("k_1", baselines.read("lorenzo-1d", "naive")), Request(FIELD), Watch()
    )
    metrics = (
        Metric("run_noise", 0.012, "relative", "measured"),
        Metric("run_over_copy", over, "x", "measured"),
        Metric("run_over_copy_noise", 0.02, "relative", "measured"),
    )
    asked = Asked("run_compress", "r_1", "k_1", FIELD, "rel", 1e-3)
    told = run_reply(asked, replace(result, metrics=metrics), (), View(detailed=True))

    line = next(line for line in details(told).splitlines() if line.startswith("run: "))
    assert "differ by less than 1.2% are the same" in line
    assert f"in the same run: {verdict}" in line


@dataclass
class SlowMemory:
    """Peaks as they were measured while the machine was busy, and as they are now."""

    then_gbps: float
    now_gbps: float

    def at(self, nbytes: int) -> Bandwidth:
        return Bandwidth(nbytes, *[self.then_gbps] * 3)

    def doubted(self, nbytes: int) -> Bandwidth:
        return Bandwidth(nbytes, *[self.now_gbps] * 3)


def concluded(peaks: SlowMemory, seconds_per_byte: float) -> RunResult:
    field, bound = Catalogue().load(FIELD), Bound("rel", 1e-3, 0.1)
    bench = Bench(
        task=TASKS["lorenzo-1d"],
        live=LiveKernel(cast(Session, None)),
        field=field,
        content=Content(field, 0.1),
        bound=bound,
        request=Request(FIELD),
        watch=Watch(),
        peaks=cast(Peaks, peaks),
        alone=nullcontext,
    )
    bench.content.close()
    untimed = FakePipeline().run(
        Kernel("k_1", baselines.read("lorenzo-1d", "naive")), Request(FIELD), Watch()
    )
    prepared = Prepared(replace(untimed, failure=None), {"run": Moved(1000, 1000)}, bench)
    return conclude(bench, prepared, Timed(tuple(samples(*[seconds_per_byte] * 7)), None, None))


def test_faster_than_memory_is_suspect_only_if_memory_is_still_as_slow() -> None:
    five_gbps = 0.2e-9

    assert concluded(SlowMemory(1.0, 1.0), five_gbps).status is Status.SUSPECT
    assert concluded(SlowMemory(1.0, 5.0), five_gbps).status is Status.TIMED
    assert concluded(SlowMemory(5.0, 1.0), five_gbps).status is Status.TIMED


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2)
    yield pipeline
    pipeline.close()


def test_a_run_carries_a_baseline_and_its_noise(pipeline: Pipeline) -> None:
    kernel = Kernel("k_naive", baselines.read("sz-open", "naive"))

    run = pipeline.run(kernel, Request(FIELD, repeats=7), Watch())

    found = values(run.metrics)
    assert found[BASELINE] > 0
    assert found[f"{BASELINE}_noise"] >= 0
    if run.status is Status.TIMED:
        for direction in ("compress", "decompress"):
            assert 0 < found[f"{direction}_over_copy"] < 2
            assert found[f"{direction}_noise"] >= 0
    assert all(m.provenance == "measured" for m in run.metrics)


def test_a_run_that_waits_for_another_server_is_told_so_and_can_leave(pipeline: Pipeline) -> None:
    kernel = Kernel("k_naive", baselines.read("sz-open", "naive"))
    cancellation, told = Cancellation(), threading.Event()

    def progress(_: float, message: str) -> None:
        if message.startswith("waiting for the timing of "):
            told.set()
            cancellation.cancel()

    with timing_lock(Cancellation()):
        run = pipeline.run(kernel, Request(FIELD, repeats=1), Watch(cancellation, progress))

    assert told.is_set()
    assert run.failure is not None
    assert "cancelled" in run.failure.message
