"""Damaged streams of real kernels, in real children: what is noticed, what is not, what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kernels.records import Failure, FailureKind, Status, Submission
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from sz_mcp.pipeline import SUITE, Request, Watch
from sz_mcp.pipeline.cases import Case
from sz_mcp.pipeline.checks import codec_cases
from sz_mcp.pipeline.damage import Inspected, Others, inspect
from sz_mcp.pipeline.golden import GoldenStreams
from sz_mcp.pipeline.harm import harms
from toolchains.base import Cancellation, Session
from toolchains.children.pool import Pool
from toolchains.children.session import Purpose, open_session
from toolchains.feedback import guidance_for

FUNCTIONS = ("compress", "decompress")
SEED = 5

RAW = """\
import zlib
import numpy as np
from numba import njit

def compress(data, abs_bound):
    body = data.tobytes()
    return np.frombuffer(np.uint32(len(body)).tobytes() + HEAD(body) + body, np.uint8)

def HEAD(body):
    return b""
"""
CAREFUL = (
    RAW.replace('b""', "np.uint32(zlib.crc32(body)).tobytes()")
    + """
def decompress(stream, shape, dtype):
    size, check = stream[:8].view(np.uint32)
    body = stream[8:]
    if size != body.size or zlib.crc32(body.tobytes()) != check:
        raise ValueError("damaged")
    return body.view(dtype).reshape(shape)
"""
)
QUIET = (
    RAW
    + """
def decompress(stream, shape, dtype):
    return stream[4:].copy().view(dtype).reshape(shape)
"""
)
BEYOND = (
    RAW
    + """
@njit
def copied(stream, n):
    out = np.empty(n, np.uint8)
    for i in range(n):
        out[i] = stream[4 + i]
    return out

def decompress(stream, shape, dtype):
    return copied(stream, int(np.prod(shape)) * dtype.itemsize).view(dtype).reshape(shape)
"""
)
A_LITTLE_BEYOND = (
    RAW
    + """
TABLE = np.ones(1, np.float32)

@njit
def looked_up(table, code):
    return table[code]

def decompress(stream, shape, dtype):
    # The last byte of a size is 0 in every stream that is whole.
    scale = looked_up(TABLE, stream[3]) if stream.size > 3 else 1
    out = np.zeros(shape, dtype)
    body = stream[4:]
    out.reshape(-1).view(np.uint8)[: body.size] = body[: out.nbytes]
    return out if scale else -out
"""
)
STUCK = (
    RAW
    + """
@njit
def stepped(step, n):
    at = np.uint32(0)
    while at < n:
        at += step
    return at

def decompress(stream, shape, dtype):
    stepped(stream[:4].view(np.uint32)[0], np.uint32(stream.size - 4))
    return stream[4:].copy().view(dtype).reshape(shape)
