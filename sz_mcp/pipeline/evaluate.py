"""The pipeline's face: finds the backend of a kernel, keeps it loaded, and runs one evaluation."""

from __future__ import annotations

import importlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from kernels.bounds import BoundError, derive
from kernels.fields import Catalogue, FieldDataError
from kernels.modes.names import DIRECT
from kernels.random_cases import SEEDS
from kernels.records import (
    Build,
    Execution,
    Failure,
    FailureKind,
    Field,
    FieldInfo,
    Kernel,
    Profile,
    RunResult,
    Status,
    Verdict,
)
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask, Task
from results_db.statistics import Compared
from sz_mcp.host import peaks_key
from toolchains import BACKENDS
from toolchains.backends import Parts
from toolchains.base import Call, Cancellation, Explanation, Session, TargetInfo, Toolchain
from toolchains.children.isolation import Layer
from toolchains.children.pool import ChildrenUnavailable, Pool, PoolClosed
from toolchains.children.timing_lock import TimingCancelled, TimingStuck, timing_lock
from toolchains.peaks import Peaks, PeaksBusy

from .checks import Further, codec_cases, judge, stage_cases
from .comparing import compare_kernels, peer_failure
from .content import Content
from .damage import Others
from .explanations import Explanations
from .failed import cancelled, unavailable, unbuilt, unmeasured, unprofiled, unverified
from .golden import GoldenStreams
from .live import LiveKernel, LiveKernels
from .modelled import profile_model
from .profiling import profile_kernel
from .references import References
from .requests import SUITE, Request, Watch
from .room import SHARE, Room, machine_bytes
from .rounds import Bench
from .timing import time_kernel
from .turns import Turns

T = TypeVar("T")

_WARM_CHILDREN = 3
"""One that compiles and one kernel's pair."""
_LIVE_KERNELS = 4
"""Loaded kernels kept: two processes of 150 to 190 MB each."""

_LARGE_BYTES = 128 << 20
"""A kernel that was used on a field larger than this is not kept loaded."""
_REMEMBERED_PROGRAMS = 256
_PATIENCE_S = 2.0
"""How long whoever asks for peaks waits until nothing else is timed."""


class UnknownTargetError(ValueError):
    """No backend offers this target; the message lists those that are offered."""


@dataclass(frozen=True)
class _Place:
    """Which processes a kernel is loaded in."""

    kernel: Kernel
    threads: int
    beside: bool = False
    """Whether it needs others than those of the same program."""

    @property
    def key(self) -> str:
        key = f"{_program(self.kernel)}:{self.threads}"
        return f"{key}:beside" if self.beside else key


def _program(kernel: Kernel) -> str:
    """The same program of an agent is the same kernel: sent again, it is found compiled.

    Of another agent it is not: a build that takes no time would tell that somebody sent it before.
    """
    return f"{kernel.submission.exact_hash}:{kernel.agent}"


