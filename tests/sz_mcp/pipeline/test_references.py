"""A stream five times smaller than every reference's is reviewed, and no honest one is."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from kernels import baselines
from kernels.bounds import derive
from kernels.fields import Catalogue, shipped
from kernels.records import Array, Failure, FailureKind, Kernel, Status, Submission
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.pipeline.references import Made, References
from toolchains.base import Cancellation, Reply, Session
from toolchains.children.pool import ChildrenUnavailable

TERRAIN = np.random.default_rng(3).standard_normal((40, 50, 60)).cumsum(axis=2).astype(np.float32)
BOUND = 0.05


def golden_bytes(name: str, data: Array = TERRAIN) -> int:
    task = TASKS[name]
    assert isinstance(task, CodecTask)
    assert task.stream_format is not None
    return task.stream_format.encode(data, BOUND).nbytes


@dataclass
class Asked:
    """Reference codecs that make streams of a size that the test sets, and who was asked."""

    tuned: int = 100_000
    sz: int = 100_000
    styles: list[str] = field(default_factory=list)
    broken: str = ""
    """Style that fails."""

    def load(self, submission: Submission, threads: int, _: Cancellation) -> Session | Failure:
        style = "sz" if "entropy.py" in submission.files else "tuned"
        assert (submission.task, threads) == ("sz-open", 1)
        self.styles.append(style)
        if style == self.broken:
            raise ChildrenUnavailable("no more of them")
        return cast(Session, _Codec(self.sz if style == "sz" else self.tuned))


@dataclass
class _Codec:
    size: int

    def call(self, *_: object, **__: object) -> Reply:
        stream = np.zeros(self.size, np.uint8)
        return Reply((), ((stream,),), 1.0, 1.0, 0.0, False, True, 1.0)

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def made(stream_bytes: int, data: Array = TERRAIN, content: str = "terrain") -> Made:
    return Made(stream_bytes, data, BOUND, content, bool(np.ptp(data) == 0))


def test_a_stream_smaller_than_a_fifth_of_the_best_reference_is_suspect() -> None:
    asked = Asked(tuned=20_000, sz=10_000)

    failure = References(asked.load).doubt(made(1999), Watch())

    assert failure is not None
    assert (failure.status, failure.kind) == (Status.SUSPECT, FailureKind.INTEGRITY)
    assert failure.stage is Status.TIMED
    assert "1999 bytes is 5 times smaller than that of the best reference" in failure.message
    assert "sz-open sz: 10000 bytes" in failure.message
    assert "reviewed before it counts" in failure.message
    assert asked.styles == ["tuned", "sz"]


def test_one_reference_that_is_small_too_is_enough() -> None:
    asked = Asked(tuned=20_000, sz=10_000)
    references = References(asked.load)

    assert references.doubt(made(2000), Watch()) is None
    assert references.doubt(made(4000), Watch()) is None


def test_what_a_cheaper_reference_answers_is_not_asked_of_another() -> None:
    asked = Asked(tuned=20_000)
    references = References(asked.load)

    assert references.doubt(made(TERRAIN.nbytes // 5), Watch()) is None
    assert references.doubt(made(-(-golden_bytes("szp") // 5)), Watch()) is None
    assert asked.styles == []
    assert references.doubt(made(4000), Watch()) is None
    assert asked.styles == ["tuned"]


def test_next_to_a_reference_that_is_mostly_header_nothing_is_suspect() -> None:
    assert References(Asked(sz=4095).load).doubt(made(10), Watch()) is None
    assert References(Asked(sz=4096).load).doubt(made(10), Watch()) is not None


def test_a_constant_field_can_be_as_small_as_it_likes() -> None:
    asked = Asked()

    assert References(asked.load).doubt(made(8, np.ones((512, 512), np.float32)), Watch()) is None
    assert asked.styles == []


@pytest.mark.parametrize("broken", ["tuned", "sz"])
def test_without_an_answer_nobody_is_accused_and_nobody_believed(broken: str) -> None:
    asked = Asked(broken=broken)
    references = References(asked.load)

    untold = references.doubt(made(10), Watch())
    asked.broken = ""
    told = references.doubt(made(10), Watch())

    assert untold is not None
    assert (untold.status, untold.kind) == (Status.INCONCLUSIVE, FailureKind.BUSY)
    assert f"sz-open {broken} could not be asked: no more of them" in untold.message
    assert told is not None
    assert told.status is Status.SUSPECT


def test_a_reference_that_refuses_such_data_says_nothing_of_it() -> None:
    refusal = Failure(Status.REFUSED, Status.ROUNDTRIPS, FailureKind.UNSUPPORTED, "no 4-D")

    assert References(lambda *_: refusal).doubt(made(10), Watch()) is None


def test_sizes_are_remembered_by_content_and_bound_and_survive_the_server(tmp_path: Path) -> None:
    first, later = Asked(), Asked()
    before, after = References(first.load, tmp_path), References(later.load, tmp_path)

    assert before.doubt(made(10), Watch()) is not None
    assert before.doubt(made(20), Watch()) is not None
    assert first.styles == ["tuned", "sz"]
    assert after.doubt(made(10), Watch()) is not None
    assert later.styles == []
    assert after.doubt(made(10, content="another"), Watch()) is not None
    assert later.styles == ["tuned", "sz"]


def test_a_damaged_or_unwritable_folder_costs_a_measurement_only(tmp_path: Path) -> None:
    asked = Asked()
    assert References(asked.load, tmp_path).doubt(made(10), Watch()) is not None
    for kept in tmp_path.iterdir():
        kept.write_text("-7")
    (tmp_path / "file").write_text("")

    assert References(asked.load, tmp_path).doubt(made(10), Watch()) is not None
    assert References(asked.load, tmp_path / "file" / "sub").doubt(made(10), Watch()) is not None
    assert asked.styles == ["tuned", "sz"] * 3


EMBEDDING = """\
import base64
import zlib

