"""Compressors on one array at one bound: size, error by our own check, speed both ways.

Repetitions are interleaved, so that a slow moment of the machine hits everybody alike, and every
decoded array is compared with the original.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from kernels.bounds import derive
from kernels.records import Array, Bound, Comparison
from kernels.verify import compare
from sz_mcp.peers.codecs import Codec
from sz_mcp.peers.protocol import Files
from sz_mcp.peers.workers import Spent, Trouble, Worker, give, memory_files
from toolchains.base import Cancellation
from toolchains.children.timing_lock import timing_lock

Tell = Callable[[str], None]

_WARM = 2
"""Passes whose times do not count: code is compiled in the first, memory settles in the second."""

CLOCK = (
    "wall clock in each compressor's own process, the call alone, on warm code and content just "
    "written; repetitions interleaved"
)


@dataclass(frozen=True)
class Subject:
    """An array and the bound it is compressed at."""

    name: str
    data: Array
    bound: Bound
    fill_value: float | None = None


@dataclass(frozen=True)
class Passed:
    """Compressed, decompressed and compared, once."""

    stream_bytes: int
    comparison: Comparison
    compress: Spent
    decompress: Spent


@dataclass(frozen=True)
class Row:
    """What one compressor made of a subject."""

    codec: Codec
    subject: Subject
    passed: tuple[Passed, ...] = ()
    """The first two are untimed."""
    trouble: Trouble | None = None
    """What ended it."""

    @property
    def status(self) -> str:
        """Holds | violates, or the kind of trouble."""
        if self.trouble is not None:
            return self.trouble.kind
        return "holds" if self.comparison is not None and self.comparison.holds else "violates"

    @property
    def comparison(self) -> Comparison | None:
        """The first that shows a violation, or else the first."""
        found = [one.comparison for one in self.passed]
        return next((one for one in found if not one.holds), found[0] if found else None)

    @property
    def ratio(self) -> float | None:
        """Of sizes."""
        if not self.passed or not self.passed[0].stream_bytes:
            return None
        return self.subject.data.nbytes / self.passed[0].stream_bytes

    @property
    def error_share(self) -> float | None:
        """Largest error over the bound; None if the bound is 0 or the error not finite."""
        if self.comparison is None or not self.comparison.abs_bound:
            return None
        share = self.comparison.max_abs_error / self.comparison.abs_bound
        return share if math.isfinite(share) else None

    @property
    def psnr(self) -> float | None:
        """20·log10(range) − 10·log10(MSE), in dB; None where that is no number."""
        found = self.comparison
        if found is None or not found.checked or not found.value_range:
            return None
        mean = found.sum_squared_error / found.checked
        if not (math.isfinite(mean) and mean > 0.0 and math.isfinite(found.value_range)):
            return None
        return 20 * math.log10(found.value_range) - 10 * math.log10(mean)

    def seconds(self, direction: str, *, cpu: bool = False) -> tuple[float, ...]:
        """Of each timed repetition; direction: compress | decompress."""
        spent: list[Spent] = [getattr(one, direction) for one in self.passed[_WARM:]]
        return tuple(one.cpu_seconds if cpu else one.seconds for one in spent)

    def speed(self, direction: str, *, best: bool = False, cpu: bool = False) -> float | None:
        """MB/s of original data, of the median or the fastest repetition."""
        seconds = self.seconds(direction, cpu=cpu)
        if not seconds:
            return None
        taken = min(seconds) if best else statistics.median(seconds)
        return self.subject.data.nbytes / 1e6 / taken if taken else None


def subject_of(
    name: str, data: Array, fill_value: float | None, mode: str, value: float
) -> Subject:
    """Raises BoundError."""
    return Subject(name, data, derive(data, fill_value, mode, value), fill_value)


@dataclass
class Sides:
    """Compressors that are compared, each with its process."""

    files: Files
    workers: Sequence[Worker] = field(default_factory=tuple)

    def once(self, worker: Worker, subject: Subject) -> Passed | Trouble:
        """Give the subject to one of them."""
        give(self.files, subject.data)
        return self._again(worker, subject)

    def rows(self, subject: Subject, repeats: int, tell: Tell) -> tuple[Row, ...]:
        """One row per compressor, in their order; `repeats` may be 0."""
        give(self.files, subject.data)
        rows = []
        for worker in self.workers:
            tell(f"{worker.codec.name}: first pass")
            rows.append(self._added(worker, Row(worker.codec, subject)))
        if repeats == 0:
            return tuple(rows)
        # Nobody else on this machine times a kernel meanwhile.
        with timing_lock(Cancellation(), tell):
            for i in range(_WARM - 1 + repeats):
                tell(f"repetition {max(i + 2 - _WARM, 0)} of {repeats}")
                rows = [self._added(*pair) for pair in zip(self.workers, rows, strict=True)]
        return tuple(rows)

    def _added(self, worker: Worker, row: Row) -> Row:
        """The row with one more pass, unless it has ended."""
        if row.trouble is not None:
            return row
        done = self._again(worker, row.subject)
        if isinstance(done, Trouble):
            return replace(row, trouble=done)
        return replace(row, passed=(*row.passed, done))

    def _again(self, worker: Worker, subject: Subject) -> Passed | Trouble:
        packed = worker.compress(subject.data, subject.bound.absolute)
        if isinstance(packed, Trouble):
            return packed
        back = worker.decompress(packed.nbytes, subject.data)
        if isinstance(back, Trouble):
            return back
        try:
            found = compare(subject.data, back.array, subject.bound.absolute, subject.fill_value)
        except ValueError as error:
            return Trouble("error", str(error))
        return Passed(packed.nbytes, found, packed.spent, back.spent)


@contextmanager
def sides(codecs: Sequence[Codec], threads: int = 1) -> Iterator[Sides]:
    """Their processes end with this."""
    with memory_files() as files:
        workers = tuple(Worker(codec, files, threads if codec.threads else 1) for codec in codecs)
        try:
            yield Sides(files, workers)
        finally:
            for worker in workers:
                worker.close()