class Pipeline:
    """Evaluates kernels on this machine."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        warm_children: int = _WARM_CHILDREN,
        home: Path | None = None,
        tripwires: bool = True,
    ) -> None:
        """Starts children in the background; what is measured of the machine is kept in `home`.

        tripwires: False also runs what they refuse.
        """
        self._fields = catalogue
        memory = _child_memory_bytes()
        self._pool = Pool(warm_children, memory)
        self._peaks = Peaks(home and home / "peaks" / f"{peaks_key()}.json", self._at_rest)
        emulated = home and home / "emulated"
        self._toolchains = _backends(Parts(self._pool, self._peaks, memory, tripwires, emulated))
        self._live = LiveKernels(_LIVE_KERNELS)
        self._room = Room(int(SHARE * machine_bytes()))
        self._golden = GoldenStreams()
        self._references = References(self._toolchains["numba"].load, home and home / "references")
        self._explanations = Explanations()
        self._builds: dict[str, Build] = {}
        self._clean: dict[str, None] = {}
        """Programs whose compiled code read nothing wrong in damaged streams."""
        self._timing = Turns()
        self._lock = threading.Lock()

    def targets(self) -> tuple[TargetInfo, ...]:
        """Every target, with its execution here or the reason it has none."""
        return tuple(t for chain in self._toolchains.values() for t in chain.targets())

    def describe(self, target: str) -> TargetInfo:
        """Everything about one target. Raises UnknownTargetError."""
        return self._toolchain(target).describe(target)

    def layers(self) -> tuple[Layer, ...]:
        """What isolates a child on this machine."""
        return self._pool.layers()

    def build(self, kernel: Kernel, watch: Watch) -> Build:
        """Compile a submission in its own process."""
        if watch.cancellation.cancelled:
            return unbuilt(cancelled())
        watch.progress(0.0, "compiling")
        start = time.perf_counter()
        toolchain = self._toolchain(kernel.submission.target)
        known = self._builds.get(_program(kernel))
        if known is not None:
            return replace(known, seconds=time.perf_counter() - start)
        try:
            build = toolchain.build(kernel.submission, watch.cancellation)
        except (PoolClosed, ChildrenUnavailable) as error:
            return unbuilt(unavailable(error))
        if build.failure is None:
            self._keep(self._builds, _program(kernel), build)
        return build

    def verify(self, kernel: Kernel, request: Request, watch: Watch) -> Verdict:
        """Check the bound, or equality with the golden answer, on a field or the suite."""
        if watch.cancellation.cancelled:
            return unverified(cancelled())
        if request.field == SUITE:
            return self._verify(kernel, request, watch, None)

        def work() -> Verdict:
            return self._verify(kernel, request, watch, self._fields.load(request.field))

        return self._in_room(self._fields.info(request.field), watch, work, unverified)

    def run(self, kernel: Kernel, request: Request, watch: Watch) -> RunResult:
        """Measure size and speed on a field. Raises BoundError."""
        info = self._fields.info(request.field)

        def work(live: LiveKernel) -> RunResult:
            with self._bench(kernel, live, request, watch) as bench:
                return time_kernel(bench, self._golden)

        def failed(failure: Failure) -> RunResult:
            return unmeasured(failure, info, request, self._execution(kernel))

        return self._in_room(
            info,
            watch,
            lambda: self._with_session(kernel, request.threads, watch, work, failed),
            failed,
        )

    def compare(self, kernel: Kernel, against: Kernel, request: Request, watch: Watch) -> Compared:
        """Time two kernels of one task side by side on a field. Raises BoundError."""
        info, threads = self._fields.info(request.field), request.threads

        def work(ours: LiveKernel, theirs: LiveKernel) -> Compared:
            with (
                self._bench(kernel, ours, request, watch) as first,
                self._bench(against, theirs, request, watch) as second,
            ):
                return compare_kernels(first, second, against.kernel_id, self._golden)

        def failed(failure: Failure) -> Compared:
            result = unmeasured(failure, info, request, self._execution(kernel))
            return Compared(result, against.kernel_id)

        def peer_failed(failure: Failure) -> Compared:
            # Nothing was learnt of the kernel itself.
            return failed(peer_failure(against.kernel_id, failure, Status.PARSED))

        ours = _Place(kernel, threads)
        theirs = _Place(against, threads, beside=_Place(against, threads).key == ours.key)

        def in_order() -> Compared:
            """In the same order for everybody, so that nobody waits in a circle."""
            if ours.key < theirs.key:
                return self._at(
                    ours,
                    watch,
                    lambda a: self._at(theirs, watch, lambda b: work(a, b), peer_failed),
                    failed,
                )
            return self._at(
                theirs,
                watch,
                lambda b: self._at(ours, watch, lambda a: work(a, b), failed),
                peer_failed,
            )

        return self._in_room(info, watch, in_order, failed)

    def _explain(
        self, kernel: Kernel, calls: Sequence[Call], request: Request, watch: Watch
    ) -> Explanation:
        """Where the time goes, and what memory it takes, is of this field at this bound."""
        submission = kernel.submission
        where = (request.field, request.mode, request.bound, request.threads)
        return self._explanations.get(
            (_program(kernel), submission.task, submission.target, *where),
            lambda: self._toolchain(submission.target).explain(
                submission, calls, request.threads, watch.cancellation
            ),
        )

    def profile(self, kernel: Kernel, request: Request, watch: Watch) -> Profile:
        """Find where the time goes on a field. Raises BoundError."""

        def work(live: LiveKernel) -> Profile:
            with self._bench(kernel, live, request, watch) as bench:
                profiled = profile_kernel if bench.timed else profile_model
                return profiled(
                    bench,
                    kernel.submission,
                    lambda calls: self._explain(kernel, calls, request, watch),
                )

        def failed(failure: Failure) -> Profile:
            return unprofiled(failure, request)

        return self._in_room(
            self._fields.info(request.field),
            watch,
            lambda: self._with_session(kernel, request.threads, watch, work, failed),
            failed,
        )

    def close(self) -> None:
        """Kill every child. Idempotent."""
        self._live.close()
        for toolchain in self._toolchains.values():
            toolchain.close()
        self._pool.close()

    def _keep(self, known: dict[str, T], key: str, value: T) -> None:
        """Of programs, the last few that something is known of."""
        with self._lock:
            known[key] = value
            while len(known) > _REMEMBERED_PROGRAMS:
                del known[next(iter(known))]

    def _verify(
        self, kernel: Kernel, request: Request, watch: Watch, field: Field | None
    ) -> Verdict:
        task = _task(kernel, request)
        further = None
        if isinstance(task, CodecTask):
            seed = secrets.randbelow(SEEDS)
            cases = codec_cases(task, request, field, self._golden, seed)
            further = Further(task, seed, self._others(kernel, request, watch))
        else:
            cases = stage_cases(task, request, field)

        def work(live: LiveKernel) -> Verdict:
            with _small_afterwards(live, field):
                return judge(live.session, cases, request, watch, further)

        return self._with_session(kernel, request.threads, watch, work, unverified)

    def _others(self, kernel: Kernel, request: Request, watch: Watch) -> Others:
        """More sessions of a kernel, for what may end one."""
        submission = kernel.submission
        toolchain, key = self._toolchain(submission.target), _program(kernel)
        return Others(
            fresh=lambda: toolchain.load(submission, request.threads, watch.cancellation),
            checked=lambda: toolchain.load_checked(submission, watch.cancellation),
            clean=key in self._clean,
            remember=lambda: self._keep(self._clean, key, None),
        )

    def _in_room(
        self,
        info: FieldInfo,
        watch: Watch,
        work: Callable[[], T],
        failed: Callable[[Failure], T],
    ) -> T:
        """Do `work` when there is memory for it. Raises FieldDataError if there never will be."""
        if watch.cancellation.cancelled:
            return failed(cancelled())
        try:
            with self._room.taken(info, lambda: watch.cancellation.cancelled, watch.progress):
                before = self._fields.load(info.name)
                result = work()
                if not self._fields.unchanged(before):
                    raise FieldDataError(
                        f"the file of field {info.name} was changed while it was used: what was "
                        "measured says nothing; call again once it holds still"
                    )
                return result
        except TimingCancelled:
            return failed(cancelled())

    def _with_session(
        self,
        kernel: Kernel,
        threads: int,
        watch: Watch,
        work: Callable[[LiveKernel], T],
        failed: Callable[[Failure], T],
    ) -> T:
        """Run `work` on the loaded kernel, its children killed if the caller goes away."""
        return self._at(_Place(kernel, threads), watch, work, failed)

    def _at(
        self,
        place: _Place,
        watch: Watch,
        work: Callable[[LiveKernel], T],
        failed: Callable[[Failure], T],
    ) -> T:
        kernel, threads = place.kernel, place.threads
        try:
            with self._live.use(place.key, lambda: self._load(kernel, threads, watch)) as live:
                if isinstance(live, Failure):
                    return failed(live)
                watch.cancellation.attach(live.session.kill)
                try:
                    return work(live)
                finally:
                    watch.cancellation.detach(live.session.kill)
        except (PoolClosed, ChildrenUnavailable) as error:
            return failed(unavailable(error))
        except TimingCancelled:
            return failed(cancelled())
        except TimingStuck as error:
            busy = Failure(Status.INCONCLUSIVE, Status.TIMED, FailureKind.BUSY, str(error))
            return failed(busy)

    def _load(self, kernel: Kernel, threads: int, watch: Watch) -> Session | Failure:
        watch.progress(0.0, "loading the kernel")
        toolchain = self._toolchain(kernel.submission.target)
        return toolchain.load(kernel.submission, threads, watch.cancellation)

    def _toolchain(self, target: str) -> Toolchain:
        for toolchain in self._toolchains.values():
            if any(t.target == target for t in toolchain.targets()):
                return toolchain
        known = ", ".join(t.target for t in self.targets())
        raise UnknownTargetError(f"unknown target {target!r}; available are: {known}")

    def _execution(self, kernel: Kernel) -> Execution:
        """How its target runs here. What can't run here fails before that matters."""
        target = kernel.submission.target
        found = {info.target: info.execution for info in self.targets()}
        return found[target] or Execution.HARDWARE

    @contextmanager
    def _bench(
        self, kernel: Kernel, live: LiveKernel, request: Request, watch: Watch
    ) -> Iterator[Bench]:
        task, field = _task(kernel, request), self._fields.load(request.field)
        bound = derive(field.data, field.info.fill_value, request.mode, request.bound)
        with closing(Content(field, bound.absolute)) as content, _small_afterwards(live, field):
            yield Bench(
                task=task,
                live=live,
                field=field,
                content=content,
                bound=bound,
                request=request,
                watch=watch,
                peaks=self._peaks,
                alone=lambda: self._alone(live.session, watch),
                references=self._references,
                fresh=self._others(kernel, request, watch).fresh,
                execution=self._execution(kernel),
            )

    @contextmanager
    def _at_rest(self) -> Iterator[None]:
        """Nothing else is timed; raises PeaksBusy if that does not come about soon."""
        patience = Cancellation()
        timer = threading.Timer(_PATIENCE_S, patience.cancel)
        timer.start()
        busy = "not measured yet, kernels are being timed on this machine; ask again later"
        try:
            with self._timing.turn(patience), timing_lock(patience), self._pool.quiet():
                timer.cancel()
                yield
        except TimingCancelled as error:
            raise PeaksBusy(busy) from error
        finally:
            timer.cancel()

    @contextmanager
    def _alone(self, session: Session, watch: Watch) -> Iterator[None]:
        """Nothing else is timed; until then the session's children may not slow what is."""
        watch.progress(0.2, "waiting until nothing else is timed on this machine")
        session.rest()
        with (
            self._timing.turn(watch.cancellation),
            timing_lock(watch.cancellation, lambda text: watch.progress(0.2, text)),
            self._pool.quiet(),
        ):
            session.wake()
            yield


def _task(kernel: Kernel, request: Request) -> Task:
    """What the kernel is for. Raises BoundError for a mode that a stage does not have."""
    task = TASKS[kernel.submission.task]
    if not isinstance(task, CodecTask) and request.mode.lower() not in DIRECT:
        raise BoundError(
            f"mode {request.mode} is for codecs; {task.name} is a stage, which has no error of its "
            f"own: choose one of {', '.join(DIRECT)}"
        )
    return task


@contextmanager
def _small_afterwards(live: LiveKernel, field: Field | None) -> Iterator[None]:
    """Let a kernel's children go that hold the memory of a large field."""
    try:
        yield
    finally:
        if field is not None and field.data.nbytes > _LARGE_BYTES:
            live.session.kill()


def _backends(parts: Parts) -> Mapping[str, Toolchain]:
    return {name: importlib.import_module(m).backend(parts) for name, m in BACKENDS.items()}


def _child_memory_bytes() -> int:
    """Address space of a child: 40% of the memory, at least 4 GiB (numba alone reserves 0.3)."""
    return max(4 << 30, int(0.4 * machine_bytes()))