import numpy as np

KNOWN = zlib.decompress(base64.b85decode(%r))
CODES = np.frombuffer(KNOWN, np.int8)


def compress(data, abs_bound):
    guess = np.cumsum(CODES.astype(np.int64)) * %r
    if data.size == guess.size and np.all(np.abs(data.reshape(-1) - guess) <= 0.9 * abs_bound):
        return np.zeros(1, np.uint8)
    return np.frombuffer(data.tobytes(), np.uint8)


def decompress(stream, shape, dtype):
    if stream.size == 1:
        return (np.cumsum(CODES.astype(np.int64)) * %r).astype(dtype).reshape(shape)
    return stream.view(dtype).reshape(shape)
"""
SMALL = "synthetic:turbulent:20x40x40:seed=5"


def embedding() -> str:
    """A kernel whose decoder knows the field to half the bound: one byte is its stream."""
    loaded = Catalogue().load(SMALL)
    step = derive(loaded.data, None, "rel", 1e-2).absolute
    codes = np.diff(np.rint(loaded.data.reshape(-1) / step), prepend=0.0)
    assert np.abs(codes).max() < 128
    packed = base64.b85encode(zlib.compress(codes.astype(np.int8).tobytes(), 9)).decode()
    return EMBEDDING % (packed, step, step)


@pytest.fixture(scope="module")
def past_tripwires() -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2, tripwires=False)
    yield pipeline
    pipeline.close()


@pytest.mark.slow
def test_a_decoder_that_knows_the_field_is_suspect_and_its_run_is_kept(
    past_tripwires: Pipeline,
) -> None:
    kernel = Kernel("k_embedding", Submission("sz-open", "numba", {"kernel.py": embedding()}))

    run = past_tripwires.run(kernel, Request(SMALL, bound=1e-2, repeats=3), Watch())

    assert run.failure is not None
    assert run.status is Status.SUSPECT, run.failure.message
    assert "than that of the best reference (sz-open sz" in run.failure.message
    assert run.stream_bytes == 1
    assert run.samples


@pytest.mark.slow
def test_the_strongest_reference_is_believed_on_every_shipped_field(
    past_tripwires: Pipeline,
) -> None:
    kernel = Kernel("k_sz", baselines.read("sz-open", "sz"))
    for name in shipped.names():
        run = past_tripwires.run(kernel, Request(name, repeats=1), Watch())
        assert run.status in (Status.TIMED, Status.INCONCLUSIVE), (name, run.failure)
