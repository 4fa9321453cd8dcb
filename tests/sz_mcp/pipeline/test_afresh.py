"""What a kernel does with a field that its processes never saw, against what a run shows."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.bounds import derive
from kernels.fields import Catalogue
from kernels.records import Bound, Execution, FailureKind, Metric, RunResult, Sample, Status
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from results_db.summary import FRESH_BYTES
from sz_mcp.pipeline.afresh import decoy, worse
from sz_mcp.pipeline.first import First

FIRST = First(1000, 1010, {"compress": 0.010, "decompress": 0.004})


def _result(
    stream_bytes: int,
    compress_s: float,
    decompress_s: float,
    batch: int = 1,
    fresh_bytes: float = 1000.0,
) -> RunResult:
    seconds = {"compress": compress_s, "decompress": decompress_s}
    samples = tuple(
        Sample(function, i, batch * s, batch * s, batch, batch * 4000, 0.0, disturbed=False)
        for i in range(3)
        for function, s in seconds.items()
    )
    return RunResult(
        status=Status.TIMED,
        stage=None,
        execution=Execution.HARDWARE,
        field="f",
        bound=Bound("rel", 1e-3, 1e-3),
        raw_bytes=4000,
        stream_bytes=stream_bytes,
        comparison=None,
        samples=samples,
        threads=1,
        metrics=(Metric(FRESH_BYTES, fresh_bytes, "bytes", "measured"),),
    )


@pytest.mark.parametrize("batch", [1, 16])
def test_a_run_like_the_first_sight_is_believed(batch: int) -> None:
    assert worse(FIRST, _result(1000, 0.009, 0.003, batch)) is None


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (_result(900, 0.010, 0.004), "a stream has 900 bytes, and 1000 where"),
        (_result(1000, 0.01, 0.004, 1, 500.0), "a stream has 500 bytes, and 1010 where"),
        (_result(1000, 0.004, 0.004), "compress took 4 ms, and 10 ms of CPU time where"),
        (_result(1000, 0.010, 0.001, 16), "decompress took 1 ms, and 4 ms of CPU time where"),
    ],
)
def test_a_run_that_is_better_is_suspect(result: RunResult, says: str) -> None:
    failure = worse(FIRST, result)

    assert failure is not None
    assert (failure.status, failure.kind) == (Status.SUSPECT, FailureKind.INTEGRITY)
    assert says in failure.message


def test_more_threads_spend_more_processor_time() -> None:
    shown = _result(1000, 0.004, 0.004)
    of_three = RunResult(**{**vars(shown), "threads": 3})

    assert worse(FIRST, of_three) is None


def test_of_two_first_sights_the_better_counts() -> None:
    other = First(1100, 1000, {"compress": 0.008, "decompress": 0.005})

    assert FIRST.at_best(other) == First(1000, 1000, {"compress": 0.008, "decompress": 0.004})


@pytest.mark.parametrize("name", ["ocean_temperature", "na_temperature", "electron_density"])
def test_a_decoy_is_as_rough_as_the_field_and_other_than_it(name: str) -> None:
    field = Catalogue().load(name)
    bound = derive(field.data, field.info.fill_value, "rel", 1e-3).absolute
    task = TASKS["szp"]
    assert isinstance(task, CodecTask)
    assert task.stream_format is not None

    made = decoy(field)

    assert (made.shape, made.dtype) == (field.data.shape, field.data.dtype)
    size, wanted = (task.stream_format.encode(a, bound).nbytes for a in (made, field.data))
    assert 0.95 < size / wanted < 1.05
    plain = np.abs(field.data) < 1e30
    assert np.mean(np.abs(made - field.data)[plain] > bound) > 0.3
    np.testing.assert_array_equal(made[~plain], field.data[~plain])


def test_a_decoy_keeps_what_is_not_finite_and_any_shape() -> None:
    base = Catalogue().load("electron_density")
    for data in (
        np.array(np.float32(3)),
        np.zeros(0, np.float32),
        np.array([np.nan, 1, np.inf, 2, -np.inf], np.float32),
        np.full((3, 5), 2.5, np.float32),
    ):
        made = decoy(type(base)(base.info, data))

        assert made.shape == data.shape
        odd = ~np.isfinite(data)
        np.testing.assert_array_equal(made[odd], data[odd])