"""
)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2, 4 << 30)
    yield pool
    pool.close()


Run = Callable[..., Inspected]


@pytest.fixture
def run(pool: Pool) -> Iterator[Run]:
    """Damage the streams of a kernel on the cases of these names."""
    opened: list[Session] = []

    def run_(source: str, *names: str, others: Others | None = None) -> Inspected:
        submission = Submission("sz-open", "numba", {"kernel.py": source})

        def open_(purpose: Purpose) -> Session | Failure:
            session = open_session(pool, submission, FUNCTIONS, Cancellation(), purpose=purpose)
            if not isinstance(session, Failure):
                opened.append(session)
            return session

        session = open_(Purpose.SCORE)
        assert not isinstance(session, Failure)
        more = others or Others(lambda: open_(Purpose.SCORE), lambda: open_(Purpose.CHECK))
        return inspect(session, cases(*names), SEED, more, Watch())

    yield run_
    for session in opened:
        session.close()


def cases(*names: str) -> list[Case]:
    task = TASKS["sz-open"]
    assert isinstance(task, CodecTask)
    suite = codec_cases(task, Request(SUITE, "abs", 0.25), None, GoldenStreams())
    return [case for case in suite if case.name in names]


def unused() -> Failure:
    raise AssertionError("no further session is needed")


def test_every_kind_of_damage_is_done_and_none_leaves_a_stream_as_it_was() -> None:
    stream = np.arange(1, 201, dtype=np.uint8)
    whole = np.zeros((5, 7), np.float32)

    done = list(harms(stream, whole, np.random.default_rng(1)))

    kinds = ("cut to", "flipped", "0x00", "0xFF", "swapped", "appended", "shape", "float64")
    assert all(any(kind in harm.what for harm in done) for kind in kinds)
    assert {harm.stream.size for harm in done} >= {0, 1, 71, 72, 100, 196, 199, 200, 201, 204}
    as_made = [h for h in done if h.like.shape == whole.shape and h.like.dtype == whole.dtype]
    assert all(h.stream.tobytes() != stream.tobytes() for h in as_made)
    assert len({h.what for h in done}) == len(done)


def test_the_same_seed_does_the_same_damage() -> None:
    stream, whole = np.arange(99, dtype=np.uint8), np.zeros(9)

    first, second, other = (
        [h.stream.tobytes() for h in harms(stream, whole, np.random.default_rng(seed))]
        for seed in (3, 3, 4)
    )

    assert first == second
    assert first != other


def test_a_checksum_detects_all_and_nothing_is_decoded_again(run: Run) -> None:
    done = run(CAREFUL, "size_33", "prime_2d", others=Others(unused, unused))

    assert done.failed is None
    assert done.damage.tried > 100
    assert done.damage.undetected == 0
    # Of a raw stream, read for another shape of as many values.
    assert done.damage.detected + done.damage.harmless == done.damage.tried
    assert done.damage.harmless <= 4
    assert done.damage.bounds_checked


def test_other_values_that_come_back_quietly_are_counted_and_are_no_failure(run: Run) -> None:
    done = run(QUIET, "prime_2d")

    assert done.failed is None
    assert done.damage.undetected > 20
    assert done.damage.detected > 10
    assert any("flipped" in example for example in done.damage.examples)
    assert done.damage.bounds_checked


def test_a_kernel_found_clean_before_is_not_checked_again(run: Run) -> None:
    done = run(QUIET, "size_33", others=Others(unused, unused, clean=True))

    assert (done.failed, done.damage.bounds_checked) == (None, True)


def test_a_decoder_that_reads_beyond_a_cut_stream_fails_with_the_line(run: Run) -> None:
    done = run(BEYOND, "prime_2d")

    assert done.failed is not None
    case, outcome = done.failed
    failure = outcome.failure
    assert failure is not None
    assert (case.name, outcome.function) == ("damaged:prime_2d", "decompress")
    assert (failure.status, failure.stage) == (Status.ERROR, Status.BOUND_OK)
    assert failure.kind is FailureKind.MEMORY
    assert "(cut to its first 0 bytes): compiled code goes outside an array" in failure.message
    assert failure.message.endswith("a decoder must validate lengths before reading")
    assert [g.rule for g in guidance_for(failure, "numba")] == ["reads-beyond-a-damaged-stream"]


def test_a_table_read_beyond_its_end_shows_once_indices_are_checked(run: Run) -> None:
    done = run(A_LITTLE_BEYOND, "size_33")

    assert done.failed is not None
    failure = done.failed[1].failure
    assert failure is not None
    assert failure.kind is FailureKind.MEMORY
    assert "IndexError" in failure.message


def test_a_decoder_that_hangs_on_a_step_of_zero_fails_soon(run: Run) -> None:
    done = run(STUCK, "size_33")

    assert done.failed is not None
    failure = done.failed[1].failure
    assert failure is not None
    assert failure.kind is FailureKind.TIMEOUT
    assert "bytes 0 to 3 set to 0x00" in failure.message
    assert [g.rule for g in guidance_for(failure, "numba")] == ["hangs-on-a-damaged-stream"]
